/*
 * Measures what a lock costs through sockets. Each figure is shown next to its yardstick in the
 * same run: bare programs of the same shape without any algorithm (bare.c), and Redis.
 *
 *     bench_lock PATH-OF-BATON [ROUNDS [SECONDS [PART]]]
 *
 * Rounds are interleaved (yardstick, baton, yardstick, …), and the median of the rounds' ratios is
 * printed, because machines are noisy. "one core": everything is pinned to one core; "free":
 * nothing is pinned. PART is one of local, turns, growth, tls and page; all are measured without
 * it.
 */
#include "bare.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 64, ROUNDS_MAX = 99 };

static const char *baton, *folder;
static int rounds = 15;
static double seconds = 0.3;
static bool pinned;

struct shared {
	atomic_bool go, stop;
	atomic_int ready;
	_Atomic uint64_t counts[CLIENTS_MAX];
	_Atomic uint64_t seen_free_ns; /* the longest */
};
static struct shared *shared;

__attribute__((format(printf, 1, 2))) static void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("bench_lock: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pin(void)
{
	cpu_set_t set;

	if (!pinned)
		return;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Forks a child that ends with this process. */
static pid_t child(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin();
	}
	return pid;
}

static pid_t run(const char *const *arguments)
{
	pid_t pid = child();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, 1);
		dup2(null, 2);
		/* execvp does not change the words, although its parameter is not const. */
		char *const *words;
		memcpy(&words, &arguments, sizeof(words));
		execvp(words[0], words);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

static int dial(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	double until = now() + 10;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	for (;;) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return fd;
		close(fd);
		if (now() > until)
			die("nobody serves %s", path);
		usleep(2000);
	}
}

static void say(int fd, const char *text, size_t size)
{
	if (write(fd, text, size) != (ssize_t)size)
		die("write: %s", strerror(errno));
}

/* Reads until this many lines have arrived. */
static void hear_lines(int fd, int count)
{
	char room[4096];

	while (count > 0) {
		ssize_t size = read(fd, room, sizeof(room));
		if (size <= 0)
			die("a server ended");
		if (room[0] == '-')
			die("refused: %.*s", (int)size, room);
		for (ssize_t i = 0; i < size; i++)
			count -= room[i] == '\n';
	}
}

/* --- clients --- */

enum work { WORK_ECHO, WORK_ECHO_BOTH, WORK_LOCK, WORK_REDIS, WORK_CONTEND };

struct job {
	enum work work;
	const char *path; /* with %d: the number of the client */
	int client;
	/* The commands, made beforehand: the yardstick does not pay for making them either. */
	char take[128], give[128];
	size_t take_size, give_size;
};

#define CONTEND_LOCK "*2\r\n$4\r\nLOCK\r\n$3\r\none\r\n"
#define CONTEND_UNLOCK "*2\r\n$6\r\nUNLOCK\r\n$3\r\none\r\n"

static void prepare_words(struct job *job)
{
	static const char *const takes[] = {
	        [WORK_ECHO] = "*2\r\n$4\r\nLOCK\r\n$6\r\nlock%02d\r\n",
	        [WORK_ECHO_BOTH] = "*2\r\n$4\r\nLOCK\r\n$6\r\nlock%02d\r\n",
	        [WORK_LOCK] = "*2\r\n$4\r\nLOCK\r\n$6\r\nlock%02d\r\n",
	        [WORK_REDIS] = "*4\r\n$3\r\nSET\r\n$6\r\nlock%02d\r\n$1\r\n1\r\n$2\r\nNX\r\n",
	        [WORK_CONTEND] = CONTEND_LOCK,
	};
	static const char *const gives[] = {
	        [WORK_ECHO] = "",
	        [WORK_ECHO_BOTH] = "*2\r\n$6\r\nUNLOCK\r\n$6\r\nlock%02d\r\n",
	        [WORK_LOCK] = "*2\r\n$6\r\nUNLOCK\r\n$6\r\nlock%02d\r\n",
	        [WORK_REDIS] = "*2\r\n$3\r\nDEL\r\n$6\r\nlock%02d\r\n",
	        [WORK_CONTEND] = "",
	};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
	snprintf(job->take, sizeof(job->take), takes[job->work], job->client);
	snprintf(job->give, sizeof(job->give), gives[job->work], job->client);
#pragma GCC diagnostic pop
	job->take_size = strlen(job->take);
	job->give_size = strlen(job->give);
}

