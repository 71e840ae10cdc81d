#include "holding.h"

#include "cli.h"
#include "clock.h"
#include "memory.h"
#include "must.h"
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
	/* The node itself ends a wait when the time of -w is over. If the node has sent nothing
	 * this much later, it does not answer, and nobody knows whether the lock is free. */
	WAIT_MARGIN_MS = 2000,
	NOWAIT_MS_MAX = 3000,
	RETRY_MS = 100, /* the time between two attempts to reach a node */
	/* The time between two checks whether a wait without limit still has a node. If it has none
	 * twice in a row, the user is told. */
	LOOK_S = 2,
	RELEASE_MS_MAX = 1000,
	REPORT_MS_MAX = 1000, /* how long the line of --status-fd may wait for a reader */
	/* The number of descriptors that connections, signals, timers and the guardian need, with
	 * some in reserve. */
	DESCRIPTORS = 16,
	/* The longest grace, in percent of the lease. The node adds a tenth of the lease, within
	 * which the last process of the command must be gone. */
	GRACE_PERCENT_MAX = 35,
	/* The longest grace over TCP. It is shorter, because over TCP it takes time to ask the node
	 * when the lease ends. */
	GRACE_PERCENT_MAX_REMOTE = 30,
};

static void say_directly(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

void holding_say(const struct holding *holding, const char *format, ...)
{
	struct pollfd item = {.fd = STDERR_FILENO, .events = POLLOUT};
	char said[900], line[1000];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said, sizeof(said), format, arguments);
	va_end(arguments);
	snprintf(line, sizeof(line), "baton %s: %s\n", holding->words->command, said);
	if (poll(&item, 1, 0) == 1 && (item.revents & POLLOUT) != 0)
		say_directly(line);
}

/* --- options --- */

void holding_defaults(struct holding_words *words, const char *command)
{
	*words = (struct holding_words){
	        .command = command,
	        .timeout_ms = BATON_FOREVER,
	        .busy_code = EXIT_NOT_ACQUIRED,
	        .grace_ms = -1,
	        .status_fd = -1,
	};
}

int holding_misused(const struct holding_words *words, const struct problem *problem)
{
	usage_problem(words->command, problem);
	return EXIT_BAD_USAGE;
}

/* Is this a zero, however it is written? */
static bool is_no_time(const char *text)
{
	static const char *const units[] = {"", "ms", "s", "m", "h"};
	size_t size = strspn(text, "0.");

	if (memchr(text, '0', size) == NULL || strchr(text, '.') != strrchr(text, '.'))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(text + size, units[i]) == 0)
			return true;
	}
	return false;
}

/* Parses a time or 0. The digit before the point may be missing: "-w .007" is in flock's manual. */
static int parse_time_or_none(const char *text, const char *what, int64_t *ret_ms,
                              struct problem *problem)
{
	char digit_first[48] = "0";
	uint64_t ms;

	if (is_no_time(text)) {
		*ret_ms = 0;
		return 0;
	}
	bool pointed = text[0] == '.' && strlen(text) < sizeof(digit_first) - 1;
	if (pointed)
		memcpy(digit_first + 1, text, strlen(text) + 1);
	if ((!pointed || parse_duration(digit_first, what, &ms, problem) != 0) &&
	    parse_duration(text, what, &ms, problem) != 0)
		return -1;
	*ret_ms = (int64_t)ms;
	return 0;
}

static int parse_status_fd(const char *text, int *ret_fd, struct problem *problem)
{
	uint64_t number;

	if (parse_number(text, 0, INT32_MAX, "--status-fd", &number, problem) != 0)
		return -1;
	int fd = (int)number, flags = fcntl(fd, F_GETFL);
	if (flags < 0)
		return problem_set(problem, "--status-fd %d: this descriptor is not open", fd);
	if ((flags & O_ACCMODE) == O_RDONLY)
		return problem_set(problem, "--status-fd %d: this descriptor is only for reading",
		                   fd);
	/* The command shares our standard streams, but no other descriptor of ours. */
	if (fd <= STDERR_FILENO)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		fd = -1;
	if (fd < 0)
		return problem_set(problem, "--status-fd %s: %s", text, strerror(errno));
	*ret_fd = fd;
	return 0;
}

/* Refuses options of flock that do not exist here. */
static int refuse(int option, struct problem *problem)
{
	if (option == 's')
		return problem_set(problem, "-s, --shared: there are no shared locks, every lock "
		                            "is exclusive (-x)");
	if (option == 'u')
		return problem_set(problem, "-u, --unlock: a lock is released when its command "
		                            "ends; 'baton break' takes a lock from another holder");
	return problem_set(problem, "-F, --no-fork: 'baton run' does not become the command: it "
	                            "stays, to stop the command if the lock is lost");
}

