/*
 * What the member and its node want done. This is the only place where effects are taken; they are
 * done in their order.
 */
#ifndef DAEMON_EFFECTS_H
#define DAEMON_EFFECTS_H

#include <stdbool.h>

struct daemon;

/* False: nothing was wanted, or effects are being done already, and whoever does them does these too. */
bool effects_do(struct daemon *daemon);

#endif
