#include "checksum.h"

#include "memory.h"

#include <string.h>

#include <xxhash.h>

/* The checksum of a row includes the number of its table, so that a row in the wrong table is
 * noticed. */
enum table { ADDRESSES = 1, BALLOT, IDENTITY, LOG, SNAPSHOT, TOTAL };

struct summing {
	XXH3_state_t *state;
};

static struct summing begin_sum(enum table table)
{
	struct summing summing = {XXH3_createState()};
	uint8_t tag = (uint8_t)table;

	memory_must(summing.state != NULL);
	XXH3_64bits_reset(summing.state);
	XXH3_64bits_update(summing.state, &tag, 1);
	return summing;
}

static void sum_number(struct summing *summing, uint64_t number)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
	XXH3_64bits_update(summing->state, bytes, sizeof bytes);
}

static void sum_bytes(struct summing *summing, const void *bytes, size_t size)
{
	sum_number(summing, size);
	if (size > 0)
		XXH3_64bits_update(summing->state, bytes, size);
}

static uint64_t end_sum(struct summing *summing)
{
	uint64_t sum = XXH3_64bits_digest(summing->state);

	XXH3_freeState(summing->state);
	return sum;
}

uint64_t checksum_entry(uint64_t index, const struct durable_entry *entry)
{
	struct summing summing = begin_sum(LOG);

	sum_number(&summing, index);
	sum_number(&summing, entry->term);
	sum_number(&summing, entry->type);
	sum_bytes(&summing, entry->bytes, entry->size);
	return end_sum(&summing);
}

uint64_t checksum_ballot(uint64_t term, uint64_t vote)
{
	struct summing summing = begin_sum(BALLOT);

	sum_number(&summing, term);
	sum_number(&summing, vote);
	return end_sum(&summing);
}

uint64_t checksum_snapshot(const struct durable_snapshot *snapshot)
{
	struct summing summing = begin_sum(SNAPSHOT);

	sum_number(&summing, snapshot->index);
	sum_number(&summing, snapshot->term);
	sum_number(&summing, snapshot->voters_index);
	sum_bytes(&summing, snapshot->voters, snapshot->voters_size);
	sum_bytes(&summing, snapshot->bytes, snapshot->size);
	return end_sum(&summing);
}

uint64_t checksum_identity(const void *bytes, size_t size)
{
	struct summing summing = begin_sum(IDENTITY);

	sum_bytes(&summing, bytes, size);
	return end_sum(&summing);
}

uint64_t checksum_address(const char *name, const char *address)
{
	struct summing summing = begin_sum(ADDRESSES);

	sum_bytes(&summing, name, strlen(name));
	sum_bytes(&summing, address, strlen(address));
	return end_sum(&summing);
}

uint64_t checksum_total(uint64_t log_start, uint64_t log_next, uint64_t sums)
{
	struct summing summing = begin_sum(TOTAL);

	sum_number(&summing, log_start);
	sum_number(&summing, log_next);
	sum_number(&summing, sums);
	return end_sum(&summing);
}
