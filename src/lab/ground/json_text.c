#include "json_text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting is refused, so that a hostile text cannot exhaust the stack. */
enum { DEPTH_MAX = 200 };

struct json_reader {
	const char *at;
	struct text *text;
	unsigned depth;
};

static bool read_value(struct json_reader *reader);

static void skip_blanks(struct json_reader *reader)
{
	reader->at += strspn(reader->at, " \t\r\n");
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool read_word(struct json_reader *reader, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(reader->at, word, length) != 0)
		return false;
	text_add(reader->text, word, length);
	reader->at += length;
	return true;
}

/* Appends a whole number in its only form: -0 becomes 0. */
static bool add_whole(struct json_reader *reader, const char *begin, size_t length)
{
	bool minus = *begin == '-';
	uint64_t number = 0, most = (uint64_t)INT64_MAX + minus;

	for (size_t i = minus; i < length; i++) {
		uint64_t digit = (uint64_t)(begin[i] - '0');
		if (number > (most - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	text_format(reader->text, "%s%llu", minus && number != 0 ? "-" : "",
	            (unsigned long long)number);
	return true;
}

static bool read_number(struct json_reader *reader)
{
	const char *begin = reader->at, *c = begin + (*begin == '-');
	bool whole = true;

	if (!is_digit(*c))
		return false;
	if (*c == '0' && is_digit(c[1]))
		return false;
	while (is_digit(*c))
		c++;
	if (*c == '.') {
		whole = false;
		if (!is_digit(*++c))
			return false;
		while (is_digit(*c))
			c++;
	}
	if (*c == 'e' || *c == 'E') {
		whole = false;
		c++;
		c += *c == '+' || *c == '-';
		if (!is_digit(*c))
			return false;
		while (is_digit(*c))
			c++;
	}
	reader->at = c;
	if (whole)
		return add_whole(reader, begin, (size_t)(c - begin));
	text_add(reader->text, begin, (size_t)(c - begin));
	return true;
}

/* Reads four hexadecimal digits. Returns -1 if there are fewer. */
static int32_t read_hex(struct json_reader *reader)
{
	int32_t number = 0;

	for (int i = 0; i < 4; i++) {
		char c = *reader->at;
		int32_t digit = is_digit(c)            ? c - '0'
		                : c >= 'a' && c <= 'f' ? c - 'a' + 10
		                : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                                       : -1;
		if (digit < 0)
			return -1;
		number = number * 16 + digit;
		reader->at++;
	}
	return number;
}

static void add_control(struct text *text, unsigned char c)
{
	static const char letters[] = "btn\vfr";

	if (c >= '\b' && c <= '\r' && c != '\v')
		text_format(text, "\\%c", letters[c - '\b']);
	else
		text_format(text, "\\u%04X", c);
}

static void add_character(struct text *text, uint32_t code)
{
	if (code == '"' || code == '\\') {
		text_format(text, "\\%c", (char)code);
	} else if (code < 0x20) {
		add_control(text, (unsigned char)code);
	} else if (code < 0x80) {
		text_format(text, "%c", (char)code);
	} else {
		char bytes[4];
		size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		for (size_t i = length; i-- > 1; code >>= 6)
			bytes[i] = (char)(0x80 | (code & 0x3f));
		bytes[0] = (char)((0xf00 >> length & 0xff) | code);
		text_add(text, bytes, length);
	}
}

/* Reads what follows \u. A character beyond U+FFFF is written as two surrogates, and a surrogate
 * without its partner is refused. */
static bool read_unicode(struct json_reader *reader)
{
	int32_t code = read_hex(reader);

	if (code <= 0 || (code >= 0xdc00 && code < 0xe000))
		return false;
	if (code >= 0xd800 && code < 0xdc00) {
		if (reader->at[0] != '\\' || reader->at[1] != 'u')
			return false;
		reader->at += 2;
		int32_t low = read_hex(reader);
		if (low < 0xdc00 || low >= 0xe000)
			return false;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	add_character(reader->text, (uint32_t)code);
	return true;
}

static bool read_escape(struct json_reader *reader)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char letter = *reader->at++;

	if (letter == 'u')
		return read_unicode(reader);
	const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
	if (found == NULL)
		return false;
	add_character(reader->text, (uint32_t)meant[found - letters]);
	return true;
}

static bool read_string(struct json_reader *reader)
{
	text_add(reader->text, "\"", 1);
	for (reader->at++; *reader->at != '"';) {
		if ((unsigned char)*reader->at < 0x20)
			return false;
		if (*reader->at != '\\') {
			text_add(reader->text, reader->at++, 1);
			continue;
		}
		reader->at++;
		if (!read_escape(reader))
			return false;
	}
	reader->at++;
	text_add(reader->text, "\"", 1);
	return true;
}

static bool read_array(struct json_reader *reader)
{
	text_add(reader->text, "[", 1);
	reader->at++;
	skip_blanks(reader);
	for (bool first = true; *reader->at != ']'; first = false) {
		if (!first && *reader->at++ != ',')
			return false;
		if (!first)
			text_add(reader->text, ",", 1);
		if (!read_value(reader))
			return false;
		skip_blanks(reader);
	}
	reader->at++;
	text_add(reader->text, "]", 1);
	return true;
}

/* Does the object that begins at `begin` have two members of the same name? `name` is the offset
 * of the name of its last member. */
static bool is_repeated(const struct text *text, size_t begin, size_t name)
{
	size_t length = text->used - name;
	const char *at = text->bytes + begin;
	struct json_member member;

	while ((at = json_next_member(at, &member)) != NULL && member.name < text->bytes + name) {
		if (member.name_length + 2 == length &&
		    memcmp(member.name, text->bytes + name + 1, member.name_length) == 0)
			return true;
	}
	return false;
}

static bool read_object(struct json_reader *reader)
{
	size_t begin = reader->text->used;

	text_add(reader->text, "{", 1);
	reader->at++;
	skip_blanks(reader);
	for (bool first = true; *reader->at != '}'; first = false) {
		if (!first && *reader->at++ != ',')
			return false;
		if (!first)
			text_add(reader->text, ",", 1);
		skip_blanks(reader);
		size_t name = reader->text->used;
		if (*reader->at != '"' || !read_string(reader) ||
		    is_repeated(reader->text, begin, name))
			return false;
		skip_blanks(reader);
		if (*reader->at++ != ':')
			return false;
		text_add(reader->text, ":", 1);
		if (!read_value(reader))
			return false;
		skip_blanks(reader);
	}
	reader->at++;
	text_add(reader->text, "}", 1);
	return true;
}

static bool read_value(struct json_reader *reader)
{
	bool good = false;

	if (reader->depth == DEPTH_MAX)
		return false;
	reader->depth++;
	skip_blanks(reader);
	switch (*reader->at) {
	case '{':
		good = read_object(reader);
		break;
	case '[':
		good = read_array(reader);
		break;
	case '"':
		good = read_string(reader);
		break;
	case 't':
		good = read_word(reader, "true");
		break;
	case 'f':
		good = read_word(reader, "false");
		break;
	case 'n':
		good = read_word(reader, "null");
		break;
	default:
		good = read_number(reader);
	}
	reader->depth--;
	return good;
}

bool json_compact(const char *value, struct text *text)
{
	struct json_reader reader = {.at = value, .text = text};

	if (!read_value(&reader))
		return false;
	skip_blanks(&reader);
	return *reader.at == '\0';
}

/* Returns the end of the string whose opening quote is at `at`. */
static const char *skip_string(const char *at)
{
	for (at++; *at != '"' && *at != '\0'; at++)
		at += *at == '\\' && at[1] != '\0';
	return *at == '"' ? at + 1 : at;
}

/* Returns the end of the value that begins at `at`. */
static const char *skip_value(const char *at)
{
	unsigned depth = 0;

	for (; *at != '\0'; at++) {
		if (*at == '"')
			at = skip_string(at) - 1;
		else if (*at == '[' || *at == '{')
			depth++;
		else if (depth == 0 && (*at == ',' || *at == ']' || *at == '}'))
			break;
		else if (*at == ']' || *at == '}')
			depth--;
	}
	return at;
}

const char *json_next_member(const char *at, struct json_member *ret_member)
{
	if (*at != '{' && *at != ',')
		return NULL;
	const char *name = at + 1;
	if (*name != '"')
		return NULL;
	const char *end = skip_string(name);
	ret_member->name = name + 1;
	ret_member->name_length = (size_t)(end - name) - 2;
	ret_member->value = *end == ':' ? end + 1 : end;
	at = skip_value(ret_member->value);
	ret_member->value_length = (size_t)(at - ret_member->value);
	return at;
}

bool json_find_member(const char *object, const char *name, struct json_member *ret_member)
{
	size_t wanted = strlen(name);

	for (const char *at = object; (at = json_next_member(at, ret_member)) != NULL;) {
		if (ret_member->name_length == wanted &&
		    memcmp(ret_member->name, name, wanted) == 0)
			return true;
	}
	return false;
}
