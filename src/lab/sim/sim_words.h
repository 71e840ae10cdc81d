/*
 * The words that describe a run. The options of the command line and the address of the page use
 * the same words, so one parser serves both and reports the same errors.
 */
#ifndef LAB_SIM_WORDS_H
#define LAB_SIM_WORDS_H

#include "sim.h"

struct sim_words {
	struct setup_words setup;
	struct sim_options options;
	const char *load; /* the load as it was given */
	uint64_t warmup;  /* the length of the warm-up, if `warmed` */
	bool warmed, seeded;
	/* An option that was given and makes no sense for an election, or NULL. */
	const char *not_for_elections;
	uint64_t *lose_hops;
	uint32_t *askers; /* the nodes that ask, in increasing order; NULL: all */
};

/* Describes a run without any options. `host` is for the setup and may be NULL. */
void sim_words_init(struct sim_words *words, const struct host *host);
void sim_words_free(struct sim_words *words);

/*
 * Takes one word by the long name of its option: one that setup_option knows, or entries, warmup,
 * seed, load, askers, delay, cs, bound, slow, lose, lose-token. The value must outlive the words.
 * Returns 0; or -1 and a problem; or 1 if there is no such word.
 */
int sim_words_option(const char *name, const char *value, struct sim_words *words,
                     struct problem *problem);

/* Checks that the words do not contradict each other. Returns 0, or -1 and a problem. */
int sim_words_check(const struct sim_words *words, struct problem *problem);

/* Makes the options of the run, for a setup that was made from words->setup. Returns 0, or -1
 * and a problem. */
int sim_words_options(const struct sim_words *words, const struct setup *setup,
                      struct sim_options *ret_options, struct problem *problem);

#endif
