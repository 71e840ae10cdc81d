/*
 * The voters' log as in the product: servers of the replicated log (voter.h), whose letters travel
 * over the paths of the realm, on simulated disks. A disk does its writes one after the other, some
 * of them slowly. When its process is killed, the writes that are not durable are lost, except
 * perhaps some of the oldest. A torn write counts as lost, because it is a transaction.
 *
 * The judge sees everything that a voter applies. It checks that all voters apply the same history
 * and have the same state after the same entry, and that no term has two leaders.
 */
#ifndef TORTURE_RAFT_LOG_H
#define TORTURE_RAFT_LOG_H

#include "log_engine.h"

extern const struct log_engine raft_log;

#endif
