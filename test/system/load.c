/*
 * Many clients at work, which check that locks exclude each other: load ROUNDS SEED CLIENTS LOCKS
 * FOLDER SOCKET...
 *
 * Each client is a thread with a connection to one of the sockets, in turn. ROUNDS times it asks
 * for a lock drawn at random: patiently, with a timeout, only if free, with the release sent right
 * after the request, or going away while it waits. A client that is inside creates a file that must
 * not exist yet, checks that its fence is greater than the last one, and removes the file before it
 * releases the lock, by UNLOCK or by going away. A client that waits a minute for one lock starves.
 * The amount of work is fixed and not the time, so that a busy machine only takes longer.
 *
 * A node may answer SILENT to a request that only tries: on a busy machine another member may not
 * answer in time.
 *
 * Prints one JSON object and exits 0; or prints what was wrong and exits 1.
 */
#include <hiredis/hiredis.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 1000, LOCKS_MAX = 1000, PATIENCE_S = 60 };

struct worker {
	pthread_t thread;
	uint64_t random; /* the state of this worker's random numbers */
	const char *socket;
	redisContext *connection;
	uint64_t grants, refusals, unknown, wait_ns_max;
	/* The number of the lock that the worker waits for, plus 1; 0: it does not wait. */
	atomic_int waits_for;
	atomic_uint_fast64_t
	        since_ns; /* when the worker began to wait, or when it last did anything */
	atomic_bool done;
};

static struct worker workers[CLIENTS_MAX];
/* The last fence that a client inside has seen, for each lock. */
static atomic_uint_fast64_t fences[LOCKS_MAX];
static const char *folder;
static int locks_count;
static uint64_t rounds;
static atomic_bool failed;

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!atomic_exchange(&failed, true)) {
		vfprintf(stderr, format, arguments);
		fputc('\n', stderr);
	}
	va_end(arguments);
	_exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Draws a number from 0 to below. Splitmix64 is good enough here, and each thread has its own. */
static int draw(struct worker *worker, int below)
{
	uint64_t z = worker->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (int)((z ^ z >> 31) % (uint64_t)below);
}

static void pause_us(int us)
{
	struct timespec time = {.tv_nsec = 1000L * us};

	nanosleep(&time, NULL);
}

static void connect_again(struct worker *worker)
{
	if (worker->connection != NULL)
		redisFree(worker->connection);
	worker->connection = redisConnectUnix(worker->socket);
	if (worker->connection == NULL || worker->connection->err != 0)
		fail("%s: %s", worker->socket,
		     worker->connection != NULL ? worker->connection->errstr : "no memory");
}

static redisReply *next_reply(struct worker *worker)
{
	void *reply;

	if (redisGetReply(worker->connection, &reply) != REDIS_OK)
		fail("%s: %s", worker->socket, worker->connection->errstr);
	return reply;
}

static bool is_silent(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "SILENT", 6) == 0;
}

/* Returns the number in the next reply; 0 if it is nil, or if the lock was only tried and nobody
 * knows. */
static uint64_t next_number(struct worker *worker, bool only_tried)
{
	redisReply *reply = next_reply(worker);
	uint64_t number = reply->type == REDIS_REPLY_INTEGER ? (uint64_t)reply->integer : 0;

	if (only_tried && is_silent(reply)) {
		worker->unknown++;
		freeReplyObject(reply);
		return 0;
	}
	if (reply->type == REDIS_REPLY_ERROR)
		fail("%s: %s", worker->socket, reply->str);
	if (reply->type != REDIS_REPLY_INTEGER && reply->type != REDIS_REPLY_NIL)
		fail("%s: a reply of type %d", worker->socket, reply->type);
	freeReplyObject(reply);
	return number;
}

/* --- inside --- */

static void witness(struct worker *worker, int lock, uint64_t fence)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/lock-%d", folder, lock);
	int fd = open(path, O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0600);
	if (fd < 0)
		fail("lock-%d, fence %llu: two are inside: %s: %s", lock, (unsigned long long)fence,
		     path, strerror(errno));
	close(fd);
	uint64_t last = atomic_exchange(&fences[lock], fence);
	if (last >= fence)
		fail("lock-%d: fence %llu after fence %llu", lock, (unsigned long long)fence,
		     (unsigned long long)last);
	if (draw(worker, 2) == 0)
		pause_us(draw(worker, 1000));
	if (unlink(path) != 0)
		fail("%s: %s", path, strerror(errno));
}

static void give_back(struct worker *worker, int lock, uint64_t fence)
{
	if (draw(worker, 20) == 0) {
		connect_again(worker);
		return;
	}
	if (draw(worker, 2) == 0)
		redisAppendCommand(worker->connection, "UNLOCK lock-%d %llu", lock,
		                   (unsigned long long)fence);
	else
		redisAppendCommand(worker->connection, "UNLOCK lock-%d", lock);
	if (next_number(worker, false) != 1)
		fail("lock-%d, fence %llu: UNLOCK did not give 1", lock, (unsigned long long)fence);
}

/* --- the ways to ask --- */

static void begin_to_wait(struct worker *worker, int lock)
{
	atomic_store(&worker->since_ns, now_ns());
	atomic_store(&worker->waits_for, lock + 1);
}

