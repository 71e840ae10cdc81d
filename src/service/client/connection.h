/*
 * One connection to a node: commands out, replies in, both in RESP2 as hiredis writes and reads it.
 * The socket is our own and not hiredis's, which neither closes it on exec nor keeps SIGPIPE away.
 */
#ifndef CLIENT_CONNECTION_H
#define CLIENT_CONNECTION_H

#include <baton/error.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CONNECT_MS_MAX = 5000, /* to be accepted, and for the node to read a command */
	COMMAND_WORDS_MAX = 4,
};

/* What went wrong, in words. */
struct why {
	char text[512];
};

/* Returns the code, so that a function can end with it. */
__attribute__((format(printf, 3, 4))) int why_set(struct why *why, int code, const char *format,
                                                  ...);

struct connection {
	int fd; /* -1: none */
	redisReader *reader;
};

/* A word of a command. */
struct word {
	const char *bytes;
	size_t size;
};

/* Where a client looks for a node when it is not told: for free(), NULL without memory. */
char *address_default(void);

/* 0, BATON_EADDRESS, BATON_ENODE, BATON_EACCESS, BATON_EMEMORY. */
int connection_open(struct connection *connection, const char *address, struct why *why);
/* Also of one that is not open. */
void connection_close(struct connection *connection);

/* 0, BATON_ECONNECTION, BATON_EMEMORY (nothing was sent). */
int connection_send(struct connection *connection, const struct word *words, size_t words_count,
                    struct why *why);

/*
 * The next reply, for freeReplyObject, waiting as many milliseconds as it takes (negative), as given,
 * or not at all (0). 1; 0: nothing in time; BATON_ECONNECTION, BATON_EPROTOCOL, BATON_EMEMORY: no
 * more can be read from this connection.
 */
int connection_receive(struct connection *connection, int64_t timeout_ms, redisReply **ret_reply,
                       struct why *why);

/* Has the other side closed it? What it sent before that may still be there to read. */
bool connection_ended(const struct connection *connection);

/* A year at most, as nodes have it. */
int64_t timeout_clamp(int64_t timeout_ms);

/* By the clock that all timeouts here use. */
int64_t now_ms(void);

#endif
