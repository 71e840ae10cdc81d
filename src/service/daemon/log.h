/*
 * The log: one line for each event that matters, on stderr. It never blocks.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include "daemon.h"

#include <stdbool.h>
#include <stdint.h>

/* Begins to log. Lines below `level` are left out. Each line contains the node's name. */
void log_open(const char *name, enum daemon_level level);

/* Writes a line like "2026-11-16T05:00:00.000Z n1 warning: …". */
__attribute__((format(printf, 2, 3))) void log_line(enum daemon_level level, const char *format,
                                                    ...);

/* A rate limit for lines that strangers or clients can cause: one a second. Begin with a struct of
 * zeros. */
struct log_limit {
	/* When another line may be written, in nanoseconds, if lines came in time. The lines of a
	 * burst (log_limited) move it into the future. */
	uint64_t next_at;
	/* How many lines log_limited has left out since the last one that passed. */
	uint64_t left_out;
};

/* May another line be written now? If so, it counts as written. */
bool log_limit_passes(struct log_limit *limit, uint64_t now);

/* How many lines of log_limited may be written at once, after as many seconds without any. */
enum { LOG_BURST = 32 };
/* Writes a line if the limit lets it pass. If lines before it did not pass, it tells how many. */
__attribute__((format(printf, 4, 5))) void log_limited(struct log_limit *limit, uint64_t now,
                                                       enum daemon_level level, const char *format,
                                                       ...);

#endif
