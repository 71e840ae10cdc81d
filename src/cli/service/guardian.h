/*
 * A command that runs while a lock is held, and is stopped when the lock is lost.
 *
 *     baton run ── guardian ── command ── …
 *
 * There are three processes, so that any one of them may be killed with -9. The guardian starts the
 * command, watches the lock, and is told by `baton run` which signals arrived. Both have the
 * session's descriptors and are child subreapers. If `baton run` is killed, the guardian kills the
 * command and all its descendants, waits until they are gone, and only then releases the lock. If
 * the guardian is killed, `baton run` inherits its children and does the same. The guardian has a
 * process group of its own, so that a signal to the group of `baton run` does not hit both. If both
 * are killed at once, the kernel kills the command itself (PR_SET_PDEATHSIG), but not its children.
 *
 * Either may also be stopped (SIGSTOP). The guardian does not need `baton run`. `baton run` notices
 * when the node has sent something about the lock (the news), but leaves it to the guardian to read
 * that, and asks the guardian for a sign of life. If none comes within a small part of the grace,
 * `baton run` makes sure that the guardian is stopped and reads the news itself. If the lock was
 * lost, it does the guardian's work: SIGTERM, and after the grace SIGKILL. So only one of the two
 * reads from the node at a time. Somebody may continue the guardian meanwhile. Then it finds the
 * loss in the memory that both share, and does the same work at the same times.
 *
 * Over TLS only the guardian can read from the node. Then `baton run` knows only when the lease
 * ends, by the last answer that the guardian has read, and acts at that time.
 *
 * A process that kills `baton run` may kill the command too. The guardian of an outer run does so,
 * if this run is a part of the outer run's command. Then this guardian may see the end of its
 * command first. A command that ends by itself may leave processes behind, a killed run may not. So
 * if SIGKILL ended the command, the guardian first asks `baton run` for a sign of life: a process
 * that was sent SIGKILL gives none.
 *
 * The guardian may also be stopped after it has learned of the loss. So it notes when it has to
 * kill next. If it has not done so a quarter of the margin after that time, or half of the margin
 * if it is not stopped, `baton run` takes its place. A guardian that cannot kill the command,
 * because the command runs as another user, is replaced only if it is stopped.
 *
 * front.c is the process that the user started, guardian.c the other one.
 */
#ifndef CLI_GUARDIAN_H
#define CLI_GUARDIAN_H

#include "holding.h"

#include <stdatomic.h>

/* Runs the command while the lock is held, releases the lock and reports. Returns the exit code. If
 * a signal ended the command, this process ends by that signal. */
int guarded_run(struct holding *holding, char **command);

/* --- for front.c and guardian.c --- */

/* Both sides send single bytes on their channel. Bytes from 1 to 64 are signals: a signal that
 * arrived, or the one that stopped the command. */
enum {
	CHANNEL_ALIVE = 0,  /* the question "are you there?", and the answer to it */
	CHANNEL_READS = 65, /* the guardian is about to read from the node */
	CHANNEL_ENDED = 66, /* "the command was killed: are you alive?", and the answer to it */
};

enum reader { READER_NONE, READER_GUARDIAN, READER_RUN };

/* Memory that both processes share. It has what the guardian has done so far, in case it is stopped
 * or killed; and the loss of the lock, no matter which of the two has read of it. */
struct shared {
	_Atomic pid_t command; /* the process of the command; 0: not started */
	_Atomic bool ended;    /* the command was reaped */
	_Atomic int status;    /* the wait status of the command, if it was reaped */
	/* The process that reads from the node, and may not have noted yet what it has read: an
	 * enum reader. If one of the two has read something, the other cannot read it again. */
	_Atomic int reader;
	/* Why the lock was lost, as in struct holding; set before lost_ns. The text is a constant
	 * of this program, at the same address in both processes. */
	const char *_Atomic reason;
	/* By when all processes of the command must be gone, as in struct holding; set before
	 * lost_ns. */
	_Atomic uint64_t end_ns;
	/* When one of the two noted here that the lock is lost; 0: nobody did. */
	_Atomic uint64_t lost_ns;
	/* When the guardian has to kill what is left of the command, for the first time or again;
	 * set before lost_ns. */
	_Atomic uint64_t kill_ns;
	/* The guardian cannot kill the command, and has asked the node to keep the lost lock. */
	_Atomic bool stays;
	_Atomic bool over;     /* no process of the command needs to be stopped any more */
	_Atomic bool reported; /* the lock was released and everything was reported */
	_Atomic int code;      /* the exit code, if everything was reported */
	_Atomic int signal;    /* the signal by which `baton run` has to end; 0: none */
	/* The signal came from the terminal, to the command's group alone. */
	_Atomic bool interrupted;
	/* `baton run` is stopping itself, or has stopped itself, because the command is stopped. It
	 * looks at the command after it has set this: either it sees that the command goes on, or
	 * the guardian sees that `baton run` has to be woken. */
	_Atomic bool stands;
};

/* The guardian's main function; `run` is its parent. Returns the exit code. */
int guardian_run(struct holding *holding, struct shared *shared, int channel, pid_t run,
                 char **command);

/* Returns a descriptor from which these signals are read. */
int read_signals(const sigset_t *set);
/* Redirects this process' input and output to /dev/null, so that only the command has them. */
void leave_streams(void);

#endif
