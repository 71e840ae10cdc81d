/*
 * The part of a lock that exists only while clients hold it or wait for it here, or while it is
 * closed. It survives the epoch.
 */
#ifndef NODE_LIVE_H
#define NODE_LIVE_H

#include "letter.h"
#include "session.h"

#include <stdbool.h>
#include <sys/queue.h>

struct lock;

/* A message that waits until a closed lock opens. */
struct parcel {
	STAILQ_ENTRY(parcel) parcels;
	uint64_t counter;
	uint32_t size;
	uint8_t side;
	uint8_t body[];
};

/*
 * A PROBE of another member that arrived while only clients with NOWAIT waited here. It was
 * answered with "not busy". As soon as a client here is let in, it is answered again, with "busy".
 */
struct probe {
	SLIST_ENTRY(probe) probes;
	uint64_t question;
	uint32_t origin;
};

struct live {
	struct lock *lock;
	union {
		TAILQ_ENTRY(live) all;
		/* Links the unused live parts, while this one is unused. */
		SLIST_ENTRY(live) free;
	};
	LIST_ENTRY(live) held;  /* links the holds of the holder, or those that it has lost */
	struct session *holder; /* the client inside, or NULL */
	/* The user among whose names the lock counts (table_count_name); NULL: nobody, or the
	 * user's session is gone. */
	struct node_user *maker;
	uint64_t fence; /* the fence that the holder was granted */
	uint64_t since; /* when the holder was let in */
	uint8_t *value; /* what the holder publishes as a leader, or NULL */
	uint32_t value_size;
	bool lost; /* the holder was told that it lost the lock, and is given time to stop */
	/* the grant is from an older epoch: the node sends a RETURN when the hold ends */
	bool carried;
	bool touched; /* a TOUCH arrived while the lock was closed */
	/* The node had to wait for messages before the algorithm let it in. */
	bool came;
	TAILQ_HEAD(session_queue, session) queue; /* the waiting clients, oldest first */
	uint32_t waiters_count;                   /* the number of clients in the queue */
	/* How many clients in the queue are prepared to wait: they did not say NOWAIT. */
	uint32_t firm_count;
	/* How many local clients were let in since the algorithm last let this node in. */
	uint32_t turns;
	uint32_t closed_by;    /* the member whose RETURN will open the lock; 0: it is open */
	uint64_t closed_fence; /* the fence of the hold that the closing member reported */
	/* Messages that wait until the lock is open, in the order of arrival. */
	STAILQ_HEAD(, parcel) pending;
	SLIST_HEAD(, probe) probes;
	uint32_t probes_count;
};

TAILQ_HEAD(live_list, live);

/* A place in the list of all locks in use. If its lock is dropped, it moves on to the next one. */
struct live_place {
	struct live *next; /* NULL: the end of the list */
	LIST_ENTRY(live_place) entry;
};

struct lives {
	struct live_list all; /* all locks in use, oldest first */
	LIST_HEAD(, live_place) places;
	SLIST_HEAD(, live) free;
	SLIST_HEAD(, live_chunk) chunks;
	uint32_t count;         /* all locks in use */
	uint32_t held_count;    /* locks with a holder */
	uint32_t waited_count;  /* locks that clients wait for and nobody here holds */
	uint64_t waiters_count; /* the number of clients in the queues of all locks */
};

void lives_init(struct lives *lives);
void lives_free(struct lives *lives);
/* Returns the lock's live part, and makes it if there is none. */
struct live *live_get(struct lives *lives, struct lock *lock);
/* Frees the live part. Nobody may hold the lock or wait for it, and it must be open. */
void live_drop(struct lives *lives, struct live *live);

static inline void live_enqueue(struct lives *lives, struct live *live, struct session *session)
{
	session->waits = live;
	TAILQ_INSERT_TAIL(&live->queue, session, queue);
	session_count_lock(session, 1);
	lives->waiters_count++;
	lives->waited_count += live->waiters_count++ == 0 && live->holder == NULL;
	live->firm_count += session->patience != NODE_NOWAIT;
}

static inline void live_dequeue(struct lives *lives, struct live *live, struct session *session)
{
	TAILQ_REMOVE(&live->queue, session, queue);
	session->waits = NULL;
	session_count_lock(session, -1);
	lives->waiters_count--;
	lives->waited_count -= --live->waiters_count == 0 && live->holder == NULL;
	live->firm_count -= session->patience != NODE_NOWAIT;
}

static inline void live_add_hold(struct lives *lives, struct live *live, struct session *session)
{
	live->holder = session;
	session_count_hold(session, 1);
	lives->held_count++;
	lives->waited_count -= live->waiters_count > 0;
	LIST_INSERT_HEAD(&session->holds, live, held);
}

static inline void live_end_hold(struct lives *lives, struct live *live)
{
	LIST_REMOVE(live, held);
	session_count_hold(live->holder, -1);
	live->holder = NULL;
	lives->held_count--;
	lives->waited_count += live->waiters_count > 0;
}

/* Keeps a message until the lock opens. Returns how much memory that takes, in bytes. */
size_t live_add_parcel(struct live *live, const struct letter *letter);
/* Returns the oldest parcel, which the caller frees, or NULL if none is left. */
struct parcel *live_take_parcel(struct live *live);
size_t parcel_bytes(const struct parcel *parcel);
struct letter parcel_letter(const struct parcel *parcel);
void live_add_probe(struct live *live, uint64_t question, uint32_t origin);
void live_forget_probes(struct live *live);

#endif
