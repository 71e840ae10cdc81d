/*
 * Counts the connections of each user, so that one user cannot take them all. A user is a uid or
 * the name in a certificate; all clients without either count as one user.
 */
#ifndef DAEMON_USERS_H
#define DAEMON_USERS_H

#include "subject.h"

#include <sys/queue.h>

enum { USERS_BUCKETS = 256 };

struct user;
LIST_HEAD(user_bucket, user);

struct users {
	struct user_bucket buckets[USERS_BUCKETS];
};

/* Counts another connection of the subject. Returns its user, or NULL if the user already has
 * `most` connections. */
struct user *user_enter(struct users *users, const struct subject *subject, uint32_t most);
/* Counts one connection less. `user` may be NULL. */
void user_leave(struct user *user);

#endif
