/*
 * A radix queue (after the radix heap of Ahuja, Mehlhorn, Orlin and Tarjan, 1990).
 *
 * Times are numbers in base 64. An event waits in the row of the highest digit in which its time
 * differs from the time popped last, in the bucket of that digit; so the earliest events are in the
 * first bucket of the lowest row. To take one of several, they are dealt out to lower rows, once
 * the time has moved up to the earliest of them; an event goes down eleven rows at most, mostly one
 * or two, and nothing is ever compared with more than its neighbours in a bucket.
 *
 * No sequence numbers are needed: events of one time are in one bucket at any moment, buckets are
 * appended to, and dealing out keeps the order.
 */
#include "queue.h"

#include "must.h"

#include <stdlib.h>

enum { DIGIT_BITS = 6, DIGITS = 1 << DIGIT_BITS, ROWS = 64 / DIGIT_BITS + 1, CHUNK_SLOTS = 1024 };

struct slot {
	struct event event;
	struct slot *next;
};

struct chunk {
	struct chunk *next;
	struct slot slots[CHUNK_SLOTS];
};

struct bucket {
	struct slot *first, *last; /* `last` means nothing while the bucket is empty */
};

struct queue {
	uint64_t now; /* the time popped last */
	size_t count;
	uint32_t rows;           /* a bit for each row that is not empty */
	uint64_t occupied[ROWS]; /* a bit for each bucket that is not empty */
	struct bucket buckets[ROWS][DIGITS];
	struct slot *free;
	struct chunk *chunks;
};

struct queue *queue_create(void)
{
	struct queue *queue = calloc(1, sizeof(*queue));
	must(queue != NULL);
	return queue;
}

void queue_destroy(struct queue *queue)
{
	while (queue->chunks != NULL) {
		struct chunk *chunk = queue->chunks;
		queue->chunks = chunk->next;
		free(chunk);
	}
	free(queue);
}

static void add_chunk(struct queue *queue)
{
	struct chunk *chunk = malloc(sizeof(*chunk));

	must(chunk != NULL);
	chunk->next = queue->chunks;
	queue->chunks = chunk;
	for (size_t i = CHUNK_SLOTS; i-- > 0;) {
		chunk->slots[i].next = queue->free;
		queue->free = &chunk->slots[i];
	}
}

/* Appends to the bucket where the event belongs now. */
static inline void place(struct queue *queue, struct slot *slot)
{
	uint64_t time = slot->event.time;
	unsigned row = (unsigned)(63 - __builtin_clzll((time ^ queue->now) | 1)) / DIGIT_BITS;
	unsigned digit = (unsigned)(time >> row * DIGIT_BITS) % DIGITS;
	struct bucket *bucket = &queue->buckets[row][digit];

	slot->next = NULL;
	if (queue->occupied[row] & UINT64_C(1) << digit) {
		bucket->last->next = slot;
	} else {
		bucket->first = slot;
		queue->occupied[row] |= UINT64_C(1) << digit;
		queue->rows |= 1u << row;
	}
	bucket->last = slot;
}

void queue_push(struct queue *queue, const struct event *event)
{
	must(event->time >= queue->now);
	if (queue->free == NULL)
		add_chunk(queue);
	struct slot *slot = queue->free;
	queue->free = slot->next;
	slot->event = *event;
	place(queue, slot);
	queue->count++;
}

static struct slot *take_bucket(struct queue *queue, unsigned row)
{
	unsigned digit = (unsigned)__builtin_ctzll(queue->occupied[row]);

	queue->occupied[row] &= queue->occupied[row] - 1;
	if (queue->occupied[row] == 0)
		queue->rows &= ~(1u << row);
	return queue->buckets[row][digit].first;
}

/* The time moves up to the earliest of these, and they go to lower rows. */
static void deal_out(struct queue *queue, struct slot *slot)
{
	uint64_t earliest = slot->event.time;

	for (const struct slot *other = slot->next; other != NULL; other = other->next) {
		if (other->event.time < earliest)
			earliest = other->event.time;
	}
	queue->now = earliest;
	while (slot != NULL) {
		struct slot *next = slot->next;
		place(queue, slot);
		slot = next;
	}
}

static inline struct slot *take_first(struct queue *queue)
{
	for (;;) {
		unsigned row = (unsigned)__builtin_ctz(queue->rows);
		if (row == 0) {
			unsigned digit = (unsigned)__builtin_ctzll(queue->occupied[0]);
			struct bucket *bucket = &queue->buckets[0][digit];
			/* All of this bucket have the same time. */
			if (bucket->first->next == NULL)
				return take_bucket(queue, 0);
			struct slot *slot = bucket->first;
			bucket->first = slot->next;
			return slot;
		}
		struct slot *slot = take_bucket(queue, row);
		if (slot->next == NULL)
			return slot;
		deal_out(queue, slot);
	}
}

bool queue_pop(struct queue *queue, struct event *ret_event)
{
	if (queue->count == 0)
		return false;
	struct slot *slot = take_first(queue);
	*ret_event = slot->event;
	queue->now = slot->event.time;
	queue->count--;
	slot->next = queue->free;
	queue->free = slot;
	return true;
}

void queue_clear(struct queue *queue)
{
	while (queue->rows != 0) {
		struct slot *slot = take_bucket(queue, (unsigned)__builtin_ctz(queue->rows));
		while (slot != NULL) {
			struct slot *next = slot->next;
			slot->next = queue->free;
			queue->free = slot;
			slot = next;
		}
	}
	queue->count = 0;
	queue->now = 0;
}

size_t queue_count(const struct queue *queue)
{
	return queue->count;
}
