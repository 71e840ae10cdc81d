/*
 * The process that the user started. It passes signals on to the guardian, stops and ends as the
 * command does, and takes the guardian's place if the guardian is killed or stopped. See
 * guardian.h.
 */
#include "await.h"
#include "child.h"
#include "clock.h"
#include "ending.h"
#include "guardian.h"
#include "memory.h"
#include "must.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS_MIN = 10, PATIENCE_MS_MAX = 1000, LOOK_MS = 10 };

enum trust {
	TRUST_CALM,  /* the lock has no news */
	TRUST_ASKED, /* the guardian was asked for a sign of life */
	TRUST_GIVEN, /* the guardian has answered; the next question can wait */
};

struct front {
	struct holding *holding;
	struct shared *shared;
	int channel;
	int signals;
	pid_t guardian; /* the guardian's pid; 0: the guardian was reaped */
	struct spared spared;
	struct ending ending; /* used when this process takes the guardian's place */
	int patience_ms;      /* how long the guardian may take to answer */
	enum trust trust;
	uint64_t trust_ns; /* when `trust` last changed */
	/* The earliest time at which the unread news can have come; 0: there is no news. */
	uint64_t news_ns;
};

/* --- signals --- */

/* Stops this process as the command was stopped, so that a shell sees its job stop. */
static void stop_like_it(struct shared *shared, int signal)
{
	sigset_t set;
	int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	bool in_foreground = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();

	if (terminal >= 0)
		close(terminal);
	shared->stands = true;
	/* If this process was stopped itself, the command may have continued or ended since. */
	if (shared->ended || !process_stopped(shared->command)) {
		shared->stands = false;
		return;
	}
	/* A terminal stops the whole job, so do the same. The guardian has given the terminal
	 * back. */
	kill(in_foreground && signal == SIGTSTP ? 0 : getpid(), signal);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	shared->stands = false;
}

/* Returns the next signal that arrived, or 0. SIGCHLD counts only if another process sent it. */
static int next_signal(const struct front *front)
{
	struct signalfd_siginfo info;

	while (read(front->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD || info.ssi_code <= 0)
			return (int)info.ssi_signo;
	}
	return 0;
}

