/*
 * The judge of the replicated log: it looks at everything that servers do, and reports what must
 * not happen.
 *
 * About the log: all servers apply one history, each entry once and in order, across crashes and
 * snapshots; no term has two leaders; a server uses the voters in its own log.
 *
 * About each letter: it promises nothing that a crash could undo, and a leader does not send again
 * what it knows that the other has.
 */
#ifndef RAFT_JUDGE_H
#define RAFT_JUDGE_H

#include "replica.h"
#include "shadow.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	JUDGE_HISTORY_MAX = 1 << 13,
	JUDGE_TERMS_MAX = 1 << 12,
	JUDGE_IDS_MAX = 128,
	JUDGE_SNAPSHOT_SIZE = 16, /* the size of the judged application's snapshot */
};

struct raft_judge {
	uint64_t now;                        /* the time, for the text of a problem */
	uint64_t history[JUDGE_HISTORY_MAX]; /* the hash of all entries up to this index */
	uint64_t committed;                  /* the last index that any server has applied */
	uint64_t leaders[JUDGE_TERMS_MAX];   /* the id of the leader of each term */
	uint64_t leaders_count;
	char problem[256]; /* the first problem that was found; empty: none */
};

/* The judge's knowledge of a server since the server started. At the start everything is zero,
 * except for the id. */
struct judged {
	uint64_t id;
	uint64_t applied, hash; /* the state of the application */
	bool led;               /* the server led when the judge last looked at it */
	/* The last index that each other server has told this leader that it has, in this term. */
	uint64_t matched[JUDGE_IDS_MAX], matched_term;
};

__attribute__((format(printf, 2, 3))) void raft_judge_fail(struct raft_judge *judge,
                                                           const char *format, ...);
bool raft_judge_failed(const struct raft_judge *judge);

void raft_judge_applied(struct raft_judge *judge, struct judged *server,
                        const struct replica_effect *effect);
void raft_judge_restored(struct raft_judge *judge, struct judged *server,
                         const struct replica_effect *effect);
/* Returns the application's state, as a snapshot has it. */
void raft_judge_snapshot(const struct judged *server, uint8_t ret_bytes[JUDGE_SNAPSHOT_SIZE]);

/* Call it after each step: checks who leads, and which voters are used. `memory` has every write
 * that was given out. */
void raft_judge_server(struct raft_judge *judge, struct judged *server,
                       const struct replica *replica, const struct shadow *memory, bool installing);
/* Call it when a letter leaves a server whose disk has this content. */
void raft_judge_sent(struct raft_judge *judge, struct judged *server, const struct replica *replica,
                     const struct shadow *disk, const struct shadow *memory,
                     const struct replica_effect *effect);
/* Call it when a server has taken a letter. */
void raft_judge_received(struct judged *server, const struct replica *replica, uint64_t from,
                         const uint8_t *bytes, size_t size);

#endif
