#include "command_lines.h"

#include "clock.h"
#include "memory.h"
#include "must.h"
#include "tame.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct command_line {
	int fd;
	uint64_t session; /* the session that gets it late; 0: none */
	char text[NODE_COMMAND_MAX + 1];
};

struct command_lines {
	struct loop_watch bell; /* an eventfd: one came late; must be the first member */
	struct loop *loop;
	void (*late)(void *context, uint64_t session, const char *command);
	void *context;
	uint64_t waits_again_ns; /* until this time, the loop does not wait for the thread */
	pthread_t thread;
	pthread_mutex_t mutex; /* guards the fields below */
	pthread_cond_t work, done;
	/* Tickets count from 1. The thread has read those up to `read`, and the loop has taken
	 * those up to `taken`. Between `read` and `asked`, a line belongs to the thread, except for
	 * its session. */
	uint64_t asked, read, taken;
	struct command_line ring[COMMAND_LINES_MAX];
	bool awaited; /* the loop waits on `done` for the ticket `asked` */
	bool ends;
};

static struct command_line *line_of(struct command_lines *lines, uint64_t ticket)
{
	return &lines->ring[ticket % COMMAND_LINES_MAX];
}

/* --- the thread --- */

/* Reads the command line of a process; "" if it cannot be read. */
static void read_line(struct command_line *line)
{
	char *text = line->text;
	ssize_t got = read(line->fd, text, NODE_COMMAND_MAX);

	close(line->fd);
	if (got < 0)
		got = 0;
	while (got > 0 && text[got - 1] == '\0')
		got--;
	for (ssize_t i = 0; i < got; i++) {
		if (tame_is_control(text[i]))
			text[i] = ' ';
	}
	text[got] = '\0';
}

static void *read_lines(void *context)
{
	struct command_lines *lines = context;

	pthread_mutex_lock(&lines->mutex);
	for (;;) {
		while (lines->read == lines->asked && !lines->ends)
			pthread_cond_wait(&lines->work, &lines->mutex);
		if (lines->ends)
			break;
		struct command_line *line = line_of(lines, lines->read + 1);
		pthread_mutex_unlock(&lines->mutex);
		read_line(line);
		pthread_mutex_lock(&lines->mutex);
		lines->read++;
		if (lines->awaited)
			pthread_cond_signal(&lines->done);
		else
			eventfd_write(lines->bell.fd, 1);
	}
	pthread_mutex_unlock(&lines->mutex);
	return NULL;
}

/* Blocks signals in the new thread, because the loop's thread handles them. */
static void start_thread(struct command_lines *lines)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	must(pthread_create(&lines->thread, NULL, read_lines, lines) == 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- the loop --- */

/* Takes the next line that the thread has read. Returns false if there is none. */
static bool take_line(struct command_lines *lines, struct command_line *ret_line)
{
	pthread_mutex_lock(&lines->mutex);
	bool any = lines->taken < lines->read;
	if (any)
		*ret_line = *line_of(lines, ++lines->taken);
	pthread_mutex_unlock(&lines->mutex);
	return any;
}

static void on_bell(struct loop_watch *watch, uint32_t events)
{
	struct command_lines *lines = (struct command_lines *)watch;
	struct command_line line;
	eventfd_t count;

	(void)events;
	eventfd_read(watch->fd, &count);
	while (take_line(lines, &line)) {
		if (line.session != 0)
			lines->late(lines->context, line.session, line.text);
	}
}

struct command_lines *command_lines_open(struct loop *loop,
                                         void (*late)(void *context, uint64_t session,
                                                      const char *command),
                                         void *context)
{
	struct command_lines *lines = calloc(1, sizeof(*lines));
	pthread_condattr_t clock;

	memory_must(lines != NULL);
	lines->loop = loop;
	lines->late = late;
	lines->context = context;
	must(pthread_condattr_init(&clock) == 0);
	must(pthread_condattr_setclock(&clock, CLOCK_MONOTONIC) == 0);
	must(pthread_mutex_init(&lines->mutex, NULL) == 0);
	must(pthread_cond_init(&lines->work, NULL) == 0);
	must(pthread_cond_init(&lines->done, &clock) == 0);
	pthread_condattr_destroy(&clock);
	lines->bell =
	        (struct loop_watch){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_bell};
	must(lines->bell.fd >= 0);
	loop_add(loop, &lines->bell, EPOLLIN);
	start_thread(lines);
	return lines;
}

void command_lines_close(struct command_lines *lines)
{
	pthread_mutex_lock(&lines->mutex);
	bool busy = lines->read < lines->asked;
	lines->ends = true;
	pthread_cond_signal(&lines->work);
	pthread_mutex_unlock(&lines->mutex);
	if (busy)
		return;
	pthread_join(lines->thread, NULL);
	loop_close_fd(lines->loop, &lines->bell);
	pthread_cond_destroy(&lines->done);
	pthread_cond_destroy(&lines->work);
	pthread_mutex_destroy(&lines->mutex);
	free(lines);
}

/* Waits until the thread has read the last line that it was asked for, or the time is over. The
 * mutex is locked. */
static void wait_for_thread(struct command_lines *lines, uint64_t now_ns)
{
	uint64_t until_ns = now_ns + COMMAND_LINES_WAIT_MS * LOOP_MS;
	struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
	                         .tv_nsec = (long)(until_ns % 1000000000)};

	lines->awaited = true;
	while (lines->read < lines->asked &&
	       pthread_cond_timedwait(&lines->done, &lines->mutex, &until) == 0)
		;
	lines->awaited = false;
	if (lines->read < lines->asked)
		lines->waits_again_ns = until_ns + COMMAND_LINES_PAUSE_MS * LOOP_MS;
}

bool command_lines_read(struct command_lines *lines, int fd, char ret_command[NODE_COMMAND_MAX + 1],
                        uint64_t *ret_ticket)
{
	uint64_t now_ns = clock_monotonic_ns();

	*ret_ticket = 0;
	pthread_mutex_lock(&lines->mutex);
	bool full = lines->asked - lines->taken == COMMAND_LINES_MAX;
	if (full) {
		pthread_mutex_unlock(&lines->mutex);
		close(fd);
		return false;
	}
	/* If lines before this one are not taken yet, it waits with them for the bell. */
	bool alone = lines->asked == lines->taken;
	*ret_ticket = ++lines->asked;
	*line_of(lines, lines->asked) = (struct command_line){.fd = fd};
	pthread_cond_signal(&lines->work);
	if (alone && now_ns >= lines->waits_again_ns)
		wait_for_thread(lines, now_ns);
	bool in_time = alone && lines->read == lines->asked;
	if (in_time) {
		lines->taken = lines->asked;
		memcpy(ret_command, line_of(lines, lines->asked)->text, NODE_COMMAND_MAX + 1);
	}
	pthread_mutex_unlock(&lines->mutex);
	return in_time;
}

void command_lines_expect(struct command_lines *lines, uint64_t ticket, uint64_t session)
{
	pthread_mutex_lock(&lines->mutex);
	line_of(lines, ticket)->session = session;
	pthread_mutex_unlock(&lines->mutex);
}
