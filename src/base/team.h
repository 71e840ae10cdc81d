/*
 * Threads that do the same work in parallel, each on its own part; the caller is the first of them.
 */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct team {
	uint32_t count;
	uint32_t started;   /* how many threads were started, including the caller */
	pthread_t *threads; /* the threads, without the caller */
	struct team_member *members;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* The number of rounds that have begun, and the number of parts of rounds that threads
	 * other than the caller have finished. */
	atomic_uint begun, ended;
	unsigned rounds;
	void (*work)(void *context, uint32_t member);
	void *context;
	bool over;
};

/* Sets the number of threads, including the caller. They are started when there is work. If some
 * cannot be started, the caller does their part. */
void team_init(struct team *team, uint32_t count);
void team_free(struct team *team);
/* Calls work(context, i) for each i below team->count in parallel, and returns when all have
 * returned. */
void team_run(struct team *team, void (*work)(void *context, uint32_t member), void *context);

#endif
