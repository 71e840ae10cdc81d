/*
 * A handle: its session, and the locks it has.
 *
 * The session's connection carries commands and their replies in order. With baton_watch a second
 * connection carries events, because RESP2 has no way to mix them in. The two are one session as far
 * as a user can tell: when one of them ends, both do.
 */
#ifndef CLIENT_HANDLE_H
#define CLIENT_HANDLE_H

#include "exchange.h"
#include "hold.h"
#include "watch.h"
#include "why.h"
#include "word.h"

#include <baton/baton.h>

struct observer;

struct baton {
	char *address;
	bool address_given; /* by the user; else it is looked for before each session */
	struct exchange session;
	bool over;        /* the session has ended; its descriptor stays, as somebody may poll it */
	int over_because; /* BATON_ELOST or BATON_ECONNECTION: what the user is told of that end */
	uint32_t unlocks_pending; /* replies to unlocks that have not been read: they come first */
	bool unlocks_lost;        /* since the last baton_sync: a lock was lost before its UNLOCK */
	bool unlocks_uncertain; /* since the last baton_sync: the session ended with some pending */
	struct holds held, lost;
	char lost_why[BATON_NAME_MAX + 64]; /* of the loss that baton_lost told last; or "" */
	struct hold *wanted;                /* LOCK or ELECT is under way for it; or NULL */
	int64_t wanted_timeout_ms;
	int64_t answer_by_ms; /* a call under way gives up then, by now_ms; 0: it waits for ever */
	uint32_t grace_ms;    /* told to the node on every session; 0: none */
	struct watch watch;
	struct observer *observer; /* NULL: this handle is not one */
	struct why why;
};

/* NULL: no memory. */
struct baton *handle_new(const char *address);
/* Not of an observer. */
void handle_free(struct baton *baton);

/* A name or pattern: 0 or BATON_ENAME. */
int handle_check_name(struct baton *baton, const char *name);

/* May a command be given now? 0, BATON_EBUSY, BATON_EMODE. */
int handle_ready(struct baton *baton);
/* Is there a session? */
bool handle_is_open(const struct baton *baton);
int handle_connect(struct baton *baton);
/* The session ends now, if it has not: what is held is lost. */
void handle_end(struct baton *baton);
/* The same because of an error of a connection. The result is the error as the user is told it. */
int handle_fail(struct baton *baton, int error);
/* How long the call under way may wait for an answer: a timeout for exchange_receive. */
int64_t handle_patience_ms(const struct baton *baton);
/* The node has not answered in that time. Ends the session, so that whatever the node does later ends with
 * it. The result is BATON_ESILENT. */
int handle_silent(struct baton *baton);
/* A lock that was held is lost. */
void handle_lose(struct baton *baton, struct hold *hold, struct word why);

/* 0, or an error. BATON_ECONNECTION: nothing has happened at the node. */
int handle_send(struct baton *baton, const struct word *words, size_t words_count);
/* The next reply, which is to an UNLOCK; results as those of handle_reply. */
int handle_take_unlock(struct baton *baton, int64_t timeout_ms);
/* The reply to the command, after those to unlocks; timeout as in exchange_receive. 1; 0: nothing in
 * time; or an error. */
int handle_reply(struct baton *baton, int64_t timeout_ms, redisReply **ret_reply);
/*
 * A command that does not wait at the node, and its reply, which is no error; repeated on a new
 * session if the old one had ended and nothing was held. `harmless`: also if it may have been done
 * already. 0 or an error.
 */
int handle_command(struct baton *baton, const struct word *words, size_t words_count, bool harmless,
                   redisReply **ret_reply);

/* An error reply as a code. */
int handle_refused(struct baton *baton, const redisReply *reply);
/* A reply that does not suit the command: frees it and ends the session. */
int handle_unexpected(struct baton *baton, const redisReply *reply, const char *command);

#endif
