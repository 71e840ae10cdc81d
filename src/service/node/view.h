/*
 * A view: the members of an epoch, the network among them, and how far this node is in it.
 *
 * view.c makes one from what the driver says; recovery.c changes from one to the next.
 */
#ifndef NODE_VIEW_H
#define NODE_VIEW_H

#include "network.h"
#include "node.h"
#include "slice.h"

#include <sys/queue.h>

struct view_member {
	char *name, *address;
	uint64_t incarnation;
	uint64_t hash;           /* of the name, for homes */
	uint32_t route;          /* the neighbour by which it is reached */
	uint32_t backlog;        /* frames of it in the backlog that are of this epoch */
	uint64_t flood_seen;     /* the last number of its floods */
	uint64_t stamp;          /* of the last event sent to it */
	bool linked;             /* this node has a link to it */
	bool reported;           /* all that it holds is known here */
	bool congested;          /* its link has much to send: events do not go by it */
	uint64_t events_dropped; /* for it, of which it has not been told yet */
};

/* A RETURN that came before the REPORT that it answers to. */
struct early_return {
	SLIST_ENTRY(early_return) returns;
	uint32_t member;
	uint8_t name_size;
	char name[];
};

struct view {
	uint32_t count, self; /* 0: no view */
	struct view_member *members;
	struct network network;
	struct site site;       /* of this node; its holder and toward are those of one lock */
	const uint32_t *toward; /* in a tree: the neighbour on the path to each member */
	void *memory;           /* of the network's graph */
	void *shared;           /* what the algorithm has prepared for the network */
	size_t state_size;      /* of the algorithm's state for one lock */
	bool complete;          /* every pair is linked */
	bool starts;      /* the holder's `init` sends: a lock must be touched at home to work */
	bool active;      /* all members have reported; this node serves */
	char *unsuitable; /* why the algorithm cannot run in this view, or NULL */
	uint32_t reported_count;
	uint32_t closed_count; /* locks that are closed */
	uint64_t flood_number; /* of this node's last flood */
	SLIST_HEAD(, early_return) returns;
};

/*
 * The members in order, and which of them is this node (0: none). 0, or BATON_EVIEW if the view is
 * malformed.
 */
int view_make(const struct node *node, uint64_t epoch, const struct node_member *members,
              uint32_t count, struct view *ret_view);
/* The network among them, for a view that has this node in it; false: `unsuitable` says why the
 * algorithm cannot run in it. */
bool view_connect(const struct node *node, struct view *view);
void view_free(struct view *view);
/* The number of a member; 0: there is none of this name. */
uint32_t view_find(const struct view *view, const char *name);
/* Rendezvous hashing: the member that has the token of an untouched lock. */
uint32_t view_home(const struct view *view, uint64_t hash);
uint64_t view_fence(const struct node *node, uint64_t counter);
/* The text of node_waiting_for. */
const char *view_waiting_for(struct node *node);
/* NULL: none came early. */
struct early_return *view_find_return(const struct view *view, uint32_t member, struct slice name);
void view_add_return(struct view *view, uint32_t member, struct slice name);
void view_drop_return(struct view *view, struct early_return *early);

#endif
