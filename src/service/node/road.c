#include "road.h"

#include "grow.h"
#include "whole.h"

#include <string.h>

enum {
	IDLE_ROUNDS = 2,
	ROAD_SIZE_MAX = 1 << 17, /* more bytes than any correct algorithm has in flight at once */
};

/* A lock has one byte for each type of message. The bits of TYPE_IDLE count how many rounds in a
 * row were idle, up to IDLE_ROUNDS. TYPE_PASSED is set once a message of the type has passed here.
 * TYPE_NEWS is set if the lock's counter has changed since a message of the type last passed. */
enum { TYPE_IDLE = 3, TYPE_PASSED = 4, TYPE_NEWS = 8 };

/* The messages of one lock that rest here, in a piece of the pool that grows with them. */
struct road {
	uint64_t counter; /* the lock's counter when a message last arrived */
	uint32_t size;    /* the bytes of the messages that rest here */
	bool due;
	/* A byte for each type; then the messages: side, size as in wire.h, message. */
	uint8_t bytes[];
};

static struct road **place_of(struct lock *lock)
{
	return (struct road **)(void *)(lock + 1);
}

static size_t types_count(const struct node *node)
{
	return node->algorithm->messages_count;
}

static size_t road_size(const struct node *node, size_t size)
{
	return offsetof(struct road, bytes) + types_count(node) + size;
}

static uint8_t *rest_of(const struct node *node, struct road *road)
{
	return road->bytes + types_count(node);
}

/* Makes room for that many bytes of resting messages, and keeps those that are there. */
static struct road *resize(struct node *node, struct lock *lock, size_t size)
{
	struct road *old = *place_of(lock);
	size_t needed = road_size(node, size);

	if (old != NULL && words_of(road_size(node, old->size)) == words_of(needed)) {
		old->size = (uint32_t)size;
		return old;
	}
	struct road *road = pool_take(&node->pool, words_of(needed));
	memset(road, 0, needed);
	if (old != NULL) {
		size_t had = road_size(node, old->size);
		memcpy(road, old, had < needed ? had : needed);
		pool_give(&node->pool, old, words_of(had));
	}
	road->size = (uint32_t)size;
	*place_of(lock) = road;
	return road;
}

static struct road *road_of(struct node *node, struct lock *lock)
{
	struct road *road = *place_of(lock);

	return road != NULL ? road : resize(node, lock, 0);
}

/* Reads the next message from `in`. */
static struct letter next_letter(struct in *in)
{
	struct letter letter = {.side = (enum side) * in->next++};

	letter.size = (uint32_t)in_uint(in);
	letter.body = in->next;
	in->next += letter.size;
	return letter;
}

static struct in what_rests(const struct node *node, struct road *road)
{
	uint8_t *rest = rest_of(node, road);

	return (struct in){.next = rest, .end = rest + road->size};
}

/* Is a message of this type parked? With one member every message is, because it has nowhere to go.
 * Otherwise only the lock's home parks messages, after too many rounds in which nobody wanted the
 * lock. It never parks a message of an unknown type, because its rounds are not counted, and the
 * algorithm will refuse it. */
static bool is_parked(const struct node *node, const struct lock *lock, const struct road *road,
                      uint8_t type)
{
	if (node->view.count == 1)
		return true;
	return lock->home == node->view.self && type < types_count(node) &&
	       (road->bytes[type] & TYPE_IDLE) >= IDLE_ROUNDS;
}

static void count_round(const struct node *node, const struct lock *lock, struct road *road,
                        uint8_t type)
{
	if (road->counter != lock->counter) {
		for (size_t i = 0; i < types_count(node); i++)
			road->bytes[i] |= TYPE_NEWS;
		road->counter = lock->counter;
	}
	if (type >= types_count(node))
		return;
	uint8_t of = road->bytes[type], idle = of & TYPE_IDLE;
	if ((of & TYPE_PASSED) == 0 || (of & TYPE_NEWS) != 0)
		idle = 0;
	else if (idle < IDLE_ROUNDS)
		idle++;
	road->bytes[type] = TYPE_PASSED | idle;
}

