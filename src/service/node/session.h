/*
 * The sessions of clients: what each one holds, waits for and asks, and the reply to its command.
 */
#ifndef NODE_SESSION_H
#define NODE_SESSION_H

#include "question.h"
#include "timers.h"

#include <sys/queue.h>

struct live;
struct interest;

enum command {
	COMMAND_NONE,
	COMMAND_LOCK,
	COMMAND_ELECT,
	COMMAND_LEADER,
	COMMAND_BREAK,
	COMMAND_STATUS,
	COMMAND_SUBSCRIBE,
};

struct session {
	uint64_t id;
	/* The user whose counts include this session's locks and subscriptions, or NULL. */
	struct node_user *user;
	uint32_t pid, uid;
	char *command_line;   /* the command line of the client's process, or NULL */
	enum command command; /* the command that was not answered yet */
	enum node_patience patience;
	/* The timeout of a command is over, and all members are asked whether the lock is busy. */
	bool asks_last;
	/* If a lock of the session is broken, nobody else gets it until the client has stopped: see
	 * node_session_linger. */
	bool lingers;
	/* The client is gone. Either it may believe until `told` that it still holds something, or
	 * its locks are being released (session_retire). */
	bool orphan;
	bool asks_lease; /* the client cannot read the lease word: see node_session_lease */
	/* The latest deadline that was told to a client that asks LEASE; otherwise 0. */
	uint64_t told;
	uint64_t grace;     /* how long the client needs to stop when the lease ends */
	uint64_t since;     /* when the session began to wait */
	struct live *waits; /* the lock that the session waits for, or NULL */
	/* Links the clients that wait for a lock, or the sessions in `retired`. */
	TAILQ_ENTRY(session) queue;
	LIST_HEAD(, live) holds; /* what the client holds and has not lost, newest first */
	LIST_HEAD(, live) lost;  /* what it has lost and not released yet */
	struct timer timer;      /* the timeout of the pending command; for an orphan, `told` */
	uint8_t *value;          /* the value that a waiting ELECT will publish, or NULL */
	uint32_t value_size;
	struct question question;
	TAILQ_HEAD(, interest) subscriptions; /* the subscriptions of the session, oldest first */
	uint32_t subscriptions_count;
};

struct session_slot {
	struct session *session; /* the session in this slot; NULL: the slot is free */
	uint32_t generation;     /* how many sessions have had this slot */
	uint32_t free_next;
};

/* A session's id has the generation of its slot in the upper half, and the slot + 1 in the lower
 * half. */
struct sessions {
	struct session_slot *slots;
	size_t slots_size;
	uint32_t slots_count;
	uint32_t slot_free; /* the first slot of the free list; UINT32_MAX: none */
	/* All sessions except those that are retired. */
	uint32_t count;
	uint32_t leaders_count; /* how many sessions lead or campaign */
	uint64_t question_serial;
	struct timers timers;
	/* Sessions that have ended, whose locks are released one after the other. */
	TAILQ_HEAD(, session) retired;
	uint64_t release_at; /* when the next of these locks are due; NODE_NEVER: there are none */
	/* A session whose question may be complete now; ask_settle checks it. */
	struct session *answered;
};

void sessions_init(struct sessions *sessions);
void sessions_free(struct sessions *sessions);
struct session *session_open(struct sessions *sessions, const struct node_client *client);
/* Ends a session, which must wait for nothing and have no subscriptions. It no longer counts as a
 * session, but holds its locks until they are released. */
void session_retire(struct sessions *sessions, struct session *session, uint64_t now);
/* Frees a retired session, which must hold nothing. */
void session_free(struct sessions *sessions, struct session *session);
/* Finds a session. Returns NULL if there is none (any more) with this id, or if its client is
 * gone. */
static inline struct session *session_find(const struct sessions *sessions, uint64_t id)
{
	uint32_t slot = (uint32_t)id - 1;

	if (slot >= sessions->slots_count)
		return NULL;
	struct session *session = sessions->slots[slot].session;
	return session != NULL && session->id == id && !session->orphan ? session : NULL;
}

/* Returns a lock that the session holds, whether it has lost it or not; NULL: there is none. */
static inline struct live *session_any_hold(const struct session *session)
{
	struct live *live = LIST_FIRST(&session->holds);

	return live != NULL ? live : LIST_FIRST(&session->lost);
}

static inline struct session *session_of_timer(struct timer *timer)
{
	return (struct session *)(void *)((char *)timer - offsetof(struct session, timer));
}

/* The session must hold nothing, wait for nothing and have no subscriptions. */
void session_set_user(struct session *session, struct node_user *user);

/* See node_session_stay. */
void session_stay(struct session *session);
/* See node_session_command. */
void session_set_command(struct session *session, const char *command);

/* Call it when the session begins (1) or ceases (-1) to wait for a lock. */
static inline void session_count_lock(struct session *session, int change)
{
	if (session->user != NULL)
		session->user->locks += (uint32_t)change;
}

/* Call it when the session begins (1) or ceases (-1) to hold a lock. */
static inline void session_count_hold(struct session *session, int change)
{
	if (session->user != NULL)
		session->user->holds += (uint32_t)change;
	session_count_lock(session, change);
}

/* Call it when the session begins (1) or ceases (-1) to lead an election or to campaign in it. */
static inline void session_count_leader(struct sessions *sessions, struct session *session,
                                        int change)
{
	sessions->leaders_count += (uint32_t)change;
	if (session->user != NULL)
		session->user->leaders += (uint32_t)change;
}

/* Ends the pending command without a reply. */
void session_end_command(struct sessions *sessions, struct session *session);
/* Ends the pending command with a reply; the caller may fill in the rest of the record. */
struct record *session_reply(struct node *node, struct session *session, enum node_reply_kind kind,
                             uint64_t number);
struct record *session_fail(struct node *node, struct session *session, int error);
/* Answers that the lock was not granted, because it was busy (NOWAIT) or stayed busy until the
 * timeout (TIMEOUT). */
void session_refuse(struct node *node, struct session *session);
/* Answers with an error, because members are silent. The reply names them. */
void session_fail_silent(struct node *node, struct session *session);
/* Writes the names of the members that have not answered, separated by spaces. */
struct span session_keep_silent(struct node *node, const struct question *question);

/* Begins a new question to all other members, with a number that leads back to the session. */
void session_ask(struct node *node, struct session *session);
/* Returns the session whose question has this number, or NULL. If `last`, this was the last part of
 * the member's answer, and the member is noted as having answered. */
struct session *session_answered(struct node *node, uint64_t number, uint32_t member, bool last);

#endif
