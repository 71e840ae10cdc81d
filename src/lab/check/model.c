#include "model.h"

#include "grow.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* A local state as it is interned: this head, then the algorithm's state. */
struct local_head {
	uint32_t node;
	uint32_t entries_left;
	uint32_t leader;
	uint8_t phase;
	uint8_t lost, duplicated, crashes; /* counts of faults, as in struct local */
	uint32_t cut;
	uint32_t rewired;
	uint64_t neighbours;
	/* For each timer, 1 + the number of delays for which it is armed; 0: not armed. */
	uint32_t timers[TIMERS_MAX];
};
_Static_assert(sizeof(struct local_head) % _Alignof(uint64_t) == 0,
               "the algorithm's state that follows is aligned");

/* A message as it is interned: this head, then its bytes. */
struct letter_head {
	uint32_t from, to, side;
};

const char *step_fault_text(enum step_fault fault)
{
	switch (fault) {
	case FAULT_NONE:
		break;
	case FAULT_NO_NEIGHBOUR:
		return "sent to a node that is not a neighbour";
	case FAULT_LEFT:
		return "sent against the direction of the ring";
	case FAULT_ENTERED:
		return "entered without waiting";
	case FAULT_DECLARED_TWICE:
		return "declared itself the leader twice";
	case FAULT_CHANGED_LEADER:
		return "changed its leader";
	case FAULT_IMPURE:
		return "made a step that is not a function of its inputs";
	case FAULT_REFUSED:
		return "refused a message";
	case FAULT_NOT_DRAWN:
		return "made a transition for which the paper's figure has no arrow";
	}
	return NULL;
}

static struct site site_of(const struct model *model, uint32_t node)
{
	return network_site(&model->setup->network, node);
}

struct site model_site(const struct model *model, uint32_t node, uint64_t neighbours,
                       uint32_t room[MODEL_NODES_MAX])
{
	struct site site = site_of(model, node);

	if (model->faults.rewires_max == 0)
		return site;
	site.neighbours_count = 0;
	for (uint32_t j = 1; j <= model->nodes; j++) {
		if ((neighbours >> (j - 1) & 1) != 0)
			room[site.neighbours_count++] = j;
	}
	site.neighbours = room;
	return site;
}

/* Returns the neighbours at the start, if they may change. */
static uint64_t first_neighbours(const struct model *model, uint32_t node)
{
	uint64_t neighbours = 0;

	for (uint32_t j = 1; j <= model->nodes && model->faults.rewires_max != 0; j++) {
		if (j != node && network_linked(&model->setup->network, node, j))
			neighbours |= (uint64_t)1 << (j - 1);
	}
	return neighbours;
}

static bool is_linked(const struct model *model, const struct local_head *head, uint32_t to)
{
	if (model->faults.rewires_max != 0)
		return (head->neighbours >> (to - 1) & 1) != 0;
	return network_linked(&model->setup->network, head->node, to);
}

static const char *broken_invariant(const struct model *model, const struct site *site,
                                    const void *state)
{
	const struct invariant *invariant = model->algorithm->invariants;

	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (invariant->local != NULL &&
		    invariant_applies(invariant, &model->setup->network) &&
		    !invariant->local(site, state))
			return invariant->name;
	}
	return NULL;
}

static bool fits(uint32_t number, uint32_t width)
{
	return width == 4 || number >> 8 * width == 0;
}

void model_widen(struct model *model)
{
	while (!fits(model->locals.count - 1, model->format.local_width))
		model->format.local_width *= 2;
	while (model->letters.count > 0 &&
	       !fits(model->letters.count - 1, model->format.letter_width))
		model->format.letter_width *= 2;
	model->usual = false;
	model->outgrown = false;
}

static uint64_t mark_if(bool is_so, enum mark mark)
{
	return (uint64_t)is_so << mark * MARK_BITS;
}

/* Hashes the number of a local state or of a message. Equal numbers of the two kinds hash
 * differently. */
static uint64_t hash_number(uint32_t number, bool letter)
{
	uint64_t key = (uint64_t)number << 1 | letter;
	return XXH3_64bits(&key, sizeof(key));
}

