/*
 * The command's process: how it begins, and its terminal.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include "holding.h"

/* The controlling terminal, of which only one process group at a time can read. */
struct terminal {
	int fd;           /* -1: none */
	pid_t group_home; /* whose it is while the command does not have it: that of `baton run` */
	bool lent;        /* the command has it, or had it when it was stopped */
};

/* What is known before anything is started; `group_home` is the caller's own group. */
void terminal_open(struct terminal *terminal);
/* Is the command meant to talk with somebody? Then it gets the terminal at once. */
bool terminal_is_wanted(const struct terminal *terminal);
/* If the group of `baton run` is in the foreground. SIGTTOU is blocked. Whether the command has it
 * now. */
bool terminal_lend(struct terminal *terminal, pid_t command);
/* If the command's group has it. Whether it had. */
bool terminal_take_back(struct terminal *terminal, pid_t command);

/*
 * Starts the command in a process group of its own, with the signals that `baton run` was given and
 * what it should know in its environment. Its pid, or -1 and errno.
 */
pid_t child_start(const struct holding *holding, struct terminal *terminal, char **command);

/* A wait status as an exit code. */
int child_code(int status);

#endif
