/*
 * A hand that reaches into a simulation between two of its events (sim_begin, sim_step): it lets
 * something happen now, at the time of the last event, that would have happened later or not at
 * all. From there the run goes its own way, as deterministic as before.
 *
 * Each act returns false, and changes nothing, if it cannot happen now.
 */
#ifndef LAB_HAND_H
#define LAB_HAND_H

#include "envelope.h"
#include "sim.h"

/* The node asks, or initiates; what its load had it ask next is forgotten. */
bool hand_request(struct sim *sim, uint32_t node);
/* The node leaves. */
bool hand_release(struct sim *sim, uint32_t node);
/* These take a message by its number. Under fifo only the oldest message of a channel can be
 * delivered, and a delay also holds back what was sent after it on the same channel. */
bool hand_deliver(struct sim *sim, uint64_t number);
bool hand_lose(struct sim *sim, uint64_t number);
bool hand_delay(struct sim *sim, uint64_t number, uint64_t by);
/* The timer of the node that would run out first runs out. */
bool hand_expire(struct sim *sim, uint32_t node);
/* The place is dead from now on: only where the algorithm has timers to notice it by. */
bool hand_crash(struct sim *sim, uint32_t node);

/* How far it is: what has happened so far, events that were nothing (a timer that was stopped) left
 * out. A step is one line of the trace with what it caused. */
uint64_t sim_steps(const struct sim *sim);
/* The time of the last of them. */
uint64_t sim_time(const struct sim *sim);

const struct world *sim_world(const struct sim *sim);
/* Of an election: the leader that each place knows, and who is dead; else NULL. */
const uint32_t *sim_learned(const struct sim *sim);
const uint8_t *sim_dead(const struct sim *sim);

/* The messages in flight in the order in which they will arrive, with their bodies, in an array
 * to be freed. */
size_t sim_flights(struct sim *sim, struct envelope **ret_flights);

/* When each node's next timer runs out, UINT64_MAX: none is armed; in an array to be freed, NULL
 * if the algorithm has no timers. */
uint64_t *sim_timers(struct sim *sim);

#endif
