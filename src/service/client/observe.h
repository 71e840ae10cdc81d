/*
 * Observers: they follow who leads.
 */
#ifndef CLIENT_OBSERVE_H
#define CLIENT_OBSERVE_H

struct baton;

/* Frees the observer, if the handle has one. */
void observer_free(struct baton *baton);

#endif
