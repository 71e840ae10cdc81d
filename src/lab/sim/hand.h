/*
 * Lets a user interfere with a simulation between two of its events (sim_begin, sim_step). Each
 * function is an act: it makes something happen now, at the time of the last event, that would have
 * happened later or not at all. The run then goes on from the new state, and is still
 * deterministic.
 *
 * An act that cannot happen now returns false and changes nothing.
 */
#ifndef LAB_HAND_H
#define LAB_HAND_H

#include "envelope.h"
#include "sim.h"

/* Makes the node ask, or begin an election. The next request that the load had planned for it is
 * cancelled. */
bool hand_request(struct sim *sim, uint32_t node);
/* Makes the node leave. */
bool hand_release(struct sim *sim, uint32_t node);
/* These three act on the message with this number. Under FIFO only the oldest message of a channel
 * can be delivered, and a delay also delays all later messages on the same channel. */
bool hand_deliver(struct sim *sim, uint64_t number);
bool hand_lose(struct sim *sim, uint64_t number);
bool hand_delay(struct sim *sim, uint64_t number, uint64_t by);
/* Of the node's timers, makes the one that is due first expire now. */
bool hand_expire(struct sim *sim, uint32_t node);
/* Makes the place dead. Possible only if the algorithm has timers, by which others notice it. */
bool hand_crash(struct sim *sim, uint32_t node);

/* Returns how many steps have happened so far. A step is an event line of the trace with what it
 * caused. Events without effect, such as a timer that was stopped, do not count. */
uint64_t sim_steps(const struct sim *sim);
/* Returns the time of the last step. */
uint64_t sim_time(const struct sim *sim);

const struct world *sim_world(const struct sim *sim);
/* Return, for each place of an election, the leader that it knows, and whether it is dead. Return
 * NULL if this is no election. */
const uint32_t *sim_learned(const struct sim *sim);
const uint8_t *sim_dead(const struct sim *sim);

/* Lists the messages in flight in the order in which they will arrive, in an array that the
 * caller frees. The bodies are in the same memory. */
size_t sim_flights(struct sim *sim, struct envelope **ret_flights);

/* Returns when the next timer of each node expires, or UINT64_MAX if it has none armed, in an
 * array that the caller frees. Returns NULL if the algorithm has no timers. */
uint64_t *sim_timers(struct sim *sim);

#endif
