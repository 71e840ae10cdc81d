/*
 * The end of all that a process has brought into the world.
 *
 * The caller is a child subreaper: whoever loses its parent becomes its child. So as long as anything
 * is left, it has a child, and when it has none, nothing is left, wherever it had gone.
 */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

#include <stddef.h>
#include <sys/types.h>

/* Children that are not ours to kill: those that a process had before it became what it is. */
struct spared {
	pid_t *pids;
	size_t count;
};

/* The children that this process has now. */
void spared_note(struct spared *spared);
void spared_free(struct spared *spared);

/* What is left of them. */
struct descendants {
	size_t count;
	pid_t refused; /* one that this process may not signal (EPERM), or 0 */
};

/* The living descendants, without the spared ones and theirs, and without `except` (but with its
 * children). */
struct descendants descendants_left(const struct spared *spared, pid_t except);

/*
 * One round of killing them all: all are stopped, those without living children get SIGKILL. To be
 * repeated until there are none. What was left before this round. `command` is the group that is killed
 * where there is no /proc.
 */
struct descendants descendants_kill(const struct spared *spared, pid_t command);

/* The parent of a process that has not been reaped, or 0. */
pid_t process_parent(pid_t pid);

#endif
