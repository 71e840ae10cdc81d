#include "search.h"

#include "clock.h"
#include "grow.h"
#include "memory.h"

#include <string.h>

/* A round should be short enough for the cache to hold what a thread finds, and long enough that
 * threads seldom wait for each other. */
enum { FOUND_MAX = 4096, ROUND_ALONE = FOUND_MAX, ROUND_TOGETHER = 65536, AT_ONCE = 64 };
/* The number of actions by which a thread may exceed its budget in a round. */
enum { ROUND_SLACK = 4096 };
/* Memory that is not counted elsewhere: the program with its libraries, and what each thread may
 * take in a round. */
enum { PROGRAM_BYTES = 7 << 20, THREAD_BYTES = 3 << 20 };

/* Returns the size of a bypass counter in bytes, or 0 if none are kept. The largest value of a
 * counter is reserved for BYPASS_NONE. */
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
	*search = (struct search){.options = options, .begin = clock_seconds()};
	model_init(&search->model, options->setup, options->entries, options->lose_token,
	           &options->faults, options->sought);
	search->bypass_width = width_of_bypass(search);
	team_init(&search->team, search->model.lowers ? 1 : options->threads);
	states_init(&search->states, search->team.count, search->bypass_width * search->model.nodes,
	            options->memory_max);
	search->workers = apart_alloc(search->team.count, sizeof(*search->workers));
	for (uint32_t i = 0; i < search->team.count; i++) {
		struct worker *worker = &search->workers[i];
		worker->number = i;
		must(pthread_mutex_init(&worker->level_mutex, NULL) == 0);
		worker->sight.states =
		        apart_alloc(search->model.nodes, sizeof(*worker->sight.states));
		worker->next = malloc(ROW_BYTES_MAX + ROW_SLACK);
		memory_must(worker->next != NULL);
	}
}

void search_free(struct search *search)
{
	for (uint32_t i = 0; i < search->team.count; i++) {
		struct worker *worker = &search->workers[i];
		pthread_mutex_destroy(&worker->level_mutex);
		free(worker->found);
		free(worker->next);
		for (uint32_t k = 0; k < PENDING_MAX; k++)
			actions_free(&worker->pending[k].actions);
		free(worker->sight.states);
		free(worker->sight.flights);
		free(worker->missing);
		free(worker->ready);
	}
	free(search->workers);
	team_free(&search->team);
	states_free(&search->states);
	model_free(&search->model);
}

uint64_t search_memory(const struct search *search)
{
	uint64_t memory = states_memory(&search->states) + model_memory(&search->model);

	for (uint32_t i = 0; i < search->team.count; i++)
		memory += search->workers[i].ready_size * sizeof(uint32_t) +
		          search->workers[i].found_size * sizeof(struct found);
	return memory;
}

double search_seconds(const struct search *search)
{
	return clock_seconds() - search->begin;
}

uint64_t search_transitions(const struct search *search)
{
	uint64_t transitions = 0;
	for (uint32_t i = 0; i < search->team.count; i++)
		transitions += search->workers[i].transitions;
	return transitions;
}

struct state_row search_row(const struct search *search, uint32_t state)
{
	const struct state_record *record = states_record(&search->states, state);
	return (struct state_row){.bytes = record->bytes + search->states.extra,
	                          .size = record->size};
}

void search_actions(const struct search *search, struct state_row row, struct actions *ret_actions)
{
	model_actions(&search->model, row, ret_actions);
	if (search->options->reduce)
		model_reduce(&search->model, ret_actions);
}

uint32_t search_follow(struct search *search, struct state_row row, const struct action *action)
{
	struct model *model = &search->model;
	uint8_t *next = search->workers[0].next;
	const struct transition *transition =
	        model_is_loss(action) ? NULL : model_learn(model, action);
	uint32_t size = model_apply(model, row, action->place, transition, next);
	uint64_t hash = model_hash(model, (struct state_row){.bytes = next, .size = size});
	return states_get(&search->states, states_seek(&search->states, hash), next, size, hash);
}

