/*
 * Reads the second connection, which reports lost locks.
 */
#ifndef CLIENT_LOSSES_H
#define CLIENT_LOSSES_H

#include "handle.h"

/* Call it before a lock is requested, so that its loss will be reported. Returns 0 or an error. */
int losses_subscribe(struct baton *baton, struct word name);
/* Reads the events that have arrived. Never waits. */
void losses_read(struct baton *baton);

#endif
