/*
 * The log: one line an event that matters, on stderr.
 */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *log_name;
static enum daemon_level log_level;
static bool log_journal; /* systemd adds the time, and wants the level as a number */

/* Is stderr the journal's? The variable alone may be inherited from anywhere. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat stat;

	return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &stat) == 0 && stat.st_dev == device && stat.st_ino == inode;
}

/* Names and what peers say may be any bytes: one line stays one line, and a terminal obeys none of them. */
static void tame(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c != '\0'; c++) {
		bool high = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
		if (*c < ' ' || *c == 0x7f || high)
			*c = '?';
		if (high)
			*++c = '?';
	}
}

void log_open(const char *name, enum daemon_level level)
{
	log_name = name;
	log_level = level;
	log_journal = is_journal();
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
	tame(text);
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
