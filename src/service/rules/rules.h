/*
 * Rules about who may do what with which locks: allow PATTERN VERB[,VERB…] WHO…
 *
 * The word "allow" may be left out. A backslash before a blank keeps the blank in its word.
 *
 * Rules only allow; no rule forbids. Without any rule everybody may do everything. As soon as there
 * is a rule, everything that no rule allows is refused, to everybody: neither uid 0 nor the user of
 * the node is an exception. This code does no I/O: when a rule is added, the caller looks up the
 * names of users and groups, once.
 */
#ifndef RULES_RULES_H
#define RULES_RULES_H

#include "problem.h"
#include "subject.h"

#include <stdbool.h>
#include <stddef.h>

enum verb {
	VERB_LOCK = 1 << 0,
	VERB_ELECT = 1 << 1,
	VERB_OBSERVE = 1 << 2,
	VERB_STATUS = 1 << 3,
	VERB_BREAK = 1 << 4,
	/* Orders that concern the cluster and not a lock; rules for this verb have the pattern
	 * *. */
	VERB_ADMIN = 1 << 5,
};
enum {
	VERBS_COUNT = 6,
	VERBS_ALL = (1 << VERBS_COUNT) - 1,
	RULES_MAX = 1024,  /* the most rules of a node */
	RULE_WHO_MAX = 64, /* the most users, groups and certificates that one rule may name */
	/* The most bytes of a pattern, as many as a lock's name may have. */
	RULE_PATTERN_MAX = 255,
	/* Room for the text of rules_missing: a pattern, and a certificate whose name has as many
	 * bytes, each with a backslash. */
	RULES_MISSING_MAX = RULE_PATTERN_MAX + 2 * RULE_PATTERN_MAX + 64,
};

/* Returns "lock" for VERB_LOCK. */
const char *verb_name(enum verb verb);

struct rules;

/* Rules that allow nothing to anybody. */
extern const struct rules rules_nothing;

struct rules *rules_create(void);
void rules_destroy(struct rules *rules);

/* Looks up a user or a group of this host. Returns 0 and its number, or -1. It may block. */
typedef int rules_lookup(bool group, const char *name, uint32_t *ret_id);

/* Adds a rule "[allow] PATTERN VERB[,VERB…] WHO…". Returns 0; or -1 and a problem that says which
 * word is wrong, and then nothing was added. */
int rules_add(struct rules *rules, const char *text, rules_lookup *lookup, struct problem *problem);

/* Returns the verbs that are allowed to the subject for this lock. If `rules` is NULL, all are. */
unsigned rules_verbs(const struct rules *rules, const struct subject *subject, const char *name,
                     size_t size);
/* Returns the verbs that are allowed to the subject for at least one lock. */
unsigned rules_verbs_somewhere(const struct rules *rules, const struct subject *subject);
/* Is one of these verbs allowed to the subject for this lock? Allocates nothing. */
bool rules_allow(const struct rules *rules, const struct subject *subject, unsigned verbs,
                 const char *name, size_t size);

/* Returns the pattern of the next rule, from rule number *next on, that allows the verb to the
 * subject; NULL: there is none. *next moves past that rule. */
const char *rules_pattern(const struct rules *rules, const struct subject *subject, enum verb verb,
                          size_t *next);

/* The lock, or the locks, that a client wants to do something with. */
struct object {
	const char *text; /* the name of a lock, or a pattern; NULL: all locks */
	size_t size;
	bool pattern;
};

/*
 * Writes the narrowest rule that would allow the verb for the object: "allow backup/db lock
 * uid:1000". It is valid, and allows nothing to any other client, unless the client has neither a
 * user nor a certificate. Returns false if there is no such rule that could be shown on a line:
 * what it must name has control characters, is too long for a pattern, has a blank in a set of
 * bytes, or is a certificate that ends with a blank.
 */
bool rules_missing(const struct subject *subject, enum verb verb, const struct object *object,
                   char ret_text[RULES_MISSING_MAX]);

#endif
