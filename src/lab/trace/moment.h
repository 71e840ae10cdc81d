/*
 * A picture of one moment: the nodes and the graph, the arrows between nodes that the algorithm's
 * variables make (NEXT and FOLLOW of neilsen), where the token is, and what is in flight. It is SVG
 * without scripts or fonts of its own, and looks right on light and on dark paper.
 */
#ifndef LAB_MOMENT_H
#define LAB_MOMENT_H

#include "envelope.h"
#include "setup.h"
#include "text.h"
#include "world.h"

/* A picture with more nodes is unreadable. */
enum { MOMENT_NODES_MAX = 60 };

/* Appends the picture. There must be at most MOMENT_NODES_MAX nodes. `title` is written above. */
void moment_draw(const struct setup *setup, const struct world *world,
                 const struct envelope *flights, size_t flights_count, const char *title,
                 struct text *svg);

#endif