static void work_once(const struct job *job, int fd, bool first)
{
	switch (job->work) {
	case WORK_ECHO:
		say(fd, job->take, job->take_size);
		hear_lines(fd, 5);
		break;
	case WORK_ECHO_BOTH:
		say(fd, job->take, job->take_size);
		hear_lines(fd, first ? 5 : 10);
		say(fd, job->give, job->give_size);
		break;
	case WORK_LOCK:
	/* The answer to the last release arrives together with that to this LOCK. */
	case WORK_REDIS:
		say(fd, job->take, job->take_size);
		hear_lines(fd, first ? 1 : 2);
		say(fd, job->give, job->give_size);
		break;
	case WORK_CONTEND: /* each turn takes one write and one read */
		if (first)
			say(fd, job->take, job->take_size);
		else
			say(fd, CONTEND_UNLOCK CONTEND_LOCK,
			    sizeof(CONTEND_UNLOCK CONTEND_LOCK) - 1);
		hear_lines(fd, first ? 1 : 2);
		break;
	}
}

static void be_client(struct job *job)
{
	char path[256];
	uint64_t count = 0;

	snprintf(path, sizeof(path), "%s/", folder);
	size_t at = strlen(path);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(path + at, sizeof(path) - at, job->path, job->client);
#pragma GCC diagnostic pop
	prepare_words(job);
	int fd = dial(path);
	if (job->work == WORK_REDIS) {
		say(fd, "*1\r\n$8\r\nFLUSHALL\r\n", 18);
		hear_lines(fd, 1);
	}
	atomic_fetch_add(&shared->ready, 1);
	while (!atomic_load(&shared->go))
		usleep(500);
	while (!atomic_load_explicit(&shared->stop, memory_order_relaxed)) {
		work_once(job, fd, count == 0);
		count++;
		atomic_store_explicit(&shared->counts[job->client], count, memory_order_relaxed);
	}
	_exit(0);
}

