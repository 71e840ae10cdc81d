/*
 * The work of a comparison: simulated runs, shared among threads.
 */
#ifndef LAB_JOBS_H
#define LAB_JOBS_H

#include "compare.h"

#include <pthread.h>

enum job_kind {
	JOB_LIGHT,
	JOB_LIGHT_VARIED,  /* light load, varying delays: fewest and most messages for an entry */
	JOB_LIGHT_BOUNDED, /* light load with delays of at most one unit: measures times */
	JOB_HEAVY,
	JOB_HEAVY_VARIED,
	JOB_POISSON,
	JOB_FIRST,
	JOB_LOSS,
	JOB_ALL,
	JOB_ONE,
};

/* A part of the work for one row. No two jobs write to the same place. */
struct job {
	enum job_kind kind;
	struct compare_row *row;
	const struct setup *setup;
	size_t rate; /* the index of the rate that is measured */
	struct compare_load varied;
	uint64_t token_bytes, request_bytes;
	const char *violation;
	struct job_pool *pool;
	double weight; /* an estimate of how many messages the job takes */
	double part;   /* how much of the job is done, from 0 to 1 */
	bool running;
};

struct job_pool {
	const struct compare_options *options;
	struct job *jobs;
	size_t jobs_count, jobs_size;
	size_t next;
	double weight, done; /* the weight of all jobs, and the weight of the jobs that are done */
	pthread_mutex_t mutex;
};

/* Adds the work for a row. The row must not move until pool_gather. */
void pool_add_row(struct job_pool *pool, struct compare_row *row, const struct setup *setup);
void pool_run(struct job_pool *pool);
/* Combines what several jobs found out about the same row. */
void pool_gather(struct job_pool *pool);

/* Called by a job. job_note_part reports how much of the job is done, from 0 to 1. job_note_run
 * adds the figures that every run has to the job's sums. */
void job_note_part(struct job *job, double part);
void job_note_run(struct job *job, const struct sim_result *result);
/* Runs the job's elections. (elections.c) */
void job_run_elections(struct job *job, const struct compare_options *options,
                       struct compare_elections *elections);

uint64_t compare_seeds_count(const struct compare_options *options);
/* Makes a mean from the sum and the sum of squares of `count` numbers. */
struct compare_mean mean_make(uint64_t count, double sum, double squares);
/* The range of no numbers. Any other range widens it. */
extern const struct range range_none;
void range_widen(struct range *range, struct range other);

#endif
