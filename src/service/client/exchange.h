/*
 * An exchange with a node over one connection: sends commands and receives replies, in RESP2, which
 * hiredis writes and parses. The socket is made here and not by hiredis, because hiredis does not
 * set close-on-exec and does not suppress SIGPIPE.
 */
#ifndef CLIENT_EXCHANGE_H
#define CLIENT_EXCHANGE_H

#include "secure.h"
#include "why.h"
#include "word.h"

#include <baton/error.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* How long to wait for the connection, and for the node to read a command. */
	CONNECT_MS_MAX = 5000,
	COMMAND_WORDS_MAX = 5,
};

struct exchange {
	int fd; /* the socket; -1: not connected */
	redisReader *reader;
	struct secure *secure; /* TLS; NULL: the bytes are plain */
	int passed_fd;         /* a descriptor that came with the bytes of a reply, if `passed` */
	bool passed;
};

/* Returns where a client looks for a node if no address is given. The caller frees it; NULL: out of
 * memory. */
char *address_default(void);

/* Connects to a node. Over TCP it uses TLS if there are files for it; these may come from the
 * environment. Returns 0, BATON_EADDRESS, BATON_ENODE, BATON_EACCESS, BATON_ECERTIFICATE or
 * BATON_EMEMORY. */
int exchange_open(struct exchange *exchange, const char *address, struct secure_files files,
                  struct why *why);
/* Closes the connection, if it is open. */
void exchange_close(struct exchange *exchange);

/* Sends a command. Returns 0, BATON_ECONNECTION, BATON_EACCESS (TLS has failed), or BATON_EMEMORY
 * (then nothing was sent). */
int exchange_send(struct exchange *exchange, const struct word *words, size_t words_count,
                  struct why *why);

/*
 * Receives the next reply, which the caller frees with freeReplyObject. Waits for `timeout_ms`
 * milliseconds; negative: without limit; 0: not at all. Returns 1; 0 if nothing came in time; or
 * BATON_ECONNECTION, BATON_EACCESS (TLS has failed), BATON_EPROTOCOL or BATON_EMEMORY, after which
 * no more can be read from this connection.
 */
int exchange_receive(struct exchange *exchange, int64_t timeout_ms, redisReply **ret_reply,
                     struct why *why);

/* Returns the descriptor that came with the replies so far, which the caller closes, or -1. */
int exchange_take_fd(struct exchange *exchange);
/* Is the connection a Unix socket, over which descriptors can be passed? */
bool exchange_is_local(const struct exchange *exchange);

/* Can this process use the connection? Not if it has TLS and another process has gone on with it
 * after a fork (secure.h). */
bool exchange_is_ours(const struct exchange *exchange);
/* Tells the node that this side has stopped what it did. Never waits. */
void exchange_quit(struct exchange *exchange);

/* Has the other side closed the connection? There may still be replies to read. */
bool exchange_ended(const struct exchange *exchange);

/* Limits a timeout to a year, as nodes do. */
int64_t timeout_clamp(int64_t timeout_ms);

/* Returns the time of the clock that all timeouts here use. */
int64_t now_ms(void);

#endif
