#include "samples.h"

#include "must.h"

#include <stddef.h>
#include <stdlib.h>

enum { KEPT_MAX = 1 << 20 };

struct samples {
	uint64_t *kept;
	size_t kept_count, kept_size;
	uint64_t seen, stride;
};

struct samples *samples_create(void)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	must(samples != NULL);
	samples->stride = 1;
	return samples;
}

void samples_destroy(struct samples *samples)
{
	free(samples->kept);
	free(samples);
}

void samples_clear(struct samples *samples)
{
	samples->kept_count = 0;
	samples->seen = 0;
	samples->stride = 1;
}

static void make_room(struct samples *samples)
{
	if (samples->kept_size < KEPT_MAX) {
		samples->kept_size = samples->kept_size == 0 ? 1024 : samples->kept_size * 2;
		samples->kept = realloc(samples->kept, samples->kept_size * sizeof(*samples->kept));
		must(samples->kept != NULL);
		return;
	}
	samples->kept_count /= 2;
	for (size_t i = 0; i < samples->kept_count; i++)
		samples->kept[i] = samples->kept[2 * i];
	samples->stride *= 2;
}

void samples_add(struct samples *samples, uint64_t number)
{
	if ((samples->seen++ & (samples->stride - 1)) != 0)
		return;
	if (samples->kept_count == samples->kept_size) {
		make_room(samples);
		/* After a halving this one may not be among those that are kept. */
		if (((samples->seen - 1) & (samples->stride - 1)) != 0)
			return;
	}
	samples->kept[samples->kept_count++] = number;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

uint64_t samples_quantile(struct samples *samples, unsigned percent)
{
	if (samples->kept_count == 0)
		return 0;
	qsort(samples->kept, samples->kept_count, sizeof(*samples->kept), compare);
	size_t rank = (samples->kept_count * percent + 99) / 100;
	return samples->kept[rank == 0 ? 0 : rank - 1];
}
