/*
 * Guards that a driver of libraft 0.22.1's core (raft_step) needs: checks and corrections against
 * faults of the core. Each function is one guard; its reason is in raft_guard.c. The tests notice
 * if a guard in test/mutants/consensus_raft_guard.mutants is removed. The reasons for the others
 * come from trials with the library and from reading it.
 *
 * Nothing here changes the core's state.
 */
#ifndef CONSENSUS_RAFT_GUARD_H
#define CONSENSUS_RAFT_GUARD_H

#include "raft_letter.h"
#include "replica_log.h"
#include "voters.h"

/* Must a server with this log begin a new term when it starts? */
bool guard_begins_term(const struct replica_log *log, uint64_t id);

/* Is this a letter that no correct server can have sent to a server with this log, which has
 * applied this many entries? */
bool guard_is_impossible(const struct raft *raft, const struct replica_log *log, uint64_t applied,
                         const struct raft_letter *letter);

/* Must this message be dropped before the core sees it? */
bool guard_drops(const struct raft *raft, const struct raft_message *message);

/* Does this request come from a leader of an older term? Then the reply to it must pass through
 * guard_answer_old. */
bool guard_is_old(const struct raft *raft, const struct raft_message *request);
void guard_answer_old(struct raft_message *reply);
/* Corrects a reply to a pre-vote. Every reply of the core must pass through it. */
void guard_answer_pre_vote(const struct raft *raft, struct raft_message *reply);
/* Corrects a request for a vote. Every request of the core must pass through it. `told_term` is the
 * term in which a leader last told this server to begin an election at once. */
void guard_disrupt(struct raft_message *request, uint64_t told_term);

/* Removes the entries that the snapshot covers from an AppendEntries. */
void guard_clip(const struct raft *raft, const struct replica_log *log, struct raft_letter *letter);
/* How many entries a log may have beyond those that were applied. */
enum { GUARD_AHEAD_MAX = 1 << 12 };
/* Removes the entries that are too far ahead from an AppendEntries. */
void guard_limit(uint64_t applied, struct raft_letter *letter);
/* Must this server vote although it is only a standby by its own log? If so, and if the leader that
 * the core still believes in is silent, changes the request so that the core does not refuse it. */
bool guard_lends_vote(const struct raft *raft, struct raft_message *request, uint64_t now);

/* Returns how many of these entries the core may be given in one step; at least 1. */
size_t guard_split(const struct durable_entry *entries, size_t count);
/*
 * Call it before a step with entries that follow the entry `index` of `term`; `first` is the first
 * of them. Returns the index of an earlier change, or 0 if there is none. The caller must tell the
 * core that this change is committed (RAFT_CONFIGURATION) before it does the step.
 */
uint64_t guard_earlier_change(const struct raft *raft, const struct replica_log *log,
                              const struct durable_entry *first, uint64_t index, uint64_t term);

/* Call it when the write with the number `write` is durable. It had `count` entries, the first of
 * them at the index `first`. Returns how many of them the core may be told about. */
size_t guard_persisted(const struct replica_log *log, uint64_t first, size_t count, uint64_t write);
/* May messages be sent? `written` is the last durable write, `ballot_write` the last write with a
 * term or a vote. */
bool guard_may_send(uint64_t written, uint64_t ballot_write);

/* Returns when the core wants to be woken, in milliseconds; `woken` is when it was woken last. */
uint64_t guard_deadline(const struct raft *raft, uint64_t woken);

/* When each server was last heard; all zero: no server was heard yet. */
struct guard_contacts {
	struct {
		uint64_t id, heard;
	} servers[VOTERS_SERVERS_MAX];
};
void guard_heard(struct guard_contacts *contacts, uint64_t id, uint64_t now);
bool guard_was_heard(const struct raft *raft, const struct guard_contacts *contacts, uint64_t id,
                     uint64_t now);

/* May the leader submit this configuration now? */
bool guard_may_change(struct raft *raft, const struct replica_log *log,
                      const struct guard_contacts *contacts, const struct raft_configuration *next,
                      uint64_t now);
/* Does this server have everything that the leader has, so that it can vote or lead at once? */
bool guard_is_caught_up(const struct raft *raft, const struct replica_log *log, uint64_t id);
/* Does this server, which has finished catching up, still have nearly all entries? */
bool guard_stays_caught_up(const struct raft *raft, uint64_t id);

#endif
