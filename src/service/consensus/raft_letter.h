/*
 * The messages of raft as bytes. libraft's core leaves the entries of an AppendEntries and the content of
 * an InstallSnapshot to whoever sends them; a letter is a message together with these.
 *
 * A number is written as in core/wire.h, bytes as their count and themselves. The sender is not part of it:
 * the connection tells.
 */
#ifndef CONSENSUS_RAFT_LETTER_H
#define CONSENSUS_RAFT_LETTER_H

#include "durable.h"
#include "wire.h"

#include <raft.h>

enum {
	RAFT_LETTER_ENTRIES_MAX = 1 << 12,
	RAFT_LETTER_ENTRY_SIZE_MAX = 1 << 20,
	RAFT_LETTER_SNAPSHOT_SIZE_MAX = 1 << 26,
};

struct raft_letter {
	/* Without entries, configuration and data; they are in the fields below. */
	struct raft_message message;
	struct durable_entry *entries; /* of an AppendEntries: append_entries.n_entries of them */
	/* Of an InstallSnapshot. Only its voters and bytes are written into a letter; the others
	 * are in `message`. */
	struct durable_snapshot snapshot;
};

/* Appends the letter to out->bytes. */
void raft_letter_write(struct out *out, const struct raft_letter *letter);

/*
 * False: malformed, nothing is to be freed. Entries and snapshot point into `bytes`; raft_letter_free frees the
 * list of entries.
 */
bool raft_letter_read(const uint8_t *bytes, size_t size, struct raft_letter *ret_letter);
void raft_letter_free(struct raft_letter *letter);

#endif
