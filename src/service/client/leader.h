/*
 * A node's answer to the question who leads.
 */
#ifndef CLIENT_LEADER_H
#define CLIENT_LEADER_H

#include "word.h"

#include <baton/baton.h>
#include <hiredis/hiredis.h>

struct finding {
	enum { FOUND_NOBODY, FOUND_LEADER, FOUND_UNKNOWN } kind;
	struct baton_leader leader; /* the leader, for FOUND_LEADER */
	/* The silent members, separated by blanks; as many as fit. */
	char silent[BATON_VALUE_MAX + 1];
};

/* The words of "LEADER name SILENT". */
enum { LEADER_WORDS = 3 };
void leader_words(struct word name, struct word words[LEADER_WORDS]);
/* Reads the answer to LEADER, which must not be an error. Returns 0, or -1 if it is no answer to
 * LEADER. */
int leader_parse(const redisReply *reply, struct finding *ret_finding);
void leader_copy(struct baton_leader *to, uint64_t fence, struct word node, struct word value);

#endif
