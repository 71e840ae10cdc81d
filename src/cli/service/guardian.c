#include "guardian.h"

#include "await.h"
#include "child.h"
#include "clock.h"
#include "ending.h"
#include "must.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* How many milliseconds pass between two attempts to wake `baton run`, and how many attempts the
 * guardian makes when it ends. */
enum { WAKE_MS = 5, WAKES_MAX = 100 };

struct guardian {
	struct holding *holding;
	struct shared *shared;
	struct terminal terminal;
	int channel;  /* the socket to `baton run`; -1: `baton run` has ended */
	int children; /* a descriptor that reports SIGCHLD */
	int timer;    /* fires at the end of the grace, or for the next round of killing */
	pid_t run;    /* the process that the user started */
	bool command_stopped;
	bool asked_run;   /* `baton run` was asked whether it was killed with the command */
	bool run_is_well; /* `baton run` has answered that, or is stopped */
	/* When the guardian began to wait for `baton run` or for the guardians of other runs,
	 * although the command has ended; 0: it did not. */
	uint64_t waits_since_ns;
	struct ending ending;
	sigset_t forwarded; /* the signals that the guardian has already passed on to the command */
	bool none_left;     /* the command and all its descendants have ended */
	bool killing;       /* the grace is over: everything is killed */
};

