/*
 * A picture of one moment: the nodes and the graph, an arrow for each variable that names a node
 * (such as NEXT and FOLLOW of neilsen), the token, and the messages in flight. It is SVG without
 * scripts or fonts of its own, and looks right on light and on dark paper.
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
