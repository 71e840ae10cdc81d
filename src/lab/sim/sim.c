#include "memory.h"
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

struct sim *sim_create(const struct setup *setup)
{
	uint32_t nodes = setup->network.graph.nodes;
	struct sim *sim = calloc(1, sizeof(*sim));

	memory_must(sim != NULL);
	must(setup->network.algorithm->messages_count <= MESSAGE_TYPES_MAX);
	sim->setup = setup;
	sim->futile_max = 10000 + 100 * (uint64_t)nodes * nodes;
	world_init(&sim->world, &setup->network);
	sim->queue = queue_create();
	sim->arena = arena_create();
	sim->channels = channels_create();
	sim->responses = samples_create();
	sim->asking = calloc(nodes, sizeof(*sim->asking));
	sim->starved = calloc(nodes, sizeof(*sim->starved));
	sim->waiting = calloc(nodes, sizeof(*sim->waiting));
	memory_must(sim->asking != NULL && sim->starved != NULL && sim->waiting != NULL);
	if (setup->network.algorithm->kind == KIND_ELECTION) {
		sim->learned = calloc(nodes, sizeof(*sim->learned));
		sim->dead = calloc(nodes, 1);
		memory_must(sim->learned != NULL && sim->dead != NULL);
	} else if (setup->network.algorithm->ready != NULL) {
		sim->deferred = calloc(nodes, 1);
		memory_must(sim->deferred != NULL);
	}
	if (setup->network.algorithm->expire != NULL) {
		sim->timers = calloc((size_t)nodes * TIMERS_MAX, sizeof(*sim->timers));
		memory_must(sim->timers != NULL);
	}
	return sim;
}

void sim_destroy(struct sim *sim)
{
	world_free(&sim->world);
	queue_destroy(sim->queue);
	arena_destroy(sim->arena);
	channels_destroy(sim->channels);
	samples_destroy(sim->responses);
	wishes_destroy(sim->wishes);
	free(sim->asking);
	free(sim->starved);
	free(sim->waiting);
	free(sim->learned);
	free(sim->dead);
	free(sim->deferred);
	free(sim->timers);
	free(sim);
}

void sim_violate(struct sim *sim, const char *what)
{
	sim->result->violations++;
	if (sim->result->violation == NULL)
		sim->result->violation = what;
}

static void stop(struct sim *sim, const char *why)
{
	sim_violate(sim, why);
	sim->stuck = true;
}

static bool anybody_wants(const struct sim *sim)
{
	return sim->world.waiting_count + sim->world.inside_count != 0;
}

static void count_message(struct sim *sim, uint8_t type, uint32_t size)
{
	struct sim_result *result = sim->result;

	result->messages++;
	result->messages_by_type[type]++;
	result->bytes += size;
	if (size > result->bytes_largest[type])
		result->bytes_largest[type] = size;
}

/* A message with a circulating token is counted when it arrives, and only if a node waits or is
 * inside. */
static bool counts_at_arrival(const struct sim *sim, uint8_t type)
{
	return sim->world.algorithm->circulates && sim->world.algorithm->messages[type].token;
}

static bool is_lost(struct sim *sim, bool token)
{
	const struct sim_options *options = &sim->options;
	bool lost = false;

	if (token) {
		sim->token_hops++;
		while (sim->lose_next < options->lose_hops_count &&
		       options->lose_hops[sim->lose_next] <= sim->token_hops) {
			lost = options->lose_hops[sim->lose_next] == sim->token_hops;
			sim->lose_next++;
		}
	}
	if (options->lose_below != 0)
		lost = (random_next(&sim->random) >> 32) < options->lose_below || lost;
	if (lost && token) {
		sim->lost_hops = sim->token_hops;
		sim->lost_pending++;
	}
	return lost;
}

