/* Descriptors that come over a Unix socket, whose last close takes long. */
#include "clock.h"
#include "loop.h"
#include "strays.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	LINGER_S = 60,
	/* A close that does not linger takes less than this, however slow the machine is. */
	SOON_S = 20,
};

struct world {
	struct loop loop;
	struct strays *strays;
	int owner;
	int closed_count, owners_count;
	uint64_t began_ns;
	/* A TCP connection: closing `lingers` takes LINGER_S, or until `peer` is closed. */
	int lingers, peer;
};

static void on_closed(void *context, void *owner)
{
	struct world *world = context;

	world->closed_count++;
	world->owners_count += owner == &world->owner;
}

/* Makes a TCP socket with bytes that its peer does not read, which waits for them when it is
 * closed. */
static void make_lingering(struct world *world)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	const struct linger linger = {.l_onoff = 1, .l_linger = LINGER_S};
	static const char bytes[1 << 16];
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	world->lingers = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(world->lingers, (struct sockaddr *)&address, sizeof(address)), 0);
	world->peer = accept(listener, NULL, NULL);
	assert_true(world->peer >= 0);
	close(listener);
	assert_int_equal(setsockopt(world->lingers, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)),
	                 0);
	while (send(world->lingers, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
}

static void begin(struct world *world)
{
	*world = (struct world){0};
	loop_open(&world->loop);
	/* `false`: as on a kernel whose sockets cannot refuse descriptors. */
	world->strays = strays_open(&world->loop, false, on_closed, world);
	make_lingering(world);
	world->began_ns = clock_monotonic_ns();
}

static void assert_soon(const struct world *world)
{
	assert_true(clock_monotonic_ns() - world->began_ns < SOON_S * UINT64_C(1000000000));
}

/* Lets the thread go on, and waits until it has closed this many jobs. */
static void end(struct world *world, int jobs_count)
{
	assert_soon(world);
	close(world->peer);
	while (world->closed_count < jobs_count)
		loop_turn(&world->loop, false, LOOP_NEVER);
	assert_int_equal(world->closed_count, jobs_count);
	strays_end(world->strays);
	loop_close(&world->loop);
}

/* A connection: we read from `ours`. */
static void connect_pair(struct world *world, int *ret_ours, int *ret_theirs)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
	                 0);
	strays_expect(world->strays, pair[0]);
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
}

static void send_with(int to, const char *text, int fd, int count, int flags)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * STRAYS_MESSAGE_MAX)];
	} control = {.bytes = {0}};
	struct iovec bytes = {(char *)text, strlen(text)};
	struct msghdr message = {.msg_iov = &bytes,
	                         .msg_iovlen = 1,
	                         .msg_control = control.bytes,
	                         .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
	for (int i = 0; i < count; i++)
		memcpy(CMSG_DATA(rights) + sizeof(int) * (size_t)i, &fd, sizeof(int));
	assert_int_equal(sendmsg(to, &message, flags), strlen(text));
}

/* Sends the socket that lingers, so that only the message has it. */
static void send_lingering(struct world *world, int to, const char *text, int flags)
{
	send_with(to, text, world->lingers, 1, flags);
	close(world->lingers);
}

/* Blocks the thread until `end`. */
static void block_thread(struct world *world)
{
	char room[64];
	bool came = false;
	int ours, theirs;

	connect_pair(world, &ours, &theirs);
	send_lingering(world, theirs, "PING", 0);
	assert_int_equal(strays_receive(world->strays, ours, room, sizeof(room), &came), 4);
	assert_true(came);
	close(theirs);
	assert_true(strays_close(world->strays, ours));
}

