#include "reload.h"

#include "instance.h"
#include "log.h"
#include "memory.h"
#include "must.h"
#include "rules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A job belongs to the thread until the thread has written to `done_fd`. */
struct reload_job {
	const struct daemon_options *options;
	pthread_t thread;
	int done_fd;
	int result; /* what options->reload returned */
	struct rules *rules;
	struct problem problem;
};

static void *work(void *argument)
{
	struct reload_job *job = argument;
	const uint64_t one = 1;

	job->result =
	        job->options->reload(job->options->reload_context, &job->rules, &job->problem);
	ssize_t written = write(job->done_fd, &one, sizeof(one));
	must(written == sizeof(one));
	return NULL;
}

static void take_rules(struct daemon *daemon, const struct reload_job *job)
{
	if (job->result != 0) {
		log_line(LEVEL_ERROR, "SIGHUP: the rules stay as they were: %s", job->problem.text);
		return;
	}
	rules_destroy(daemon->rules);
	daemon->rules = job->rules;
	listeners_adjust(daemon);
	log_line(LEVEL_INFO, "SIGHUP: the rules were read again%s",
	         daemon->rules == NULL
	                 ? ": there are none, everybody who can connect may do everything"
	                 : "");
}

static void on_done(struct loop_watch *watch, uint32_t events)
{
	struct reload *reload = (struct reload *)watch;
	struct reload_job *job = reload->job;
	uint64_t count;

	(void)events;
	if (job == NULL || read(watch->fd, &count, sizeof(count)) != sizeof(count))
		return;
	pthread_join(job->thread, NULL);
	take_rules(reload->daemon, job);
	free(job);
	reload->job = NULL;
	if (reload->again)
		reload_begin(reload->daemon);
}

void reload_open(struct daemon *daemon)
{
	struct reload *reload = &daemon->reload;

	*reload = (struct reload){
	        .done = {.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_done},
	        .daemon = daemon};
	must(reload->done.fd >= 0);
	loop_add(&daemon->loop, &reload->done, EPOLLIN);
}

void reload_begin(struct daemon *daemon)
{
	struct reload *reload = &daemon->reload;

	reload->again = reload->job != NULL;
	if (reload->again)
		return;
	struct reload_job *job = calloc(1, sizeof(*job));
	memory_must(job != NULL);
	job->options = daemon->options;
	job->done_fd = reload->done.fd;
	int error = pthread_create(&job->thread, NULL, work, job);
	if (error != 0) {
		log_line(LEVEL_ERROR, "SIGHUP: the rules stay as they were: %s", strerror(error));
		free(job);
		return;
	}
	reload->job = job;
}

void reload_close(struct daemon *daemon)
{
	/* While a job is running, its thread may still write to the descriptor. */
	if (daemon->reload.job == NULL)
		loop_close_fd(&daemon->loop, &daemon->reload.done);
	rules_destroy(daemon->rules);
}