/* Returns the operations per second of all clients together. */
static double measure(enum work work, const char *path, int clients)
{
	pid_t pids[CLIENTS_MAX];
	uint64_t before = 0, after = 0;

	memset(shared, 0, sizeof(*shared));
	for (int i = 0; i < clients; i++) {
		struct job job = {.work = work, .path = path, .client = i};
		pids[i] = child();
		if (pids[i] == 0)
			be_client(&job);
	}
	while (atomic_load(&shared->ready) < clients)
		usleep(1000);
	atomic_store(&shared->go, true);
	usleep(100000); /* warm up */
	double start = now();
	for (int i = 0; i < clients; i++)
		before += atomic_load(&shared->counts[i]);
	usleep((useconds_t)(seconds * 1e6));
	for (int i = 0; i < clients; i++)
		after += atomic_load(&shared->counts[i]);
	double took = now() - start;
	atomic_store(&shared->stop, true);
	for (int i = 0; i < clients; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	usleep(20000); /* until the locks that they held are released */
	return (double)(after - before) / took;
}

/* --- printing --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

struct contest {
	enum work work, yardstick_work;
	const char *path, *yardstick_path;
	int clients;
};

static void contest(const char *title, const struct contest *contest, double goal)
{
	double ours[ROUNDS_MAX], theirs[ROUNDS_MAX], ratios[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++) {
		theirs[i] =
		        measure(contest->yardstick_work, contest->yardstick_path, contest->clients);
		ours[i] = measure(contest->work, contest->path, contest->clients);
		ratios[i] = ours[i] / theirs[i];
	}
	printf("  %-52s %9.0f /s  %9.0f /s  %5.2f", title, median(ours, rounds),
	       median(theirs, rounds), median(ratios, rounds));
	if (goal > 0)
		printf("  (goal %.2g)", goal);
	putchar('\n');
	fflush(stdout);
}

/* --- servers --- */

static pid_t start_echo(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/echo.sock", folder);
	unlink(path);
	pid_t pid = child();
	if (pid == 0)
		bare_echo(path);
	return pid;
}

static pid_t start_redis(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/redis.sock", folder);
	return run((const char *[]){"redis-server", "--port", "0", "--unixsocket", path, "--save",
	                            "", "--appendonly", "no", NULL});
}

/* A cluster whose nodes have the sockets n0.sock, n1.sock and so on; with TLS t0.sock, t1.sock. */
struct cluster {
	int count;
	bool tls;
	pid_t nodes[CLIENTS_MAX];
};

static void make_certificates(int count)
{
	char command[512];

	snprintf(command, sizeof(command), "test -d %s/tls || %s cert ca %s/tls >%s/log", folder,
	         baton, folder, folder);
	if (system(command) != 0)
		die("no certificates: %s", command);
	for (int i = 0; i < count; i++) {
		snprintf(command, sizeof(command),
		         "test -f %s/tls/n%02d.crt || %s cert node n%02d --ca %s/tls >>%s/log",
		         folder, i, baton, i, folder, folder);
		if (system(command) != 0)
			die("no certificates: %s", command);
	}
}

static void start_node(struct cluster *cluster, int i, int base, const char *peers)
{
	char path[256], name[16], data[256], ca[256], certificate[256], key[256];

	snprintf(path, sizeof(path), "%s/%c%d.sock", folder, cluster->tls ? 't' : 'n', i);
	snprintf(name, sizeof(name), "n%02d", i);
	snprintf(data, sizeof(data), "%s/data-%d-%d", folder, base, i);
	snprintf(ca, sizeof(ca), "%s/tls/ca.crt", folder);
	snprintf(certificate, sizeof(certificate), "%s/tls/%s.crt", folder, name);
	snprintf(key, sizeof(key), "%s/tls/%s.key", folder, name);
	unlink(path);
	if (cluster->count == 1)
		cluster->nodes[i] = run(
		        (const char *[]){baton, "node", "--name", name, "--socket", path, NULL});
	else
		cluster->nodes[i] = run(
		        (const char *[]){baton, "node", "--name", name, "--socket", path, "--data",
		                         data, "--peers", peers, cluster->tls ? "--tls-ca" : NULL,
		                         ca, "--tls-cert", certificate, "--tls-key", key, NULL});
}

/* Uses ports below those of outgoing connections, and another base for each cluster. Returns when
 * every node grants. */
static void start_cluster(struct cluster *cluster)
{
	static int base = 11000;
	char peers[CLIENTS_MAX * 32], path[256];
	size_t at = 0;

	base += 100;
	if (cluster->tls)
		make_certificates(cluster->count);
	for (int i = 0; i < cluster->count; i++)
		at += (size_t)snprintf(peers + at, sizeof(peers) - at, "%sn%02d=127.0.0.1:%d",
		                       i == 0 ? "" : ",", i, base + i + getpid() % 37 * 100);
	for (int i = 0; i < cluster->count; i++)
		start_node(cluster, i, base, peers);
	for (int i = 0; i < cluster->count; i++) {
		snprintf(path, sizeof(path), "%s/%c%d.sock", folder, cluster->tls ? 't' : 'n', i);
		int fd = dial(path);
		char room[256];
		do {
			usleep(2000);
			room[0] = '-';
			/* When a node comes to belong to the cluster, it closes its clients. */
			if (send(fd, "LOCK warm\r\n", 11, MSG_NOSIGNAL) != 11 ||
			    read(fd, room, sizeof(room)) <= 0) {
				close(fd);
				fd = dial(path);
			}
		} while (room[0] == '-');
		close(fd);
	}
}

static void end_cluster(const struct cluster *cluster)
{
	for (int i = 0; i < cluster->count; i++)
		end(cluster->nodes[i]);
}

/* Returns the algorithm's messages and the grants of all nodes. */
static void tell_messages(uint64_t *ret_messages, uint64_t *ret_grants)
{
	static char room[1 << 20];
	char path[256];
	size_t at = 0;

	snprintf(path, sizeof(path), "%s/n0.sock", folder);
	int fd = dial(path);
	say(fd, "STATUS nothing\r\n", 16);
	do {
		ssize_t size = read(fd, room + at, sizeof(room) - 1 - at);
		if (size <= 0)
			die("a node ended");
		at += (size_t)size;
		room[at] = '\0';
	} while (strstr(room, "\"silent\"") == NULL);
	close(fd);
	*ret_messages = strtoull(strstr(room, "\"sent\":") + 7, NULL, 10);
	*ret_grants = strtoull(strstr(room, "\"grants\":") + 9, NULL, 10);
}

/* --- the figures --- */

enum { TIMES = 2000 };

/* Measures how long after the first client's UNLOCK a second one sees that the lock is free. */
static void measure_release(double *ret_took)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/n0.sock", folder);
	int first = dial(path), second = dial(path);
	for (int i = 0; i < TIMES; i++) {
		say(first, "LOCK x\r\n", 8);
		hear_lines(first, i == 0 ? 1 : 2);
		say(second, "LOCK x\r\n", 8);
		usleep(200); /* the second client waits by now */
		double before = now();
		say(first, "UNLOCK x\r\n", 10);
		hear_lines(second, 1);
		ret_took[i] = now() - before;
		say(second, "UNLOCK x\r\n", 10);
		hear_lines(second, 1);
	}
	close(first);
	close(second);
}

