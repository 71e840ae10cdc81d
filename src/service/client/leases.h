/*
 * Keeps what a session knows about the lease of its node (validity.h) up to date, and loses its
 * locks when the lease ends.
 */
#ifndef CLIENT_LEASES_H
#define CLIENT_LEASES_H

#include "handle.h"

/* Call it before a lock is asked for. Before the first one of a session it waits for an answer of
 * the node. Returns 0 or an error. */
int leases_begin(struct baton *baton);
/* Call it when a lock was granted; validity_now returned `asked_ns` before the lock was asked for.
 * If that was long ago, waits for an answer of the node. Returns 0 or an error. */
int leases_granted(struct baton *baton, const struct lock_grant *grant, uint64_t asked_ns);
/* Loses the locks if the lease has ended. Asks nobody. Returns true if it has. */
bool leases_over(struct baton *baton);
/*
 * Asks LEASE if it is time for it, and reads answers that are there. Loses the locks if the lease
 * has ended or, if the program watches, will have ended when the program has stopped. Sets the timer
 * for the next look. Never waits.
 */
void leases_look(struct baton *baton);

#endif
