/*
 * The yardsticks of bench_lock: what libuv and the sockets cost without any lock.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stdbool.h>

/* Serves an echo on a Unix socket, for ever. */
_Noreturn void bare_echo(const char *path);

/*
 * So many processes in TCP, each with a client on a Unix socket: a token goes round, and whoever
 * has it makes a round trip with its client before it passes it on. With 3 messages a turn it also
 * sends one to the first process, which passes that on to another, as a request would go. Turns a
 * second.
 */
double bare_turns(int processes, int messages, double seconds, bool pinned);

#endif