/* Draws how long a message of this node takes. */
static uint64_t draw_delay(struct sim *sim, uint32_t from)
{
	/* Twice this can be added to any allowed time without overflow: see time_max. */
	const uint64_t most = UINT64_C(1) << 61;
	uint64_t delay = distribution_draw(&sim->options.delay, &sim->random);

	if (from != sim->options.slow_node)
		return delay;
	return delay > most / sim->options.slow_factor ? most : delay * sim->options.slow_factor;
}

static void send(struct sim *sim, uint32_t from, const struct effect *effect)
{
	const uint8_t *body = sim->world.out.bytes + effect->send.offset;
	const struct message_type *type = &sim->world.algorithm->messages[body[0]];
	struct event event = {
	        .time = sim->now + draw_delay(sim, from),
	        .node = effect->send.to,
	        .from = from,
	        .number = ++sim->number,
	        .size = effect->send.size,
	        .kind = EVENT_DELIVER,
	        .side = (uint8_t)effect->send.side,
	};

	if (type->token && !sim->token_moving) {
		sim->token_moving = true;
		sim->token_left = sim->now;
	}
	if (type->init)
		sim->result->messages_init++;
	else if (!counts_at_arrival(sim, body[0]))
		count_message(sim, body[0], effect->send.size);
	if (sim->setup->fifo && (sim->options.delay.kind != DISTRIBUTION_CONSTANT || sim->touched))
		event.time = channels_arrival(sim->channels, from, effect->send.to, event.side,
		                              event.time);
	if (is_lost(sim, type->token)) {
		event.kind = EVENT_LOSE;
		event.size = 1;
		event.body[0] = body[0];
	} else if (effect->send.size <= BODY_INLINE_MAX) {
		memcpy(event.body, body, effect->send.size);
	} else {
		uint8_t *copy = arena_take(sim->arena, effect->send.size);
		memcpy(copy, body, effect->send.size);
		memcpy(event.body, &copy, sizeof(copy));
	}
	queue_push(sim->queue, &event);
}

static void push(struct sim *sim, enum sim_event_kind kind, uint32_t node, uint64_t time)
{
	queue_push(sim->queue, &(struct event){.time = time, .node = node, .kind = (uint8_t)kind});
}

static void enter(struct sim *sim, uint32_t node)
{
	struct sim_result *result = sim->result;
	uint64_t response = sim->now - sim->asking[node - 1].time;
	uint64_t bypass = sim->entered - sim->asking[node - 1].entries;

	if (sim->world.inside_count > 1)
		sim_violate(sim, "two nodes are inside at once");
	if (sim_waits_too_long(sim, node))
		sim->asking[node - 1].starved = true;
	sim->entered++;
	sim->futile_hops = 0;
	samples_add(sim->responses, response);
	result->response_sum += response;
	result->response_count++;
	sim->asking[node - 1].response_sum += response;
	sim->asking[node - 1].response_count++;
	if (response > result->response_max)
		result->response_max = response;
	if (bypass > result->bypass_max)
		result->bypass_max = bypass;
	if (sim->options.load == LOAD_LIGHT && sim->token_moving &&
	    sim->now - sim->token_left > result->token_time_max)
		result->token_time_max = sim->now - sim->token_left;
	if (sim->exit_pending) {
		uint64_t delay = sim->now - sim->exit_time;
		sim->exit_pending = false;
		result->sync_count++;
		result->sync_count_all++;
		result->sync_sum += delay;
		if (delay > result->sync_max)
			result->sync_max = delay;
	}
	push(sim, EVENT_EXIT, node, sim->now + distribution_draw(&sim->options.cs, &sim->random));
}

static void regenerated(struct sim *sim)
{
	struct sim_result *result = sim->result;
	uint64_t hops = sim->lost_pending > 0 ? sim->token_hops - sim->lost_hops : 0;

	if (sim->lost_pending > 0)
		sim->lost_pending--;
	else
		sim_violate(sim, "a token was made again though none was lost");
	result->regenerated++;
	result->regenerated_hops_sum += hops;
	if (hops > result->regenerated_hops_max)
		result->regenerated_hops_max = hops;
}

