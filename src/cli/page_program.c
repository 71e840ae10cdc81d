#include "page_program.h"

#include "memory.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The longest scenario that is passed to baton-web as a part of an address. The limit of Linux for
 * one argument is 128 kB, and base64 takes four bytes for three. */
enum { SHOWN_SIZE_MAX = 90000 };

/* Finds baton-web in the folder of this program's own file. */
static int find_program(char *ret_path, size_t size, struct problem *problem)
{
	static const char name[] = "baton-web";
	ssize_t length = readlink("/proc/self/exe", ret_path, size - sizeof(name));

	if (length > 0) {
		ret_path[length] = '\0';
		char *slash = strrchr(ret_path, '/');
		memcpy(slash + 1, name, sizeof(name));
		if (access(ret_path, X_OK) == 0)
			return 0;
	}
	return problem_set(problem, "this baton was built without the page (make PAGE=no)");
}

int page_program_check(struct problem *problem)
{
	char path[4096];

	return find_program(path, sizeof(path), problem);
}

int page_program_execute(char *const *argv, struct problem *problem)
{
	char path[4096];

	if (find_program(path, sizeof(path), problem) != 0)
		return -1;
	execv(path, argv);
	return problem_set(problem, "%.200s: %s", path, strerror(errno));
}

/* Writes base64 with the letters that need no quoting in an address, and without padding. */
static char *write_base64(const char *text, size_t size, char *ret_end)
{
	static const char letters[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (size_t i = 0; i < size; i += 3) {
		uint32_t bits = 0;
		size_t count = size - i < 3 ? size - i : 3;
		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < count ? (unsigned char)text[i + k] : 0U);
		for (size_t k = 0; k <= count; k++)
			*ret_end++ = letters[bits >> (18 - 6 * k) & 63];
	}
	*ret_end = '\0';
	return ret_end;
}

/* Waits for the server to end. Ctrl-C is meant for the server, so this process ignores it. */
static void wait_for(pid_t child)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	int status;

	sigaction(SIGINT, &ignore, &before);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &before, NULL);
}

int page_program_show(const char *scenario, size_t size, struct problem *problem)
{
	static const char head[] = "#lab/scenario?text=";
	char listen[] = "--listen", where[] = "127.0.0.1:0", show[] = "--open",
	     name[] = "baton web";

	if (size > SHOWN_SIZE_MAX)
		return problem_set(problem,
		                   "--open: the scenario is too long for an address; --html has "
		                   "room for it");
	if (page_program_check(problem) != 0)
		return -1;
	char *place = malloc(sizeof(head) + size / 3 * 4 + 8);
	memory_must(place != NULL);
	memcpy(place, head, sizeof(head));
	write_base64(scenario, size, place + sizeof(head) - 1);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		char *arguments[] = {name, listen, where, show, place, NULL};
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		struct sigaction usual = {.sa_handler = SIG_DFL};
		sigaction(SIGINT, &usual, NULL);
		page_program_execute(arguments, problem);
		_exit(2);
	}
	free(place);
	if (child < 0)
		return problem_set(problem, "--open: %s", strerror(errno));
	wait_for(child);
	return 0;
}
