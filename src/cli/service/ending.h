/*
 * Ends a command: kills all its descendants, round by round, until none is left. A process that may
 * not be killed (EPERM: it has changed its user) is named on stderr, and the lock stays held as
 * long as it lives.
 *
 * The caller is a child subreaper, and the only one that uses the holding.
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
	/* When the first round began; if the lock was lost before that, when it was due. 0: there was
	 * none. */
	uint64_t begun_ns;
	int pause_ms; /* how long to wait before the next round */
	/* How many rounds in a row found no process of the command, and no end of one. */
	unsigned none_seen;
	/* The process that may not be signalled and was named last in a message. */
	pid_t refused;
	/* The node was asked to keep the lock as long as this process is connected. */
	bool stays;
};

/* Does one round. Returns true if nothing is left. Otherwise call it again when a child has ended,
 * and after `pause_ms` at the latest. */
bool ending_round(struct ending *ending);

/* Call it if this process may not be sent that signal: it prints that, and asks the node to keep
 * the lock if it was lost. */
void ending_refused(struct ending *ending, pid_t pid, const char *signal);

#endif