static void set_timer(struct sim *sim, uint32_t node, const struct effect *effect)
{
	uint32_t *count = &sim->timers[(size_t)(node - 1) * TIMERS_MAX + effect->timer.number];

	++*count;
	if (effect->kind == EFFECT_DISARM)
		return;
	queue_push(sim->queue, &(struct event){
	                               .time = sim->now + effect->timer.delays * sim->options.bound,
	                               .node = node,
	                               .from = effect->timer.number,
	                               .number = *count,
	                               .kind = EVENT_EXPIRE,
	                       });
}

/* A place learns who leads. Only one process may declare itself the leader, once, and all must
 * learn the same leader. */
static void elected(struct sim *sim, uint32_t node, uint32_t leader)
{
	struct sim_result *result = sim->result;
	uint32_t *learned = &sim->learned[node - 1];

	if (*learned != 0 && *learned != leader)
		sim_violate(sim, "a process changed its leader");
	else if (*learned == sim->setup->network.identifiers[node - 1])
		sim_violate(sim, "a process declared itself the leader twice");
	if (result->leader == 0) {
		result->leader = leader;
		result->elected = sim->now;
	} else if (leader != result->leader) {
		sim_violate(sim, "two leaders");
		result->disputed = true;
	}
	if (*learned == 0 && leader == result->leader)
		result->learned++;
	*learned = leader;
}

/* Stops the run before it takes more memory than allowed. */
static void weigh(struct sim *sim)
{
	uint64_t memory = sim->states_memory + queue_memory(sim->queue) + arena_memory(sim->arena);

	sim->weighed = sim->number;
	if (sim->options.memory_max != 0 && memory > sim->options.memory_max)
		sim->result->exhausted = sim->stuck = true;
}

/* Performs the effects of the step that `node` has just made. */
static void perform(struct sim *sim, uint32_t node)
{
	enum { WEIGH_EVERY = 4096 };
	struct world *world = &sim->world;
	uint64_t first_number = sim->number + 1;

	for (uint32_t i = 0; i < world->out.effects_count; i++) {
		const struct effect *effect = &world->out.effects[i];
		switch (effect->kind) {
		case EFFECT_SEND:
			send(sim, node, effect);
			break;
		case EFFECT_ENTER:
			enter(sim, node);
			break;
		case EFFECT_REGENERATED:
			regenerated(sim);
			break;
		case EFFECT_ARM:
		case EFFECT_DISARM:
			set_timer(sim, node, effect);
			break;
		case EFFECT_ELECTED:
			elected(sim, node, effect->elected.identifier);
			break;
		}
	}
	if (sim->options.trace != NULL)
		trace_effects(sim->options.trace, world, sim->now, node, first_number);
	if (world->broken != NULL) {
		sim_violate(sim, world->broken);
		world->broken = NULL;
	}
	if (sim->number - sim->weighed >= WEIGH_EVERY)
		weigh(sim);
	if (sim->deferred != NULL && sim->deferred[node - 1] && world_may_request(world, node)) {
		sim->deferred[node - 1] = false;
		push(sim, EVENT_REQUEST, node, sim->now);
	}
}

static void on_request(struct sim *sim, uint32_t node)
{
	if (!world_may_request(&sim->world, node) || (sim->dead != NULL && sim->dead[node - 1])) {
		sim->silent++;
		/* Another initiator's message has reached this node before it could begin
		 * itself. */
		if (sim->options.load == LOAD_ELECTION)
			return;
		/* A user has let the node ask before its time (hand.h): it already waits or is
		 * inside. */
		if (sim->touched &&
		    (sim->deferred == NULL || sim->world.phases[node - 1] == PHASE_WAITING ||
		     sim->world.phases[node - 1] == PHASE_INSIDE))
			return;
		must(sim->deferred != NULL);
		sim->deferred[node - 1] = true;
		if (sim->options.load == LOAD_LIGHT && !sim->world.algorithm->circulates)
			stop(sim, "stuck: a node is not ready to ask and nothing can happen");
		return;
	}
	sim->asking[node - 1].time = sim->now;
	sim->asking[node - 1].entries = sim->entered;
	if (sim->options.trace != NULL)
		trace_request(sim->options.trace, sim->now, node);
	sim->futile_hops = 0;
	sim->asked_at = sim->now;
	sim->requests++;
	sim->token_moving = false;
	world_request(&sim->world, node);
	perform(sim, node);
}

