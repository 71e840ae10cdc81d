/*
 * Interests in events. An interest is a text, a lock's name or a pattern, and who is interested: a
 * session here, or another member, which passes events on to its own sessions.
 */
#ifndef NODE_INTEREST_H
#define NODE_INTEREST_H

#include "node.h"
#include "slice.h"

#include <sys/queue.h>

struct session;

struct interest {
	LIST_ENTRY(interest) interests;  /* with the others of its bucket, or with all patterns */
	LIST_ENTRY(interest) of_session; /* with the others of its session */
	struct session *session;         /* NULL: a member's */
	uint64_t hash;                   /* of the text */
	uint32_t member;                 /* whose it is; 0: a session's */
	bool pattern;
	uint8_t size;
	uint8_t text[];
};

LIST_HEAD(interest_list, interest);

struct interests {
	struct interest_list *buckets; /* of names, by hash; NULL: there was never an interest */
	uint32_t buckets_count;
	struct interest_list patterns;
	uint32_t count, local_count; /* all, and those of sessions */
};

/* An event, wherever it happened. */
struct happening {
	enum node_event_kind kind;
	struct slice name, member, value;
	uint64_t fence;
};

void interests_free(struct interests *interests);
/* All that members are interested in is forgotten. */
void interests_clear_remote(struct interests *interests);
/* Makes room for one more. To be called before the first search, too. */
void interests_reserve(struct interests *interests);
/* Of a session or, if that is NULL, of a member; NULL: there is none. */
struct interest *interest_find(const struct interests *interests, bool pattern, struct slice text,
                               const struct session *session, uint32_t member);
/* Ignored if it is there already. */
void interest_add(struct interests *interests, bool pattern, struct slice text,
                  struct session *session, uint32_t member);
/* Takes it out; the caller frees it. */
void interest_remove(struct interests *interests, struct interest *interest);
/* Is any session here interested in exactly this? */
bool interest_is_local(const struct interests *interests, bool pattern, struct slice text,
                       uint64_t hash);
/* Interests in a name, and others of the same bucket: interest_matches tells which. */
const struct interest_list *interests_in(const struct interests *interests, uint64_t hash);
bool interest_matches(const struct interest *interest, struct slice name, uint64_t hash);

static inline struct slice interest_text(const struct interest *interest)
{
	return (struct slice){interest->text, interest->size};
}

/* Tells a session what it is interested in. */
void interest_tell(struct node *node, const struct interest *interest,
                   const struct happening *happening);
/* Tells all sessions here that are interested. */
void interests_tell(struct node *node, const struct happening *happening);

#endif
