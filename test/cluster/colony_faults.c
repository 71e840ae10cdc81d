/*
 * The plan of a colony's run, and its faults.
 */
#include "colony.h"

#include "registry.h"

#include <string.h>

enum fault {
	FAULT_CUT,
	FAULT_STALL,
	FAULT_PAUSE,
	FAULT_KILL,
	FAULT_LEAVE,
	FAULT_WIPE,
	FAULT_RENEW,
	FAULTS
};

/* --- the plan --- */

static const struct algorithm *draw_algorithm(struct chance *chance)
{
	uint32_t count = 0;

	while (algorithms[count]->kind == KIND_MUTEX)
		count++;
	return algorithms[chance_below(chance, count)];
}

/* Draws the network. Connections with little room need a fast network; otherwise the voters'
 * letters would wait too long. */
static void draw_network(struct chance *chance, struct colony_plan *plan)
{
	static const uint64_t delays[] = {COLONY_MS / 5, 2 * COLONY_MS, 5 * COLONY_MS,
	                                  25 * COLONY_MS};
	static const uint32_t rooms[] = {1 << 20, 1 << 16, 4000, 700};
	static const uint32_t pieces[] = {0, 0, 0, 0, 500, 40, 5, 1};
	uint32_t narrow = (uint32_t)chance_below(chance, 4);

	plan->room = rooms[narrow];
	plan->delay_max = delays[chance_below(chance, narrow < 2 ? 4 : narrow == 2 ? 3 : 1)];
	plan->piece_max = pieces[chance_below(chance, 8)];
	plan->short_percent = chance_percent(chance, 50) ? 0 : 30;
	plan->silent_percent = chance_percent(chance, 40) ? 0 : 60;
	plan->dial_fail_percent = chance_percent(chance, 60) ? 0 : 30;
	plan->dial_slow_percent = chance_percent(chance, 60) ? 0 : 30;
	plan->accept_late_max = chance_percent(chance, 60) ? 0 : 500 * COLONY_MS;
}

/* Returns the mean time between two faults of a kind; often 0: there are none. */
static uint64_t draw_every(struct chance *chance, uint32_t percent, uint64_t least)
{
	uint64_t often = chance_between(chance, 1, 4);

	return chance_percent(chance, percent) ? least * often * often : 0;
}

/* Draws from a stream of its own, so that the rest of a plan is the same with and without TLS. */
static void draw_tls(struct colony_plan *plan)
{
	struct chance chance = chance_stream(plan->seed, 4, 0);

	plan->tls = true;
	plan->strange_ca = plan->strangers && chance_percent(&chance, 50);
	plan->renew_every = draw_every(&chance, 50, plan->lease_ns / 4);
}

void colony_plan(uint64_t seed, bool tls, struct colony_plan *ret_plan)
{
	struct chance chance = chance_stream(seed, 0, 0);
	struct colony_plan plan = {
	        .seed = seed, .orders = seed % 3 == 0, .lease_ns = 3 * COLONY_SECOND};
	uint64_t lease = plan.lease_ns;

	plan.algorithm = draw_algorithm(&chance);
	plan.nodes = (uint32_t)chance_between(&chance, chance_percent(&chance, 90) ? 3 : 1,
	                                      COLONY_NODES_MAX);
	plan.founders = plan.nodes;
	if (chance_percent(&chance, 50))
		plan.founders = (uint32_t)chance_between(&chance, 1, plan.nodes);
	plan.strangers = chance_percent(&chance, 25);
	/* Draw these one after the other: compilers may evaluate an initializer in any order. */
	plan.electorate.grow_ns = chance_between(&chance, lease / 2, 2 * lease);
	plan.electorate.replace_ns = chance_between(&chance, 3 * lease, 6 * lease);
	draw_network(&chance, &plan);
	plan.write_max = chance_percent(&chance, 70) ? 3 * COLONY_MS : 60 * COLONY_MS;
	plan.calm_ns = chance_percent(&chance, 40) ? 0 : chance_below(&chance, 4 * lease);
	plan.faults_ns = plan.calm_ns + chance_between(&chance, 4, 16) * lease;
	plan.cut_every = draw_every(&chance, 80, lease / 10);
	plan.stall_every = draw_every(&chance, 50, lease / 5);
	plan.pause_every = draw_every(&chance, 40, lease / 4);
	plan.kill_every = draw_every(&chance, 60, lease / 3);
	plan.leave_every = draw_every(&chance, 30, lease);
	plan.wipe_every = draw_every(&chance, 40, lease);
	plan.stall_mean = chance_between(&chance, 1, 10) * lease / 10;
	plan.down_mean = chance_between(&chance, 1, 20) * lease / 20;
	if (tls)
		draw_tls(&plan);
	*ret_plan = plan;
}

/* --- the faults --- */

