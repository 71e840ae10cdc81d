/*
 * baton dev: a whole cluster on this machine, in one foreground command. Each node is a process of
 * its own that ends with this one. Their sockets and their data are in a temporary folder. A node
 * that is killed is started again after some seconds.
 */
#include "certificate.h"
#include "cli.h"
#include "clock.h"
#include "memory.h"
#include "page_program.h"
#include "service.h"
#include "settings.h"

#include <baton/baton.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	DEV_NODES_MAX = 64,
	WEB_PORT = 7480,     /* the port of the page, if it is free */
	START_MS = 20000,    /* how long the nodes may take to agree on a view */
	END_MS = 5000,       /* how long the nodes may take to leave */
	AGAIN_MS = 5000,     /* how long after its death a node is started again */
	TAKEOVER_MS = 20000, /* how long a lock may take to move to the next client */
	DEV_DAYS = 30,       /* how long the certificates of --tls are valid */
	WALK_MS = 500,       /* how long the walker holds 'demo' at a node, and waits after that */
};

struct dev {
	uint32_t nodes;
	const char *algorithm, *topology;
	uint64_t for_ms;
	bool failover; /* show after the start what happens when a node is killed */
	bool no_web;
	pid_t web;    /* the process of baton-web; 0: there is none */
	pid_t walker; /* the process that passes a lock around for the page; 0: there is none */
	bool tls;     /* the nodes prove to each other who they are */
	char folder[200];
	char peers[DEV_NODES_MAX * 32];
	uint16_t ports[DEV_NODES_MAX];
	/* The names of the nodes, with leading zeros, so that they sort by number. */
	char names[DEV_NODES_MAX][8];
	char sockets[DEV_NODES_MAX][240];
	pid_t pids[DEV_NODES_MAX];   /* the process of each node; 0: it has ended */
	double again[DEV_NODES_MAX]; /* when to start each node again, in seconds; 0: not at all */
	pid_t janitor;
	int janitor_pipe;
	sigset_t mask; /* the signal mask at the start */
};

static bool is_free(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_port = htons(port),
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	int bound = bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return bound == 0;
}

/* Finds a free port below 32768, because outgoing connections take ports above that. */
static int find_port(uint16_t *ret_port)
{
	for (int tries = 0; tries < 1000; tries++) {
		uint32_t random;
		if (getentropy(&random, sizeof(random)) != 0)
			return -1;
		uint16_t port = (uint16_t)(15000 + random % 17000);
		if (is_free(port)) {
			*ret_port = port;
			return 0;
		}
	}
	return -1;
}

static int make_folder(struct dev *dev, struct problem *problem)
{
	const char *places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR")}, *base = "/tmp";

	/* The path of a socket has at most 107 bytes. */
	for (size_t i = sizeof(places) / sizeof(*places); i-- > 0;) {
		if (places[i] != NULL && *places[i] != '\0' && strlen(places[i]) <= 80 &&
		    access(places[i], W_OK) == 0)
			base = places[i];
	}
	snprintf(dev->folder, sizeof(dev->folder), "%s/baton-dev.XXXXXX", base);
	if (mkdtemp(dev->folder) == NULL)
		return problem_set(problem, "no folder can be made in %s: %s", base,
		                   strerror(errno));
	for (uint32_t i = 0; i < dev->nodes; i++) {
		char name[sizeof(dev->names[i])];
		snprintf(name, sizeof(name), dev->nodes < 10 ? "n%u" : "n%02u", (i + 1) % 100);
		memcpy(dev->names[i], name, sizeof(name));
		snprintf(dev->sockets[i], sizeof(dev->sockets[i]), "%s/%s.sock", dev->folder, name);
		bool again = true;
		while (again) {
			if (find_port(&dev->ports[i]) != 0) {
				rmdir(dev->folder);
				return problem_set(problem, "no free port was found on 127.0.0.1");
			}
			again = false;
			for (uint32_t k = 0; k < i; k++)
				again = again || dev->ports[k] == dev->ports[i];
		}
	}
	return 0;
}

/* Writes the path of a file in the folder, such as n1.crt. */
static void path_of(const struct dev *dev, const char *name, const char *suffix, char room[240])
{
	snprintf(room, 240, "%s/%.8s%s", dev->folder, name, suffix);
}

