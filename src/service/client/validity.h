/*
 * Tells how long the locks of a session are certainly held: until the lease of its node ends.
 *
 * A node on this host publishes its lease as a word in shared memory: the deadline in milliseconds,
 * times 2^16, plus the lower bits of the lapses. The locks of a session are held while the lapses
 * are the same as at their grant and the lease clock is before the deadline. A session that cannot
 * get the word asks LEASE repeatedly, and uses its own clock (sublease.h).
 *
 * The answers are in memory that a forked child shares, so that either process can go on where the
 * other one was stopped. leases.c sends the questions.
 */
#ifndef CLIENT_VALIDITY_H
#define CLIENT_VALIDITY_H

#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define VALIDITY_FOREVER UINT64_MAX
#define VALIDITY_MS UINT64_C(1000000)

/* The answers to LEASE. */
struct validity_answers {
	_Atomic bool pending; /* a question is not answered yet */
	/* The time on the lease clock before the pending question was sent. */
	_Atomic uint64_t asked_ns;
	/* until when the locks are certainly held, by the answers so far */
	_Atomic uint64_t until_ns;
	_Atomic uint64_t lapses; /* how often the node's lease had lapsed by its last answer */
	_Atomic uint64_t ask_ns; /* when to ask the next question */
};

struct validity {
	enum validity_source {
		VALIDITY_NONE,   /* the node was not asked yet in this session */
		VALIDITY_UNTOLD, /* a node of an older version tells nothing */
		VALIDITY_WORD,
		VALIDITY_ASKED,
	} source;
	uint64_t lease_ns; /* how long a lease is */
	uint64_t lapses;   /* the node's lapses when it granted the locks of this session */
	/* With VALIDITY_WORD: the lease word, and how much the node's clock may be ahead of
	 * ours. */
	_Atomic uint64_t *word; /* mapped for reading only */
	uint64_t ahead_ns;
	struct validity_answers *answers; /* the answers to LEASE with VALIDITY_ASKED, else NULL */
};

/* The reply to LOCK or ELECT. */
struct lock_grant {
	uint64_t fence;
	uint64_t lapses;
	int64_t left_ms; /* what is left of the lease; -1: the lease does not end */
};

/* Returns the lease clock. */
uint64_t validity_now(void);

/* Maps the lease word of a node. Returns false if the descriptor is not one of a lease word. The
 * descriptor is not needed afterwards. */
bool validity_map(struct validity *validity, int fd);
/* Makes room for answers. Returns false if there is no memory. */
bool validity_expect(struct validity *validity);
void validity_free(struct validity *validity);

/* Returns how long the locks are certainly held from now on, without asking, or VALIDITY_FOREVER.
 * *ret_lapsed is true if they are lost for good. */
uint64_t validity_left_ns(const struct validity *validity, bool *ret_lapsed);

/* Notes an answer: locks granted with these lapses are held for left_ms from asked_ns on. */
void validity_note(struct validity *validity, uint64_t asked_ns, uint64_t lapses, int64_t left_ms);
bool validity_is_pending(const struct validity *validity);
/* Takes the answer to a LEASE. Returns false if the reply is something else. */
bool validity_take(struct validity *validity, const redisReply *reply);

/* Reads the reply to LOCK or ELECT. Returns false if it grants nothing. */
bool grant_parse(const redisReply *reply, struct lock_grant *ret_grant);

#endif
