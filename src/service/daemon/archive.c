#include "archive.h"

#include "clock.h"
#include "disk.h"
#include "instance.h"
#include "leave.h"
#include "log.h"
#include "memory.h"
#include "must.h"
#include "outbuffer.h"
#include "randomness.h"
#include "shadow.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

/* A write that takes longer than the lease divided by SLOW_PART endangers the lease, and is
 * logged. */
enum { SLOW_PART = 40, CLOSE_S = 2 };

enum job_kind { JOB_WRITE, JOB_IDENTITY, JOB_ADDRESS };

struct job {
	STAILQ_ENTRY(job) entry;
	enum job_kind kind;
	struct durable_write write;
	struct out bytes; /* the bytes of an IDENTITY */
	char *name, *address;
	int result;
	uint64_t took_ns;
};

STAILQ_HEAD(jobs, job);

struct archive {
	struct daemon *daemon;
	struct identity identity;
	struct disk *disk; /* the data directory; NULL: there is none */
	struct durable_content nothing;
	pthread_t thread;
	struct loop_watch bell; /* an eventfd: a job is done */
	pthread_mutex_t mutex;  /* guards the fields below */
	pthread_cond_t work;
	struct jobs waiting, done;
	bool ends;
};

/* --- the thread --- */

static void do_job(struct archive *archive, struct job *job)
{
	uint64_t began = clock_monotonic_ns();

	switch (job->kind) {
	case JOB_WRITE:
		job->result = disk_write(archive->disk, &job->write);
		break;
	case JOB_IDENTITY:
		job->result = disk_write_identity(archive->disk, job->bytes.bytes,
		                                  job->bytes.bytes_count);
		break;
	case JOB_ADDRESS:
		job->result = disk_write_address(archive->disk, job->name, job->address);
		break;
	}
	job->took_ns = clock_monotonic_ns() - began;
}

static void *write_jobs(void *context)
{
	struct archive *archive = context;

	pthread_mutex_lock(&archive->mutex);
	for (;;) {
		while (STAILQ_EMPTY(&archive->waiting) && !archive->ends)
			pthread_cond_wait(&archive->work, &archive->mutex);
		struct job *job = STAILQ_FIRST(&archive->waiting);
		if (job == NULL)
			break;
		STAILQ_REMOVE_HEAD(&archive->waiting, entry);
		pthread_mutex_unlock(&archive->mutex);
		do_job(archive, job);
		pthread_mutex_lock(&archive->mutex);
		STAILQ_INSERT_TAIL(&archive->done, job, entry);
		eventfd_write(archive->bell.fd, 1);
	}
	pthread_mutex_unlock(&archive->mutex);
	return NULL;
}

/* --- the loop --- */

static void free_job(struct job *job)
{
	if (job->kind == JOB_WRITE)
		shadow_write_free(&job->write);
	if (job->kind == JOB_IDENTITY)
		out_free(&job->bytes);
	free(job->name);
	free(job->address);
	free(job);
}

static void end_job(struct archive *archive, struct job *job)
{
	struct daemon *daemon = archive->daemon;
	uint64_t lease_ns = daemon->settings.lease_ms * LOOP_MS;

	if (job->result != DISK_OK) {
		log_line(LEVEL_ERROR, "--data %s: %s; this node must end", daemon->options->data,
		         disk_text(archive->disk));
		daemon->code = 1;
		/* end at once: nothing that depends on the failed write may be sent */
		daemon->ended = true;
		return;
	}
	if (job->took_ns > lease_ns / SLOW_PART &&
	    log_limit_passes(&daemon->slow_disk, daemon->loop.now))
		log_line(LEVEL_WARNING,
		         "the disk took %llu ms for a write; with a lease of %llu ms, a write of "
		         "more than %llu ms endangers the lease",
		         (unsigned long long)(job->took_ns / LOOP_MS),
		         (unsigned long long)(lease_ns / LOOP_MS),
		         (unsigned long long)(lease_ns / SLOW_PART / LOOP_MS));
	if (job->kind == JOB_WRITE)
		member_written(daemon->member, job->write.number, daemon->loop.now);
	else if (job->kind == JOB_IDENTITY)
		member_identity_written(daemon->member, daemon->loop.now);
}

