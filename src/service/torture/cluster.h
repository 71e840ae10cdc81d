/*
 * A cluster in virtual time: processes with a lock node each, and links between them. It does
 * nothing by itself: its driver starts and ends processes, decides on views, stalls links and calls
 * the nodes for clients.
 *
 * A place is where a process can run. It has a name; processes come and go there. A link between
 * two living processes keeps order and loses nothing. When a process ends, frames to it are lost.
 * Of the frames that it had sent, only the first ones arrive, up to a random point.
 *
 * Time is in nanoseconds, as in the nodes. All chance comes from the seed, by integer arithmetic
 * only: the same calls give the same journal, from every compiler.
 */
#ifndef TORTURE_CLUSTER_H
#define TORTURE_CLUSTER_H

#include "distribution.h"
#include "journal.h"
#include "node.h"
#include "queue.h"

enum { CLUSTER_PLACES_MAX = 16, CLUSTER_NAME_MAX = 15 };
#define CLUSTER_NOWHERE UINT32_MAX
#define CLUSTER_SECOND UINT64_C(1000000000)
#define CLUSTER_MILLISECOND UINT64_C(1000000)

struct cluster_view {
	uint64_t epoch;
	uint32_t members_count;
	/* The places of the members, sorted by name: member number i is at index i - 1. */
	uint32_t places[CLUSTER_PLACES_MAX];
	uint64_t incarnations[CLUSTER_PLACES_MAX];
	/* A bit for each member's place: its process was told of this view, and had the incarnation
	 * that the view lists. */
	uint32_t told;
};

struct parcel_in_link;

struct cluster_link {
	struct parcel_in_link *first, **end;
	/* When the last frame arrives; later frames arrive at that time or after it. */
	uint64_t arrival;
	uint64_t stalled; /* nothing arrives before this time */
	/* The number of the event that delivers the next frame; events with older numbers are
	 * void. */
	uint64_t wake;
	bool awaited; /* there is an event that delivers the next frame */
	bool refused; /* the receiver returned BATON_EAGAIN */
};

struct cluster_place {
	const char *name;
	struct node *node; /* the node; NULL: no process runs here */
	uint64_t incarnation;
	uint64_t process; /* counts the processes that have run here */
	uint64_t tick;    /* when the node will be ticked */
	uint64_t tick_number;
	uint64_t epoch; /* the node's epoch when the cluster last looked at it */
	/* The node was told of a view without it, and has not restarted or rejoined since. */
	bool out;
};

struct cluster;

/*
 * Callbacks of the driver. `effect` must not call the node of that place, because that would free
 * the effect. The cluster handles NODE_SEND and NODE_READ itself.
 */
struct cluster_watch {
	void *context;
	void (*effect)(void *context, uint32_t place, const struct node_effect *effect);
	/* Delivers an event that the driver pushed, with its own kind. */
	void (*event)(void *context, const struct event *event);
	/* A process has been told of a view, and its effects have been taken. */
	void (*told)(void *context, uint32_t place);
	/* A node did something that no node may do. */
	void (*wrong)(void *context, const char *what);
};

struct cluster_options {
	/* The options of all nodes; name and incarnation are set for each node. */
	struct node_options node;
	uint64_t floor;           /* the floor of all nodes (node_floor) */
	const char *const *names; /* the names of the places; must stay valid */
	uint32_t places_count;
	struct distribution delay; /* how long a frame takes */
	uint64_t delay_max;        /* the longest time that a frame takes */
	uint64_t tick_late_max;    /* how late a node may be ticked */
	/* In how many percent of cases a link drops frames of older epochs when a node learns of a
	 * new one. */
	uint32_t forget_percent;
	uint64_t seed;
	FILE *text; /* where the journal goes, or NULL */
	struct cluster_watch watch;
};

/* The driver may read all fields; only the cluster writes them. */
struct cluster {
	struct cluster_options options;
	struct cluster_place places[CLUSTER_PLACES_MAX];
	/* All links, indexed by sender, then receiver. */
	struct cluster_link links[CLUSTER_PLACES_MAX][CLUSTER_PLACES_MAX];
	struct cluster_view *views; /* all views that were decided, sorted by epoch */
	size_t views_count, views_size;
	struct random random;
	struct queue *queue;
	struct journal *journal;
	uint64_t now;
	uint64_t events;
	uint64_t frames_flying;
	uint64_t incarnations;  /* how many incarnations were given out so far */
	uint64_t refusals;      /* how often a node refused a frame for the moment */
	uint32_t links_refused; /* how many links are not read because of such a refusal */
};

/* Events with a kind below this belong to the cluster. */
enum { CLUSTER_EVENTS = 3 };

void cluster_init(struct cluster *cluster, const struct cluster_options *options);
void cluster_free(struct cluster *cluster);

/* Handles the next event. Returns false if there is none. */
bool cluster_step(struct cluster *cluster);
/* Pushes an event of the driver. Its kind must be at least CLUSTER_EVENTS, its time not in the
 * past. */
void cluster_push(struct cluster *cluster, const struct event *event);

/* Start a process at a place that has none, and end it. A new process belongs to no view yet. */
void cluster_start(struct cluster *cluster, uint32_t place);
void cluster_crash(struct cluster *cluster, uint32_t place);
/* Gives a node that is out of the view a new incarnation. */
void cluster_rejoin(struct cluster *cluster, uint32_t place);

/*
 * Decides on a view: these places (a bit each) with their present incarnations. Tells nobody of it.
 * The epoch must be greater than every earlier one.
 */
void cluster_decide(struct cluster *cluster, uint64_t epoch, uint32_t places);
/* Returns the view of that epoch, if the process was told of it and is in it; otherwise NULL. */
const struct cluster_view *cluster_view_of(const struct cluster *cluster, uint32_t place,
                                           uint64_t epoch);
/* Returns the last view, or NULL if there is none. */
const struct cluster_view *cluster_latest(const struct cluster *cluster);
/* Returns the number of a place in a view, with its present incarnation, or 0 if it is not a
 * member. */
uint32_t cluster_member(const struct cluster *cluster, const struct cluster_view *view,
                        uint32_t place);
/* Tells a living process of a view, now or at a later time. */
void cluster_tell(struct cluster *cluster, uint32_t place, uint64_t epoch);
void cluster_tell_later(struct cluster *cluster, uint32_t place, uint64_t epoch, uint64_t delay);

/* Lets nothing arrive on the link before `until`; a time in the past ends a stall. */
void cluster_stall(struct cluster *cluster, uint32_t from, uint32_t to, uint64_t until);

/* Lets a process do what is due. */
void cluster_tick(struct cluster *cluster, uint32_t place);

/* Calls `see` for all frames in flight, in no particular order. */
void cluster_each_frame(const struct cluster *cluster,
                        void (*see)(void *context, const uint8_t *bytes, size_t size),
                        void *context);

/* Call it after every call of a node: it takes the node's effects and plans its next tick. */
void cluster_after(struct cluster *cluster, uint32_t place);

static inline void cluster_note(struct cluster *cluster, const struct note *note)
{
	journal_note(cluster->journal, cluster->now, note);
}

#endif
