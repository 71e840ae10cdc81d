/*
 * The trace: what happened, in the order in which it happened, as JSON lines, as a space-time
 * diagram, or both. A step is an event line, and what it causes follows: its sends in order, then
 * `enter` or `elected`, then the node's variables if they changed.
 *
 * It is written into memory; who wants it in a file takes it away piece by piece (trace_drain).
 */
#ifndef LAB_TRACE_H
#define LAB_TRACE_H

#include "setup.h"
#include "text.h"
#include "world.h"

struct trace;

/* Which of the two are wanted. */
struct trace *trace_create(bool lines, bool diagram);
void trace_destroy(struct trace *trace);

/* From now on `take` gets the lines when there are many of them, and at the end; none stay here. */
void trace_drain(struct trace *trace, void (*take)(void *context, const struct text *lines),
                 void *context);
/* The lines so far, for the caller to read and to clear. */
struct text *trace_lines(struct trace *trace);

/* The first line. Then, for every node, world_start and trace_sends; then trace_started, which
 * notes the variables of all. */
void trace_start(struct trace *trace, const struct setup *setup);
void trace_started(struct trace *trace, const struct world *world);

/* Times are in millionths. An election's request is to initiate it. */
void trace_request(struct trace *trace, uint64_t time, uint32_t node);
/* A timer of the node has run out. */
void trace_expire(struct trace *trace, uint64_t time, uint32_t node);
/* The place is dead from now on. */
void trace_crash(struct trace *trace, uint64_t time, uint32_t node);
void trace_exit(struct trace *trace, uint64_t time, uint32_t node);
void trace_deliver(struct trace *trace, uint64_t time, uint64_t number, uint32_t from, uint32_t to,
                   const char *type);
void trace_lose(struct trace *trace, uint64_t time, uint64_t number);

/* The sends among the effects of the last step, numbered from `number`. */
void trace_sends(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                 uint64_t number);
/* All that the last step caused. */
void trace_effects(struct trace *trace, const struct world *world, uint64_t time, uint32_t node,
                   uint64_t number);

/* The run was given up before its end: the last line will be `cut` instead of `end`, and a diagram
 * says so. */
void trace_cut(struct trace *trace);

/* The last line. */
void trace_end(struct trace *trace, uint64_t time);

/* Appends the diagram of what has happened until `time`, as SVG. The setup must still be there. */
void trace_draw(struct trace *trace, uint64_t time, struct text *svg);

/* A time in millionths as a decimal without needless zeros; at least 32 bytes. */
char *time_text(uint64_t time, char *ret_text);

#endif
