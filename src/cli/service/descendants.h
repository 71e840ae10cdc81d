/*
 * Ends all descendants of a process.
 *
 * The caller is a child subreaper: every descendant that loses its parent becomes its child. So
 * while any descendant is left, the caller has a child, no matter to which group or session the
 * descendant has moved.
 */
#ifndef CLI_DESCENDANTS_H
#define CLI_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The name of a guardian's process, as the kernel shows it. */
#define GUARDIAN_NAME "baton-guardian"

/* Children that must not be killed. This process had them before it executed this program, or
 * inherited them when such a child ended. */
struct spared {
	struct spared_process {
		pid_t pid;
		/* When the process was made, in ticks since the boot; 0: not known. */
		uint64_t begun;
	} * list;
	size_t count, room;
	/* Processes that were made before this tick do not belong to the command; 0: not known. */
	uint64_t older_than;
};

/* Notes the children that this process has now, and the limit of pids. */
void spared_note(struct spared *spared);
/* Notes when the guardian was made: the command was made later. */
void spared_note_guardian(struct spared *spared, pid_t guardian);
/* Notes the orphans that spared children have left so far. While the guardian lives, all processes
 * of the command are its descendants. So every other child of this process is spared. */
void spared_note_orphans(struct spared *spared, pid_t guardian);
void spared_free(struct spared *spared);

/* The descendants that are left. */
struct descendants {
	size_t count;
	pid_t refused; /* a descendant that this process may not signal (EPERM), or 0 */
};

/* Returns the living descendants, without `except` and without spared processes and their
 * descendants. Children of `except` do count. If /proc cannot be used or be read completely,
 * one descendant is counted for all those that were not found. */
struct descendants descendants_left(const struct spared *spared, pid_t except);

enum {
	/* The last round found no descendants although there are children: try all pids. */
	KILL_THOROUGH = 1,
	/* Kill guardians if nothing else is left. Without this flag they get SIGCONT, in case they
	 * were stopped. */
	KILL_GUARDIANS = 2,
	/* Even if other processes are left, kill those that have the name of a guardian but run
	 * another program than this process. But do not kill them if there is a process that this
	 * process may not kill: its guardian keeps a lock for it. */
	KILL_LIARS = 4,
};

/*
 * Does one round of killing: sends SIGKILL to the group of `command`, if that is a child, and to
 * all descendants. Must be repeated until there are none. Returns what was left before the
 * individual descendants were killed.
 *
 * If the guardian of another 'baton run' is among the descendants, it is not killed at first. Its
 * 'baton run' is killed, so the guardian kills its own command, releases its lock and ends. If the
 * guardian were killed, its lock would be free while its command still runs.
 *
 * If /proc is missing or shows another namespace, or if there are no descriptors to read it, only
 * children are found, by trying all pids.
 */
struct descendants descendants_kill(const struct spared *spared, pid_t command, unsigned how);

/* True if this process has inherited the guardian of another 'baton run', which was killed, or will
 * inherit it, because that 'baton run' was killed and has not ended yet. The guardian is about to
 * kill its command. It is continued if it was stopped. False if /proc cannot be used. */
bool descendants_inherit_guardian(void);

/* Returns the parent of a process that was not reaped yet, or 0. */
pid_t process_parent(pid_t pid);
/* True if the process is there and stopped. */
bool process_stopped(pid_t pid);
/* True if the process has ended, but was not reaped. */
bool process_ended(pid_t pid);

#endif
