/*
 * The messages of raft as bytes. libraft's core leaves the entries of an AppendEntries and the content of
 * an InstallSnapshot to whoever sends them; a letter is a message together with these.
 *
 * A number is written as in core/wire.h, bytes as their count and themselves. The sender is not part of it:
 * the connection tells.
 */
#ifndef CONSENSUS_LETTER_H
#define CONSENSUS_LETTER_H

#include "durable.h"
#include "wire.h"

#include <raft.h>

enum {
	LETTER_ENTRIES_MAX = 1 << 12,
	LETTER_ENTRY_SIZE_MAX = 1 << 20,
	LETTER_SNAPSHOT_SIZE_MAX = 1 << 26,
};

struct letter {
	/* Without entries, configuration and data; they are in the fields below. */
	struct raft_message message;
	struct durable_entry *entries; /* of an AppendEntries: append_entries.n_entries of them */
	struct durable_snapshot snapshot; /* of an InstallSnapshot: only voters and bytes count */
};

/* Appends the letter to out->bytes. */
void letter_write(struct out *out, const struct letter *letter);

/*
 * False: malformed, nothing is to be freed. Entries and snapshot point into `bytes`; letter_free frees the
 * list of entries.
 */
bool letter_read(const uint8_t *bytes, size_t size, struct letter *ret_letter);
void letter_free(struct letter *letter);

#endif
