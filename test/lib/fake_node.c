#include "fake_node.h"

#include "clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

const char CLOSE[] = "close";
const char PAUSE[] = "pause";
const char PASS_WORD[] = "pass the word";
const char PASS_WORD_BEHIND[] = "pass the word, by another clock";

enum { CONNECTIONS_MAX = 8 };

struct fake_node {
	const struct step *steps;
	size_t steps_count;
	int listener;
	int connections[CONNECTIONS_MAX];
	int connections_count;
	char folder[64], address[108];
	bool tcp;
	bool passes_word; /* the script has passed the lease word */
	pthread_t thread;
	sem_t go;
	char wrong[8192]; /* the first thing that was wrong; "": nothing so far */
};

__attribute__((format(printf, 2, 3))) static bool go_wrong(struct fake_node *node,
                                                           const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(node->wrong, sizeof(node->wrong), format, arguments);
	va_end(arguments);
	return false;
}

/* Reads one line, without its end. */
static bool read_line(int fd, char *line, size_t room)
{
	size_t used = 0;

	while (used < room && recv(fd, line + used, 1, 0) == 1) {
		if (line[used] == '\n' && used > 0) {
			line[used - 1] = '\0';
			return true;
		}
		used++;
	}
	return false;
}

static bool read_command(int fd, char *text, size_t room)
{
	char line[64];
	size_t used = 0;

	if (!read_line(fd, line, sizeof(line)) || line[0] != '*')
		return false;
	for (int words = atoi(line + 1); words > 0; words--) {
		if (!read_line(fd, line, sizeof(line)) || line[0] != '$')
			return false;
		size_t size = (size_t)atoi(line + 1);
		if (used + size + 3 > room ||
		    recv(fd, text + used, size + 2, MSG_WAITALL) != (ssize_t)size + 2)
			return false;
		used += size;
		text[used++] = ' ';
	}
	text[used - 1] = '\0';
	return true;
}