int holding_option(int option, const char *value, struct holding_words *words,
                   struct problem *problem)
{
	int64_t timeout_ms;
	uint64_t number;

	switch (option) {
	case 'n':
		words->timeout_ms = BATON_TRY;
		return 0;
	case 'w': /* -w 0 is BATON_TRY: do not wait, as with flock; -n overrides any -w */
		if (parse_time_or_none(value, "-w", &timeout_ms, problem) != 0)
			return -1;
		if (words->timeout_ms != BATON_TRY)
			words->timeout_ms = timeout_ms;
		return 0;
	case 'E':
		if (parse_number(value, 0, 255, "-E", &number, problem) != 0)
			return -1;
		words->busy_code = (int)number;
		return 0;
	case 'S':
		words->socket = value;
		return 0;
	case 'x': /* ignored: every lock is exclusive */
	case 'e':
	case 'o': /* ignored: the command never has the lock's descriptor */
		return 0;
	case 's':
	case 'u':
	case 'F':
		return refuse(option, problem);
	case OPTION_GRACE:
		return parse_time_or_none(value, "--grace", &words->grace_ms, problem);
	case OPTION_STATUS_FD:
		return parse_status_fd(value, &words->status_fd, problem);
	case OPTION_VERBOSE:
		words->verbose = true;
		return 0;
	default:
		return 1;
	}
}

/* --- the line of --status-fd, written without stdio, because a signal handler writes it too --- */

struct line {
	char text[256];
	size_t size;
};

static void put_text(struct line *line, const char *text)
{
	size_t size = strlen(text);

	must(size <= sizeof(line->text) - line->size);
	memcpy(line->text + line->size, text, size);
	line->size += size;
}

static void put_number(struct line *line, uint64_t number, int digits_least)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	for (; number > 0 || digits_least > 0; number /= 10, digits_least--)
		digits[--at] = (char)('0' + number % 10);
	put_text(line, digits + at);
}

static void put_seconds(struct line *line, uint64_t ns)
{
	put_number(line, ns / 1000000000, 1);
	put_text(line, ".");
	put_number(line, ns % 1000000000 / 1000, 6);
}

static void do_nothing(int number)
{
	(void)number;
}

/* Writes a text, and gives up if nobody reads it. `baton run` must not wait for ever, because a
 * lost lock may not become free before it has ended. The descriptor's mode is not changed, because
 * other processes share it; instead a timer interrupts the call. A descriptor that nobody can read
 * any more is no problem, since SIGPIPE is blocked or handled. */
static void write_for_a_while(int fd, const char *text, size_t size)
{
	const struct sigaction interrupting = {.sa_handler = do_nothing};
	const struct itimerval often = {.it_interval = {.tv_usec = REPORT_MS_MAX * 1000 / 10},
	                                .it_value = {.tv_usec = REPORT_MS_MAX * 1000 / 10}};
	const struct itimerval never = {0};
	struct pollfd item = {.fd = fd, .events = POLLOUT};
	uint64_t until_ns = clock_boot_ns() + (uint64_t)REPORT_MS_MAX * 1000000;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigaction(SIGALRM, &interrupting, NULL);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (write(fd, text, size) < 0 && (errno == EINTR || errno == EAGAIN) &&
	       clock_boot_ns() < until_ns)
		poll(&item, 1, REPORT_MS_MAX / 10);
	setitimer(ITIMER_REAL, &never, NULL);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
}

void holding_report(const struct holding *holding, bool lost, int child)
{
	uint64_t now = clock_boot_ns();
	bool acquired = holding->acquired_ns != 0;
	struct line line = {.size = 0};

	if (holding->words->status_fd < 0)
		return;
	put_text(&line,
	         acquired ? "{\"acquired\":true,\"fence\":" : "{\"acquired\":false,\"fence\":");
	if (acquired)
		put_number(&line, holding->fence, 1);
	else
		put_text(&line, "null");
	put_text(&line, ",\"waited\":");
	put_seconds(&line, (acquired ? holding->acquired_ns : now) - holding->asked_ns);
	put_text(&line, ",\"held\":");
	if (acquired)
		put_seconds(&line, now - holding->acquired_ns);
	else
		put_text(&line, "null");
	put_text(&line, lost ? ",\"lost\":true,\"child\":" : ",\"lost\":false,\"child\":");
	if (child >= 0)
		put_number(&line, (uint64_t)child, 1);
	else
		put_text(&line, "null");
	put_text(&line, ",\"reason\":");
	if (holding->reason != NULL) {
		put_text(&line, "\"");
		put_text(&line, holding->reason);
		put_text(&line, "\"");
	} else {
		put_text(&line, "null");
	}
	put_text(&line, "}\n");
	write_for_a_while(holding->words->status_fd, line.text, line.size);
}

