#include "child.h"

#include "memory.h"
#include "must.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the terminal --- */

void terminal_open(struct terminal *terminal)
{
	*terminal = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY),
	                              .group_home = getpgrp()};
}

bool terminal_is_wanted(const struct terminal *terminal)
{
	/* If stdout is a pipe, another process of our group often needs the terminal: 'baton run x
	 * cmd | less'. */
	return terminal->fd >= 0 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

bool terminal_lend(struct terminal *terminal, pid_t command)
{
	pid_t owner = terminal->fd < 0 ? -1 : tcgetpgrp(terminal->fd);

	if (owner == command ||
	    (owner == terminal->group_home && tcsetpgrp(terminal->fd, command) == 0)) {
		terminal->lent = true;
		return true;
	}
	return false;
}

bool terminal_take_back(struct terminal *terminal, pid_t command)
{
	if (!terminal->lent || tcgetpgrp(terminal->fd) != command)
		return false;
	tcsetpgrp(terminal->fd, terminal->group_home);
	return true;
}

/* --- the start of the command --- */

/* Sets BATON_SOCKET: to an absolute path if the address is a path, otherwise to the address
 * itself. */
static void set_socket(const char *address)
{
	char folder[PATH_MAX], *path;
	bool is_path = strchr(address, '/') != NULL || strchr(address, ':') == NULL;

	if (!is_path || address[0] == '/' || getcwd(folder, sizeof(folder)) == NULL) {
		must(setenv("BATON_SOCKET", address, 1) == 0);
		return;
	}
	memory_must(asprintf(&path, "%s/%s", folder, address) > 0);
	must(setenv("BATON_SOCKET", path, 1) == 0);
	free(path);
}

static void set_environment(const struct holding *holding)
{
	char fence[24];

	snprintf(fence, sizeof(fence), "%llu", (unsigned long long)holding->fence);
	must(setenv("BATON_LOCK", holding->words->name, 1) == 0);
	must(setenv("BATON_FENCE", fence, 1) == 0);
	must(setenv("BATON_NODE", holding->node, 1) == 0);
	set_socket(baton_address(holding->baton));
}

static void restore_signals(const struct holding *holding)
{
	/* SIGCHLD and SIGALRM may have been ignored when `baton run` started. It has changed this
	 * since, so restore it. */
	if (sigismember(&holding->ignored, SIGCHLD) == 1)
		signal(SIGCHLD, SIG_IGN);
	if (sigismember(&holding->ignored, SIGALRM) == 1)
		signal(SIGALRM, SIG_IGN);
	sigprocmask(SIG_SETMASK, &holding->mask, NULL);
}

static void become(const struct holding *holding, char **command)
{
	execvp(command[0], command);
	int error = errno;
	fprintf(stderr, "baton %s: '%.200s' cannot be executed: %s\n", holding->words->command,
	        command[0], strerror(error));
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

pid_t child_start(const struct holding *holding, struct terminal *terminal, char **command,
                  _Atomic pid_t *noted)
{
	pid_t guardian = getpid();
	bool lend = terminal_is_wanted(terminal);

	set_environment(holding);
	pid_t pid = fork();
	if (pid != 0) {
		if (pid > 0) {
			/* The parent calls setpgid too, so that the group exists whichever of the
			 * two runs first. */
			setpgid(pid, pid);
			*noted = pid;
			if (lend)
				terminal_lend(terminal, pid);
		}
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guardian)
		_exit(EXIT_NOT_EXECUTABLE);
	setpgid(0, 0);
	*noted = getpid();
	if (lend)
		terminal_lend(terminal, getpid());
	/* The guardian also sees that the lease is about to end, and reports it. */
	if (holding_ends_within(holding, holding->grace_ms + holding_margin_ms(holding)))
		_exit(EXIT_LOST);
	restore_signals(holding);
	become(holding, command);
	_exit(EXIT_NOT_EXECUTABLE);
}

int child_code(int status)
{
	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