static int open_count(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static void test_bytes_without_descriptors_are_read_as_usual(void **state)
{
	struct world world;
	char room[64];
	bool came = false;
	int ours, theirs;

	(void)state;
	begin(&world);
	connect_pair(&world, &ours, &theirs);
	assert_int_equal(strays_receive(world.strays, ours, room, sizeof(room), &came), -1);
	assert_int_equal(send(theirs, "PING", 4, 0), 4);
	assert_int_equal(strays_receive(world.strays, ours, room, sizeof(room), &came), 4);
	close(theirs);
	assert_int_equal(strays_receive(world.strays, ours, room, sizeof(room), &came), 0);
	assert_false(came);
	assert_true(strays_close(world.strays, ours));
	close(world.peer);
	close(world.lingers);
	end(&world, 0);
}

static void test_descriptors_that_were_read_are_closed_by_the_thread(void **state)
{
	struct world world;

	(void)state;
	begin(&world);
	block_thread(&world);
	end(&world, 1);
}

static void test_so_are_those_of_urgent_bytes(void **state)
{
	struct world world;
	char room[64];
	bool came = false;
	int ours, theirs;

	(void)state;
	begin(&world);
	connect_pair(&world, &ours, &theirs);
	send_lingering(&world, theirs, "!", MSG_OOB);
	assert_int_equal(strays_receive(world.strays, ours, room, sizeof(room), &came), 1);
	assert_true(came);
	assert_true(strays_close(world.strays, ours));
	close(theirs);
	end(&world, 1);
}

static void test_so_are_as_many_as_a_message_can_have(void **state)
{
	struct world world;
	char room[64];
	bool came = false;
	int before = open_count(), ours, theirs;

	(void)state;
	begin(&world);
	close(world.peer);
	connect_pair(&world, &ours, &theirs);
	send_with(theirs, "PING", world.lingers, STRAYS_MESSAGE_MAX, 0);
	close(world.lingers);
	assert_int_equal(strays_receive(world.strays, ours, room, sizeof(room), &came), 4);
	assert_true(came);
	assert_true(strays_close(world.strays, ours));
	close(theirs);
	while (world.closed_count < 1)
		loop_turn(&world.loop, false, LOOP_NEVER);
	strays_end(world.strays);
	loop_close(&world.loop);
	assert_int_equal(open_count(), before);
}

static void test_what_was_not_read_is_closed_by_the_thread(void **state)
{
	static const int urgent[] = {0, MSG_OOB};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct world world;
		char byte;
		int ours, theirs;

		begin(&world);
		connect_pair(&world, &ours, &theirs);
		send_lingering(&world, theirs, "!", urgent[i]);
		assert_false(strays_close(world.strays, ours));
		strays_leave(world.strays, ours, &world.owner);
		/* The other side notices the end at once, and cannot send any more. */
		assert_true(recv(theirs, &byte, 1, 0) == 0 || errno == ECONNRESET);
		assert_int_equal(send(theirs, "!", 1, MSG_NOSIGNAL), -1);
		assert_soon(&world);
		end(&world, 1);
		assert_int_equal(world.owners_count, 1);
		close(theirs);
	}
}

static void test_while_the_thread_works_messages_with_descriptors_are_not_read(void **state)
{
	struct world world;
	char room[64];
	bool came = false;
	int ours, theirs;

	(void)state;
	begin(&world);
	block_thread(&world);
	connect_pair(&world, &ours, &theirs);
	assert_int_equal(send(theirs, "first", 5, 0), 5);
	assert_int_equal(strays_receive(world.strays, ours, room, sizeof(room), &came), 5);
	assert_false(came);
	assert_int_equal(send(theirs, "plain", 5, 0), 5);
	int before = open_count();
	send_with(theirs, "PING", STDIN_FILENO, STRAYS_MESSAGE_MAX, 0);
	strays_receive(world.strays, ours, room, sizeof(room), &came);
	assert_true(came);
	assert_int_equal(open_count(), before);
	assert_false(strays_close(world.strays, ours));
	strays_leave(world.strays, ours, &world.owner);
	close(theirs);
	end(&world, 2);
	assert_int_equal(world.owners_count, 1);
}

