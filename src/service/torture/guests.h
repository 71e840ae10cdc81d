/*
 * Clients on other hosts, which cannot read the lease word of their process: each asks again and
 * again how much of the lease is left, and goes by its own clock (sublease.h). Questions and answers
 * take their time, and the client or the process may be stopped while they are on their way.
 */
#ifndef TORTURE_GUESTS_H
#define TORTURE_GUESTS_H

#include "actor.h"

/* The client has a new session, and asks at once. */
void guests_opened(struct realm *realm, struct actor *actor);
/* It has been granted a lock: how long it may go on, by what it was told before. */
void guests_granted(struct actor *actor);
void guests_on_event(struct realm *realm, const struct event *event);

#endif
