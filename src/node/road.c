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

#include <stdlib.h>

enum { IDLE_ROUNDS = 2 };

struct road_type {
	uint64_t counter; /* when it passed last */
	uint8_t idle;     /* how often in a row it has passed with the same */
	bool passed;
};

struct road {
	struct lock *lock;
	struct road *due_next;
	bool due;
	struct parcel *first, **end; /* what rests here */
	struct road_type types[];
};

static struct road *road_of(const struct node *node, struct lock *lock)
{
	struct road **road = lock_road(node, lock);

	if (*road != NULL)
		return *road;
	*road = calloc(1,
	               sizeof(**road) + node->algorithm->messages_count * sizeof(struct road_type));
	must(*road != NULL);
	(*road)->lock = lock;
	(*road)->end = &(*road)->first;
	return *road;
}

/* A type that no message has is refused by the algorithm; nothing is counted for it. */
static bool is_parked(const struct node *node, const struct road *road, const struct parcel *parcel)
{
	uint8_t type = parcel->body[0];

	if (node->view.count == 1)
		return true;
	return road->lock->home == node->view.self && type < node->algorithm->messages_count &&
	       road->types[type].idle >= IDLE_ROUNDS;
}

static void count_round(const struct node *node, struct road *road, uint8_t type)
{
	if (type >= node->algorithm->messages_count)
		return;
	struct road_type *of = &road->types[type];
	if (!of->passed || of->counter != road->lock->counter)
		of->idle = 0;
	else if (of->idle < IDLE_ROUNDS)
		of->idle++;
	of->passed = true;
	of->counter = road->lock->counter;
}

/* Joins the batch that goes on next. */
static void schedule(struct node *node, struct road *road)
{
	if (road->due)
		return;
	road->due = true;
	road->due_next = NULL;
	if (node->due_last != NULL)
		node->due_last->due_next = road;
	else
		node->due = road;
	node->due_last = road;
	if (node->hop_deadline == NODE_NEVER)
		node->hop_deadline = node->now + node->idle_hop;
}

void road_add(struct node *node, struct lock *lock, const struct letter *letter)
{
	struct road *road = road_of(node, lock);
	struct parcel *parcel = parcel_make(letter);

	count_round(node, road, parcel->body[0]);
	*road->end = parcel;
	road->end = &parcel->next;
	if (!is_parked(node, road, parcel))
		schedule(node, road);
}

/* The oldest message goes to the algorithm. */
static void move_first(struct node *node, struct road *road)
{
	struct parcel *parcel = road->first;
	struct letter letter = parcel_letter(parcel);

	road->first = parcel->next;
	if (road->first == NULL)
		road->end = &road->first;
	if (lock_deliver(node, road->lock, &letter) != 0)
		node->figures.malformed++;
	free(parcel);
}

void road_move(struct node *node, struct lock *lock, bool all)
{
	struct road *road = road_of(node, lock);

	/* With one member what moves comes back at once: each message moves once. */
	uint32_t count = 0;
	for (const struct parcel *parcel = road->first; parcel != NULL; parcel = parcel->next)
		count++;
	while (count-- > 0 && (all || lock->phase == PHASE_WAITING))
		move_first(node, road);
}

void road_touch(struct node *node, struct lock *lock)
{
	struct road *road = road_of(node, lock);

	for (size_t i = 0; i < node->algorithm->messages_count; i++)
		road->types[i].idle = 0;
	road_move(node, lock, true);
}

bool road_is_fresh(const struct node *node, struct lock *lock)
{
	const struct road *road = *lock_road(node, lock);

	if (road == NULL)
		return false;
	for (size_t i = 0; i < node->algorithm->messages_count; i++) {
		if (!road->types[i].passed || road->types[i].idle != 0)
			return false;
	}
	return true;
}

/* What is parked stays, unless something behind it goes on: they keep their order. */
static void hop(struct node *node, struct road *road)
{
	uint32_t count = 0, place = 0;

	for (const struct parcel *parcel = road->first; parcel != NULL; parcel = parcel->next) {
		place++;
		if (!is_parked(node, road, parcel))
			count = place;
	}
	while (count-- > 0)
		move_first(node, road);
	lock_settle(node, road->lock);
}

void road_hop(struct node *node)
{
	struct road *road = node->due;

	node->due = node->due_last = NULL;
	node->hop_deadline = NODE_NEVER;
	while (road != NULL) {
		struct road *next = road->due_next;
		road->due = false;
		hop(node, road);
		road = next;
	}
}

/* Only when nothing is due any more: at the end of the epoch, or of the node. */
void road_free(struct node *node, struct lock *lock)
{
	if (!node->algorithm->circulates || *lock_road(node, lock) == NULL)
		return;
	struct road *road = *lock_road(node, lock);
	while (road->first != NULL) {
		struct parcel *next = road->first->next;
		free(road->first);
		road->first = next;
	}
	free(road);
	*lock_road(node, lock) = NULL;
}

bool road_rests(const struct node *node, struct lock *lock)
{
	const struct road *road = node->algorithm->circulates ? *lock_road(node, lock) : NULL;

	return road != NULL && road->first != NULL;
}
