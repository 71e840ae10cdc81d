/*
 * A disk in memory: the content that a series of durable writes would leave.
 */
#ifndef CONSENSUS_SHADOW_H
#define CONSENSUS_SHADOW_H

#include "durable.h"

struct shadow {
	uint64_t term, vote;
	struct durable_snapshot snapshot;
	uint64_t start;
	struct durable_entry *entries;
	size_t count, size;
};

void shadow_init(struct shadow *shadow);
void shadow_free(struct shadow *shadow);
/* Copies `from`. `shadow` must have been initialized. */
void shadow_copy(struct shadow *shadow, const struct shadow *from);
void shadow_apply(struct shadow *shadow, const struct durable_write *write);
/* Returns what a disk would have now. Valid until the next change. */
struct durable_content shadow_content(const struct shadow *shadow);
/* Returns the voters: those of the last change or, if there is none, those of the snapshot. Returns
 * NULL if there are none. */
const uint8_t *shadow_voters(const struct shadow *shadow, size_t *ret_size);

struct durable_write shadow_write_copy(const struct durable_write *write);
void shadow_write_free(struct durable_write *write);

#endif
