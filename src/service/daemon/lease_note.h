/*
 * A file beside the node's socket that tells how long a lease is: PATH.lease. If the node is killed,
 * the next one on that path must wait for commands that were started under the old lease, which may
 * be longer than its own.
 */
#ifndef DAEMON_LEASE_NOTE_H
#define DAEMON_LEASE_NOTE_H

#include <stdint.h>

/* Returns the lease that the last node on this socket had; 0: it is not known. */
uint64_t lease_note_read(const char *socket);
/* A failure is logged. */
void lease_note_write(const char *socket, uint64_t lease_ms);
void lease_note_remove(const char *socket);

#endif
