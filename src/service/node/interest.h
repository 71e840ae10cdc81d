/*
 * Interests in events. An interest is a text (a lock's name or a pattern) and who is interested: a
 * session here, or another member, which passes events on to its own sessions.
 */
#ifndef NODE_INTEREST_H
#define NODE_INTEREST_H

#include "node.h"
#include "slice.h"

#include <sys/queue.h>

struct session;

struct interest {
	/* Linked with the other interests of its bucket, or with all patterns. */
	LIST_ENTRY(interest) interests;
	LIST_ENTRY(interest) of_session; /* linked with the other interests of the session */
	struct session *session;         /* the session that is interested; NULL: a member is */
	uint64_t hash;                   /* the hash of the text */
	uint32_t member;                 /* the member that is interested; 0: a session is */
	bool pattern;
	uint8_t size;
	uint8_t text[];
};

LIST_HEAD(interest_list, interest);

struct interests {
	/* The interests in names, by hash; NULL: there has never been one. */
	struct interest_list *buckets;
	uint32_t buckets_count;
	struct interest_list patterns;
	/* The number of all interests, and of the sessions' interests. */
	uint32_t count, local_count;
};

/* An event, whether it happened here or elsewhere. */
struct happening {
	enum node_event_kind kind;
	struct slice name, member, value;
	uint64_t fence;
};

void interests_free(struct interests *interests);
/* Forgets the interests of all members. */
void interests_clear_remote(struct interests *interests);
/* Makes room for one more interest. Must also be called before the first search. */
void interests_reserve(struct interests *interests);
/* Finds the interest of a session or, if `session` is NULL, of a member. Returns NULL if there is
 * none. */
struct interest *interest_find(const struct interests *interests, bool pattern, struct slice text,
                               const struct session *session, uint32_t member);
/* Adds an interest. Does nothing if it exists already. */
void interest_add(struct interests *interests, bool pattern, struct slice text,
                  struct session *session, uint32_t member);
/* Removes the interest from all lists; the caller frees it. */
void interest_remove(struct interests *interests, struct interest *interest);
/* Is any session here interested in exactly this text? */
bool interest_is_local(const struct interests *interests, bool pattern, struct slice text,
                       uint64_t hash);
/* Returns the bucket of the name's hash. Not all interests in it match the name: interest_matches
 * tells. */
const struct interest_list *interests_in(const struct interests *interests, uint64_t hash);
bool interest_matches(const struct interest *interest, struct slice name, uint64_t hash);

static inline struct slice interest_text(const struct interest *interest)
{
	return (struct slice){interest->text, interest->size};
}

/* Tells a session of an event that it is interested in. */
void interest_tell(struct node *node, const struct interest *interest,
                   const struct happening *happening);
/* Tells all sessions here that are interested. */
void interests_tell(struct node *node, const struct happening *happening);

#endif
