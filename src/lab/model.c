#include "model.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

/* A local state as it is interned: this head, then the algorithm's state. */
struct head {
	uint32_t node;
	uint32_t entries_left;
	uint32_t leader;
	uint8_t phase;
	uint8_t padding[3];
	uint32_t timers[TIMERS_MAX]; /* for how many delays it is armed, and 1; 0: not armed */
};

/* A message as it is interned: this head, then its bytes. */
struct letter_head {
	uint32_t from, to, side;
};

static struct site site_of(const struct model *model, uint32_t node)
{
	return network_site(&model->setup->network, node);
}

const void *model_state(const struct model *model, uint32_t local)
{
	size_t size;
	return intern_get(&model->locals, local, &size) + sizeof(struct head);
}

const uint8_t *model_body(const struct model *model, uint32_t letter, uint32_t *ret_size)
{
	size_t size;
	const uint8_t *bytes = intern_get(&model->letters, letter, &size);
	*ret_size = (uint32_t)(size - sizeof(struct letter_head));
	return bytes + sizeof(struct letter_head);
}

static const char *broken_invariant(const struct model *model, const struct site *site,
                                    const void *state)
{
	const struct invariant *invariant = model->algorithm->invariants;

	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (invariant->local != NULL && !invariant->local(site, state))
			return invariant->name;
	}
	return NULL;
}

/* Interns what is in the buffer. */
static uint32_t put_local(struct model *model, size_t size)
{
	const struct head *head = (const struct head *)(const void *)model->buffer;
	const void *state = model->buffer + sizeof(*head);
	bool new;
	uint32_t number = intern_put(&model->locals, model->buffer, size, &new);

	if (!new)
		return number;
	struct site site = site_of(model, head->node);
	const struct algorithm *algorithm = model->algorithm;
	bool ready = algorithm->ready == NULL || algorithm->ready(&site, state);
	model->local = grow(model->local, &model->local_size, number + 1, sizeof(*model->local));
	model->local[number] = (struct local){
	        .phase = head->phase,
	        .may_request = head->phase == PHASE_IDLE && ready && head->leader == 0,
	        .has_privilege =
	                algorithm->has_privilege != NULL && algorithm->has_privilege(&site, state),
	        .takes_part = algorithm->kind == KIND_ELECTION && !ready,
	        .entries_left = head->entries_left,
	        .leader = head->leader,
	        .broken_invariant = broken_invariant(model, &site, state),
	};
	for (uint32_t timer = 0; timer < TIMERS_MAX; timer++) {
		model->local[number].timers[timer] = head->timers[timer];
		model->local[number].armed = model->local[number].armed || head->timers[timer] != 0;
	}
	return number;
}

static uint32_t put_letter(struct model *model, uint32_t from, const struct effect *effect)
{
	const uint8_t *body = model->out.bytes + effect->offset;
	struct letter_head head = {.from = model->setup->fifo ? from : 0,
	                           .to = effect->node,
	                           .side = (uint32_t)effect->side};
	uint8_t small[256];
	size_t size = sizeof(head) + effect->size;
	uint8_t *bytes = size <= sizeof(small) ? small : malloc(size);
	bool new;

	must(bytes != NULL);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, effect->size);
	uint32_t number = intern_put(&model->letters, bytes, size, &new);
	if (bytes != small)
		free(bytes);
	if (!new)
		return number;
	struct message message = {
	        .side = side_opposite(effect->side), .size = effect->size, .body = body};
	model->letter =
	        grow(model->letter, &model->letter_size, number + 1, sizeof(*model->letter));
	model->letter[number] = (struct letter){
	        .from = head.from,
	        .to = head.to,
	        .side = effect->side,
	        .channel = model->setup->fifo
	                           ? intern_put(&model->channels, &head, sizeof(head), NULL)
	                           : number,
	        .origin = model->algorithm->origin != NULL ? model->algorithm->origin(&message) : 0,
	        .token = model->algorithm->messages[body[0]].token,
	        .init = model->algorithm->messages[body[0]].init,
	};
	return number;
}

/* The effects in `out` on the local state in the buffer; sends become numbers. */
static struct transition take_effects(struct model *model, const struct site *site)
{
	struct head *head = (struct head *)(void *)model->buffer;
	struct transition transition = {.sends = (uint32_t)model->sends_count};

