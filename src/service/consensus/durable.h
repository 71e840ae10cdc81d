/*
 * What a server of the log must find again after a crash, as plain data: the consensus makes it,
 * the disk keeps it, and neither knows the other.
 *
 * A write is done as a whole or not at all, and writes are done in the order of their numbers.
 */
#ifndef CONSENSUS_DURABLE_H
#define CONSENSUS_DURABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct durable_entry {
	uint64_t term;
	uint32_t type; /* a command, a barrier or a change of the voters, as libraft numbers them */
	const uint8_t *bytes;
	size_t size;
};

/* The state of the application after the entry `index`, and the voters by then. */
struct durable_snapshot {
	uint64_t index; /* 0: there is no snapshot */
	uint64_t term;
	uint64_t voters_index; /* the entry that made these voters */
	const uint8_t *voters;
	size_t voters_size;
	const uint8_t *bytes;
	size_t size;
};

struct durable_write {
	uint64_t number;
	bool has_ballot; /* term and vote are new */
	uint64_t term, vote;
	const struct durable_snapshot
	        *snapshot;  /* takes the last one's place; NULL: the last stays */
	uint64_t log_start; /* all entries below are removed; 0: none are */
	/* All entries from here on are replaced by these; 0: none are. */
	uint64_t entries_first;
	const struct durable_entry *entries;
	size_t entries_count;
};

/* Everything that was written. */
struct durable_content {
	uint64_t term, vote;
	struct durable_snapshot snapshot;
	uint64_t log_start; /* the index of the first entry, or of the next one if there are none */
	const struct durable_entry *entries;
	size_t entries_count;
};

#endif
