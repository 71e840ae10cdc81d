/*
 * Holding without a command: the fence is printed, and the lock is held as long as somebody wants it.
 */
#ifndef CLI_PRESENCE_H
#define CLI_PRESENCE_H

#include "holding.h"

/*
 * Until standard input ends, a signal comes, or the lock is lost; the exit code. Unless `any_input`,
 * input that nobody can write to (/dev/null, a file) is no reason to end.
 */
int presence_hold(struct holding *holding, bool any_input);

#endif
