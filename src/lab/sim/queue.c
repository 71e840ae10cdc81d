/*
 * A radix queue (after the radix heap of Ahuja, Mehlhorn, Orlin and Tarjan, 1990).
 *
 * Times are written in base 64. The wheel has a row for each digit, and a bucket for each value of
 * that digit. An event waits in the row of the highest digit in which its time differs from `base`.
 * So the earliest events are in the first bucket of the lowest row that is not empty. When that
 * bucket is due, there are three cases. If it has few events, they are sorted into the batch. If it
 * has many that are in order already, because their times are equal or delays are constant, they
 * stay where they are. In these two cases the events become the run: sorted events, all earlier
 * than those of the wheel. In the third case `base` moves up to the earliest event of the bucket,
 * and its events are dealt out to lower rows.
 *
 * The wheel holds times from `limit` on. An event that is pushed for an earlier time goes to the
 * front, a short sorted array. A queue with few events uses only its front. When the front is full,
 * its events and those of the run go to the wheel.
 *
 * No pattern of times makes this slow. An event moves down at most eleven rows, and mostly one or
 * two. It moves up again only when the front is full, and filling the front takes as many pushes as
 * it has events.
 *
 * No sequence numbers are needed to keep events of equal times in order. Events are appended to
 * buckets, and sorting and dealing out keep their order. Among events of equal time those in the
 * run are the oldest, then those in the front, then those in the wheel.
 *
 * Buckets are blocks of events and not lists, so that dealing out reads and writes memory in
 * sequence. With a million events that is seven times as fast. Some functions must not be inlined:
 * that would make the common paths through queue_place() and queue_pop() a third slower.
 */
#include "queue.h"

#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <sys/queue.h>

#define OUT_OF_LINE __attribute__((noinline))

enum {
	DIGIT_BITS = 6,
	DIGITS = 1 << DIGIT_BITS,
	ROWS = 64 / DIGIT_BITS + 1,
	BLOCK_EVENTS = 32,
	CHUNK_BLOCKS = 32,
	FRONT_EVENTS = 64, /* the room of the front: an event for each bit of queue_front.free */
	BATCH_ENOUGH = 8,
	/* A bucket that is small enough for the batch is a single block. */
	BATCH_MAX = BLOCK_EVENTS,
	BATCH_ROWS = 9,
};

_Static_assert(((UINT64_C(1) << BATCH_ROWS * DIGIT_BITS) - 1) <= UINT64_MAX / BATCH_MAX - 1,
               "a batch's keys fit");

struct block {
	struct block *next;
	struct event events[BLOCK_EVENTS];
};

struct queue_chunk {
	SLIST_ENTRY(queue_chunk) link;
	struct block blocks[CHUNK_BLOCKS];
};

/* A list of blocks, all full except the last. The pointers mean nothing while the bucket is
 * empty. */
struct bucket {
	struct block *first, *last;
	size_t count;
};

struct queue_front {
	uint64_t free; /* a bit for each element of `events`: 1 if it is free */
	uint32_t head, tail;
	/* The times of the events in the front: sorted, from head to tail. */
	uint64_t times[2 * FRONT_EVENTS];
	/* For each element of `times`, the index of its event in `events`. */
	uint32_t slots[2 * FRONT_EVENTS];
	struct event events[FRONT_EVENTS];
};

struct queue_run {
	const struct event *next, *end;
	struct block *block; /* the block that the events are in; NULL: they are in the batch */
	size_t later_count;  /* how many events are in the blocks after this one */
	uint64_t time_max;
};

struct queue {
	uint64_t now; /* the time of the event that was popped last */
	/* Events of run and front are earlier than this time, those of the wheel are not. The
	 * only exception is a run that spill() leaves in place. */
	uint64_t limit;
	/* This is never later than the earliest time in the wheel and, between calls, never later
	 * than `now`. */
	uint64_t base;
	size_t count;
	struct queue_run run;
	struct queue_front front;
	struct event batch[BATCH_MAX];
	struct block *free;
	SLIST_HEAD(, queue_chunk) chunks;
	size_t chunks_count;
	uint32_t rows;           /* a bit for each row that is not empty */
	uint64_t occupied[ROWS]; /* a bit for each bucket that is not empty */
	struct bucket wheel[ROWS][DIGITS];
};

