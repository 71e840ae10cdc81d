/*
 * A handle: its session, and the locks that it has.
 *
 * The session's connection carries commands and their replies, in order. With baton_watch a second
 * connection carries events, because RESP2 cannot mix them in. To the user the two are one session:
 * when one of them ends, both do.
 */
#ifndef CLIENT_HANDLE_H
#define CLIENT_HANDLE_H

#include "exchange.h"
#include "hold.h"
#include "validity.h"
#include "watch.h"
#include "why.h"
#include "word.h"

#include <baton/baton.h>

struct observer;

struct baton {
	char *address;
	/* The user gave the address. If not, it is looked up before each session. */
	bool address_given;
	/* The files that the user gave for TLS; all NULL: none. */
	char *tls_ca, *tls_certificate, *tls_key;
	struct exchange session;
	/* The session has ended; its descriptor stays open, because somebody may poll it. */
	bool over;
	/* What the user is told about the end of the session: BATON_ELOST or BATON_ECONNECTION. */
	int over_because;
	/* The lease of the session's locks has ended: the session ends before the next command. */
	bool stale;
	struct validity validity;
	/* How many replies to unlocks are not read yet. They come before other replies. */
	uint32_t unlocks_pending;
	bool unlocks_lost; /* since the last baton_sync, a lock was lost before its UNLOCK */
	/* Since the last baton_sync, the session ended before all unlocks were answered. */
	bool unlocks_uncertain;
	struct holds held, lost;
	/* The reason of the loss that baton_lost reported last, or "". */
	char lost_why[BATON_NAME_MAX + 64];
	/* When the node told of that loss, on its lease clock; 0: not known. */
	uint64_t lost_told_ms;
	struct hold *wanted; /* the lock for which a LOCK or ELECT is pending, or NULL */
	int64_t wanted_timeout_ms;
	uint64_t wanted_ns; /* what the lease clock said before the LOCK or ELECT was sent */
	/* When the present call gives up, by now_ms; 0: the call waits for ever. */
	int64_t answer_by_ms;
	uint32_t grace_ms; /* the grace that is sent to the node in every session; 0: none */
	struct watch watch;
	/* The part that observes leaders; NULL: this handle does not observe. */
	struct observer *observer;
	struct why why;
};

/* Makes a handle. Returns NULL if there is no memory. */
struct baton *handle_new(const char *address);
/* Frees a handle that does not observe. */
void handle_free(struct baton *baton);

/* Checks a name or pattern. Returns 0 or BATON_ENAME. */
int handle_check_name(struct baton *baton, const char *name);

/* Checks whether a command may be given now. Returns 0, BATON_EBUSY or BATON_EMODE. */
int handle_ready(struct baton *baton);
/* Is there a session? */
bool handle_is_open(const struct baton *baton);
int handle_connect(struct baton *baton);
/* Returns the files that exchange_open needs. */
struct secure_files handle_files(const struct baton *baton);
/* Ends the session, if it has not ended yet. The locks that it held are lost. */
void handle_end(struct baton *baton);
/* Ends the session because of an error of a connection. Returns the error as the user is told
 * it. */
int handle_fail(struct baton *baton, int error);
/* Returns how long the present call may wait for an answer: a timeout for exchange_receive. */
int64_t handle_patience_ms(const struct baton *baton);
/* Call it if the node has not answered in that time. It ends the session, so that whatever the node
 * does later for this session is undone. Returns BATON_ESILENT. */
int handle_silent(struct baton *baton);
/* Notes that a lock that was held is lost. */
void handle_lose(struct baton *baton, struct hold *hold, struct word why);

/* Sends a command. Returns 0 or an error. After BATON_ECONNECTION nothing has happened at the node.
 * The session goes on if only another process can use it. */
int handle_send(struct baton *baton, const struct word *words, size_t words_count);
/* True if answers are still to come that precede the answer to the next command. */
bool handle_has_answers(const struct baton *baton);
/* Reads the next such answer, which belongs to an UNLOCK or a LEASE. Returns the same as
 * handle_reply. */
int handle_take_answer(struct baton *baton, int64_t timeout_ms);
/* Reads the reply to the command, after those of handle_has_answers; the timeout is as in exchange_receive.
 * Returns 1; 0 if nothing came in time; or an error. */
int handle_reply(struct baton *baton, int64_t timeout_ms, redisReply **ret_reply);
/*
 * Sends a command that the node answers at once, and reads its reply, which must not be an error.
 * If the old session had ended and nothing was held, the command is repeated on a new session; with
 * `harmless` even if it may have been carried out already. Returns 0 or an error.
 */
int handle_command(struct baton *baton, const struct word *words, size_t words_count, bool harmless,
                   redisReply **ret_reply);

/* Returns the code of an error reply. */
int handle_refused(struct baton *baton, const redisReply *reply);
/* Call it if a reply does not suit the command: it frees the reply and ends the session. */
int handle_unexpected(struct baton *baton, const redisReply *reply, const char *command);

#endif
