/*
 * Scenarios: a schedule of steps and what must be true along it, as plain text, one step a line;
 * first a header that says which algorithm runs on which network.
 *
 * This is the parser: bytes become a `struct scenario`, or a problem and the line that it is on. It
 * does no I/O. What a step does when it happens is in replay.h.
 *
 * Blanks separate words, "…" keeps them together. A '#' at the beginning of a word begins a
 * comment, except where `deliver` and `drop` may have their #K and a digit follows.
 */
#ifndef LAB_SCENARIO_H
#define LAB_SCENARIO_H

#include "setup.h"
#include "world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCENARIO_SIZE_MAX = 1 << 24,        /* bytes of text */
	SCENARIO_STATES_SIZE_MAX = 1 << 30, /* bytes of all nodes' states */
};

enum step_kind {
	STEP_REQUEST,  /* node */
	STEP_INITIATE, /* node */
	STEP_RELEASE,  /* node */
	STEP_DELIVER,  /* node, to, name or NULL, number: K */
	STEP_DROP,     /* the same */
	STEP_EXPIRE,   /* node, number: the timer if has_number */
	STEP_CRASH,    /* node */
	STEP_RUN,
	STEP_FAIL,             /* name: the text */
	STEP_EXPECT_PHASE,     /* node, phase */
	STEP_EXPECT_LEADS,     /* node: it has learned that it is the leader itself */
	STEP_EXPECT_VARIABLES, /* node, variables */
	STEP_EXPECT_FLIGHT, /* node, to, name; number: exactly so many if has_number, else at least
	                       one */
	STEP_EXPECT_MESSAGES,         /* number */
	STEP_EXPECT_QUEUE,            /* name: nodes with commas between them, or "nobody" */
	STEP_EXPECT_LEADER,           /* number: an identifier */
	STEP_EXPECT_INVARIANT,        /* name */
	STEP_EXPECT_MUTUAL_EXCLUSION, /* at most one node is inside */
	STEP_EXPECT_ONE_TOKEN,        /* at a node or in flight */
	STEP_EXPECT_STEPS_ALLOWED,    /* the step before it did what a step may do */
	STEP_EXPECT_UNIQUE_LEADER,    /* of an election, as the next two */
	STEP_EXPECT_AGREEMENT,
	STEP_EXPECT_TERMINATION,
};

/* A variable that is expected to have a value. */
struct expected_variable {
	const char *name;
	char *value; /* compact JSON */
};

struct step {
	enum step_kind kind;
	uint32_t line;
	uint32_t node; /* also the sender of a message */
	uint32_t to;
	enum world_phase phase;
	bool has_number;
	uint64_t number;
	const char *name;
	struct expected_variable *variables;
	size_t variables_count;

	/* What scenario_bind finds for the name. */
	uint8_t type; /* of the message */
	const struct invariant *invariant;
};

/* The lines of a header. */
enum header {
	HEADER_ALGORITHM,
	HEADER_TOPOLOGY,
	HEADER_NODES,
	HEADER_HOLDER,
	HEADER_ORDER, /* fifo or reorder */
	HEADER_ARRANGEMENT,
	HEADER_CRASH,
	HEADERS_COUNT
};

struct scenario {
	struct setup_words words;
	uint32_t lines[HEADERS_COUNT]; /* where each was given; 0: not given */
	uint32_t parameter_lines[SETUP_PARAMETERS_MAX];
	struct step *steps;
	size_t steps_count;
	char *text; /* all words are in it */
};

/* 0 and a scenario to be freed, or -1, the problem and, in `ret_line`, the line that it is on,
 * from 1. */
int scenario_parse(const char *text, size_t size, struct scenario *ret_scenario, uint32_t *ret_line,
                   struct problem *problem);
void scenario_free(struct scenario *scenario);

/* The network of the header, to be freed with setup_free, and scenario_bind; returns as
 * scenario_parse. */
int scenario_setup(struct scenario *scenario, struct setup *ret_setup, uint32_t *ret_line,
                   struct problem *problem);

/* Holds every step against the network: are there such nodes, messages, invariants? Returns as
 * scenario_parse. */
int scenario_bind(struct scenario *scenario, const struct network *network, uint32_t *ret_line,
                  struct problem *problem);

/* Is the step an expectation, that changes nothing? */
bool step_expects(const struct step *step);

#endif
