/*
 * A handle: its session and its locks.
 *
 * The session's connection carries commands and their replies, in order. With baton_watch a second
 * connection carries events, because RESP2 cannot mix events with replies. To the user the two are
 * one session: when one connection ends, both do.
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
	/* The user gave the address. Otherwise it is looked up before each session. */
	bool address_given;
	/* The files that the user gave for TLS; all NULL: none. */
	char *tls_ca, *tls_certificate, *tls_key;
	struct exchange session;
	/* The session has ended; its descriptor stays open, because the program may be polling
	 * it. */
	bool over;
	/* The error that tells the user of the end of the session: BATON_ELOST or
	 * BATON_ECONNECTION. */
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
	/* The reason of the loss that baton_lost or baton_unlock reported last, or "". */
	char lost_why[BATON_NAME_MAX + 64];
	/* When the node sent the message about that loss, on the node's lease clock; 0: not
	 * known. */
	uint64_t lost_told_ms;
	struct hold *wanted; /* the lock for which a LOCK or ELECT is pending, or NULL */
	int64_t wanted_timeout_ms;
	uint64_t wanted_ns; /* the time on the lease clock before the LOCK or ELECT was sent */
	/* When the present call gives up, by now_ms; 0: it never does. */
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

/* Checks whether a command is allowed now. Returns 0, BATON_EBUSY or BATON_EMODE. */
int handle_ready(struct baton *baton);
/* Is there a session? */
bool handle_is_open(const struct baton *baton);
int handle_connect(struct baton *baton);
/* Returns the files that exchange_open needs. */
struct secure_files handle_files(const struct baton *baton);
/* Ends the session, if it has not ended yet. The locks that it held are lost. */
void handle_end(struct baton *baton);
/* Ends the session because a connection has failed. Returns the error that the user gets. */
int handle_fail(struct baton *baton, int error);
/* Returns how long the present call may wait for an answer: a timeout for exchange_receive. */
int64_t handle_patience_ms(const struct baton *baton);
/* Call it if the node has not answered within handle_patience_ms. It ends the session, so that a
 * lock that the node grants later is released at once. Returns BATON_ESILENT. */
int handle_silent(struct baton *baton);
/* Notes that a lock that was held is lost. */
void handle_lose(struct baton *baton, struct hold *hold, struct word why);

/* Sends a command. Returns 0 or an error. After BATON_ECONNECTION the command has had no effect.
 * The session then has ended, except when another process has gone on with it. */
int handle_send(struct baton *baton, const struct word *words, size_t words_count);
/* Are there answers that will arrive before the answer to the next command? */
bool handle_has_answers(const struct baton *baton);
/* Reads the next of the answers that handle_has_answers is about. It belongs to an UNLOCK or a
 * LEASE. Returns the same as handle_reply. */
int handle_take_answer(struct baton *baton, int64_t timeout_ms);
/* Reads the reply to the command, after those of handle_has_answers; the timeout is as in
 * exchange_receive. Returns 1; 0 if nothing came in time; or an error. */
int handle_reply(struct baton *baton, int64_t timeout_ms, redisReply **ret_reply);
/*
 * Sends a command that the node answers at once, and reads its reply. An error reply counts as a
 * failure. If the session turns out to have ended and nothing was held, repeats the command on a
 * new session; with `harmless` even if the node may already have carried it out. Returns 0 or an
 * error.
 */
int handle_command(struct baton *baton, const struct word *words, size_t words_count, bool harmless,
                   redisReply **ret_reply);

/* Returns the code of an error reply. */
int handle_refused(struct baton *baton, const redisReply *reply);
/* Call it if a reply does not suit the command: it frees the reply and ends the session. */
int handle_unexpected(struct baton *baton, const redisReply *reply, const char *command);

#endif