/* Interns the local state that is in the model's buffer. */
static uint32_t put_local(struct model *model, size_t size)
{
	const struct local_head *head = (const struct local_head *)(const void *)model->buffer;
	const void *state = model->buffer + sizeof(*head);
	bool new;
	uint32_t number = intern_put(&model->locals, model->buffer, size, &new);

	if (!new)
		return number;
	model->outgrown = model->outgrown || !fits(number, model->format.local_width);
	uint32_t room[MODEL_NODES_MAX];
	struct site site = model_site(model, head->node, head->neighbours, room);
	const struct algorithm *algorithm = model->algorithm;
	const void *kept = intern_get(&model->locals, number, &size) + sizeof(*head);
	bool dead = head->phase == PHASE_DEAD;
	bool ready = !dead && (algorithm->ready == NULL || algorithm->ready(&site, state));
	/* Algorithms claim their invariants only for runs without faults. */
	const char *broken = model->faulty ? NULL : broken_invariant(model, &site, state);
	bool has_privilege =
	        !dead && algorithm->has_privilege != NULL && algorithm->has_privilege(&site, state);
	bool may_request = head->phase == PHASE_IDLE && ready && head->leader == 0;
	model->local = grow(model->local, &model->local_size, number + 1, sizeof(*model->local));
	model->local[number] = (struct local){
	        .hash = hash_number(number, false),
	        .phase = head->phase,
	        .may_request = may_request,
	        .requests = may_request && head->entries_left != 0,
	        .marks = mark_if(head->phase == PHASE_INSIDE, MARK_INSIDE) +
	                 mark_if(has_privilege, MARK_TOKEN) + mark_if(broken != NULL, MARK_BROKEN),
	        .takes_part = algorithm->kind == KIND_ELECTION && !ready,
	        .privileged = has_privilege,
	        .dead = dead,
	        .lost = head->lost,
	        .duplicated = head->duplicated,
	        .crashes = head->crashes,
	        .cut = head->cut,
	        .rewired = head->rewired,
	        .neighbours = head->neighbours,
	        .leader = head->leader,
	        .broken_invariant = broken,
	        .state = kept,
	};
	for (uint32_t timer = 0; timer < TIMERS_MAX; timer++) {
		model->local[number].timers[timer] = head->timers[timer];
		model->local[number].armed = model->local[number].armed || head->timers[timer] != 0;
	}
	return number;
}

static uint32_t put_letter(struct model *model, uint32_t from, const struct effect *effect)
{
	const uint8_t *body = model->out.bytes + effect->send.offset;
	struct letter_head head = {.from = model->format.fifo || model->faults.cut ||
	                                                   model->faults.rewires_max != 0
	                                           ? from
	                                           : 0,
	                           .to = effect->send.to,
	                           .side = (uint32_t)effect->send.side};
	uint8_t small[256];
	size_t size = sizeof(head) + effect->send.size;
	uint8_t *bytes = size <= sizeof(small) ? small : malloc(size);
	bool new;

	memory_must(bytes != NULL);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, effect->send.size);
	uint32_t number = intern_put(&model->letters, bytes, size, &new);
	if (bytes != small)
		free(bytes);
	if (!new)
		return number;
	model->outgrown = model->outgrown || !fits(number, model->format.letter_width);
	const uint8_t *kept = intern_get(&model->letters, number, &size) + sizeof(head);
	struct message message = {
	        .side = side_opposite(effect->send.side), .size = effect->send.size, .body = kept};
	const struct message_type *type = &model->algorithm->messages[body[0]];
	uint32_t origin = model->algorithm->origin != NULL ? model->algorithm->origin(&message) : 0;
	model->letter =
	        grow(model->letter, &model->letter_size, number + 1, sizeof(*model->letter));
	model->letter[number] = (struct model_letter){
	        .hash = hash_number(number, true),
	        .marks = mark_if(type->token, MARK_TOKEN),
	        .origin = origin != 0 ? (uint64_t)1 << (origin - 1) : 0,
	        .from = head.from,
	        .type = body[0],
	        .flight = {.to = head.to, .origin = origin, .message = message},
	        .channel = model->format.fifo
	                           ? intern_put(&model->channels, &head, sizeof(head), NULL)
	                           : number,
	        .token = type->token,
	        .init = type->init,
	        .lost = model->dead[head.to - 1],
	};
	return number;
}