static void tell_guardian(const struct front *front, int byte)
{
	char text = (char)byte;

	/* If this fails, the guardian is stopped and has a thousand unread messages; it gets no
	 * more. */
	if (send(front->channel, &text, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return;
}

static void pass_on(const struct front *front)
{
	int signal;

	while ((signal = next_signal(front)) != 0)
		tell_guardian(front, signal);
}

/* --- is the guardian alive? --- */

static void set_trust(struct front *front, enum trust trust)
{
	front->trust = trust;
	front->trust_ns = clock_boot_ns();
	if (trust == TRUST_CALM)
		front->news_ns = 0;
	else if (trust == TRUST_GIVEN || front->news_ns == 0)
		front->news_ns = front->trust_ns;
}

static bool has_news(const struct front *front)
{
	struct pollfd item = {.fd = front->holding->watch, .events = POLLIN};

	return poll(&item, 1, 0) == 1;
}

static void ask(struct front *front)
{
	if (front->trust == TRUST_ASKED || front->shared->over)
		return;
	set_trust(front, TRUST_ASKED);
	tell_guardian(front, CHANNEL_ALIVE);
}

/* Returns the time until the last question or answer is too old, or -1 if there is none. */
static int time_left(const struct front *front)
{
	if (front->trust == TRUST_CALM)
		return -1;
	int64_t passed_ms = (int64_t)((clock_boot_ns() - front->trust_ns) / 1000000);
	return passed_ms < front->patience_ms ? (int)(front->patience_ms - passed_ms) : 0;
}

/* Is the process stopped, or has it ended? If a debugger has stopped it, only /proc shows that. */
static bool stands_still(pid_t pid)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid == pid || process_stopped(pid);
}

/* Returns how much time a guardian that knows of the loss still has to kill the command, or to try
 * again; 0 if the time is over, -1 if there is no limit. The guardian has a quarter of the margin;
 * or half of it if it is not stopped, because it may have many processes to kill, and this process
 * would have to begin again. The rest of the margin is for this process. */
static int time_to_kill(const struct front *front)
{
	const struct shared *shared = front->shared;

	if (shared->over || shared->lost_ns == 0 || shared->stays)
		return -1;
	uint64_t now = clock_boot_ns();
	uint64_t quarter_ns = (uint64_t)holding_margin_ms(front->holding) * 1000000 / 4;
	uint64_t due = shared->kill_ns + quarter_ns;
	if (now >= due && !stands_still(front->guardian))
		due += quarter_ns;
	return now < due ? (int)((due - now) / 1000000 + 1) : 0;
}

/* Returns how long to wait for something to happen; -1: for ever. */
static int time_to_wait(const struct front *front)
{
	int left = time_left(front), kill = time_to_kill(front);

	return kill < 0 || (left >= 0 && left < kill) ? left : kill;
}

/*
 * Notes the loss for the guardian, which somebody may continue at any time. lost_ns is set last: if
 * it is set, everything else is. Wakes the guardian, in case it has no other reason to look.
 */
static void share_loss(const struct front *front)
{
	const struct holding *holding = front->holding;
	struct shared *shared = front->shared;
	uint64_t until_ns = holding->end_ns;
	uint64_t grace_end_ns = front->news_ns + (uint64_t)holding->grace_ms * 1000000;

	if (shared->lost_ns != 0)
		return;
	if (front->news_ns != 0 && grace_end_ns < until_ns)
		until_ns = grace_end_ns;
	shared->reason = holding->reason;
	shared->end_ns = until_ns;
	shared->kill_ns = until_ns;
	shared->lost_ns = clock_boot_ns();
	tell_guardian(front, CHANNEL_ALIVE);
}

/*
 * Reads the news in place of the guardian, which is stopped. Returns true if the lock is lost. If
 * somebody continues the guardian meanwhile, it waits for this process before it reads or ends.
 */
static bool read_instead(const struct front *front)
{
	struct shared *shared = front->shared;
	int none = READER_NONE;

	/* If the guardian was stopped while it read, it may have read of a loss. */
	if (!atomic_compare_exchange_strong(&shared->reader, &none, READER_RUN))
		return true;
	bool lost = shared->lost_ns != 0 || holding_lost(front->holding);
	if (lost)
		share_loss(front);
	shared->reader = READER_NONE;
	return lost;
}

/*
 * Called when the guardian does not answer. Stops it and reads the news in its place. Returns true
 * if the lock is lost; if not, leaves the guardian as it was.
 */
static bool look_instead(struct front *front)
{
	bool was_still = stands_still(front->guardian);

	kill(front->guardian, SIGSTOP);
	/* Do not wait for ever: a debugger or a device may keep the guardian from stopping. Then it
	 * cannot read the news either. */
	for (int ms = 0; ms < front->patience_ms && !stands_still(front->guardian); ms++)
		poll(NULL, 0, 1);
	holding_note_end(front->holding);
	bool lost = !front->shared->over && read_instead(front);
	if (!lost && !was_still)
		kill(front->guardian, SIGCONT);
	return lost;
}

/* Called when the last question or answer is too old. Returns false if the guardian has to be
 * replaced. */
static bool trust_again(struct front *front)
{
	/* A guardian that knows of the loss, and is not stopped, may be busy killing: time_to_kill
	 * tells how long that may take. There is no limit if the node was asked to keep the lost
	 * lock as long as somebody is connected. A guardian that is only slow is not replaced:
	 * without a guardian, others would get the lock if this process is killed. */
	bool may_wait = front->shared->lost_ns != 0 && !stands_still(front->guardian);

	if (front->trust == TRUST_ASKED && !front->shared->over && may_wait) {
		set_trust(front, TRUST_GIVEN);
	} else if (front->trust == TRUST_ASKED && !front->shared->over) {
		if (look_instead(front))
			return false;
		set_trust(front, TRUST_CALM);
	} else if (!front->shared->over && (front->shared->lost_ns != 0 || has_news(front))) {
		ask(front); /* repeat the question until the guardian has done its work */
	} else {
		set_trust(front, TRUST_CALM);
	}
	return true;
}

/* Reads what the guardian sends. Returns false if it has ended. */
static bool listen_to_guardian(struct front *front)
{
	unsigned char byte;
	ssize_t count = recv(front->channel, &byte, 1, MSG_DONTWAIT);

	if (count != 1)
		return count != 0 && (errno == EAGAIN || errno == EINTR);
	if (byte == CHANNEL_ALIVE)
		set_trust(front, TRUST_GIVEN);
	else if (byte == CHANNEL_READS)
		ask(front);
	else if (byte == CHANNEL_ENDED)
		tell_guardian(front, CHANNEL_ENDED);
	else
		stop_like_it(front->shared, byte);
	return true;
}

/* Reaps the guardian, if it has ended and no debugger keeps it. Its children are then children of
 * this process. */
static bool reap_guardian(struct front *front)
{
	if (waitpid(front->guardian, NULL, WNOHANG) != front->guardian)
		return false;
	front->guardian = 0;
	return true;
}

/* Waits a while until the guardian, which is about to end, has ended. */
static void wait_for_guardian(struct front *front, int ms_max)
{
	for (int ms = 0; ms < ms_max; ms++) {
		bool ended = process_ended(front->guardian);
		/* A debugger may keep a guardian that has ended. */
		if (reap_guardian(front) || ended)
			return;
		poll(NULL, 0, 1);
	}
}

/* True if the guardian has done nothing although the lease is about to end: only half of the margin
 * is left, which this process needs. There is no time to ask the guardian for a sign of life. */
static bool is_late(const struct front *front)
{
	return !front->shared->over && front->shared->lost_ns == 0 &&
	       holding_ends_within(front->holding, holding_margin_ms(front->holding) / 2);
}

/* Runs until the guardian ends (returns true) or has to be replaced (returns false). */
static bool attend(struct front *front)
{
	for (;;) {
		bool watches = front->trust == TRUST_CALM && !front->shared->over;
		struct pollfd items[] = {
		        {.fd = front->signals, .events = POLLIN},
		        {.fd = front->channel, .events = POLLIN},
		        {.fd = watches ? front->holding->watch : -1, .events = POLLIN},
		};
		if (await_any(items, sizeof(items) / sizeof(*items), time_to_wait(front)) < 0)
			continue;
		if (items[0].revents != 0)
			pass_on(front);
		if (items[1].revents != 0 && !listen_to_guardian(front)) {
			wait_for_guardian(front, front->patience_ms);
			return true;
		}
		if (reap_guardian(front))
			return true;
		if (is_late(front)) {
			holding_note_end(front->holding);
			return false;
		}
		if (time_to_kill(front) == 0)
			return false;
		if (items[2].revents != 0)
			ask(front);
		else if (items[1].revents == 0 && time_left(front) == 0 && !trust_again(front))
			return false;
	}
}

/* --- the guardian's work --- */

/* Signals the command, if the pid still belongs to a child of the guardian or of this process. */
static void signal_command(const struct front *front, int signal)
{
	pid_t command = front->shared->command;
	pid_t parent = command > 0 ? process_parent(command) : 0;

	if (parent != 0 && (parent == front->guardian || parent == getpid()))
		kill(-command, signal);
}

/* Waits for a signal, for news of the lock, or for `ms`. Passes signals on to the command. Returns
 * true if there is news. */
static bool pause_for_news(const struct front *front, bool watches, int ms)
{
	struct pollfd items[] = {{.fd = front->signals, .events = POLLIN},
	                         {.fd = watches ? front->holding->watch : -1, .events = POLLIN}};
	int signal;

	if (await_any(items, 2, ms) <= 0)
		return false;
	while ((signal = next_signal(front)) != 0)
		signal_command(front, signal);
	return items[1].revents != 0;
}

static void take_terminal_back(pid_t command)
{
	struct terminal terminal;

	terminal_open(&terminal);
	if (terminal.fd < 0)
		return;
	terminal.lent = true;
	terminal_take_back(&terminal, command);
	close(terminal.fd);
}

/* Kills what is left and releases the lock, because the guardian is gone. Returns the exit code. */
static int end_all(struct front *front)
{
	struct holding *holding = front->holding;
	struct ending *ending = &front->ending;
	const struct shared *shared = front->shared;

	ending->command = shared->command;
	ending->ended = shared->ended;
	ending->status = shared->ended ? shared->status : SIGKILL;
	/* If the command ended by itself, the processes that it left behind may go on. */
	while (!shared->over && !ending_round(ending)) {
		if (pause_for_news(front, !ending->lost, ending->pause_ms) && holding_lost(holding))
			ending->lost = true;
	}
	take_terminal_back(ending->command);
	if (!ending->lost && !holding_release(holding))
		ending->lost = true;
	if (ending->lost)
		holding_note_loss(holding);
	int child = child_code(ending->status);
	holding_free(holding); /* free it first: the report may have to wait for a reader */
	holding_report(holding, ending->lost, child);
	if (!ending->lost && WIFSIGNALED(ending->status))
		front->shared->signal = WTERMSIG(ending->status);
	return ending->lost ? EXIT_LOST : child;
}

/* Takes over what is known of the loss, whoever has read of it. */
static void take_over_loss(struct front *front)
{
	struct holding *holding = front->holding;
	const struct shared *shared = front->shared;

	if (shared->lost_ns == 0)
		return;
	front->ending.lost = true;
	holding->end_ns = shared->end_ns;
	if (holding->reason == NULL)
		holding->reason = shared->reason;
}

/* Called when the lock is lost and the guardian does not act on that. Returns the exit code. */
static int replace_guardian(struct front *front)
{
	struct holding *holding = front->holding;

	share_loss(front);
	take_over_loss(front);
	const uint64_t until_ns = holding->end_ns;
	signal_command(front, SIGTERM);
	/* If no time to stop is left, kill before doing anything else. Otherwise continue the
	 * command: a stopped command could not act on SIGTERM. */
	signal_command(front, clock_boot_ns() < until_ns ? SIGCONT : SIGKILL);
	spared_note_orphans(&front->spared, front->guardian);
	holding_say(holding,
	            "'%s' was lost (fence %llu), and the guardian, process %d, does not answer: "
	            "it is replaced, and the command is stopped",
	            holding->words->name, (unsigned long long)holding->fence, (int)front->guardian);
	/* Kill the guardian last: when it ends, the kernel kills the command. */
	while (clock_boot_ns() < until_ns) {
		int64_t look_ms;
		struct descendants left = ending_look(&front->ending, front->guardian, &look_ms);
		ending_stay_if_many(&front->ending, look_ms);
		if (left.refused != 0)
			ending_refused(&front->ending, left.refused, "SIGTERM");
		if (left.count == 0)
			break;
		pause_for_news(front, false, LOOK_MS);
	}
	/* A guardian that was continued has done the same work, and may be about to report. */
	if (front->shared->over)
		wait_for_guardian(front, front->patience_ms);
	if (front->guardian != 0) {
		kill(front->guardian, SIGKILL);
		wait_for_guardian(front, LOOK_MS);
	}
	/* The guardian was only slow: it has done everything and said so. */
	if (front->shared->reported)
		return front->shared->code;
	return end_all(front);
}

/* Called when the guardian has ended. Returns the exit code. */
static int follow(struct front *front)
{
	/* That the guardian has exited proves nothing: if there is no memory, it exits before its
	 * work is done. */
	if (front->shared->reported)
		return front->shared->code;
	holding_say(front->holding, "the guardian was killed: the command is killed too");
	take_over_loss(front);
	return end_all(front);
}

/* --- the start and the end --- */

static struct shared *share(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	memory_must(shared != MAP_FAILED);
	return shared;
}

/* Returns how long the guardian may take to answer: a small part of the grace or, if there is
 * hardly any grace, of the margin that the node adds to it, which is a tenth of the lease. */
static int patience_of(const struct holding *holding)
{
	int64_t ms = holding->grace_ms / 4, margin_ms = (int64_t)holding->lease_ms / 40;

	if (ms < margin_ms)
		ms = margin_ms;
	return ms < PATIENCE_MS_MIN ? PATIENCE_MS_MIN
	                            : (int)(ms < PATIENCE_MS_MAX ? ms : PATIENCE_MS_MAX);
}

/* Should the signal go to the whole job, as if the terminal had sent it? While the command had the
 * terminal, the terminal sent the signal only to the command. */
static bool is_for_the_group(const struct shared *shared)
{
	int terminal = shared->interrupted ? open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;

	if (terminal < 0)
		return false;
	bool in_foreground = tcgetpgrp(terminal) == getpgrp();
	close(terminal);
	return in_foreground;
}

int guarded_run(struct holding *holding, char **command)
{
	struct front front = {.holding = holding, .shared = share()};
	pid_t self = getpid();
	sigset_t all;
	int channel[2];

	/* This process may have been stopped since the grant. */
	if (holding_lost(holding)) {
		holding_say(holding, "'%s' was lost before the command began (fence %llu)%s",
		            holding->words->name, (unsigned long long)holding->fence, holding->why);
		holding_report(holding, true, -1);
		holding_free(holding);
		return EXIT_LOST;
	}
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0);
	spared_note(&front.spared);
	front.ending = (struct ending){.holding = holding, .spared = &front.spared};
	must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	front.guardian = fork();
	if (front.guardian == 0) {
		close(channel[0]);
		_exit(guardian_run(holding, front.shared, channel[1], self, command));
	}
	close(channel[1]);
	if (front.guardian > 0)
		spared_note_guardian(&front.spared, front.guardian);
	if (front.guardian < 0) {
		holding_say(holding, "no process can be made for the guardian: %s",
		            strerror(errno));
		holding_release(holding);
		holding_report(holding, false, -1);
		holding_free(holding);
		return EXIT_NOT_EXECUTABLE;
	}
	leave_streams();
	front.channel = channel[0];
	front.patience_ms = patience_of(holding);
	sigfillset(&all);
	front.signals = read_signals(&all);
	int code = attend(&front) ? follow(&front) : replace_guardian(&front);
	int signal = front.shared->signal;
	bool group = signal != 0 && is_for_the_group(front.shared);
	spared_free(&front.spared);
	holding_free(holding);
	munmap(front.shared, sizeof(*front.shared));
	if (signal != 0)
		end_by_signal(signal, group);
	return code;
}
