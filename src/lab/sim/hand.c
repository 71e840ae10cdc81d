#include "hand.h"

#include "memory.h"
#include "simulation.h"

#include <stdlib.h>

/* All events of the queue, in the order in which they would happen. */
struct agenda {
	struct event *events;
	size_t count;
};

static struct agenda open_agenda(struct sim *sim)
{
	struct agenda agenda = {.count = queue_count(sim->queue)};
	size_t i = 0;

	agenda.events = malloc((agenda.count + 1) * sizeof(*agenda.events));
	memory_must(agenda.events != NULL);
	while (queue_pop(sim->queue, &agenda.events[i]))
		i++;
	must(i == agenda.count);
	return agenda;
}

/* Puts all events back into the queue, except the one at index `left_out`; if `left_out` is the
 * count, all of them. */
static void close_agenda(struct sim *sim, struct agenda *agenda, size_t left_out)
{
	queue_clear(sim->queue);
	for (size_t i = 0; i < agenda->count; i++) {
		if (i != left_out)
			queue_push(sim->queue, &agenda->events[i]);
	}
	free(agenda->events);
}

/* Returns the index of the first event of a kind at a node, or the count if there is none. */
static size_t find_event(const struct agenda *agenda, enum sim_event_kind kind, uint32_t node)
{
	size_t i = 0;

	while (i < agenda->count &&
	       (agenda->events[i].kind != kind || agenda->events[i].node != node))
		i++;
	return i;
}

static bool is_message(const struct event *event)
{
	return event->kind == EVENT_DELIVER || event->kind == EVENT_LOSE;
}

static size_t find_message(const struct agenda *agenda, uint64_t number)
{
	size_t i = 0;

	while (i < agenda->count &&
	       (!is_message(&agenda->events[i]) || agenda->events[i].number != number))
		i++;
	return i;
}

static bool share_channel(const struct event *a, const struct event *b)
{
	return is_message(a) && is_message(b) && a->from == b->from && a->node == b->node &&
	       a->side == b->side;
}

/* Is this message the oldest of its channel? */
static bool is_next(const struct agenda *agenda, size_t message)
{
	const struct event *event = &agenda->events[message];

	for (size_t i = 0; i < agenda->count; i++) {
		if (share_channel(&agenda->events[i], event) &&
		    agenda->events[i].number < event->number)
			return false;
	}
	return true;
}

/* Marks the run as interfered with. A run that was stuck may continue, because the act may help
 * a node that waited in vain. */
static void touch(struct sim *sim)
{
	const struct sim_result *result = sim->result;

	sim->touched = true;
	sim->stuck = result->interrupted || result->endless || result->exhausted;
	sim->futile_hops = 0;
}

static void happen(struct sim *sim, struct event *event)
{
	event->time = sim->now;
	sim_handle(sim, event);
}

static bool is_dead(const struct sim *sim, uint32_t node)
{
	return sim->dead != NULL && sim->dead[node - 1];
}

bool hand_request(struct sim *sim, uint32_t node)
{
	struct event event = {.kind = EVENT_REQUEST, .node = node};

	if (is_dead(sim, node) || !world_may_request(&sim->world, node))
		return false;
	touch(sim);
	struct agenda agenda = open_agenda(sim);
	close_agenda(sim, &agenda, find_event(&agenda, EVENT_REQUEST, node));
	happen(sim, &event);
	return true;
}

bool hand_release(struct sim *sim, uint32_t node)
{
	struct event event = {.kind = EVENT_EXIT, .node = node};

	if (sim->world.phases[node - 1] != PHASE_INSIDE)
		return false;
	touch(sim);
	struct agenda agenda = open_agenda(sim);
	close_agenda(sim, &agenda, find_event(&agenda, EVENT_EXIT, node));
	happen(sim, &event);
	return true;
}

bool hand_deliver(struct sim *sim, uint64_t number)
{
	struct agenda agenda = open_agenda(sim);
	size_t found = find_message(&agenda, number);
	struct event event;

	if (found == agenda.count || agenda.events[found].kind == EVENT_LOSE ||
	    (sim->setup->fifo && !is_next(&agenda, found))) {
		close_agenda(sim, &agenda, agenda.count);
		return false;
	}
	touch(sim);
	event = agenda.events[found];
	close_agenda(sim, &agenda, found);
	happen(sim, &event);
	return true;
}

bool hand_lose(struct sim *sim, uint64_t number)
{
	struct agenda agenda = open_agenda(sim);
	size_t found = find_message(&agenda, number);
	struct event event;

	if (found == agenda.count) {
		close_agenda(sim, &agenda, agenda.count);
		return false;
	}
	touch(sim);
	event = agenda.events[found];
	close_agenda(sim, &agenda, found);
	const uint8_t *body = event_body(&event);
	if (sim->world.algorithm->messages[body[0]].token) {
		sim->lost_hops = sim->token_hops;
		sim->lost_pending++;
	}
	if (event.size > BODY_INLINE_MAX) {
		uint8_t *copy;
		memcpy(&copy, event.body, sizeof(copy));
		arena_give_back(sim->arena, copy, event.size);
	}
	event.kind = EVENT_LOSE;
	happen(sim, &event);
	return true;
}

