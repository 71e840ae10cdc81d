/*
 * Ends all descendants of a process.
 *
 * The caller is a child subreaper: every descendant that loses its parent becomes its child. So
 * while any descendant is left, the caller has a child; when it has none, none is left, wherever
 * they had moved.
 */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the kernel shows as the name of a guardian. */
#define GUARDIAN_NAME "baton-guardian"

/* Children that must not be killed: the process had them before it executed this program, or they
 * have ended and cannot be reaped. */
struct spared {
	pid_t *pids;
	size_t count, room;
};

/* Notes the children that this process has now, and how great numbers of processes can be. */
void spared_note(struct spared *spared);
void spared_add(struct spared *spared, pid_t pid);
void spared_free(struct spared *spared);

/* The descendants that are left. */
struct descendants {
	size_t count;
	pid_t refused; /* a descendant that this process may not signal (EPERM), or 0 */
};

/* Returns the living descendants without `except`. Spared processes and their descendants are left
 * out; children of `except` are not. */
struct descendants descendants_left(const struct spared *spared, pid_t except);

/*
 * Does one round of killing: stops all descendants, and sends SIGKILL to them; if there is a guardian
 * among them, only to those without living children. Must be repeated until there are none. Returns
 * what was left before this round. `thorough`: the last round found none, and still there are children.
 *
 * If /proc is missing or of another namespace, or there are no descriptors to read it, only children
 * are found. Then a round kills them, and the group of `command` with them.
 */
struct descendants descendants_kill(const struct spared *spared, pid_t command, bool thorough);

/* Returns the parent of a process that was not reaped yet, or 0. */
pid_t process_parent(pid_t pid);
/* True if the process is there and stopped. */
bool process_stopped(pid_t pid);
/* True if the process has ended, but was not reaped. */
bool process_ended(pid_t pid);

#endif
