/*
 * The command that a client of the nemesis runs under a lock: insider FOLDER HOLD LOCK MS MANNER
 *
 * It writes down what happens as events of a history (test/lib/history.py), one write(2) each, to
 * FOLDER/history.jsonl. Until MS milliseconds have passed it writes to a register that refuses
 * fences below the greatest it has seen: a word for each lock in FOLDER/shared, which all insiders
 * have mapped. It also writes there when it was last alive, so that the end of a process that was
 * killed is known. A file for each lock is locked with flock(2) for as long as any process of the
 * insider lives: a process that finds it locked is not alone.
 *
 * MANNER is a set of letters: c has a child that does the same, t ignores SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LOCKS_MAX = 512,
	HOLDS_MAX = 1 << 20,
	BEAT_NS = 2000000, /* how often it writes to the register */
	LEASE_US = 50000,  /* how long it waits to be told the lease */
};

/* The file FOLDER/shared; test/lib/recorder.py reads it too. */
struct shared {
	_Atomic uint64_t greatest[LOCKS_MAX]; /* the registers: the greatest fence of each lock */
	_Atomic uint64_t alive_ns[HOLDS_MAX]; /* when a process of each hold was last alive */
};

static struct shared *shared;
static int history;
static unsigned long hold, lock;
static uint64_t fence;
static volatile sig_atomic_t told;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

__attribute__((noreturn)) static void fail(const char *what)
{
	perror(what);
	exit(3);
}

__attribute__((format(printf, 2, 3))) static void note(uint64_t t, const char *format, ...)
{
	char line[256];
	va_list arguments;
	int size = snprintf(line, sizeof line, "{\"t\":%" PRIu64 ",\"hold\":%lu,", t, hold);

	va_start(arguments, format);
	size += vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
	va_end(arguments);
	line[size - 1] = '\n'; /* each format ends with a blank in its place */
	if (write(history, line, (size_t)size) != size)
		fail("history.jsonl");
}

static void on_term(int number)
{
	(void)number;
	told = 1;
}

/* Returns false if the register has seen a greater fence. */
static bool register_takes(void)
{
	uint64_t greatest = atomic_load(&shared->greatest[lock]);

	do {
		if (greatest > fence)
			return false;
	} while (!atomic_compare_exchange_weak(&shared->greatest[lock], &greatest, fence));
	return true;
}

/* Returns what is left of the node's lease in milliseconds, or -1 if it does not answer soon. */
static long lease_left_ms(void)
{
	const char *path = getenv("BATON_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_usec = LEASE_US};
	char reply[128];
	long lapses, left = -1;
	ssize_t size;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || path == NULL || strlen(path) >= sizeof address.sun_path)
		fail("BATON_SOCKET");
	memcpy(address.sun_path, path, strlen(path) + 1);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
	    send(fd, "LEASE\r\n", 7, MSG_NOSIGNAL) == 7) {
		size = recv(fd, reply, sizeof reply - 1, 0);
		reply[size > 0 ? size : 0] = '\0';
		if (sscanf(reply, "*2\r\n:%ld\r\n:%ld\r\n", &lapses, &left) != 2)
			left = -1;
	}
	close(fd);
	return left;
}

/* Writes to the register until the end, or until it was told to stop and obeys. */
static void work(uint64_t end_ns, bool obeys)
{
	struct timespec beat = {.tv_nsec = BEAT_NS};
	bool took = true, told_before = false;
	uint64_t now;

	while ((now = now_ns()) < end_ns) {
		atomic_store(&shared->alive_ns[hold], now);
		if (told && !told_before) {
			told_before = true;
			note(now, "\"ev\":\"told\"} ");
		}
		if (told && obeys)
			return;
		if (took && !register_takes()) {
			took = false;
			note(now,
			     "\"ev\":\"write\",\"lock\":\"l%lu\",\"fence\":%" PRIu64
			     ",\"accepted\":false} ",
			     lock, fence);
		}
		nanosleep(&beat, NULL);
	}
}

/* Starts a child that ends with its parent and writes no events; it only shows that it is alive. */
static pid_t child_start(void)
{
	pid_t parent = getpid(), child = fork();
	struct timespec beat = {.tv_nsec = BEAT_NS};

	if (child < 0)
		fail("fork");
	if (child > 0)
		return child;
	signal(SIGTERM, SIG_IGN);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(3);
	for (;;) {
		atomic_store(&shared->alive_ns[hold], now_ns());
		nanosleep(&beat, NULL);
	}
}

static void begin(void)
{
	uint64_t t = now_ns();
	char path[32];
	bool alone;
	long left;
	int file;

	atomic_store(&shared->alive_ns[hold], t);
	snprintf(path, sizeof path, "flock%lu", lock);
	/* The file is never closed: the end of the last process does that. */
	file = open(path, O_RDWR | O_CREAT, 0600);
	if (file < 0)
		fail(path);
	alone = flock(file, LOCK_EX | LOCK_NB) == 0;
	note(t, "\"ev\":\"granted\",\"lock\":\"l%lu\",\"fence\":%" PRIu64 ",\"alone\":%s} ", lock,
	     fence, alone ? "true" : "false");
	t = now_ns();
	note(t, "\"ev\":\"write\",\"lock\":\"l%lu\",\"fence\":%" PRIu64 ",\"accepted\":%s} ", lock,
	     fence, register_takes() ? "true" : "false");
	t = now_ns();
	left = lease_left_ms();
	if (left >= 0)
		note(t, "\"ev\":\"valid\",\"until\":%" PRIu64 "} ", t + (uint64_t)left * 998000);
}

int main(int count, char **words)
{
	struct sigaction action = {.sa_handler = on_term};
	const char *fence_text = getenv("BATON_FENCE");
	uint64_t began_ns = now_ns();
	pid_t child = 0;
	int file;

	if (count != 6 || fence_text == NULL || chdir(words[1]) != 0)
		fail("insider FOLDER HOLD LOCK MS MANNER, under baton run");
	hold = strtoul(words[2], NULL, 10) % HOLDS_MAX;
	lock = strtoul(words[3], NULL, 10) % LOCKS_MAX;
	fence = strtoull(fence_text, NULL, 10);
	history = open("history.jsonl", O_WRONLY | O_APPEND | O_CLOEXEC);
	file = open("shared", O_RDWR | O_CLOEXEC);
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (history < 0 || file < 0 || shared == MAP_FAILED)
		fail(words[1]);
	sigaction(SIGTERM, &action, NULL);
	begin();
	if (strchr(words[5], 'c') != NULL)
		child = child_start();
	work(began_ns + strtoull(words[4], NULL, 10) * 1000000, strchr(words[5], 't') == NULL);
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	/* The child may have been alive a moment after its parent's last beat. */
	atomic_store(&shared->alive_ns[hold], now_ns());
	note(atomic_load(&shared->alive_ns[hold]), "\"ev\":\"released\"} ");
	return 0;
}