/* Makes a CA, and a certificate for each node. */
static int make_certificates(const struct dev *dev, struct problem *problem)
{
	char ca[240], ca_key[240], certificate[240], key[240];

	path_of(dev, "ca", ".crt", ca);
	path_of(dev, "ca", ".key", ca_key);
	if (certificate_make_ca(ca, ca_key, DEV_DAYS, problem) != 0)
		return -1;
	for (uint32_t i = 0; i < dev->nodes; i++) {
		struct certificate_wish wish = {.days = DEV_DAYS - 1};
		snprintf(wish.holder.name, sizeof(wish.holder.name), "%s", dev->names[i]);
		path_of(dev, dev->names[i], ".crt", certificate);
		path_of(dev, dev->names[i], ".key", key);
		if (certificate_make(&wish, ca, ca_key, certificate, key, problem) != 0)
			return -1;
	}
	return 0;
}

/* Forks a child that gets SIGTERM when this process ends. A ^C of the terminal does not reach it.
 * Returns as fork does. */
static pid_t fork_child(const struct dev *dev)
{
	pid_t parent = getpid(), child = fork();

	if (child != 0)
		return child;
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, &dev->mask, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent) /* the parent ended before it could be watched */
		_exit(1);
	return 0;
}

static void start_node(struct dev *dev, uint32_t index)
{
	char *arguments[28], data[240], ca[240], certificate[240], key[240];
	int count = 0;

	dev->again[index] = 0;
	snprintf(data, sizeof(data), "%s/%s", dev->folder, dev->names[index]);
	mkdir(data, 0700);
	dev->pids[index] = fork_child(dev);
	if (dev->pids[index] != 0)
		return;
	arguments[count++] = (char *)"baton";
	arguments[count++] = (char *)"node";
	arguments[count++] = (char *)"--name";
	arguments[count++] = dev->names[index];
	arguments[count++] = (char *)"--socket";
	arguments[count++] = dev->sockets[index];
	arguments[count++] = (char *)"--log";
	arguments[count++] = (char *)"error";
	arguments[count++] = (char *)"--algorithm";
	arguments[count++] = (char *)dev->algorithm;
	if (dev->topology != NULL) {
		arguments[count++] = (char *)"--topology";
		arguments[count++] = (char *)dev->topology;
	}
	if (dev->tls) {
		path_of(dev, "ca", ".crt", ca);
		path_of(dev, dev->names[index], ".crt", certificate);
		path_of(dev, dev->names[index], ".key", key);
		arguments[count++] = (char *)"--tls-ca";
		arguments[count++] = ca;
		arguments[count++] = (char *)"--tls-cert";
		arguments[count++] = certificate;
		arguments[count++] = (char *)"--tls-key";
		arguments[count++] = key;
	}
	if (dev->nodes > 1) {
		arguments[count++] = (char *)"--data";
		arguments[count++] = data;
		arguments[count++] = (char *)"--peers";
		arguments[count++] = dev->peers;
	}
	arguments[count] = NULL;
	execv("/proc/self/exe", arguments);
	_exit(127);
}

static int remove_entry(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
	(void)stat;
	(void)type;
	(void)walk;
	remove(path);
	return 0;
}