static void ask_after(struct sim *sim, uint32_t node, const struct distribution *distribution)
{
	push(sim, EVENT_REQUEST, node, sim->now + distribution_draw(distribution, &sim->random));
}

static struct distribution poisson(const struct sim *sim)
{
	return (struct distribution){.kind = DISTRIBUTION_EXPONENTIAL, .a = sim->options.interval};
}

/* The node asks when its next wish comes, or now if the wish came while it was waiting or
 * inside. */
static void ask_as_wished(struct sim *sim, uint32_t node)
{
	uint64_t time = wishes_take(sim->wishes, node);

	push(sim, EVENT_REQUEST, node, time > sim->now ? time : sim->now);
}

void sim_begin_count(struct sim *sim)
{
	struct sim_result *result = sim->result;

	sim->warming = false;
	sim->counted_from = sim->counted_token_from = 0;
	samples_clear(sim->responses);
	memset(result->messages_by_type, 0, sizeof(result->messages_by_type));
	result->entries = result->messages = result->messages_idle = result->bytes = 0;
	result->entry.squares = 0;
	result->sync_count = result->sync_sum = 0;
	result->response_count = result->response_sum = 0;
	for (uint32_t i = 0; i < sim->setup->network.graph.nodes; i++)
		sim->asking[i].response_sum = sim->asking[i].response_count = 0;
}

static void on_exit_of(struct sim *sim, uint32_t node)
{
	if (sim->options.trace != NULL)
		trace_exit(sim->options.trace, sim->now, node);
	if (sim->world.waiting_count > 0) {
		sim->exit_pending = true;
		sim->exit_time = sim->now;
	}
	sim->result->entries++;
	sim->asking[node - 1].exits++;
	world_release(&sim->world, node);
	perform(sim, node);
	if (sim->warming && sim->options.load != LOAD_LIGHT &&
	    sim->result->entries == sim->options.warmup)
		sim_begin_count(sim);
	if (sim->options.load == LOAD_HEAVY) {
		push(sim, EVENT_REQUEST, node, sim->now);
	} else if (sim->options.load == LOAD_POISSON) {
		struct distribution distribution = poisson(sim);
		ask_after(sim, node, &distribution);
	} else if (sim->options.load == LOAD_WISHES) {
		ask_as_wished(sim, node);
	}
}

/* Notes when a request first reaches a node. Later copies of it do not count. */
static void note_heard(struct sim *sim, uint32_t node)
{
	struct asking *asking = &sim->asking[node - 1];

	if (asking->heard == sim->requests)
		return;
	asking->heard = sim->requests;
	if (sim->now - sim->asked_at > sim->result->asked_time_max)
		sim->result->asked_time_max = sim->now - sim->asked_at;
}

static void on_deliver(struct sim *sim, const struct event *event)
{
	const uint8_t *body = event_body(event);
	uint8_t *copy = NULL;

	if (event->size > BODY_INLINE_MAX)
		memcpy(&copy, event->body, sizeof(copy));
	if (counts_at_arrival(sim, body[0])) {
		if (anybody_wants(sim))
			count_message(sim, body[0], event->size);
		else
			sim->result->messages_idle++;
	}
	if (sim->world.waiting_count != 0 && sim->world.inside_count == 0 &&
	    sim->options.load != LOAD_ELECTION)
		sim->futile_hops++;
	if (sim->dead != NULL && sim->dead[event->node - 1]) {
		if (sim->options.trace != NULL)
			trace_lose(sim->options.trace, sim->now, event->number);
		if (copy != NULL)
			arena_give_back(sim->arena, copy, event->size);
		return;
	}
	if (sim->options.load == LOAD_LIGHT && !sim->world.algorithm->messages[body[0]].token)
		note_heard(sim, event->node);
	if (sim->options.trace != NULL)
		trace_deliver(sim->options.trace, sim->now, event->number, event->from, event->node,
		              sim->world.algorithm->messages[body[0]].name);
	world_deliver(&sim->world, event->node, (enum side)event->side, body, event->size);
	perform(sim, event->node);
	if (copy != NULL)
		arena_give_back(sim->arena, copy, event->size);
}

