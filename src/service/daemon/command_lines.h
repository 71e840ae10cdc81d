/*
 * Reads the command lines of clients' processes, for `baton status` and the log. A process can make
 * whoever reads its /proc/PID/cmdline wait, because that needs the lock of the process's memory. So
 * a thread reads it, and the loop waits for the thread for a moment at most. If the command line
 * comes later, the client gets it then.
 */
#ifndef DAEMON_COMMAND_LINES_H
#define DAEMON_COMMAND_LINES_H

#include "loop.h"
#include "node.h"

enum {
	/* The most command lines that wait for the thread. */
	COMMAND_LINES_MAX = 4,
	/* How long the loop waits for the thread. After it has waited in vain, it does not wait for
	 * the next COMMAND_LINES_PAUSE_MS, so that slow processes do not delay it all the time. */
	COMMAND_LINES_WAIT_MS = 2,
	COMMAND_LINES_PAUSE_MS = 100,
};

struct command_lines;

/* Starts the thread. The loop calls `late` for a command line that comes after its time. */
struct command_lines *command_lines_open(struct loop *loop,
                                         void (*late)(void *context, uint64_t session,
                                                      const char *command),
                                         void *context);
/* Does not wait for a thread that is still at work, because the process ends. */
void command_lines_close(struct command_lines *lines);

/*
 * Reads the command line from a descriptor of /proc/PID/cmdline, and closes the descriptor. Returns
 * true if it has come in time. Otherwise *ret_ticket is the number under which it may come later;
 * 0: it will not come.
 */
bool command_lines_read(struct command_lines *lines, int fd, char ret_command[NODE_COMMAND_MAX + 1],
                        uint64_t *ret_ticket);
/* Says whose command line comes later. Without this call, nobody gets it. */
void command_lines_expect(struct command_lines *lines, uint64_t ticket, uint64_t session);

#endif