static void on_bell(struct loop_watch *watch, uint32_t events)
{
	struct archive *archive =
	        (struct archive *)((char *)watch - offsetof(struct archive, bell));
	struct jobs done = STAILQ_HEAD_INITIALIZER(done);
	eventfd_t value;

	(void)events;
	eventfd_read(watch->fd, &value);
	pthread_mutex_lock(&archive->mutex);
	STAILQ_CONCAT(&done, &archive->done);
	pthread_mutex_unlock(&archive->mutex);
	while (!STAILQ_EMPTY(&done)) {
		struct job *job = STAILQ_FIRST(&done);
		STAILQ_REMOVE_HEAD(&done, entry);
		if (!archive->daemon->ended)
			end_job(archive, job);
		free_job(job);
	}
}

static struct job *new_job(enum job_kind kind)
{
	struct job *job = calloc(1, sizeof(*job));

	memory_must(job != NULL);
	job->kind = kind;
	return job;
}

static void add_job(struct archive *archive, struct job *job)
{
	pthread_mutex_lock(&archive->mutex);
	STAILQ_INSERT_TAIL(&archive->waiting, job, entry);
	pthread_cond_signal(&archive->work);
	pthread_mutex_unlock(&archive->mutex);
}

void archive_write(struct archive *archive, const struct durable_write *write)
{
	struct daemon *daemon = archive->daemon;

	if (archive->disk == NULL) {
		member_written(daemon->member, write->number, daemon->loop.now);
		return;
	}
	struct job *job = new_job(JOB_WRITE);
	job->write = shadow_write_copy(write);
	add_job(archive, job);
}

void archive_write_identity(struct archive *archive, const struct identity *identity)
{
	if (archive->disk == NULL) {
		member_identity_written(archive->daemon->member, archive->daemon->loop.now);
		return;
	}
	struct job *job = new_job(JOB_IDENTITY);
	out_init(&job->bytes);
	identity_write(&job->bytes, identity);
	add_job(archive, job);
}

void archive_write_address(struct archive *archive, const char *name, const char *address)
{
	if (archive->disk == NULL)
		return;
	struct job *job = new_job(JOB_ADDRESS);
	job->name = strdup(name);
	job->address = address != NULL ? strdup(address) : NULL;
	memory_must(job->name != NULL && (job->address != NULL || address == NULL));
	add_job(archive, job);
}

/* --- opening and closing --- */

/* Makes a new identity from the options. */
static void draw_identity(struct archive *archive)
{
	const struct daemon_options *options = archive->daemon->options;
	struct identity *identity = &archive->identity;

	snprintf(identity->name, sizeof(identity->name), "%s", options->name);
	snprintf(identity->address, sizeof(identity->address), "%s",
	         options->address != NULL ? options->address : "");
	identity->witness = options->witness;
	identity->server = randomness_draw(NULL);
}

static int create_disk(struct archive *archive, char *text)
{
	struct out bytes;

	draw_identity(archive);
	out_init(&bytes);
	identity_write(&bytes, &archive->identity);
	int result =
	        disk_create(archive->daemon->options->data, bytes.bytes, bytes.bytes_count, text);
	out_free(&bytes);
	identity_free(&archive->identity);
	archive->identity = (struct identity){0};
	return result == DISK_OK ? disk_open(archive->daemon->options->data, &archive->disk, text)
	                         : result;
}

/* Takes the options of this process into the identity; they override what is stored. Only the name
 * must be the same as the stored one. Returns -1 after logging the reason. */
static int take_options(struct archive *archive)
{
	const struct daemon_options *options = archive->daemon->options;
	struct identity *identity = &archive->identity;

	if (options->name_given && strcmp(identity->name, options->name) != 0) {
		log_line(LEVEL_ERROR,
		         "--name %s: the data directory %s belongs to the node '%s'; leave --name "
		         "out, or give this node a directory of its own",
		         options->name, options->data, identity->name);
		return -1;
	}
	if (options->address != NULL && (options->address_given || identity->address[0] == '\0'))
		snprintf(identity->address, sizeof(identity->address), "%s", options->address);
	if (options->witness)
		identity->witness = true;
	return 0;
}