static void add_send(struct model *model, struct transition *transition, uint32_t letter)
{
	model->sends = grow(model->sends, &model->sends_size, model->sends_count + 1,
	                    sizeof(*model->sends));
	model->sends[model->sends_count++] = letter;
	must(transition->sends_count < UINT16_MAX);
	transition->sends_count++;
}

/* Applies the effects in `out` to the local state in the buffer, and interns the messages. */
static struct transition take_effects(struct model *model, const struct site *site)
{
	struct local_head *head = (struct local_head *)(void *)model->buffer;
	struct transition transition = {.sends = (uint32_t)model->sends_count};
	uint32_t letter;

	for (uint32_t i = 0; i < model->out.effects_count; i++) {
		const struct effect *effect = &model->out.effects[i];
		switch (effect->kind) {
		case EFFECT_SEND:
			letter = put_letter(model, site->self, effect);
			add_send(model, &transition, letter);
			transition.messages += !model->letter[letter].init;
			if (!is_linked(model, head, effect->send.to))
				transition.broken = FAULT_NO_NEIGHBOUR;
			else if (model->algorithm->one_way && effect->send.side != SIDE_RIGHT)
				transition.broken = FAULT_LEFT;
			break;
		case EFFECT_ENTER:
			if (head->phase != PHASE_WAITING)
				transition.broken = FAULT_ENTERED;
			head->phase = PHASE_INSIDE;
			transition.enters = true;
			break;
		case EFFECT_ARM:
			head->timers[effect->timer.number] = effect->timer.delays + 1;
			break;
		case EFFECT_DISARM:
			head->timers[effect->timer.number] = 0;
			break;
		case EFFECT_ELECTED:
			if (head->leader == effect->elected.identifier &&
			    head->leader == site->identifier)
				transition.broken = FAULT_DECLARED_TWICE;
			else if (head->leader != 0 && head->leader != effect->elected.identifier)
				transition.broken = FAULT_CHANGED_LEADER;
			head->leader = effect->elected.identifier;
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

/* Calls the algorithm's step on the local state in the buffer, which has this size. */
static int call(struct model *model, const struct site *site, const struct action *action,
                uint8_t *local, size_t size)
{
	const struct algorithm *algorithm = model->algorithm;
	struct local_head *head = (struct local_head *)(void *)local;
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
		if (head->phase == PHASE_DEAD)
			return 0;
		const struct message *message = &model->letter[action->what].flight.message;
		return algorithm->receive(site, state, message, &model->out);
	}
	case ACTION_EXPIRE:
		head->timers[action->what] = 0;
		algorithm->expire(site, state, action->what, &model->out);
		return 0;
	case ACTION_CRASH:
		memset(state, 0, size - sizeof(*head));
		memset(head->timers, 0, sizeof(head->timers));
		head->phase = PHASE_DEAD;
		head->crashes++;
		return 0;
	case ACTION_RESTART:
		head->phase = PHASE_IDLE;
		algorithm->init(site, state, &model->out);
		return 0;
	case ACTION_LOSE:
		head->lost++;
		return 0;
	case ACTION_DUPLICATE:
		head->duplicated++;
		return 0;
	case ACTION_CUT:
		head->cut = action->what;
		return 0;
	case ACTION_LINK:
	case ACTION_UNLINK:
		head->neighbours ^= (uint64_t)1 << (action->what - 1);
		head->rewired += action->node < action->what;
		if (action->kind == ACTION_LINK)
			algorithm->linked(site, state, action->what, &model->out);
		return 0;
	}
	must(false);
	return 0;
}

/* The model computes each step only once, so steps must be pure. To test that, some steps are run
 * twice. */
static bool is_repeatable(struct model *model, const struct site *site, const struct action *action,
                          const uint8_t *local, size_t size)
{
	struct out first = model->out;

	model->out = model->out_again;
	memcpy(model->again, local, size);
	call(model, site, action, model->again, size);
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

/* Does the paper's figure of a node's states, if there is one, have an arrow for this step? The
 * buffer has the state after the step, and `local` the state before it. */
static bool is_drawn(const struct model *model, const struct site *site,
                     const struct action *action, const uint8_t *local)
{
	static const enum state_cause causes[] = {
	        [ACTION_REQUEST] = STATE_ON_REQUEST,
	        [ACTION_RELEASE] = STATE_ON_RELEASE,
	        [ACTION_DELIVER] = STATE_ON_RECEIPT,
	};
	const struct state_figure *figure = model->algorithm->figure;

	if (figure == NULL || (action->kind != ACTION_REQUEST && action->kind != ACTION_RELEASE &&
	                       action->kind != ACTION_DELIVER))
		return true;
	const char *from = figure->state(site, local + sizeof(struct local_head));
	const char *to = figure->state(site, model->buffer + sizeof(struct local_head));
	if (from == NULL || to == NULL)
		return true;
	for (const struct state_arrow *arrow = figure->arrows; arrow->number != NULL; arrow++) {
		if (arrow->from != from || arrow->to != to || arrow->cause != causes[action->kind])
			continue;
		if (action->kind != ACTION_DELIVER ||
		    model->letter[action->what].flight.message.body[0] == arrow->message)
			return true;
	}
	return false;
}

static uint32_t local_of_key(uint64_t key)
{
	return (uint32_t)((key - 1) >> 32);
}

static struct transition compute(struct model *model, uint32_t local, const struct action *action)
{
	enum { AUDIT_EVERY = 16 };
	uint32_t room[MODEL_NODES_MAX];
	uint64_t neighbours = model->local[local].neighbours;
	size_t size;
	const uint8_t *bytes = intern_get(&model->locals, local, &size);

	if (action->kind == ACTION_LINK || action->kind == ACTION_UNLINK)
		neighbours ^= (uint64_t)1 << (action->what - 1);
	struct site site = model_site(model, action->node, neighbours, room);
	memcpy(model->buffer, bytes, size);
	int refused = call(model, &site, action, model->buffer, size);
	bool impure = model->steps++ % AUDIT_EVERY == 0 &&
	              !is_repeatable(model, &site, action, bytes, size);
	struct transition transition = take_effects(model, &site);
	if (impure)
		transition.broken = FAULT_IMPURE;
	else if (refused != 0 && (!model->faulty || model->faults.rewires_max != 0))
		transition.broken = FAULT_REFUSED;
	else if (transition.broken == FAULT_NONE && !model->faulty &&
	         !is_drawn(model, &site, action, bytes))
		transition.broken = FAULT_NOT_DRAWN;
	if (action->kind == ACTION_DUPLICATE)
		add_send(model, &transition, action->what);
	transition.local = put_local(model, size);
	transition.node = (uint8_t)action->node;
	transition.hash_change = model->local[transition.local].hash - model->local[local].hash;
	if (action->kind == ACTION_DELIVER || action->kind == ACTION_LOSE)
		transition.hash_change -= model->letter[action->what].hash;
	for (uint32_t k = 0; k < transition.sends_count; k++)
		transition.hash_change += model->letter[model->sends[transition.sends + k]].hash;
	return transition;
}

static void enlarge_memo(struct model *model)
{
	free(model->memo);
	model->memo_shift = model->memo_size == 0 ? 64 - 10 : model->memo_shift - 1;
	model->memo_size = (size_t)1 << (64 - model->memo_shift);
	model->memo = calloc(model->memo_size, sizeof(*model->memo));
	memory_must(model->memo != NULL);
	for (size_t i = 1; i < model->transitions_count; i++)
		*memo_find(model, model->transitions[i].key) = (uint32_t)i;
}

static void add_transition(struct model *model, const struct transition *transition)
{
	must(model->transitions_count < UINT32_MAX);
	model->transitions = grow(model->transitions, &model->transitions_size,
	                          model->transitions_count + 1, sizeof(*model->transitions));
	model->transitions[model->transitions_count++] = *transition;
}

const struct transition *model_learn(struct model *model, const struct action *action)
{
	const struct transition *known = model_find(model, action);

	if (known != NULL)
		return known;
	struct transition transition = compute(model, local_of_key(action->key), action);
	transition.key = action->key;
	add_transition(model, &transition);
	*memo_find(model, action->key) = (uint32_t)model->transitions_count - 1;
	if (model->transitions_count > model->memo_size / 2)
		enlarge_memo(model);
	return &model->transitions[model->transitions_count - 1];
}

/* Returns how many channels lead from one node to another. In a ring of one or two nodes there
 * are two between the same nodes. */
static uint32_t count_channels(const struct model *model, uint32_t from, uint32_t to)
{
	struct site site = site_of(model, to);

	if (model->dead[from - 1])
		return 0;
	if (model->algorithm->links != GRAPH_RING)
		return network_linked(&model->setup->network, from, to);
	return (uint32_t)(site.left == from) +
	       (uint32_t)(site.right == from && !model->algorithm->one_way);
}

void model_init(struct model *model, const struct setup *setup, const uint32_t *entries,
                bool lose_token, const struct faults *faults, enum sought sought)
{
	*model = (struct model){
	        .setup = setup,
	        .algorithm = setup->network.algorithm,
	        .nodes = setup->network.graph.nodes,
	        .entries = entries,
	        .lose_token = lose_token,
	        .faults = *faults,
	        .faulty = faults_any(faults),
	        .sought = sought,
	        .format = {.local_width = row_usual.local_width,
	                   .letter_width = row_usual.letter_width,
	                   .fifo = setup->fifo},
	        .usual = !setup->fifo,
	        .learns = model,
	};
	for (uint32_t i = 0; i < model->nodes && model->algorithm->differences != NULL; i++)
		model->lowers = model->lowers || entries[i] == ENTRIES_UNLIMITED;
	if (model->lowers) {
		/* Lowering a row may intern new states and messages, so there must be room for
		 * any number. */
		model->format.local_width = model->format.letter_width = sizeof(uint32_t);
		model->usual = false;
	}
	intern_init(&model->locals);
	intern_init(&model->letters);
	intern_init(&model->channels);
	out_init(&model->out);
	out_init(&model->out_again);
	add_transition(model, &(struct transition){0});
	enlarge_memo(model);
	for (uint32_t i = 1; i <= model->nodes; i++) {
		struct site site = site_of(model, i);
		size_t size = sizeof(struct local_head) + model->algorithm->state_size(&site);
		if (size > model->buffer_size)
			model->buffer_size = size;
	}
	must(model->nodes > 0);
	model->dead = calloc(model->nodes, sizeof(*model->dead));
	memory_must(model->dead != NULL);
	for (uint32_t i = 0; i < setup->electorate.crashed_count; i++)
		model->dead[setup->electorate.crashed[i] - 1] = true;
	model->channels_count = calloc((size_t)model->nodes * model->nodes, 1);
	memory_must(model->channels_count != NULL);
	for (uint32_t i = 0; i < model->nodes; i++) {
		for (uint32_t j = 0; j < model->nodes; j++)
			model->channels_count[i * model->nodes + j] =
			        (uint8_t)count_channels(model, j + 1, i + 1);
	}
	model->buffer = calloc(1, model->buffer_size);
	model->again = calloc(1, model->buffer_size);
	memory_must(model->buffer != NULL && model->again != NULL);
}

uint32_t model_start(struct model *model, uint8_t *ret_bytes)
{
	uint32_t size = model->nodes * model->format.local_width;

	for (uint32_t i = 1; i <= model->nodes; i++) {
		struct site site = site_of(model, i);
		size_t local_size = sizeof(struct local_head) + model->algorithm->state_size(&site);
		struct local_head head = {.node = i,
		                          .entries_left = model->entries[i - 1],
		                          .phase = PHASE_IDLE,
		                          .neighbours = first_neighbours(model, i)};

		memset(model->buffer, 0, local_size);
		memcpy(model->buffer, &head, sizeof(head));
		out_clear(&model->out);
		model->algorithm->init(&site, model->buffer + sizeof(head), &model->out);
		struct transition transition = take_effects(model, &site);
		row_set(ret_bytes + (size_t)(i - 1) * model->format.local_width,
		        model->format.local_width, put_local(model, local_size));
		for (uint32_t k = 0; k < transition.sends_count; k++)
			size = row_insert(model, ret_bytes, size,
			                  model->sends[transition.sends + k], model->format);
	}
	model->tokens_at_start =
	        mark_count(model_marks(model, (struct state_row){.bytes = ret_bytes, .size = size}),
	                   MARK_TOKEN);
	return size;
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
	free(model->memo);
	free(model->dead);
	free(model->channels_count);
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
	       model->memo_size * sizeof(*model->memo);
}

uint64_t model_hash(const struct model *model, struct state_row row)
{
	uint32_t letters = row_letters_count(model, row);
	uint64_t hash = 0, step = model->format.fifo ? 2 : 0, weight = 1;

	for (uint32_t i = 0; i < model->nodes; i++)
		hash += model->local[row_local(model, row, i)].hash;
	for (uint32_t k = 0; k < letters; k++, weight += step)
		hash += model->letter[row_letter(model, row, k)].hash * weight;
	return hash;
}

static inline uint64_t sum_marks(const struct model *model, struct state_row row,
                                 struct row_format format)
{
	const uint8_t *bytes = row.bytes, *end = row.bytes + row.size;
	uint64_t marks = 0;

	for (uint32_t i = 0; i < model->nodes; i++, bytes += format.local_width)
		marks += model->local[row_number(bytes, format.local_width)].marks;
	for (; bytes < end; bytes += format.letter_width)
		marks += model->letter[row_number(bytes, format.letter_width)].marks;
	return marks;
}

uint64_t model_marks(const struct model *model, struct state_row row)
{
	return model->usual ? sum_marks(model, row, row_usual)
	                    : sum_marks(model, row, model->format);
}

static uint32_t lower_local(struct model *model, uint32_t number, uint64_t by)
{
	size_t size;

	if (model->local[number].dead)
		return number;
	const uint8_t *bytes = intern_get(&model->locals, number, &size);

	memcpy(model->buffer, bytes, size);
	model->algorithm->differences->lower_state(model->buffer + sizeof(struct local_head), by);
	return put_local(model, size);
}

static uint32_t lower_letter(struct model *model, uint32_t number, uint64_t by)
{
	const struct model_letter letter = model->letter[number];

	if (model->algorithm->differences->message_slack(&letter.flight.message) == UINT64_MAX)
		return number;
	out_clear(&model->out);
	model->algorithm->differences->lower_message(&letter.flight.message, by, &model->out);
	out_send(&model->out, letter.flight.to);
	return put_letter(model, letter.from, &model->out.effects[0]);
}

uint32_t model_lower(const struct model *seen, uint8_t *bytes, uint32_t size)
{
	struct model *model = seen->learns;
	const struct differences *differences = model->algorithm->differences;
	struct state_row row = {.bytes = bytes, .size = size};
	uint32_t count = row_letters_count(model, row), width = model->format.local_width;
	uint64_t by = UINT64_MAX;

	for (uint32_t i = 0; i < model->nodes; i++) {
		const struct local *local = &model->local[row_local(model, row, i)];
		uint64_t slack = local->dead ? UINT64_MAX : differences->state_slack(local->state);
		by = slack < by ? slack : by;
	}
	for (uint32_t k = 0; k < count; k++) {
		uint64_t slack = differences->message_slack(
		        &model->letter[row_letter(model, row, k)].flight.message);
		by = slack < by ? slack : by;
	}
	if (by == 0)
		return size;
	for (uint32_t i = 0; i < model->nodes; i++)
		row_set(bytes + (size_t)i * width, width,
		        lower_local(model, row_local(model, row, i), by));
	/* Messages are sorted by number, and lowering has changed the numbers: sort them again. */
	uint32_t made = model->nodes * width;
	for (uint32_t k = 0; k < count; k++)
		made = row_insert(model, bytes, made,
		                  lower_letter(model, row_letter(model, row, k), by),
		                  model->format);
	return made;
}
