/*
 * What the files of libbaton share: a handle, its session, and the locks it has.
 *
 * The session's connection carries commands and their replies in order. With baton_watch a second
 * connection carries events, because RESP2 has no way to mix them in. The two are one session as far
 * as a user can tell: when one of them ends, both do.
 */
#ifndef CLIENT_HANDLE_H
#define CLIENT_HANDLE_H

#include "connection.h"

#include <baton/baton.h>

/* A lock that is held, wanted or lost; a list has the latest first. */
struct hold {
	struct hold *next;
	uint64_t fence;
	char why[BATON_NAME_MAX + 64]; /* it was lost, as the node says it */
	struct word name;              /* its bytes are behind it, ended by 0 */
};

struct watch {
	int epoll; /* what the user polls; -1: nothing is watched */
	int flag;  /* an eventfd that is readable while something lost has not been told */
	struct connection events;
	bool answer_pending; /* the first thing that comes there is no event */
	uint64_t gone_fence; /* the greatest that has gone of the lock that is wanted */
};

struct observer;

struct baton {
	char *address;
	bool address_given;
	struct connection session;
	bool over;        /* the session has ended; its descriptor stays, as somebody may poll it */
	int over_because; /* BATON_ELOST or BATON_ECONNECTION, as it was found */
	uint32_t unlocks_pending;             /* their replies come before any other */
	bool unlocks_lost, unlocks_uncertain; /* since the last baton_sync */
	struct hold *held, *lost;
	char lost_why[BATON_NAME_MAX + 64]; /* of the one that baton_lost told last; or "" */
	struct hold *wanted;                /* LOCK or ELECT is under way */
	int64_t wanted_timeout_ms;
	uint32_t grace_ms; /* said on every session; 0: none */
	struct watch watch;
	struct observer *observer; /* NULL: this handle is not one */
	struct why why;
};

/* "Literal", and a text that ends with 0. */
#define WORD(text)                                                                                 \
	(struct word)                                                                              \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
struct word word_of(const char *text);
bool word_is(struct word word, const char *text);
/* A name or pattern: 0 or BATON_ENAME. */
int check_name(struct baton *baton, const char *name);
/* 0 or BATON_EFENCE. */
int check_fence(uint64_t fence);

/* --- holds --- */

struct hold *hold_new(const char *name); /* NULL: no memory */
/* The place of the pointer to it, or NULL. */
struct hold **hold_find(struct hold **list, struct word name);
struct hold *hold_take(struct hold **place);
void hold_lose(struct baton *baton, struct hold **place, struct word why);

/* --- the session --- */

/* May a command be given now? 0, BATON_EBUSY, BATON_EMODE. */
int session_ready(struct baton *baton);
bool session_open(const struct baton *baton);
int session_connect(struct baton *baton);
/* The session ends now, if it has not: what is held is lost. */
void session_end(struct baton *baton);
/* The same because of an error of a connection; gives the error as the user is told. */
int session_fail(struct baton *baton, int error);
/* 0, or an error. BATON_ECONNECTION: nothing has happened at the node. */
int session_send(struct baton *baton, const struct word *words, size_t words_count);
/* The next reply, which is to an UNLOCK; as session_reply. */
int session_take_unlock(struct baton *baton, int64_t timeout_ms);
/* The reply to the command, behind those to unlocks; timeout as in connection_receive. 1; 0: nothing
 * in time; or an error. */
int session_reply(struct baton *baton, int64_t timeout_ms, redisReply **ret_reply);
/*
 * A command that does not wait at the node, and its reply, which is no error; repeated on a new
 * session if the old one had ended and nothing was held. `harmless`: also if it may have been done
 * already. 0 or an error.
 */
int session_command(struct baton *baton, const struct word *words, size_t words_count,
                    bool harmless, redisReply **ret_reply);

/* An error reply as a code. */
int refused(struct baton *baton, const redisReply *reply);
/* A reply that does not suit the command, which ends the session. */
int unexpected(struct baton *baton, const redisReply *reply, const char *command);

/* --- watch.c --- */

int watch_attach(struct baton *baton); /* a new session */
void watch_detach(struct baton *baton);
/* Before a lock is asked for, and after it is held no more. */
int watch_subscribe(struct baton *baton, struct word name);
void watch_unsubscribe(struct baton *baton, struct word name);
/* Looks at what has come. */
void watch_read(struct baton *baton);
/* Something was lost, or all of it has been told. */
void watch_flag(struct baton *baton);
void watch_free(struct baton *baton);

/* --- events.c --- */

/* EVENT_DROPPED: others may be missing. */
enum event_kind { EVENT_OTHER, EVENT_SUBSCRIBED, EVENT_GONE, EVENT_LEADER, EVENT_DROPPED };

struct event {
	enum event_kind kind;
	struct word channel; /* of the reply that it was read from */
	uint64_t fence;
	struct word node;
	struct word value; /* EVENT_LEADER; EVENT_GONE: why it was lost, or empty */
};

/* What came on a subscribed connection. 0, or BATON_EPROTOCOL. */
int event_parse(const redisReply *reply, struct event *ret_event);

/* --- leader.c --- */

/* What a node says of who leads. */
struct finding {
	enum { FOUND_NOBODY, FOUND_LEADER, FOUND_UNKNOWN } kind;
	struct baton_leader leader; /* FOUND_LEADER */
	/* Who is silent, with blanks between; as many as there is room for. */
	char silent[BATON_VALUE_MAX + 1];
};

/* "LEADER name SILENT". */
enum { LEADER_WORDS = 3 };
void leader_words(struct word name, struct word words[LEADER_WORDS]);
/* The answer to it, which is no error. 0, or -1: it is none. */
int leader_parse(const redisReply *reply, struct finding *ret_finding);
void leader_copy(struct baton_leader *to, uint64_t fence, struct word node, struct word value);

/* --- observe.c --- */

void observer_free(struct baton *baton);

#endif