static void test_nor_if_there_are_few_descriptors(void **state)
{
	struct world world;
	char room[64];
	bool came = false;
	int ours, theirs;

	(void)state;
	begin(&world);
	assert_int_equal(strays_reserve(world.strays, 1 << 16), STRAYS_MESSAGE_MAX);
	assert_int_equal(strays_reserve(world.strays, 1024), 0);
	connect_pair(&world, &ours, &theirs);
	int before = open_count();
	send_with(theirs, "PING", STDIN_FILENO, STRAYS_MESSAGE_MAX, 0);
	strays_receive(world.strays, ours, room, sizeof(room), &came);
	assert_true(came);
	assert_int_equal(open_count(), before);
	assert_false(strays_close(world.strays, ours));
	strays_leave(world.strays, ours, &world.owner);
	close(theirs);
	close(world.peer);
	close(world.lingers);
	end(&world, 1);
}

static void test_sockets_without_an_owner_are_limited(void **state)
{
	struct world world;
	int ours, theirs;

	(void)state;
	begin(&world);
	block_thread(&world);
	for (int i = 0; i < STRAYS_ORPHANS_MAX; i++) {
		assert_false(strays_are_too_many(world.strays));
		connect_pair(&world, &ours, &theirs);
		assert_int_equal(send(theirs, "PING", 4, 0), 4);
		assert_false(strays_close(world.strays, ours));
		strays_leave(world.strays, ours, NULL);
		close(theirs);
	}
	assert_true(strays_are_too_many(world.strays));
	assert_soon(&world);
	close(world.peer);
	while (world.closed_count < 1 + STRAYS_ORPHANS_MAX)
		loop_turn(&world.loop, false, LOOP_NEVER);
	assert_false(strays_are_too_many(world.strays));
	strays_end(world.strays);
	loop_close(&world.loop);
}

static void test_if_they_are_refused_nobody_can_send_them(void **state)
{
	struct world world;
	struct sockaddr address = {.sa_family = AF_UNIX};
	struct iovec bytes = {(char *)"x", 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &bytes,
	                         .msg_iovlen = 1,
	                         .msg_control = control.bytes,
	                         .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	struct sockaddr_storage name;
	socklen_t size = sizeof(name);

	(void)state;
	if (!strays_are_refusable())
		skip();
	loop_open(&world.loop);
	world.strays = strays_open(&world.loop, true, on_closed, &world);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int theirs = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strays_refuse(world.strays, listener);
	/* The kernel chooses a name. */
	assert_int_equal(bind(listener, &address, sizeof(address.sa_family)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&name, &size), 0);
	assert_int_equal(connect(theirs, (struct sockaddr *)&name, size), 0);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	memset(CMSG_DATA(rights), 0, sizeof(int));
	assert_int_equal(sendmsg(theirs, &message, 0), -1); /* before the accept, too */
	int ours = accept(listener, NULL, NULL);
	assert_true(ours >= 0);
	assert_int_equal(sendmsg(theirs, &message, 0), -1);
	assert_true(strays_close(world.strays, ours));
	close(theirs);
	close(listener);
	strays_end(world.strays);
	loop_close(&world.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_bytes_without_descriptors_are_read_as_usual),
	        cmocka_unit_test(test_descriptors_that_were_read_are_closed_by_the_thread),
	        cmocka_unit_test(test_so_are_those_of_urgent_bytes),
	        cmocka_unit_test(test_so_are_as_many_as_a_message_can_have),
	        cmocka_unit_test(test_what_was_not_read_is_closed_by_the_thread),
	        cmocka_unit_test(
	                test_while_the_thread_works_messages_with_descriptors_are_not_read),
	        cmocka_unit_test(test_nor_if_there_are_few_descriptors),
	        cmocka_unit_test(test_sockets_without_an_owner_are_limited),
	        cmocka_unit_test(test_if_they_are_refused_nobody_can_send_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
