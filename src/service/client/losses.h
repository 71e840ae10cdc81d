/*
 * Reads the second connection, which reports lost locks.
 */
#ifndef CLIENT_LOSSES_H
#define CLIENT_LOSSES_H

#include "handle.h"

/* Call it before a lock is requested, so that its loss will be reported. Returns 0 or an error. If
 * the node's rules forbid it, they forbid the request too, and its refusal names the rule that is
 * missing; so this returns 0 then, and sets watch.refused. */
int losses_subscribe(struct baton *baton, struct word name);
/* Reads the events that have arrived. Never waits. */
void losses_read(struct baton *baton);

#endif
