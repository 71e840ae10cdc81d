#include "strays.h"

#include "memory.h"
#include "must.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

enum {
	END_NS = 100000000, /* how long strays_end waits for the thread */
	/* The reserve may be one in this many of all descriptors. */
	RESERVE_ONE_IN = 8,
};

/* Descriptors to close: those of a message, or a socket. */
struct stray_job {
	STAILQ_ENTRY(stray_job) entry;
	void *owner;
	bool orphan; /* a socket without an owner */
	size_t count;
	int fds[];
};

STAILQ_HEAD(stray_jobs, stray_job);

struct strays {
	struct loop_watch bell; /* an eventfd: jobs are done; must be the first member */
	struct loop *loop;
	bool refused; /* no descriptors can come */
	bool peeks;   /* no descriptors are in reserve: look at each message before reading it */
	void (*closed)(void *context, void *owner);
	void *context;
	size_t jobs_count;    /* jobs that the thread was given and has not reported as done */
	size_t orphans_count; /* those of them that are `orphan` */
	pthread_t thread;
	pthread_mutex_t mutex; /* guards the fields below */
	pthread_cond_t work;
	struct stray_jobs waiting, done;
	bool ends;
};

/* --- the thread --- */

static void *close_jobs(void *context)
{
	struct strays *strays = context;

	pthread_mutex_lock(&strays->mutex);
	for (;;) {
		while (STAILQ_EMPTY(&strays->waiting) && !strays->ends)
			pthread_cond_wait(&strays->work, &strays->mutex);
		struct stray_job *job = STAILQ_FIRST(&strays->waiting);
		if (job == NULL)
			break;
		STAILQ_REMOVE_HEAD(&strays->waiting, entry);
		pthread_mutex_unlock(&strays->mutex);
		for (size_t i = 0; i < job->count; i++)
			close(job->fds[i]);
		pthread_mutex_lock(&strays->mutex);
		STAILQ_INSERT_TAIL(&strays->done, job, entry);
		eventfd_write(strays->bell.fd, 1);
	}
	pthread_mutex_unlock(&strays->mutex);
	return NULL;
}

/* Blocks signals in the new thread, because the loop's thread handles them. */
static void start_thread(struct strays *strays)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	must(pthread_create(&strays->thread, NULL, close_jobs, strays) == 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- the loop --- */

static void on_bell(struct loop_watch *watch, uint32_t events)
{
	struct strays *strays = (struct strays *)watch;
	struct stray_jobs done = STAILQ_HEAD_INITIALIZER(done);
	eventfd_t count;

	(void)events;
	eventfd_read(watch->fd, &count);
	pthread_mutex_lock(&strays->mutex);
	STAILQ_CONCAT(&done, &strays->done);
	pthread_mutex_unlock(&strays->mutex);
	while (!STAILQ_EMPTY(&done)) {
		struct stray_job *job = STAILQ_FIRST(&done);
		STAILQ_REMOVE_HEAD(&done, entry);
		strays->jobs_count--;
		strays->orphans_count -= job->orphan;
		strays->closed(strays->context, job->owner);
		free(job);
	}
}

static void hand_over(struct strays *strays, const int *fds, size_t count, void *owner, bool orphan)
{
	struct stray_job *job = malloc(sizeof(*job) + count * sizeof(*fds));

	memory_must(job != NULL);
	*job = (struct stray_job){.owner = owner, .orphan = orphan, .count = count};
	memcpy(job->fds, fds, count * sizeof(*fds));
	strays->jobs_count++;
	strays->orphans_count += orphan;
	pthread_mutex_lock(&strays->mutex);
	STAILQ_INSERT_TAIL(&strays->waiting, job, entry);
	pthread_cond_signal(&strays->work);
	pthread_mutex_unlock(&strays->mutex);
}

bool strays_are_refusable(void)
{
	const int off = 0;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool can = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) == 0;

	if (fd >= 0)
		close(fd);
	return can;
}

void strays_refuse(const struct strays *strays, int fd)
{
	const int off = 0;

	if (strays->refused)
		must(setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) == 0);
}

