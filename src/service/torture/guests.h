/*
 * Clients on other hosts, which cannot read the lease word of their process. Each asks repeatedly
 * how much of the lease is left, and uses its own clock (sublease.h). Questions and answers take
 * some time, and the client or the process may be stopped while they are on their way.
 */
#ifndef TORTURE_GUESTS_H
#define TORTURE_GUESTS_H

#include "actor.h"

/* Call it when the client has a new session: the client asks at once. */
void guests_opened(struct realm *realm, struct actor *actor);
/* Call it when the client was granted a lock: decides how long the client may go on, by the answers
 * that it has so far. */
void guests_granted(struct actor *actor);
void guests_on_event(struct realm *realm, const struct event *event);

#endif
