/*
 * Functions that the commands of the lock service share.
 */
#include "service.h"

#include "cli.h"
#include "memory.h"
#include "must.h"
#include "setup.h"

#include <baton/baton.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fill_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			must(open("/dev/null", O_RDWR | O_CLOEXEC) == fd);
	}
}

int parse_address(const char *text, const char *what, struct daemon_address *ret_address,
                  struct problem *problem)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;

	if (colon == NULL || colon == text || strlen(text) > 255)
		return problem_set(problem,
		                   "%s '%.60s': HOST:PORT is needed, such as 127.0.0.1:7440", what,
		                   text);
	if (parse_number(colon + 1, 1, 65535, what, &port, problem) != 0)
		return problem_set(problem, "%s '%.60s': the port is a number from 1 to 65535",
		                   what, text);
	size_t size = (size_t)(colon - text);
	if (text[0] == '[' && text[size - 1] == ']') {
		text++;
		size -= 2;
	} else if (memchr(text, ':', size) != NULL) {
		return problem_set(problem,
		                   "%s '%.60s': an IPv6 address goes in brackets: [::1]:7440", what,
		                   text);
	}
	char *host = strndup(text, size);
	memory_must(host != NULL);
	ret_address->host = host;
	ret_address->port = (uint16_t)port;
	return 0;
}

/* The command that waits for an answer, and what else to say if there is none. */
static const char *expecting, *unanswered;
static struct sigaction before_expecting;

static void give_up(int signal)
{
	char text[256];
	int size = snprintf(text, sizeof(text), "baton %s: the node does not answer%s\n", expecting,
	                    unanswered);
	ssize_t written = write(STDERR_FILENO, text, (size_t)size);

	(void)signal;
	(void)written;
	_exit(EXIT_UNAVAILABLE);
}

void service_expect(const char *command, unsigned seconds, const char *else_say)
{
	const struct sigaction action = {.sa_handler = give_up};

	expecting = command;
	unanswered = else_say;
	sigaction(SIGALRM, &action, &before_expecting);
	alarm(seconds);
}

void service_answered(void)
{
	alarm(0);
	sigaction(SIGALRM, &before_expecting, NULL);
}

int service_reach(const char *command, struct baton *baton, uint64_t *ret_lease_ms)
{
	char name[BATON_NAME_MAX + 1];

	service_expect(command, SERVICE_ANSWER_S, "");
	int error = baton_node(baton, name, ret_lease_ms);
	service_answered();
	return error == 0 ? 0 : service_problem(command, baton, error);
}

int service_problem(const char *command, const struct baton *baton, int error)
{
	fprintf(stderr, "baton %s: %s\n", command, baton_message(baton));
	if (error == BATON_EACCESS)
		return EXIT_NOT_PERMITTED;
	if (error == BATON_ENAME || error == BATON_EFENCE || error == BATON_EVALUE ||
	    error == BATON_EADDRESS || error == BATON_ECERTIFICATE)
		return EXIT_USAGE;
	return EXIT_UNAVAILABLE;
}

json_t *service_json(const char *command, const struct baton *baton, int error, char *text,
                     int *ret_code)
{
	if (error != 0) {
		*ret_code = service_problem(command, baton, error);
		return NULL;
	}
	json_t *answer = json_loads(text, 0, NULL);
	free(text);
	if (answer == NULL) {
		*ret_code = EXIT_UNAVAILABLE;
		fprintf(stderr, "baton %s: the node's answer is not JSON\n", command);
	}
	return answer;
}
