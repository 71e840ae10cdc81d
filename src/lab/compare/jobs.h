/*
 * The work of a comparison: simulated runs, shared among threads.
 */
#ifndef LAB_JOBS_H
#define LAB_JOBS_H

#include "compare.h"

#include <pthread.h>

enum job_kind {
	JOB_LIGHT,
	JOB_LIGHT_VARIED,  /* delays that vary, for the extremes */
	JOB_LIGHT_BOUNDED, /* delays that vary and are one at most, for times */
	JOB_HEAVY,
	JOB_HEAVY_VARIED,
	JOB_POISSON,
	JOB_FIRST,
	JOB_LOSS,
	JOB_ALL,
	JOB_ONE,
};

/* A part of the work for one row. No two write to the same place. */
struct job {
	enum job_kind kind;
	struct compare_row *row;
	const struct setup *setup;
	size_t rate; /* which of the rates */
	struct compare_load varied;
	uint64_t token_bytes, request_bytes;
	const char *violation;
	struct job_pool *pool;
	double weight; /* about how many messages it takes */
	double part;   /* of it that is done */
	bool running;
};

struct job_pool {
	const struct compare_options *options;
	struct job *jobs;
	size_t jobs_count, jobs_size;
	size_t next;
	double weight, done; /* of all, and of the jobs that are done */
	pthread_mutex_t mutex;
};

/* The work for a row, which must stay where it is. */
void pool_add_row(struct job_pool *pool, struct compare_row *row, const struct setup *setup);
void pool_run(struct job_pool *pool);
/* What several jobs found out about one row. */
void pool_gather(struct job_pool *pool);

/* For what a job does: how much of it is done, from 0 to 1; and what one run adds to it as a
 * whole. */
void job_note_part(struct job *job, double part);
void job_note_run(struct job *job, const struct sim_result *result);
/* All begin, in each arrangement; or one. (elections.c) */
void job_run_elections(struct job *job, const struct compare_options *options,
                       struct compare_elections *elections);

uint64_t compare_seeds_count(const struct compare_options *options);
/* Sum and sum of squares of `count` numbers. */
struct compare_mean mean_make(uint64_t count, double sum, double squares);
/* Of nothing yet: any range widens it. */
extern const struct range range_none;
void range_widen(struct range *range, struct range other);

#endif
