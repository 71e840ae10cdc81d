/*
 * A whole cluster in virtual time: hosts with clocks of their own, each with a process that has a
 * resident (resident.h) and, on some, a voter; the paths between them (paths.h), the voters' log
 * (log_engine.h) and clients (actors.h). It does nothing by itself: mischief.h causes faults,
 * witness.h observes, and verdict.h judges.
 *
 * True time is `now`, in nanoseconds; nobody in the cluster knows it. Everything that happens is an
 * event of the queue; the same seed gives the same events, from every compiler.
 */
#ifndef TORTURE_REALM_H
#define TORTURE_REALM_H

#include "chance.h"
#include "drawing.h"
#include "queue.h"
#include "resident.h"
#include "warden.h"

#include <stdio.h>

enum { REALM_LINKS_MAX = 64 };
enum { REALM_HOSTS_MAX = 17, REALM_NODES_MAX = 16, REALM_LOCKS_MAX = 64, REALM_NAME_MAX = 15 };
#define REALM_NOWHERE UINT32_MAX
#define REALM_MS UINT64_C(1000000)
#define REALM_SECOND UINT64_C(1000000000)

/* Streams of random numbers. */
enum {
	STREAM_PLAN,
	STREAM_FAULTS,
	STREAM_PATHS,
	STREAM_LOG,
	STREAM_ACTORS,
	STREAM_HOSTS,
	STREAM_SHRINKING,
};

enum realm_event {
	REALM_RESIDENT, /* the resident of `node` has something due */
	REALM_VOTER,    /* the voter of `node` has something due */
	REALM_DATAGRAM, /* handled by paths.h */
	REALM_LINE,
	REALM_LOG,   /* handled by log_engine.h */
	REALM_ACTOR, /* handled by actors.h */
	REALM_GUEST, /* handled by guests.h */
	REALM_GUARD, /* handled by guards.h */
	REALM_FAULT, /* handled by mischief.h */
};

/* The thread that reads the clock: resident and voter run in threads of their own. */
enum realm_reader { READER_RESIDENT, READER_VOTER, READERS };

/* A reading of the lease clock during which the process is stopped, or the host suspended. */
struct torn_reading {
	/* The beginning and the end of the stop in true time; `until` 0: no reading is torn. */
	uint64_t from, until;
	uint32_t parts; /* how many clocks were read before the stop */
	bool suspended;
};

struct realm_host {
	char name[REALM_NAME_MAX + 1];
	char address[8];
	uint32_t place;
	bool votes;      /* the host's processes have a voter, which may have no vote yet */
	bool only_votes; /* the host's processes are witnesses and never members */
	bool up;         /* the host is switched on */

	int64_t drift_ppm;              /* by how many millionths the clock runs too fast */
	uint64_t booted_at, clock_base; /* the clock showed clock_base at the true time booted_at */

	struct resident *resident; /* the resident of the process; NULL: no process runs here */
	bool voter_lives;          /* the process has a voter */
	uint64_t process;          /* the random number that the process drew */
	uint64_t life;             /* counts the processes that have run here */
	uint64_t word;             /* the lease word that clients of the process read */
	uint64_t served;           /* the last epoch in which the process was seen to serve */
	bool departs;              /* the process was asked to leave */
	uint64_t departs_since;    /* when the process was asked to leave */
	/* The addresses on the host's disk, which its next process asks first. */
	struct electors addresses;
	/* The lease with which the next process here is configured; 0: the cluster's. */
	uint64_t lease_ns;
	uint64_t paused_until;       /* the process does nothing before this time */
	uint64_t voter_paused_until; /* the voter does nothing before this time */
	uint64_t voter_paused_from;  /* when the pause of the voter began */
	struct torn_reading torn[READERS];
	uint64_t suspended_until; /* nothing on the host does anything before this time */
	/* When the next events of the resident and the voter are; NODE_NEVER: there are none. */
	uint64_t resident_due, voter_due;
	/* The numbers of these two events; events with older numbers are void. */
	uint64_t resident_wake, voter_wake;
	struct chance chance;
};

struct ordeal_plan;
struct path_net;
struct atomic_log;
struct raft_log;
struct log_engine;
struct actors;
struct verdict;
struct reign;
struct mischief;

