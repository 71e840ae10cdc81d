/*
 * Whole members (member.h) in virtual time, with the bytes between them, their disks and their
 * clients. Members are born from a list or join by addresses; connections are refused, slow, and
 * cut at any byte; processes are killed, paused, leave and start again; disks are lost. Then
 * everything heals, and everybody must serve.
 *
 * True time is `now`, in nanoseconds; each place has a clock of its own. The same seed gives the
 * same events, from every compiler. Used by the files colony*.c and random_members.c only.
 */
#ifndef COLONY_H
#define COLONY_H

#include "chance.h"
#include "member.h"
#include "queue.h"
#include "shadow.h"

#include <stdio.h>
#include <sys/queue.h>

enum {
	COLONY_NODES_MAX = 6,
	COLONY_STRANGERS = 2, /* the last places may be another cluster */
	COLONY_PLACES_MAX = COLONY_NODES_MAX + COLONY_STRANGERS,
	COLONY_CLIENTS_EACH = 2,
	COLONY_LOCKS = 3,
	COLONY_ADDRESS_MAX = 24
};
#define COLONY_MS UINT64_C(1000000)
#define COLONY_SECOND UINT64_C(1000000000)

/* Kinds of events. `node` is a place; the owner of the kind decides what `number` and `from`
 * mean. */
enum colony_event {
	COLONY_TICK,
	COLONY_START,
	COLONY_DISK,   /* handled by colony_disk.c */
	COLONY_WIRE,   /* handled by colony_wires.c */
	COLONY_CLIENT, /* handled by colony_clients.c */
	COLONY_FAULT,  /* handled by colony_faults.c */
	COLONY_ORDER,  /* handled by colony_operator.c */
};

/* The plan of a run, drawn from the seed. Times between faults are means; 0: never. */
struct colony_plan {
	uint64_t seed;
	uint32_t nodes, founders;
	bool strangers; /* there is also another cluster */
	bool orders;    /* an operator gives orders */
	const struct algorithm *algorithm;
	uint64_t lease_ns;
	struct electorate_options electorate;
	uint64_t delay_max; /* the longest time that bytes are in flight */
	uint64_t write_max; /* the longest time that a write to a disk takes */
	uint64_t calm_ns;   /* how long there are no faults at the beginning */
	uint64_t faults_ns; /* when faults end */
	uint64_t cut_every, stall_every, pause_every, kill_every, leave_every, wipe_every;
	uint64_t stall_mean, down_mean;
	bool tls;             /* the members use TLS */
	bool strange_ca;      /* the other cluster has a CA of its own */
	uint64_t renew_every; /* how often a member gets another certificate while it runs */

	size_t room;        /* how many bytes a connection holds in each direction */
	uint32_t piece_max; /* how many bytes are read at once; 0: all that are there */
	/* How many percent of writes take only a part although there is room. */
	uint32_t short_percent;
	/* How many percent of ends learn late that their connection was cut. */
	uint32_t silent_percent;
	uint32_t dial_fail_percent; /* how many percent of dials fail */
	uint32_t dial_slow_percent;
	uint64_t accept_late_max;
};

enum disk_job_kind { DISK_LOG, DISK_IDENTITY, DISK_ADDRESS };

struct disk_job {
	STAILQ_ENTRY(disk_job) entry;
	enum disk_job_kind kind;
	struct durable_write write;
	struct out bytes; /* the bytes of an identity */
	char name[ENTRY_NAME_MAX + 1], address[ENTRY_ADDRESS_MAX + 1];
};

/* A data directory, which survives processes. */
struct colony_disk {
	bool exists;
	struct out identity; /* the identity as it is stored */
	struct shadow log;
	struct electors addresses;
	STAILQ_HEAD(, disk_job) jobs; /* writes that are not durable yet, the oldest first */
	uint64_t busy_until;
};

/* The CAs of certificates. Members whose certificates are of the first two trust both. */
enum keys_ca { KEYS_FIRST, KEYS_SECOND, KEYS_STRANGE, KEYS_CAS };

