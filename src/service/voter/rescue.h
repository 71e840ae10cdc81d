/*
 * A rescue when most voters are lost for good: the disk of a remaining voter becomes the disk of a
 * new cluster, in which it is the only voter.
 *
 * The disk may lack the last entries of the old cluster. So the new cluster has another identity,
 * which members of the old one refuse. Its server has another id, so that voters of the old
 * cluster, if some are not lost after all, do not take it for the server they knew. The new cluster
 * does nothing until every lease of the old one has ended, and its fences begin far above the old
 * ones. The view and all indices stay.
 */
#ifndef VOTER_RESCUE_H
#define VOTER_RESCUE_H

#include "shadow.h"
#include "state.h"

struct rescue_options {
	struct cluster_id cluster; /* the identity of the new cluster, drawn at random */
	uint64_t server;           /* the id of the new server, drawn at random */
	const char *name, *address;
	/* Where the fences of a cluster that is created now would begin. */
	uint64_t base;
	struct state_settings settings; /* the settings, for a log that has no snapshot */
};

enum rescue_result {
	RESCUE_OK = 0,
	RESCUE_EEMPTY = -1,  /* there is no log */
	RESCUE_ESAME = -2,   /* the cluster or the server is the old one */
	RESCUE_EFENCES = -3, /* there are no fences left */
	RESCUE_EDAMAGED = -4,
};

/* Makes the content of the new cluster's disk. `ret_disk` must be a struct of zeros; a failure
 * leaves it unchanged. */
int rescue_content(const struct durable_content *content, const struct rescue_options *options,
                   struct shadow *ret_disk);

#endif
