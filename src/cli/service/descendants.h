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
#include <stdint.h>
#include <sys/types.h>

/* What the kernel shows as the name of a guardian. */
#define GUARDIAN_NAME "baton-guardian"

/* Children that must not be killed: the process had them before it executed this program, or
 * inherited them from such a child. */
struct spared {
	struct spared_process {
		pid_t pid;
		uint64_t
		        begun; /* when the process was made, in ticks since the boot; 0: not known */
	} * list;
	size_t count, room;
	/* Nothing that was made before this tick belongs to a command; 0: not known. */
	uint64_t older_than;
};

/* Notes the children that this process has now, and how great the numbers of processes can be. */
void spared_note(struct spared *spared);
/* Notes when the guardian was made: the command is younger. */
void spared_note_guardian(struct spared *spared, pid_t guardian);
/* Notes what spared children have left behind so far. While the guardian lives, all processes of the
 * command are below it, so every other child of this process is to be spared. */
void spared_note_orphans(struct spared *spared, pid_t guardian);
void spared_free(struct spared *spared);

/* The descendants that are left. */
struct descendants {
	size_t count;
	pid_t refused; /* a descendant that this process may not signal (EPERM), or 0 */
};

/* Returns the living descendants without `except`. Spared processes and their descendants are left
 * out; children of `except` are not. If /proc cannot tell them, counts one and does not look. */
struct descendants descendants_left(const struct spared *spared, pid_t except);

enum {
	/* The last round found no descendants, and still there are children: try all numbers. */
	KILL_THOROUGH = 1,
	/* Kill guardians if nothing else is left. Otherwise they are continued, in case they were
	 * stopped. */
	KILL_GUARDIANS = 2,
	/* Kill guardians whatever else is left, unless there is a process that may not be killed: its
	 * guardian keeps a lock for it. */
	KILL_EVERYTHING = 4,
};

/*
 * Does one round of killing: sends SIGKILL to the group of `command`, if that is a child, and to all
 * descendants. Must be repeated until there are none. Returns what was left before the individual
 * descendants were killed.
 *
 * The guardian of another 'baton run' among them is left to itself at first. It gives its lock back
 * when its own command is gone; without it that lock would be free before. Its 'baton run' is killed,
 * so it kills its command too, and ends.
 *
 * If /proc is missing or of another namespace, or there are no descriptors to read it, only children
 * are found, by trying all numbers.
 */
struct descendants descendants_kill(const struct spared *spared, pid_t command, unsigned how);

/* Returns the parent of a process that was not reaped yet, or 0. */
pid_t process_parent(pid_t pid);
/* True if the process is there and stopped. */
bool process_stopped(pid_t pid);
/* True if the process has ended, but was not reaped. */
bool process_ended(pid_t pid);

#endif
