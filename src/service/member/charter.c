#include "charter.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void charter_free(struct charter *charter)
{
	free(charter->settings);
	*charter = (struct charter){0};
}

void charter_copy(struct charter *charter, const struct charter *from)
{
	char *settings = from->settings == NULL ? NULL : strdup(from->settings);

	memory_must(settings != NULL || from->settings == NULL);
	charter_free(charter);
	*charter = *from;
	charter->settings = settings;
}

void charter_write(struct out *out, const struct charter *charter)
{
	out_uint(out, charter->cluster.high);
	out_uint(out, charter->cluster.low);
	out_uint(out, charter->base);
	entry_put_text(out, entry_text_of(charter->settings == NULL ? "" : charter->settings));
}

/* Unlike other texts, settings have several lines. */
static struct entry_text get_lines(struct in *in)
{
	struct entry_text text = {.size = (size_t)in_range(in, 0, CHARTER_SETTINGS_MAX)};

	text.bytes = (const char *)in->next;
	if ((size_t)(in->end - in->next) < text.size)
		in->bad = true;
	for (size_t i = 0; !in->bad && i < text.size; i++, in->next++)
		in->bad = (*in->next < 0x20 && *in->next != '\n') || *in->next == 0x7f;
	return text;
}

void charter_read(struct in *in, struct charter *ret_charter)
{
	struct charter charter = {0};

	charter.cluster.high = in_uint(in);
	charter.cluster.low = in_uint(in);
	charter.base = in_uint(in);
	struct entry_text settings = get_lines(in);
	*ret_charter = (struct charter){0};
	if (in->bad)
		return;
	charter.settings = strndup(settings.bytes, settings.size);
	memory_must(charter.settings != NULL);
	*ret_charter = charter;
}

uint64_t charter_digest(const char *settings)
{
	return XXH3_64bits(settings, strlen(settings));
}

struct state_settings charter_state(const struct charter *charter, uint64_t lease_ns)
{
	enum { FENCES_FIRST = 1 << 20 }; /* how many fences an epoch begins with */

	return (struct state_settings){.lease_ns = lease_ns,
	                               .base = charter->base,
	                               .block = FENCES_FIRST,
	                               .cluster = charter->cluster};
}

uint64_t charter_base(uint64_t real_ms, uint64_t epoch)
{
	enum { SECOND_BITS = 23, EPOCH_BITS = 34 };
	/* 2026-01-01: the first fence grows with the time since then. */
	const uint64_t origin_ms = UINT64_C(1767225600000);
	uint64_t base = 1;

	if (real_ms > origin_ms)
		base = ((real_ms - origin_ms) << SECOND_BITS) / 1000;
	if (epoch != 0 && base < (epoch + 1) << EPOCH_BITS)
		base = (epoch + 1) << EPOCH_BITS;
	return base;
}
