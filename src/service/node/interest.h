/*
 * Interests in events. A topic is a lock's name or a pattern. An interest joins a topic with a
 * session here that wants its events, or with another member, which passes them on to its own
 * sessions.
 */
#ifndef NODE_INTEREST_H
#define NODE_INTEREST_H

#include "node.h"
#include "slice.h"

#include <sys/queue.h>

struct session;

LIST_HEAD(interest_list, interest);

/* A topic exists while somebody is interested in it. */
struct topic {
	LIST_ENTRY(topic) bucket;      /* linked with topics whose texts have the same hash */
	LIST_ENTRY(topic) patterns;    /* a pattern is linked with all other patterns */
	struct interest_list sessions; /* the interests of sessions here */
	struct interest_list members;  /* the interests of other members */
	uint32_t sessions_count;
	bool pattern;
	uint8_t size;
	uint64_t hash; /* the hash of the text */
	uint8_t text[];
};

struct interest {
	struct topic *topic;
	struct session *session; /* the session that is interested; NULL: a member is */
	uint32_t member;         /* the member that is interested; 0: a session is */
	LIST_ENTRY(interest) of_topic;
	TAILQ_ENTRY(interest) of_session; /* linked with the other interests of the session */
};

LIST_HEAD(topic_list, topic);

struct interests {
	struct topic_list *buckets; /* all topics by hash; NULL: there has never been one */
	uint32_t buckets_count;
	uint32_t topics_count;
	struct topic_list patterns;
	uint32_t local_count;          /* how many interests sessions here have */
	uint32_t local_patterns_count; /* how many of them are interests in patterns */
	uint64_t secret;               /* the secret of the hashes, see name_key */
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

/* Finds a topic. Returns NULL if nobody is interested in it. */
struct topic *topic_find(const struct interests *interests, bool pattern, struct slice text);

static inline struct slice topic_text(const struct topic *topic)
{
	return (struct slice){topic->text, topic->size};
}

/* Finds the interest of a session or, if `session` is NULL, of a member. Returns NULL if there is
 * none. */
struct interest *interest_find(const struct interests *interests, bool pattern, struct slice text,
                               const struct session *session, uint32_t member);
/* Adds an interest, which must not exist yet. */
void interest_add(struct interests *interests, bool pattern, struct slice text,
                  struct session *session, uint32_t member);
/* Removes and frees the interest, and its topic if nobody else is interested in it. */
void interest_remove(struct interests *interests, struct interest *interest);

/* Tells a session of an event that it is interested in. */
void interest_tell(struct node *node, const struct interest *interest,
                   const struct happening *happening);
/* Tells all sessions here that are interested. */
void interests_tell(struct node *node, const struct happening *happening);

#endif
