/*
 * Observers: who leads, as it changes.
 */
#ifndef CLIENT_OBSERVE_H
#define CLIENT_OBSERVE_H

struct baton;

/* Also of a handle that is none. */
void observer_free(struct baton *baton);

#endif
