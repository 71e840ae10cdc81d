/*
 * A view: the members of an epoch, the network among them, and which of them have reported.
 *
 * view.c makes one from what the driver passes in; recovery.c changes from one to the next.
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
	uint64_t hash;    /* the hash of the name, which decides on homes */
	uint32_t route;   /* the neighbour through which the member is reached */
	uint32_t backlog; /* how many frames of this epoch from the member are in the backlog */
	/* The greatest number of the member's floods that this node has seen. */
	uint64_t flood_seen;
	/* The stamp of the last event sent to the member, so that it gets each event once. */
	uint64_t stamp;
	bool linked;   /* this node has a link to the member */
	bool reported; /* the member has reported all its holds */
	/* The link to the member has much to send, so no events are sent over it. */
	bool congested;
	/* How many events for the member were dropped; it was not told of them yet. */
	uint64_t events_dropped;
	uint32_t holds;     /* how many holds the member has reported */
	uint32_t returns;   /* how many of its RETURNs came before its REPORT */
	uint32_t interests; /* how many interests of the member this node remembers */
	uint32_t patterns;  /* how many of them are interests in patterns */
	/* How many events the member has dropped of which the sessions here were not told yet. */
	uint64_t events_missed;
	struct node_scans scans; /* for what the member asks with ASK_STATUS */
};

/* A RETURN that arrived before the REPORT that it belongs to. */
struct early_return {
	SLIST_ENTRY(early_return) returns;
	uint32_t member;
	uint8_t name_size;
	char name[];
};

struct view {
	/* The number of members, and this node's number; 0: it is not a member. */
	uint32_t count, self;
	struct view_member *members;
	struct network network;
	/* this node's site; its `holder` and `toward` belong to the lock in use */
	struct site site;
	const uint32_t *toward; /* in a tree: the neighbour on the path to each member */
	void *memory;           /* the memory of the network's graph */
	void *shared;           /* what the algorithm has prepared for the network */
	size_t state_size;      /* the size of the algorithm's state for one lock */
	bool complete;          /* every pair of members is linked */
	/* The algorithm's `init` sends a message at the home of a lock. So the first member that
	 * asks for the lock must send TOUCH to the home, which then starts the lock. */
	bool starts;
	bool active;      /* all members have reported, and this node serves */
	char *unsuitable; /* why the algorithm cannot run in this view, or NULL */
	uint32_t reported_count;
	uint32_t closed_count; /* how many locks are closed */
	uint64_t flood_number; /* the number of this node's last flood */
	SLIST_HEAD(, early_return) returns;
};

/*
 * Sorts the members, and finds which of them is this node (0: none). Returns 0, or BATON_EVIEW if
 * the view is malformed.
 */
int view_make(const struct node *node, uint64_t epoch, const struct node_member *members,
              uint32_t count, struct view *ret_view);
/* Makes the network among the members, for a view that includes this node. Returns false if the
 * algorithm cannot run in it; then `unsuitable` says why. */
bool view_connect(const struct node *node, struct view *view);
void view_free(struct view *view);
/* Returns the number of a member, or 0 if there is none with this name. */
uint32_t view_find(const struct view *view, const char *name);
/* Returns the home of a lock, by rendezvous hashing: the member that has the token before the lock
 * is first used in this epoch. */
uint32_t view_home(const struct view *view, uint64_t hash);
uint64_t view_fence(const struct node *node, uint64_t counter);
/* Returns the text of node_waiting_for. */
const char *view_waiting_for(struct node *node);
/* Finds a RETURN that arrived early. Returns NULL if there is none. */
struct early_return *view_find_return(const struct view *view, uint32_t member, struct slice name);
void view_add_return(struct view *view, uint32_t member, struct slice name);
void view_drop_return(struct view *view, struct early_return *early);

#endif
