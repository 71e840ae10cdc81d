/*
 * What comes on the second connection: that locks were lost.
 */
#ifndef CLIENT_LOSSES_H
#define CLIENT_LOSSES_H

#include "handle.h"

/* Before a lock is asked for: its loss will be told. 0 or an error. */
int losses_subscribe(struct baton *baton, struct word name);
/* Looks at what has come. Never waits. */
void losses_read(struct baton *baton);

#endif