struct realm {
	const struct ordeal_plan *plan;
	struct state_settings settings;
	/* The links that there are, by the names of their ends. */
	struct named_link links[REALM_LINKS_MAX];
	/* The number of links; 0: the topology decides on links. */
	uint32_t links_count;
	struct queue *queue;
	uint64_t now, events;
	uint64_t orders; /* how many orders operators have given */
	/* All hosts; the last one may have the name of another. */
	struct realm_host hosts[REALM_HOSTS_MAX];
	uint32_t hosts_count;
	uint32_t members_count; /* how many hosts have members; they are the first ones */
	/* The hosts whose votes count, according to the committed log. */
	uint32_t voters[REALM_HOSTS_MAX];
	uint32_t voters_count;
	struct path_net *paths;
	const struct log_engine *engine;
	struct atomic_log *log; /* the atomic log, or NULL */
	struct raft_log *raft;  /* the real log, or NULL */
	struct actors *actors;
	struct verdict *verdict;
	struct reign *reign;
	struct mischief *mischief;
	uint64_t hash;               /* a hash of everything that was noted */
	FILE *trace;                 /* where the trace goes, or NULL */
	struct run_drawing *drawing; /* where the run is drawn, or NULL */
	bool failed;
	char wrong[512];
};

void realm_init(struct realm *realm, const struct ordeal_plan *plan);
void realm_free(struct realm *realm);
/* Handles the next event. Returns false if the run has failed. */
bool realm_step(struct realm *realm);

/* Pushes an event of that kind for a host. The owner of the kind defines `number` and `from`. */
void realm_push(struct realm *realm, uint64_t time, enum realm_event kind, uint32_t place,
                uint64_t number, uint32_t from);

/* Returns the time that the process or its voter reads on this host. Both read the same clock,
 * through lease_clock.h. */
uint64_t realm_read(struct realm *realm, uint32_t place, enum realm_reader reader);
/* Return the lease clock of a host now, and the true time at which it will show `clock`. */
uint64_t realm_clock(const struct realm *realm, uint32_t place);
uint64_t realm_when(const struct realm *realm, uint32_t place, uint64_t clock);
/* Returns the settings with which the cluster was created. */
const struct state_settings *realm_settings(const struct realm *realm);
/* Makes the present voters the only ones whose addresses the host's next process knows. */
void realm_name_voters(struct realm *realm, uint32_t place);
/* Returns the host at an address of a process. */
uint32_t realm_at_address(const char *address);
/* Returns the id of a host's data directory, or 0 if it has none. */
uint64_t realm_server(const struct realm *realm, uint32_t place);
/* Returns how many voters a cluster of this many hosts should have in the end. */
uint32_t realm_voters_wanted(uint32_t nodes);
uint32_t realm_place_of(const struct realm *realm, uint64_t process);

void realm_start(struct realm *realm, uint32_t place);
void realm_kill(struct realm *realm, uint32_t place);
/* Restarts the clock, as a reboot does. */
void realm_reboot_clock(struct realm *realm, uint32_t place);
void realm_pause(struct realm *realm, uint32_t place, uint64_t until, bool resident, bool voter);

static inline bool realm_lives(const struct realm *realm, uint32_t place)
{
	return realm->hosts[place].resident != NULL;
}

static inline bool realm_paused(const struct realm *realm, uint32_t place)
{
	return realm->hosts[place].paused_until > realm->now;
}

static inline bool realm_voter_runs(const struct realm *realm, uint32_t place)
{
	return realm->hosts[place].voter_lives &&
	       realm->hosts[place].voter_paused_until <= realm->now;
}

/* Call it after every call of the host's resident: it takes the effects and plans the next
 * event. */
void realm_pump(struct realm *realm, uint32_t place);
/* Wakes the voter of a host when its clock shows this time; with WARDEN_NEVER, not at all. */
void realm_await_voter(struct realm *realm, uint32_t place, uint64_t clock);
/* Returns which links the algorithm needs. */
struct wiring realm_wiring(const struct realm *realm);

/* Notes a text and the host that it is about: both are hashed, and written to the trace if there is
 * one. */
__attribute__((format(printf, 3, 4))) void realm_note(struct realm *realm, uint32_t place,
                                                      const char *format, ...);
/* Notes something frequent in the same way, as a fixed word and two numbers. */
void realm_mark(struct realm *realm, const char *what, uint32_t place, uint64_t a, uint64_t b);
/* Adds something to the diagram, if there is one. */
void realm_draw(struct realm *realm, enum drawn_kind kind, uint32_t place, uint64_t number,
                uint64_t other, const char *text);
/* Reports that an invariant is broken. The run ends. */
__attribute__((format(printf, 2, 3))) void realm_wrong(struct realm *realm, const char *format,
                                                       ...);

#endif
