/*
 * Feeds bytes as what a node replies to a program with libbaton. A thread is the node: it accepts
 * connections and sends each its part of the input, which bytes 0xff divide, and the end of the
 * stream. The first byte of the input says which calls the program makes. They must not crash, hang
 * or leak, and a result is one that the header promises.
 */
#include "must.h"

#include <baton/baton.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONNECTIONS_MAX = 64 };

static char folder[] = "/tmp/fuzz-reply.XXXXXX", path[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* The part of the input that is left for later connections, and the connections that have got
 * theirs. */
static const uint8_t *rest;
static size_t rest_size;
static int accepted[CONNECTIONS_MAX], accepted_count;

static void *serve(void *context)
{
	int listener = *(const int *)context;

	for (;;) {
		int fd = accept(listener, NULL, NULL);
		must(fd >= 0);
		pthread_mutex_lock(&mutex);
		const uint8_t *end = rest_size > 0 ? memchr(rest, 0xff, rest_size) : NULL;
		size_t part = end != NULL ? (size_t)(end - rest) : rest_size;
		if (part > 0)
			must(send(fd, rest, part, MSG_NOSIGNAL) == (ssize_t)part ||
			     rest_size > 65536);
		shutdown(fd, SHUT_WR);
		rest_size -= end != NULL ? part + 1 : part;
		rest += end != NULL ? part + 1 : part;
		if (accepted_count < CONNECTIONS_MAX)
			accepted[accepted_count++] = fd;
		else
			close(fd);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void remove_folder(void)
{
	unlink(path);
	rmdir(folder);
}

static void begin(void)
{
	static int listener;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	pthread_t thread;

	must(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/sock", folder);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(bind(listener, (const struct sockaddr *)&address, sizeof(address)) == 0);
	must(listen(listener, 16) == 0);
	atexit(remove_folder);
	must(pthread_create(&thread, NULL, serve, &listener) == 0);
}

static void check_fence(int result, uint64_t fence)
{
	must(result <= 0);
	must(result != 0 || (fence >= 1 && fence < UINT64_C(1) << 53));
}

static void hold(struct baton *baton, bool watched)
{
	char name[BATON_NAME_MAX + 1];
	uint64_t fence = 0;

	if (watched)
		(void)baton_watch(baton);
	check_fence(baton_trylock(baton, "a", &fence), fence);
	check_fence(baton_lock(baton, "b", 1, &fence), fence);
	(void)baton_lost(baton, name, &fence);
	(void)baton_left(baton);
	(void)baton_stay(baton);
	(void)baton_unlock(baton, "a");
	(void)baton_sync_within(baton, 10);
}

static void check_leader(int result, const struct baton_leader *leader)
{
	must(result <= BATON_NOBODY);
	if (result > 0)
		must(leader->value_size <= BATON_VALUE_MAX &&
		     strlen(leader->node) <= BATON_NAME_MAX);
}

static void lead(struct baton *baton)
{
	struct baton_leader leader = {0};
	uint64_t fence = 0;

	check_leader(baton_leader(baton, "a", &leader), &leader);
	check_fence(baton_elect_within(baton, "a", "x", 1, 1, &fence), fence);
	(void)baton_resign(baton, "a");
}

static void observe(struct baton *baton)
{
	if (baton_observe(baton, "a") != 0)
		return;
	for (int i = 0; i < 8; i++) {
		struct baton_leader leader = {0};
		int result = baton_observe_next(baton, 0, &leader);
		check_leader(result, &leader);
		if (result < 0)
			return;
	}
}

static void ask(struct baton *baton)
{
	char *text = NULL, node[BATON_NAME_MAX + 1];
	uint64_t lease_ms, holds;

	(void)baton_node(baton, node, &lease_ms);
	(void)baton_ready(baton);
	if (baton_status(baton, "*", 10, &text) == 0)
		free(text);
	if (baton_whoami(baton, &text) == 0)
		free(text);
	if (baton_can(baton, "a", &text) == 0)
		free(text);
	(void)baton_break(baton, "a", 7);
	if (baton_members(baton, &text) == 0)
		free(text);
	(void)baton_member(baton, "PROMOTE", "n2");
	if (baton_invite(baton, 1000, &text) == 0)
		free(text);
	(void)baton_drain(baton, 10, &holds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (path[0] == '\0')
		begin();
	if (size == 0)
		return 0;
	pthread_mutex_lock(&mutex);
	rest = data + 1;
	rest_size = size - 1;
	pthread_mutex_unlock(&mutex);
	struct baton *baton = baton_open(path);
	must(baton != NULL);
	switch (data[0] % 5) {
	case 0:
		hold(baton, false);
		break;
	case 1:
		hold(baton, true);
		break;
	case 2:
		lead(baton);
		break;
	case 3:
		observe(baton);
		break;
	default:
		ask(baton);
	}
	baton_close(baton);
	pthread_mutex_lock(&mutex);
	while (accepted_count > 0)
		close(accepted[--accepted_count]);
	pthread_mutex_unlock(&mutex);
	return 0;
}
