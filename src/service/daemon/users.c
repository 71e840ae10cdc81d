#include "users.h"

#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

/* A user exists only while it has a connection, or a session whose connection is gone but which
 * still holds something, or names that the node keeps until the epoch ends. */
struct user {
	LIST_ENTRY(user) entry;
	struct user_queue queue;
	struct user_queue events; /* the connections with events that are not written yet */
	size_t events_size;       /* see user_events */
	uint32_t count;           /* how many connections this user has */
	struct node_user at_node;
	struct user_input input;
	struct user_replies replies;
	uint32_t uid;
	char certificate[]; /* the name in the certificate; "": none */
};

static struct user_bucket *bucket_of(struct users *users, uint32_t uid, const char *certificate)
{
	uint32_t hash = uid * 2654435761U;

	for (; *certificate != '\0'; certificate++)
		hash = (hash ^ (unsigned char)*certificate) * 16777619U;
	return &users->buckets[(hash >> 16) % USERS_BUCKETS];
}

void users_init(struct users *users)
{
	TAILQ_INIT(&users->round);
	TAILQ_INIT(&users->waiting);
	TAILQ_INIT(&users->nobody.places);
}

/* The node does not report the end of a session whose connection is gone, nor that it drops names.
 * So a user who has only such sessions or names is forgotten later, when another user is looked
 * for. */
static void forget_if_gone(struct user *user)
{
	if (user->count > 0 || user->at_node.sessions > 0 || user->at_node.names > 0)
		return;
	must(TAILQ_EMPTY(&user->queue.places) && TAILQ_EMPTY(&user->events.places));
	must(TAILQ_EMPTY(&user->replies.held) && TAILQ_EMPTY(&user->replies.put_off));
	LIST_REMOVE(user, entry);
	free(user);
}

struct user *user_enter(struct users *users, const struct subject *subject, uint32_t most)
{
	const char *certificate = subject->certificate != NULL ? subject->certificate : "";
	struct user_bucket *bucket = bucket_of(users, subject->uid, certificate);
	struct user *user = NULL, *next;

	for (struct user *at = LIST_FIRST(bucket); at != NULL; at = next) {
		next = LIST_NEXT(at, entry);
		if (at->uid == subject->uid && strcmp(at->certificate, certificate) == 0)
			user = at;
		else
			forget_if_gone(at);
	}
	/* A session may outlast its connection, and takes one of the node's sessions until it is
	 * over. */
	if (user != NULL && (user->count >= most || user->at_node.sessions >= most))
		return NULL;
	if (user == NULL) {
		user = calloc(1, sizeof(*user) + strlen(certificate) + 1);
		memory_must(user != NULL);
		TAILQ_INIT(&user->queue.places);
		TAILQ_INIT(&user->events.places);
		user->uid = subject->uid;
		TAILQ_INIT(&user->input.clients);
		TAILQ_INIT(&user->replies.held);
		TAILQ_INIT(&user->replies.put_off);
		memcpy(user->certificate, certificate, strlen(certificate) + 1);
		LIST_INSERT_HEAD(bucket, user, entry);
	}
	user->count++;
	return user;
}

void user_leave(struct user *user)
{
	if (user == NULL)
		return;
	user->count--;
	forget_if_gone(user);
}

struct node_user *user_at_node(struct user *user)
{
	return &user->at_node;
}

struct user_input *user_input(struct user *user)
{
	return &user->input;
}

struct user_replies *user_replies(struct user *user)
{
	return &user->replies;
}

size_t *user_events(struct user *user)
{
	return &user->events_size;
}

struct user_input *users_most_input(struct users *users)
{
	struct user_input *most = NULL;
	struct user *user;

	for (uint32_t i = 0; i < USERS_BUCKETS; i++) {
		LIST_FOREACH (user, &users->buckets[i], entry) {
			if (most == NULL || user->input.room > most->room)
				most = &user->input;
		}
	}
	return most;
}

void users_free(struct users *users)
{
	for (uint32_t i = 0; i < USERS_BUCKETS; i++) {
		while (!LIST_EMPTY(&users->buckets[i])) {
			struct user *user = LIST_FIRST(&users->buckets[i]);
			LIST_REMOVE(user, entry);
			free(user);
		}
	}
}

/* --- turns --- */

static void enqueue(struct users *users, struct user_queue *queue, struct user_place *place)
{
	if (place->queue != NULL)
		return;
	place->queue = queue;
	if (TAILQ_EMPTY(&queue->places))
		TAILQ_INSERT_TAIL(&users->round, queue, entry);
	TAILQ_INSERT_TAIL(&queue->places, place, entry);
}

void user_enqueue(struct users *users, struct user *user, struct user_place *place)
{
	enqueue(users, user != NULL ? &user->queue : &users->nobody, place);
}

void user_enqueue_events(struct users *users, struct user *user, struct user_place *place)
{
	place->tells = true;
	enqueue(users, &user->events, place);
}

struct user_place *user_next_events(struct users *users, struct user *user)
{
	struct user_place *place = TAILQ_FIRST(&user->events.places);

	if (place != NULL)
		user_dequeue(users, place);
	return place;
}

void user_hold(struct user *user, uint64_t until)
{
	user->queue.held_until = until;
}

void user_dequeue(struct users *users, struct user_place *place)
{
	struct user_queue *queue = place->queue;

	if (queue == NULL)
		return;
	place->queue = NULL;
	TAILQ_REMOVE(&queue->places, place, entry);
	if (TAILQ_EMPTY(&queue->places))
		TAILQ_REMOVE(&users->round, queue, entry);
}

struct user_place *users_next(struct users *users, uint64_t now)
{
	struct user_queue *queue = TAILQ_FIRST(&users->round);

	while (queue != NULL && queue->held_until > now)
		queue = TAILQ_NEXT(queue, entry);
	if (queue == NULL) /* all who wait are held, or nobody waits */
		queue = TAILQ_FIRST(&users->round);
	if (queue == NULL)
		return NULL;
	struct user_place *place = TAILQ_FIRST(&queue->places);
	TAILQ_REMOVE(&users->round, queue, entry);
	TAILQ_INSERT_TAIL(&users->round, queue, entry);
	user_dequeue(users, place);
	return place;
}
