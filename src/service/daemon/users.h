/*
 * Counts what each user has, so that one user cannot take everything. This file counts connections
 * and the memory for their commands, replies and events; the node counts the rest (struct
 * node_user). A user is a uid or the name in a certificate; all clients without either count as one
 * user.
 *
 * Connections that want to be served stand in a queue of their user, and the users take turns. So
 * the number of a user's connections does not decide how long another user waits.
 */
#ifndef DAEMON_USERS_H
#define DAEMON_USERS_H

#include "node.h"
#include "subject.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

enum { USERS_BUCKETS = 256 };

struct client;
struct user;
LIST_HEAD(user_bucket, user);

/* The connections of one user that want to be served. */
struct user_queue {
	TAILQ_HEAD(, user_place) places;
	TAILQ_ENTRY(user_queue) entry; /* linked if `places` is not empty */
	/* Others come first until this time, see user_hold. */
	uint64_t held_until;
};

/* A connection's place in the queue of its user. */
struct user_place {
	TAILQ_ENTRY(user_place) entry;
	struct user_queue *queue; /* the queue that this place is in; NULL: none */
	bool tells;               /* the queue was that of connections with events */
};

/* A user's part of clients.input_room, see flow.h. */
struct user_input {
	size_t room;
	/* The clients whose inputs take it up. The first is the one whose commands have gone
	 * unserved for longest. */
	TAILQ_HEAD(, client) clients;
};

TAILQ_HEAD(status_line, client);

/* A user's replies, see status_queue.h. */
struct user_replies {
	size_t room;           /* the user's part of clients.unread_room and clients.making_room */
	uint32_t status_count; /* how many STATUS of the user are being answered */
	/* The clients whose STATUS waits: until fewer of them are being answered; and until there
	 * is memory for a long reply. */
	struct status_line held, put_off;
	TAILQ_ENTRY(user_replies) entry; /* linked if either line is not empty */
};

struct users {
	struct user_bucket buckets[USERS_BUCKETS];
	/* The queues that are not empty; the next user's is the first. */
	TAILQ_HEAD(, user_queue) round;
	struct user_queue nobody;           /* the connections that have no user */
	TAILQ_HEAD(, user_replies) waiting; /* the users with a STATUS that waits */
};

void users_init(struct users *users);

/* Counts another connection of the subject. Returns its user, or NULL if the user already has
 * `most` connections, or as many sessions at the node: some of them may have lost their connection
 * and still hold something. */
struct user *user_enter(struct users *users, const struct subject *subject, uint32_t most);
/* Counts one connection less; it must not be in the user's queue. `user` may be NULL. */
void user_leave(struct user *user);
/* Returns what the user has at the node, for node_session_user. */
struct node_user *user_at_node(struct user *user);
struct user_input *user_input(struct user *user);
/* Returns the user's part of clients.events_size, see events.h. */
size_t *user_events(struct user *user);
/* Returns the input of the user who has most. */
struct user_input *users_most_input(struct users *users);
struct user_replies *user_replies(struct user *user);
/* Frees all users. The node must have ended. */
void users_free(struct users *users);

/* Puts the connection at the end of the queue, unless it is in a queue already. All connections
 * whose `user` is NULL share a queue, as if they had the same user. */
void user_enqueue(struct users *users, struct user *user, struct user_place *place);
/* Takes the connection out of the queue, if it is in one. */
void user_dequeue(struct users *users, struct user_place *place);
/* Takes out the connection that is next: the first of the next user. Returns NULL if all queues are
 * empty. */
struct user_place *users_next(struct users *users, uint64_t now);

/* Each user has a second queue, of connections with events that are not written yet. It takes turns
 * as if it were that of another user. */
void user_enqueue_events(struct users *users, struct user *user, struct user_place *place);
/* Takes out the first connection of that queue. Returns NULL if the queue is empty. */
struct user_place *user_next_events(struct users *users, struct user *user);
/* Lets others come first until this time: a command of the user has caused many events, and to
 * write them takes about as long. The user is not held while nobody else waits. */
void user_hold(struct user *user, uint64_t until);

static inline bool users_are_waiting(const struct users *users)
{
	return !TAILQ_EMPTY(&users->round);
}

#endif
