/*
 * Observers: who leads, as it changes.
 */
#ifndef CLIENT_OBSERVE_H
#define CLIENT_OBSERVE_H

struct baton;

/* May also be called for a handle that does not observe. */
void observer_free(struct baton *baton);

#endif
