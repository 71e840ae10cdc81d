#include "outbuffer.h"
#include "memory.h"

#include <stdlib.h>

static void grow(struct out *out, uint32_t bytes)
{
	if (out->effects_count == out->effects_size) {
		must(out->effects_size < UINT32_MAX / 2);
		out->effects_size *= 2;
		out->effects = realloc(out->effects, out->effects_size * sizeof(*out->effects));
		memory_must(out->effects != NULL);
	}
	while (out->bytes_size - out->bytes_count < bytes) {
		must(out->bytes_size < UINT32_MAX / 2);
		out->bytes_size *= 2;
		out->bytes = realloc(out->bytes, out->bytes_size);
		memory_must(out->bytes != NULL);
	}
}

void out_init(struct out *out)
{
	*out = (struct out){.effects_size = 64, .bytes_size = 4096, .grow = grow};
	out->effects = malloc(out->effects_size * sizeof(*out->effects));
	out->bytes = malloc(out->bytes_size);
	memory_must(out->effects != NULL && out->bytes != NULL);
}

void out_free(struct out *out)
{
	free(out->effects);
	free(out->bytes);
}
