/*
 * Threads that do the same work side by side, each on its own part; the caller is the first of
 * them.
 */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct team {
	uint32_t count;
	uint32_t started;   /* so many of them, with the caller */
	pthread_t *threads; /* the others */
	struct team_member *members;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	atomic_uint begun, ended; /* how often work was begun, and ended by one of the others */
	unsigned rounds;
	void (*work)(void *context, uint32_t member);
	void *context;
	bool over;
};

/* `count` of them, which are started when there is work for them; if some cannot be, the caller does
 * their part. */
void team_init(struct team *team, uint32_t count);
void team_free(struct team *team);
/* Calls work(context, i) for each i below team->count, all at once, and returns when all have. */
void team_run(struct team *team, void (*work)(void *context, uint32_t member), void *context);

#endif