static bool accept_next(struct fake_node *node)
{
	/* A client that does not connect or does not send fails the test instead of hanging it. */
	const struct timeval patience = {.tv_sec = 60};
	int fd;

	do /* repeat: seteuid interrupts all threads */
		fd = accept(node->listener, NULL, NULL);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return go_wrong(node, "accept: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	node->connections[node->connections_count++] = fd;
	return true;
}

/* --- the lease word --- */

static int word_fd = -1;
static _Atomic uint64_t *word;

void fake_word_set(int64_t left_ms, uint64_t lapses)
{
	if (word == NULL) {
		word_fd = memfd_create("fake", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		assert_true(word_fd >= 0 && ftruncate(word_fd, 4096) == 0);
		word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, word_fd, 0);
		assert_ptr_not_equal(word, MAP_FAILED);
		assert_int_equal(fcntl(word_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE),
		                 0);
	}
	*word = (uint64_t)((int64_t)(clock_lease_ns() / 1000000) + left_ms) << 16 | lapses;
}

static bool pass_word(int fd, uint64_t behind_ns)
{
	union {
		struct cmsghdr header; /* gives the union its alignment */
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	char text[64];
	struct iovec bytes = {text, 0};
	struct msghdr message = {.msg_iov = &bytes,
	                         .msg_iovlen = 1,
	                         .msg_control = control.bytes,
	                         .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	bytes.iov_len =
	        (size_t)snprintf(text, sizeof(text), "*2\r\n:%llu\r\n:%d\r\n",
	                         (unsigned long long)(clock_lease_ns() - behind_ns), FAKE_LEASE_MS);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(rights), &word_fd, sizeof(int));
	return sendmsg(fd, &message, MSG_NOSIGNAL) > 0;
}

/* Answers the first commands of every client, or of every watching client, so that scripts need not
 * contain them. If a script does contain them, the script gives the answers. Otherwise the node has
 * no leases. A client that had to wait for the word asks for it again. */
static bool greets(const struct fake_node *node, int fd, const char *command, const char *expect)
{
	static const char unknown[] = "-ERR CLIENT knows no leases\r\n";

	if (strcmp(command, expect) == 0)
		return false;
	if (strncmp(command, "CLIENT REASONS ", 15) == 0)
		return send(fd, "+OK\r\n", 5, MSG_NOSIGNAL) == 5;
	if (strcmp(command, "CLIENT LEASES WORD") == 0 && node->passes_word)
		return pass_word(fd, 0);
	return strncmp(command, "CLIENT LEASES ", 14) == 0 &&
	       send(fd, unknown, sizeof(unknown) - 1, MSG_NOSIGNAL) > 0;
}

static bool follow(struct fake_node *node, const struct step *step)
{
	char command[8192];

	while (node->connections_count <= step->connection) {
		if (!accept_next(node))
			return false;
	}
	int *fd = &node->connections[step->connection];
	if (step->expect != NULL) {
		do {
			if (!read_command(*fd, command, sizeof(command)))
				return go_wrong(node, "expected '%.200s', and no command came",
				                step->expect);
		} while (greets(node, *fd, command, step->expect));
		if (strcmp(command, step->expect) != 0)
			return go_wrong(node, "expected '%.200s', found '%.200s'", step->expect,
			                command);
	}
	if (step->say == CLOSE) {
		close(*fd);
		*fd = -1;
	} else if (step->say == PASS_WORD || step->say == PASS_WORD_BEHIND) {
		const uint64_t half_minute_ns = UINT64_C(30) * 1000000000;
		node->passes_word = step->say == PASS_WORD;
		return pass_word(*fd, node->passes_word ? 0 : half_minute_ns) ||
		       go_wrong(node, "the word cannot be passed: %s", strerror(errno));
	} else if (step->say == PAUSE) {
		while (sem_wait(&node->go) != 0)
			;
	} else if (step->say != NULL && send(*fd, step->say, strlen(step->say), MSG_NOSIGNAL) < 0) {
		return go_wrong(node, "cannot send '%.100s': %s", step->say, strerror(errno));
	}
	return true;
}

static void *run(void *argument)
{
	struct fake_node *node = argument;

	for (size_t i = 0; i < node->steps_count; i++) {
		if (!follow(node, &node->steps[i])) {
			/* A client that waits for an answer must not wait for ever: close its
			 * connection. */
			for (int c = 0; c < node->connections_count; c++) {
				if (node->connections[c] >= 0)
					shutdown(node->connections[c], SHUT_RDWR);
			}
			shutdown(node->listener, SHUT_RDWR);
			break;
		}
	}
	return NULL;
}

static void listen_tcp(struct fake_node *node)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);

	node->listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(node->listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(node->listener, (struct sockaddr *)&address, &size), 0);
	snprintf(node->address, sizeof(node->address), "127.0.0.1:%d", ntohs(address.sin_port));
}

static void listen_unix(struct fake_node *node)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(node->folder, sizeof(node->folder), "/tmp/baton-fake-XXXXXX");
	assert_non_null(mkdtemp(node->folder));
	snprintf(node->address, sizeof(node->address), "%s/socket", node->folder);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", node->address);
	node->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(node->listener, (struct sockaddr *)&address, sizeof(address)), 0);
}

struct fake_node *fake_node_start(const struct step *steps, size_t steps_count, bool tcp)
{
	const struct timeval patience = {.tv_sec = 60};
	struct fake_node *node = calloc(1, sizeof(*node));

	assert_non_null(node);
	node->steps = steps;
	node->steps_count = steps_count;
	node->tcp = tcp;
	if (tcp)
		listen_tcp(node);
	else
		listen_unix(node);
	setsockopt(node->listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	assert_int_equal(listen(node->listener, 8), 0);
	assert_int_equal(sem_init(&node->go, 0, 0), 0);
	assert_int_equal(pthread_create(&node->thread, NULL, run, node), 0);
	return node;
}

const char *fake_node_address(const struct fake_node *node)
{
	return node->address;
}

void fake_node_go(struct fake_node *node)
{
	sem_post(&node->go);
}

void fake_node_stop(struct fake_node *node)
{
	char wrong[sizeof(node->wrong)];

	pthread_join(node->thread, NULL);
	for (int i = 0; i < node->connections_count; i++) {
		if (node->connections[i] >= 0)
			close(node->connections[i]);
	}
	close(node->listener);
	if (!node->tcp) {
		unlink(node->address);
		rmdir(node->folder);
	}
	sem_destroy(&node->go);
	memcpy(wrong, node->wrong, sizeof(wrong));
	free(node);
	assert_string_equal(wrong, "");
}
