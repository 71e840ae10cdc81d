/*
 * A server's log in memory: the entries from `start` on, whether or not they are on disk yet, and
 * the last snapshot that is on disk.
 */
#ifndef CONSENSUS_REPLICA_LOG_H
#define CONSENSUS_REPLICA_LOG_H

#include "durable.h"

struct logged {
	struct durable_entry entry; /* an entry, whose bytes the log owns */
	uint64_t write;             /* the number of the last write that holds this entry */
};

struct replica_log {
	uint64_t start;
	struct logged *entries;
	size_t count, size;
	struct durable_snapshot snapshot; /* the last snapshot, whose bytes the log owns */
};

void replica_log_init(struct replica_log *log, const struct durable_content *content);
void replica_log_free(struct replica_log *log);

/* Returns the index of the last entry, or of the snapshot if no entry follows it. */
uint64_t replica_log_last(const struct replica_log *log);
/* Returns an entry, or NULL if it is not in the log. */
const struct logged *replica_log_at(const struct replica_log *log, uint64_t index);
/* Returns the term of an entry, or 0 if neither the log nor the snapshot has the entry. */
uint64_t replica_log_term(const struct replica_log *log, uint64_t index);
/* Returns the voters as of the entry `index`, and the index of the entry that set them. Returns
 * false if none are known. */
bool replica_log_voters(const struct replica_log *log, uint64_t index, const uint8_t **ret_voters,
                        size_t *ret_size, uint64_t *ret_index);

/* Replaces everything from `first` on. The bytes are copied. */
void replica_log_replace(struct replica_log *log, uint64_t first,
                         const struct durable_entry *entries, size_t count, uint64_t write);
/* Removes the entries below `start`. */
void replica_log_trim(struct replica_log *log, uint64_t start);
/* Removes all entries. The next entry will have the index `start`. */
void replica_log_clear(struct replica_log *log, uint64_t start);
/* Replaces the snapshot. The bytes are copied. */
void replica_log_set_snapshot(struct replica_log *log, const struct durable_snapshot *snapshot);

/* Copy and free a snapshot together with the bytes that it points to. */
struct durable_snapshot snapshot_copy(const struct durable_snapshot *snapshot);
void snapshot_free(struct durable_snapshot *snapshot);
uint8_t *bytes_copy(const uint8_t *bytes, size_t size);

#endif
