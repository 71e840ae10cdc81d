/*
 * Ends the processes of a command: kills all its descendants, round by round, until none is left. A
 * process that may not be killed (EPERM: it has changed its user) is named on stderr, and the lock
 * stays held as long as that process lives.
 *
 * The exit code of `baton run` is not chosen here, but in `finish` of guardian.c; or, if the
 * guardian is gone, in `end_all` of front.c.
 *
 * The caller is a child subreaper, and nobody else uses the holding meanwhile.
 */
#ifndef CLI_ENDING_H
#define CLI_ENDING_H

#include "descendants.h"
#include "holding.h"

struct ending {
	struct holding *holding;
	const struct spared *spared;
	pid_t command;
	bool ended; /* the command itself was reaped */
	int status; /* the wait status of the command, if it was reaped */
	bool lost;  /* the lock is not held any more */
	/* When the first round began; or, if the lock was lost and that round began late, when it
	 * was due. 0: there was no round yet. */
	uint64_t begun_ns;
	int pause_ms; /* how long to wait before the next round */
	/* How many rounds in a row found no process of the command and reaped no child. */
	unsigned none_seen;
	/* The process that was last named in a message because it may not be signalled; 0: none. */
	pid_t refused;
	/* The node was asked to keep the lock as long as this process is connected. */
	bool stays;
	/* The node was asked to keep the lock because processes need long to end. */
	bool late;
};

/* Does one round. Returns true if nothing is left. Otherwise call it again when a child has ended,
 * and after `pause_ms` at the latest. */
bool ending_round(struct ending *ending);

/* Does what descendants_left does, and returns how much processor time that took. */
struct descendants ending_look(const struct ending *ending, pid_t except, int64_t *ret_ms);

/* Asks the node, once, to keep the lost lock, if a look at the processes took so long that the margin
 * may be too short for them to end: this takes several times as long. Does nothing if the node cannot
 * keep the lock. */
void ending_stay_if_many(struct ending *ending, int64_t look_ms);

/* Call it if a process may not be sent a signal. Prints that, and if the lock was lost, asks the
 * node to keep it. */
void ending_refused(struct ending *ending, pid_t pid, const char *signal);

#endif