/* Adds the lock to those whose messages move on next. */
static void schedule(struct node *node, struct lock *lock, struct road *road)
{
	struct roads *roads = &node->roads;

	if (road->due)
		return;
	road->due = true;
	roads->due =
	        grow(roads->due, &roads->due_size, roads->due_count + 1, sizeof(struct lock *));
	roads->due[roads->due_count++] = lock;
	if (roads->hop_deadline == NODE_NEVER)
		roads->hop_deadline = node->now + roads->idle_hop;
}

void road_add(struct node *node, struct lock *lock, const struct letter *letter)
{
	struct road *road = road_of(node, lock);
	uint8_t head[8], *end = head;
	uint32_t size = letter->size;
	size_t before = road->size;

	count_round(node, lock, road, letter->body[0]);
	*end++ = (uint8_t)letter->side;
	for (; size >= 0x80; size >>= 7)
		*end++ = (uint8_t)(size | 0x80);
	*end++ = (uint8_t)size;
	size_t head_size = (size_t)(end - head);
	road = resize(node, lock, before + head_size + letter->size);
	memcpy(rest_of(node, road) + before, head, head_size);
	memcpy(rest_of(node, road) + before + head_size, letter->body, letter->size);
	if (!is_parked(node, lock, road, letter->body[0]))
		schedule(node, lock, road);
}

struct letter road_take(struct node *node, struct lock *lock)
{
	struct roads *roads = &node->roads;
	struct road *road = *place_of(lock);
	struct in in = what_rests(node, road);
	struct letter letter = next_letter(&in);
	size_t left = (size_t)(in.end - in.next);

	roads->moving = grow(roads->moving, &roads->moving_size, letter.size, sizeof(uint8_t));
	memcpy(roads->moving, letter.body, letter.size);
	letter.body = roads->moving;
	memmove(rest_of(node, road), in.next, left);
	resize(node, lock, left);
	return letter;
}

uint32_t road_count(struct node *node, struct lock *lock)
{
	struct in in = what_rests(node, road_of(node, lock));
	uint32_t count = 0;

	for (; in.next < in.end; count++)
		next_letter(&in);
	return count;
}

void road_unpark(struct node *node, struct lock *lock)
{
	struct road *road = road_of(node, lock);

	for (size_t i = 0; i < types_count(node); i++)
		road->bytes[i] &= (uint8_t)~TYPE_IDLE;
}

bool road_is_fresh(const struct node *node, struct lock *lock)
{
	const struct road *road = *place_of(lock);

	if (road == NULL)
		return false;
	for (size_t i = 0; i < types_count(node); i++) {
		if ((road->bytes[i] & TYPE_PASSED) == 0 || (road->bytes[i] & TYPE_IDLE) != 0)
			return false;
	}
	return true;
}

uint32_t road_due(struct node *node, struct lock *lock)
{
	struct road *road = *place_of(lock);
	struct in in = what_rests(node, road);
	uint32_t count = 0;

	road->due = false;
	for (uint32_t place = 1; in.next < in.end; place++) {
		if (!is_parked(node, lock, road, next_letter(&in).body[0]))
			count = place;
	}
	return count;
}

bool road_is_full(struct lock *lock)
{
	const struct road *road = *place_of(lock);

	return road != NULL && road->size > ROAD_SIZE_MAX;
}

bool road_rests(const struct node *node, struct lock *lock)
{
	const struct road *road = node->algorithm->circulates ? *place_of(lock) : NULL;

	return road != NULL && road->size != 0;
}

void roads_init(struct roads *roads, uint64_t idle_hop)
{
	roads->idle_hop = idle_hop;
	roads->hop_deadline = NODE_NEVER;
}

void roads_clear(struct roads *roads)
{
	roads->due_count = 0;
	roads->hop_deadline = NODE_NEVER;
}

void roads_free(struct roads *roads)
{
	free(roads->due);
	free(roads->moving);
}
