#include "log.h"

#include "tame.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *log_name;
static enum daemon_level log_level;
static bool log_journal;     /* systemd adds the time, and wants the level as a number */
static bool log_socket;      /* stderr is a socket, such as the journal's */
static uint64_t log_dropped; /* how many lines could not be written */

/* Is stderr the journal? The environment variable alone does not tell, because it is inherited. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat stat;

	return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &stat) == 0 && stat.st_dev == device && stat.st_ino == inode;
}

static bool is_socket(void)
{
	struct stat stat;

	return fstat(STDERR_FILENO, &stat) == 0 && S_ISSOCK(stat.st_mode);
}

void log_open(const char *name, enum daemon_level level)
{
	log_name = name;
	log_level = level;
	log_journal = is_journal();
	log_socket = is_socket();
}

/*
 * Writes a line. Never blocks, even if nobody reads the other end: a pipe that poll reports as
 * writable takes at least one line, and a stopped terminal is not writable. Returns false if the
 * line could not be written.
 */
static bool write_line(const char *line, size_t size)
{
	struct pollfd item = {.fd = STDERR_FILENO, .events = POLLOUT};
	int ready = poll(&item, 1, 0);

	if (ready == 0 || (ready > 0 && (item.revents & POLLOUT) == 0))
		return false;
	if (log_socket)
		return send(STDERR_FILENO, line, size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
	return write(STDERR_FILENO, line, size) >= 0;
}

/* Formats a line with its time and level. Returns its size. */
static size_t format_line(enum daemon_level level, const char *text, char *line, size_t size)
{
	static const char *const words[] = {"error", "warning", "info", "debug"};
	static const int numbers[] = {3, 4, 6, 7};
	struct timespec now;
	struct tm tm;
	char stamp[32];

	if (log_journal)
		return (size_t)snprintf(line, size, "<%d>%s: %s\n", numbers[level], log_name, text);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	return (size_t)snprintf(line, size, "%s.%03ldZ %s %s: %s\n", stamp, now.tv_nsec / 1000000,
	                        log_name, words[level], text);
}

void log_line(enum daemon_level level, const char *format, ...)
{
	char text[1024], line[2048];
	va_list arguments;

	if (level > log_level)
		return;
	if (log_dropped > 0) {
		snprintf(text, sizeof(text),
		         "%llu lines are missing here: nobody read them in time",
		         (unsigned long long)log_dropped);
		if (write_line(line, format_line(LEVEL_WARNING, text, line, sizeof(line))))
			log_dropped = 0;
	}
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* the text may have names or texts from peers, with any bytes */
	tame_text(text, strlen(text));
	if (log_dropped > 0 || !write_line(line, format_line(level, text, line, sizeof(line))))
		log_dropped++;
}

enum { LIMIT_NS = 1000000000 };

static bool passes(struct log_limit *limit, uint64_t now, uint64_t ahead_ns)
{
	if (limit->next_at > now + ahead_ns)
		return false;
	limit->next_at = (limit->next_at > now ? limit->next_at : now) + LIMIT_NS;
	return true;
}

bool log_limit_passes(struct log_limit *limit, uint64_t now)
{
	return passes(limit, now, 0);
}

void log_limited(struct log_limit *limit, uint64_t now, enum daemon_level level, const char *format,
                 ...)
{
	char text[1024];
	va_list arguments;

	if (!passes(limit, now, (uint64_t)(LOG_BURST - 1) * LIMIT_NS)) {
		limit->left_out++;
		return;
	}
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (limit->left_out > 0)
		log_line(level, "%.900s (%llu more lines like this were left out before it)", text,
		         (unsigned long long)limit->left_out);
	else
		log_line(level, "%s", text);
	limit->left_out = 0;
}
