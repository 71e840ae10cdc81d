/*
 * The faults that may happen in a checked run: a message is lost or duplicated, a node crashes and
 * perhaps begins again, a link is cut. The checker tries each fault at every moment.
 */
#ifndef LAB_FAULTS_H
#define LAB_FAULTS_H

#include "algorithm.h"
#include "problem.h"
#include "text.h"

#include <stdbool.h>
#include <stdint.h>

/* The nodes that may crash. */
enum victim {
	VICTIM_ANY,
	VICTIM_HOLDER,    /* a node that is inside, or has the token */
	VICTIM_BYSTANDER, /* a node that neither waits nor is inside, and does not have the token */
};

/* The faults that may happen in a run, at any moment, and how often. */
struct faults {
	/* Bit t: one message of type t may be lost, or duplicated, in a run. */
	uint64_t lose, duplicate;
	uint32_t crashes_max, restarts_max;
	enum victim victim;
	bool cut; /* one link may be cut */
	/* How often a link may be made or removed. Such a change is no fault, but it too can happen
	 * at any moment. It cannot be combined with faults. */
	uint32_t rewires_max;
};

/* The violations that end the search. */
enum sought {
	SOUGHT_ANY,
	SOUGHT_TWO_INSIDE,
	/* Two nodes are inside; or nothing can happen, and every node that has not crashed waits or
	 * cannot get ready. */
	SOUGHT_ALL_WAIT,
};

static inline bool faults_any(const struct faults *faults)
{
	return (faults->lose | faults->duplicate) != 0 || faults->crashes_max != 0 || faults->cut ||
	       faults->rewires_max != 0;
}

/*
 * Reads which messages may be lost or duplicated: names of message types, separated by commas, or
 * `request` (all that ask), `answer` (all that permit without the token), `token` (all that carry
 * it). Returns 0 and a bit for each type; or -1 and a problem.
 */
int faults_types(const char *text, const char *option, const struct algorithm *algorithm,
                 uint64_t *ret_types, struct problem *problem);
/* Reads K, K:holder or K:bystander. Returns 0, or -1 and a problem. */
int faults_crashes(const char *text, struct faults *faults, struct problem *problem);
/* Appends a sentence without its full stop, such as "one REQUEST may be lost". */
void faults_describe(const struct faults *faults, const struct algorithm *algorithm,
                     struct text *text);

#endif