/* --- signals while the process waits for the lock --- */

/* The holding that waits for its lock. Nothing has to be undone meanwhile: when the process ends,
 * its session ends, and the request is withdrawn. So a signal handler may end the process at once,
 * even if the node does not answer. */
static struct holding *waiting;

/* Gives up a wait with -w. The node should have said that the time is over. It has not, so it is
 * stopped or hangs, and nobody knows whether the lock is free. Returns the exit code. */
static int give_up(void)
{
	say_directly("baton ");
	say_directly(waiting->words->command);
	say_directly(": the node does not answer\n");
	waiting->reason = "silent";
	return EXIT_UNAVAILABLE;
}

void end_by_signal(int number, bool group)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	const struct rlimit none = {0};
	sigset_t set;

	/* A core dump would show only baton itself and be of no use. The second call is for a
	 * core_pattern that is a pipe, which ignores the limit. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	/* For process 1, a signal with its default action does nothing. */
	if (getpid() != 1) {
		sigaction(number, &plain, NULL);
		kill(group ? 0 : getpid(), number);
		sigemptyset(&set);
		sigaddset(&set, number);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	}
	_exit(EXIT_SIGNAL + number);
}

static bool connection_has_ended(const struct holding *holding)
{
	struct pollfd item = {.fd = baton_fd(holding->baton), .events = POLLRDHUP};

	return item.fd < 0 || (poll(&item, 1, 0) > 0 && item.revents != 0);
}

/* Call it from time to time during a wait without limit. If the connection to the node is gone,
 * tells the user, once, that we wait for the node to come back. */
static void tell_if_alone(void)
{
	int error = errno;

	if (waiting->address[0] != '\0') /* there was a node before */
		waiting->looks_alone = connection_has_ended(waiting) ? waiting->looks_alone + 1 : 0;
	if (waiting->looks_alone == 2 && !waiting->told_alone) {
		say_directly("baton ");
		say_directly(waiting->words->command);
		say_directly(": waiting for the node at ");
		say_directly(waiting->address);
		say_directly(" to come back\n");
		waiting->told_alone = true;
	}
	errno = error;
}

/* True if SIGALRM would not end this process: then its handler is there only for timers. */
static bool spares_alarm(void)
{
	return waiting->words->timeout_ms < 0 && (sigismember(&waiting->ignored, SIGALRM) == 1 ||
	                                          sigismember(&waiting->mask, SIGALRM) == 1);
}

static void stop_waiting(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number == SIGALRM && info->si_code == SI_TIMER) {
		tell_if_alone();
		return;
	}
	if (number == SIGALRM && spares_alarm())
		return;
	bool over =
	        number == SIGALRM && info->si_code == SI_KERNEL && waiting->words->timeout_ms >= 0;
	int code = over ? give_up() : 0;
	holding_report(waiting, false, -1);
	if (over)
		_exit(code);
	end_by_signal(number, false);
}

/* Is this a signal that ends a process and is not the report of an error in the process itself? */
static bool ends_a_process(int signal)
{
	static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGPIPE,   SIGALRM,
	                             SIGTERM, SIGUSR1, SIGUSR2,   SIGPOLL,   SIGPROF,
	                             SIGPWR,  SIGXCPU, SIGVTALRM, SIGSTKFLT, SIGXFSZ};

	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++) {
		if (ending[i] == signal)
			return true;
	}
	return signal >= SIGRTMIN && signal <= SIGRTMAX;
}

void holding_ending_signals(const struct holding *holding, sigset_t *ret_set)
{
	sigemptyset(ret_set);
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		if (ends_a_process(signal) && sigismember(&holding->ignored, signal) == 0 &&
		    sigismember(&holding->mask, signal) == 0)
			sigaddset(ret_set, signal);
	}
}

static void note_signals(struct holding *holding)
{
	struct sigaction action;

	sigprocmask(SIG_BLOCK, NULL, &holding->mask);
	sigemptyset(&holding->ignored);
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			sigaddset(&holding->ignored, signal);
	}
}

