/*
 * A scenario is a schedule of steps and what must be true along it, as plain text with one step a
 * line. A header says which algorithm runs on which network.
 *
 * This is the parser: bytes become a `struct scenario`, or a problem and the line that it is on. It
 * does no I/O. What a step does when it happens is in replay.h.
 *
 * Blanks separate words, except inside "…". A '#' at the beginning of a word begins a comment,
 * except after the two nodes of `deliver`, `drop` and `duplicate`, where a '#' before a digit is a
 * #K.
 */
#ifndef LAB_SCENARIO_H
#define LAB_SCENARIO_H

#include "setup.h"
#include "world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCENARIO_SIZE_MAX = 1 << 24,        /* the most bytes of a scenario's text */
	SCENARIO_STATES_SIZE_MAX = 1 << 30, /* the most bytes of all nodes' states */
};

/* The kinds of steps. A comment names the fields of struct step that a kind uses. */
enum step_kind {
	STEP_REQUEST,   /* uses `node` */
	STEP_INITIATE,  /* uses `node` */
	STEP_RELEASE,   /* uses `node` */
	STEP_DELIVER,   /* uses `node`, `to`, `name` (may be NULL) and `number`, the K of #K */
	STEP_DROP,      /* uses the same fields as STEP_DELIVER */
	STEP_EXPIRE,    /* uses `node` and, if `has_number`, `number`: the timer */
	STEP_DUPLICATE, /* uses the same fields as STEP_DELIVER */
	STEP_CRASH,     /* uses `node` */
	STEP_RESTART,   /* uses `node` */
	STEP_LINK,      /* uses `node` and `to` */
	STEP_UNLINK,    /* uses `node` and `to` */
	STEP_CUT,       /* uses `node` and `to` */
	STEP_RUN,
	STEP_LOOP,             /* a loop begins, which lasts to the end; changes nothing */
	STEP_FAIL,             /* uses `name`: the text */
	STEP_EXPECT_PHASE,     /* uses `node` and `phase` */
	STEP_EXPECT_LEADS,     /* `node` has learned that it is the leader itself */
	STEP_EXPECT_VARIABLES, /* uses `node` and `variables` */
	/* Uses `node`, `to` and `name`; expects exactly `number` messages if `has_number`,
	 * otherwise at least one. */
	STEP_EXPECT_FLIGHT,
	STEP_EXPECT_MESSAGES,         /* uses `number` */
	STEP_EXPECT_QUEUE,            /* uses `name`: nodes separated by commas, or "nobody" */
	STEP_EXPECT_LEADER,           /* uses `number`: an identifier */
	STEP_EXPECT_INVARIANT,        /* uses `name` */
	STEP_EXPECT_MUTUAL_EXCLUSION, /* at most one node is inside */
	STEP_EXPECT_ONE_TOKEN,        /* exactly one token is at a node or in flight */
	STEP_EXPECT_STEPS_ALLOWED,    /* the step before this one did not break the contract */
	STEP_EXPECT_UNIQUE_LEADER,    /* for elections only, as are the next two kinds */
	STEP_EXPECT_AGREEMENT,
	STEP_EXPECT_TERMINATION,
};

/* A variable that is expected to have a value. */
struct expected_variable {
	const char *name;
	char *value; /* the expected value as compact JSON */
};

struct step {
	enum step_kind kind;
	uint32_t line;
	uint32_t node; /* the node of the step or, if it is about a message, the sender */
	uint32_t to;
	enum world_phase phase;
	bool has_number;
	uint64_t number;
	const char *name;
	struct expected_variable *variables;
	size_t variables_count;

	/* scenario_bind finds these by the name. */
	uint8_t type; /* the type of the message */
	const struct invariant *invariant;
};

/* The lines of a header. */
enum header {
	HEADER_ALGORITHM,
	HEADER_TOPOLOGY,
	HEADER_NODES,
	HEADER_HOLDER,
	HEADER_ORDER, /* a line `fifo` or `reorder` */
	HEADER_ARRANGEMENT,
	HEADER_CRASH,
	HEADERS_COUNT
};

struct scenario {
	struct setup_words words;
	uint32_t lines[HEADERS_COUNT]; /* for each header, the number of its line; 0: not given */
	uint32_t parameter_lines[SETUP_PARAMETERS_MAX];
	struct step *steps;
	size_t steps_count;
	uint32_t lines_count; /* how many lines the text has */
	char *text;           /* a copy of the scenario's text, which all words point into */
};

/* Returns 0 and a scenario for scenario_free; or -1, a problem, and in `ret_line` the number of
 * its line, from 1. */
int scenario_parse(const char *text, size_t size, struct scenario *ret_scenario, uint32_t *ret_line,
                   struct problem *problem);
void scenario_free(struct scenario *scenario);

/* Makes the network that the header describes, for setup_free, and calls scenario_bind. Returns
 * the same as scenario_parse. */
int scenario_setup(struct scenario *scenario, struct setup *ret_setup, uint32_t *ret_line,
                   struct problem *problem);

/* Checks that the nodes, messages and invariants that the steps name exist in the network.
 * Returns the same as scenario_parse. */
int scenario_bind(struct scenario *scenario, const struct network *network, uint32_t *ret_line,
                  struct problem *problem);

/* Is the step an expectation? Expectations change nothing. */
bool step_expects(const struct step *step);

#endif
