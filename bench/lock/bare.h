/*
 * The yardsticks of bench_lock: what libuv and the sockets cost without any lock.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stdbool.h>

/* Serves an echo on a Unix socket, for ever. */
_Noreturn void bare_echo(const char *path);

/*
 * Runs processes connected by TCP, each with a client on a Unix socket. A token goes round; the
 * process that has it makes a round trip with its client before it passes the token on. With 3
 * messages for each turn, it also sends one to the first process, which passes it on to another, as
 * a request would travel. Returns the turns per second. `certificates` is a folder made by `baton cert`:
 * the processes use TLS. NULL: they do not.
 */
double bare_turns(int processes, int messages, double seconds, bool pinned,
                  const char *certificates);

#endif
