/*
 * SIGHUP: the rules are read again, in a separate thread, because looking up a user or a group may
 * ask a remote server and take seconds. The old rules are in force until the new ones are complete;
 * if the new ones are wrong, the old ones stay.
 *
 * New rules take nothing away: a lock that is held stays held, and a command that was accepted is
 * carried out. They apply from the next command on, and from the next event of a subscription on.
 * If there are no rules any more, the socket's mode decides who may do everything; a client that is
 * connected already and could not open the socket now may do nothing any more.
 */
#ifndef DAEMON_RELOAD_H
#define DAEMON_RELOAD_H

#include "loop.h"

struct daemon;
struct reload_job;

struct reload {
	/* Readable when the thread has finished. Must be the first member. */
	struct loop_watch done;
	struct daemon *daemon;
	struct reload_job *job; /* the job that the thread works on; NULL: there is none */
	bool again;             /* another SIGHUP came while the thread worked */
};

void reload_open(struct daemon *daemon);
/* Begins to read the rules again. */
void reload_begin(struct daemon *daemon);
/* Does not wait for a thread that is still at work, because the process ends. */
void reload_close(struct daemon *daemon);

#endif
