/*
 * The space-time diagram: a line for each node, time to the right, messages as arrows, as one would
 * put it into a paper. SVG without script or foreign fonts, for light and dark.
 */
#ifndef LAB_DIAGRAM_H
#define LAB_DIAGRAM_H

#include "setup.h"
#include "text.h"
#include "world.h"

struct diagram;

/* A picture with more messages is unreadable. The rest is left out, and the picture says so. */
enum { DIAGRAM_MESSAGES_MAX = 240 };

/* A longer label would hide what is beside it. Then only the message type is shown. */
enum { DIAGRAM_LABEL_MOST = 26 };

struct diagram *diagram_create(void);
void diagram_destroy(struct diagram *diagram);
/* The setup must stay while the diagram lives. */
void diagram_start(struct diagram *diagram, const struct setup *setup);

/* Events, in the order in which they happen. Times are in millionths. */
void diagram_request(struct diagram *diagram, uint64_t time, uint32_t node);
void diagram_enter(struct diagram *diagram, uint64_t time, uint32_t node);
void diagram_exit(struct diagram *diagram, uint64_t time, uint32_t node);
/* The node is idle from now on. If it was inside before, it was leaving until now. */
void diagram_idle(struct diagram *diagram, uint64_t time, uint32_t node);
void diagram_elected(struct diagram *diagram, uint64_t time, uint32_t node, uint32_t leader);
/* `label` is written beside the arrow. */
void diagram_send(struct diagram *diagram, uint64_t time, uint64_t number, uint32_t from,
                  uint32_t to, uint8_t type, const char *label);
void diagram_deliver(struct diagram *diagram, uint64_t time, uint64_t number);
void diagram_lose(struct diagram *diagram, uint64_t time, uint64_t number);

/* The run was given up before its end. */
void diagram_cut(struct diagram *diagram);

/* Appends the picture of what has happened until `time`, as SVG. More may happen afterwards. */
void diagram_draw(struct diagram *diagram, uint64_t time, struct text *svg);

#endif
