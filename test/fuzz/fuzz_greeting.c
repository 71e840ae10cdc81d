/*
 * The first bytes of a connection: no crash; what is understood is written the same way again; and
 * what is said of the bytes does not change when more come.
 */
#include "link.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct link_greeted read_greeting(const uint8_t *data, size_t size)
{
	struct link_greeted greeted;
	uint8_t *copy = malloc(size + (size == 0));

	must(copy != NULL);
	memcpy(copy, data, size);
	link_greeting_read(copy, size, &greeted);
	free(copy);
	return greeted;
}

static void check_text(const char *text)
{
	must(strlen(text) <= LINK_TEXT_MAX);
	for (; *text != '\0'; text++)
		must((uint8_t)*text >= 0x20 && *text != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t room[LINK_GREETING_MAX];
	struct link_greeted greeted = read_greeting(data, size);

	switch (greeted.kind) {
	case GREETING_MORE:
		must(size < LINK_GREETING_MAX);
		break;
	case GREETING_HELLO:
		must(greeted.size <= size && greeted.version == LINK_VERSION);
		must(link_hello_write(&greeted.hello, room) == greeted.size);
		must(memcmp(room, data, greeted.size) == 0);
		break;
	case GREETING_REFUSED:
		must(greeted.size <= size);
		check_text(greeted.text);
		must(link_refusal_write(greeted.text, room) == greeted.size ||
		     memchr(data, 0, greeted.size) != NULL);
		break;
	case GREETING_VERSION:
		must(greeted.version != LINK_VERSION);
		break;
	case GREETING_NONSENSE:
		break;
	}
	/* As soon as it is known, it stays. */
	size_t cut = size < 2 * (size_t)LINK_GREETING_MAX ? size : 2 * (size_t)LINK_GREETING_MAX;
	for (; cut > 0; cut -= 1 + cut / 16) {
		struct link_greeted part = read_greeting(data, cut - 1);
		must(part.kind == GREETING_MORE || part.kind == greeted.kind);
		if (greeted.kind == GREETING_MORE)
			must(part.kind == GREETING_MORE);
	}
	return 0;
}
