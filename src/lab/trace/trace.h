/*
 * The trace of a run: what happened, in order, as JSON lines, as a space-time diagram, or both.
 * Each step is a line for its event, followed by lines for what it caused: the messages it sent in
 * order, then `enter` or `elected`, then the node's variables if they changed.
 *
 * The trace is written into memory. A caller that wants it in a file takes it away piece by piece
 * (trace_drain).
 */
#ifndef LAB_TRACE_H
#define LAB_TRACE_H

#include "diagram.h"
#include "envelope.h"
#include "setup.h"
#include "text.h"
#include "world.h"

struct trace;

/* Makes a trace with lines, with a diagram, or with both. */
struct trace *trace_create(bool lines, bool diagram);
void trace_destroy(struct trace *trace);

/* Lets the diagram show only a part of the run, as diagram_show does. */
void trace_show(struct trace *trace, const struct diagram_window *window);

/* From now on the trace calls `take` with its lines whenever there are many, and at the end, and
 * then forgets them. */
void trace_drain(struct trace *trace, void (*take)(void *context, const struct text *lines),
                 void *context);
/* Returns the lines so far. The caller may read and clear them. */
struct text *trace_lines(struct trace *trace);

/* Writes the first line. Then the driver calls world_start and trace_sends for every node, and
 * at last trace_started, which records the variables of all nodes. */
void trace_start(struct trace *trace, const struct setup *setup);
void trace_started(struct trace *trace, const struct world *world);

/* Notes that the run itself is random: the diagram then names the seed. */
void trace_seed(struct trace *trace);

/* Times are in millionths. In an election, a request is the start of a candidacy. */
void trace_request(struct trace *trace, uint64_t time, uint32_t node);
/* Notes that a timer of the node has expired. */
void trace_expire(struct trace *trace, uint64_t time, uint32_t node);
/* Notes that the place is dead from now on. */
void trace_crash(struct trace *trace, uint64_t time, uint32_t node);
/* Notes that the link between two nodes is made or removed. */
void trace_link(struct trace *trace, uint64_t time, uint32_t a, uint32_t b, bool linked);
/* Notes that the link between two nodes is cut: nothing arrives over it any more. */
void trace_cut_link(struct trace *trace, uint64_t time, uint32_t a, uint32_t b);

/* Writes the variables of the node if they have changed since they were last written. */
void trace_variables(struct trace *trace, const struct world *world, uint64_t time, uint32_t node);
/* Notes that a node that had crashed begins again as at the start. */
void trace_restart(struct trace *trace, uint64_t time, uint32_t node);
void trace_exit(struct trace *trace, uint64_t time, uint32_t node);
void trace_deliver(struct trace *trace, uint64_t time, uint64_t number, uint32_t from, uint32_t to,
                   const char *type);
void trace_lose(struct trace *trace, uint64_t time, uint64_t number);
/* Notes that the envelope is a copy of message `of`, made by the network. */
void trace_duplicate(struct trace *trace, const struct world *world, uint64_t time, uint64_t of,
                     const struct envelope *envelope);

/* Writes the messages that the last step sent, numbered from `number`. */
void trace_sends(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                 uint64_t number);
/* Writes everything that the last step caused. */
void trace_effects(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                   uint64_t number);

/* Notes that the loop of a scenario begins; the diagram shows it. */
void trace_loop(struct trace *trace, uint64_t time);
/* Notes that after the last step everything is as it was where the loop begins. */
void trace_loop_closes(struct trace *trace);
/* Notes that the last step violated a property; the diagram shows it (diagram_violate). */
void trace_violate(struct trace *trace, const char *sentence, const struct world *stuck);

/* Notes that the run was given up before its end: the last line will be `cut` instead of `end`,
 * and the diagram says so too. */
void trace_cut(struct trace *trace);

/* Writes the last line. */
void trace_end(struct trace *trace, uint64_t time);

/* Appends the diagram of what has happened until `time`, as SVG. The setup must not have been
 * freed. */
void trace_draw(struct trace *trace, uint64_t time, struct text *svg);

#endif
