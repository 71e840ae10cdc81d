/*
 * Servers of the replicated log in virtual time, over a hostile network and hostile disks, and
 * their judge (raft_judge.h). A run follows from its seed.
 *
 * First there are ten seconds of faults: letters are lost, delayed, duplicated and reordered; links
 * are cut one way or both; servers crash and restart, pause, and have disks that are slow or stall.
 * A crash loses the writes that were not durable, except perhaps some of the oldest; a write that
 * it tears is lost as a whole, as disk.h promises. A disk may be wiped: its server comes back
 * empty, under a new id, and the old id never speaks again. In the meantime entries are proposed,
 * snapshots taken, servers added, promoted and removed, and the lead handed over.
 *
 * Then everything heals, except that wiped disks stay lost. Everything committed must still be
 * there, entries must be committed again and reach every server that should have them, and libraft
 * must return all its memory.
 */
#ifndef RAFT_WORLD_H
#define RAFT_WORLD_H

#include <stdbool.h>
#include <stdint.h>

struct raft_world_counts {
	uint64_t events, commits, leaders, crashes, restarts_from_snapshot, wiped;
	uint64_t taken, installed, changes, removals, promotions, transfers;
};

/*
 * Returns NULL if all properties held; otherwise the one that did not, valid until the next call.
 * Adds to the counts. With `keeps_id`, a server whose disk was wiped comes back under its old id:
 * this breaks a rule on purpose, and some seeds must fail.
 */
const char *raft_world_run(uint64_t seed, bool keeps_id, struct raft_world_counts *counts);

#endif
