/*
 * An exchange with a node over one connection: commands out, replies in, both in RESP2 as hiredis writes
 * and reads it.
 * The socket is our own and not hiredis's, which neither closes it on exec nor keeps SIGPIPE away.
 */
#ifndef CLIENT_EXCHANGE_H
#define CLIENT_EXCHANGE_H

#include "why.h"
#include "word.h"

#include <baton/error.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CONNECT_MS_MAX = 5000, /* to be accepted, and for the node to read a command */
	COMMAND_WORDS_MAX = 4,
};

struct exchange {
	int fd; /* -1: none */
	redisReader *reader;
};

/* Where a client looks for a node when it is not told: for free(), NULL without memory. */
char *address_default(void);

/* 0, BATON_EADDRESS, BATON_ENODE, BATON_EACCESS, BATON_EMEMORY. */
int exchange_open(struct exchange *exchange, const char *address, struct why *why);
/* Also of one that is not open. */
void exchange_close(struct exchange *exchange);

/* 0, BATON_ECONNECTION, BATON_EMEMORY (nothing was sent). */
int exchange_send(struct exchange *exchange, const struct word *words, size_t words_count,
                  struct why *why);

/*
 * The next reply, for freeReplyObject, waiting as many milliseconds as it takes (negative), as given,
 * or not at all (0). 1; 0: nothing in time; BATON_ECONNECTION, BATON_EPROTOCOL, BATON_EMEMORY: no
 * more can be read from this connection.
 */
int exchange_receive(struct exchange *exchange, int64_t timeout_ms, redisReply **ret_reply,
                     struct why *why);

/* Has the other side closed it? What it sent before that may still be there to read. */
bool exchange_ended(const struct exchange *exchange);

/* A year at most, as nodes have it. */
int64_t timeout_clamp(int64_t timeout_ms);

/* By the clock that all timeouts here use. */
int64_t now_ms(void);

#endif