static void on_lose(struct sim *sim, const struct event *event)
{
	sim->result->lost++;
	if (sim->options.trace != NULL)
		trace_lose(sim->options.trace, sim->now, event->number);
}

/* Does the timer expire? It does not if it has been stopped or set again since, or if its node is
 * dead. A message that arrives at the same moment still counts as in time. So the timer's event is
 * pushed a second time, after the other events of this moment, and the timer expires when that
 * event comes up again. */
static bool runs_out(struct sim *sim, const struct event *event)
{
	struct event later = *event;

	if (sim->dead != NULL && sim->dead[event->node - 1])
		return false;
	if (sim->timers[(size_t)(event->node - 1) * TIMERS_MAX + event->from] != event->number)
		return false;
	if (event->size != 0)
		return true;
	later.size = 1;
	queue_push(sim->queue, &later);
	return false;
}

static void on_expire(struct sim *sim, const struct event *event)
{
	uint32_t *count = &sim->timers[(size_t)(event->node - 1) * TIMERS_MAX + event->from];

	++*count;
	if (sim->options.trace != NULL)
		trace_expire(sim->options.trace, sim->now, event->node);
	world_expire(&sim->world, event->node, event->from);
	perform(sim, event->node);
}

/* Beyond this time, adding the longest possible delay could overflow. */
static const uint64_t time_max = UINT64_C(1) << 62;

void sim_handle(struct sim *sim, const struct event *event)
{
	enum { INTERRUPT_EVERY = 1024 };

	if (event->time > time_max) {
		sim->result->endless = true;
		sim->stuck = true;
		return;
	}
	if (sim->result->events % INTERRUPT_EVERY == 0 && sim->options.interrupted != NULL &&
	    *sim->options.interrupted != 0) {
		sim->result->interrupted = sim->stuck = true;
		return;
	}
	sim->now = event->time;
	sim->result->events++;
	if (event->kind == EVENT_EXPIRE && !runs_out(sim, event)) {
		sim->silent++;
		return;
	}
	sim->happened = sim->now;
	switch ((enum sim_event_kind)event->kind) {
	case EVENT_REQUEST:
		on_request(sim, event->node);
		break;
	case EVENT_EXIT:
		on_exit_of(sim, event->node);
		break;
	case EVENT_DELIVER:
		on_deliver(sim, event);
		break;
	case EVENT_LOSE:
		on_lose(sim, event);
		break;
	case EVENT_EXPIRE:
		on_expire(sim, event);
		break;
	}
}

void sim_count_entry(struct sim *sim)
{
	const struct algorithm *algorithm = sim->world.algorithm;
	struct sim_entry_messages *entry = &sim->result->entry;
	uint64_t messages = sim->result->messages - sim->counted_from;
	uint64_t token = 0;

	for (size_t i = 0; i < algorithm->messages_count; i++)
		token += algorithm->messages[i].token ? sim->result->messages_by_type[i] : 0;
	if (sim->counting) {
		uint64_t of_token = token - sim->counted_token_from;
		range_widen(&entry->all, messages);
		entry->squares += messages * messages;
		if (messages != 0) {
			range_widen(&entry->asked, messages);
			range_widen(&entry->asked_token, of_token);
			range_widen(&entry->asked_others, messages - of_token);
		}
	}
	sim->counting = true;
	sim->counted_from = sim->result->messages;
	sim->counted_token_from = token;
}

