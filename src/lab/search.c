#include "search.h"

#include "grow.h"

#include <string.h>
#include <time.h>

/* What a thread finds in a round should stay in its cache; but all threads wait for each other twice
 * a round. */
enum { ROUND_ALONE = 4096, ROUND_TOGETHER = 32768, AT_ONCE = 64, UNCOUNTED = 3 << 20 };

struct found {
	uint64_t hash;
	uint32_t from;
	uint32_t enters; /* who enters by the step, or 0 */
	uint16_t messages;
	uint16_t size;
	bool passes; /* somebody was bypassed on the way, or is by this step */
	uint8_t bytes[];
};

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* How wide a counter of bypasses must be; 0 if there are none. The largest value is taken. */
static uint32_t width_of_bypass(const struct search *search)
{
	const struct model *model = &search->model;
	uint64_t entries = 0;

	if (model->algorithm->kind == KIND_ELECTION)
		return 0;
	for (uint32_t i = 0; i < model->nodes; i++) {
		if (model->entries[i] == ENTRIES_UNLIMITED)
			return 0;
		entries += model->entries[i];
	}
	return entries < UINT8_MAX ? 1 : 4;
}

void search_init(struct search *search, const struct check_options *options)
{
	*search = (struct search){.options = options, .begin = seconds_now()};
	model_init(&search->model, options->setup, options->entries, options->lose_token);
	search->bypass_width = width_of_bypass(search);
	crew_init(&search->crew, options->threads);
	states_init(&search->states, search->crew.count, search->bypass_width * search->model.nodes,
	            options->memory_max);
	search->workers = apart_alloc(search->crew.count, sizeof(*search->workers));
	for (uint32_t i = 0; i < search->crew.count; i++) {
		struct worker *worker = &search->workers[i];
		worker->outboxes = apart_alloc(search->crew.count, sizeof(*worker->outboxes));
		worker->sight.states =
		        apart_alloc(search->model.nodes, sizeof(*worker->sight.states));
		worker->next = malloc(ROW_BYTES_MAX + ROW_SLACK);
		must(worker->next != NULL);
	}
}

void search_free(struct search *search)
{
	for (uint32_t i = 0; i < search->crew.count; i++) {
		struct worker *worker = &search->workers[i];
		for (uint32_t k = 0; k < search->crew.count; k++)
			free(worker->outboxes[k].bytes);
		free(worker->outboxes);
		free(worker->next);
		actions_free(&worker->pending[0].actions);
		actions_free(&worker->pending[1].actions);
		free(worker->sight.states);
		free(worker->sight.flights);
		free(worker->missing);
		free(worker->ready);
	}
	free(search->workers);
	crew_free(&search->crew);
	states_free(&search->states);
	model_free(&search->model);
}

uint64_t search_memory(const struct search *search)
{
	uint64_t memory = states_memory(&search->states) + model_memory(&search->model);

	for (uint32_t i = 0; i < search->crew.count; i++) {
		memory += search->workers[i].ready_size * sizeof(uint32_t);
		for (uint32_t k = 0; k < search->crew.count; k++)
			memory += search->workers[i].outboxes[k].size;
	}
	return memory;
}

double search_seconds(const struct search *search)
{
	return seconds_now() - search->begin;
}

uint64_t search_transitions(const struct search *search)
{
	uint64_t transitions = 0;
	for (uint32_t i = 0; i < search->crew.count; i++)
		transitions += search->workers[i].transitions;
	return transitions;
}

struct row search_row(const struct search *search, uint32_t state)
{
	const struct record *record = states_record(&search->states, state);
	return (struct row){.bytes = record->bytes + search->states.extra, .size = record->size};
}

void search_actions(const struct search *search, struct row row, struct actions *ret_actions)
{
	model_actions(&search->model, row, ret_actions);
	if (search->options->reduce)
		model_reduce(&search->model, ret_actions);
}

uint32_t search_follow(struct search *search, struct row row, const struct action *action)
{
	struct model *model = &search->model;
	uint8_t *next = search->workers[0].next;
	const struct transition *transition =
	        model_is_loss(model, action) ? NULL : model_learn(model, row, action);
	uint32_t size = model_apply(model, row, action, transition, next);
	uint64_t hash = row_hash(next, size);
	const struct shard *shard =
	        &search->states.shards[row_shard(hash, search->states.shards_count)];
	return shard_get(&search->states, shard, shard_seek(&search->states, shard, hash), next,
	                 size, hash);
}