/* Measures how long each of some LOCKs takes, with pauses between them; or, as the yardstick, each
 * of as many lines of the echo. */
static void measure_answers(const char *name, double *ret_took, useconds_t pause)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = dial(path);
	for (int i = 0; i < TIMES; i++) {
		usleep(pause);
		double before = now();
		say(fd, "LOCK x\r\n", 8);
		hear_lines(fd, 1);
		ret_took[i] = now() - before;
		say(fd, "UNLOCK x\r\n", 10);
		hear_lines(fd, 1);
	}
	close(fd);
}

static void print_times(const char *title, double *ours, double *theirs)
{
	double ours_median = median(ours, TIMES), theirs_median = median(theirs, TIMES);

	printf("  %-52s %9.0f us  %9.0f us  %5.2f  (99.5 %% within %.0f, %.0f us, longest %.0f, "
	       "%.0f us)\n",
	       title, ours_median * 1e6, theirs_median * 1e6, ours_median / theirs_median,
	       ours[TIMES * 995 / 1000] * 1e6, theirs[TIMES * 995 / 1000] * 1e6,
	       ours[TIMES - 1] * 1e6, theirs[TIMES - 1] * 1e6);
	fflush(stdout);
}

static void measure_times(void)
{
	static double ours[TIMES], theirs[TIMES];

	measure_answers("echo.sock", theirs, 200);
	measure_release(ours);
	print_times("UNLOCK sent, to a second client that waits : echo", ours, theirs);
	if (!pinned)
		return;
	/* The node yields the processor to its clients, but must not wait long if something else
	 * keeps it busy. */
	pid_t hog = child();
	if (hog == 0) {
		for (volatile uint64_t count = 0;; count++) {
		}
	}
	measure_answers("echo.sock", theirs, 2000);
	measure_answers("n0.sock", ours, 2000);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	print_times("LOCK answered while a loop keeps the core busy : echo", ours, theirs);
}

static void local_locks(void)
{
	pid_t echo = start_echo(), redis = start_redis();

	struct cluster alone = {.count = 1};
	start_cluster(&alone);
	contest("1 client, LOCK answered, UNLOCK sent : echo",
	        &(struct contest){WORK_LOCK, WORK_ECHO, "n0.sock", "echo.sock", 1}, 0.8);
	contest("the echo with both messages and no lock : echo",
	        &(struct contest){WORK_ECHO_BOTH, WORK_ECHO, "echo.sock", "echo.sock", 1}, 0);
	contest("16 clients on 16 locks : echo",
	        &(struct contest){WORK_LOCK, WORK_ECHO, "n0.sock", "echo.sock", 16}, 0.6);
	contest("16 clients on 16 locks : Redis, SET NX and DEL",
	        &(struct contest){WORK_LOCK, WORK_REDIS, "n0.sock", "redis.sock", 16}, 1.0);
	measure_times();
	end_cluster(&alone);
	end(echo);
	end(redis);
}

