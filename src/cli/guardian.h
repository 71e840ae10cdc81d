/*
 * A command that runs while a lock is held, and is stopped when it is held no more.
 *
 *     baton run ── guardian ── command ── …
 *
 * Three processes, so that any one of them may be killed with -9. The guardian starts the command,
 * watches the lock, and is told by `baton run` which signals came. Both have the session's
 * descriptor and are child subreapers. If `baton run` is killed, the guardian kills the command and
 * all its descendants, waits until they are gone, and only then gives the lock back; if the guardian is
 * killed, `baton run` inherits its children and does the same. The guardian has a process group of
 * its own, so that a signal to the group of `baton run` does not meet both. If both are killed at once,
 * the command itself is killed by the kernel (PR_SET_PDEATHSIG), but its children are not.
 */
#ifndef CLI_GUARDIAN_H
#define CLI_GUARDIAN_H

#include "holding.h"

/* Runs the command while the lock is held, gives it back and reports; the exit code. */
int guarded_run(struct holding *holding, char **command);

#endif
