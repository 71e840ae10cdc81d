#include "text.h"

#include "memory.h"
#include "must.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `count` more bytes and a 0. */
static void make_room(struct text *text, size_t count)
{
	if (text->size - text->used > count)
		return;
	text->size = text->size + text->size / 2 + count + 64;
	text->bytes = realloc(text->bytes, text->size);
	memory_must(text->bytes != NULL);
}

void text_add(struct text *text, const char *bytes, size_t count)
{
	make_room(text, count);
	memcpy(text->bytes + text->used, bytes, count);
	text->used += count;
	text->bytes[text->used] = '\0';
}

void text_add_string(struct text *text, const char *string)
{
	text_add(text, string, strlen(string));
}

void text_add_xml(struct text *text, const char *string)
{
	for (; *string != '\0'; string++) {
		if (*string == '<')
			text_add_string(text, "&lt;");
		else if (*string == '&')
			text_add_string(text, "&amp;");
		else
			text_add(text, string, 1);
	}
}

void text_format(struct text *text, const char *format, ...)
{
	va_list arguments;

	make_room(text, 64);
	va_start(arguments, format);
	int count = vsnprintf(text->bytes + text->used, text->size - text->used, format, arguments);
	va_end(arguments);
	must(count >= 0);
	if ((size_t)count >= text->size - text->used) {
		make_room(text, (size_t)count);
		va_start(arguments, format);
		vsnprintf(text->bytes + text->used, text->size - text->used, format, arguments);
		va_end(arguments);
	}
	text->used += (size_t)count;
}

void text_clear(struct text *text)
{
	text->used = 0;
	if (text->bytes != NULL)
		text->bytes[0] = '\0';
}

void text_free(struct text *text)
{
	free(text->bytes);
	*text = (struct text){0};
}

char *text_take(struct text *text)
{
	make_room(text, 0);
	text->bytes[text->used] = '\0';
	char *string = text->bytes;
	*text = (struct text){0};
	return string;
}

/* Returns the length of the UTF-8 character at `c`, or 0 if there is no valid one. */
static size_t character_length(const unsigned char *c, size_t left)
{
	size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;

	if (length == 0 || length > left || c[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
	    (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return length;
}

bool text_is_utf8(const char *bytes, size_t count)
{
	const unsigned char *c = (const unsigned char *)bytes;

	for (size_t length; count > 0; c += length, count -= length) {
		length = character_length(c, count);
		if (length == 0)
			return false;
	}
	return true;
}

char *time_text(uint64_t time, char *ret_text)
{
	int length =
	        snprintf(ret_text, 32, "%" PRIu64 ".%06" PRIu64, time / 1000000, time % 1000000);
	while (ret_text[length - 1] == '0')
		length--;
	if (ret_text[length - 1] == '.')
		length--;
	ret_text[length] = '\0';
	return ret_text;
}