bool hand_delay(struct sim *sim, uint64_t number, uint64_t by)
{
	struct agenda agenda = open_agenda(sim);
	size_t found = find_message(&agenda, number);

	if (found == agenda.count) {
		close_agenda(sim, &agenda, agenda.count);
		return false;
	}
	touch(sim);
	struct event *event = &agenda.events[found];
	event->time += by;
	for (size_t i = found + 1; sim->setup->fifo && i < agenda.count; i++) {
		struct event *other = &agenda.events[i];
		if (share_channel(other, event) && other->time < event->time)
			other->time = event->time;
	}
	if (sim->setup->fifo)
		channels_arrival(sim->channels, event->from, event->node, event->side, event->time);
	close_agenda(sim, &agenda, agenda.count);
	return true;
}

static bool is_armed(const struct sim *sim, const struct event *event)
{
	return event->kind == EVENT_EXPIRE &&
	       sim->timers[(size_t)(event->node - 1) * TIMERS_MAX + event->from] == event->number;
}

bool hand_expire(struct sim *sim, uint32_t node)
{
	if (sim->timers == NULL || is_dead(sim, node))
		return false;
	struct agenda agenda = open_agenda(sim);
	size_t found = 0;
	while (found < agenda.count &&
	       (agenda.events[found].node != node || !is_armed(sim, &agenda.events[found])))
		found++;
	if (found == agenda.count) {
		close_agenda(sim, &agenda, agenda.count);
		return false;
	}
	touch(sim);
	struct event event = agenda.events[found];
	close_agenda(sim, &agenda, found);
	/* The timer expires now, so its event need not be pushed a second time, as it is in
	 * runs_out. */
	event.size = 1;
	happen(sim, &event);
	return true;
}

bool hand_crash(struct sim *sim, uint32_t node)
{
	struct sim_result *result = sim->result;

	if (sim->timers == NULL || sim->dead == NULL || is_dead(sim, node))
		return false;
	touch(sim);
	sim->dead[node - 1] = true;
	/* Dead places do not count when the election is judged. */
	if (sim->learned[node - 1] != 0 && sim->learned[node - 1] == result->leader)
		result->learned--;
	result->events++;
	if (sim->options.trace != NULL)
		trace_crash(sim->options.trace, sim->now, node);
	return true;
}

uint64_t sim_steps(const struct sim *sim)
{
	return sim->result->events - sim->silent;
}

uint64_t sim_time(const struct sim *sim)
{
	return sim->happened;
}

const struct world *sim_world(const struct sim *sim)
{
	return &sim->world;
}

const uint32_t *sim_learned(const struct sim *sim)
{
	return sim->learned;
}

const uint8_t *sim_dead(const struct sim *sim)
{
	return sim->dead;
}

size_t sim_flights(struct sim *sim, struct envelope **ret_flights)
{
	struct agenda agenda = open_agenda(sim);
	size_t count = 0, bytes = 0;

	/* Copy the bodies to the end of the array: a short body is inside its event, which the
	 * queue may move. */
	for (size_t i = 0; i < agenda.count; i++)
		bytes += is_message(&agenda.events[i]) ? agenda.events[i].size : 0;
	struct envelope *flights = malloc((agenda.count + 1) * sizeof(*flights) + bytes);
	memory_must(flights != NULL);
	uint8_t *body = (uint8_t *)(flights + agenda.count + 1);
	for (size_t i = 0; i < agenda.count; i++) {
		const struct event *event = &agenda.events[i];
		if (!is_message(event))
			continue;
		memcpy(body, event_body(event), event->size);
		flights[count++] = (struct envelope){
		        .number = event->number,
		        .time = event->time,
		        .from = event->from,
		        .to = event->node,
		        .side = (enum side)event->side,
		        .size = event->size,
		        .body = body,
		        .lost = event->kind == EVENT_LOSE,
		};
		body += event->size;
	}
	close_agenda(sim, &agenda, agenda.count);
	*ret_flights = flights;
	return count;
}

uint64_t *sim_timers(struct sim *sim)
{
	uint32_t nodes = sim->setup->network.graph.nodes;

	if (sim->timers == NULL)
		return NULL;
	uint64_t *times = malloc(nodes * sizeof(*times));
	memory_must(times != NULL);
	for (uint32_t i = 0; i < nodes; i++)
		times[i] = UINT64_MAX;
	struct agenda agenda = open_agenda(sim);
	for (size_t i = 0; i < agenda.count; i++) {
		const struct event *event = &agenda.events[i];
		if (is_armed(sim, event) && !is_dead(sim, event->node) &&
		    event->time < times[event->node - 1])
			times[event->node - 1] = event->time;
	}
	close_agenda(sim, &agenda, agenda.count);
	return times;
}
