/*
 * Keeps a session's knowledge of its node's lease (validity.h) up to date, and treats its locks as
 * lost when the lease ends.
 */
#ifndef CLIENT_LEASES_H
#define CLIENT_LEASES_H

#include "handle.h"

/* Call it before a lock is requested. Before the first lock of a session it waits for an answer of
 * the node. Returns 0 or an error. */
int leases_begin(struct baton *baton);
/* Call it when a lock was granted. `asked_ns` is what validity_now returned before the request was
 * sent; if that was long ago, waits for an answer of the node. Returns 0 or an error. */
int leases_granted(struct baton *baton, const struct lock_grant *grant, uint64_t asked_ns);
/* If the lease has ended, treats the locks as lost and returns true. Does not ask the node. */
bool leases_over(struct baton *baton);
/*
 * Sends the command LEASE when it is due, and reads the replies that have arrived. Treats the locks as
 * lost if the lease has ended or, for a program that watches, will end before the program can have
 * stopped. Sets the timer for the next call. Never waits.
 */
void leases_look(struct baton *baton);

#endif
