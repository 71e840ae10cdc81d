/*
 * The road slows tokens that never stop circulating (le-lann, misra). Without it, the token of
 * every idle lock would run from node to node as fast as the links can carry it. A message that
 * arrives where nobody waits is not given to the algorithm at once: it rests for --idle-hop, and
 * then all resting messages move on in one batch. At the lock's home a message is parked, that is,
 * kept back, when it has come round twice and nothing has happened in between. To the algorithm
 * this is just a slow channel: the order of messages is kept, and none is made or lost.
 *
 * The lock's counter, which every grant increases and every message carries, shows whether
 * something has happened: a round is idle if the counter has not changed since the message last
 * passed. Rounds are counted for each type of message (misra has two tokens, and one of them passes
 * while the other is in use).
 *
 * A node whose client begins to wait sends TOUCH to the home, which then sets its count of idle
 * rounds to 0; so the token passes every node once more before it can be parked. A node need not
 * send TOUCH if, for each type of message, the last round was not idle here. The home saw the same
 * change of the counter, in this round or the one before. So the home's count is still too low for
 * the token to be parked before it has passed here again.
 */
#ifndef NODE_ROAD_H
#define NODE_ROAD_H

#include "lock.h"

/* The state of the road that all locks of a node share. */
struct roads {
	uint64_t idle_hop; /* how long a message rests where nobody waits for it */
	struct lock **due; /* the locks whose messages go on at hop_deadline */
	size_t due_count, due_size;
	uint64_t hop_deadline; /* when the messages of `due` go on; NODE_NEVER: nothing is due */
	uint8_t *moving;       /* a copy of the message that was taken last */
	size_t moving_size;
};

void roads_init(struct roads *roads, uint64_t idle_hop);
/* The epoch is over: forgets all locks, which ended with it. */
void roads_clear(struct roads *roads);
void roads_free(struct roads *roads);

/* Adds a message that has arrived and rests. */
void road_add(struct node *node, struct lock *lock, const struct letter *letter);
/* Returns how many messages rest here. */
uint32_t road_count(struct node *node, struct lock *lock);
/* Removes the oldest message and returns it. Valid until the next one is taken. */
struct letter road_take(struct node *node, struct lock *lock);
/* Returns how many of the oldest messages must move on, now that their time has come. A parked
 * message stays, unless one after it moves on: messages keep their order. */
uint32_t road_due(struct node *node, struct lock *lock);
/* Ends parking, because a client waits somewhere. */
void road_unpark(struct node *node, struct lock *lock);
/* Is it certain that the token will pass here once more, even without a TOUCH? */
bool road_is_fresh(const struct node *node, struct lock *lock);
/* Do more bytes rest here than a correct algorithm ever has in flight? */
bool road_is_full(struct lock *lock);
bool road_rests(const struct node *node, struct lock *lock);

#endif
