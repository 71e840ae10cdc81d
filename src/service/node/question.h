/*
 * A question to all members: which answers are missing, and what was answered so far. A session
 * asks at most one question at a time.
 */
#ifndef NODE_QUESTION_H
#define NODE_QUESTION_H

#include "answer.h"
#include "node.h"

struct status;

/* A status that is complete except for the order of waiters. */
struct unordered {
	/* The status whose waiters are to be sorted; NULL: there is nothing to sort. */
	struct status *status;
	/* The locks whose waiters are not sorted yet, as indices into the status. */
	uint32_t *locks;
	uint32_t locks_count;
};

/* The leader of a lock, as some member reported it. */
struct leadership {
	uint64_t fence; /* the fence of the leader's hold; 0: nobody leads */
	uint32_t member;
	uint8_t *value;
	uint32_t value_size;
};

struct question {
	uint64_t number;   /* the unique number of the question; 0: there is no question */
	uint64_t *missing; /* a bit for each member that has not answered, or NULL */
	uint32_t missing_count;
	uint8_t name_size;
	/* The name of the lock that the question is about, or a pattern. */
	char name[NODE_NAME_MAX];
	/* BREAK: the fence of the hold to end; ELECT: the fence of the hold that was granted. */
	uint64_t fence;
	bool done;      /* BREAK: some member had the hold and ended it */
	uint32_t count; /* STATUS: the most locks that a member reports */
	/* STATUS: the patterns of the locks that the client may see, each after a byte with its
	 * size. */
	uint8_t *sights;
	uint32_t sights_size;
	bool pattern; /* SUBSCRIBE: the name is a pattern */
	/* LEADER: the best answer from a member whose own client leads. */
	struct leadership own;
	struct leadership stored; /* LEADER: the best answer from what other members remember */
	struct answers answers;   /* STATUS: the answers so far */
	size_t answers_size;      /* STATUS: how many bytes the answers have */
	/* STATUS: the search for this node's own answer, after those of the others; or NULL. */
	struct scan *scan;
	/* STATUS: the order of waiters, which is asked for after everything else
	 * (status_order.h). */
	struct unordered unordered;
};

/* Copies the patterns of the locks that a STATUS may show; see node_status. */
void question_set_sights(struct question *question, struct node_bytes seen);
/* Begins the question with this number to all members except `self`. */
void question_begin(struct question *question, uint64_t number, uint32_t members_count,
                    uint32_t self);
/* Drops the answers so far; the question stays open. */
void question_drop_answers(struct question *question);
/* Ends the question. */
void question_forget(struct question *question);

/* Is the answer of this member still missing? */
static inline bool question_missing(const struct question *question, uint32_t member)
{
	return question->missing != NULL &&
	       (question->missing[member / 64] >> member % 64 & 1) != 0;
}

#endif
