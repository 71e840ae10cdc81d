/*
 * A command that runs while a lock is held, and is stopped when it is held no more.
 *
 *     baton run ── guardian ── command ── …
 *
 * Three processes, so that any one of them may be killed with -9. The guardian starts the command,
 * watches the lock, and is told by `baton run` which signals came. Both have the session's
 * descriptors and are child subreapers. If `baton run` is killed, the guardian kills the command and
 * all its descendants, waits until they are gone, and only then gives the lock back; if the guardian is
 * killed, `baton run` inherits its children and does the same. The guardian has a process group of
 * its own, so that a signal to the group of `baton run` does not meet both. If both are killed at once,
 * the command itself is killed by the kernel (PR_SET_PDEATHSIG), but its children are not.
 *
 * Either may also be stopped (SIGSTOP). The guardian needs nobody. `baton run` sees when there is news
 * of the lock, though it does not read it, and asks the guardian for a sign of life. If there is none
 * within a small part of the grace, it makes sure that the guardian stands still, reads the news
 * itself, and, if the lock was lost, does the guardian's work: SIGTERM, and after the grace SIGKILL. So
 * only one of the two reads from the node at a time.
 *
 * front.c has the process that the user started, guardian.c the other one.
 */
#ifndef CLI_GUARDIAN_H
#define CLI_GUARDIAN_H

#include "holding.h"

#include <stdatomic.h>

/* Runs the command while the lock is held, gives it back and reports; the exit code. If a signal ended
 * the command, this process ends by that signal. */
int guarded_run(struct holding *holding, char **command);

/* --- for front.c and guardian.c --- */

/* Both sides say single bytes on their channel. Those from 1 to 64 are signals: which came, and by which
 * the command was stopped. */
enum {
	CHANNEL_ALIVE = 0,  /* "are you there?", and the answer */
	CHANNEL_READS = 65, /* the guardian is about to read from the node */
};

/* Memory that both have: what the guardian has done so far, wherever it was stopped or killed. */
struct shared {
	_Atomic pid_t command; /* 0: not started */
	_Atomic bool ended;    /* the command was reaped, and … */
	_Atomic int status;    /* … this is its wait status */
	_Atomic bool reading;  /* it reads from the node; what it has read may not be noted yet */
	_Atomic uint64_t lost_ns; /* when it learned that the lock is lost; 0: it has not */
	_Atomic bool over;        /* nothing of the command has to be stopped any more */
	_Atomic bool reported;    /* the lock was given back and all is said: it ends with … */
	_Atomic int code;         /* … this */
	_Atomic int signal;       /* by which `baton run` has to end; 0: none */
	_Atomic bool
	        interrupted; /* that signal came from the terminal, to the command's group alone */
};

/* The guardian's whole life; `run` is its parent. The exit code. */
int guardian_run(struct holding *holding, struct shared *shared, int channel, pid_t run,
                 char **command);

/* A descriptor from which these signals are read. */
int read_signals(const sigset_t *set);
/* Nobody but the command has its input and output from now on. */
void leave_streams(void);

#endif
