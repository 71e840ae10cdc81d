/*
 * A command that is hard to kill, for the tests of `baton run`.
 *
 *     hostile KIND [COUNT]
 *
 * It prints "ready" when its processes are what its kind says. None of them ever ends by itself, and
 * none but a breeder makes more than COUNT processes.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int count = 500;
/* In shared memory: how many processes were made, and how many make no more. */
static _Atomic int *made;

static void say_ready(void)
{
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		_exit(1);
}

static void stay(void)
{
	for (;;)
		pause();
}

/* Each process makes the next one and ends, so a search for the last one always comes too late. */
static void chain(void)
{
	if (fork() != 0)
		stay(); /* the command must not end: the lock would be free */
	for (int i = 0; i < count; i++) {
		if (i == 1)
			say_ready();
		if (fork() != 0)
			_exit(0);
		setsid();
	}
	stay();
}

/* Every process makes processes, each in a session of its own. */
static void bomb(void)
{
	while (atomic_fetch_add(made, 1) < count) {
		if (fork() == 0)
			setsid();
	}
	if (atomic_fetch_add(&made[1], 1) == 0)
		say_ready();
	stay();
}

/* Many children of one process, each in a session of its own. */
static void wide(void)
{
	for (int i = 0; i < count; i++) {
		if (fork() == 0) {
			setsid();
			stay();
		}
	}
	say_ready();
	stay();
}

/* Two processes in sessions of their own. If one ends, the other makes it again. */
static void twins(void)
{
	if (fork() == 0)
		say_ready();
	for (;;) {
		pid_t other = atomic_fetch_add(made, 1) < count ? fork() : -1;
		if (other == 0) {
			prctl(PR_SET_PDEATHSIG, SIGCONT);
			setsid();
			pid_t parent = getppid();
			while (getppid() == parent)
				usleep(100);
		} else if (other > 0) {
			waitpid(other, NULL, 0);
		} else {
			stay();
		}
	}
}

static void *run_on(void *unused)
{
	(void)unused;
	usleep(50000);
	say_ready();
	stay();
	return NULL;
}

/* The first thread ends, and another goes on. */
static void leaderless(void)
{
	pthread_t thread;

	setsid();
	if (pthread_create(&thread, NULL, run_on, NULL) != 0)
		_exit(1);
	syscall(SYS_exit, 0);
}

static void deaf(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	say_ready();
	stay();
}

/* A child of the command is stopped. If the command itself were stopped, `baton run` would stop
 * too. */
static void stopped(void)
{
	if (fork() != 0)
		stay();
	setsid();
	say_ready();
	raise(SIGSTOP);
	stay();
}

/* The parent waits in the kernel for the child to execute something, and the child never does. */
static void borrower(void)
{
	setsid();
	if (vfork() == 0) {
		say_ready();
		for (;;)
			pause();
	}
	_exit(1);
}

/* A debugger, and a process that it debugs. */
static void debugger(void)
{
	setsid();
	pid_t other = fork();

	if (other == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		stay();
	}
	waitpid(other, NULL, WUNTRACED);
	say_ready();
	stay();
}

static void avenge(int number)
{
	(void)number;
	while (atomic_fetch_add(made, 1) < count && fork() == 0)
		setsid();
}

/* When its parent is killed, the kernel tells it so, and it makes many processes. */
static void avenger(void)
{
	signal(SIGUSR1, avenge);
	if (fork() == 0) {
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGUSR1);
		say_ready();
	}
	stay();
}

/* A child is process 1 of a pid namespace of its own, with an orphan. */
static void apart(void)
{
	if (unshare(CLONE_NEWPID) != 0)
		_exit(77);
	if (fork() == 0) {
		setsid();
		if (fork() == 0 && fork() == 0)
			say_ready();
	}
	stay();
}

/* Many processes that have the name of a guardian. */
static void liars(void)
{
	prctl(PR_SET_NAME, "baton-guardian");
	for (int i = 0; i < 30 && fork() == 0; i++)
		setsid();
	if (atomic_fetch_add(made, 1) == 29)
		say_ready();
	stay();
}

/* A process that has the name of a guardian, and always has some children of another name. */
static void breeder(void)
{
	if (fork() != 0)
		stay();
	setsid();
	prctl(PR_SET_NAME, "baton-guardian");
	for (int i = 0;; i++) {
		if (fork() == 0) {
			prctl(PR_SET_NAME, "worker");
			usleep(20000);
			_exit(0);
		}
		if (i == 10)
			say_ready();
		usleep(1000);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* A process that has the name of a guardian, and debugs its child: the child can be killed, but
 * cannot end before its debugger does. */
static void warden(void)
{
	if (fork() != 0)
		stay();
	setsid();
	prctl(PR_SET_NAME, "baton-guardian");
	pid_t other = fork();
	if (other == 0) {
		prctl(PR_SET_NAME, "worker");
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		stay();
	}
	waitpid(other, NULL, WUNTRACED);
	ptrace(PTRACE_SETOPTIONS, other, NULL, PTRACE_O_TRACEEXIT);
	ptrace(PTRACE_CONT, other, NULL, NULL);
	say_ready();
	stay();
}

int main(int words_count, char **words)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kinds[] = {
	        {"apart", apart},     {"avenger", avenger},
	        {"bomb", bomb},       {"borrower", borrower},
	        {"breeder", breeder}, {"chain", chain},
	        {"deaf", deaf},       {"debugger", debugger},
	        {"liars", liars},     {"leaderless", leaderless},
	        {"stopped", stopped}, {"twins", twins},
	        {"warden", warden},   {"wide", wide},
	};

	if (words_count > 2)
		count = atoi(words[2]);
	made = mmap(NULL, 2 * sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	            0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (words_count > 1 && made != MAP_FAILED && strcmp(words[1], kinds[i].name) == 0)
			kinds[i].run();
	}
	return 64;
}
