/*
 * Servers of the replicated log in virtual time, over a hostile network and hostile disks, and a
 * judge. A run follows from its seed.
 *
 * First there are ten seconds of faults: letters are lost, delayed, duplicated and reordered; links
 * are cut one way or both; servers crash and restart, pause, and have slow disks. A crash loses the
 * writes that were not durable, or a part of them. In the meantime entries are proposed, snapshots
 * taken, servers added, promoted, demoted and removed, and the lead handed over. Then everything
 * heals, and progress is demanded.
 *
 * The judge checks that all servers apply one history, each entry once and in order, across crashes
 * and snapshots; that no term has two leaders; that a server uses the voters in its own log; that
 * everything committed is still there at the end; and that after healing entries are committed
 * again and reach every server that should have them.
 */
#ifndef RAFT_WORLD_H
#define RAFT_WORLD_H

#include <stdbool.h>
#include <stdint.h>

struct raft_world_counts {
	uint64_t events, commits, leaders, crashes, restarts_from_snapshot;
	uint64_t taken, installed, changes, transfers;
};

/* Returns NULL if everything held, or what did not, valid until the next call. Adds to the
 * counts. */
const char *raft_world_run(uint64_t seed, struct raft_world_counts *counts);

#endif
