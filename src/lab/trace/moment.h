/*
 * A picture of one moment: the nodes and the graph, an arrow for each variable that names a node
 * (such as NEXT and FOLLOW of neilsen), the token, the leader, dead nodes, cut links, and the
 * messages in flight. It is SVG without scripts or fonts of its own, and looks right on light and
 * on dark paper.
 */
#ifndef LAB_MOMENT_H
#define LAB_MOMENT_H

#include "envelope.h"
#include "setup.h"
#include "text.h"
#include "world.h"

/* A picture with more nodes is unreadable. */
enum { MOMENT_NODES_MAX = 60 };

struct moment {
	const struct setup *setup;
	const struct world *world;
	const struct envelope *flights; /* the messages in flight, oldest first */
	size_t flights_count;
	const bool *dead;         /* [node - 1]: the node is dead */
	const uint32_t *learned;  /* [node - 1]: the leader that the node knows, or 0 */
	const uint32_t *cut_ends; /* [2k], [2k + 1]: the ends of a link that is cut */
	size_t cut_ends_count;
	const char *subtitle;  /* a line that says which moment is shown */
	const char *violation; /* a sentence about the property that is violated now, or NULL */
};

/* Appends the picture. There must be at most MOMENT_NODES_MAX nodes. */
void moment_draw(const struct moment *moment, struct text *svg);

#endif