static void hand_overs(void)
{
	uint64_t messages[2], grants[2];
	double ours[ROUNDS_MAX], bare[ROUNDS_MAX], ring[ROUNDS_MAX], ratios[ROUNDS_MAX],
	        to_ring[ROUNDS_MAX];

	struct cluster cluster = {.count = 16};
	start_cluster(&cluster);
	tell_messages(&messages[0], &grants[0]);
	for (int i = 0; i < rounds; i++) {
		bare[i] = bare_turns(16, 3, seconds, pinned, NULL);
		ours[i] = measure(WORK_CONTEND, "n%d.sock", 16);
		ring[i] = bare_turns(16, 1, seconds, pinned, NULL);
		ratios[i] = ours[i] / bare[i];
		to_ring[i] = ours[i] / ring[i];
	}
	tell_messages(&messages[1], &grants[1]);
	printf("  %-52s %9.0f /s  %9.0f /s  %5.2f  (goal 0.6)\n",
	       "16 nodes, one lock, hand-overs : bare, 3 messages", median(ours, rounds),
	       median(bare, rounds), median(ratios, rounds));
	printf("  %-52s %9.0f /s  %9.0f /s  %5.2f\n", "the same : the leanest ring, 1 message",
	       median(ours, rounds), median(ring, rounds), median(to_ring, rounds));
	printf("  %-52s %9.3f     3 - 2/N = %.3f\n", "messages a hand-over",
	       (double)(messages[1] - messages[0]) / (double)(grants[1] - grants[0]), 3 - 2 / 16.0);
	fflush(stdout);
	end_cluster(&cluster);
}

static void growth(void)
{
	static const int sizes[] = {3, 5, 9, 17, 33};
	uint64_t messages[2], grants[2];

	printf("  nodes   messages a hand-over   3 - 2/N   hand-over    bare, 3 messages   "
	       "ratio\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct cluster cluster = {.count = sizes[i]};
		start_cluster(&cluster);
		tell_messages(&messages[0], &grants[0]);
		double bare = bare_turns(sizes[i], 3, seconds, pinned, NULL);
		double ours = measure(WORK_CONTEND, "n%d.sock", sizes[i]);
		tell_messages(&messages[1], &grants[1]);
		printf("  %5d   %20.3f   %7.3f   %6.1f us   %13.1f us   %5.2f\n", sizes[i],
		       (double)(messages[1] - messages[0]) / (double)(grants[1] - grants[0]),
		       3 - 2.0 / sizes[i], 1e6 / ours, 1e6 / bare, ours / bare);
		fflush(stdout);
		end_cluster(&cluster);
	}
}

/* Both clusters stand at the same time, and their rounds alternate. The yardstick shows what TLS
 * costs a program of the same shape that has no lock. */
static void hand_overs_with_tls(void)
{
	struct cluster plain = {.count = 3}, tls = {.count = 3, .tls = true};
	double with[ROUNDS_MAX], without[ROUNDS_MAX], ratios[ROUNDS_MAX];
	char certificates[256];

	start_cluster(&plain);
	start_cluster(&tls);
	contest("3 nodes, one lock, hand-overs : with TLS : without",
	        &(struct contest){WORK_CONTEND, WORK_CONTEND, "t%d.sock", "n%d.sock", 3}, 0.85);
	end_cluster(&tls);
	end_cluster(&plain);
	snprintf(certificates, sizeof(certificates), "%s/tls", folder);
	for (int i = 0; i < rounds; i++) {
		without[i] = bare_turns(3, 3, seconds, pinned, NULL);
		with[i] = bare_turns(3, 3, seconds, pinned, certificates);
		ratios[i] = with[i] / without[i];
	}
	printf("  %-52s %9.0f /s  %9.0f /s  %5.2f\n", "bare, 3 messages : with TLS : without",
	       median(with, rounds), median(without, rounds), median(ratios, rounds));
	fflush(stdout);
}

/* --- beside the page --- */