static void wait_and_enter(struct worker *worker, int lock, bool only_tried)
{
	uint64_t before = now_ns();

	begin_to_wait(worker, lock);
	uint64_t fence = next_number(worker, only_tried);
	atomic_store(&worker->waits_for, 0);
	if (now_ns() - before > worker->wait_ns_max)
		worker->wait_ns_max = now_ns() - before;
	if (fence == 0) {
		worker->refusals++;
		return;
	}
	worker->grants++;
	witness(worker, lock, fence);
	give_back(worker, lock, fence);
}

/* Sends the release before it is known when the request is granted. */
static void pass_through(struct worker *worker, int lock)
{
	uint64_t last = atomic_load(&fences[lock]);

	redisAppendCommand(worker->connection, "LOCK lock-%d", lock);
	redisAppendCommand(worker->connection, "UNLOCK lock-%d", lock);
	begin_to_wait(worker, lock);
	uint64_t fence = next_number(worker, false);
	atomic_store(&worker->waits_for, 0);
	if (fence <= last)
		fail("lock-%d: fence %llu after fence %llu", lock, (unsigned long long)fence,
		     (unsigned long long)last);
	if (next_number(worker, false) != 1)
		fail("lock-%d: the UNLOCK sent with its LOCK did not give 1", lock);
	worker->grants++;
}

static void give_up(struct worker *worker, int lock)
{
	int done = 0;

	redisAppendCommand(worker->connection, "LOCK lock-%d", lock);
	while (!done) {
		if (redisBufferWrite(worker->connection, &done) != REDIS_OK)
			fail("%s: %s", worker->socket, worker->connection->errstr);
	}
	pause_us(draw(worker, 5000));
	connect_again(worker);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	connect_again(worker);
	for (uint64_t round = 0; round < rounds; round++) {
		int lock = draw(worker, locks_count);
		int how = round == 0 ? 0 : draw(worker, 100);
		atomic_store(&worker->since_ns, now_ns());
		if (how < 60) {
			redisAppendCommand(worker->connection, "LOCK lock-%d", lock);
			wait_and_enter(worker, lock, false);
		} else if (how < 75) {
			redisAppendCommand(worker->connection, "LOCK lock-%d TIMEOUT %d", lock,
			                   draw(worker, 50));
			wait_and_enter(worker, lock, true);
		} else if (how < 90) {
			redisAppendCommand(worker->connection, "LOCK lock-%d NOWAIT", lock);
			wait_and_enter(worker, lock, true);
		} else if (how < 95) {
			pass_through(worker, lock);
		} else {
			give_up(worker, lock);
		}
		if (draw(worker, 2) == 0)
			pause_us(draw(worker, 2000));
	}
	redisFree(worker->connection);
	atomic_store(&worker->done, true);
	return NULL;
}

/* --- the whole --- */

/* Waits until each has done its work. A client that has been at the same thing for a minute never
 * will. */
static void wait_for_all(int count)
{
	for (int i = 0; i < count; i++) {
		struct worker *worker = &workers[i];
		while (!atomic_load(&worker->done)) {
			uint64_t since_ns = atomic_load(&worker->since_ns);
			int lock = atomic_load(&worker->waits_for) - 1;
			if (now_ns() < since_ns + PATIENCE_S * UINT64_C(1000000000))
				pause_us(2000);
			else if (lock < 0)
				fail("client %d at %s does not end", i, worker->socket);
			else
				fail("client %d at %s starves: it waits for lock-%d", i,
				     worker->socket, lock);
		}
		pthread_join(worker->thread, NULL);
	}
}

static void report(int count)
{
	uint64_t grants = 0, refusals = 0, unknown = 0, least = UINT64_MAX, wait_ns = 0;

	for (int i = 0; i < count; i++) {
		const struct worker *worker = &workers[i];
		grants += worker->grants;
		refusals += worker->refusals;
		unknown += worker->unknown;
		if (worker->grants < least)
			least = worker->grants;
		if (worker->wait_ns_max > wait_ns)
			wait_ns = worker->wait_ns_max;
	}
	printf("{\"grants\": %llu, \"grants_least\": %llu, \"refusals\": %llu, "
	       "\"unknown\": %llu, \"wait_ms_max\": %.1f}\n",
	       (unsigned long long)grants, (unsigned long long)least, (unsigned long long)refusals,
	       (unsigned long long)unknown, (double)wait_ns / 1e6);
}

int main(int argc, char **argv)
{
	if (argc < 7)
		fail("usage: load ROUNDS SEED CLIENTS LOCKS FOLDER SOCKET...");
	rounds = strtoull(argv[1], NULL, 10);
	uint64_t seed = strtoull(argv[2], NULL, 10);
	int count = atoi(argv[3]);
	locks_count = atoi(argv[4]);
	folder = argv[5];
	if (rounds < 1 || count < 1 || count > CLIENTS_MAX || locks_count < 1 ||
	    locks_count > LOCKS_MAX)
		fail("load: ROUNDS must be positive, CLIENTS and LOCKS from 1 to 1000");
	for (int i = 0; i < count; i++) {
		workers[i].random = seed * CLIENTS_MAX + (uint64_t)i;
		workers[i].socket = argv[6 + i % (argc - 6)];
		workers[i].since_ns = now_ns();
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			fail("no thread can be made");
	}
	wait_for_all(count);
	report(count);
	return 0;
}
