/*
 * A cluster in virtual time: processes with a lock node each, the links between them, and the views
 * that somebody decides upon; or processes with a whole member each (member.h), with connections
 * between them, where members decide upon views themselves. It does nothing by itself: whoever drives it starts and ends
 * processes, decides on views, stalls links and calls the nodes for clients.
 *
 * A place is where a process can run, and has a name; processes come and go there. Links keep order
 * and lose nothing between two living processes. What is under way to a process that ends is lost;
 * what it had sent arrives up to some point.
 *
 * Time is in nanoseconds, as the nodes have it. Chance comes from the seed, and from integers only:
 * the same calls give the same journal, from every compiler.
 */
#ifndef TORTURE_CLUSTER_H
#define TORTURE_CLUSTER_H

#include "distribution.h"
#include "engine.h"
#include "journal.h"
#include "node.h"
#include "queue.h"

enum { CLUSTER_PLACES_MAX = 16, CLUSTER_NAME_MAX = 15 };
#define CLUSTER_NOWHERE UINT32_MAX
#define CLUSTER_SECOND UINT64_C(1000000000)
#define CLUSTER_MILLISECOND UINT64_C(1000000)

struct cluster_view {
	uint64_t epoch;
	uint64_t floor; /* where counters begin in it */
	uint32_t members_count;
	uint32_t places
	        [CLUSTER_PLACES_MAX]; /* of the members, by their names: number i is i-1 here */
	uint64_t incarnations[CLUSTER_PLACES_MAX];
	uint32_t told; /* a bit for each place that has been told as the member that it is */
};

struct parcel_in_link;

struct cluster_link {
	struct parcel_in_link *first, **end;
	uint64_t arrival; /* of the last frame; those behind it come no earlier */
	uint64_t stalled; /* until then nothing arrives */
	uint64_t wake;    /* the number of the event that delivers next; older ones are void */
	bool awaited;     /* there is such an event */
	bool refused;     /* the receiver said BATON_EAGAIN */
};

struct cluster_place {
	const char *name;
	struct node *node;     /* NULL: no process */
	struct member *member; /* that the node is of; NULL: it is a bare node */
	uint64_t incarnation;
	uint64_t process; /* counts the processes here */
	uint64_t tick;    /* when the node will be ticked */
	uint64_t tick_number;
	uint64_t epoch;        /* of the node, when it was looked at last */
	bool out;              /* told of a view without it, and not started or rejoined since */
	uint64_t paused_until; /* the process does nothing before that */
	uint64_t quiet_until;  /* it may enter no view before that */
	struct engine_proposal kept; /* the last view here, as on a disk: it outlives processes */
};

/* How members are connected, and how well. */
struct cluster_wiring {
	bool linked[CLUSTER_PLACES_MAX][CLUSTER_PLACES_MAX]; /* in the order of their names */
	size_t room;                /* bytes that a connection holds each way */
	uint32_t piece_max;         /* bytes that are read at once; 0: all that are there */
	uint32_t short_percent;     /* writes that take only a part, though there is room */
	uint32_t silent_percent;    /* ends that do not learn soon that their connection is cut */
	uint32_t dial_fail_percent; /* until all is calm */
	uint32_t dial_slow_percent;
	uint64_t accept_late_max;
	size_t kept_max;              /* of a member's options */
	struct engine_proposal first; /* what the first processes propose */
	uint64_t hour;                /* how long epochs last that follow the clock */
};

struct cluster;

/*
 * What the driver wants to know. `effect` may not call the node of that place, because the effect is
 * gone then. NODE_SEND and NODE_READ are the cluster's own business.
 */
struct cluster_watch {
	void *context;
	void (*effect)(void *context, uint32_t place, const struct node_effect *effect);
	/* An event that the driver pushed, its kind as it was. */
	void (*event)(void *context, const struct event *event);
	/* A process has been told of a view, and its effects have been taken. */
	void (*told)(void *context, uint32_t place);
	/* A node did what none may do. */
	void (*wrong)(void *context, const char *what);
};

struct cluster_options {
	struct node_options node; /* of all; name and incarnation are each one's own */
	uint64_t floor;           /* of all (node_floor) */
	const char *const *names; /* of the places, which must stay */
	uint32_t places_count;
	struct distribution delay; /* of a frame */
	uint64_t delay_max;        /* a frame that would take longer takes this long */
	uint64_t tick_late_max;    /* a node is ticked so late at most */
	uint32_t forget_percent; /* how often links forget older epochs when a node learns of one */
	const struct cluster_wiring *wiring; /* of members; NULL: bare nodes */
	uint64_t seed;
	FILE *text; /* the journal's, or NULL */
	struct cluster_watch watch;
};