	for (uint32_t i = 0; i < model->out.effects_count; i++) {
		const struct effect *effect = &model->out.effects[i];
		switch (effect->kind) {
		case EFFECT_SEND:
			model->sends = grow(model->sends, &model->sends_size,
			                    model->sends_count + 1, sizeof(*model->sends));
			model->sends[model->sends_count++] = put_letter(model, site->self, effect);
			transition.sends_count++;
			if (!network_linked(&model->setup->network, site->self, effect->node))
				transition.broken = "sent to a node that is no neighbour";
			break;
		case EFFECT_ENTER:
			if (head->phase != PHASE_WAITING)
				transition.broken = "entered without waiting";
			head->phase = PHASE_INSIDE;
			transition.enters = true;
			break;
		case EFFECT_ARM:
			head->timers[effect->node] = effect->size + 1;
			break;
		case EFFECT_DISARM:
			head->timers[effect->node] = 0;
			break;
		case EFFECT_ELECTED:
			if (head->leader == effect->node && head->leader == site->identifier)
				transition.broken = "declared itself the leader twice";
			else if (head->leader != 0 && head->leader != effect->node)
				transition.broken = "changed its leader";
			head->leader = effect->node;
			if (head->phase == PHASE_WAITING)
				head->phase = PHASE_IDLE;
			break;
		case EFFECT_REGENERATED:
			break;
		}
	}
	const void *state = model->buffer + sizeof(*head);
	if (head->phase == PHASE_LEAVING &&
	    (model->algorithm->ready == NULL || model->algorithm->ready(site, state)))
		head->phase = PHASE_IDLE;
	return transition;
}

static int call(struct model *model, const struct site *site, const struct action *action,
                uint8_t *local)
{
	const struct algorithm *algorithm = model->algorithm;
	struct head *head = (struct head *)(void *)local;
	void *state = local + sizeof(*head);

	out_clear(&model->out);
	switch (action->kind) {
	case ACTION_REQUEST:
		head->phase = PHASE_WAITING;
		if (head->entries_left != ENTRIES_UNLIMITED)
			head->entries_left--;
		algorithm->request(site, state, &model->out);
		return 0;
	case ACTION_RELEASE:
		head->phase = PHASE_LEAVING;
		algorithm->release(site, state, &model->out);
		return 0;
	case ACTION_DELIVER: {
		uint32_t size;
		const uint8_t *body = model_body(model, action->what, &size);
		enum side side = side_opposite(model->letter[action->what].side);
		struct message message = {.side = side, .size = size, .body = body};
		return algorithm->receive(site, state, &message, &model->out);
	}
	case ACTION_EXPIRE:
		head->timers[action->what] = 0;
		algorithm->expire(site, state, action->what, &model->out);
		return 0;
	case ACTION_LOSE:
		break;
	}
	must(false);
	return 0;
}

/* Steps must be pure, or remembering them would be wrong: a sample of them is run twice. */
static bool is_repeatable(struct model *model, const struct site *site, const struct action *action,
                          const uint8_t *local, size_t size)
{
	struct out first = model->out;

	model->out = model->out_again;
	memcpy(model->again, local, size);
	call(model, site, action, model->again);
	struct out second = model->out;
	model->out = first;
	model->out_again = second;
	return memcmp(model->again, model->buffer, size) == 0 &&
	       first.effects_count == second.effects_count &&
	       memcmp(first.effects, second.effects,
	              first.effects_count * sizeof(*first.effects)) == 0 &&
	       first.bytes_count == second.bytes_count &&
	       memcmp(first.bytes, second.bytes, first.bytes_count) == 0;
}

static struct transition compute(struct model *model, uint32_t local, const struct action *action)
{
	enum { AUDIT_EVERY = 16 };
	struct site site = site_of(model, action->node);
	size_t size;
	const uint8_t *bytes = intern_get(&model->locals, local, &size);

	memcpy(model->buffer, bytes, size);
	int refused = call(model, &site, action, model->buffer);
	bool impure = model->steps++ % AUDIT_EVERY == 0 &&
	              !is_repeatable(model, &site, action, bytes, size);
	struct transition transition = take_effects(model, &site);
	if (impure)
		transition.broken = "made a step that is not a function of its inputs";
	else if (refused != 0)
		transition.broken = "refused a message";
	transition.local = put_local(model, size);
	return transition;
}

static size_t memo_slot(const struct model *model, uint64_t key)
{
	uint64_t mixed = key * 0x9e3779b97f4a7c15u;
	size_t slot = (size_t)(mixed ^ mixed >> 32) & (model->memo_size - 1);

	while (model->memo_values[slot] != 0 && model->memo_keys[slot] != key)
		slot = (slot + 1) & (model->memo_size - 1);
	return slot;
}

static void enlarge_memo(struct model *model)
{
	size_t old_size = model->memo_size;
	uint64_t *keys = model->memo_keys;
	uint32_t *values = model->memo_values;

	model->memo_size = old_size == 0 ? 1024 : old_size * 2;
	model->memo_keys = malloc(model->memo_size * sizeof(*model->memo_keys));
	model->memo_values = calloc(model->memo_size, sizeof(*model->memo_values));
	must(model->memo_keys != NULL && model->memo_values != NULL);
	for (size_t i = 0; i < old_size; i++) {
		if (values[i] == 0)
			continue;
		size_t slot = memo_slot(model, keys[i]);
		model->memo_keys[slot] = keys[i];
		model->memo_values[slot] = values[i];
	}
	free(keys);
	free(values);
}