static uint32_t askers_count(const struct sim *sim)
{
	return sim->options.askers_count != 0 ? sim->options.askers_count
	                                      : sim->setup->network.graph.nodes;
}

/* Returns the k-th node that asks; k counts from 0. */
static uint32_t asker(const struct sim *sim, uint32_t k)
{
	return sim->options.askers_count != 0 ? sim->options.askers[k] : k + 1;
}

/* Light load: a node asks when nothing is in flight. A circulating token is always in flight; with
 * such a token the node asks some time after the last exit. */
static void ask_lightly(struct sim *sim)
{
	uint32_t nodes = sim->setup->network.graph.nodes;
	uint32_t node = asker(sim, (uint32_t)random_below(&sim->random, askers_count(sim)));
	uint64_t wait = 0;

	sim_count_entry(sim);
	if (sim->warming && sim->result->entries == sim->options.warmup)
		sim_begin_count(sim);
	if (sim->world.algorithm->circulates)
		wait = random_below(&sim->random,
		                    nodes * distribution_mean(&sim->options.delay) + 1);
	push(sim, EVENT_REQUEST, node, sim->now + wait);
}

/* Has a node waited during so many deliveries that the circulating token will never come? */
static bool is_futile(const struct sim *sim)
{
	return sim->futile_hops > sim->futile_max;
}

static void first_requests(struct sim *sim)
{
	uint32_t nodes = sim->setup->network.graph.nodes, askers = askers_count(sim);
	struct distribution distribution = poisson(sim);

	switch (sim->options.load) {
	case LOAD_LIGHT:
		if (sim->world.algorithm->circulates)
			ask_lightly(sim);
		break;
	case LOAD_HEAVY:
		for (uint32_t k = 0; k < askers; k++)
			push(sim, EVENT_REQUEST, asker(sim, k), 0);
		break;
	case LOAD_POISSON:
		for (uint32_t k = 0; k < askers; k++)
			ask_after(sim, asker(sim, k), &distribution);
		break;
	case LOAD_WISHES:
		if (sim->wishes == NULL)
			sim->wishes = wishes_create(nodes);
		wishes_start(sim->wishes, sim->options.seed, sim->options.interval);
		for (uint32_t k = 0; k < askers; k++)
			ask_as_wished(sim, asker(sim, k));
		break;
	case LOAD_ELECTION:
		for (uint32_t i = 0; i < sim->setup->electorate.initiators_count; i++)
			push(sim, EVENT_REQUEST, sim->setup->electorate.initiators[i], 0);
		break;
	}
}

static void start(struct sim *sim)
{
	uint32_t nodes = sim->setup->network.graph.nodes;

	if (sim->options.trace != NULL) {
		trace_start(sim->options.trace, sim->setup);
		trace_seed(sim->options.trace);
	}
	for (uint32_t i = 1; i <= nodes; i++) {
		uint64_t first_number = sim->number + 1;
		size_t size = world_state_size(&sim->world, i);
		sim->result->state_sum += size;
		sim->states_memory += size;
		if (size > sim->result->state_max)
			sim->result->state_max = size;
		world_start(&sim->world, i);
		for (uint32_t k = 0; k < sim->world.out.effects_count; k++) {
			must(sim->world.out.effects[k].kind == EFFECT_SEND);
			send(sim, i, &sim->world.out.effects[k]);
		}
		if (sim->options.trace != NULL)
			trace_sends(sim->options.trace, &sim->world, 0, i, first_number);
	}
	if (sim->options.trace != NULL)
		trace_started(sim->options.trace, &sim->world);
	first_requests(sim);
}

/* Handles one event of a run that is not an election. Returns false when the run is over.
 * `light` and `circulates` never change during a run; they are arguments so that the compiler
 * makes a loop for each case, which does not read them again for every event. */
