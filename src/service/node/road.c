/*
 * Tokens that circulate for ever (le-lann, misra) would cost every idle lock a message a hop, as
 * fast as links are. So a message that arrives where nobody waits is not given to the algorithm at
 * once: it rests for --idle-hop, and all that rest go on in one batch. At the lock's home it is
 * parked once it has come round twice and nothing has happened meanwhile. To the algorithm this is
 * nothing but a slow channel: the order of messages is kept, and none is made or lost.
 *
 * What has happened is told by the lock's counter, which every grant increases and every message
 * carries: a round is idle if a message finds the counter as it was when the message last passed.
 * That is counted for each type of message (misra has two tokens, and one of them passes by while
 * the other is in use).
 *
 * Who begins to wait sends TOUCH to the home, which then counts from 0: so the token passes
 * everybody once more before it can be parked. No TOUCH is needed where each type has brought news
 * when it last passed: it was parked neither before nor can it be parked before it has passed again,
 * because its home, too, saw that news either in this round or in the one before.
 */
#include "internal.h"

#include "grow.h"

#include <string.h>

enum { IDLE_ROUNDS = 2 };

/* What is known of a type of messages: how often in a row it has passed without news (up to
 * IDLE_ROUNDS), and flags. */
enum { TYPE_IDLE = 3, TYPE_PASSED = 4, TYPE_NEWS = 8 };

/* Of a lock; a piece of the pool, as large as it must be. */
struct road {
	uint64_t counter; /* of the lock, when a message last arrived */
	uint32_t size;    /* of what rests here */
	bool due;
	uint8_t bytes[]; /* one for each type; then what rests: side, size as in wire.h, message */
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

/* The road, with that many bytes for what rests; those that it had stay. */
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

/* The message at `in`, which moves behind it. */
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

/* A type that no message has is refused by the algorithm; nothing is counted for it. */
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

/* Joins the batch that goes on next. */
static void schedule(struct node *node, struct lock *lock, struct road *road)
{
	if (road->due)
		return;
	road->due = true;
	node->due = grow(node->due, &node->due_size, node->due_count + 1, sizeof(struct lock *));
	node->due[node->due_count++] = lock;
	if (node->hop_deadline == NODE_NEVER)
		node->hop_deadline = node->now + node->idle_hop;
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

/* The oldest message goes to the algorithm, which may send one to this very road. */
static void move_first(struct node *node, struct lock *lock)
{
	struct road *road = *place_of(lock);
	struct in in = what_rests(node, road);
	struct letter letter = next_letter(&in);
	size_t left = (size_t)(in.end - in.next);

	node->moving = grow(node->moving, &node->moving_size, letter.size, sizeof(uint8_t));
	memcpy(node->moving, letter.body, letter.size);
	letter.body = node->moving;
	memmove(rest_of(node, road), in.next, left);
	resize(node, lock, left);
	if (lock_deliver(node, lock, &letter) != 0)
		node->figures.malformed++;
}

void road_move(struct node *node, struct lock *lock, bool all)
{
	struct in in = what_rests(node, road_of(node, lock));

	/* With one member what moves comes back at once: each message moves once. */
	uint32_t count = 0;
	for (; in.next < in.end; count++)
		next_letter(&in);
	while (count-- > 0 && (all || lock->phase == PHASE_WAITING))
		move_first(node, lock);
}

void road_touch(struct node *node, struct lock *lock)
{
	struct road *road = road_of(node, lock);

	for (size_t i = 0; i < types_count(node); i++)
		road->bytes[i] &= (uint8_t)~TYPE_IDLE;
	road_move(node, lock, true);
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

/* What is parked stays, unless something behind it goes on: they keep their order. */
static void hop(struct node *node, struct lock *lock)
{
	struct road *road = *place_of(lock);
	struct in in = what_rests(node, road);
	uint32_t count = 0;

	for (uint32_t place = 1; in.next < in.end; place++) {
		if (!is_parked(node, lock, road, next_letter(&in).body[0]))
			count = place;
	}
	while (count-- > 0)
		move_first(node, lock);
	lock_settle(node, lock);
}

void road_hop(struct node *node)
{
	size_t count = node->due_count;

	node->hop_deadline = NODE_NEVER;
	for (size_t i = 0; i < count; i++) {
		struct lock *lock = node->due[i];
		(*place_of(lock))->due = false;
		hop(node, lock);
	}
	node->due_count -= count;
	if (node->due_count != 0)
		memmove(node->due, node->due + count, node->due_count * sizeof(struct lock *));
}

bool road_rests(const struct node *node, struct lock *lock)
{
	const struct road *road = node->algorithm->circulates ? *place_of(lock) : NULL;

	return road != NULL && road->size != 0;
}
