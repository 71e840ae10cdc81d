/*
 * The process of the command: how it starts, and its terminal.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include "holding.h"

/* The controlling terminal, from which only one process group at a time can read. */
struct terminal {
	int fd; /* the descriptor of the terminal; -1: there is none */
	/* The group that has the terminal while the command does not: the group of `baton run`. */
	pid_t group_home;
	bool lent; /* the command has the terminal, or had it when it was stopped */
};

/* Finds the terminal before anything is started; `group_home` is the caller's own group. */
void terminal_open(struct terminal *terminal);
/* Does the command seem to be interactive? Then it gets the terminal at once. */
bool terminal_is_wanted(const struct terminal *terminal);
/* Gives the terminal to the command, if the group of `baton run` is in the foreground. SIGTTOU must
 * be blocked. Returns true if the command has it now. */
bool terminal_lend(struct terminal *terminal, pid_t command);
/* Takes the terminal back, if the command's group has it. Returns true if it had. */
bool terminal_take_back(struct terminal *terminal, pid_t command);

/*
 * Starts the command in a process group of its own, with the signal settings that `baton run` was
 * started with, and with BATON_LOCK, BATON_FENCE and the others in its environment. Its pid is
 * noted in shared memory before the command is executed, because the guardian may be stopped before
 * it can note the pid itself. Returns the pid, or -1 and errno.
 */
pid_t child_start(const struct holding *holding, struct terminal *terminal, char **command,
                  _Atomic pid_t *noted);

/* Turns a wait status into an exit code. */
int child_code(int status);

#endif