void leave_streams(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

int read_signals(const sigset_t *set)
{
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	must(fd >= 0);
	return fd;
}

static bool tell_run(const struct guardian *guardian, int byte)
{
	char text = (char)byte;

	return send(guardian->channel, &text, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

static void set_timer(const struct guardian *guardian, int64_t ms)
{
	const struct itimerspec when = {
	        .it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};

	must(timerfd_settime(guardian->timer, 0, &when, NULL) == 0);
}

/* --- the command --- */

/* Signals the command's group. Does nothing once the command is reaped, because its pid may then
 * belong to another process. Returns false if none of the processes may be signalled. */
static bool signal_command(const struct guardian *guardian, int signal)
{
	return guardian->ending.ended || kill(-guardian->ending.command, signal) == 0 ||
	       errno != EPERM;
}

static void tell_stopped(struct guardian *guardian, int signal)
{
	if (signal == SIGTTIN || signal == SIGTTOU) {
		/* The command needs the terminal, and nobody else has it. */
		if (terminal_lend(&guardian->terminal, guardian->ending.command)) {
			signal_command(guardian, SIGCONT);
			return;
		}
	}
	terminal_take_back(&guardian->terminal, guardian->ending.command);
	tell_run(guardian, signal);
}

/* Wakes `baton run` if it has stopped itself although the command is not stopped any more. Returns
 * true if `baton run` was woken. */
static bool wake_run(const struct guardian *guardian)
{
	if (!guardian->shared->stands || guardian->command_stopped || getppid() != guardian->run)
		return false;
	kill(guardian->run, SIGCONT);
	return true;
}

/* Reaps children, including orphans that this process has inherited. */
static void reap(struct guardian *guardian)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (pid != guardian->ending.command)
			continue;
		guardian->command_stopped = WIFSTOPPED(status);
		if (WIFSTOPPED(status)) {
			tell_stopped(guardian, WSTOPSIG(status));
		} else if (!WIFCONTINUED(status)) {
			guardian->ending.ended = true;
			guardian->ending.status = status;
		}
	}
	guardian->none_left = pid < 0 && errno == ECHILD;
}

/* Lets the timer fire after `ms`, and tells `baton run` when the command is to be killed. */
static void kill_after(struct guardian *guardian, int64_t ms)
{
	guardian->shared->kill_ns = clock_boot_ns() + (uint64_t)ms * 1000000;
	set_timer(guardian, ms > 0 ? ms : 1);
}

/* Does a round of killing, and sets the timer for the next. */
static void kill_all(struct guardian *guardian)
{
	guardian->killing = true;
	guardian->none_left = ending_round(&guardian->ending);
	if (guardian->none_left)
		return;
	kill_after(guardian, guardian->ending.pause_ms);
}

/* --- events --- */

static void on_child(struct guardian *guardian)
{
	struct signalfd_siginfo info;

	while (read(guardian->children, &info, sizeof(info)) > 0)
		;
	if (guardian->killing)
		kill_all(guardian);
	else
		reap(guardian);
}

static void on_timer(struct guardian *guardian)
{
	uint64_t times;

	if (read(guardian->timer, &times, sizeof(times)) > 0)
		kill_all(guardian);
}

static void forward_signal(struct guardian *guardian, int signal)
{
	if (signal == SIGCONT && guardian->terminal.lent)
		terminal_lend(&guardian->terminal, guardian->ending.command);
	sigaddset(&guardian->forwarded, signal);
	if (!signal_command(guardian, signal))
		holding_say(guardian->holding,
		            "SIG%s cannot be forwarded to process %d: EPERM (Operation not "
		            "permitted), because it runs as another user",
		            sigabbrev_np(signal) != NULL ? sigabbrev_np(signal) : "RT",
		            (int)guardian->ending.command);
}

static void on_channel(struct guardian *guardian)
{
	unsigned char bytes[64];
	ssize_t count = recv(guardian->channel, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
		close(guardian->channel);
		guardian->channel = -1;
		kill_all(guardian);
	}
	for (ssize_t i = 0; i < count; i++) {
		if (bytes[i] == CHANNEL_ALIVE)
			tell_run(guardian, CHANNEL_ALIVE);
		else if (bytes[i] == CHANNEL_ENDED)
			guardian->run_is_well = true;
		else
			forward_signal(guardian, bytes[i]);
	}
}

static void stop_command(struct guardian *guardian)
{
	struct holding *holding = guardian->holding;

	if (holding_time_to_stop_ms(holding) == 0) {
		/* No time to stop is left, because this process did not run for a while. So kill
		 * before doing anything else. */
		kill_all(guardian);
		if (guardian->ending.refused == 0)
			holding_say(holding,
			            "'%s' was lost (fence %llu)%s; the command gets SIGKILL",
			            holding->words->name, (unsigned long long)holding->fence,
			            holding->why);
		return;
	}
	/* kill succeeds for a group if one of its processes got the signal, so check each process.
	 * Do it now, not when the grace is over, because the node has to know in time. And do it
	 * before any process ends: a process that loses its parent while the others are read can be
	 * missed. */
	int64_t look_ms;
	pid_t refused = ending_look(&guardian->ending, 0, &look_ms).refused;
	if (!signal_command(guardian, SIGTERM))
		refused = guardian->ending.command;
	signal_command(guardian,
	               SIGCONT); /* otherwise a stopped command could not act on SIGTERM */
	/* Killing all processes takes about as long as looking at them, so begin earlier by that
	 * time. */
	ending_stay_if_many(&guardian->ending, look_ms);
	int64_t stop_ms = holding_time_to_stop_ms(holding) - look_ms;
	if (stop_ms < 0)
		stop_ms = 0;
	kill_after(guardian, stop_ms);
	if (refused != 0)
		ending_refused(&guardian->ending, refused, "SIGTERM");
	else
		holding_say(
		        holding,
		        "'%s' was lost (fence %llu)%s; the command gets SIGTERM, and SIGKILL after "
		        "%lld ms",
		        holding->words->name, (unsigned long long)holding->fence, holding->why,
		        (long long)stop_ms);
}

/* Begins to read from the node, so that `baton run` does not. Returns false if `baton run` reads
 * and has not finished after a quarter of the margin: it was stopped or killed meanwhile. */
static bool begin_to_read(struct guardian *guardian)
{
	const int64_t ms_max = holding_margin_ms(guardian->holding) / 4;

	for (int64_t ms = 0;; ms++) {
		int none = READER_NONE;
		if (atomic_compare_exchange_strong(&guardian->shared->reader, &none,
		                                   READER_GUARDIAN))
			return true;
		if (ms >= ms_max)
			return false;
		poll(NULL, 0, 1);
	}
}

static void share_loss(const struct guardian *guardian)
{
	struct shared *shared = guardian->shared;

	shared->reason = guardian->holding->reason;
	shared->end_ns = guardian->holding->end_ns;
	shared->kill_ns =
	        clock_boot_ns() + (uint64_t)holding_time_to_stop_ms(guardian->holding) * 1000000;
	shared->lost_ns = clock_boot_ns();
}

static void act_on_loss(struct guardian *guardian)
{
	guardian->ending.lost = true;
	if (guardian->killing)
		kill_all(guardian);
	else
		stop_command(guardian);
}

/* Acts as if the lock were lost. `baton run` was stopped or killed while it read from the node, and
 * may have read of a loss. */
static void suppose_loss(struct guardian *guardian)
{
	guardian->holding->end_ns = clock_boot_ns();
	share_loss(guardian);
	act_on_loss(guardian);
}

/*
 * Takes over a loss that `baton run` has read and noted while the guardian was stopped. A guardian
 * that is continued before `baton run` has killed it does the rest of the work too. The guardian
 * cannot learn of the loss in another way. Without this it would believe that the command, which
 * got SIGTERM from `baton run`, ended by itself. Returns true if there was such a loss.
 */
static bool take_over_loss(struct guardian *guardian)
{
	const struct shared *shared = guardian->shared;

	if (guardian->ending.lost || shared->lost_ns == 0)
		return false;
	guardian->ending.lost = true;
	guardian->holding->reason = shared->reason;
	guardian->holding->end_ns = shared->end_ns;
	if (!guardian->killing)
		kill_after(guardian, holding_time_to_stop_ms(guardian->holding));
	return true;
}

static void on_news(struct guardian *guardian)
{
	if (!begin_to_read(guardian)) {
		suppose_loss(guardian);
		return;
	}
	tell_run(guardian, CHANNEL_READS);
	bool lost = !take_over_loss(guardian) && holding_lost(guardian->holding);
	if (lost)
		share_loss(guardian);
	guardian->shared->reader = READER_NONE;
	if (lost)
		act_on_loss(guardian);
}

/* --- the main loop --- */

/* Has the guardian waited for as long as a lease since the first call of this function? Call it
 * only if the command has ended. */
static bool has_waited_long(struct guardian *guardian)
{
	uint64_t now = clock_boot_ns();

	if (guardian->waits_since_ns == 0)
		guardian->waits_since_ns = now;
	return now - guardian->waits_since_ns >= guardian->holding->lease_ms * 1000000;
}

/*
 * True if the command was killed, and it is not known yet whether `baton run` was killed too. Asks
 * `baton run`. If `baton run` is stopped, it cannot answer, but it was not killed either: SIGKILL
 * also ends a process that is stopped.
 */
static bool doubts_run(struct guardian *guardian)
{
	int status = guardian->ending.status;

	if (!guardian->ending.ended || guardian->killing || guardian->ending.lost ||
	    !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return false;
	if (!guardian->asked_run)
		guardian->asked_run = tell_run(guardian, CHANNEL_ENDED);
	if (getppid() == guardian->run && process_stopped(guardian->run))
		guardian->run_is_well = true;
	return !guardian->run_is_well;
}

/*
 * True if the command has ended, but has left the guardian of another run behind. The other run was
 * the command, or a part of it, and was killed. What is left of its own command is still a part of
 * ours, and its guardian kills that within milliseconds. Any process can have the name of a
 * guardian, so do not wait for longer than a lease.
 */
static bool awaits_guardians(struct guardian *guardian)
{
	return guardian->ending.ended && !guardian->none_left && descendants_inherit_guardian() &&
	       !has_waited_long(guardian);
}

static bool is_over(struct guardian *guardian)
{
	take_over_loss(guardian);
	if (guardian->killing || guardian->ending.lost)
		return guardian->none_left;
	return guardian->ending.ended && !doubts_run(guardian) && !awaits_guardians(guardian);
}

/*
 * Call this if the work seems to be over. If it is, tells `baton run` so and returns true. Returns
 * false if `baton run` has read of a loss in the meantime, or may have. After true, the guardian
 * stays the reader, so that `baton run` reads nothing more from the node.
 */
static bool settle(struct guardian *guardian)
{
	if (!guardian->ending.lost && !begin_to_read(guardian)) {
		suppose_loss(guardian);
		return false;
	}
	if (take_over_loss(guardian)) {
		guardian->shared->reader = READER_NONE;
		return false;
	}
	guardian->shared->over = true;
	return true;
}

/* True if the lease ends so soon that the command must be stopped now. This process may have been
 * stopped after it was woken for something else. */
static bool is_late(const struct guardian *guardian)
{
	const struct holding *holding = guardian->holding;

	return !guardian->ending.lost &&
	       holding_ends_within(holding, holding->grace_ms + holding_margin_ms(holding));
}

static void guard(struct guardian *guardian)
{
	while (!is_over(guardian) || !settle(guardian)) {
		struct pollfd items[] = {
		        {.fd = guardian->channel, .events = POLLIN},
		        {.fd = guardian->children, .events = POLLIN},
		        {.fd = guardian->ending.lost ? -1 : guardian->holding->watch,
		         .events = POLLIN},
		        {.fd = guardian->timer, .events = POLLIN},
		};
		/* Look again soon in two cases. `baton run` was woken, but may stop itself just
		 * after that. Or the command has ended, and this process waits for an answer from
		 * `baton run`, which may be stopped before it answers, or for other guardians. */
		bool again = wake_run(guardian) || (guardian->ending.ended && !guardian->killing &&
		                                    !guardian->ending.lost);
		if (await_any(items, sizeof(items) / sizeof(*items), again ? WAKE_MS : -1) < 0)
			continue;
		/* Handle the loss of the lock before the end of the command: if both happened, the
		 * command did not end properly. */
		if (items[2].revents != 0 || is_late(guardian))
			on_news(guardian);
		if (items[0].revents != 0)
			on_channel(guardian);
		if (items[1].revents != 0)
			on_child(guardian);
		if (items[3].revents != 0)
			on_timer(guardian);
		/* It is not known whether `baton run` is stopped if /proc cannot be used. What is
		 * left of the command must not go on if `baton run` was killed, so kill it. */
		if (doubts_run(guardian) && has_waited_long(guardian))
			kill_all(guardian);
		guardian->shared->status = guardian->ending.status;
		guardian->shared->ended = guardian->ending.ended;
		guardian->shared->stays = guardian->ending.stays;
	}
}

/* Notes by which signal `baton run` has to end. */
static void note_signal(struct guardian *guardian, bool had_terminal)
{
	int status = guardian->ending.status;

	if (guardian->ending.lost || !WIFSIGNALED(status))
		return;
	int signal = WTERMSIG(status);
	guardian->shared->interrupted = had_terminal && (signal == SIGINT || signal == SIGQUIT) &&
	                                sigismember(&guardian->forwarded, signal) == 0;
	guardian->shared->signal = signal;
}

/* Returns the exit code of `baton run`. */
static int finish(struct guardian *guardian)
{
	struct holding *holding = guardian->holding;
	struct ending *ending = &guardian->ending;
	bool had_terminal = terminal_take_back(&guardian->terminal, ending->command);

	if (!ending->lost && !holding_release(holding)) {
		ending->lost = true;
		holding_say(holding, "'%s' was lost while the command ran (fence %llu)%s",
		            holding->words->name, (unsigned long long)holding->fence, holding->why);
	}
	int child = child_code(ending->status);
	int code = ending->lost ? EXIT_LOST : child;
	note_signal(guardian, had_terminal);
	guardian->shared->code = code;
	guardian->shared->reported = true;
	holding_free(holding); /* free it first: the report may have to wait for a reader */
	holding_report(holding, ending->lost, child);
	guardian->command_stopped = false;
	for (int i = 0; i < WAKES_MAX && wake_run(guardian); i++)
		poll(NULL, 0, WAKE_MS);
	return code;
}

int guardian_run(struct holding *holding, struct shared *shared, int channel, pid_t run,
                 char **command)
{
	static const struct spared none;
	struct guardian guardian = {
	        .holding = holding,
	        .shared = shared,
	        .channel = channel,
	        .run = run,
	        .ending = {.holding = holding, .spared = &none, .status = SIGKILL}};
	sigset_t child_signal;

	/* The guardian of an outer run, which spares this process at first, recognises it by this
	 * name. */
	prctl(PR_SET_NAME, GUARDIAN_NAME);
	terminal_open(&guardian.terminal);
	setpgid(0, 0);
	must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	sigemptyset(&guardian.forwarded);
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	guardian.children = read_signals(&child_signal);
	guardian.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	must(guardian.timer >= 0);
	pid_t pid = child_start(holding, &guardian.terminal, command, &shared->command);
	if (pid < 0) {
		holding_say(holding, "no process can be made for the command: %s", strerror(errno));
		guardian.ending.ended = true;
		guardian.ending.status = EXIT_NOT_EXECUTABLE << 8;
	} else {
		guardian.ending.command = pid;
	}
	leave_streams();
	guard(&guardian);
	return finish(&guardian);
}
