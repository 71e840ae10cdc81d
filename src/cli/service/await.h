/*
 * Waits for descriptors, whatever the limit of descriptors is.
 */
#ifndef CLI_AWAIT_H
#define CLI_AWAIT_H

#include <poll.h>

/*
 * Waits like poll, and reports POLLIN only. poll refuses more descriptors than this process may
 * open, and that limit can be lowered at any time (prlimit). This function still waits: a process
 * that holds a lock must not miss anything, and must not spin.
 */
int await_any(struct pollfd *items, nfds_t count, int ms);

#endif
