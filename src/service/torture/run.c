#include "run.h"
#include "memory.h"

#include "faults.h"
#include "judge.h"
#include "random_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void on_effect(void *context, uint32_t place, const struct node_effect *effect)
{
	struct run *run = context;

	switch (effect->kind) {
	case NODE_REPLY:
	case NODE_EVENT:
	case NODE_LOST:
		visitor_effect(run, place, effect);
		break;
	case NODE_BUMP:
		cluster_note(&run->cluster,
		             &(struct note){NOTE_BUMP, place, effect->bump.epoch, 0, 0, NULL, 0});
		judge_disturbed(run, run->cluster.now);
		faults_bump(run, effect->bump.epoch);
		break;
	case NODE_STOP:
		cluster_note(&run->cluster,
		             &(struct note){NOTE_STOP, place, 0, 0, 0, effect->stop.why,
		                            strlen(effect->stop.why)});
		run_wrong(run, "%s stops: %s", run->cluster.places[place].name, effect->stop.why);
		break;
	case NODE_SHOUT:
		run_wrong(run, "%s", effect->shout.text);
		break;
	case NODE_SEND:
	case NODE_READ:
	case NODE_RENEW:
	case NODE_WARN:
	case NODE_EXTEND:
	case NODE_DEPART:
		must(false);
	}
}

static void on_event(void *context, const struct event *event)
{
	struct run *run = context;

	if (event->kind == EVENT_CLIENT)
		visitor_on_event(run, event);
	else
		faults_on_event(run, event);
}

static void on_told(void *context, uint32_t place)
{
	judge_told(context, place);
}

static void on_wrong(void *context, const char *what)
{
	run_wrong(context, "%s", what);
}

/* --- the acts --- */

static void begin_act(struct run *run, enum act act, const char *name)
{
	run->act = act;
	cluster_note(&run->cluster,
	             &(struct note){NOTE_ACT, CLUSTER_NOWHERE, 0, 0, 0, name, strlen(name)});
}

static bool step(struct run *run)
{
	if (run->result->failed || !cluster_step(&run->cluster))
		return false;
	judge_after_event(run);
	return !run->result->failed;
}

static void act_of_faults(struct run *run)
{
	/* The first act ends after this many steps without any action: perhaps all clients wait for
	 * something that comes only when the faults end. */
	enum { FUTILE_MAX = 2000 };
	uint64_t actions = 0, futile = 0;

	begin_act(run, ACT_FAULTS, "faults");
	faults_begin(run);
	for (uint32_t i = 0; i < run->clients_count; i++)
		visitor_wake(run, i, distribution_draw(&run->plan->think, &run->random));
	while (run->actions < run->plan->actions && futile < FUTILE_MAX && step(run)) {
		futile = run->actions == actions ? futile + 1 : 0;
		actions = run->actions;
	}
}

/* Runs until nothing happens any more. */
static void settle(struct run *run)
{
	enum { EVENTS_MAX = 200000 };

	for (uint32_t events = 0; step(run); events++) {
		if (events == EVENTS_MAX)
			run_wrong(run, "nobody asks for anything any more, but the cluster does "
			               "not come to rest");
	}
	if (run->result->failed)
		return;
	judge_served(run);
	judge_quiet(run);
}

static void act_of_healing(struct run *run)
{
	begin_act(run, ACT_HEAL, "healing");
	faults_heal(run);
	settle(run);
}

/* A new client at every place asks for some of the locks. The first of them also subscribes to
 * everything. In the last round every client that is left asks for one lock with NOWAIT. */
static void act_of_probing(struct run *run)
{
	enum { ROUNDS = 4 };
	static const struct visitor_subscription everything = {.pattern = true, .text = "*"};
	uint32_t first = run->clients_count;

	begin_act(run, ACT_PROBE, "probing");
	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		if (place_lives(run, i))
			visitor_open(run, run->clients_count++, i);
	}
	if (run->clients[first].session != 0)
		visitor_subscribe(run, first, &everything);
	settle(run);
	for (uint32_t round = 0; round < ROUNDS && !run->result->failed; round++) {
		uint32_t lock = round == 0 ? 0 : run_draw(run, run->plan->locks_count);
		bool last = round + 1 == ROUNDS;
		for (uint32_t i = last ? 0 : first; i < run->clients_count; i++) {
			if (run->clients[i].session != 0)
				visitor_lock(run, i, lock, last ? NODE_NOWAIT : NODE_WAIT, 0);
		}
		settle(run);
	}
}

/* Begins a new epoch while nobody wants anything, and checks that nothing is left over from the old
 * one. */
static void act_of_ending(struct run *run)
{
	begin_act(run, ACT_END, "ending");
	for (uint32_t i = 0; i < run->clients_count; i++) {
		if (run->clients[i].session != 0)
			visitor_close(run, i);
	}
	settle(run);
	if (run->result->failed)
		return;
	faults_bump(run, cluster_latest(&run->cluster)->epoch);
	settle(run);
	judge_empty(run);
}

static void name_places(const struct plan *plan, struct random *random, const char **ret_names)
{
	static const char *const names[] = {"ant", "bee", "crow", "dog", "elk",
	                                    "fox", "gnu", "hare", "ibis"};
	_Static_assert(sizeof(names) / sizeof(*names) == PLAN_NODES_MAX, "a name for each place");

	/* The order of the names differs from that of the places. */
	for (uint32_t i = 0; i < plan->places_count; i++) {
		uint32_t k = (uint32_t)random_below(random, i + 1);
		ret_names[i] = names[i];
		ret_names[i] = ret_names[k];
		ret_names[k] = names[i];
	}
}

void run_plan(const struct plan *plan, FILE *text, struct run_result *ret_result)
{
	struct run *run = calloc(1, sizeof(*run));
	const char *names[PLAN_NODES_MAX];

	memory_must(run != NULL);
	*ret_result = (struct run_result){0};
	run->plan = plan;
	run->result = ret_result;
	run->clients_count = plan->clients_count;
	random_seed(&run->random, plan->seed ^ UINT64_C(0x5bd1e995));
	name_places(plan, &run->random, names);
	struct cluster_options options = {
	        .node =
	                {
	                        .cluster = plan->seed,
	                        .algorithm = plan->algorithm,
	                        .topology = plan->topology,
	                        .seed = plan->seed,
	                        .parameters = plan->parameters,
	                        .turns = plan->turns,
	                        .idle_hop_ns = plan->idle_hop,
	                        .limits = plan->limits,
	                },
	        .floor = plan->floor,
	        .names = names,
	        .places_count = plan->places_count,
	        .delay = plan->delay,
	        .delay_max = plan->delay_max,
	        .tick_late_max = plan->tick_late_max,
	        .forget_percent = plan->forget_percent,
	        .seed = plan->seed,
	        .text = text,
	        .watch = {run, on_effect, on_event, on_told, on_wrong},
	};
	cluster_init(&run->cluster, &options);
	judge_init(run);
	act_of_faults(run);
	if (!ret_result->failed)
		act_of_healing(run);
	if (!ret_result->failed)
		act_of_probing(run);
	if (!ret_result->failed)
		act_of_ending(run);
	ret_result->hash = journal_hash(run->cluster.journal);
	ret_result->events = run->cluster.events;
	ret_result->views = run->cluster.views_count;
	ret_result->refusals = run->cluster.refusals;
	for (uint32_t i = 0; i < run->clients_count; i++)
		visitor_forget(&run->clients[i]);
	cluster_free(&run->cluster);
	judge_free(run);
	free(run);
}