static uint64_t hash_after(const struct search *search, struct worker *worker,
                           const struct pending *pending, const struct action *action,
                           const struct transition *transition)
{
	const struct model *model = &search->model;

	if (model->format.fifo || model->lowers) {
		uint32_t size =
		        model_apply(model, pending->row, action->place, transition, worker->next);
		return model_hash(model, (struct state_row){.bytes = worker->next, .size = size});
	}
	return pending->actions.hash +
	       (transition != NULL ? transition->hash_change : -model->letter[action->what].hash);
}

/* Remembers a step. The row that it leads to will be looked up later. */
static void note(const struct search *search, struct worker *worker, const struct pending *pending,
                 const struct action *action, const struct transition *transition)
{
	uint64_t hash = hash_after(search, worker, pending, action, transition);

	worker->found = grow(worker->found, &worker->found_size, worker->found_count + 1,
	                     sizeof(*worker->found));
	worker->found[worker->found_count++] = (struct found){
	        .hash = hash,
	        .from = pending->state,
	        .transition =
	                transition != NULL ? (uint32_t)(transition - search->model.transitions) : 0,
	        .place = action->place,
	        .passes = pending->bypassed || (transition != NULL && transition->enters),
	};
	worker->spent++;
}

/* Remembers a step that is not computed yet. No thread may compute it during a round, because
 * all threads read the table of transitions. */
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

/* Follows an action. Returns true if the step broke the contract, or if a row did not fit into
 * its format. */
static bool follow(struct search *search, struct worker *worker, const struct pending *pending,
                   const struct action *action)
{
	const struct model *model = &search->model;
	const struct transition *transition = NULL;

	if (!model_is_loss(action)) {
		transition = model_find(model, action);
		if (transition == NULL && search->together) {
			defer(worker, pending->state, action);
			return false;
		}
		if (transition == NULL)
			transition = model_learn(&search->model, action);
		if (transition->broken != FAULT_NONE) {
			worker->violation = (struct violation){
			        .verdict = verdict_of(transition->broken),
			        .what = step_fault_text(transition->broken),
			        .node = action->node,
			        .state = pending->state,
			        .broke = true,
			        .action = *action,
			};
			return true;
		}
	}
	if (model->outgrown)
		return true;
	note(search, worker, pending, action, transition);
	return false;
}

/* A record has a bypass counter for each node: the most entries of others since the node's
 * request became known, or BYPASS_NONE while it is not known. */
#define BYPASS_NONE UINT32_MAX

static uint32_t get_bypass(const struct search *search, const struct state_record *record,
                           uint32_t i)
{
	uint32_t value;
	if (search->bypass_width == 1)
		return record->bytes[i] == UINT8_MAX ? BYPASS_NONE : record->bytes[i];
	memcpy(&value, record->bytes + i * sizeof(value), sizeof(value));
	return value;
}

static void set_bypass(const struct search *search, struct state_record *record, uint32_t i,
                       uint32_t value)
{
	if (search->bypass_width == 1)
		record->bytes[i] = (uint8_t)value;
	else
		memcpy(record->bytes + i * sizeof(value), &value, sizeof(value));
}

/* Called when all steps into a state have been followed, so that its counters are final. */
static void settle(const struct search *search, struct worker *worker, struct pending *pending)
{
	struct state_record *record = states_record(&search->states, pending->state);
	uint64_t known = pending->actions.known;
	uint32_t most = search->ordering ? record->most : record->most_so_far;
	uint32_t fewest = search->ordering ? record->fewest : record->fewest_so_far;

	if (pending->actions.count == 0) {
		if (most > worker->messages_max)
			worker->messages_max = most;
		if (fewest < worker->messages_min)
			worker->messages_min = fewest;
	}
	for (uint32_t i = 0; i < search->model.nodes && search->bypass_width > 0; i++) {
		uint32_t bypass = known >> i & 1 ? get_bypass(search, record, i) : BYPASS_NONE;
		if (bypass == BYPASS_NONE) {
			set_bypass(search, record, i, bypass);
			continue;
		}
		pending->bypassed = pending->bypassed || bypass > 0;
		if (bypass > worker->bypass_max)
			worker->bypass_max = bypass;
	}
	worker->done++;
}

