/*
 * baton for tests that run it thousands of times: a server that has all of baton's objects, and
 * calls baton's own main in a new child for each request. A fork takes a tenth of the processor time
 * of a new program, which loads ten libraries first, and a sanitizer.
 *
 *     forks SOCKET      the number of a descriptor: a socket that keeps messages apart
 *
 * A request is one message with three descriptors: standard input, output and error of the child. It
 * has texts that each end with NUL: the folder in which the child runs, the words of its command, an
 * empty text, and its environment. The answer is the child's wait status. The server ends when the
 * other side of its socket is closed.
 *
 * A child differs from a started program in two ways: /proc/self/exe is this file's program and not
 * baton, and all children have the same memory addresses.
 *
 * It is linked with --wrap=main: this file's main is called, and calls baton's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int __wrap_main(int argc, char **argv);
int __real_main(int argc, char **argv);

enum { REQUEST_MAX = 100000, TEXTS_MAX = 4096, STREAMS = 3 };

static void fail(const char *what)
{
	perror(what);
	_exit(125);
}

/* Reads a request. Returns its size; 0: the other side has closed the socket. */
static size_t read_request(int socket, char *text, int streams[STREAMS])
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(STREAMS * sizeof(int))];
	struct iovec part = {.iov_base = text, .iov_len = REQUEST_MAX};
	struct msghdr message = {.msg_iov = &part,
	                         .msg_iovlen = 1,
	                         .msg_control = control,
	                         .msg_controllen = sizeof(control)};
	ssize_t size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);

	if (size < 0)
		fail("recvmsg");
	if (size == 0)
		return 0;
	const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (head == NULL || head->cmsg_len != CMSG_LEN(STREAMS * sizeof(int)) ||
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || text[size - 1] != '\0') {
		errno = EBADMSG;
		fail("forks");
	}
	memcpy(streams, CMSG_DATA(head), STREAMS * sizeof(int));
	return (size_t)size;
}

/* Runs baton in this process, as the request says. Does not return. */
static void run(char *text, size_t size, const int streams[STREAMS])
{
	static char *words[TEXTS_MAX + 1], *variables[TEXTS_MAX + 1];
	int count = 0, variables_count = 0;
	const char *folder = text, *end = text + size;
	char *at = text + strlen(text) + 1;

	for (; at < end && *at != '\0' && count < TEXTS_MAX; at += strlen(at) + 1)
		words[count++] = at;
	errno = E2BIG;
	if (at >= end || *at != '\0')
		fail("words");
	for (at++; at < end && variables_count < TEXTS_MAX; at += strlen(at) + 1)
		variables[variables_count++] = at;
	if (at < end)
		fail("variables");
	environ = variables;
	for (int i = 0; i < STREAMS; i++) {
		if (dup2(streams[i], i) < 0)
			fail("dup2");
	}
	if (chdir(folder) != 0)
		fail(folder);
	program_invocation_name = program_invocation_short_name = words[0];
	exit(__real_main(count, words));
}

int __wrap_main(int argc, char **argv)
{
	static char text[REQUEST_MAX];
	int socket = argc == 2 ? atoi(argv[1]) : -1, streams[STREAMS], status;
	size_t size;

	while ((size = read_request(socket, text, streams)) > 0) {
		pid_t child = fork();
		if (child == 0) {
			close(socket);
			run(text, size, streams);
		}
		for (int i = 0; i < STREAMS; i++)
			close(streams[i]);
		if (child < 0 || waitpid(child, &status, 0) != child ||
		    send(socket, &status, sizeof(status), MSG_NOSIGNAL) != sizeof(status))
			fail("forks");
	}
	return 0;
}
