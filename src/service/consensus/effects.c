#include "effects.h"

#include "grow.h"
#include "replica_log.h"

#include <string.h>

static struct durable_write *copy_write(const struct durable_write *write)
{
	struct durable_write *copy = malloc(sizeof *copy);
	struct durable_entry *entries = calloc(write->entries_count + 1, sizeof *entries);

	memory_must(copy != NULL && entries != NULL);
	*copy = *write;
	for (size_t i = 0; i < write->entries_count; i++) {
		entries[i] = write->entries[i];
		entries[i].bytes = bytes_copy(write->entries[i].bytes, write->entries[i].size);
	}
	copy->entries = entries;
	if (write->snapshot != NULL) {
		struct durable_snapshot *snapshot = malloc(sizeof *snapshot);
		memory_must(snapshot != NULL);
		*snapshot = snapshot_copy(write->snapshot);
		copy->snapshot = snapshot;
	}
	return copy;
}

static void free_write(const struct durable_write *write)
{
	for (size_t i = 0; i < write->entries_count; i++)
		free((void *)write->entries[i].bytes);
	free((void *)write->entries);
	if (write->snapshot != NULL) {
		struct durable_snapshot *snapshot = (struct durable_snapshot *)write->snapshot;
		snapshot_free(snapshot);
		free(snapshot);
	}
	free((void *)write);
}

static void free_effect(struct replica_effect *effect)
{
	if (effect->write != NULL)
		free_write(effect->write);
	free((void *)effect->bytes);
	*effect = (struct replica_effect){0};
}

static void push(struct effects *effects, const struct replica_effect *effect)
{
	if (effects->start == effects->end)
		effects->start = effects->end = 0;
	effects->queue =
	        grow(effects->queue, &effects->size, effects->end + 1, sizeof *effects->queue);
	effects->queue[effects->end++] = *effect;
}

void effects_add(struct effects *effects, const struct replica_effect *effect)
{
	struct replica_effect copy = *effect;

	if (effect->write != NULL)
		copy.write = copy_write(effect->write);
	if (effect->bytes != NULL)
		copy.bytes = bytes_copy(effect->bytes, effect->size);
	push(effects, &copy);
}

bool effects_take(struct effects *effects, struct replica_effect *ret_effect)
{
	free_effect(&effects->taken);
	if (effects->start == effects->end)
		return false;
	effects->taken = *ret_effect = effects->queue[effects->start++];
	return true;
}

void effects_move(struct effects *from, struct effects *to)
{
	for (; from->start < from->end; from->start++)
		push(to, &from->queue[from->start]);
}

void effects_free(struct effects *effects)
{
	free_effect(&effects->taken);
	for (; effects->start < effects->end; effects->start++)
		free_effect(&effects->queue[effects->start]);
	free(effects->queue);
	*effects = (struct effects){0};
}