/* Keeps the larger or the smaller value, even if several threads write at once. */
#define KEEP_IF(search, place, value, better)                                                      \
	do {                                                                                       \
		__typeof__(*(place)) kept_ = __atomic_load_n(place, __ATOMIC_RELAXED);             \
		if ((search)->team.count == 1)                                                     \
			*(place) = (value)better kept_ ? (value) : kept_;                          \
		else                                                                               \
			while ((value)better kept_ &&                                              \
			       !__atomic_compare_exchange_n(place, &kept_, value, true,            \
			                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { \
			}                                                                          \
	} while (0)

/* Updates the bypass counters of the state that a step leads to. */
static void add_bypass(const struct search *search, const struct transition *transition,
                       const struct state_record *from, struct state_record *record)
{
	uint32_t nodes = search->bypass_width > 0 ? search->model.nodes : 0;

	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t bypass = get_bypass(search, from, i);
		if (bypass == BYPASS_NONE)
			continue;
		bypass += transition->enters && transition->node != i + 1;
		if (search->bypass_width == 1)
			KEEP_IF(search, &record->bytes[i], (uint8_t)bypass, >);
		else
			KEEP_IF(search, (uint32_t *)(void *)record->bytes + i, bypass, >);
	}
}

/* Takes some states of a lane's level and returns how many. */
static uint32_t claim(struct search *search, uint32_t lane, uint32_t *ret_states)
{
	struct worker *owner = &search->workers[lane];
	uint32_t count = 0;

	pthread_mutex_lock(&owner->level_mutex);
	while (count < PENDING_MAX &&
	       lane_next(&search->states, &search->states.lanes[lane], &owner->cursor,
	                 &owner->level_end, &ret_states[count]))
		count++;
	pthread_mutex_unlock(&owner->level_mutex);
	return count;
}

/* Takes the next states to expand in this round, from the thread's own lane first. */
static uint32_t next_states(struct search *search, struct worker *worker, uint32_t *ret_states)
{
	uint32_t count = 0;

	if (worker->spent + worker->missing_count >= search->budget)
		return 0;
	if (!search->ordering) {
		for (uint32_t i = 0; i < search->team.count && count == 0; i++)
			count = claim(search, (worker->number + i) % search->team.count,
			              ret_states);
		return count;
	}
	while (count < PENDING_MAX && worker->ready_count > 0) {
		ret_states[count++] = worker->ready[--worker->ready_count];
		if (worker->ready_count >= PENDING_MAX)
			__builtin_prefetch(states_record(
			        &search->states, worker->ready[worker->ready_count - PENDING_MAX]));
	}
	return count;
}

/* Lists the actions of a state and prefetches their transitions. They are followed later. */
static void prepare(const struct search *search, struct worker *worker, struct pending *pending,
                    uint32_t state)
{
	pending->state = state;
	pending->row = search_row(search, state);
	pending->bypassed = false;
	search_actions(search, pending->row, &pending->actions);
	for (size_t k = 0; k < pending->actions.count; k++)
		model_prefetch(&search->model, &pending->actions.list[k]);
	if (search->graded || search->ordering)
		settle(search, worker, pending);
}

/* Follows all actions of a state. Returns true if something is wrong. */
static bool follow_all(struct search *search, struct worker *worker, const struct pending *pending)
{
	worker->transitions += search->ordering ? 0 : pending->actions.count;
	for (size_t k = 0; k < pending->actions.count; k++) {
		if (follow(search, worker, pending, &pending->actions.list[k]))
			return true;
	}
	return false;
}

void worker_put_ready(struct worker *worker, uint32_t state)
{
	worker->ready = grow(worker->ready, &worker->ready_size, worker->ready_count + 1,
	                     sizeof(*worker->ready));
	worker->ready[worker->ready_count++] = state;
}

/* Computes the row that a step leads to. The step was followed before, but its row was not kept:
 * computing it again is cheaper. */
static struct state_row row_after(const struct search *search, struct worker *worker,
                                  const struct found *found, const struct state_record *from)
{
	const struct model *model = &search->model;
	struct state_row row = {.bytes = from->bytes + search->states.extra, .size = from->size};
	uint32_t size =
	        model_apply(model, row, found->place,
	                    found->transition != 0 ? &model->transitions[found->transition] : NULL,
	                    worker->next);
	return (struct state_row){.bytes = worker->next, .size = size};
}

/* Counts the steps into a state up (first pass) or down (second pass), and returns the count. */
static uint16_t count_edge(const struct search *search, struct state_record *record,
                           uint16_t change)
{
	if (search->team.count > 1)
		return __atomic_add_fetch(&record->edges_in, change, __ATOMIC_ACQ_REL);
	return record->edges_in = (uint16_t)(record->edges_in + change);
}

/* Handles a found step in the second pass. */
static void take_again(struct search *search, struct worker *worker, size_t slot,
                       const struct found *found)
{
	const struct state_record *from = states_record(&search->states, found->from);
	const struct transition *transition = &search->model.transitions[found->transition];
	struct state_row row = row_after(search, worker, found, from);
	uint32_t state = states_get(&search->states, slot, row.bytes, row.size, found->hash);
	struct state_record *record = states_record(&search->states, state);

	KEEP_IF(search, &record->most, from->most + transition->messages, >);
	KEEP_IF(search, &record->fewest, from->fewest + transition->messages, <);
	if (found->passes)
		add_bypass(search, transition, from, record);
	if (count_edge(search, record, UINT16_MAX /* counts down: UINT16_MAX is -1 */) == 0)
		worker_put_ready(worker, state);
}

/* Updates the counters in the first pass. That is correct as long as every step leads to the next
 * level. Returns false if this step leads elsewhere, or if a number is too large. */
static bool learn(const struct search *search, const struct found *found,
                  const struct state_record *from, struct state_record *record)
{
	const struct transition *transition = &search->model.transitions[found->transition];
	uint32_t most = (uint32_t)from->most_so_far + transition->messages;
	uint32_t fewest = (uint32_t)from->fewest_so_far + transition->messages;

	if (most > UINT16_MAX)
		return false;
	KEEP_IF(search, &record->most_so_far, (uint16_t)most, >);
	KEEP_IF(search, &record->fewest_so_far, (uint16_t)fewest, <);
	if (found->passes)
		add_bypass(search, transition, from, record);
	return true;
}

/* Handles a found step in the first pass: adds the state if it is new, and checks it. */
static void take(struct search *search, struct worker *worker, size_t slot,
                 const struct found *found)
{
	const struct state_record *from = states_record(&search->states, found->from);
	struct lane *lane = &search->states.lanes[worker->number];
	struct state_row row = row_after(search, worker, found, from);
	bool new;

	/* The limit is exact because only one thread works here; see may_be_together. */
	if (!search->together && states_count(&search->states) >= search->options->states_max &&
	    states_get(&search->states, slot, row.bytes, row.size, found->hash) == STATE_NONE) {
		search->full = true;
		return;
	}
	uint32_t state = states_put(&search->states, lane, slot, row.bytes, row.size, found->hash,
	                            found->from, &new);
	struct state_record *record = states_record(&search->states, state);

	must(count_edge(search, record, 1) != 0); /* the counter has not wrapped around */
	if (worker->graded)
		worker->graded = states_is_new_level(&search->states, state) &&
		                 learn(search, found, from, record);
	if (!new || worker->violation.verdict != VERDICT_HOLDS)
		return;
	if (check_state(&search->model, row, &worker->sight, &worker->violation))
		worker->violation.state = state;
}

/* Looks up what a thread found. Memory is slow but can serve many accesses at once. So for a
 * group of look-ups it prefetches all slots, then all records that they name, and only then
 * compares. */
static void take_found(void *context, uint32_t member)
{
	struct search *search = context;
	struct worker *worker = &search->workers[member];
	size_t slots[AT_ONCE];

	for (size_t begin = 0; begin < worker->found_count; begin += AT_ONCE) {
		const struct found *found = worker->found + begin;
		size_t left = worker->found_count - begin;
		size_t count = left < AT_ONCE ? left : AT_ONCE;
		for (size_t i = 0; i < count; i++) {
			states_prefetch(&search->states, found[i].hash);
			__builtin_prefetch(states_record(&search->states, found[i].from));
		}
		for (size_t i = 0; i < count; i++)
			slots[i] = states_seek(&search->states, found[i].hash);
		for (size_t i = 0; i < count; i++) {
			if (search->ordering)
				take_again(search, worker, slots[i], &found[i]);
			else
				take(search, worker, slots[i], &found[i]);
		}
	}
	worker->found_count = 0;
}

/* A thread's part of a round: lists the actions of some states, and looks up where they lead. */
static void expand(void *context, uint32_t member)
{
	struct search *search = context;
	struct worker *worker = &search->workers[member];
	uint32_t states[PENDING_MAX], count;

	worker->spent = 0;
	while ((count = next_states(search, worker, states)) > 0) {
		for (uint32_t i = 0; i < count; i++)
			prepare(search, worker, &worker->pending[i], states[i]);
		for (uint32_t i = 0; i < count; i++) {
			const struct actions *actions = &worker->pending[i].actions;
			for (size_t k = 0; k < actions->count; k++)
				model_prefetch_transition(&search->model, &actions->list[k]);
		}
		for (uint32_t i = 0; i < count; i++) {
			if (follow_all(search, worker, &worker->pending[i]))
				return;
		}
		if (worker->spent > search->budget + ROUND_SLACK)
			return; /* there may be no room in the table for more */
		if (worker->found_count >= FOUND_MAX)
			take_found(search, member);
		if (worker->violation.verdict != VERDICT_HOLDS)
			return;
	}
	take_found(search, member);
}

/* Computes, in one thread, the steps that a round had to leave out. Returns true if something is
 * wrong. */
static bool learn_missing(struct search *search)
{
	for (uint32_t i = 0; i < search->team.count; i++) {
		struct worker *worker = &search->workers[i];
		for (size_t k = 0; k < worker->missing_count; k++) {
			const struct missing *missing = &worker->missing[k];
			struct pending pending = {
			        .state = missing->from,
			        .row = search_row(search, missing->from),
			        /* Whether a node was bypassed is no longer known; true is the safe
			         * answer. */
			        .bypassed = true};
			pending.actions.hash = model_hash(&search->model, pending.row);
			model_learn(&search->model, &missing->action);
			if (follow(search, worker, &pending, &missing->action))
				return true;
		}
		worker->missing_count = 0;
	}
	return false;
}

/* Has any thread found a violation? If several have, the violation of the first of them is
 * taken. */
static bool is_violated(struct search *search)
{
	for (uint32_t i = 0; i < search->team.count; i++) {
		if (search->workers[i].violation.verdict != VERDICT_HOLDS) {
			search->violation = search->workers[i].violation;
			return true;
		}
	}
	return false;
}

const char search_interrupt[] = "interrupt";

const char *search_limit(const struct search *search, uint64_t more_bytes)
{
	const struct check_options *options = search->options;

	more_bytes += PROGRAM_BYTES + (uint64_t)search->team.started * THREAD_BYTES;
	if (search_memory(search) + more_bytes >= options->memory_max)
		return "--max-memory";
	if (options->seconds_max > 0 && search_seconds(search) >= options->seconds_max)
		return "--timeout";
	if (options->interrupted != NULL && *options->interrupted != 0)
		return search_interrupt;
	return NULL;
}

void search_progress(const struct search *search, const char *doing)
{
	if (search->options->progress != NULL)
		search->options->progress(doing, states_count(&search->states), search->depth,
		                          search_memory(search), search_seconds(search));
}

/* May several threads work in this round? Only one thread can stop exactly at a limit. So
 * several may work only while no limit can be reached within the round. */
static bool may_be_together(const struct search *search)
{
	uint64_t most = (uint64_t)search->team.count * (ROUND_TOGETHER + ROUND_SLACK);
	uint64_t count = states_count(&search->states);
	uint64_t bytes = search_memory(search) / count * most;

	return search->team.count > 1 && search->level_states >= TOGETHER_LEAST &&
	       count + most <= search->options->states_max &&
	       search_limit(search, bytes + states_reserve_cost(&search->states, most)) == NULL;
}

static void run(struct search *search, void (*work)(void *context, uint32_t member))
{
	if (search->together)
		team_run(&search->team, work, search);
	else
		work(search, 0);
}

/* Returns how many steps all threads have found and not looked up yet. */
static uint64_t found_count(const struct search *search)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < search->team.count; i++)
		count += search->workers[i].found_count;
	return count;
}

