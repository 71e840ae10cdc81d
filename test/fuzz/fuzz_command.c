/*
 * Feeds bytes as what three clients send to a daemon that runs in a thread of this process. The
 * input is cut into pieces: a byte that says for which client and of how many bytes, then the
 * bytes. After each piece the daemon is asked PING by a fourth client, so that the pieces are
 * served in their order. The daemon must not crash, and must answer that PING whatever the others
 * send. Orders about the cluster are refused by a rule: DRAIN would end the daemon.
 */
#include "daemon.h"
#include "must.h"
#include "registry.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CLIENTS = 3, PIECE_MAX = 63 };

static char folder[] = "/tmp/fuzz-command.XXXXXX";
static char path[64];

static int resolve(void *context, const char *settings, struct daemon_settings *ret_settings,
                   struct problem *problem)
{
	(void)context;
	(void)settings;
	(void)problem;
	*ret_settings =
	        (struct daemon_settings){.algorithm = algorithm_find("neilsen"), .lease_ms = 10000};
	return 0;
}

static void *run(void *context)
{
	static struct daemon_options options = {
	        .name = "n1",
	        .settings = "",
	        .resolve = resolve,
	        .socket = path,
	        .client_timeout_ms = 60000,
	        .turns = 1,
	        .sessions_max = 1000,
	        .locks_max = 100,
	        .user_sessions_max = 1000,
	        .level = LEVEL_ERROR,
	};
	struct problem problem;
	char rule[64];

	(void)context;
	options.rules = rules_create();
	snprintf(rule, sizeof(rule), "* lock,elect,observe,status,break uid:%u", getuid());
	must(rules_add(options.rules, rule, NULL, &problem) == 0);
	daemon_run(&options);
	abort(); /* the daemon must never end by itself */
}

/* Returns a connection, or -1 if there is no listener yet. */
static int dial(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Waits until the daemon has served what was sent before. */
static void wait_for_turn(int control)
{
	char reply[7];
	size_t got = 0;

	must(send(control, "PING\r\n", 6, MSG_NOSIGNAL) == 6);
	while (got < sizeof(reply)) {
		ssize_t size = recv(control, reply + got, sizeof(reply) - got, 0);
		/* The fuzzer's own alarm interrupts the call. */
		must(size > 0 || (size < 0 && errno == EINTR));
		got += size > 0 ? (size_t)size : 0;
	}
	must(memcmp(reply, "+PONG\r\n", sizeof(reply)) == 0);
}

static void remove_folder(void)
{
	char lease[80];

	snprintf(lease, sizeof(lease), "%s.lease", path);
	unlink(lease);
	unlink(path);
	rmdir(folder);
}

static int begin(void)
{
	pthread_t thread;
	int control;

	must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/sock", folder);
	atexit(remove_folder);
	must(pthread_create(&thread, NULL, run, NULL) == 0);
	while ((control = dial()) < 0)
		usleep(1000);
	wait_for_turn(control);
	return control;
}

static void drain(int fd)
{
	char room[4096];

	while (recv(fd, room, sizeof(room), MSG_DONTWAIT) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int control = -1;
	int clients[CLIENTS];

	if (control < 0)
		control = begin();
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = -1;
	while (size > 1) {
		int *fd = &clients[*data / (PIECE_MAX + 1) % CLIENTS];
		size_t length = *data % (PIECE_MAX + 1);
		if (length > size - 1)
			length = size - 1;
		if (*fd < 0)
			*fd = dial();
		must(*fd >= 0);
		(void)send(*fd, data + 1, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		wait_for_turn(control);
		drain(*fd);
		data += 1 + length;
		size -= 1 + length;
	}
	for (int i = 0; i < CLIENTS; i++)
		close(clients[i]);
	wait_for_turn(control);
	return 0;
}
