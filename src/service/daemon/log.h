/*
 * The log: one line for each event that matters, on stderr. It never blocks.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

#include "daemon.h"

#include <stdbool.h>
#include <stdint.h>

/* Lines more talkative than `level` are left out; each line tells the node's name. */
void log_open(const char *name, enum daemon_level level);

/* "2026-11-16T05:00:00Z n1 warning: …". */
__attribute__((format(printf, 2, 3))) void log_line(enum daemon_level level, const char *format,
                                                    ...);

/* A rate limit, for what strangers can cause: one line a second. All zero: none was written yet. */
struct log_limit {
	uint64_t last_at; /* when a line passed last, in nanoseconds */
};

/* May another line be written now? Then it counts as written. */
bool log_limit_passes(struct log_limit *limit, uint64_t now);

#endif