/* Starts the timer of a wait without limit. It does not use alarm, because an alarm that was set
 * before this program was executed must still end the wait. */
static void arm_look(struct holding *holding)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	const struct itimerspec times = {.it_interval = {.tv_sec = LOOK_S},
	                                 .it_value = {.tv_sec = LOOK_S}};

	holding->has_look = timer_create(CLOCK_MONOTONIC, &event, &holding->look) == 0 &&
	                    timer_settime(holding->look, 0, &times, NULL) == 0;
}

static void arm_timer(const struct holding_words *words)
{
	int64_t ms =
	        words->timeout_ms == BATON_TRY ? NOWAIT_MS_MAX : words->timeout_ms + WAIT_MARGIN_MS;
	const struct itimerval timer = {
	        .it_value = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000}};

	if (words->timeout_ms >= 0)
		setitimer(ITIMER_REAL, &timer, NULL);
}

static void watch_signals(struct holding *holding)
{
	struct sigaction action = {.sa_sigaction = stop_waiting,
	                           .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t ending, alarm;

	note_signals(holding);
	waiting = holding;
	/* This process must be able to wait for its children, whatever it inherited. */
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&action.sa_mask);
	holding_ending_signals(holding, &ending);
	sigaddset(&ending, SIGALRM);
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		if (sigismember(&ending, signal) == 1)
			sigaction(signal, &action, NULL);
	}
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	arm_timer(holding->words);
	if (holding->words->timeout_ms < 0)
		arm_look(holding);
}

/* From now on, reads signals from a descriptor. The handler must be removed before a fork: a child
 * that gets a signal before its exec would otherwise report as if it were this process. */
static void block_signals(struct holding *holding)
{
	const struct itimerval none = {0};
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t all, ending;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setitimer(ITIMER_REAL, &none, NULL);
	if (holding->has_look)
		timer_delete(holding->look);
	holding->has_look = false;
	/* Discard the signal of a timer that has just fired: the command must not get it. */
	signal(SIGALRM, SIG_IGN);
	holding_ending_signals(holding, &ending);
	sigaddset(&ending, SIGALRM);
	for (int signal = 1; signal <= SIGRTMAX; signal++) {
		if (sigismember(&ending, signal) == 1)
			sigaction(signal, &plain, NULL);
	}
}

/* --- acquiring the lock --- */

/* True for HOST:PORT, as libbaton reads an address. */
static bool is_remote(const struct holding *holding)
{
	const char *address = baton_address(holding->baton);

	return strchr(address, '/') == NULL && strchr(address, ':') != NULL;
}

/* Returns the longest grace, in percent of the lease. */
static int grace_percent_max(const struct holding *holding)
{
	return is_remote(holding) ? GRACE_PERCENT_MAX_REMOTE : GRACE_PERCENT_MAX;
}

/* Sets the grace. Returns false if it is too long for the lease. */
static bool choose_grace(struct holding *holding)
{
	const int64_t lease_ms = (int64_t)holding->lease_ms;

	holding->grace_ms = holding->words->grace_ms >= 0 ? holding->words->grace_ms : lease_ms / 4;
	return holding->grace_ms <= lease_ms * grace_percent_max(holding) / 100;
}

/* Prints that the grace is too long for the lease. Returns the exit code. */
static int refuse_grace(const struct holding *holding)
{
	const int percent_max = grace_percent_max(holding);
	struct problem problem;

	problem_set(
	        &problem,
	        "--grace %lld ms does not fit the lease of node '%.100s', %lld ms: at most 0.%d "
	        "of it, %lld ms, is possible. Otherwise another client could be let in before "
	        "the command is killed",
	        (long long)holding->words->grace_ms, holding->node, (long long)holding->lease_ms,
	        percent_max, (long long)holding->lease_ms * percent_max / 100);
	return holding_misused(holding->words, &problem);
}

/* Notes the reason: as a word for --status-fd, and as a text for people. */
static void note_reason(struct holding *holding)
{
	static const struct {
		const char *word, *text;
	} reasons[] = {
	        [BATON_LOST_BROKEN] = {"broken", NULL}, /* the node's text says by whom */
	        [BATON_LOST_LEAVING] = {"leaving", "its node is leaving"},
	        [BATON_LOST_CONNECTION] = {"connection", "the connection to the node is gone"},
	        [BATON_LOST_LEASE] = {"lease", "its node could not renew its lease"},
	};
	const char *said;
	enum baton_reason reason = baton_lost_reason(holding->baton, &said);

	if (reason == 0 && connection_has_ended(holding))
		reason = BATON_LOST_CONNECTION;
	if (reason == 0) /* a node of an older version does not tell the reason */
		return;
	holding->reason = reasons[reason].word;
	snprintf(holding->why, sizeof(holding->why), ": %s",
	         reasons[reason].text != NULL ? reasons[reason].text : said);
}

