/*
 * Holds a lock without a command: prints the fence, and holds the lock as long as standard input
 * stays open.
 */
#ifndef CLI_PRESENCE_H
#define CLI_PRESENCE_H

#include "holding.h"

/*
 * Checks that standard input can stay open. It cannot if it is /dev/null, a file or a closed
 * descriptor: the lock would be released at once. Returns 0, or -1 and a problem.
 */
int presence_check(struct problem *problem);

/*
 * Holds the lock until standard input ends, a signal arrives, or the lock is lost. Returns the exit
 * code. Without `must_stay`, the end of an input that nobody can write to (/dev/null, a file) is
 * ignored. With it, an input that has ended before the lock was held is an error.
 */
int presence_hold(struct holding *holding, bool must_stay);

#endif
