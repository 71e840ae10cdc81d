/*
 * A way out when most voters are lost for good: what one of them has on its disk becomes a new cluster
 * with this one voter.
 *
 * It may lack the last entries of the old cluster. So the new one has another identity, which members of
 * the old one refuse; its server is another, so that voters of the old one that are not lost after all
 * never take it for the one they knew; it does nothing until every lease of the old one has ended; and
 * its fences begin far beyond those of the old one. The view and all indices stay.
 */
#ifndef VOTER_RESCUE_H
#define VOTER_RESCUE_H

#include "shadow.h"
#include "state.h"

struct rescue_options {
	struct cluster_id cluster; /* drawn by chance */
	uint64_t server;           /* drawn by chance */
	const char *name, *address;
	uint64_t
	        base; /* fences are at least this: what a cluster that is born now would begin with */
	struct state_settings settings; /* of a log that has no snapshot */
};

enum rescue_result {
	RESCUE_OK = 0,
	RESCUE_EEMPTY = -1,  /* there is no log */
	RESCUE_ESAME = -2,   /* the cluster, or the server, is the old one */
	RESCUE_EFENCES = -3, /* no fences are left */
	RESCUE_EDAMAGED = -4,
};

/* The disk of the new cluster; `ret_disk` is all zero before, and unchanged on failure. */
int rescue_content(const struct durable_content *content, const struct rescue_options *options,
                   struct shadow *ret_disk);

#endif
