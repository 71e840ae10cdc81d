/*
 * The data that a server of the log must find again after a crash. The consensus code produces it
 * and the disk code stores it; neither depends on the other.
 *
 * Each write takes effect as a whole or not at all, and writes take effect in the order of their
 * numbers.
 */
#ifndef CONSENSUS_DURABLE_H
#define CONSENSUS_DURABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct durable_entry {
	uint64_t term;
	/* The kind of entry by libraft's numbers: a command, a barrier or a change of the
	 * voters. */
	uint32_t type;
	const uint8_t *bytes;
	size_t size;
};

/* The application's state after the entry `index`, and the voters at that time. */
struct durable_snapshot {
	uint64_t index; /* the last entry that the snapshot covers; 0: there is no snapshot */
	uint64_t term;
	uint64_t voters_index; /* the index of the entry that set the voters of the snapshot */
	const uint8_t *voters;
	size_t voters_size;
	const uint8_t *bytes;
	size_t size;
};

struct durable_write {
	uint64_t number;
	bool has_ballot; /* `term` and `vote` have changed and must be stored */
	uint64_t term, vote;
	/* The snapshot that replaces the stored one; NULL: the stored one stays. */
	const struct durable_snapshot *snapshot;
	/* The first index to keep: all entries below it are removed; 0: no entry is removed. */
	uint64_t log_start;
	/* The entries from this index on are replaced by `entries`; 0: no entry changes. */
	uint64_t entries_first;
	const struct durable_entry *entries;
	size_t entries_count;
};

/* Everything that a disk has. */
struct durable_content {
	uint64_t term, vote;
	struct durable_snapshot snapshot;
	uint64_t log_start; /* the index of the first entry, or of the next one if there are none */
	const struct durable_entry *entries;
	size_t entries_count;
};

#endif