/* Makes room for `more` states. Returns false if a limit was reached. */
static bool make_room(struct search *search, uint64_t more)
{
	search->limit = search_limit(search, states_reserve_cost(&search->states, more));
	if (search->limit == NULL)
		states_reserve(&search->states, more);
	return search->limit == NULL;
}

static bool run_round(struct search *search)
{
	uint64_t count = states_count(&search->states);
	uint64_t left =
	        search->options->states_max > count ? search->options->states_max - count : 0;

	search_progress(search, "search");
	search->together = may_be_together(search);
	search->budget = search->together     ? ROUND_TOGETHER
	                 : left < ROUND_ALONE ? (uint32_t)left + 1
	                                      : ROUND_ALONE;
	uint64_t threads = search->together ? search->team.count : 1;
	if (!make_room(search, threads * (search->budget + ROUND_SLACK)))
		return false;
	run(search, expand);
	if (is_violated(search) || learn_missing(search) || search->model.outgrown) {
		is_violated(search);
		return false;
	}
	if (!make_room(search, found_count(search)))
		return false;
	run(search, take_found);
	for (uint32_t i = 0; i < search->team.count; i++)
		search->graded = search->graded && search->workers[i].graded;
	if (is_violated(search))
		return false;
	if (states_count(&search->states) > search->options->states_max || search->full)
		search->limit = "--max-states";
	return search->limit == NULL;
}

