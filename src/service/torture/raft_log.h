/*
 * The voters' log as it is: servers of the replicated log (voter.h), whose letters go over the paths of
 * the realm, on simulated disks. A disk does its writes one after the other, some of them slowly; when
 * its process is killed, those that are not durable are lost, or all but some of the oldest: a write that
 * was torn counts as lost, as the transaction that it is.
 *
 * The judge sees everything that a voter applies: all apply one history and have the same state after
 * the same entry, and no term has two leaders.
 */
#ifndef TORTURE_RAFT_LOG_H
#define TORTURE_RAFT_LOG_H

#include "log_engine.h"

extern const struct log_engine raft_log;

#endif