/* Stores the identity, because the options may have changed the address or the role. */
static int store_identity(struct archive *archive)
{
	struct out bytes;

	out_init(&bytes);
	identity_write(&bytes, &archive->identity);
	int result = disk_write_identity(archive->disk, bytes.bytes, bytes.bytes_count);
	out_free(&bytes);
	if (result != DISK_OK)
		log_line(LEVEL_ERROR, "--data %s: %s", archive->daemon->options->data,
		         disk_text(archive->disk));
	return result == DISK_OK ? 0 : -1;
}

static int read_disk(struct archive *archive)
{
	const char *data = archive->daemon->options->data;
	char text[DISK_TEXT_MAX] = "";
	size_t size;
	int result = disk_open(data, &archive->disk, text);

	if (result == DISK_EABSENT)
		result = create_disk(archive, text);
	if (result != DISK_OK) {
		log_line(LEVEL_ERROR, "--data %s: %s", data, text);
		return -1;
	}
	const uint8_t *bytes = disk_identity(archive->disk, &size);
	if (!identity_read(bytes, size, &archive->identity)) {
		log_line(LEVEL_ERROR, "--data %s: this version cannot read the identity in it",
		         data);
		return -1;
	}
	return take_options(archive) == 0 ? store_identity(archive) : -1;
}

/* Blocks signals in the new thread, because the loop's thread handles them. */
static void start_thread(struct archive *archive)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	must(pthread_create(&archive->thread, NULL, write_jobs, archive) == 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct archive *archive_open(struct daemon *daemon)
{
	struct archive *archive = calloc(1, sizeof(*archive));

	memory_must(archive != NULL);
	archive->daemon = daemon;
	archive->nothing.log_start = 1;
	STAILQ_INIT(&archive->waiting);
	STAILQ_INIT(&archive->done);
	if (daemon->options->data == NULL) {
		draw_identity(archive);
		return archive;
	}
	if (read_disk(archive) != 0) {
		disk_close(archive->disk);
		identity_free(&archive->identity);
		free(archive);
		return NULL;
	}
	pthread_mutex_init(&archive->mutex, NULL);
	pthread_cond_init(&archive->work, NULL);
	archive->bell =
	        (struct loop_watch){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_bell};
	must(archive->bell.fd >= 0);
	loop_add(&daemon->loop, &archive->bell, EPOLLIN);
	start_thread(archive);
	return archive;
}

/* Waits for the thread, but not for long: a disk that hangs must not keep the process from
 * ending. */
static bool joins_in_time(struct archive *archive)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += CLOSE_S;
	if (pthread_timedjoin_np(archive->thread, NULL, &until) == 0)
		return true;
	log_line(LEVEL_ERROR,
	         "--data %s: the disk does not answer; the node ends without waiting for it",
	         archive->daemon->options->data);
	return false;
}

void archive_close(struct archive *archive)
{
	if (archive == NULL)
		return;
	if (archive->disk != NULL) {
		pthread_mutex_lock(&archive->mutex);
		archive->ends = true;
		pthread_cond_signal(&archive->work);
		pthread_mutex_unlock(&archive->mutex);
		if (!joins_in_time(archive))
			return;
		on_bell(&archive->bell, 0);
		loop_close_fd(&archive->daemon->loop, &archive->bell);
		pthread_cond_destroy(&archive->work);
		pthread_mutex_destroy(&archive->mutex);
		disk_close(archive->disk);
	}
	identity_free(&archive->identity);
	free(archive);
}

const struct identity *archive_identity(const struct archive *archive)
{
	return &archive->identity;
}

/* Returns the voter's content. In a cluster of one without a data directory the node votes, in
 * memory. A node that joins others without a data directory does not vote. */
const struct durable_content *archive_content(const struct archive *archive)
{
	if (archive->disk != NULL)
		return disk_content(archive->disk);
	return archive->daemon->options->join_count == 0 ? &archive->nothing : NULL;
}

void archive_addresses(const struct archive *archive, struct electors *electors)
{
	const char *name, *address;

	for (size_t i = 0; archive->disk != NULL; i++) {
		address = disk_address(archive->disk, i, &name);
		if (address == NULL)
			break;
		electors_add(electors, 0, entry_text_of(name), entry_text_of(address));
	}
}

void archive_forget_content(struct archive *archive)
{
	if (archive->disk != NULL)
		disk_forget_content(archive->disk);
}
