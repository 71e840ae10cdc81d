/*
 * The laboratory as the web page sees it: one run, driven step by step or by a user, and its state
 * at any moment. The interface to the page's script is text only: options and scenarios go in,
 * trace lines and JSON come out.
 *
 * A step is an event with all that it causes: an event line of the trace and the lines that follow
 * from it. The user's acts are steps too, except a delay.
 */
#ifndef LAB_STAGE_H
#define LAB_STAGE_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>

struct stage;

enum stage_act {
	STAGE_REQUEST, /* a node asks, or begins an election */
	STAGE_RELEASE, /* a node leaves the critical section */
	STAGE_DELIVER, /* the message with that number arrives */
	STAGE_LOSE,
	STAGE_DELAY,  /* the message with that number is delayed by this many millionths */
	STAGE_EXPIRE, /* a node's timer expires */
	STAGE_CRASH,  /* a place dies */
};

/* Makes a stage. One that is not traced is about 20 times faster, but its stage_lines writes
 * nothing. */
struct stage *stage_create(bool traced);
void stage_destroy(struct stage *stage);

/* Writes all algorithms, with their messages, parameters and invariants, as JSON. */
void stage_catalogue(struct text *json);

/* Begins the run that the words describe. Each line is NAME=VALUE for an option --NAME of `baton
 * sim`; algorithm=NAME is one of them. Returns 0, or -1 and what is wrong. */
int stage_open(struct stage *stage, const char *words, struct text *wrong);
/* Begins the run of a scenario. The text of a problem begins with the number of its line: "4:
 * …". */
int stage_open_scenario(struct stage *stage, const char *scenario, size_t size, struct text *wrong);

/* Makes up to `count` steps and returns how many there were before the run was over. A line of a
 * scenario at which nothing happens, such as an expectation that holds, is not a step of its own.
 * `forget` may be NULL. It is called before each event and before each such line. A caller that
 * measures which code runs uses it to leave out the checks of expectations. */
uint32_t stage_step(struct stage *stage, uint32_t count, void (*forget)(void));
/* Performs an act. Returns false if it cannot happen now. */
bool stage_do(struct stage *stage, enum stage_act act, uint64_t what, uint64_t by);
/* Ends the trace. */
void stage_finish(struct stage *stage);

/* Writes the lines of the trace since the last call. */
void stage_lines(struct stage *stage, struct text *lines);
/* Writes for each node {"phase","ready","token","dead","timer","vars"}. */
void stage_states(struct stage *stage, struct text *json);
/* Writes the messages in flight. */
void stage_flights(struct stage *stage, struct text *json);
/* Writes which properties must hold, and whether each holds at this moment. */
void stage_properties(struct stage *stage, struct text *json);
/* Writes {"steps","time","over","line","violations","violation","verdict","expected","found"}. */
void stage_status(struct stage *stage, struct text *json);
/* Writes the space-time diagram as SVG. The stage must be traced. */
void stage_diagram(struct stage *stage, struct text *svg);

#endif
