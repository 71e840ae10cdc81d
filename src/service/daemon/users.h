/*
 * How many connections each user has, so that one user cannot take the room of all others. A user is
 * a uid, or the name of a certificate; all clients without either are one user together.
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

/* Counts another connection of the subject. Returns its user; or NULL if that has `most` already. */
struct user *user_enter(struct users *users, const struct subject *subject, uint32_t most);
/* Counts one connection less. `user` may be NULL. */
void user_leave(struct user *user);

#endif
