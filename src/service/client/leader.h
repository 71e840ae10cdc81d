/*
 * What a node says of who leads.
 */
#ifndef CLIENT_LEADER_H
#define CLIENT_LEADER_H

#include "word.h"

#include <baton/baton.h>
#include <hiredis/hiredis.h>

struct finding {
	enum { FOUND_NOBODY, FOUND_LEADER, FOUND_UNKNOWN } kind;
	struct baton_leader leader; /* FOUND_LEADER */
	/* The members that are silent, with blanks between; as many as there is room for. */
	char silent[BATON_VALUE_MAX + 1];
};

/* "LEADER name SILENT". */
enum { LEADER_WORDS = 3 };
void leader_words(struct word name, struct word words[LEADER_WORDS]);
/* The answer to it, if it is no error. 0, or -1: it is no answer to that. */
int leader_parse(const redisReply *reply, struct finding *ret_finding);
void leader_copy(struct baton_leader *to, uint64_t fence, struct word node, struct word value);

#endif
