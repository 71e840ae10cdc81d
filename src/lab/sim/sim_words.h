/*
 * The words that describe a run: options of the command line and what the address of a page says
 * are the same words, understood by the same code, and wrong in the same sentences.
 */
#ifndef LAB_SIM_WORDS_H
#define LAB_SIM_WORDS_H

#include "sim.h"

struct sim_words {
	struct setup_words setup;
	struct sim_options options;
	const char *load; /* as given */
	uint64_t warmup;  /* if `warmed` */
	bool warmed, seeded;
	const char *not_for_elections; /* an option that was given, or NULL */
	uint64_t *lose_hops;
};

/* A run without options. The host, of which a setup has to know, may be NULL. */
void sim_words_init(struct sim_words *words, const struct host *host);
void sim_words_free(struct sim_words *words);

/*
 * A word by its long name: those of setup_option, and entries, warmup, seed, load, delay, cs,
 * bound, lose, lose-token. The value must stay. 0, or -1 and a problem; 1: there is no such word.
 */
int sim_words_option(const char *name, const char *value, struct sim_words *words,
                     struct problem *problem);

/* Do the words agree with each other? 0, or -1 and a problem. */
int sim_words_check(const struct sim_words *words, struct problem *problem);

/* The options of the run, on a setup that was made of words->setup. 0, or -1 and a problem. */
int sim_words_options(const struct sim_words *words, const struct setup *setup,
                      struct sim_options *ret_options, struct problem *problem);

#endif
