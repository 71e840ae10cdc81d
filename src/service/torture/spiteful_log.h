/*
 * The voters' log, as bad as a correct one may be. What is committed is in one order that all voters
 * see, and nothing more is promised: a voter may believe that it leads long after another does; of
 * what a leader proposed before it was deposed some survives and is committed under the next; entries
 * are committed and applied late; for long times nobody leads.
 *
 * A commit needs a majority of voters that run and that the leader reaches both ways.
 */
#ifndef TORTURE_SPITEFUL_LOG_H
#define TORTURE_SPITEFUL_LOG_H

#include "realm.h"

struct spiteful_log *log_create(uint64_t seed);
void log_destroy(struct spiteful_log *log);
void log_begin(struct realm *realm);

void log_propose(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size);
/* What the disk of a voter has when its process starts: a snapshot, NULL at first. */
const uint8_t *log_snapshot(struct realm *realm, uint32_t place, size_t *ret_size);
/* The process of a voter has started from that snapshot, or is gone. */
void log_started(struct realm *realm, uint32_t place);
void log_stopped(struct realm *realm, uint32_t place);

/* Faults: entries take up to so long; the leader is deposed; nobody leads before then. */
void log_slow(struct realm *realm, uint64_t delay_max);
void log_depose(struct realm *realm);
void log_headless(struct realm *realm, uint64_t until);
/* The leader, or REALM_NOWHERE. */
uint32_t log_leader(const struct realm *realm);
uint64_t log_committed(const struct realm *realm);

void log_on_event(struct realm *realm, const struct event *event);

#endif