struct colony_place {
	uint32_t number;
	char name[8], address[COLONY_ADDRESS_MAX];
	bool stranger;   /* the place belongs to the other cluster */
	bool keeps;      /* processes here have a data directory */
	bool joins;      /* processes here are given addresses, not the list of founders */
	enum keys_ca ca; /* the CA of the certificate that processes here have now */
	int64_t drift_ppm;
	uint64_t clock_base;

	struct member *member; /* the member; NULL: no process runs here */
	uint64_t life;         /* counts the processes that have run here */
	uint64_t process;
	uint64_t server; /* the id of the data directory, or of the process */
	uint64_t word;   /* the lease word that clients of this place read */
	uint64_t tick, tick_number;
	uint64_t paused_until;
	bool leaving;
	uint64_t leave_until; /* the process ends at this time, even if it has not left */
	struct colony_disk disk;
	struct chance chance;
};

enum client_state { CLIENT_IDLE, CLIENT_WAITS, CLIENT_HOLDS };

struct colony_client {
	uint32_t place;
	enum client_state state;
	uint64_t session; /* the client's session; 0: none */
	uint64_t life;    /* the life of the place when the client got its session or its hold */
	uint32_t lock;
	uint64_t fence, lapses;
	/* The last word of the process that let the client in, if this process is gone. */
	uint64_t word;
	bool lost;       /* the process has told the client that it lost the lock */
	uint64_t wake;   /* the number of the client's next event */
	uint32_t rounds; /* after the healing: how many more times the client must be let in */
	struct chance chance;
};

struct colony_operator {
	bool waits;           /* the last order is not answered yet */
	bool forbids;         /* the last order was to forbid the name, not to allow it */
	char name[16];        /* the name that the orders are about */
	uint32_t names_count; /* how many names the operator has given up */
	struct order_id last; /* the last order; process 0: none was given about this name */
	uint32_t place;       /* where the last order was given */
	uint64_t life;        /* the life of that place */
	uint64_t answers;     /* how many orders were obeyed */
	uint32_t rounds;      /* after the healing: how many more orders must be obeyed */
	struct chance chance;
};

struct wires;

struct colony {
	struct colony_plan plan;
	struct queue *queue;
	uint64_t now, events;
	struct colony_place places[COLONY_PLACES_MAX];
	uint32_t places_count;
	struct colony_client clients[COLONY_PLACES_MAX * COLONY_CLIENTS_EACH];
	uint32_t clients_count;
	struct colony_operator operator;
	uint64_t fences[COLONY_LOCKS]; /* the last fence of each lock */
	struct wires *wires;
	/* Nothing arrives before this time; indexed by sender, then receiver. */
	uint64_t stalled[COLONY_PLACES_MAX][COLONY_PLACES_MAX];
	struct chance chance;
	/* The identities of the cluster and of the cluster of strangers, once they are born. */
	struct cluster_id clusters[2];
	bool healing;

	uint64_t grants, connections, cuts, bytes, kills, wipes,
	        lives; /* totals of the run so far */
	uint64_t hash; /* a hash of everything that was noted */
	FILE *trace;
	bool failed;
	char wrong[400];
};

struct colony_result {
	bool failed;
	char wrong[400];
	uint64_t hash, events, grants, connections, cuts, bytes, kills, wipes, epochs, orders;
};

/* Draws a plan from the seed. */
void colony_plan(uint64_t seed, bool tls, struct colony_plan *ret_plan);
/* Runs the plan. Writes what happened to `trace`, unless it is NULL. */
void colony_run(const struct colony_plan *plan, FILE *trace, struct colony_result *ret_result);

/* --- colony.c --- */

/* Return the clock of a place now, and the true time at which it will show `clock`. */
uint64_t colony_clock(const struct colony *colony, uint32_t place);
uint64_t colony_when(const struct colony *colony, uint32_t place, uint64_t clock);
void colony_push(struct colony *colony, uint64_t time, enum colony_event kind, uint32_t place,
                 uint64_t number, uint32_t from);
void colony_start(struct colony *colony, uint32_t place);
/* Ends a process. If `polite`, others get everything that it has written. */
void colony_kill(struct colony *colony, uint32_t place, bool polite);
/* Call it after every call of a member: takes the member's effects and plans its next tick. */
void colony_pump(struct colony *colony, uint32_t place);
/* Hashes what happened, and writes it to the trace. */
__attribute__((format(printf, 3, 4))) void colony_note(struct colony *colony, uint32_t place,
                                                       const char *format, ...);