/* Fields are read by the driver, and written here only. */
struct cluster {
	struct cluster_options options;
	struct cluster_place places[CLUSTER_PLACES_MAX];
	struct cluster_link links[CLUSTER_PLACES_MAX][CLUSTER_PLACES_MAX]; /* from, to */
	struct cluster_view *views;                                        /* by epoch */
	size_t views_count, views_size;
	struct random random;
	struct queue *queue;
	struct journal *journal;
	uint64_t now;
	uint64_t events;
	uint64_t frames_flying;
	uint64_t incarnations;  /* given so far */
	uint64_t refusals;      /* frames that a node did not want yet */
	uint32_t links_refused; /* links that are not read because of that */
	/* With members: */
	struct wires *wires;
	bool calm;  /* no connection fails any more */
	bool mixed; /* a process has ended since all have: those that are there may not suit */
	uint64_t connections, cuts, bytes; /* so far */
};

/* Kinds of events below this are the cluster's. */
enum { CLUSTER_EVENTS = 8 };

void cluster_init(struct cluster *cluster, const struct cluster_options *options);
void cluster_free(struct cluster *cluster);

/* Takes the next event; false if there is none. */
bool cluster_step(struct cluster *cluster);
/* An event of the driver's own; its kind is at least CLUSTER_EVENTS, its time not in the past. */
void cluster_push(struct cluster *cluster, const struct event *event);

/* A process at a place without one, or its end. It belongs to no view yet. */
void cluster_start(struct cluster *cluster, uint32_t place);
void cluster_crash(struct cluster *cluster, uint32_t place);
/* The same, but it says goodbye before. Of members only. */
void cluster_leave(struct cluster *cluster, uint32_t place);
/* The process does nothing until then. Of members only. */
void cluster_pause(struct cluster *cluster, uint32_t place, uint64_t until);
/* The node, which is out, becomes a new incarnation. */
void cluster_rejoin(struct cluster *cluster, uint32_t place);

/*
 * A view is agreed upon: these places, a bit each, as the incarnations that they are now. Nobody is
 * told. The epoch is greater than all before.
 */
void cluster_decide(struct cluster *cluster, uint64_t epoch, uint32_t places);
/* The view of that epoch that the process is in, as far as it has been told; NULL: none. */
const struct cluster_view *cluster_view_of(const struct cluster *cluster, uint32_t place,
                                           uint64_t epoch);
/* The last one; NULL if there is none. */
const struct cluster_view *cluster_latest(const struct cluster *cluster);
/* The number of a place in a view, as the incarnation that it is now; 0 if it is no member. */
uint32_t cluster_member(const struct cluster *cluster, const struct cluster_view *view,
                        uint32_t place);
/* Tells a living process of a view, now or later. */
void cluster_tell(struct cluster *cluster, uint32_t place, uint64_t epoch);
void cluster_tell_later(struct cluster *cluster, uint32_t place, uint64_t epoch, uint64_t delay);

/* Nothing arrives on the link until then; a time in the past ends a stall. */
void cluster_stall(struct cluster *cluster, uint32_t from, uint32_t to, uint64_t until);

/*
 * Of members only. A connection is cut, at any byte. Is anything not as it is when all is well: a link
 * without a connection, a connection that is full or not read, somebody who is paused? The bytes that
 * are under way, and how many connections there are.
 */
void cluster_cut(struct cluster *cluster, uint32_t number);
bool cluster_wires_troubled(const struct cluster *cluster);
uint64_t cluster_wires_bytes(const struct cluster *cluster);
uint32_t cluster_wires_count(const struct cluster *cluster);

/* Lets a process do what is due. */
void cluster_tick(struct cluster *cluster, uint32_t place);

/* All that is under way, in no particular order. */
void cluster_each_frame(const struct cluster *cluster,
                        void (*see)(void *context, const uint8_t *bytes, size_t size),
                        void *context);

/* Whoever has called a node does this next: it takes the effects and sees to the time. */
void cluster_after(struct cluster *cluster, uint32_t place);

static inline void cluster_note(struct cluster *cluster, const struct note *note)
{
	journal_note(cluster->journal, cluster->now, note);
}

#endif