/* Notes that the lock is lost: the node said so, or the connection ended. */
void holding_note_loss(struct holding *holding)
{
	if (holding->reason == NULL && !holding_lost(holding))
		note_reason(holding);
}

static int not_acquired(struct holding *holding, int error)
{
	const struct holding_words *words = holding->words;

	/* As with flock, a busy lock is not an error, and only the exit code tells of it. This
	 * message shows the whole time that the user gave; the library was given only the rest of
	 * it. */
	if (error == BATON_ETIMEOUT && words->verbose)
		holding_say(holding, "'%s' was not free within %lld ms", words->name,
		            (long long)words->timeout_ms);
	else if (error == BATON_ENOTFREE && words->verbose)
		service_problem(words->command, holding->baton, error);
	if (error == BATON_ETIMEOUT || error == BATON_ENOTFREE)
		return words->busy_code;
	if (error == BATON_ELOST) {
		holding_note_loss(holding);
		holding_say(holding, "'%s' was lost as soon as it was held%s", words->name,
		            holding->why);
		return EXIT_LOST;
	}
	int code = service_problem(words->command, holding->baton, error);
	if (error == BATON_ESILENT)
		holding->reason = "silent";
	else if (error == BATON_ECONNECTION)
		holding->reason = "connection";
	return code == EXIT_USAGE ? EXIT_BAD_USAGE : code;
}

/* Returns what is left of the time of -w. */
static int64_t time_left_ms(const struct holding *holding)
{
	int64_t waited_ms = (int64_t)((clock_boot_ns() - holding->asked_ns) / 1000000);

	/* The time that connecting took does not count, if it was short. */
	return holding->words->timeout_ms - (waited_ms < RETRY_MS ? 0 : waited_ms);
}

/* Connects to a node, and tells it how long the command needs to stop. Returns 0, or an error;
 * *ret_code is an exit code if the grace does not fit the lease. */
static int reach_node(struct holding *holding, int *ret_code)
{
	int error = holding->watch = baton_watch(holding->baton);

	if (error >= 0)
		error = baton_node(holding->baton, holding->node, &holding->lease_ms);
	if (error < 0)
		return error;
	/* A node that belongs to no cluster yet refuses any grace, because the cluster may have
	 * another lease. */
	bool fits = choose_grace(holding);
	error = baton_grace(holding->baton,
	                    fits && holding->grace_ms > 0 ? (uint32_t)holding->grace_ms : 1);
	if (error == 0)
		*ret_code = fits ? HOLDING_ACQUIRED : refuse_grace(holding);
	if (error == 0)
		snprintf(holding->address, sizeof(holding->address), "%s",
		         baton_address(holding->baton));
	return error;
}

/* Decides whether to try again. With -w it is worth it: a node may still start, or join a cluster.
 * Waits a moment before it returns true. */
static bool tries_again(const struct holding *holding, int error)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};

	if ((error != BATON_ENODE && error != BATON_ECONNECTION && error != BATON_ENOVIEW) ||
	    holding->words->timeout_ms <= 0 || time_left_ms(holding) <= RETRY_MS)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* Asks for the lock or campaigns. Returns 0 or an error. */
static int take(struct holding *holding)
{
	const struct holding_words *words = holding->words;
	int64_t timeout_ms = words->timeout_ms;

	if (timeout_ms > 0)
		timeout_ms = time_left_ms(holding) > 0 ? time_left_ms(holding) : 1;
	if (words->value == NULL)
		return baton_lock(holding->baton, words->name, timeout_ms, &holding->fence);
	return baton_elect_within(holding->baton, words->name, words->value, strlen(words->value),
	                          timeout_ms, &holding->fence);
}

/* Asks for the lock. Returns the same as holding_acquire. */
static int ask(struct holding *holding)
{
	int error, code = HOLDING_ACQUIRED;
	bool again = false;

	for (;;) {
		do
			error = reach_node(holding, &code);
		while (error < 0 && tries_again(holding, error));
		if (error == 0 && code != HOLDING_ACQUIRED)
			return code;
		if (error == 0)
			error = take(holding);
		/* While we waited, the session began again at a node with another lease, which
		 * refused the grace: the node has joined a cluster, or was restarted. */
		if (error != BATON_EREFUSED || again)
			break;
		again = true;
	}
	return error < 0 ? not_acquired(holding, error) : HOLDING_ACQUIRED;
}

