/*
 * The lease note: a file beside the node's socket, PATH.lease, that says how long a lease is. If
 * the node is killed, the next node on that path must wait for commands started under the old
 * lease, which may be longer than the new node's.
 */
#ifndef DAEMON_LEASE_NOTE_H
#define DAEMON_LEASE_NOTE_H

#include <stdint.h>

/* Returns the lease that the last node on this socket had; 0: it is not known. A note that others
 * could have written is ignored, and that is logged. */
uint64_t lease_note_read(const char *socket);
/* Writes the note. A failure is logged. */
void lease_note_write(const char *socket, uint64_t lease_ms);
void lease_note_remove(const char *socket);

#endif