static struct found *make_room(struct outbox *box, size_t size)
{
	size_t whole = offsetof(struct found, bytes) + size + ROW_SLACK + 8;
	box->bytes = grow(box->bytes, &box->size, box->used + whole, 1);
	return (struct found *)(void *)(box->bytes + box->used);
}

/* Puts the row behind a step into the box of the thread that owns it; which is that is known only
 * when the row is made. */
static void send(const struct search *search, struct worker *worker, uint32_t from, struct row row,
                 const struct action *action, const struct transition *transition)
{
	uint32_t sends = transition != NULL ? transition->sends_count : 0;
	size_t most = row.size + (size_t)sends * search->model.letter_width;
	struct outbox *box = worker->outboxes;
	struct found *found = make_room(box, most);
	uint32_t size = model_apply(&search->model, row, action, transition, found->bytes);
	uint64_t hash = row_hash(found->bytes, size);

	if (search->crew.count > 1) {
		const struct found *made = found;
		uint32_t owner = row_shard(hash, search->crew.count);
		if (owner != 0) {
			box = &worker->outboxes[owner];
			found = make_room(box, most);
			memcpy(found->bytes, made->bytes, size);
		}
	}
	found->hash = hash;
	found->from = from;
	found->enters = transition != NULL && transition->enters ? action->node : 0;
	found->messages = transition != NULL ? transition->messages : 0;
	found->passes = worker->bypassed || found->enters != 0;
	found->size = (uint16_t)size;
	box->used += (offsetof(struct found, bytes) + size + 7) / 8 * 8;
	box->count++;
	worker->found++;
}

/* What a thread may not find out in the middle of a round, because all look at it. */
static void defer(struct worker *worker, uint32_t from, const struct action *action)
{
	worker->missing = grow(worker->missing, &worker->missing_size, worker->missing_count + 1,
	                       sizeof(*worker->missing));
	worker->missing[worker->missing_count++] =
	        (struct missing){.from = from, .action = *action};
}

static enum verdict_kind verdict_of(uint8_t fault)
{
	return fault == FAULT_DECLARED_TWICE   ? VERDICT_UNIQUE_LEADER
	       : fault == FAULT_CHANGED_LEADER ? VERDICT_AGREEMENT
	                                       : VERDICT_BROKEN;
}

/* Follows an action. True: the step did what no step may do, or a row has no room for it. */
static bool follow(struct search *search, struct worker *worker, uint32_t state, struct row row,
                   const struct action *action)
{
	const struct model *model = &search->model;
	const struct transition *transition = NULL;

	if (!model_is_loss(model, action)) {
		transition = model_find(model, row, action);
		if (transition == NULL && search->crew.count > 1) {
			defer(worker, state, action);
			return false;
		}
		if (transition == NULL)
			transition = model_learn(&search->model, row, action);
		if (transition->broken != FAULT_NONE) {
			worker->violation = (struct violation){
			        .verdict = verdict_of(transition->broken),
			        .what = step_fault_text(transition->broken),
			        .node = action->node,
			        .state = state,
			        .broke = true,
			        .action = *action,
			};
			return true;
		}
	}
	if (model->outgrown)
		return true;
	send(search, worker, state, row, action, transition);
	return false;
}

/* What can happen in a state, to be followed when the memory of it has been fetched. */
static void prepare(const struct search *search, struct pending *pending, uint32_t state)
{
	pending->state = state;
	pending->row = search_row(search, state);
	search_actions(search, pending->row, &pending->actions);
	for (size_t k = 0; k < pending->actions.count; k++)
		model_prefetch(&search->model, pending->row, &pending->actions.list[k]);
}

static bool follow_all(struct search *search, struct worker *worker, const struct pending *pending)
{
	for (size_t k = 0; k < pending->actions.count; k++) {
		if (follow(search, worker, pending->state, pending->row, &pending->actions.list[k]))
			return true;
	}
	return false;
}

/* The counters of bypasses: how often others entered since a node's request was known, at most, and
 * BYPASS_NONE where it is not known. */
