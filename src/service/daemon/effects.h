/*
 * Carries out what the member and its node want done. This is the only place where effects are
 * taken; they are carried out in order.
 */
#ifndef DAEMON_EFFECTS_H
#define DAEMON_EFFECTS_H

#include <stdbool.h>

struct daemon;

/* Returns false if there were no effects, or if this was called while effects are being carried
 * out: the outer call then does these too. */
bool effects_do(struct daemon *daemon);

#endif
