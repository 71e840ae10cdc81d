/*
 * The server's side of RESP: see resp.h.
 */
#include "resp.h"

#include "tame.h"

#include <stdbool.h>

struct reader {
	const char *bytes;
	size_t size, at;
	size_t needed;
	const char *wrong;
};

static enum resp_result more(struct reader *reader, size_t needed)
{
	reader->needed = needed;
	return RESP_MORE;
}

static enum resp_result wrong(struct reader *reader, const char *text)
{
	reader->wrong = text;
	return RESP_WRONG;
}

/* Reads "*3\r\n" or "$5\r\n": a sign, a number from 0 to `most`, the end of the line. */
static enum resp_result read_length(struct reader *reader, char sign, uint64_t most,
                                    const char *text, uint64_t *ret_length)
{
	uint64_t length = 0;
	size_t at = reader->at;
	size_t first;

	if (at == reader->size)
		return more(reader, at + 4);
	if (reader->bytes[at] != sign)
		return wrong(reader, text);
	first = ++at;
	while (at < reader->size && reader->bytes[at] >= '0' && reader->bytes[at] <= '9') {
		length = length * 10 + (uint64_t)(reader->bytes[at] - '0');
		if (length > most)
			return wrong(reader, text);
		at++;
	}
	if (at == reader->size)
		return more(reader, at + 2);
	if (reader->bytes[at] != '\r' || at == first)
		return wrong(reader, text);
	if (at + 1 == reader->size)
		return more(reader, at + 2);
	if (reader->bytes[at + 1] != '\n')
		return wrong(reader, text);
	reader->at = at + 2;
	*ret_length = length;
	return RESP_COMMAND;
}

/* A fast path of read_length, for a complete number of one digit, as nearly all numbers are. */
static inline bool read_digit(struct reader *reader, char sign, uint64_t *ret_length)
{
	const char *line = reader->bytes + reader->at;

	if (reader->size - reader->at < 4 || line[0] != sign || line[1] < '0' || line[1] > '9' ||
	    line[2] != '\r' || line[3] != '\n')
		return false;
	reader->at += 4;
	*ret_length = (uint64_t)(line[1] - '0');
	return true;
}

static enum resp_result read_array(struct reader *reader, struct resp_command *command)
{
	uint64_t count, size;
	enum resp_result result = RESP_COMMAND;

	if (!read_digit(reader, '*', &count))
		result = read_length(reader, '*', RESP_ARGUMENTS_MAX,
		                     "a command is an array of 0 to 1025 strings: '*' and their "
		                     "number",
		                     &count);
	for (uint64_t i = 0; result == RESP_COMMAND && i < count; i++) {
		if (!read_digit(reader, '$', &size))
			result = read_length(
			        reader, '$', RESP_COMMAND_MAX,
			        "every argument is a bulk string: '$' and its size, at most 524288",
			        &size);
		if (result != RESP_COMMAND)
			break;
		if (reader->at + size + 2 > RESP_COMMAND_MAX)
			return wrong(reader, "a command has at most 524288 bytes");
		if (reader->size < reader->at + size + 2)
			return more(reader, reader->at + size + 2);
		if (reader->bytes[reader->at + size] != '\r' ||
		    reader->bytes[reader->at + size + 1] != '\n')
			return wrong(reader, "a bulk string ends with CR LF");
		command->arguments[i].bytes = reader->bytes + reader->at;
		command->arguments[i].size = size;
		reader->at += size + 2;
	}
	if (result == RESP_COMMAND)
		command->arguments_count = (uint32_t)count;
	return result;
}

/* Does this byte separate words? \v and \f do so only between words: as in Redis, an unquoted word
 * may contain them. */
static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool ends_word(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Returns the value of a hexadecimal digit, or -1. */
static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Returns the byte that an escape in "…" stands for; `at` is after the backslash, and moves past
 * the escape. */
static char read_escape(const char *line, size_t size, size_t *at)
{
	char c = line[*at];

	if (c == 'x' && size - *at > 2 && digit_of(line[*at + 1]) >= 0 &&
	    digit_of(line[*at + 2]) >= 0) {
		c = (char)(digit_of(line[*at + 1]) * 16 + digit_of(line[*at + 2]));
		*at += 3;
		return c;
	}
	++*at;
	switch (c) {
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'a':
		return '\a';
	default:
		return c;
	}
}

/*
 * Writes the rest of a word, from its opening quote on, to *to, and moves *to on. Returns false if
 * the quote is not closed, or if anything but a space follows the closing quote.
 */
static bool read_quoted(const char *line, size_t size, size_t *at, char **to)
{
	char quote = line[(*at)++];

	while (*at < size && line[*at] != quote) {
		char c = line[(*at)++];
		bool escapes = c == '\\' && *at < size && (quote == '"' || line[*at] == '\'');
		if (escapes)
			c = (char)(quote == '"' ? read_escape(line, size, at) : line[(*at)++]);
		*(*to)++ = c;
	}
	if (*at == size)
		return false;
	++*at;
	return *at == size || is_space(line[*at]);
}

/* Reads a word as sdssplitargs() of Redis does: a quote may open in the middle of a word, and
 * closing it ends the word. */
static bool read_word(const char *line, size_t size, size_t *at, char **to,
                      struct resp_argument *ret_word)
{
	size_t first = *at;

	while (*at < size && !ends_word(line[*at]) && line[*at] != '"' && line[*at] != '\'')
		++*at;
	*ret_word = (struct resp_argument){line + first, *at - first};
	if (*at == size || ends_word(line[*at]))
		return true;
	char *start = *to;
	memcpy(start, line + first, *at - first);
	*to += *at - first;
	if (!read_quoted(line, size, at, to))
		return false;
	*ret_word = (struct resp_argument){start, (size_t)(*to - start)};
	return true;
}

/* Is the line free of control characters, except those that separate words? */
static bool is_text(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (tame_is_control(line[i]) && !is_space(line[i]))
			return false;
	}
	return true;
}

