#include "shadow.h"

#include "grow.h"
#include "must.h"
#include "replica_log.h"

#include <raft.h>

static void free_entry(const struct durable_entry *entry)
{
	free((void *)entry->bytes);
}

static struct durable_entry copy_entry(const struct durable_entry *entry)
{
	struct durable_entry copy = *entry;

	copy.bytes = bytes_copy(entry->bytes, entry->size);
	return copy;
}

void shadow_init(struct shadow *shadow)
{
	*shadow = (struct shadow){.start = 1};
}

void shadow_free(struct shadow *shadow)
{
	for (size_t i = 0; i < shadow->count; i++)
		free_entry(&shadow->entries[i]);
	free(shadow->entries);
	snapshot_free(&shadow->snapshot);
	shadow_init(shadow);
}

static void add_entry(struct shadow *shadow, const struct durable_entry *entry)
{
	shadow->entries =
	        grow(shadow->entries, &shadow->size, shadow->count + 1, sizeof *shadow->entries);
	shadow->entries[shadow->count++] = copy_entry(entry);
}

void shadow_copy(struct shadow *shadow, const struct shadow *from)
{
	shadow_free(shadow);
	shadow->term = from->term;
	shadow->vote = from->vote;
	shadow->start = from->start;
	if (from->snapshot.index != 0)
		shadow->snapshot = snapshot_copy(&from->snapshot);
	for (size_t i = 0; i < from->count; i++)
		add_entry(shadow, &from->entries[i]);
}

static void remove_head(struct shadow *shadow, uint64_t start)
{
	size_t gone = 0;

	while (gone < shadow->count && shadow->start + gone < start)
		free_entry(&shadow->entries[gone++]);
	for (size_t i = gone; i < shadow->count; i++)
		shadow->entries[i - gone] = shadow->entries[i];
	shadow->count -= gone;
	if (shadow->start < start)
		shadow->start = start;
}

void shadow_apply(struct shadow *shadow, const struct durable_write *write)
{
	if (write->has_ballot) {
		shadow->term = write->term;
		shadow->vote = write->vote;
	}
	if (write->snapshot != NULL) {
		snapshot_free(&shadow->snapshot);
		shadow->snapshot = snapshot_copy(write->snapshot);
	}
	while (write->entries_first != 0 && shadow->count > 0 &&
	       shadow->start + shadow->count > write->entries_first)
		free_entry(&shadow->entries[--shadow->count]);
	remove_head(shadow, write->log_start);
	must(write->entries_count == 0 || shadow->start + shadow->count == write->entries_first);
	for (size_t i = 0; i < write->entries_count; i++)
		add_entry(shadow, &write->entries[i]);
}

struct durable_content shadow_content(const struct shadow *shadow)
{
	return (struct durable_content){
	        .term = shadow->term,
	        .vote = shadow->vote,
	        .snapshot = shadow->snapshot,
	        .log_start = shadow->start,
	        .entries = shadow->entries,
	        .entries_count = shadow->count,
	};
}

const uint8_t *shadow_voters(const struct shadow *shadow, size_t *ret_size)
{
	for (size_t i = shadow->count; i > 0; i--) {
		const struct durable_entry *entry = &shadow->entries[i - 1];
		if (entry->type != RAFT_CHANGE)
			continue;
		*ret_size = entry->size;
		return entry->bytes;
	}
	*ret_size = shadow->snapshot.voters_size;
	return shadow->snapshot.voters;
}

struct durable_write shadow_write_copy(const struct durable_write *write)
{
	struct durable_write copy = *write;
	struct durable_entry *entries = calloc(write->entries_count + 1, sizeof *entries);

	memory_must(entries != NULL);
	for (size_t i = 0; i < write->entries_count; i++)
		entries[i] = copy_entry(&write->entries[i]);
	copy.entries = entries;
	if (write->snapshot != NULL) {
		struct durable_snapshot *snapshot = malloc(sizeof *snapshot);
		memory_must(snapshot != NULL);
		*snapshot = snapshot_copy(write->snapshot);
		copy.snapshot = snapshot;
	}
	return copy;
}

void shadow_write_free(struct durable_write *write)
{
	for (size_t i = 0; i < write->entries_count; i++)
		free_entry(&write->entries[i]);
	free((void *)write->entries);
	if (write->snapshot != NULL) {
		struct durable_snapshot snapshot = *write->snapshot;
		free((void *)write->snapshot);
		snapshot_free(&snapshot);
	}
}
