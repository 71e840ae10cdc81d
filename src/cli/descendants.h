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

/*
 * Kills all descendants, but not the spared ones and theirs, and waits until they are gone. SIGCHLD is
 * blocked, and read from `children`, a signalfd. If `command` is reaped, *ret_status is its
 * wait status.
 */
void descendants_end(int children, const struct spared *spared, pid_t command, int *ret_status);

#endif