static enum resp_result read_line(struct reader *reader, struct resp_command *command)
{
	size_t most = reader->size < RESP_LINE_MAX ? reader->size : RESP_LINE_MAX;
	const char *end = memchr(reader->bytes, '\n', most);
	/* The words without their quotes are never longer than the line. */
	char *unquoted = command->unquoted;
	size_t at = 0;

	/* The first byte of a binary protocol is refused before the line has an end, which may
	 * never come. */
	if (!is_text(reader->bytes, end == NULL ? 1 : (size_t)(end - reader->bytes)))
		return wrong(reader, "a line is text without control characters; in \"...\" \\xHH "
		                     "stands for any byte");
	if (end == NULL && reader->size >= RESP_LINE_MAX)
		return wrong(reader, "a line of more than 16384 bytes");
	if (end == NULL)
		return more(reader, reader->size + 1);
	size_t size = (size_t)(end - reader->bytes);
	command->arguments_count = 0;
	for (;;) {
		while (at < size && is_space(reader->bytes[at]))
			at++;
		if (at == size)
			break;
		if (command->arguments_count == RESP_ARGUMENTS_MAX)
			return wrong(reader, "a line of more than 1025 words");
		if (!read_word(reader->bytes, size, &at, &unquoted,
		               &command->arguments[command->arguments_count++]))
			return wrong(reader,
			             "unbalanced quotes in request: a quoted word ends with the "
			             "same quote, and a space or the end of the line follows");
	}
	reader->at = size + 1;
	return RESP_COMMAND;
}

enum resp_result resp_read(const char *bytes, size_t size, struct resp_command *ret_command,
                           size_t *ret_needed, const char **ret_wrong)
{
	struct reader reader = {.bytes = bytes, .size = size};
	enum resp_result result;

	if (size == 0) {
		*ret_needed = 1;
		return RESP_MORE;
	}
	ret_command->is_line = bytes[0] != '*';
	result = ret_command->is_line ? read_line(&reader, ret_command)
	                              : read_array(&reader, ret_command);
	if (result == RESP_MORE)
		*ret_needed = reader.needed;
	else if (result == RESP_WRONG)
		*ret_wrong = reader.wrong;
	else
		ret_command->size = reader.at;
	return result;
}

/* --- replies --- */

/* "00", "01", … "99". */
static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

enum { NUMBER_MAX = 24 };

static void write_number(struct buffer *to, char sign, uint64_t number)
{
	char digits[2 * NUMBER_MAX];
	char *at = digits + NUMBER_MAX;

	*--at = '\n';
	*--at = '\r';
	for (; number >= 10000; number /= 10000) {
		size_t four = number % 10000;
		memcpy(at -= 2, &pairs[four % 100 * 2], 2);
		memcpy(at -= 2, &pairs[four / 100 * 2], 2);
	}
	size_t rest = number;
	if (rest >= 100) {
		memcpy(at -= 2, &pairs[rest % 100 * 2], 2);
		rest /= 100;
	}
	*--at = pairs[rest * 2 + 1];
	if (rest >= 10)
		*--at = pairs[rest * 2];
	*--at = sign;
	/* Copy NUMBER_MAX bytes even if the number is shorter: a copy of constant size is
	 * faster. */
	memcpy(buffer_need(to, NUMBER_MAX), at, NUMBER_MAX);
	to->end += (size_t)(digits + NUMBER_MAX - at);
}

void resp_simple(struct buffer *to, const char *text)
{
	buffer_append(to, "+", 1);
	buffer_append(to, text, strlen(text));
	buffer_append(to, "\r\n", 2);
}

void resp_error(struct buffer *to, const char *code, const char *text)
{
	size_t size = strlen(text);

	buffer_append(to, "-", 1);
	buffer_append(to, code, strlen(code));
	buffer_append(to, " ", 1);
	buffer_append(to, text, size);
	for (char *c = to->bytes + to->end - size; size > 0; c++, size--) {
		if (tame_is_control(*c))
			*c = ' ';
	}
	buffer_append(to, "\r\n", 2);
}

void resp_integer(struct buffer *to, uint64_t number)
{
	write_number(to, ':', number);
}

void resp_negative(struct buffer *to, uint64_t number)
{
	buffer_append(to, ":", 1);
	write_number(to, '-', number);
}

void resp_bulk(struct buffer *to, const char *bytes, size_t size)
{
	write_number(to, '$', size);
	buffer_append(to, bytes, size);
	buffer_append(to, "\r\n", 2);
}

void resp_text(struct buffer *to, const char *text)
{
	resp_bulk(to, text, strlen(text));
}

void resp_nil(struct buffer *to, int version)
{
	buffer_append(to, version == 3 ? "_\r\n" : "$-1\r\n", version == 3 ? 3 : 5);
}

void resp_array(struct buffer *to, size_t count)
{
	write_number(to, '*', count);
}

void resp_map(struct buffer *to, size_t pairs_count, int version)
{
	if (version == 3)
		write_number(to, '%', pairs_count);
	else
		write_number(to, '*', 2 * pairs_count);
}

void resp_push(struct buffer *to, size_t count, int version)
{
	write_number(to, version == 3 ? '>' : '*', count);
}
