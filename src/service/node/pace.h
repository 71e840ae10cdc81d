/*
 * Counts the steps that algorithms have taken here in this epoch, and the messages that they have
 * sent and that have not arrived. With these counts, a member that asks all others twice can tell
 * that a lock did not change in between (status_order.h).
 *
 * There are many locks and each must stay small, so locks share these counters: the hash of a
 * lock's name chooses one. A quiet lock that shares its counter with a busy one seems busy, which
 * only means that STATUS does not find the order of its waiters.
 */
#ifndef NODE_PACE_H
#define NODE_PACE_H

#include <stdint.h>

enum { PACES_COUNT = 256 }; /* an index has 8 bits in a lock */

struct pace {
	uint32_t steps;
	/* Messages sent by this node less messages that its algorithm has taken, modulo 2^32. The
	 * sum over all members is the number of messages in flight. */
	uint32_t balance;
};

/* Returns the index of a lock's counters, by the hash of its name. */
static inline uint32_t pace_index(uint64_t hash)
{
	return (uint32_t)hash % PACES_COUNT;
}

#endif
