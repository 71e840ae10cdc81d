#include "users.h"

#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

/* A user exists only while it has a connection, so there are never more users than connections. */
struct user {
	LIST_ENTRY(user) entry;
	struct user_queue queue;
	uint32_t count; /* how many connections this user has */
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
	TAILQ_INIT(&users->nobody.places);
}

struct user *user_enter(struct users *users, const struct subject *subject, uint32_t most)
{
	const char *certificate = subject->certificate != NULL ? subject->certificate : "";
	struct user_bucket *bucket = bucket_of(users, subject->uid, certificate);
	struct user *user;

	LIST_FOREACH (user, bucket, entry) {
		if (user->uid == subject->uid && strcmp(user->certificate, certificate) == 0)
			break;
	}
	if (user != NULL && user->count >= most)
		return NULL;
	if (user == NULL) {
		user = calloc(1, sizeof(*user) + strlen(certificate) + 1);
		memory_must(user != NULL);
		TAILQ_INIT(&user->queue.places);
		user->uid = subject->uid;
		memcpy(user->certificate, certificate, strlen(certificate) + 1);
		LIST_INSERT_HEAD(bucket, user, entry);
	}
	user->count++;
	return user;
}

void user_leave(struct user *user)
{
	if (user == NULL || --user->count > 0)
		return;
	must(TAILQ_EMPTY(&user->queue.places));
	LIST_REMOVE(user, entry);
	free(user);
}

/* --- turns --- */

void user_enqueue(struct users *users, struct user *user, struct user_place *place)
{
	struct user_queue *queue = user != NULL ? &user->queue : &users->nobody;

	if (place->queue != NULL)
		return;
	place->queue = queue;
	if (TAILQ_EMPTY(&queue->places))
		TAILQ_INSERT_TAIL(&users->round, queue, entry);
	TAILQ_INSERT_TAIL(&queue->places, place, entry);
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

struct user_place *users_next(struct users *users)
{
	struct user_queue *queue = TAILQ_FIRST(&users->round);

	if (queue == NULL)
		return NULL;
	struct user_place *place = TAILQ_FIRST(&queue->places);
	TAILQ_REMOVE(&users->round, queue, entry);
	TAILQ_INSERT_TAIL(&users->round, queue, entry);
	user_dequeue(users, place);
	return place;
}