const struct transition *model_transition(struct model *model, const uint32_t *row,
                                          const struct action *action)
{
	uint32_t local = row[action->node - 1];
	uint64_t key = (uint64_t)local << 32 | (uint64_t)action->what << 2;

	/* A timer's number is small: it shares the values with request and release, which have
	 * none. */
	switch (action->kind) {
	case ACTION_REQUEST:
		key |= 1;
		break;
	case ACTION_RELEASE:
		key |= 2;
		break;
	case ACTION_EXPIRE:
		key |= 3;
		break;
	case ACTION_DELIVER:
	case ACTION_LOSE:
		break;
	}
	size_t slot = memo_slot(model, key);
	if (model->memo_values[slot] != 0)
		return &model->transitions[model->memo_values[slot] - 1];
	struct transition transition = compute(model, local, action);
	model->transitions = grow(model->transitions, &model->transitions_size,
	                          model->transitions_count + 1, sizeof(*model->transitions));
	model->transitions[model->transitions_count++] = transition;
	must(model->transitions_count < UINT32_MAX);
	model->memo_keys[slot] = key;
	model->memo_values[slot] = (uint32_t)model->transitions_count;
	if (model->transitions_count > model->memo_size / 2)
		enlarge_memo(model);
	return &model->transitions[model->transitions_count - 1];
}

static void row_reserve(struct row *row, uint32_t count)
{
	size_t size = row->size;
	row->numbers = grow(row->numbers, &size, count, sizeof(*row->numbers));
	row->size = (uint32_t)size;
}

void row_free(struct row *row)
{
	free(row->numbers);
}

/* Behind the last message of its channel, the channels in order. */
static void insert_letter(const struct model *model, struct row *row, uint32_t letter)
{
	uint32_t channel = model->letter[letter].channel;
	uint32_t place = row->count;

	row_reserve(row, row->count + 1);
	while (place > model->nodes && model->letter[row->numbers[place - 1]].channel > channel) {
		row->numbers[place] = row->numbers[place - 1];
		place--;
	}
	row->numbers[place] = letter;
	row->count++;
}

void model_init(struct model *model, const struct setup *setup, const uint32_t *entries,
                bool lose_token)
{
	*model = (struct model){
	        .setup = setup,
	        .algorithm = setup->network.algorithm,
	        .nodes = setup->network.graph.nodes,
	        .entries = entries,
	        .lose_token = lose_token,
	};
	intern_init(&model->locals);
	intern_init(&model->letters);
	intern_init(&model->channels);
	out_init(&model->out);
	out_init(&model->out_again);
	enlarge_memo(model);
	for (uint32_t i = 1; i <= model->nodes; i++) {
		struct site site = site_of(model, i);
		size_t size = sizeof(struct head) + model->algorithm->state_size(&site);
		if (size > model->buffer_size)
			model->buffer_size = size;
	}
	model->dead = calloc(model->nodes, sizeof(*model->dead));
	must(model->dead != NULL);
	for (uint32_t i = 0; i < setup->electorate.crashed_count; i++)
		model->dead[setup->electorate.crashed[i] - 1] = true;
	model->buffer = calloc(1, model->buffer_size);
	model->again = calloc(1, model->buffer_size);
	must(model->buffer != NULL && model->again != NULL);
}

void model_start(struct model *model, struct row *ret_row)
{
	row_reserve(ret_row, model->nodes);
	ret_row->count = model->nodes;
	for (uint32_t i = 1; i <= model->nodes; i++) {
		struct site site = site_of(model, i);
		size_t size = sizeof(struct head) + model->algorithm->state_size(&site);
		struct head head = {
		        .node = i, .entries_left = model->entries[i - 1], .phase = PHASE_IDLE};

		memset(model->buffer, 0, size);
		memcpy(model->buffer, &head, sizeof(head));
		out_clear(&model->out);
		model->algorithm->init(&site, model->buffer + sizeof(head), &model->out);
		struct transition transition = take_effects(model, &site);
		ret_row->numbers[i - 1] = put_local(model, size);
		for (uint32_t k = 0; k < transition.sends_count; k++)
			insert_letter(model, ret_row, model->sends[transition.sends + k]);
	}
	model->tokens_at_start = model_tokens(model, ret_row->numbers, ret_row->count);
}

