/*
 * Reads the second connection, which reports lost locks.
 */
#ifndef CLIENT_LOSSES_H
#define CLIENT_LOSSES_H

#include "handle.h"

/* Call it before a lock is requested, so that its loss will be reported. Returns 0 or an error. If
 * the node's rules forbid the subscription, this returns 0 and sets watch.refused: the rules then
 * forbid the request too, and the refusal of the request names the missing rule. */
int losses_subscribe(struct baton *baton, struct word name);
/* Reads the events that have arrived. Never waits. */
void losses_read(struct baton *baton);

#endif