#define BYPASS_NONE UINT32_MAX

static uint32_t get_bypass(const struct search *search, const struct record *record, uint32_t i)
{
	uint32_t value;
	if (search->bypass_width == 1)
		return record->bytes[i] == UINT8_MAX ? BYPASS_NONE : record->bytes[i];
	memcpy(&value, record->bytes + i * sizeof(value), sizeof(value));
	return value;
}

static void set_bypass(const struct search *search, struct record *record, uint32_t i,
                       uint32_t value)
{
	if (search->bypass_width == 1)
		record->bytes[i] = (uint8_t)value;
	else
		memcpy(record->bytes + i * sizeof(value), &value, sizeof(value));
}

/* All that leads to a state has been followed: what is known of it is final. */
static void settle(const struct search *search, struct worker *worker,
                   const struct pending *pending)
{
	struct record *record = states_record(&search->states, pending->state);
	uint64_t known = model_requests_known(&search->model, pending->row);
	uint32_t most = search->ordering ? record->most : record->most_so_far;
	uint32_t fewest = search->ordering ? record->fewest : record->fewest_so_far;

	if (pending->actions.count == 0) {
		if (most > worker->messages_max)
			worker->messages_max = most;
		if (fewest < worker->messages_min)
			worker->messages_min = fewest;
	}
	worker->bypassed = false;
	for (uint32_t i = 0; i < search->model.nodes && search->bypass_width > 0; i++) {
		uint32_t bypass = known >> i & 1 ? get_bypass(search, record, i) : BYPASS_NONE;
		if (bypass == BYPASS_NONE) {
			set_bypass(search, record, i, bypass);
			continue;
		}
		worker->bypassed = worker->bypassed || bypass > 0;
		if (bypass > worker->bypass_max)
			worker->bypass_max = bypass;
	}
	worker->done++;
}

/* What a step adds to what is known of the state behind it. */
static void add_bypass(const struct search *search, const struct found *found,
                       const struct record *from, struct record *record)
{
	uint32_t nodes = search->bypass_width > 0 && found->passes ? search->model.nodes : 0;

	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t bypass = get_bypass(search, from, i);
		if (bypass == BYPASS_NONE)
			continue;
		bypass += found->enters != 0 && found->enters != i + 1;
		if (bypass > get_bypass(search, record, i))
			set_bypass(search, record, i, bypass);
	}
}

/* Of each two states that are listed one after the other, the second is prepared before the first is
 * followed. True: something is wrong. */
static bool expand_one(struct search *search, struct worker *worker, const struct pending *pending)
{
	worker->transitions += search->ordering ? 0 : pending->actions.count;
	if (search->graded || search->ordering)
		settle(search, worker, pending);
	return follow_all(search, worker, pending);
}

/* The next state to be expanded, if there is any in this round. */
static bool next_state(struct search *search, uint32_t member, uint32_t *ret_state)
{
	struct worker *worker = &search->workers[member];

	if (worker->found + worker->missing_count >= search->budget)
		return false;
	if (!search->ordering)
		return shard_next(&search->states, &search->states.shards[member], &worker->cursor,
		                  &worker->level_end, ret_state);
	if (worker->ready_count == 0)
		return false;
	*ret_state = worker->ready[--worker->ready_count];
	return true;
}

/* First half of a round: what can happen in some states. */
static void expand(void *context, uint32_t member)
{
	struct search *search = context;
	struct worker *worker = &search->workers[member];
	struct pending *one = &worker->pending[0], *other = &worker->pending[1], *swap;
	uint32_t state;
	bool more = next_state(search, member, &state);

	if (more)
		prepare(search, one, state);
	while (more) {
		more = next_state(search, member, &state);
		if (more)
			prepare(search, other, state);
		if (expand_one(search, worker, one))
			return;
		swap = one;
		one = other;
		other = swap;
	}
}

static void put_ready(struct worker *worker, uint32_t state)
{
	worker->ready = grow(worker->ready, &worker->ready_size, worker->ready_count + 1,
	                     sizeof(*worker->ready));
	worker->ready[worker->ready_count++] = state;
}

