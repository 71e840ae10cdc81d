/*
 * The end of a command that must end: all that it has brought into the world is killed, round by round,
 * until none is left. What may not be killed (EPERM: it has become another user's) is told on stderr,
 * and the lock stays where it is as long as that lives.
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
	bool ended;         /* the command itself was reaped, and … */
	int status;         /* … this is its wait status */
	bool lost;          /* the lock is not held any more */
	int pause_ms;       /* until the next round */
	unsigned none_seen; /* rounds that found nobody */
	pid_t refused;      /* told last */
	bool stays;         /* the node was asked to keep the lock here */
};

/* One round. True: nothing is left. Else to be called again when a child has ended, and after
 * `pause_ms` at the latest. */
bool ending_round(struct ending *ending);

/* This process may not be sent that signal: says so, and lets the node keep the lock if it was lost. */
void ending_refused(struct ending *ending, pid_t pid, const char *signal);

#endif
