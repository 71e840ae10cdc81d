/*
 * The encoding of raft's messages. libraft's core leaves it to its driver to attach the entries of
 * an AppendEntries and the content of an InstallSnapshot. A letter is a message together with
 * these.
 *
 * A number is written as in core/wire.h, a byte string as its length and its bytes. A letter does
 * not contain its sender: the receiver knows it from the connection.
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
	/* The message without entries, configuration and data, which are in the fields below. */
	struct raft_message message;
	/* The entries of an AppendEntries: append_entries.n_entries of them. */
	struct durable_entry *entries;
	/* The snapshot of an InstallSnapshot. A letter holds only its voters and bytes; its other
	 * fields are in `message`. */
	struct durable_snapshot snapshot;
};

/* Appends the letter to out->bytes. */
void raft_letter_write(struct out *out, const struct raft_letter *letter);

/*
 * Reads a letter. Returns false if the bytes are malformed; then there is nothing to free.
 * Otherwise entries and snapshot point into `bytes`, and raft_letter_free frees the list of
 * entries.
 */
bool raft_letter_read(const uint8_t *bytes, size_t size, struct raft_letter *ret_letter);
void raft_letter_free(struct raft_letter *letter);

#endif