struct queue *queue_create(void)
{
	struct queue *queue = calloc(1, sizeof(*queue));

	memory_must(queue != NULL);
	queue->limit = UINT64_MAX;
	queue->front.free = UINT64_MAX;
	return queue;
}

void queue_destroy(struct queue *queue)
{
	while (!SLIST_EMPTY(&queue->chunks)) {
		struct queue_chunk *chunk = SLIST_FIRST(&queue->chunks);
		SLIST_REMOVE_HEAD(&queue->chunks, link);
		free(chunk);
	}
	free(queue);
}

/* Frees a block and returns the block that came after it. */
static inline struct block *free_block(struct queue *queue, struct block *block)
{
	struct block *next = block->next;

	block->next = queue->free;
	queue->free = block;
	return next;
}

static void add_chunk(struct queue *queue)
{
	struct queue_chunk *chunk = malloc(sizeof(*chunk));

	memory_must(chunk != NULL);
	SLIST_INSERT_HEAD(&queue->chunks, chunk, link);
	queue->chunks_count++;
	for (size_t i = CHUNK_BLOCKS; i-- > 0;) {
		chunk->blocks[i].next = queue->free;
		queue->free = &chunk->blocks[i];
	}
}

static OUT_OF_LINE struct event *extend_bucket(struct queue *queue, unsigned row, unsigned digit,
                                               uint64_t time)
{
	struct bucket *bucket = &queue->wheel[row][digit];

	if (queue->free == NULL)
		add_chunk(queue);
	struct block *block = queue->free;
	queue->free = block->next;
	block->next = NULL;
	if (bucket->count == 0) {
		bucket->first = block;
		queue->occupied[row] |= UINT64_C(1) << digit;
		queue->rows |= 1u << row;
	} else {
		bucket->last->next = block;
	}
	bucket->last = block;
	bucket->count++;
	block->events[0].time = time;
	return block->events;
}

static inline struct event *place_in_wheel(struct queue *queue, uint64_t base, uint64_t time)
{
	unsigned row = (unsigned)(63 - __builtin_clzll((time ^ base) | 1)) / DIGIT_BITS;
	unsigned digit = (unsigned)(time >> row * DIGIT_BITS) % DIGITS;
	struct bucket *bucket = &queue->wheel[row][digit];
	size_t index = bucket->count % BLOCK_EVENTS;

	if (index == 0)
		return extend_bucket(queue, row, digit, time);
	bucket->count++;
	bucket->last->events[index].time = time;
	return &bucket->last->events[index];
}

static OUT_OF_LINE void compact_front(struct queue_front *front)
{
	uint32_t count = front->tail - front->head;

	memmove(front->times, front->times + front->head, count * sizeof(front->times[0]));
	memmove(front->slots, front->slots + front->head, count * sizeof(front->slots[0]));
	front->head = 0;
	front->tail = count;
}

static inline struct event *place_in_front(struct queue_front *front, uint64_t time)
{
	if (front->tail == 2 * FRONT_EVENTS)
		compact_front(front);
	uint32_t slot = (uint32_t)__builtin_ctzll(front->free);
	uint32_t at = front->tail++;

	front->free &= front->free - 1;
	for (; at > front->head && front->times[at - 1] > time; at--) {
		front->times[at] = front->times[at - 1];
		front->slots[at] = front->slots[at - 1];
	}
	front->times[at] = time;
	front->slots[at] = slot;
	front->events[slot].time = time;
	return &front->events[slot];
}

static inline size_t block_count(size_t count)
{
	return count < BLOCK_EVENTS ? count : BLOCK_EVENTS;
}

