/*
 * The log: one line an event that matters, on stderr.
 */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static const char *log_name;
static enum daemon_level log_level;
static bool log_journal; /* systemd adds the time, and wants the level as a number */

void log_open(const char *name, enum daemon_level level)
{
	log_name = name;
	log_level = level;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
}

void log_line(enum daemon_level level, const char *format, ...)
{
	static const char *const words[] = {"error", "warning", "info", "debug"};
	static const int numbers[] = {3, 4, 6, 7};
	char text[1024];
	va_list arguments;

	if (level > log_level)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (log_journal) {
		fprintf(stderr, "<%d>%s: %s\n", numbers[level], log_name, text);
		return;
	}
	struct timespec now;
	struct tm tm;
	char stamp[32];
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	fprintf(stderr, "%s.%03ldZ %s %s: %s\n", stamp, now.tv_nsec / 1000000, log_name,
	        words[level], text);
}
