/*
 * The checksums of rows: XXH3 with 64 bits over all columns, the table and, in a log, the index. A
 * row that was changed or moved has another checksum.
 */
#ifndef DISK_CHECKSUM_H
#define DISK_CHECKSUM_H

#include "durable.h"

uint64_t checksum_entry(uint64_t index, const struct durable_entry *entry);
uint64_t checksum_ballot(uint64_t term, uint64_t vote);
uint64_t checksum_snapshot(const struct durable_snapshot *snapshot);
uint64_t checksum_identity(const void *bytes, size_t size);
uint64_t checksum_address(const char *name, const char *address);
/* Computes the checksum of the row that has the bounds of the log and the sum of all other
 * checksums. */
uint64_t checksum_total(uint64_t log_start, uint64_t log_next, uint64_t sums);

#endif
