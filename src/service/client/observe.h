/*
 * Observers: who leads, as it changes.
 */
#ifndef CLIENT_OBSERVE_H
#define CLIENT_OBSERVE_H

struct baton;

/* Frees the observer, if the handle has one. */
void observer_free(struct baton *baton);

#endif