/* The second pass. */
static void take_again(struct search *search, struct worker *worker, const struct shard *shard,
                       size_t slot, const struct found *found)
{
	uint32_t state =
	        shard_get(&search->states, shard, slot, found->bytes, found->size, found->hash);
	struct record *record = states_record(&search->states, state);
	const struct record *from = states_record(&search->states, found->from);

	if (from->most + found->messages > record->most)
		record->most = from->most + found->messages;
	if (from->fewest + found->messages < record->fewest)
		record->fewest = from->fewest + found->messages;
	add_bypass(search, found, from, record);
	if (--record->edges_in == 0)
		put_ready(worker, state);
}

/* As far as every step leads to the next level. False: this one does not, or the numbers are too
 * large for a first pass. */
static bool learn(const struct search *search, const struct found *found, struct record *record,
                  bool new)
{
	const struct record *from = states_record(&search->states, found->from);
	uint32_t most = (uint32_t)from->most_so_far + found->messages;
	uint32_t fewest = (uint32_t)from->fewest_so_far + found->messages;

	if (most > UINT16_MAX)
		return false;
	if (new || most > record->most_so_far)
		record->most_so_far = (uint16_t)most;
	if (new || fewest < record->fewest_so_far)
		record->fewest_so_far = (uint16_t)fewest;
	add_bypass(search, found, from, record);
	return true;
}

/* The first pass: is it new, and if so, is it right? */
static void take(struct search *search, struct worker *worker, struct shard *shard, size_t slot,
                 const struct found *found)
{
	bool new;

	/* Alone, the limit is kept to the letter; several threads would have to ask each other. */
	if (shard->count >= search->options->states_max && search->crew.count == 1 &&
	    shard_get(&search->states, shard, slot, found->bytes, found->size, found->hash) ==
	            STATE_NONE) {
		search->full = true;
		return;
	}
	uint32_t state = shard_put(&search->states, shard, slot, found->bytes, found->size,
	                           found->hash, found->from, &new);
	struct record *record = states_record(&search->states, state);

	must(record->edges_in < UINT16_MAX);
	record->edges_in++;
	if (worker->graded)
		worker->graded = state >= worker->next_level && learn(search, found, record, new);
	if (!new || worker->violation.verdict != VERDICT_HOLDS)
		return;
	if (check_state(&search->model, search_row(search, state), &worker->sight,
	                &worker->violation))
		worker->violation.state = state;
}

static const struct found *next_found(const struct outbox *box, size_t *offset)
{
	const struct found *found = (const struct found *)(const void *)(box->bytes + *offset);
	*offset += (offsetof(struct found, bytes) + found->size + 7) / 8 * 8;
	return found;
}

/*
 * Second half of a round: what all threads found for this one. Memory is slow, but can work on many
 * look-ups at once: so the slots of some are asked for, then the records that these name, and when
 * those are needed they have come.
 */
static void deliver(void *context, uint32_t member)
{
	struct search *search = context;
	struct worker *worker = &search->workers[member];
	struct shard *shard = &search->states.shards[member];
	const struct found *found[AT_ONCE];
	size_t slots[AT_ONCE];

	for (uint32_t sender = 0; sender < search->crew.count; sender++) {
		struct outbox *box = &search->workers[sender].outboxes[member];
		if (!search->ordering)
			shard_reserve(shard, box->count);
		for (size_t offset = 0; offset < box->used;) {
			uint32_t count = 0;
			for (; count < AT_ONCE && offset < box->used; count++) {
				found[count] = next_found(box, &offset);
				shard_prefetch(shard, found[count]->hash);
			}
			for (uint32_t i = 0; i < count; i++)
				slots[i] = shard_seek(&search->states, shard, found[i]->hash);
			for (uint32_t i = 0; i < count; i++) {
				if (search->ordering)
					take_again(search, worker, shard, slots[i], found[i]);
				else
					take(search, worker, shard, slots[i], found[i]);
			}
		}
		box->used = 0;
		box->count = 0;
	}
}

/* One thread learns what others had to leave. True: something is wrong with it. */
static bool learn_missing(struct search *search)
{
	for (uint32_t i = 0; i < search->crew.count; i++) {
		struct worker *worker = &search->workers[i];
		for (size_t k = 0; k < worker->missing_count; k++) {
			const struct missing *missing = &worker->missing[k];
			worker->bypassed = true; /* perhaps */
			struct row row = search_row(search, missing->from);
			model_learn(&search->model, row, &missing->action);
			if (follow(search, worker, missing->from, row, &missing->action))
				return true;
		}
		worker->missing_count = 0;
	}
	return false;
}

