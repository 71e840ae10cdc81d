#include "ordeal.h"
#include "realm.h"

#include <inttypes.h>
#include <stdarg.h>

static void hash_in(struct realm *realm, uint64_t value)
{
	realm->hash = chance_mix(realm->hash ^ value) + UINT64_C(0x9e3779b97f4a7c15);
}

static void print_head(const struct realm *realm, uint32_t place)
{
	fprintf(realm->trace, "%4" PRIu64 ".%06" PRIu64 " %-6s ", realm->now / REALM_SECOND,
	        realm->now % REALM_SECOND / 1000,
	        place == REALM_NOWHERE ? "" : realm->hosts[place].name);
}

void realm_note(struct realm *realm, uint32_t place, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	hash_in(realm, realm->now ^ place);
	for (const char *at = text; *at != '\0'; at++)
		hash_in(realm, (uint8_t)*at);
	if (realm->trace != NULL) {
		print_head(realm, place);
		fprintf(realm->trace, "%s\n", text);
	}
}

void realm_draw(struct realm *realm, enum drawn_kind kind, uint32_t place, uint64_t number,
                uint64_t other, const char *text)
{
	if (realm->drawing != NULL)
		drawing_add(realm->drawing, kind, realm->now, place, number, other, text);
}

void realm_mark(struct realm *realm, const char *what, uint32_t place, uint64_t a, uint64_t b)
{
	hash_in(realm, realm->now);
	hash_in(realm, ((uint64_t)place << 32) ^ (uint8_t)what[0]);
	hash_in(realm, a);
	hash_in(realm, b);
	if (realm->trace == NULL)
		return;
	print_head(realm, place);
	fprintf(realm->trace, "%s %" PRIu64 " %" PRIu64 "\n", what, a, b);
}

void realm_wrong(struct realm *realm, const char *format, ...)
{
	va_list arguments;

	if (realm->failed)
		return;
	realm->failed = true;
	int used = snprintf(realm->wrong, sizeof(realm->wrong),
	                    "at %" PRIu64 ".%03" PRIu64 " s: ", realm->now / REALM_SECOND,
	                    realm->now % REALM_SECOND / REALM_MS);
	va_start(arguments, format);
	vsnprintf(realm->wrong + used, sizeof(realm->wrong) - (size_t)used, format, arguments);
	va_end(arguments);
	realm_note(realm, REALM_NOWHERE, "VIOLATION %s", realm->wrong);
	realm_draw(realm, DRAWN_WRONG, 0, 0, 0, realm->wrong);
}
