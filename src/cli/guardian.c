#include "guardian.h"

#include "child.h"
#include "descendants.h"
#include "must.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* Both sides say single bytes on the channel: `baton run` which signal came, the guardian by
 * which one the command was stopped. */

/* Nobody but the command has its input and output from now on. */
static void leave_streams(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

static int read_signals(const sigset_t *set)
{
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	must(fd >= 0);
	return fd;
}

/* --- the guardian --- */

struct guardian {
	struct holding *holding;
	struct terminal terminal;
	int channel;
	int children; /* SIGCHLD */
	int grace;    /* a timer: when the patience with a command that must stop ends */
	pid_t run;    /* the process that the user started */
	bool run_stopped;
	pid_t command;
	int status; /* of the command, once it has ended */
	bool ended;
	bool none_left; /* of its descendants either */
	bool lost;
	bool killing; /* no more patience */
};

/* By the group as long as the command has not been reaped: then the number may be another's. */
static void signal_command(const struct guardian *guardian, int signal)
{
	if (!guardian->ended)
		kill(-guardian->command, signal);
}

static void tell_stopped(struct guardian *guardian, int signal)
{
	char byte = (char)signal;

	if (signal == SIGTTIN || signal == SIGTTOU) {
		/* It needs the terminal, and nobody else has it. */
		if (terminal_lend(&guardian->terminal, guardian->command)) {
			signal_command(guardian, SIGCONT);
			return;
		}
	}
	terminal_take_back(&guardian->terminal, guardian->command);
	if (send(guardian->channel, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		guardian->run_stopped = true;
}

static void wake_run(struct guardian *guardian)
{
	if (guardian->run_stopped && getppid() == guardian->run)
		kill(guardian->run, SIGCONT);
	guardian->run_stopped = false;
}

/* Also those that have lost their parents. */
static void reap(struct guardian *guardian)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(guardian->children, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (pid != guardian->command)
			continue;
		if (WIFSTOPPED(status)) {
			tell_stopped(guardian, WSTOPSIG(status));
		} else if (WIFCONTINUED(status)) {
			wake_run(guardian);
		} else {
			guardian->ended = true;
			guardian->status = status;
		}
	}
	guardian->none_left = pid < 0 && errno == ECHILD;
}

static void forward(struct guardian *guardian)
{
	unsigned char bytes[64];
	ssize_t count = recv(guardian->channel, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
		guardian->killing = true; /* 'baton run' is no more */
	for (ssize_t i = 0; i < count; i++) {
		if (bytes[i] == SIGCONT) {
			guardian->run_stopped = false;
			if (guardian->terminal.lent)
				terminal_lend(&guardian->terminal, guardian->command);
		}
		signal_command(guardian, bytes[i]);
	}
}

static void stop_command(struct guardian *guardian)
{
	const struct holding *holding = guardian->holding;
	const struct itimerspec grace = {
	        .it_value = {.tv_sec = holding->grace_ms / 1000,
	                     .tv_nsec = holding->grace_ms % 1000 * 1000000}};

	guardian->lost = true;
	fprintf(stderr,
	        "baton %s: '%s' was lost (fence %llu): the command gets SIGTERM, and SIGKILL after "
	        "%lld ms\n",
	        holding->words->command, holding->words->name, (unsigned long long)holding->fence,
	        (long long)holding->grace_ms);
	signal_command(guardian, SIGTERM);
	signal_command(guardian, SIGCONT); /* or it could not act upon it */
	guardian->grace = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (holding->grace_ms == 0 || guardian->grace < 0 ||
	    timerfd_settime(guardian->grace, 0, &grace, NULL) != 0)
		guardian->killing = true;
}

static bool is_over(const struct guardian *guardian)
{
	if (guardian->killing)
		return true;
	return guardian->lost ? guardian->none_left : guardian->ended;
}

static void guard(struct guardian *guardian)
{
	while (!is_over(guardian)) {
		struct pollfd items[] = {
		        {.fd = guardian->channel, .events = POLLIN},
		        {.fd = guardian->children, .events = POLLIN},
		        {.fd = guardian->lost ? -1 : guardian->holding->watch, .events = POLLIN},
		        {.fd = guardian->grace, .events = POLLIN},
		};
		if (poll(items, sizeof(items) / sizeof(*items), -1) < 0)
			continue;
		/* That it was lost comes before that the command has ended: who did both did not end in
		 * good order. */
		if (items[2].revents != 0 && holding_lost(guardian->holding))
			stop_command(guardian);
		if (items[0].revents != 0)
			forward(guardian);
		if (items[1].revents != 0)
			reap(guardian);
		if (items[3].revents != 0)
			guardian->killing = true;
	}
}

/* The exit code of all. */
static int finish(struct guardian *guardian)
{
	struct holding *holding = guardian->holding;
	const struct spared none = {0};

	terminal_take_back(&guardian->terminal, guardian->command);
	if (guardian->killing)
		descendants_end(guardian->children, &none, guardian->ended ? 0 : guardian->command,
		                &guardian->status);
	if (!guardian->lost && !holding_release(holding)) {
		guardian->lost = true;
		fprintf(stderr, "baton %s: '%s' was lost (fence %llu) while the command ran\n",
		        holding->words->command, holding->words->name,
		        (unsigned long long)holding->fence);
	}
	int child = child_code(guardian->status);
	holding_report(holding, guardian->lost, child);
	holding_free(holding);
	wake_run(guardian);
	return guardian->lost ? EXIT_LOST : child;
}

static int be_guardian(struct holding *holding, int channel, pid_t run, char **command)
{
	struct guardian guardian = {
	        .holding = holding, .channel = channel, .grace = -1, .run = run};
	sigset_t child_signal;

	terminal_open(&guardian.terminal);
	setpgid(0, 0);
	prctl(PR_SET_NAME, "baton-guardian");
	must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	guardian.children = read_signals(&child_signal);
	guardian.command = child_start(holding, &guardian.terminal, command);
	if (guardian.command < 0) {
		fprintf(stderr, "baton %s: no process can be made for the command: %s\n",
		        holding->words->command, strerror(errno));
		guardian.ended = true;
		guardian.status = EXIT_NOT_EXECUTABLE << 8;
	}
	leave_streams();
	guard(&guardian);
	return finish(&guardian);
}

/* --- `baton run` itself --- */

struct front {
	struct holding *holding;
	int channel;
	int signals;
	pid_t guardian;
	struct spared spared;
};

/* As the command was, so that a shell sees its job stop. */
static void stop_like_it(int signal)
{
	sigset_t set;
	int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	bool in_foreground = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();

	if (terminal >= 0)
		close(terminal);
	/* What the terminal does, it does to the whole job; the guardian has given it back. */
	kill(in_foreground && signal == SIGTSTP ? 0 : getpid(), signal);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* One signal; SIGCHLD only if somebody sent it. */
static void pass_on(const struct front *front)
{
	struct signalfd_siginfo info;

	while (read(front->signals, &info, sizeof(info)) == sizeof(info)) {
		char byte = (char)info.ssi_signo;
		if (info.ssi_signo == SIGCHLD && info.ssi_code > 0)
			continue;
		/* A guardian that is stopped and has a thousand unread gets no more. */
		if (send(front->channel, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			continue;
	}
}

/* Until the guardian ends. */
static int attend(const struct front *front)
{
	struct pollfd items[] = {{.fd = front->signals, .events = POLLIN},
	                         {.fd = front->channel, .events = POLLIN}};
	unsigned char byte;
	int status;

	for (;;) {
		if (poll(items, 2, -1) < 0)
			continue;
		if (items[0].revents != 0)
			pass_on(front);
		if (items[1].revents != 0) {
			ssize_t count = recv(front->channel, &byte, 1, MSG_DONTWAIT);
			if (count == 1)
				stop_like_it(byte);
			else if (count == 0 || errno != EAGAIN)
				break;
		}
		if (waitpid(front->guardian, &status, WNOHANG) == front->guardian)
			return status;
	}
	/* When it can be reaped, its children are ours. */
	while (waitpid(front->guardian, &status, 0) < 0)
		must(errno == EINTR);
	return status;
}

static int take_over(struct front *front)
{
	struct holding *holding = front->holding;
	int ignored = 0;

	fprintf(stderr, "baton %s: the guardian was killed: the command is killed too\n",
	        holding->words->command);
	descendants_end(front->signals, &front->spared, 0, &ignored);
	bool lost = !holding_release(holding);
	holding_report(holding, lost, EXIT_SIGNAL + SIGKILL);
	return lost ? EXIT_LOST : EXIT_SIGNAL + SIGKILL;
}

int guarded_run(struct holding *holding, char **command)
{
	struct front front = {.holding = holding};
	pid_t self = getpid();
	sigset_t all;
	int channel[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) == 0);
	spared_note(&front.spared);
	must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	front.guardian = fork();
	if (front.guardian == 0) {
		close(channel[0]);
		_exit(be_guardian(holding, channel[1], self, command));
	}
	close(channel[1]);
	if (front.guardian < 0) {
		fprintf(stderr, "baton %s: no process can be made for the guardian: %s\n",
		        holding->words->command, strerror(errno));
		holding_release(holding);
		holding_report(holding, false, -1);
		holding_free(holding);
		return EXIT_NOT_EXECUTABLE;
	}
	leave_streams();
	front.channel = channel[0];
	sigfillset(&all);
	front.signals = read_signals(&all);
	int status = attend(&front);
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : take_over(&front);
	spared_free(&front.spared);
	holding_free(holding);
	return code;
}