/* The first thread's violation, if there is any. */
static bool is_violated(struct search *search)
{
	for (uint32_t i = 0; i < search->crew.count; i++) {
		if (search->workers[i].violation.verdict != VERDICT_HOLDS) {
			search->violation = search->workers[i].violation;
			return true;
		}
	}
	return false;
}

const char *search_limit(const struct search *search, uint64_t more_bytes)
{
	const struct check_options *options = search->options;

	/* What is not counted: the program itself, and for each thread what it may take in a round. */
	more_bytes += UNCOUNTED + (uint64_t)search->crew.count * UNCOUNTED;
	if (search_memory(search) + more_bytes >= options->memory_max)
		return "--max-memory";
	if (options->seconds_max > 0 && search_seconds(search) >= options->seconds_max)
		return "--timeout";
	return NULL;
}

void search_progress(const struct search *search, const char *doing)
{
	if (search->options->progress != NULL)
		search->options->progress(doing, states_count(&search->states), search->depth,
		                          search_memory(search), search_seconds(search));
}

/* What all threads found, before it is taken: the table may have to grow for it. */
static uint64_t cost_of_round(const struct search *search)
{
	uint64_t cost = 0;

	for (uint32_t i = 0; i < search->crew.count; i++) {
		uint32_t more = 0;
		for (uint32_t k = 0; k < search->crew.count; k++)
			more += search->workers[k].outboxes[i].count;
		cost += shard_reserve_cost(&search->states.shards[i], more);
	}
	return cost;
}

static uint32_t round_of(const struct search *search)
{
	return search->crew.count == 1 ? ROUND_ALONE : ROUND_TOGETHER;
}

static bool run_round(struct search *search)
{
	uint64_t count = states_count(&search->states);
	uint64_t left =
	        search->options->states_max > count ? search->options->states_max - count : 0;

	search_progress(search, "search");
	search->limit = search_limit(search, 0);
	if (search->limit != NULL)
		return false;
	uint32_t round = round_of(search);
	search->budget = left < round ? (uint32_t)left + 1 : round;
	for (uint32_t i = 0; i < search->crew.count; i++)
		search->workers[i].found = 0;
	crew_run(&search->crew, expand, search);
	if (is_violated(search) || learn_missing(search) || search->model.outgrown) {
		is_violated(search);
		return false;
	}
	search->limit = search_limit(search, cost_of_round(search));
	if (search->limit != NULL)
		return false;
	crew_run(&search->crew, deliver, search);
	for (uint32_t i = 0; i < search->crew.count; i++)
		search->graded = search->graded && search->workers[i].graded;
	if (is_violated(search))
		return false;
	if (states_count(&search->states) > search->options->states_max || search->full)
		search->limit = "--max-states";
	return search->limit == NULL;
}

/* The states found so far that were not expanded are the next level. */
static bool begin_level(struct search *search)
{
	bool any = false;

	for (uint32_t i = 0; i < search->crew.count; i++) {
		struct worker *worker = &search->workers[i];
		worker->level_end = shard_end(&search->states.shards[i]);
		worker->next_level = shard_name(&search->states.shards[i], &worker->level_end);
		worker->graded = search->graded;
		any = any || worker->cursor.chunk != worker->level_end.chunk ||
		      worker->cursor.unit != worker->level_end.unit;
	}
	return any;
}

static bool is_level_done(const struct search *search)
{
	for (uint32_t i = 0; i < search->crew.count; i++) {
		const struct worker *worker = &search->workers[i];
		if (worker->cursor.chunk != worker->level_end.chunk ||
		    worker->cursor.unit != worker->level_end.unit)
			return false;
	}
	return true;
}

