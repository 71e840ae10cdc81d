/*
 * What libraft 0.22.1 needs from whoever drives its core by raft_step. Each function is one guard, and its
 * reason is in raft_guard.c. test/mutants/consensus_raft_guard.mutants removes those whose absence the
 * tests here notice; the others come from trials with the library and from reading it.
 *
 * Nothing here changes the core's state.
 */
#ifndef CONSENSUS_RAFT_GUARD_H
#define CONSENSUS_RAFT_GUARD_H

#include "raft_letter.h"
#include "replica_log.h"

/* Must this message be dropped before the core sees it? */
bool guard_drops(const struct raft *raft, const struct raft_message *message);

/* Is this a request of a leader whose term is over? Then its reply must pass guard_answer_old. */
bool guard_is_old(const struct raft *raft, const struct raft_message *request);
void guard_answer_old(struct raft_message *reply);
/* Every reply that the core makes must pass. */
void guard_answer_pre_vote(const struct raft *raft, struct raft_message *reply);

/* Removes from an AppendEntries what the snapshot covers. */
void guard_clip(const struct raft *raft, const struct replica_log *log, struct raft_letter *letter);
/* How many of these entries may be given to the core in one step; at least 1. */
size_t guard_split(const struct durable_entry *entries, size_t count);
/*
 * Before a part is stepped that follows the entry `index` of `term`: the earlier change that must be
 * said to be committed first (RAFT_CONFIGURATION); 0: none.
 */
uint64_t guard_earlier_change(const struct raft *raft, const struct replica_log *log,
                              const struct durable_entry *first, uint64_t index, uint64_t term);

/* How many of the `count` entries from `first` on, which a write has made durable, the core may be told
 * about. */
size_t guard_persisted(const struct replica_log *log, uint64_t first, size_t count, uint64_t write);
/* May messages be sent, when this write is the last that is durable and that one the last with a term or
 * a vote? */
bool guard_may_send(uint64_t written, uint64_t ballot_write);

/* When the core wants to be woken, in milliseconds; `woken` is when it was last. */
uint64_t guard_deadline(const struct raft *raft, uint64_t woken);

/* May the leader submit this configuration now? */
bool guard_may_change(struct raft *raft, const struct replica_log *log,
                      const struct raft_configuration *next);
/* Has this server everything that the leader has? Then it may vote, or lead, at once. */
bool guard_is_caught_up(const struct raft *raft, const struct replica_log *log, uint64_t id);

#endif
