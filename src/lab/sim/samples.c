#include "samples.h"

#include "memory.h"

#include <stddef.h>
#include <stdlib.h>

enum { KEPT_MAX = 1 << 17 };

struct samples {
	uint64_t *kept;
	size_t kept_count, kept_size;
	uint64_t seen, stride;
};

struct samples *samples_create(void)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	memory_must(samples != NULL);
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
		memory_must(samples->kept != NULL);
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
		/* The stride has just doubled, so perhaps this number need not be kept any more. */
		if (((samples->seen - 1) & (samples->stride - 1)) != 0)
			return;
	}
	samples->kept[samples->kept_count++] = number;
}

/* Hoare's selection: moves the k-th smallest number to index k and returns it. */
static uint64_t select_number(uint64_t *numbers, size_t count, size_t k)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		uint64_t pivot = numbers[low + (high - low) / 2];
		size_t i = low, j = high;
		while (i <= j) {
			while (numbers[i] < pivot)
				i++;
			while (numbers[j] > pivot)
				j--;
			if (i > j)
				break;
			uint64_t number = numbers[i];
			numbers[i++] = numbers[j];
			numbers[j] = number;
			if (j == 0)
				break;
			j--;
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return numbers[k];
}

uint64_t samples_quantile(struct samples *samples, unsigned percent)
{
	if (samples->kept_count == 0)
		return 0;
	size_t rank = (samples->kept_count * percent + 99) / 100;
	return select_number(samples->kept, samples->kept_count, rank == 0 ? 0 : rank - 1);
}
