/*
 * Holding without a command: the fence is printed, and the lock is held as long as somebody wants it.
 */
#ifndef CLI_PRESENCE_H
#define CLI_PRESENCE_H

#include "holding.h"

/*
 * Can standard input stay open? Not /dev/null, a file, a closed descriptor: whoever holds a lock until
 * those end holds nothing. 0, or -1 and a problem.
 */
int presence_check(struct problem *problem);

/*
 * Until standard input ends, a signal comes, or the lock is lost; the exit code. Unless `must_stay`,
 * input that nobody can write to (/dev/null, a file) is no reason to end; with it, input that has
 * ended before the lock was held is an error.
 */
int presence_hold(struct holding *holding, bool must_stay);

#endif
