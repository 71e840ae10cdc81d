/*
 * The server's side of RESP, the protocol of Redis: reads commands and writes replies. It does no
 * I/O and does not know what the commands mean.
 *
 * A command is an array of bulk strings, or a line of words ("inline": for a person with netcat). A
 * word may be quoted as in Redis: "…" knows \n \r \t \b \a \xHH and \ before any other byte, '…'
 * knows \' only. A line has no control characters, so that binary protocols such as TLS are not
 * taken for commands. Versions 2 and 3 differ only in the replies.
 */
#ifndef RESP_RESP_H
#define RESP_RESP_H

#include "buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RESP_ARGUMENTS_MAX = 1025,  /* the most arguments of a command, its name included */
	RESP_COMMAND_MAX = 1 << 19, /* the most bytes of a command as it is sent */
	/* The most bytes of an inline command, or of a line with a number. */
	RESP_LINE_MAX = 1 << 14,
};

struct resp_argument {
	const char *bytes; /* the bytes of an argument, without a terminating 0 */
	size_t size;
};

struct resp_command {
	bool is_line;             /* it came as a line of words, not as an array */
	uint32_t arguments_count; /* the number of arguments; 0: an empty line, which is ignored */
	size_t size;              /* how many bytes of the input the command took */
	struct resp_argument arguments[RESP_ARGUMENTS_MAX];
	char unquoted[RESP_LINE_MAX]; /* the contents of quoted words of a line */
};

enum resp_result { RESP_MORE, RESP_COMMAND, RESP_WRONG };

/*
 * Reads the first command in the bytes. Its arguments point into the bytes, or into the command.
 * Returns RESP_MORE if the command is not complete; another try makes sense when there are at least
 * *ret_needed bytes. Returns RESP_WRONG if the bytes violate the protocol; *ret_wrong says why, and
 * nothing after them can be understood either.
 */
enum resp_result resp_read(const char *bytes, size_t size, struct resp_command *ret_command,
                           size_t *ret_needed, const char **ret_wrong);

/* These functions write replies. The version is 2 or 3. */
void resp_simple(struct buffer *to, const char *text);
/* Writes "-CODE text"; control characters become spaces. */
void resp_error(struct buffer *to, const char *code, const char *text);
void resp_integer(struct buffer *to, uint64_t number);
void resp_negative(struct buffer *to, uint64_t number); /* writes -number */
void resp_bulk(struct buffer *to, const char *bytes, size_t size);
void resp_text(struct buffer *to, const char *text); /* writes a bulk string */
void resp_nil(struct buffer *to, int version);
void resp_array(struct buffer *to, size_t count);
void resp_map(struct buffer *to, size_t pairs_count, int version);
/* Begins an out-of-band message in version 3, and an array in version 2. */
void resp_push(struct buffer *to, size_t count, int version);

#endif