/* Starts baton web for the first node. Returns its port; 0 if this baton has no page. */
static int start_web(pid_t *ret_pid)
{
	int ends[2], port = 0;
	char line[128] = "", path[256];

	snprintf(path, sizeof(path), "%s/n0.sock", folder);
	if (pipe(ends) != 0)
		die("pipe: %s", strerror(errno));
	*ret_pid = child();
	if (*ret_pid == 0) {
		dup2(ends[1], 1);
		execl(baton, "baton", "web", "--listen", "127.0.0.1:0", "-S", path, NULL);
		_exit(127);
	}
	close(ends[1]);
	if (read(ends[0], line, sizeof(line) - 1) > 0)
		sscanf(line, "http://127.0.0.1:%d/", &port);
	close(ends[0]);
	return port;
}

/* Starts a viewer, which reads the event stream as the page does. Returns when it has a status. */
static pid_t start_viewer(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_port = htons((uint16_t)port),
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char request[128], room[65536];
	int ends[2];

	if (pipe(ends) != 0)
		die("pipe: %s", strerror(errno));
	pid_t pid = child();
	if (pid == 0) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
			_exit(1);
		snprintf(request, sizeof(request),
		         "GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", port);
		say(fd, request, strlen(request));
		bool told = false;
		for (ssize_t size; (size = read(fd, room, sizeof(room) - 1)) > 0;) {
			room[size] = '\0';
			if (!told && strstr(room, "event: status") != NULL) {
				say(ends[1], "s", 1);
				told = true;
			}
		}
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], room, 1) != 1)
		die("baton web sends no status");
	close(ends[0]);
	return pid;
}

/* Compares the same node without a viewer and with one, in alternate rounds. */
static void contest_with_viewer(const char *title, enum work work, const char *path, int clients)
{
	double without[ROUNDS_MAX], with[ROUNDS_MAX], ratios[ROUNDS_MAX], usual = seconds;
	pid_t web;
	int port = start_web(&web);

	/* A status is asked for once a second: shorter rounds could miss it. */
	seconds = seconds < 1.2 ? 1.2 : seconds;
	for (int i = 0; i < rounds && port != 0; i++) {
		without[i] = measure(work, path, clients);
		pid_t viewer = start_viewer(port);
		with[i] = measure(work, path, clients);
		end(viewer);
		ratios[i] = with[i] / without[i];
	}
	if (port != 0)
		printf("  %-52s %9.0f /s  %9.0f /s  %5.2f\n", title, median(with, rounds),
		       median(without, rounds), median(ratios, rounds));
	fflush(stdout);
	end(web);
	seconds = usual;
}

static void locks_beside_the_page(void)
{
	struct cluster alone = {.count = 1}, three = {.count = 3};

	start_cluster(&alone);
	contest_with_viewer("1 client, with the page open : without", WORK_LOCK, "n0.sock", 1);
	contest_with_viewer("16 clients on 16 locks, the page open : without", WORK_LOCK, "n0.sock",
	                    16);
	end_cluster(&alone);
	start_cluster(&three);
	contest_with_viewer("3 nodes, one lock, hand-overs, the page open : without", WORK_CONTEND,
	                    "n%d.sock", 3);
	end_cluster(&three);
}

static const struct part {
	const char *name;
	void (*measure)(void);
} parts[] = {
        {"local", local_locks},       {"turns", hand_overs},           {"growth", growth},
        {"tls", hand_overs_with_tls}, {"page", locks_beside_the_page},
};

int main(int argc, char **argv)
{
	char room[] = "/tmp/bench-lock.XXXXXX";

	if (argc < 2)
		die("usage: bench_lock PATH-OF-BATON [ROUNDS [SECONDS [PART]]]");
	baton = argv[1];
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		seconds = atof(argv[3]);
	if (rounds < 1 || rounds > ROUNDS_MAX || seconds <= 0)
		die("1 to 99 rounds, and some seconds");
	folder = mkdtemp(room);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (folder == NULL || shared == MAP_FAILED)
		die("no folder or no memory");
	for (int free_run = 0; free_run < 2; free_run++) {
		pinned = free_run == 0;
		printf("%s: baton, yardstick, ratio (medians of %d rounds of %.1f s)\n",
		       pinned ? "one core" : "free", rounds, seconds);
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			if (argc < 5 || strcmp(argv[4], parts[i].name) == 0)
				parts[i].measure();
		}
	}
	char command[300];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) == 0 ? 0 : 1;
}
