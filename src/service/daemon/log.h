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

/* A rate limit for lines that strangers can cause: one a second. Begin with a struct of zeros. */
struct log_limit {
	uint64_t last_at; /* when the last line passed, in nanoseconds */
};

/* May another line be written now? If so, it counts as written. */
bool log_limit_passes(struct log_limit *limit, uint64_t now);

#endif
