/*
 * A server's log in memory: the entries from `start` on, whether they are on disk or not, and the last
 * snapshot that is.
 */
#ifndef CONSENSUS_REPLICA_LOG_H
#define CONSENSUS_REPLICA_LOG_H

#include "durable.h"

struct logged {
	struct durable_entry entry; /* its bytes are the log's */
	uint64_t write;             /* the number of the last write that holds this entry */
};

struct replica_log {
	uint64_t start;
	struct logged *entries;
	size_t count, size;
	struct durable_snapshot snapshot; /* its bytes are the log's */
};

void replica_log_init(struct replica_log *log, const struct durable_content *content);
void replica_log_free(struct replica_log *log);

/* The index of the last entry, or of the snapshot if there is none after it. */
uint64_t replica_log_last(const struct replica_log *log);
/* NULL: it is not in the log. */
const struct logged *replica_log_at(const struct replica_log *log, uint64_t index);
/* 0: neither the log nor the snapshot tells. */
uint64_t replica_log_term(const struct replica_log *log, uint64_t index);
/* The voters that hold after the entry `index`, and which entry made them. False: none are known. */
bool replica_log_voters(const struct replica_log *log, uint64_t index, const uint8_t **ret_voters,
                        size_t *ret_size, uint64_t *ret_index);

/* Everything from `first` on is replaced. The bytes are copied. */
void replica_log_replace(struct replica_log *log, uint64_t first,
                         const struct durable_entry *entries, size_t count, uint64_t write);
/* Removes what is below `start`. */
void replica_log_trim(struct replica_log *log, uint64_t start);
/* Removes everything; the next entry is `start`. */
void replica_log_clear(struct replica_log *log, uint64_t start);
/* The bytes are copied. */
void replica_log_set_snapshot(struct replica_log *log, const struct durable_snapshot *snapshot);

/* Copies of what points elsewhere, and their end. */
struct durable_snapshot snapshot_copy(const struct durable_snapshot *snapshot);
void snapshot_free(struct durable_snapshot *snapshot);
uint8_t *bytes_copy(const uint8_t *bytes, size_t size);

#endif