/* Makes sure that there are descriptors for what is opened later, when the lock is already held and
 * nothing may fail. */
static bool has_descriptors(void)
{
	int fds[DESCRIPTORS];
	int count = 0;

	while (count < DESCRIPTORS && (fds[count] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
		count++;
	bool has = count == DESCRIPTORS;
	int error = errno;
	while (count > 0)
		close(fds[--count]);
	errno = error;
	return has;
}

int holding_acquire(struct holding *holding, const struct holding_words *words)
{
	*holding = (struct holding){.words = words, .asked_ns = clock_boot_ns()};
	fill_streams();
	if (!has_descriptors()) {
		fprintf(stderr, "baton %s: too few descriptors may be open: %s (ulimit -n)\n",
		        words->command, strerror(errno));
		return EXIT_UNAVAILABLE;
	}
	watch_signals(holding);
	holding->baton = baton_open(words->socket);
	memory_must(holding->baton != NULL);
	int code = ask(holding);
	block_signals(holding);
	if (code == HOLDING_ACQUIRED) {
		holding->acquired_ns = clock_boot_ns();
		if (words->verbose)
			holding_say(holding, "'%s' is held (fence %llu) after %.6f s", words->name,
			            (unsigned long long)holding->fence,
			            (double)(holding->acquired_ns - holding->asked_ns) / 1e9);
		return code;
	}
	holding_report(holding, code == EXIT_LOST, -1);
	holding_free(holding);
	return code;
}

/* --- losing and releasing the lock --- */

int64_t holding_margin_ms(const struct holding *holding)
{
	return (int64_t)holding->lease_ms / 10;
}

/* Returns the time `ms` after `now_ns`, or before it if `ms` is negative. */
static uint64_t time_after(uint64_t now_ns, int64_t ms)
{
	uint64_t ns = (uint64_t)(ms < 0 ? -ms : ms) * 1000000;

	if (ms >= 0)
		return now_ns + ns;
	return now_ns > ns ? now_ns - ns : 0;
}

/* Reads the clock before the lease. If this process is stopped in between, the noted end is too
 * early rather than too late. */
void holding_note_end(struct holding *holding)
{
	uint64_t now = clock_boot_ns();
	int64_t left_ms = baton_left(holding->baton), margin_ms = holding_margin_ms(holding);

	if (left_ms == BATON_UNENDING)
		holding->end_ns = UINT64_MAX;
	else
		holding->end_ns = time_after(now, (left_ms > 0 ? left_ms : 0) - margin_ms);
}

int64_t holding_time_to_stop_ms(const struct holding *holding)
{
	uint64_t now = clock_boot_ns();
	uint64_t left_ns = holding->end_ns > now ? holding->end_ns - now : 0;

	return left_ns / 1000000 < (uint64_t)holding->grace_ms ? (int64_t)(left_ns / 1000000)
	                                                       : holding->grace_ms;
}

bool holding_ends_within(const struct holding *holding, int64_t ms)
{
	return baton_left(holding->baton) <= ms;
}

bool holding_lost(struct holding *holding)
{
	/* Note it now: after the loss is taken, the end is no longer known. */
	holding_note_end(holding);
	uint64_t now = clock_boot_ns();
	if (baton_lost(holding->baton, NULL, NULL) != 1)
		return false;
	/* The node counts from the moment at which it reported the loss. This process may have been
	 * stopped since. */
	int64_t left_ms = holding->grace_ms - baton_lost_ago(holding->baton);
	uint64_t end_ns = time_after(now, left_ms);
	if (end_ns < holding->end_ns)
		holding->end_ns = end_ns;
	note_reason(holding);
	return true;
}

bool holding_release(struct holding *holding)
{
	if (holding_lost(holding))
		return false;
	if (baton_unlock(holding->baton, holding->words->name) != 0) {
		note_reason(holding);
		return false;
	}
	/* Do not wait for ever: a stopped node will read the UNLOCK when it goes on. */
	if (baton_sync_within(holding->baton, RELEASE_MS_MAX) != BATON_ELOST)
		return true;
	holding_note_loss(holding);
	return false;
}

void holding_free(struct holding *holding)
{
	baton_close(holding->baton);
	holding->baton = NULL;
}
