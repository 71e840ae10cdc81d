/*
 * The server's side of RESP, the protocol of Redis: commands are read, replies are written. Without
 * I/O; it knows nothing of what the commands mean.
 *
 * A command is an array of bulk strings, or a line of words ("inline": for a person with netcat). A
 * word may be quoted as in Redis: "…" knows \n \r \t \b \a \xHH and \ before any other byte, '…'
 * knows \' only. Version 2 and 3 differ in the replies only.
 */
#ifndef RESP_RESP_H
#define RESP_RESP_H

#include "buffer.h"

#include <stddef.h>
#include <stdint.h>

enum {
	RESP_ARGUMENTS_MAX = 1025,  /* the command's name included */
	RESP_COMMAND_MAX = 1 << 19, /* bytes of a command as it is sent */
	RESP_LINE_MAX = 1 << 14,    /* bytes of an inline command, or of a number's line */
};

struct resp_argument {
	const char *bytes; /* not terminated by 0 */
	size_t size;
};

struct resp_command {
	uint32_t arguments_count; /* 0: an empty line, to be passed over */
	size_t size;              /* bytes that it took */
	struct resp_argument arguments[RESP_ARGUMENTS_MAX];
	char unquoted[RESP_LINE_MAX]; /* what quoted words of a line stand for */
};

enum resp_result { RESP_MORE, RESP_COMMAND, RESP_WRONG };

/*
 * The first command in the bytes; its arguments point into them, or into the command. RESP_MORE: it is not complete;
 * *ret_needed is how many bytes there must be at least before it is worth another try. RESP_WRONG: this is not
 * the protocol, and *ret_wrong says why; what follows cannot be understood either.
 */
enum resp_result resp_read(const char *bytes, size_t size, struct resp_command *ret_command,
                           size_t *ret_needed, const char **ret_wrong);

/* Replies. The version is 2 or 3. */
void resp_simple(struct buffer *to, const char *text);
/* "-CODE text": control characters become spaces. */
void resp_error(struct buffer *to, const char *code, const char *text);
void resp_integer(struct buffer *to, uint64_t number);
void resp_negative(struct buffer *to, uint64_t number); /* minus that */
void resp_bulk(struct buffer *to, const char *bytes, size_t size);
void resp_text(struct buffer *to, const char *text); /* a bulk string */
void resp_nil(struct buffer *to, int version);
void resp_array(struct buffer *to, size_t count);
void resp_map(struct buffer *to, size_t pairs_count, int version);
/* Out of band, in version 3; an array in version 2. */
void resp_push(struct buffer *to, size_t count, int version);

#endif