/* Begins the next level, with the states that were not expanded yet. Returns false if there are
 * none. */
static bool begin_level(struct search *search)
{
	uint64_t count = states_count(&search->states);

	search->level_states = count - search->level_count;
	for (uint32_t i = 0; i < search->team.count; i++) {
		search->workers[i].level_end = lane_end(&search->states.lanes[i]);
		search->workers[i].graded = search->graded;
	}
	states_begin_level(&search->states);
	search->level_count = count;
	return search->level_states > 0;
}

static bool is_level_done(const struct search *search)
{
	for (uint32_t i = 0; i < search->team.count; i++) {
		const struct worker *worker = &search->workers[i];
		if (worker->cursor.chunk != worker->level_end.chunk ||
		    worker->cursor.unit != worker->level_end.unit)
			return false;
	}
	return true;
}

/* Adds the first state. Returns true if something is wrong with it. */
static bool put_start(struct search *search)
{
	uint8_t *bytes = search->workers[0].next;
	bool new;

	for (uint32_t i = 0; i < search->team.count; i++) {
		struct worker *worker = &search->workers[i];
		worker->cursor = (struct lane_cursor){0};
		worker->missing_count = 0;
		worker->transitions = 0;
		worker->messages_max = worker->bypass_max = 0;
		worker->messages_min = UINT32_MAX;
		worker->found_count = 0;
	}
	uint32_t size = model_start(&search->model, bytes);
	if (search->model.outgrown) {
		model_widen(&search->model);
		size = model_start(&search->model, bytes);
	}
	uint64_t hash =
	        model_hash(&search->model, (struct state_row){.bytes = bytes, .size = size});
	search->start = states_put(&search->states, &search->states.lanes[0],
	                           states_seek(&search->states, hash), bytes, size, hash, 0, &new);
	struct state_record *record = states_record(&search->states, search->start);
	record->parent = search->start;
	record->fewest_so_far = 0;
	search->graded = true;
	search->full = false;
	search->depth = search->level_count = 0;
	search->violation.state = search->start;
	return check_state(&search->model, search_row(search, search->start),
	                   &search->workers[0].sight, &search->violation);
}

/* Searches level by level; a state's level is the number of actions on a shortest path to it. So
 * the path to the first violation that is found is a shortest one, and need not be shortened
 * afterwards. Returns false on a violation, at a limit, or if a row did not fit its format. */
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
	search->depth--; /* levels count from 0, and the last one was empty */
	return true;
}

bool search_explore(struct search *search)
{
	bool complete = explore(search);

	while (search->model.outgrown && search->violation.verdict == VERDICT_HOLDS &&
	       search->limit == NULL) {
		model_widen(&search->model);
		states_free(&search->states);
		states_init(&search->states, search->team.count,
		            search->bypass_width * search->model.nodes,
		            search->options->memory_max);
		complete = explore(search);
	}
	return complete;
}

void search_order_some(struct search *search)
{
	search->budget = search->together ? ROUND_TOGETHER : ROUND_ALONE;
	run(search, expand);
	run(search, take_found);
}
