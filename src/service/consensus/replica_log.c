#include "replica_log.h"

#include "grow.h"
#include "must.h"

#include <raft.h>
#include <string.h>

uint8_t *bytes_copy(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	memory_must(copy != NULL);
	if (size > 0)
		memcpy(copy, bytes, size);
	return copy;
}

struct durable_snapshot snapshot_copy(const struct durable_snapshot *snapshot)
{
	struct durable_snapshot copy = *snapshot;

	copy.voters = bytes_copy(snapshot->voters, snapshot->voters_size);
	copy.bytes = bytes_copy(snapshot->bytes, snapshot->size);
	return copy;
}

void snapshot_free(struct durable_snapshot *snapshot)
{
	free((void *)snapshot->voters);
	free((void *)snapshot->bytes);
	*snapshot = (struct durable_snapshot){0};
}

static void free_entries(struct replica_log *log, size_t from, size_t to)
{
	for (size_t place = from; place < to; place++)
		free((void *)log->entries[place].entry.bytes);
}

void replica_log_init(struct replica_log *log, const struct durable_content *content)
{
	*log = (struct replica_log){.start = content->log_start};
	if (content->snapshot.index != 0)
		log->snapshot = snapshot_copy(&content->snapshot);
	replica_log_replace(log, log->start, content->entries, content->entries_count, 0);
}

void replica_log_free(struct replica_log *log)
{
	free_entries(log, 0, log->count);
	free(log->entries);
	snapshot_free(&log->snapshot);
}

uint64_t replica_log_last(const struct replica_log *log)
{
	return log->start + log->count - 1;
}

const struct logged *replica_log_at(const struct replica_log *log, uint64_t index)
{
	if (index < log->start || index >= log->start + log->count)
		return NULL;
	return &log->entries[index - log->start];
}

uint64_t replica_log_term(const struct replica_log *log, uint64_t index)
{
	const struct logged *logged = replica_log_at(log, index);

	if (logged != NULL)
		return logged->entry.term;
	return index == log->snapshot.index ? log->snapshot.term : 0;
}

bool replica_log_voters(const struct replica_log *log, uint64_t index, const uint8_t **ret_voters,
                        size_t *ret_size, uint64_t *ret_index)
{
	for (; index >= log->start && index > log->snapshot.index; index--) {
		const struct logged *logged = replica_log_at(log, index);
		if (logged == NULL || logged->entry.type != RAFT_CHANGE)
			continue;
		*ret_voters = logged->entry.bytes;
		*ret_size = logged->entry.size;
		*ret_index = index;
		return true;
	}
	*ret_voters = log->snapshot.voters;
	*ret_size = log->snapshot.voters_size;
	*ret_index = log->snapshot.voters_index;
	return log->snapshot.index != 0;
}

void replica_log_replace(struct replica_log *log, uint64_t first,
                         const struct durable_entry *entries, size_t count, uint64_t write)
{
	must(first >= log->start && first <= log->start + log->count);
	size_t place = (size_t)(first - log->start);
	free_entries(log, place, log->count);
	log->entries = grow(log->entries, &log->size, place + count, sizeof *log->entries);
	for (size_t i = 0; i < count; i++) {
		struct logged *logged = &log->entries[place + i];
		*logged = (struct logged){entries[i], write};
		logged->entry.bytes = bytes_copy(entries[i].bytes, entries[i].size);
	}
	log->count = place + count;
}

void replica_log_trim(struct replica_log *log, uint64_t start)
{
	if (start <= log->start)
		return;
	size_t gone = (size_t)(start - log->start);
	must(gone <= log->count);
	free_entries(log, 0, gone);
	log->count -= gone;
	memmove(log->entries, log->entries + gone, log->count * sizeof *log->entries);
	log->start = start;
}

void replica_log_clear(struct replica_log *log, uint64_t start)
{
	free_entries(log, 0, log->count);
	log->count = 0;
	log->start = start;
}

void replica_log_set_snapshot(struct replica_log *log, const struct durable_snapshot *snapshot)
{
	struct durable_snapshot copy = snapshot_copy(snapshot);

	snapshot_free(&log->snapshot);
	log->snapshot = copy;
}