struct strays *strays_open(struct loop *loop, bool refused,
                           void (*closed)(void *context, void *owner), void *context)
{
	struct strays *strays = calloc(1, sizeof(*strays));

	memory_must(strays != NULL);
	strays->loop = loop;
	strays->refused = refused;
	strays->closed = closed;
	strays->context = context;
	STAILQ_INIT(&strays->waiting);
	STAILQ_INIT(&strays->done);
	must(pthread_mutex_init(&strays->mutex, NULL) == 0);
	must(pthread_cond_init(&strays->work, NULL) == 0);
	strays->bell =
	        (struct loop_watch){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_bell};
	must(strays->bell.fd >= 0);
	loop_add(loop, &strays->bell, EPOLLIN);
	start_thread(strays);
	return strays;
}

void strays_end(struct strays *strays)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += END_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&strays->mutex);
	strays->ends = true;
	pthread_cond_signal(&strays->work);
	pthread_mutex_unlock(&strays->mutex);
	if (pthread_timedjoin_np(strays->thread, NULL, &until) != 0)
		return;
	while (!STAILQ_EMPTY(&strays->done)) {
		struct stray_job *job = STAILQ_FIRST(&strays->done);
		STAILQ_REMOVE_HEAD(&strays->done, entry);
		free(job);
	}
	loop_close_fd(strays->loop, &strays->bell);
	pthread_cond_destroy(&strays->work);
	pthread_mutex_destroy(&strays->mutex);
	free(strays);
}

uint32_t strays_reserve(struct strays *strays, uint64_t descriptors_max)
{
	if (strays->refused)
		return 0;
	strays->peeks = descriptors_max / RESERVE_ONE_IN < STRAYS_MESSAGE_MAX;
	return strays->peeks ? 0 : STRAYS_MESSAGE_MAX;
}

void strays_expect(const struct strays *strays, int fd)
{
	const int on = 1;

	if (!strays->refused)
		setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
}

/* Hands the descriptors of a message over to the thread. Returns false if there are none. */
static bool take_descriptors(struct strays *strays, struct msghdr *message)
{
	int fds[STRAYS_MESSAGE_MAX];
	struct cmsghdr *header = CMSG_FIRSTHDR(message);

	if (header == NULL || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
		return false;
	size_t size = header->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(header), size);
	hand_over(strays, fds, size / sizeof(int), NULL, false);
	return true;
}

ssize_t strays_receive(struct strays *strays, int fd, char *room, size_t size, bool *ret_came)
{
	union {
		struct cmsghdr header; /* gives the union its alignment */
		char bytes[CMSG_SPACE(sizeof(int) * STRAYS_MESSAGE_MAX)];
	} control;
	struct iovec bytes = {room, size};
	struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};

	if (strays->jobs_count > 0 || strays->peeks) {
		ssize_t seen = recvmsg(fd, &message, MSG_PEEK);
		if (seen <= 0)
			return seen;
		if ((message.msg_flags & MSG_CTRUNC) != 0) { /* there is no room for descriptors */
			*ret_came = true;
			return seen;
		}
		bytes.iov_len = (size_t)seen; /* no further: a message may have come since */
	}
	message.msg_control = control.bytes;
	message.msg_controllen = sizeof(control.bytes);
	ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	if (got > 0 && message.msg_controllen > 0 && take_descriptors(strays, &message))
		*ret_came = true;
	return got;
}

bool strays_close(const struct strays *strays, int fd)
{
	char byte;

	if (!strays->refused) {
		shutdown(fd, SHUT_RDWR); /* now nobody can send anything more */
		if (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
			return false;
	}
	close(fd);
	return true;
}

void strays_leave(struct strays *strays, int fd, void *owner)
{
	shutdown(fd, SHUT_RDWR); /* now nobody can connect to a listener */
	hand_over(strays, &fd, 1, owner, owner == NULL);
}

bool strays_are_too_many(const struct strays *strays)
{
	return strays->orphans_count >= STRAYS_ORPHANS_MAX;
}