void model_free(struct model *model)
{
	intern_free(&model->locals);
	intern_free(&model->letters);
	intern_free(&model->channels);
	out_free(&model->out);
	out_free(&model->out_again);
	free(model->local);
	free(model->letter);
	free(model->sends);
	free(model->transitions);
	free(model->memo_keys);
	free(model->memo_values);
	free(model->dead);
	free(model->buffer);
	free(model->again);
}

size_t model_memory(const struct model *model)
{
	return intern_memory(&model->locals) + intern_memory(&model->letters) +
	       model->local_size * sizeof(*model->local) +
	       model->letter_size * sizeof(*model->letter) +
	       model->sends_size * sizeof(*model->sends) +
	       model->transitions_size * sizeof(*model->transitions) +
	       model->memo_size * (sizeof(*model->memo_keys) + sizeof(*model->memo_values));
}

void actions_free(struct actions *actions)
{
	free(actions->list);
}

static void add_action(struct actions *actions, enum action_kind kind, uint32_t node, uint32_t what)
{
	actions->list =
	        grow(actions->list, &actions->size, actions->count + 1, sizeof(*actions->list));
	actions->list[actions->count++] = (struct action){.kind = kind, .node = node, .what = what};
}

/* A timer outlasts every message, so that one runs out only when none is under way; and it outlasts
 * those that are armed for less. */
static void add_expirations(const struct model *model, const uint32_t *row, struct actions *actions)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < model->nodes; i++) {
		for (uint32_t timer = 0; timer < TIMERS_MAX; timer++) {
			uint32_t armed = model->local[row[i]].timers[timer];
			least = armed != 0 && armed < least ? armed : least;
		}
	}
	for (uint32_t i = 0; i < model->nodes; i++) {
		for (uint32_t timer = 0; timer < TIMERS_MAX; timer++) {
			if (model->local[row[i]].timers[timer] == least)
				add_action(actions, ACTION_EXPIRE, i + 1, timer);
		}
	}
}

void model_actions(const struct model *model, const uint32_t *row, uint32_t row_count,
                   struct actions *ret_actions)
{
	uint32_t nodes = model->nodes;

	ret_actions->count = 0;
	for (uint32_t i = 1; i <= nodes; i++) {
		const struct local *local = &model->local[row[i - 1]];
		if (local->may_request && local->entries_left != 0)
			add_action(ret_actions, ACTION_REQUEST, i, 0);
		else if (local->phase == PHASE_INSIDE)
			add_action(ret_actions, ACTION_RELEASE, i, 0);
	}
	for (uint32_t k = nodes; k < row_count; k++) {
		const struct letter *letter = &model->letter[row[k]];
		if (k == nodes || model->letter[row[k - 1]].channel != letter->channel)
			add_action(ret_actions, ACTION_DELIVER, letter->to, row[k]);
	}
	if (model->algorithm->expire != NULL && row_count == nodes)
		add_expirations(model, row, ret_actions);
	if (!model->lose_token || model_tokens(model, row, row_count) != model->tokens_at_start)
		return;
	for (uint32_t k = nodes; k < row_count; k++) {
		const struct letter *letter = &model->letter[row[k]];
		if (letter->token && (k == nodes || row[k - 1] != row[k]))
			add_action(ret_actions, ACTION_LOSE, letter->to, row[k]);
	}
}

const struct transition *model_step(struct model *model, const uint32_t *row, uint32_t row_count,
                                    const struct action *action, struct row *ret_row)
{
	row_reserve(ret_row, row_count);
	if (action->kind == ACTION_DELIVER || action->kind == ACTION_LOSE) {
		uint32_t place = model->nodes;
		while (row[place] != action->what)
			place++;
		memcpy(ret_row->numbers, row, place * sizeof(*row));
		memcpy(ret_row->numbers + place, row + place + 1,
		       (row_count - place - 1) * sizeof(*row));
		ret_row->count = row_count - 1;
	} else {
		memcpy(ret_row->numbers, row, row_count * sizeof(*row));
		ret_row->count = row_count;
	}
	if (action->kind == ACTION_LOSE ||
	    (action->kind == ACTION_DELIVER && model->dead[action->node - 1]))
		return NULL;
	const struct transition *transition = model_transition(model, row, action);
	ret_row->numbers[action->node - 1] = transition->local;
	for (uint32_t k = 0; k < transition->sends_count; k++)
		insert_letter(model, ret_row, model->sends[transition->sends + k]);
	return transition;
}

uint32_t model_tokens(const struct model *model, const uint32_t *row, uint32_t row_count)
{
	uint32_t tokens = 0;
	for (uint32_t i = 0; i < model->nodes; i++)
		tokens += model->local[row[i]].has_privilege;
	for (uint32_t k = model->nodes; k < row_count; k++)
		tokens += model->letter[row[k]].token;
	return tokens;
}