/* Hashes something frequent; it is written only to a trace. */
void colony_mark(struct colony *colony, const char *what, uint32_t place, uint64_t a, uint64_t b);
/* Reports that something is broken. The run ends. */
__attribute__((format(printf, 2, 3))) void colony_wrong(struct colony *colony, const char *format,
                                                        ...);

static inline bool colony_paused(const struct colony *colony, uint32_t place)
{
	return colony->places[place].paused_until > colony->now;
}

static inline void name_identity(const struct colony_place *place, struct identity *identity)
{
	snprintf(identity->name, sizeof(identity->name), "%s", place->name);
	snprintf(identity->address, sizeof(identity->address), "%s", place->address);
}

/* --- colony_keys.c --- */

/* Returns the certificate that a place has at the moment. It stays valid until the process ends;
 * NULL: there is no TLS. */
const struct credentials *keys_of(const struct colony *colony, const struct colony_place *place);

/* --- colony_disk.c --- */

void disk_init(struct colony_place *place);
/* Puts a new directory in the place of the old one. The process must be gone. */
void disk_make(struct colony *colony, struct colony_place *place);
void disk_free(struct colony_place *place);
void disk_begin_write(struct colony *colony, struct colony_place *place,
                      const struct durable_write *write);
void disk_begin_identity(struct colony *colony, struct colony_place *place,
                         const struct identity *identity);
void disk_begin_address(struct colony *colony, struct colony_place *place, const char *name,
                        const char *address);
void disk_on_event(struct colony *colony, const struct event *event);
/* Call it when the process is gone: keeps only some of the writes that were not durable. */
void disk_crash(struct colony *colony, struct colony_place *place);
/* Returns true if the directory belongs to a cluster that lives. */
bool disk_lives(const struct colony_place *place);
/* Returns true if the cluster can go on without this disk. */
bool disk_is_spare(const struct colony *colony, uint32_t place);

/* --- colony_wires.c --- */

void wires_create(struct colony *colony);
void wires_destroy(struct colony *colony);
void wires_dial(struct colony *colony, uint32_t from, struct connection *connection,
                const char *address);
/* Call it when the connection may have output, or when the member may want to read again. */
void wires_changed(struct colony *colony, struct connection *connection);
/* Closes a connection, because the member wants that. */
void wires_close(struct colony *colony, struct connection *connection);
/* Closes all connections of a process that dies. */
void wires_kill(struct colony *colony, uint32_t place, bool polite);
/* Call it when a stall has begun, has changed or is over. */
void wires_stalled(struct colony *colony, uint32_t from, uint32_t to);
void wires_on_event(struct colony *colony, const struct event *event);
/* Frees connections that both ends have closed. */
void wires_sweep(struct colony *colony);
/* Cuts a connection, at any byte. */
void wires_cut(struct colony *colony, uint32_t number);

/* --- colony_clients.c --- */

void clients_begin(struct colony *colony);
void clients_effect(struct colony *colony, uint32_t place, const struct node_effect *effect);
void clients_on_event(struct colony *colony, const struct event *event);
/* Call it when the process, or its node, is gone; `last` is the word that it published last. */
void clients_orphan(struct colony *colony, uint32_t place, uint64_t last);
/* Call it when a word was published: checks that no two clients hold the same lock. */
void clients_judge(struct colony *colony);
/* From now on each client must be let in some more times. */
void clients_heal(struct colony *colony);
/* Returns NULL if all were let in, or else who waits. */
const char *clients_waiting(const struct colony *colony);

/* --- colony_operator.c --- */

void operator_begin(struct colony *colony);
void operator_on_event(struct colony *colony);
void operator_answered(struct colony *colony, const struct colony_place *place,
                       const struct member_effect *effect);
/* From now on some more orders must be obeyed. */
void operator_heal(struct colony *colony);
/* Returns NULL if these orders were obeyed. */
const char *operator_waiting(const struct colony *colony);

/* --- colony_faults.c --- */

void faults_begin(struct colony *colony);
void faults_on_event(struct colony *colony, const struct event *event);
void faults_end(struct colony *colony);

#endif
