/*
 * Servers of the replicated log in virtual time, over a network and disks that mean harm, and a judge. A run
 * follows from its seed.
 *
 * First ten seconds of faults: letters are lost, late, doubled and out of order, links are cut one way or
 * both, servers crash and start again, pause, and have slow disks; a crash loses the writes that were not
 * durable, or a part of them. Meanwhile entries are proposed, snapshots taken, servers added, promoted,
 * demoted and removed, and the lead handed over. Then everything heals, and progress is demanded.
 *
 * The judge: all servers apply one history, each entry once and in order, across crashes and snapshots; no
 * term has two leaders; a server uses the voters that its own log tells; what was committed is still there
 * at the end; after healing entries are committed again, and everybody who should have them has them.
 */
#ifndef RAFT_WORLD_H
#define RAFT_WORLD_H

#include <stdbool.h>
#include <stdint.h>

struct raft_world_counts {
	uint64_t events, commits, leaders, crashes, restarts_from_snapshot;
	uint64_t taken, installed, changes, transfers;
};

/* Returns NULL if all held, or what did not, good until the next call. The counts are added to. */
const char *raft_world_run(uint64_t seed, struct raft_world_counts *counts);

#endif