/* The state at the beginning. True: something is wrong with it. */
static bool put_start(struct search *search)
{
	uint8_t *bytes = search->workers[0].next;
	bool new;

	for (uint32_t i = 0; i < search->crew.count; i++) {
		struct worker *worker = &search->workers[i];
		worker->cursor = (struct cursor){0};
		worker->missing_count = 0;
		worker->transitions = 0;
		worker->messages_max = worker->bypass_max = 0;
		worker->messages_min = UINT32_MAX;
		for (uint32_t k = 0; k < search->crew.count; k++)
			worker->outboxes[k].used = worker->outboxes[k].count = 0;
	}
	uint32_t size = model_start(&search->model, bytes);
	if (search->model.outgrown) {
		model_widen(&search->model);
		size = model_start(&search->model, bytes);
	}
	uint64_t hash = row_hash(bytes, size);
	struct shard *shard = &search->states.shards[row_shard(hash, search->crew.count)];
	search->start = shard_put(&search->states, shard, shard_seek(&search->states, shard, hash),
	                          bytes, size, hash, 0, &new);
	states_record(&search->states, search->start)->parent = search->start;
	search->graded = true;
	search->full = false;
	search->depth = 0;
	search->violation.state = search->start;
	return check_state(&search->model, search_row(search, search->start),
	                   &search->workers[0].sight, &search->violation);
}

/* From the start. False: something is wrong, a limit was reached, or rows have no room. */
static bool explore(struct search *search)
{
	if (put_start(search))
		return false;
	while (begin_level(search)) {
		while (!is_level_done(search)) {
			if (!run_round(search))
				return false;
		}
		search->depth++;
	}
	search->depth--; /* of the last level: the first is 0 */
	return true;
}

bool search_explore(struct search *search)
{
	bool complete = explore(search);

	while (search->model.outgrown && search->violation.verdict == VERDICT_HOLDS &&
	       search->limit == NULL) {
		model_widen(&search->model);
		states_free(&search->states);
		states_init(&search->states, search->crew.count,
		            search->bypass_width * search->model.nodes,
		            search->options->memory_max);
		complete = explore(search);
	}
	return complete;
}

static void prepare_order(void *context, uint32_t member)
{
	struct search *search = context;
	const struct shard *shard = &search->states.shards[member];
	struct cursor cursor = {0}, end = shard_end(shard);
	uint32_t state;

	while (shard_next(&search->states, shard, &cursor, &end, &state)) {
		struct record *record = states_record(&search->states, state);
		record->most = 0;
		record->fewest = UINT32_MAX;
		memset(record->bytes, 0, search->states.extra);
	}
	search->workers[member].done = 0;
	search->workers[member].messages_max = 0;
	search->workers[member].messages_min = UINT32_MAX;
	search->workers[member].bypass_max = 0;
	search->workers[member].found = 0;
}

/* The second pass. False: a limit was reached. */
static bool order(struct search *search)
{
	bool more = true;

	search->ordering = true;
	search->budget = round_of(search);
	crew_run(&search->crew, prepare_order, search);
	states_record(&search->states, search->start)->fewest = 0;
	put_ready(&search->workers[0], search->start);
	while (more) {
		search_progress(search, "numbers of messages");
		search->limit = search_limit(search, 0);
		if (search->limit != NULL)
			return false;
		crew_run(&search->crew, expand, search);
		crew_run(&search->crew, deliver, search);
		more = false;
		for (uint32_t i = 0; i < search->crew.count; i++) {
			search->workers[i].found = 0;
			more = more || search->workers[i].ready_count > 0;
		}
	}
	return true;
}

bool search_bounds(struct search *search, struct run_bounds *ret_bounds)
{
	uint64_t done = 0;

	*ret_bounds = (struct run_bounds){.messages_min = UINT64_MAX};
	/* A way back to the start is a cycle. */
	if (!search->graded && states_record(&search->states, search->start)->edges_in > 0)
		return true;
	if (!search->graded && !order(search))
		return false;
	for (uint32_t i = 0; i < search->crew.count; i++) {
		const struct worker *worker = &search->workers[i];
		done += worker->done;
		if (worker->messages_max > ret_bounds->messages_max)
			ret_bounds->messages_max = worker->messages_max;
		if (worker->messages_min < ret_bounds->messages_min)
			ret_bounds->messages_min = worker->messages_min;
		if (worker->bypass_max > ret_bounds->bypass_max)
			ret_bounds->bypass_max = worker->bypass_max;
	}
	ret_bounds->bounded = search->graded || done == states_count(&search->states);
	return true;
}
