/*
 * The whole node with all its parts. Only files that work on several parts include this; each part
 * has a header of its own.
 */
#ifndef NODE_WHOLE_H
#define NODE_WHOLE_H

#include "backlog.h"
#include "interest.h"
#include "lease.h"
#include "live.h"
#include "lock.h"
#include "node.h"
#include "outbox.h"
#include "pace.h"
#include "packed.h"
#include "publication.h"
#include "road.h"
#include "scan.h"
#include "session.h"
#include "slice.h"
#include "stream.h"
#include "table.h"
#include "view.h"

#include "topology.h"

struct node {
	/* The options with which the node was created. */
	char *name;
	uint64_t incarnation, cluster, seed;
	uint64_t secret;
	const struct algorithm *algorithm;
	char *topology_text;
	struct topology topology;
	struct named_links links;
	uint64_t parameters[PARAMETERS_MAX];
	char *texts[PARAMETERS_MAX];
	uint32_t turns; /* how many local clients may enter one after the other */
	struct node_limits limits;

	uint64_t now;
	/* The node has stopped for good: nothing is granted, sent or answered any more. */
	bool stopped;

	/* The epoch. */
	uint64_t epoch;       /* the greatest epoch that this node has seen */
	uint64_t epoch_since; /* when this node learned of the epoch */
	uint64_t base, limit; /* the fences of this epoch are greater than base and at most limit */
	bool extends;         /* the voters can raise the limit during the epoch */
	uint64_t floor_next;  /* where counters begin in the next view, as set by node_floor */
	struct lease lease;
	struct view view;
	char *waiting_text;     /* what node_waiting_for returned last */
	uint64_t bump_deadline; /* when BUMP is proposed; NODE_NEVER: the epoch may go on */
	uint64_t bump_earliest; /* when BUMP may be proposed again, in any epoch */

	/* Locks. */
	struct table table;
	struct pool pool;
	struct opened opened;
	struct lives lives;
	struct scans scans;
	struct roads roads;
	struct pace paces[PACES_COUNT];
	size_t name_offset; /* the offset of the name in a lock */
	struct out out;     /* the effects of the algorithm's last step */

	/* Clients. */
	struct sessions sessions;
	struct interests interests;
	struct streams streams;
	struct publications publications;
	uint64_t event_stamp; /* the number of the last event that happened here */
	/* When the sessions here are told of events that other members have dropped; NODE_NEVER:
	 * there are none. */
	uint64_t missed_deadline;
	uint64_t missed_earliest; /* when the sessions may be told of such events again */

	struct backlog backlog;
	struct outbox outbox;
	struct node_figures figures;
};

static inline struct slice lock_name(const struct node *node, const struct lock *lock)
{
	return (struct slice){(const uint8_t *)lock + node->name_offset, lock->name_size};
}

#endif
