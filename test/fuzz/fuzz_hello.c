/*
 * Feeds bytes as the first bytes of a connection. It must not crash. A HELLO that was read is
 * written in the same way again, and the verdict on the bytes does not change when more arrive.
 */
#include "link.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct link_heard read_hello(const uint8_t *data, size_t size)
{
	struct link_heard heard;
	uint8_t *copy = malloc(size + (size == 0));

	must(copy != NULL);
	memcpy(copy, data, size);
	link_hello_read(copy, size, &heard);
	free(copy);
	return heard;
}

static void check_text(const char *text)
{
	must(strlen(text) <= LINK_TEXT_MAX);
	for (; *text != '\0'; text++)
		must((uint8_t)*text >= 0x20 && *text != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t room[LINK_HELLO_MAX];
	struct link_heard heard = read_hello(data, size);

	switch (heard.kind) {
	case HELLO_MORE:
		must(size < LINK_HELLO_MAX);
		break;
	case HELLO_WHOLE:
		must(heard.size <= size && heard.version == LINK_VERSION);
		must(link_hello_write(&heard.hello, room) == heard.size);
		must(memcmp(room, data, heard.size) == 0);
		break;
	case HELLO_REFUSED:
		must(heard.size <= size);
		check_text(heard.text);
		must(link_refusal_write(heard.text, room) == heard.size ||
		     memchr(data, 0, heard.size) != NULL);
		break;
	case HELLO_VERSION:
		must(heard.version != LINK_VERSION);
		break;
	case HELLO_NONSENSE:
		break;
	}
	/* Once a verdict is given, it must stay. */
	size_t cut = size < 2 * (size_t)LINK_HELLO_MAX ? size : 2 * (size_t)LINK_HELLO_MAX;
	for (; cut > 0; cut -= 1 + cut / 16) {
		struct link_heard part = read_hello(data, cut - 1);
		must(part.kind == HELLO_MORE || part.kind == heard.kind);
		if (heard.kind == HELLO_MORE)
			must(part.kind == HELLO_MORE);
	}
	return 0;
}
