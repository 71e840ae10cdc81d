#include "writer.h"

#include <string.h>

void writer_init(struct writer *writer, char *text, size_t size)
{
	*writer = (struct writer){.text = text, .size = size};
}

static void put(struct writer *writer, const char *text, size_t length)
{
	if (writer->used < writer->size) {
		size_t room = writer->size - writer->used;
		memcpy(writer->text + writer->used, text, length < room ? length : room);
	}
	writer->used += length;
}

void writer_text(struct writer *writer, const char *text)
{
	put(writer, text, strlen(text));
}

static void begin_value(struct writer *writer)
{
	if (writer->comma)
		put(writer, ",", 1);
	writer->comma = true;
}

void writer_open(struct writer *writer, char bracket)
{
	begin_value(writer);
	put(writer, &bracket, 1);
	writer->comma = false;
}

void writer_close(struct writer *writer, char bracket)
{
	put(writer, &bracket, 1);
	writer->comma = true;
}

void writer_key(struct writer *writer, const char *key)
{
	writer_string(writer, key);
	put(writer, ":", 1);
	writer->comma = false;
}

void writer_uint(struct writer *writer, uint64_t value)
{
	char digits[20];
	size_t first = sizeof(digits);
	do {
		digits[--first] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	begin_value(writer);
	put(writer, digits + first, sizeof(digits) - first);
}

void writer_int(struct writer *writer, int64_t value)
{
	if (value >= 0) {
		writer_uint(writer, (uint64_t)value);
		return;
	}
	begin_value(writer);
	put(writer, "-", 1);
	writer->comma = false;
	writer_uint(writer, -(uint64_t)value);
}

void writer_bool(struct writer *writer, bool value)
{
	begin_value(writer);
	writer_text(writer, value ? "true" : "false");
}

void writer_null(struct writer *writer)
{
	begin_value(writer);
	writer_text(writer, "null");
}

static void put_control(struct writer *writer, unsigned char c)
{
	static const char hex[] = "0123456789ABCDEF", letters[] = "btn\vfr";

	if (c >= '\b' && c <= '\r' && c != '\v') {
		char escape[2] = {'\\', letters[c - '\b']};
		put(writer, escape, sizeof(escape));
	} else {
		char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
		put(writer, escape, sizeof(escape));
	}
}

void writer_string(struct writer *writer, const char *value)
{
	begin_value(writer);
	put(writer, "\"", 1);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;
		if (c == '"' || c == '\\')
			put(writer, "\\", 1);
		if (c < 0x20)
			put_control(writer, c);
		else
			put(writer, value, 1);
	}
	put(writer, "\"", 1);
}
