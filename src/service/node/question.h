/*
 * A question to all members: whose answers are missing, and what has been told so far. A session
 * asks at most one at a time.
 */
#ifndef NODE_QUESTION_H
#define NODE_QUESTION_H

#include "answer.h"
#include "node.h"

/* The leader of a lock, as somebody has told it. */
struct leadership {
	uint64_t fence; /* 0: nobody leads */
	uint32_t member;
	uint8_t *value;
	uint32_t value_size;
};

struct question {
	uint64_t number;   /* different for each question; 0: none is under way */
	uint64_t *missing; /* a bit for each member that has not answered, or NULL */
	uint32_t missing_count;
	uint8_t name_size;
	char name[NODE_NAME_MAX]; /* of the lock that it is about, or a pattern */
	uint64_t fence;           /* BREAK: of the hold to end; ELECT: of the hold granted */
	bool done;                /* BREAK: some member had the hold and ended it */
	uint32_t count;           /* STATUS: how many locks a member tells at most */
	bool pattern;             /* SUBSCRIBE: the name is a pattern */
	struct leadership own;    /* LEADER: the best that a leader's own node told */
	struct leadership stored; /* LEADER: the best that other members remember */
	struct answers answers;   /* STATUS: what members told */
};

/* All members but `self` are asked, under this number. */
void question_begin(struct question *question, uint64_t number, uint32_t members_count,
                    uint32_t self);
/* Drops the answers so far; the question stays. */
void question_drop_answers(struct question *question);
/* No question is under way any more. */
void question_forget(struct question *question);

/* Has this member not answered yet? */
static inline bool question_missing(const struct question *question, uint32_t member)
{
	return question->missing != NULL &&
	       (question->missing[member / 64] >> member % 64 & 1) != 0;
}

#endif