static inline bool step_exclusion(struct sim *sim, bool light, bool circulates)
{
	enum { PROGRESS_EVERY = 1 << 16 };
	const struct sim_options *options = &sim->options;
	struct event event;

	while (!sim->stuck && (sim->warming || sim->result->entries < options->entries ||
	                       (light && !circulates))) {
		if (!queue_pop(sim->queue, &event)) {
			if (!light || anybody_wants(sim))
				stop(sim, "stuck: somebody waits and nothing can happen");
			else if (!sim->warming && sim->result->entries >= options->entries)
				return false;
			else
				ask_lightly(sim);
			continue;
		}
		sim_handle(sim, &event);
		if (is_futile(sim))
			stop(sim, "stuck: somebody waits and the token never comes");
		if (light && circulates) {
			if (sim->result->entries > sim->exits_seen &&
			    (sim->warming || sim->result->entries < options->entries))
				ask_lightly(sim);
			sim->exits_seen = sim->result->entries;
		}
		if (options->progress != NULL && sim->result->events % PROGRESS_EVERY == 0)
			options->progress(options->progress_context, sim->result->entries,
			                  options->entries);
		return true;
	}
	return false;
}

/* Handles one event of an election. Returns false when there is none left. */
static bool step_election(struct sim *sim)
{
	uint64_t nodes = sim->setup->network.graph.nodes;
	struct event event;

	if (sim->stuck || !queue_pop(sim->queue, &event))
		return false;
	sim_handle(sim, &event);
	if (sim->result->events > 1000000 + 100 * nodes * nodes)
		stop(sim, "the election does not end");
	return true;
}

static void reset(struct sim *sim)
{
	uint32_t nodes = sim->setup->network.graph.nodes;

	memset(sim->asking, 0, nodes * sizeof(*sim->asking));
	world_reset(&sim->world);
	queue_clear(sim->queue);
	arena_clear(sim->arena);
	channels_clear(sim->channels);
	samples_clear(sim->responses);
	if (sim->deferred != NULL)
		memset(sim->deferred, 0, nodes);
	if (sim->learned == NULL)
		return;
	memset(sim->learned, 0, nodes * sizeof(*sim->learned));
	memset(sim->dead, 0, nodes);
	for (uint32_t i = 0; i < sim->setup->electorate.crashed_count; i++)
		sim->dead[sim->setup->electorate.crashed[i] - 1] = true;
}

void sim_begin(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result)
{
	const struct range none = {.min = UINT64_MAX};

	*ret_result = (struct sim_result){
	        .entries_each = none,
	        .entry = {.all = none, .asked = none, .asked_token = none, .asked_others = none}};
	sim->result = ret_result;
	sim->options = *options;
	sim->now = sim->happened = sim->number = sim->entered = 0;
	sim->token_hops = sim->lose_next = sim->futile_hops = 0;
	sim->counted_from = sim->counted_token_from = 0;
	sim->asked_at = sim->requests = 0;
	sim->token_moving = false;
	sim->exit_pending = sim->counting = sim->stuck = false;
	sim->lost_pending = 0;
	sim->warming = options->warmup != 0;
	sim->states_memory = sim->weighed = 0;
	sim->silent = sim->exits_seen = 0;
	sim->touched = false;
	random_seed(&sim->random, options->seed);
	reset(sim);
	start(sim);
}

bool sim_step(struct sim *sim)
{
	if (sim->options.load == LOAD_ELECTION)
		return step_election(sim);
	return step_exclusion(sim, sim->options.load == LOAD_LIGHT,
	                      sim->world.algorithm->circulates);
}

void sim_run(struct sim *sim, const struct sim_options *options, struct sim_result *ret_result)
{
	bool light = options->load == LOAD_LIGHT, circulates = sim->world.algorithm->circulates;

	sim_begin(sim, options, ret_result);
	if (options->load == LOAD_ELECTION) {
		while (step_election(sim))
			;
	} else {
		while (step_exclusion(sim, light, circulates))
			;
	}
	sim_end(sim);
}
