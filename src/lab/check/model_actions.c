/*
 * The steps that are possible in a state, and which of them a reduced search may leave out.
 */
#include "grow.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

void actions_free(struct actions *actions)
{
	free(actions->list);
}

static void add_own_action(struct actions *actions, enum action_kind kind, uint32_t node,
                           uint32_t local, uint32_t timer)
{
	actions->list[actions->count++] = (struct action){
	        .key = action_key(kind, local, timer),
	        .kind = kind,
	        .node = node,
	        .what = timer,
	        .place = PLACE_NONE,
	};
}

/* Adds the timers that may expire. Every timer is longer than any message delay, so none expires
 * while a message is in flight. Among several timers the one with the shortest duration expires
 * first. */
static void add_expirations(const struct model *model, struct state_row row,
                            struct actions *actions)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < model->nodes; i++) {
		for (uint32_t timer = 0; timer < TIMERS_MAX; timer++) {
			uint32_t armed = model->local[row_local(model, row, i)].timers[timer];
			least = armed != 0 && armed < least ? armed : least;
		}
	}
	for (uint32_t i = 0; i < model->nodes; i++) {
		for (uint32_t timer = 0; timer < TIMERS_MAX; timer++) {
			if (model->local[row_local(model, row, i)].timers[timer] == least)
				add_own_action(actions, ACTION_EXPIRE, i + 1,
				               row_local(model, row, i), timer);
		}
	}
}

static void add_losses(const struct model *model, struct state_row row, struct actions *actions)
{
	uint32_t letters = row_letters_count(model, row), last = UINT32_MAX;

	for (uint32_t k = 0; k < letters; k++) {
		uint32_t number = row_letter(model, row, k);
		if (model->letter[number].token && number != last)
			actions->list[actions->count++] =
			        (struct action){.kind = ACTION_LOSE,
			                        .node = model->letter[number].flight.to,
			                        .what = number,
			                        .place = k};
		last = number;
	}
}

/* Lists requests, exits and deliveries. The list has room for all. */
static inline void list_actions(const struct model *model, struct state_row row,
                                struct actions *actions, struct row_format format)
{
	uint32_t width = format.letter_width, nodes = model->nodes, last = UINT32_MAX;
	const uint8_t *bytes = row.bytes + (size_t)nodes * format.local_width;
	const uint8_t *end = row.bytes + row.size;
	uint64_t hash = 0, weight = 1, waiting = 0, origins = 0;

	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t number =
		        row_number(row.bytes + (size_t)i * format.local_width, format.local_width);
		const struct local *local = &model->local[number];
		hash += local->hash;
		waiting |= (uint64_t)(local->phase == PHASE_WAITING) << i;
		if (local->requests)
			add_own_action(actions, ACTION_REQUEST, i + 1, number, 0);
		else if (local->phase == PHASE_INSIDE)
			add_own_action(actions, ACTION_RELEASE, i + 1, number, 0);
	}
	for (uint32_t k = 0; bytes < end; k++, bytes += width, weight += format.fifo ? 2 : 0) {
		uint32_t number = row_number(bytes, width);
		const struct model_letter *letter = &model->letter[number];
		uint32_t channel = format.fifo ? letter->channel : number;
		uint32_t to = letter->flight.to;
		uint32_t local = row_number(row.bytes + (size_t)(to - 1) * format.local_width,
		                            format.local_width);
		hash += letter->hash * weight;
		origins |= letter->origin;
		if (channel != last)
			actions->list[actions->count++] = (struct action){
			        .key = letter->lost ? 0 : action_key(ACTION_DELIVER, local, number),
			        .kind = ACTION_DELIVER,
			        .node = to,
			        .what = number,
			        .place = k,
			};
		last = channel;
	}
	actions->hash = hash;
	actions->known = waiting & ~origins;
}

void model_actions(const struct model *model, struct state_row row, struct actions *ret_actions)
{
	uint32_t letters = row_letters_count(model, row);
	size_t most = (size_t)model->nodes * (1 + TIMERS_MAX) + 2 * (size_t)letters;

	if (model->faulty)
		most += (size_t)model->nodes * (2 + model->nodes) + 2 * (size_t)letters;
	ret_actions->list =
	        grow(ret_actions->list, &ret_actions->size, most, sizeof(*ret_actions->list));
	ret_actions->count = 0;
	if (model->usual)
		list_actions(model, row, ret_actions, row_usual);
	else
		list_actions(model, row, ret_actions, model->format);
	if (model->algorithm->expire != NULL && letters == 0)
		add_expirations(model, row, ret_actions);
	/* If there were several tokens at the start, one must be left, to notice the loss of the
	 * others. A single token may be lost. */
	if (model->lose_token && mark_count(model_marks(model, row), MARK_TOKEN) >
	                                 (model->tokens_at_start > 1 ? 1u : 0u))
		add_losses(model, row, ret_actions);
	if (model->faulty)
		model_add_faults(model, row, ret_actions);
}

/* Finds for each node the senders whose channel to it is empty. A message from one of these could
 * arrive before all messages that are in flight to the node now. */
static void find_influences(const struct model *model, const struct actions *actions,
                            uint64_t *influences)
{
	uint32_t nodes = model->nodes;
	uint8_t empty[MODEL_NODES_MAX * MODEL_NODES_MAX];

	memcpy(empty, model->channels_count, (size_t)nodes * nodes);
	for (size_t k = 0; k < actions->count; k++) {
		const struct action *action = &actions->list[k];
		if (action->kind == ACTION_DELIVER)
			empty[(action->node - 1) * nodes + model->letter[action->what].from - 1]--;
	}
	for (uint32_t i = 0; i < nodes; i++) {
		influences[i] = 0;
		for (uint32_t j = 0; j < nodes; j++)
			influences[i] |= (uint64_t)(empty[i * nodes + j] > 0) << j;
	}
}

void model_reduce(const struct model *model, struct actions *actions)
{
	uint64_t influences[MODEL_NODES_MAX], best = UINT64_MAX;
	size_t best_count = actions->count, kept = 0;

	find_influences(model, actions, influences);
	for (uint32_t seed = 0; seed < model->nodes; seed++) {
		uint64_t set = (uint64_t)1 << seed, before = 0;
		size_t count = 0;
		while (set != before) {
			before = set;
			for (uint32_t i = 0; i < model->nodes; i++)
				set |= before >> i & 1 ? influences[i] : 0;
		}
		for (size_t k = 0; k < actions->count; k++)
			count += set >> (actions->list[k].node - 1) & 1;
		if (count > 0 && count < best_count) {
			best = set;
			best_count = count;
		}
	}
	for (size_t k = 0; k < actions->count; k++) {
		if (best >> (actions->list[k].node - 1) & 1)
			actions->list[kept++] = actions->list[k];
	}
	actions->count = kept;
}
