/*
 * The laboratory as the page sees it: one run, driven step by step or by hand, and what there is to
 * say of it at any moment. All of it is text, so that little has to be agreed upon with a script:
 * words and scenarios go in, lines of the trace and JSON come out.
 *
 * A step is something that happens, with all that it causes: one line of the trace and those that
 * follow from it. Acts are steps too, but for a delay.
 */
#ifndef LAB_STAGE_H
#define LAB_STAGE_H

#include "text.h"

#include <stdbool.h>
#include <stdint.h>

struct stage;

enum stage_act {
	STAGE_REQUEST, /* a node asks, or initiates */
	STAGE_RELEASE, /* a node leaves */
	STAGE_DELIVER, /* a message, by its number */
	STAGE_LOSE,
	STAGE_DELAY,  /* by so many millionths */
	STAGE_EXPIRE, /* a node's timer */
	STAGE_CRASH,  /* a place */
};

/* Without a trace a stage is some 20 times faster, and stage_lines stays empty. */
struct stage *stage_create(bool traced);
void stage_destroy(struct stage *stage);

/* Every algorithm with its tables, as JSON. */
void stage_catalogue(struct text *json);

/* Begins the run that the words describe, one NAME=VALUE a line as on the command line of `baton sim`,
 * with algorithm=NAME among them. 0, or -1 and what is wrong. */
int stage_open(struct stage *stage, const char *words, struct text *wrong);
/* The same for a scenario. The problem begins with its line: "4: …". */
int stage_open_scenario(struct stage *stage, const char *scenario, size_t size, struct text *wrong);

/* So many steps; returns how many there were before the run was over. A line of a scenario that
 * nothing happens at, such as an expectation that holds, is no step of its own. */
uint32_t stage_step(struct stage *stage, uint32_t count);
/* False if it cannot happen now. */
bool stage_do(struct stage *stage, enum stage_act act, uint64_t what, uint64_t by);
/* Ends the trace. */
void stage_finish(struct stage *stage);

/* The lines of the trace since the last call. */
void stage_lines(struct stage *stage, struct text *lines);
/* The nodes: {"phase","ready","token","dead","timer","vars"} each. */
void stage_states(struct stage *stage, struct text *json);
/* The messages in flight. */
void stage_flights(struct stage *stage, struct text *json);
/* What must hold, and whether it does at this moment. */
void stage_properties(struct stage *stage, struct text *json);
/* {"steps","time","over","line","violations","violation","verdict","expected","found"} */
void stage_status(struct stage *stage, struct text *json);
/* The space-time diagram as SVG, of a stage that is traced. */
void stage_diagram(struct stage *stage, struct text *svg);

#endif