static void remove_folder(const struct dev *dev)
{
	nftw(dev->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* True if all nodes have removed their sockets, as they do when they have left. */
static bool sockets_are_gone(const struct dev *dev)
{
	bool gone = true;

	for (uint32_t i = 0; i < dev->nodes; i++)
		gone = gone && access(dev->sockets[i], F_OK) != 0;
	return gone;
}

/*
 * Starts the janitor, which removes the folder when this process is gone, however it ended: the
 * janitor waits for the end of a pipe that nobody writes to. The nodes get SIGTERM then
 * (fork_child) and remove their sockets themselves, unless they were killed.
 */
static void start_janitor(struct dev *dev)
{
	struct timespec tick = {.tv_nsec = 10000000};
	int ends[2];
	char byte;

	if (pipe(ends) != 0)
		return;
	dev->janitor = fork();
	if (dev->janitor != 0) {
		close(ends[0]); /* the other end stays open as long as this process exists */
		dev->janitor_pipe = ends[1];
		fcntl(ends[1], F_SETFD, FD_CLOEXEC);
		return;
	}
	close(ends[1]);
	setpgid(0, 0);
	signal(SIGHUP, SIG_IGN);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	for (int ms = 0; ms < END_MS && !sockets_are_gone(dev); ms += 10)
		nanosleep(&tick, NULL);
	remove_folder(dev);
	_exit(0);
}

static void start_nodes(struct dev *dev)
{
	size_t at = 0;

	for (uint32_t i = 0; i < dev->nodes; i++)
		at += (size_t)snprintf(dev->peers + at, sizeof(dev->peers) - at,
		                       "%s%s=127.0.0.1:%u", i == 0 ? "" : ",", dev->names[i],
		                       dev->ports[i]);
	for (uint32_t i = 0; i < dev->nodes; i++)
		start_node(dev, i);
}

/* Starts the page, and prints its address. The page watches the last node, because --failover kills
 * the first. */
static void start_web(struct dev *dev)
{
	char listen[32];
	struct problem problem;

	if (dev->no_web)
		return;
	if (page_program_check(&problem) != 0) {
		printf("\n  No web page shows it: %s.\n", problem.text);
		return;
	}
	uint16_t port = WEB_PORT;
	if (!is_free(port) && find_port(&port) != 0)
		return;
	snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
	printf("\n  In a browser: http://%s/#cluster\n", listen);
	fflush(stdout);
	dev->web = fork_child(dev);
	if (dev->web != 0)
		return;
	if (freopen("/dev/null", "w", stdout) == NULL)
		_exit(1);
	char *arguments[] = {
	        (char *)"baton web",          (char *)"--listen",  listen, (char *)"--socket",
	        dev->sockets[dev->nodes - 1], (char *)"--control", NULL};
	page_program_execute(arguments, &problem);
	fprintf(stderr, "baton dev: %s\n", problem.text);
	_exit(127);
}

/* Ends the walker first: its lock must be free when the nodes leave. */
static void end_web(struct dev *dev)
{
	pid_t *pids[] = {&dev->walker, &dev->web};

	for (size_t i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		if (*pids[i] <= 0)
			continue;
		kill(*pids[i], SIGTERM);
		waitpid(*pids[i], NULL, 0);
		*pids[i] = 0;
	}
}

/* Ends all nodes and removes their files. */
static void end_nodes(struct dev *dev)
{
	struct timespec tick = {.tv_nsec = 10000000};
	uint64_t waited_ms = 0;
	bool any = true;

	for (uint32_t i = 0; i < dev->nodes; i++) {
		if (dev->pids[i] > 0)
			kill(dev->pids[i], SIGTERM);
	}
	while (any) {
		any = false;
		for (uint32_t i = 0; i < dev->nodes; i++) {
			if (dev->pids[i] <= 0)
				continue;
			if (waitpid(dev->pids[i], NULL, WNOHANG) != 0) {
				dev->pids[i] = 0;
				continue;
			}
			any = true;
			if (waited_ms > END_MS)
				kill(dev->pids[i], SIGKILL);
		}
		if (any)
			nanosleep(&tick, NULL);
		waited_ms += 10;
	}
	remove_folder(dev);
	if (access(dev->folder, F_OK) == 0)
		fprintf(stderr, "baton dev: %s cannot be removed\n", dev->folder);
	if (dev->janitor > 0) {
		close(dev->janitor_pipe);
		waitpid(dev->janitor, NULL, 0);
	}
}

/* Notices nodes that have ended, and starts nodes again whose time has come. Returns true if any
 * node is there or will be. */
static bool look_after_nodes(struct dev *dev)
{
	bool any = false;
	int status;

	if (dev->web > 0 && waitpid(dev->web, &status, WNOHANG) > 0) {
		dev->web = 0;
		fprintf(stderr, "baton dev: baton web has ended; the cluster goes on\n");
	}
	for (uint32_t i = 0; i < dev->nodes; i++) {
		if (dev->pids[i] > 0 && waitpid(dev->pids[i], &status, WNOHANG) > 0) {
			dev->pids[i] = 0;
			if (WIFSIGNALED(status)) {
				dev->again[i] = clock_seconds() + AGAIN_MS / 1000.0;
				fprintf(stderr,
				        "baton dev: %s was ended by signal %d; it is started again "
				        "in %d s\n",
				        dev->names[i], WTERMSIG(status), AGAIN_MS / 1000);
			} else {
				fprintf(stderr, "baton dev: %s ended with exit code %d\n",
				        dev->names[i], WEXITSTATUS(status));
			}
		}
		if (dev->again[i] != 0 && clock_seconds() >= dev->again[i])
			start_node(dev, i);
		any = any || dev->pids[i] > 0 || dev->again[i] != 0;
	}
	return any;
}

/* Returns for how many seconds there is nothing to do. */
static double time_to_wait(const struct dev *dev, double end)
{
	double now = clock_seconds(), left = end < 0 ? 3600 : end - now;

	for (uint32_t i = 0; i < dev->nodes; i++) {
		if (dev->again[i] != 0 && dev->again[i] - now < left)
			left = dev->again[i] > now ? dev->again[i] - now : 0.001;
	}
	return left;
}

/* Waits for a signal that asks us to end, and returns its number. Returns 0 after `ms` without a
 * signal; -1 waits for ever. Returns SIGCHLD if no node is left. */
static int wait_for_signal(struct dev *dev, int64_t ms)
{
	sigset_t set;
	double end = ms < 0 ? -1 : clock_seconds() + (double)ms / 1000;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		double left = time_to_wait(dev, end);
		if (left <= 0)
			return 0;
		struct timespec wait = {.tv_sec = (time_t)left,
		                        .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
		int number = sigtimedwait(&set, NULL, &wait);
		if (number > 0 && number != SIGCHLD)
			return number;
		if (!look_after_nodes(dev))
			return SIGCHLD;
	}
}

/* Waits until a node serves. Returns 0; the number of a signal that asks us to end; or -1 after
 * printing that the node does not serve. */
static int wait_until_serves(struct dev *dev, uint32_t index)
{
	double end = clock_seconds() + START_MS / 1000.0;
	struct baton *baton = baton_open(dev->sockets[index]);

	memory_must(baton != NULL);
	for (;;) {
		json_t *json = NULL;
		char *text = NULL;
		bool ready = baton_status(baton, NULL, 1, &text) == 0 &&
		             (json = json_loads(text, 0, NULL)) != NULL &&
		             json_is_null(json_object_get(json, "waiting_for"));
		json_decref(json);
		free(text);
		int number = ready ? 0 : wait_for_signal(dev, 20);
		if (!ready && number == 0 && dev->pids[index] > 0 && clock_seconds() < end)
			continue;
		baton_close(baton);
		if (!ready && number == 0)
			fprintf(stderr, "baton dev: %s does not serve\n", dev->names[index]);
		return ready || number != 0 ? number : -1;
	}
}

static int wait_until_ready(struct dev *dev)
{
	int code = 0;

	for (uint32_t i = 0; code == 0 && i < dev->nodes; i++)
		code = wait_until_serves(dev, i);
	return code;
}

static void print_head(const struct dev *dev)
{
	printf("A cluster of %u node%s, %s%s. Ctrl-C ends it.\n\n", dev->nodes,
	       dev->nodes == 1 ? "" : "s", dev->algorithm,
	       dev->tls ? ", with TLS between them" : "");
	for (uint32_t i = 0; i < dev->nodes; i++)
		printf("  %-4s %s\n", dev->names[i], dev->sockets[i]);
}

static void print_how(const struct dev *dev, const char *program)
{
	printf("\nTry it in other terminals:\n\n"
	       "  export BATON_SOCKET=%s\n"
	       "  %s run backup sleep 20      # hold a lock while a command runs\n"
	       "  %s status                   # who holds what, who waits\n"
	       "  BATON_SOCKET=%s \\\n"
	       "    %s run -n backup true     # refused while it is held: exit 75\n"
	       "  redis-cli -s %s LOCK x\n",
	       dev->sockets[0], program, program, dev->sockets[dev->nodes - 1], program,
	       dev->sockets[0]);
	if (dev->nodes > 2)
		printf("\nKill the node of a holder, and watch the lock move:\n\n"
		       "  BATON_SOCKET=%s %s lock prize < /dev/tty &\n"
		       "  BATON_SOCKET=%s %s lock prize < /dev/tty &\n"
		       "  kill -9 %d                  # %s; the other has the lock within 4 s\n",
		       dev->sockets[0], program, dev->sockets[1], program, (int)dev->pids[0],
		       dev->names[0]);
	fflush(stdout);
}

/* Lets one client at each node take the lock in turn, and prints how many messages that took. */
static int hand_around(struct dev *dev)
{
	uint64_t fence;
	char *text = NULL;

	printf("\nThe lock 'demo' goes round:\n\n");
	for (uint32_t i = 0; i <= dev->nodes; i++) {
		uint32_t node = i % dev->nodes;
		struct baton *baton = baton_open(dev->sockets[node]);
		double before = clock_seconds();
		int error = baton == NULL ? BATON_EMEMORY : baton_lock(baton, "demo", 5000, &fence);
		double after = clock_seconds();
		if (error != 0) {
			fprintf(stderr, "baton dev: %s: %s\n", dev->names[node],
			        baton != NULL ? baton_message(baton) : baton_error_text(error));
			baton_close(baton);
			return -1;
		}
		printf("  %-4s has it, fence %llu, after %.2f ms\n", dev->names[node],
		       (unsigned long long)fence, (after - before) * 1000);
		baton_unlock(baton, "demo");
		baton_sync(baton);
		if (i == dev->nodes && baton_status(baton, NULL, 1, &text) == 0) {
			json_t *json = json_loads(text, 0, NULL);
			printf("\n  %lld messages between the nodes for %u grants.\n",
			       (long long)json_integer_value(
			               json_object_get(json_object_get(json, "messages"), "sent")),
			       dev->nodes + 1);
			json_decref(json);
			free(text);
		}
		baton_close(baton);
		fflush(stdout);
	}
	return 0;
}

/* Starts a process that goes on passing the lock around, so that a page that is opened later shows
 * it too. It is a separate process, so that a node that does not answer delays nothing else. */
static void start_walker(struct dev *dev)
{
	static const struct timespec pause = {.tv_nsec = WALK_MS * 1000000L};
	uint64_t fence;

	if (dev->web <= 0)
		return;
	dev->walker = fork_child(dev);
	if (dev->walker != 0)
		return;
	if (dev->janitor > 0) /* close it: the janitor waits until nobody has this end open */
		close(dev->janitor_pipe);
	for (uint32_t i = 0;; i++) {
		/* Do not wait long: clients that come later would have to wait for this one. */
		struct baton *baton = baton_open(dev->sockets[i % dev->nodes]);
		bool held = baton != NULL && baton_lock(baton, "demo", WALK_MS, &fence) == 0;
		if (held) {
			nanosleep(&pause, NULL);
			baton_unlock(baton, "demo");
			baton_sync(baton);
		}
		baton_close(baton);
		nanosleep(&pause, NULL);
	}
}

/* Waits until the request that was started is granted. Returns 0 or an error. */
static int wait_for_grant(struct baton *baton, uint64_t *ret_fence)
{
	struct pollfd readable = {.fd = baton_fd(baton), .events = POLLIN};
	double end = clock_seconds() + TAKEOVER_MS / 1000.0;
	int error;

	while ((error = baton_finish(baton, ret_fence)) == BATON_EPENDING && clock_seconds() < end)
		poll(&readable, 1, 100);
	return error;
}

/* Kills the node of a holder while a client of another node waits, and tells what happens. */
static int fail_over(struct dev *dev, struct baton *holder, struct baton *waiter)
{
	uint64_t first, second;

	int error = baton_lock(holder, "demo", 5000, &first);
	if (error != 0) {
		fprintf(stderr, "baton dev: %s\n", baton_message(holder));
		return -1;
	}
	printf("\n  %-4s holds 'demo', fence %llu; a client of %s waits for it\n", dev->names[0],
	       (unsigned long long)first, dev->names[1]);
	error = baton_lock_start(waiter, "demo", BATON_FOREVER);
	double before = clock_seconds();
	kill(dev->pids[0], SIGKILL);
	waitpid(dev->pids[0], NULL, 0);
	dev->pids[0] = 0;
	printf("  %-4s is killed: kill -9\n", dev->names[0]);
	fflush(stdout);
	if (error == 0)
		error = wait_for_grant(waiter, &second);
	if (error != 0) {
		fprintf(stderr, "baton dev: %s\n", baton_message(waiter));
		return -1;
	}
	double taken = clock_seconds() - before;
	printf("  %-4s has it, fence %llu, after %.2f s\n", dev->names[1],
	       (unsigned long long)second, taken);
	fflush(stdout);
	before = clock_seconds();
	start_node(dev, 0);
	int code = wait_until_serves(dev, 0);
	if (code == 0)
		printf("  %-4s is started again and serves after %.2f s\n", dev->names[0],
		       clock_seconds() - before);
	return code;
}

static int show_failover(struct dev *dev)
{
	struct baton *holder = baton_open(dev->sockets[0]), *waiter = baton_open(dev->sockets[1]);

	memory_must(holder != NULL && waiter != NULL);
	int code = fail_over(dev, holder, waiter);
	baton_close(holder);
	baton_close(waiter);
	return code;
}

static int run_cluster(struct dev *dev, const char *program)
{
	sigset_t set;

	/* Block these signals, so that only sigtimedwait receives them and none is missed. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &dev->mask);
	signal(SIGPIPE, SIG_IGN);
	struct problem problem;
	if (make_folder(dev, &problem) != 0)
		return usage_problem("dev", &problem);
	start_janitor(dev);
	if (dev->tls && make_certificates(dev, &problem) != 0) {
		end_nodes(dev);
		return usage_problem("dev", &problem);
	}
	start_nodes(dev);
	int code = wait_until_ready(dev);
	if (code == 0) {
		print_head(dev);
		start_web(dev);
		code = hand_around(dev);
	}
	if (code == 0 && dev->failover)
		code = show_failover(dev);
	if (code == 0) {
		print_how(dev, program);
		start_walker(dev);
		code = wait_for_signal(dev, dev->for_ms == 0 ? -1 : (int64_t)dev->for_ms);
	}
	end_web(dev);
	end_nodes(dev);
	/* ^C is the normal way to end this command, so it is not a failure. */
	return code < 0 || code == SIGCHLD ? EXIT_VIOLATED : EXIT_HELD;
}

int command_dev(int argc, char **argv)
{
	static const struct option options[] = {
	        {"nodes", required_argument, NULL, 'N'},
	        {"algorithm", required_argument, NULL, 'a'},
	        {"topology", required_argument, NULL, 't'},
	        {"for", required_argument, NULL, 'f'},
	        {"failover", no_argument, NULL, 'F'},
	        {"no-web", no_argument, NULL, 'W'},
	        {"tls", no_argument, NULL, 's'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	struct dev *dev = calloc(1, sizeof(*dev));
	struct problem problem;
	uint64_t number;
	int option, wrong = 0;

	memory_must(dev != NULL);
	dev->nodes = 3;
	dev->algorithm = "neilsen";
	while (wrong == 0 && (option = next_option(argc, argv, options, &problem)) != -1) {
		switch (option) {
		case 'N':
			wrong = parse_number(optarg, 1, DEV_NODES_MAX, "--nodes", &number,
			                     &problem);
			dev->nodes = (uint32_t)number;
			break;
		case 'a':
			dev->algorithm = optarg;
			break;
		case 't':
			dev->topology = optarg;
			break;
		case 'f':
			wrong = parse_duration(optarg, "--for", &dev->for_ms, &problem);
			break;
		case 'F':
			dev->failover = true;
			break;
		case 'W':
			dev->no_web = true;
			break;
		case 's':
			dev->tls = true;
			break;
		case 'h':
			print_help("dev");
			free(dev);
			return EXIT_HELD;
		default:
			wrong = -1;
		}
	}
	if (wrong == 0 && optind < argc)
		wrong = problem_set(&problem, "unexpected '%.60s'", argv[optind]);
	if (wrong == 0 && dev->failover && dev->nodes < 3)
		wrong = problem_set(&problem, "--failover: three nodes are needed, or no majority "
		                              "is left when one is killed");
	if (wrong == 0) {
		struct settings *settings =
		        settings_create(&(struct settings_words){.algorithm = dev->algorithm,
		                                                 .topology = dev->topology},
		                        &problem);
		wrong = settings == NULL ? -1 : 0;
		settings_destroy(settings);
	}
	int code = wrong != 0 ? usage_problem("dev", &problem)
	                      : run_cluster(dev, program_invocation_name);
	free(dev);
	return code;
}
