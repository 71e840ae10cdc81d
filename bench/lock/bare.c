/*
 * The yardsticks of bench_lock: see bare.h.
 */
#include "bare.h"

#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum { PROCESSES_MAX = 64, MESSAGE_SIZE = 64 };

static void must_be(bool true_thing, const char *what)
{
	if (!true_thing) {
		fprintf(stderr, "bench_lock: bare: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

/* --- echo --- */

static char inbox[1 << 16];

static void on_need(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)handle;
	(void)suggested;
	*ret_buf = uv_buf_init(inbox, sizeof(inbox));
}

static void on_closed(uv_handle_t *handle)
{
	free(handle);
}

static void on_echo(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
	if (size < 0) {
		uv_close((uv_handle_t *)stream, on_closed);
		return;
	}
	uv_buf_t answer = uv_buf_init(buf->base, (unsigned)size);
	uv_try_write(stream, &answer, 1);
}

static void on_client(uv_stream_t *listener, int status)
{
	uv_pipe_t *client = malloc(sizeof(*client));

	must_be(client != NULL && status == 0, "echo");
	uv_pipe_init(listener->loop, client, 0);
	uv_accept(listener, (uv_stream_t *)client);
	uv_read_start((uv_stream_t *)client, on_need, on_echo);
}

_Noreturn void bare_echo(const char *path)
{
	uv_loop_t *loop = uv_default_loop();
	uv_pipe_t listener;

	signal(SIGPIPE, SIG_IGN);
	uv_pipe_init(loop, &listener, 0);
	must_be(uv_pipe_bind(&listener, path) == 0, path);
	uv_listen((uv_stream_t *)&listener, 128, on_client);
	uv_run(loop, UV_RUN_DEFAULT);
	exit(0);
}

/* --- turns --- */

struct ring {
	_Atomic uint64_t turns;
	atomic_bool stop;
};

enum { TOKEN = 1, REQUEST = 2 };

/* One process: its streams to the next one (token), to the first (requests), from others, and to
 * its client. */
struct process {
	int index, count, messages;
	uv_loop_t loop;
	uv_tcp_t to[PROCESSES_MAX];
	struct tls *tls[PROCESSES_MAX]; /* the TLS of each stream; NULL: it has none */
	uv_pipe_t client;
	struct ring *ring;
};

static void send_to(struct process *process, int to, char kind, int about)
{
	static char encrypted[MESSAGE_SIZE * 2];
	char message[MESSAGE_SIZE] = {kind, (char)about};
	uv_buf_t buf = uv_buf_init(message, sizeof(message));
	struct tls *tls = process->tls[to];
	const uint8_t *bytes;

	if (tls != NULL) {
		tls_write(tls, (const uint8_t *)message, sizeof(message));
		size_t size = tls_output(tls, &bytes);
		must_be(size <= sizeof(encrypted), "record");
		memcpy(encrypted, bytes, size);
		tls_written(tls, size);
		buf = uv_buf_init(encrypted, (unsigned)size);
	}
	uv_try_write((uv_stream_t *)&process->to[to], &buf, 1);
}

static void on_token(struct process *process)
{
	uv_buf_t buf = uv_buf_init(inbox, 20);

	uv_try_write((uv_stream_t *)&process->client, &buf, 1);
}

static void on_client_back(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
	struct process *process = stream->data;

	(void)buf;
	if (size <= 0)
		return;
	send_to(process, (process->index + 1) % process->count, TOKEN, 0);
	if (process->messages == 3 && process->index != 0)
		send_to(process, 0, REQUEST,
		        (process->index + process->count - 2) % process->count);
	atomic_fetch_add_explicit(&process->ring->turns, 1, memory_order_relaxed);
}

static void take(struct process *process, const char *bytes, size_t size)
{
	for (size_t at = 0; at + MESSAGE_SIZE <= size; at += MESSAGE_SIZE) {
		if (bytes[at] == TOKEN)
			on_token(process);
		else if (process->index == 0 && bytes[at + 1] != 0)
			send_to(process, bytes[at + 1], REQUEST, bytes[at + 1]);
	}
}

static void on_message(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
	static char decrypted[1 << 15];
	struct process *process = stream->data;
	struct tls *tls = process->tls[(uv_tcp_t *)stream - process->to];
	size_t got;

	if (size <= 0)
		return;
	if (tls == NULL) {
		take(process, buf->base, (size_t)size);
		return;
	}
	tls_input(tls, (const uint8_t *)buf->base, (size_t)size);
	while ((got = tls_read(tls, (uint8_t *)decrypted, sizeof(decrypted))) > 0)
		take(process, decrypted, got);
}

/* The other end of the Unix socket: answers at once. */
static void be_client(int fd)
{
	char room[256];
	ssize_t size;

	while ((size = read(fd, room, sizeof(room))) > 0) {
		if (write(fd, room, (size_t)size) != size)
			break;
	}
	_exit(0);
}

/* Waits until the handshake is over. */
static struct tls *shake(const struct credentials *credentials, bool accepts, int fd)
{
	struct tls *tls = tls_create(credentials, accepts);
	const uint8_t *bytes;
	ssize_t size;

	tls_keep_buffers(tls);
	for (;;) {
		size_t left = tls_output(tls, &bytes);
		must_be(left == 0 || write(fd, bytes, left) == (ssize_t)left, "handshake");
		tls_written(tls, left);
		if (tls_state(tls) == TLS_OPEN)
			return tls;
		size = read(fd, inbox, sizeof(inbox));
		must_be(size > 0, "handshake");
		tls_input(tls, (const uint8_t *)inbox, (size_t)size);
	}
}

static struct credentials *load_credentials(const char *folder, int index)
{
	char ca[256], certificate[256], key[256];
	struct problem problem;

	snprintf(ca, sizeof(ca), "%s/ca.crt", folder);
	snprintf(certificate, sizeof(certificate), "%s/n%02d.crt", folder, index);
	snprintf(key, sizeof(key), "%s/n%02d.key", folder, index);
	struct credentials *credentials = credentials_load(
	        &(struct credentials_files){.ca = ca, .certificate = certificate, .key = key},
	        &problem);
	must_be(credentials != NULL, "credentials");
	return credentials;
}

static void be_process(struct process *process, int fds[PROCESSES_MAX], int client,
                       const char *certificates)
{
	struct credentials *credentials =
	        certificates != NULL ? load_credentials(certificates, process->index) : NULL;

	uv_loop_init(&process->loop);
	for (int i = 0; i < process->count; i++) {
		if (fds[i] < 0)
			continue;
		if (credentials != NULL)
			process->tls[i] = shake(credentials, process->index < i, fds[i]);
		uv_tcp_init(&process->loop, &process->to[i]);
		uv_tcp_open(&process->to[i], fds[i]);
		uv_tcp_nodelay(&process->to[i], 1);
		process->to[i].data = process;
		uv_read_start((uv_stream_t *)&process->to[i], on_need, on_message);
	}
	uv_pipe_init(&process->loop, &process->client, 0);
	uv_pipe_open(&process->client, client);
	process->client.data = process;
	uv_read_start((uv_stream_t *)&process->client, on_need, on_client_back);
	if (process->index == 0)
		on_token(process);
	uv_run(&process->loop, UV_RUN_DEFAULT);
	_exit(0);
}

/* Makes the two ends of a TCP connection over loopback. */
static void make_pair(int listener, const struct sockaddr_in *address, int ret_ends[2])
{
	ret_ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	must_be(connect(ret_ends[0], (const struct sockaddr *)address, sizeof(*address)) == 0,
	        "connect");
	ret_ends[1] = accept(listener, NULL, NULL);
	must_be(ret_ends[1] >= 0, "accept");
}

static pid_t child(bool pinned)
{
	cpu_set_t set;
	pid_t pid = fork();

	must_be(pid >= 0, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&set);
		CPU_SET(0, &set);
		if (pinned)
			sched_setaffinity(0, sizeof(set), &set);
	}
	return pid;
}

static void make_links(int processes, int messages, int fds[][PROCESSES_MAX])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	must_be(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
	must_be(listen(listener, 1) == 0, "listen");
	getsockname(listener, (struct sockaddr *)&address, &size);
	for (int i = 0; i < processes; i++) {
		for (int k = 0; k < processes; k++)
			fds[i][k] = -1;
	}
	for (int i = 0; i < processes; i++) {
		for (int k = i + 1; k < processes; k++) {
			int ends[2];
			bool next = k == i + 1 || (i == 0 && k == processes - 1);
			if (!next && (messages == 1 || i != 0))
				continue;
			make_pair(listener, &address, ends);
			fds[i][k] = ends[0];
			fds[k][i] = ends[1];
		}
	}
	close(listener);
}

double bare_turns(int processes, int messages, double seconds, bool pinned,
                  const char *certificates)
{
	static int fds[PROCESSES_MAX][PROCESSES_MAX];
	pid_t pids[PROCESSES_MAX], clients[PROCESSES_MAX];
	int pairs[PROCESSES_MAX][2] = {{0}};
	struct ring *ring = mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE,
	                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct timespec start, end;

	must_be(ring != MAP_FAILED, "mmap");
	make_links(processes, messages, fds);
	for (int i = 0; i < processes; i++) {
		must_be(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) == 0, "socketpair");
		clients[i] = child(pinned);
		if (clients[i] == 0)
			be_client(pairs[i][1]);
	}
	for (int i = processes - 1; i >= 0; i--) { /* the first process begins */
		pids[i] = child(pinned);
		if (pids[i] == 0) {
			struct process *process = calloc(1, sizeof(*process));
			must_be(process != NULL, "memory");
			process->index = i;
			process->count = processes;
			process->messages = messages;
			process->ring = ring;
			be_process(process, fds[i], pairs[i][0], certificates);
		}
	}
	for (int i = 0; i < processes; i++) {
		for (int k = 0; k < processes; k++) {
			if (fds[i][k] >= 0)
				close(fds[i][k]);
		}
		close(pairs[i][0]);
		close(pairs[i][1]);
	}
	usleep(100000);
	clock_gettime(CLOCK_MONOTONIC, &start);
	uint64_t before = atomic_load(&ring->turns);
	usleep((useconds_t)(seconds * 1e6));
	uint64_t after = atomic_load(&ring->turns);
	clock_gettime(CLOCK_MONOTONIC, &end);
	for (int i = 0; i < processes; i++) {
		kill(pids[i], SIGKILL);
		kill(clients[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		waitpid(clients[i], NULL, 0);
	}
	munmap(ring, sizeof(*ring));
	double took =
	        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	return (double)(after - before) / took;
}