static inline const struct event *take_from_run(struct queue *queue)
{
	struct queue_run *run = &queue->run;
	const struct event *event = run->next++;

	if (run->next == run->end && run->block != NULL) {
		run->block = free_block(queue, run->block);
		if (run->block != NULL) {
			size_t count = block_count(run->later_count);
			run->next = run->block->events;
			run->end = run->next + count;
			run->later_count -= count;
		}
	}
	return event;
}

/*
 * Moves the run and the front to the wheel, the run first, because its events are older. If all
 * events of the run are due now, the run stays, so that a million such events are not moved over
 * and over. That is safe: no event can be earlier, and all others of the same time were pushed
 * later.
 */
static OUT_OF_LINE void spill(struct queue *queue)
{
	struct queue_front *front = &queue->front;
	struct queue_run *run = &queue->run;

	if (run->time_max > queue->now) {
		while (run->next != run->end) {
			uint64_t time = run->next->time;
			*place_in_wheel(queue, queue->base, time) = *take_from_run(queue);
		}
	}
	for (uint32_t i = front->head; i < front->tail; i++) {
		const struct event *event = &front->events[front->slots[i]];
		*place_in_wheel(queue, queue->base, event->time) = *event;
	}
	front->free = UINT64_MAX;
	front->head = front->tail = 0;
	queue->limit = queue->now;
}

static OUT_OF_LINE struct event *place_near(struct queue *queue, uint64_t time)
{
	if (queue->front.free != 0)
		return place_in_front(&queue->front, time);
	spill(queue);
	return place_in_wheel(queue, queue->base, time);
}

struct event *queue_place(struct queue *queue, uint64_t time)
{
	must(time >= queue->now);
	queue->count++;
	if (time < queue->limit)
		return place_near(queue, time);
	return place_in_wheel(queue, queue->base, time);
}

struct position {
	unsigned row, digit;
	uint64_t time; /* the earliest time that belongs in the bucket */
};

static inline struct position first_bucket(const struct queue *queue)
{
	unsigned row = (unsigned)__builtin_ctz(queue->rows);
	unsigned digit = (unsigned)__builtin_ctzll(queue->occupied[row]);
	unsigned shift = row * DIGIT_BITS;
	uint64_t higher = queue->base & ~(((uint64_t)DIGITS << shift) - 1);

	return (struct position){row, digit, higher | (uint64_t)digit << shift};
}

static inline struct bucket take_bucket(struct queue *queue, struct position first)
{
	struct bucket bucket = queue->wheel[first.row][first.digit];

	queue->wheel[first.row][first.digit].count = 0;
	queue->occupied[first.row] &= queue->occupied[first.row] - 1;
	if (queue->occupied[first.row] == 0)
		queue->rows &= ~(1u << first.row);
	return bucket;
}

/*
 * Sorts the first bucket into the batch, together with more buckets of the same row while they are
 * nearly empty. All keys are different, so an event's place is the number of smaller keys. For so
 * few events counting is faster than a sort with fewer comparisons, because there is no branch to
 * mispredict. The blocks are freed before their events are copied; nothing can allocate a block in
 * between.
 */
static void make_batch(struct queue *queue, struct position first)
{
	const struct event *events[BATCH_MAX];
	uint64_t keys[BATCH_MAX];
	size_t count = 0;
	unsigned row = first.row;
	uint64_t start = first.time;

	do {
		struct bucket bucket = take_bucket(queue, first);
		for (size_t i = 0; i < bucket.count; i++, count++) {
			events[count] = &bucket.first->events[i];
			keys[count] = (events[count]->time - start) * BATCH_MAX + count;
		}
		free_block(queue, bucket.first);
		if (count >= BATCH_ENOUGH || (queue->rows >> row & 1) == 0)
			break;
		first = first_bucket(queue);
	} while (count + queue->wheel[row][first.digit].count <= BATCH_MAX);

	for (size_t i = 0; i < count; i++) {
		size_t rank = 0;
		for (size_t k = 0; k < count; k++)
			rank += keys[k] < keys[i];
		queue->batch[rank] = *events[i];
	}
	queue->run = (struct queue_run){
	        .next = queue->batch,
	        .end = queue->batch + count,
	        .time_max = queue->batch[count - 1].time,
	};
}