/* Plans the next fault of that kind, some time after `from`. */
static void again(struct colony *colony, enum fault fault, uint64_t from)
{
	const struct colony_plan *plan = &colony->plan;
	uint64_t every[FAULTS] = {
	        [FAULT_CUT] = plan->cut_every,     [FAULT_STALL] = plan->stall_every,
	        [FAULT_PAUSE] = plan->pause_every, [FAULT_KILL] = plan->kill_every,
	        [FAULT_LEAVE] = plan->leave_every, [FAULT_WIPE] = plan->wipe_every,
	        [FAULT_RENEW] = plan->renew_every};

	if (every[fault] != 0)
		colony_push(colony, from + 1 + chance_below(&colony->chance, 2 * every[fault]),
		            COLONY_FAULT, 0, fault, 0);
}

void faults_begin(struct colony *colony)
{
	for (enum fault fault = 0; fault < FAULTS; fault++)
		again(colony, fault, colony->plan.calm_ns);
}

static void stall(struct colony *colony, uint32_t from, uint32_t to, uint64_t until)
{
	colony_mark(colony, "stalls", from, to, until);
	colony->stalled[from][to] = until;
	wires_stalled(colony, from, to);
}

/* Stalls one direction, both directions, or everything that a place sends. */
static void on_stall(struct colony *colony, uint32_t place)
{
	uint32_t other = (uint32_t)chance_below(&colony->chance, colony->places_count);
	uint32_t kind = (uint32_t)chance_below(&colony->chance, 3);
	uint64_t until = colony->now + chance_below(&colony->chance, 2 * colony->plan.stall_mean);

	for (uint32_t i = 0; i < colony->places_count; i++) {
		if (kind == 2 || i == other)
			stall(colony, place, i, until);
	}
	if (kind == 1)
		stall(colony, other, place, until);
}

static void start_later(struct colony *colony, uint32_t place)
{
	colony_push(colony, colony->now + chance_below(&colony->chance, 2 * colony->plan.down_mean),
	            COLONY_START, place, 0, 0);
}

static void on_leave(struct colony *colony, struct colony_place *place)
{
	if (place->member == NULL || place->leaving)
		return;
	colony_note(colony, place->number, "is asked to leave");
	place->leaving = true;
	place->leave_until = colony->now + 2 * colony->plan.lease_ns;
	member_leave(place->member, colony_clock(colony, place->number));
	colony_push(colony, place->leave_until, COLONY_FAULT, place->number, FAULTS, 0);
	colony_push(colony, place->leave_until + 1 + colony->plan.down_mean, COLONY_START,
	            place->number, 0, 0);
	colony_pump(colony, place->number);
}

static void on_wipe(struct colony *colony, struct colony_place *place)
{
	if (!place->keeps || !disk_is_spare(colony, place->number))
		return;
	colony_kill(colony, place->number, false);
	colony_note(colony, place->number, "loses its disk");
	colony->wipes++;
	disk_make(colony, place);
	start_later(colony, place->number);
}

static void on_renew(struct colony *colony, struct colony_place *place)
{
	if (place->ca != KEYS_STRANGE)
		place->ca = place->ca == KEYS_FIRST ? KEYS_SECOND : KEYS_FIRST;
	colony_mark(colony, "renews", place->number, place->ca, 0);
	if (place->member != NULL)
		member_renew_credentials(place->member, keys_of(colony, place));
}

void faults_on_event(struct colony *colony, const struct event *event)
{
	uint32_t number = (uint32_t)chance_below(&colony->chance, colony->places_count);
	struct colony_place *place = &colony->places[number];

	/* The event FAULTS is not a fault. It only makes sure that there is a next step, in which
	 * processes that have left are ended. */
	if (colony->healing || event->number == FAULTS)
		return;
	switch ((enum fault)event->number) {
	case FAULT_CUT:
		wires_cut(colony, (uint32_t)chance_below(&colony->chance, 1000));
		break;
	case FAULT_STALL:
		on_stall(colony, number);
		break;
	case FAULT_PAUSE:
		place->paused_until =
		        colony->now + chance_below(&colony->chance, 2 * colony->plan.stall_mean);
		break;
	case FAULT_KILL:
		colony_kill(colony, number, false);
		start_later(colony, number);
		break;
	case FAULT_LEAVE:
		on_leave(colony, place);
		break;
	case FAULT_WIPE:
		on_wipe(colony, place);
		break;
	case FAULT_RENEW:
		on_renew(colony, place);
		break;
	case FAULTS:
		break;
	}
	again(colony, (enum fault)event->number, colony->now);
}

void faults_end(struct colony *colony)
{
	colony->healing = true;
	for (uint32_t i = 0; i < colony->places_count; i++) {
		colony->places[i].paused_until = 0;
		for (uint32_t k = 0; k < colony->places_count; k++) {
			if (colony->stalled[i][k] > colony->now)
				stall(colony, i, k, colony->now);
		}
		/* Processes that leave start again when they have left. */
		colony_start(colony, i);
	}
}