static bool is_sorted(const struct bucket *bucket, uint64_t *ret_min)
{
	const struct block *block = bucket->first;
	uint64_t last = 0;
	uint64_t min = UINT64_MAX;
	bool sorted = true;

	for (size_t left = bucket->count; left > 0; block = block->next) {
		size_t count = block_count(left);
		for (size_t i = 0; i < count; i++) {
			uint64_t time = block->events[i].time;
			sorted &= time >= last;
			last = time;
			min = time < min ? time : min;
		}
		left -= count;
	}
	*ret_min = min;
	return sorted;
}

static void deal_out(struct queue *queue, struct bucket bucket)
{
	struct block *block = bucket.first;
	uint64_t base = queue->base;

	for (size_t left = bucket.count; left > 0; block = free_block(queue, block)) {
		size_t count = block_count(left);
		for (size_t i = 0; i < count; i++)
			*place_in_wheel(queue, base, block->events[i].time) = block->events[i];
		left -= count;
	}
}

static void pop_in_place(struct queue *queue, struct bucket bucket)
{
	size_t count = block_count(bucket.count);

	queue->run = (struct queue_run){
	        .next = bucket.first->events,
	        .end = bucket.first->events + count,
	        .block = bucket.first,
	        .later_count = bucket.count - count,
	        .time_max = bucket.last->events[(bucket.count - 1) % BLOCK_EVENTS].time,
	};
}

static bool is_drained(const struct queue *queue)
{
	return queue->run.next == queue->run.end && queue->front.head == queue->front.tail;
}

static OUT_OF_LINE void refill(struct queue *queue)
{
	while (is_drained(queue)) {
		struct position first = first_bucket(queue);
		size_t count = queue->wheel[first.row][first.digit].count;

		queue->base = first.time;
		if (count <= BATCH_MAX && first.row < BATCH_ROWS - 1) {
			make_batch(queue, first);
			continue;
		}
		struct bucket bucket = take_bucket(queue, first);
		if (is_sorted(&bucket, &queue->base))
			pop_in_place(queue, bucket);
		else
			deal_out(queue, bucket);
	}
	queue->limit = queue->rows == 0 ? UINT64_MAX : first_bucket(queue).time;
}

static inline const struct event *take_from_front(struct queue_front *front)
{
	uint32_t slot = front->slots[front->head++];

	front->free |= UINT64_C(1) << slot;
	return &front->events[slot];
}

static inline bool run_is_next(const struct queue *queue)
{
	const struct queue_run *run = &queue->run;
	const struct queue_front *front = &queue->front;

	return run->next != run->end &&
	       (front->head == front->tail || run->next->time <= front->times[front->head]);
}

bool queue_pop(struct queue *queue, struct event *ret_event)
{
	if (is_drained(queue)) {
		if (queue->count == 0)
			return false;
		refill(queue);
	}
	const struct event *event =
	        run_is_next(queue) ? take_from_run(queue) : take_from_front(&queue->front);
	queue->now = event->time;
	queue->count--;
	*ret_event = *event;
	return true;
}

void queue_clear(struct queue *queue)
{
	while (queue->rows != 0) {
		struct bucket bucket = take_bucket(queue, first_bucket(queue));
		bucket.last->next = queue->free;
		queue->free = bucket.first;
	}
	while (queue->run.block != NULL)
		queue->run.block = free_block(queue, queue->run.block);
	queue->run = (struct queue_run){.next = NULL};
	queue->front.free = UINT64_MAX;
	queue->front.head = queue->front.tail = 0;
	queue->now = 0;
	queue->limit = UINT64_MAX;
	queue->base = 0;
	queue->count = 0;
}

size_t queue_count(const struct queue *queue)
{
	return queue->count;
}

size_t queue_memory(const struct queue *queue)
{
	return sizeof(*queue) + queue->chunks_count * sizeof(struct queue_chunk);
}
