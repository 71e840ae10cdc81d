#include "plan.h"

#include "host.h"
#include "registry.h"
#include "setup.h"

#include <stdlib.h>
#include <string.h>

static uint32_t draw(struct random *random, uint32_t least, uint32_t most)
{
	return least + (uint32_t)random_below(random, most - least + 1);
}

static bool chance(struct random *random, uint32_t percent)
{
	return random_below(random, 100) < percent;
}

static const struct algorithm *draw_algorithm(struct random *random)
{
	uint32_t count = 0;

	while (algorithms[count]->kind == KIND_MUTEX)
		count++;
	return algorithms[random_below(random, count)];
}

/* Draws a topology that suits the algorithm. A topology with a fixed number of nodes also meets
 * views that do not suit it. */
static const char *draw_topology(struct random *random, const struct algorithm *algorithm)
{
	static const char *const some[][10] = {
	        [GRAPH_COMPLETE] = {"complete"},
	        [GRAPH_STAR] = {"star", "star", "complete"},
	        [GRAPH_RING] = {"ring"},
	        [GRAPH_TREE] = {"star", "line", "tree:2", "tree:3", "radiating:2", "radiating:3",
	                        "grid:1x4"},
	        [GRAPH_CONNECTED] = {"complete", "ring", "line", "star", "random:2", "random:2.5",
	                             "random:3.2", "tree:2", "grid:2x3",
	                             "edges:1-2,2-3,3-4,4-1,1-3"},
	};
	enum graph_class class =
	        algorithm->shape != GRAPH_NONE ? algorithm->shape : algorithm->links;
	uint32_t count = 0;

	while (count < sizeof(*some) / sizeof(**some) && some[class][count] != NULL)
		count++;
	return some[class][random_below(random, count)];
}

/* Draws the algorithm's parameters. Those that break it, such as errors of the published text, keep
 * their defaults, because the service refuses them. Parameters that are texts keep theirs too. */
static void draw_parameters(struct random *random, struct plan *plan)
{
	const struct parameter *parameter = plan->algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		uint32_t count = 1;
		if (parameter[i].choices == NULL) {
			plan->parameters[i] = parameter[i].initial;
			if (!parameter[i].breaks && chance(random, 50))
				plan->parameters[i] = parameter[i].least + random_below(random, 4);
			if (plan->parameters[i] > parameter[i].most)
				plan->parameters[i] = parameter[i].most;
			continue;
		}
		while (parameter[i].choices[count].name != NULL)
			count++;
		if (parameter[i].takes_text || parameter[i].breaks ||
		    strcmp(parameter[i].name, "text") == 0)
			count = 1;
		plan->parameters[i] = parameter[i].choices[random_below(random, count)].value;
	}
}

/* Returns about the time that a message takes. Holding, waiting and faults are scaled by it. */
static uint64_t draw_delay(struct random *random, struct plan *plan)
{
	static const struct distribution some[] = {
	        {DISTRIBUTION_CONSTANT, 0, 0},
	        {DISTRIBUTION_CONSTANT, CLUSTER_MILLISECOND, 0},
	        {DISTRIBUTION_UNIFORM, 0, 4 * CLUSTER_MILLISECOND},
	        {DISTRIBUTION_UNIFORM, CLUSTER_MILLISECOND, 30 * CLUSTER_MILLISECOND},
	        {DISTRIBUTION_EXPONENTIAL, 2 * CLUSTER_MILLISECOND, 0},
	        {DISTRIBUTION_EXPONENTIAL, 20 * CLUSTER_MILLISECOND, 0},
	        {DISTRIBUTION_UNIFORM, 0, 700 * CLUSTER_MILLISECOND},
	        {DISTRIBUTION_EXPONENTIAL, 300 * CLUSTER_MILLISECOND, 0},
	};
	/* The last two patterns take long, so they are rarer. */
	uint32_t which = draw(random, 0, chance(random, 75) ? 5 : 7);

	plan->delay = some[which];
	plan->delay_max = distribution_bound(&plan->delay);
	uint64_t mean = distribution_mean(&plan->delay);
	return mean > CLUSTER_MILLISECOND ? mean : CLUSTER_MILLISECOND;
}

static void draw_work(struct random *random, uint64_t unit, struct plan *plan)
{
	static const uint32_t thinking[] = {0, 1, 5, 40}, holding[] = {0, 1, 4, 30};
	uint32_t think = thinking[random_below(random, 4)], hold = holding[random_below(random, 4)];

	plan->think = (struct distribution){DISTRIBUTION_EXPONENTIAL, think * unit + unit / 10, 0};
	plan->hold = (struct distribution){DISTRIBUTION_EXPONENTIAL, hold * unit + unit / 10, 0};
	plan->clients_count = draw(random, 1, chance(random, 50) ? 6 : PLAN_CLIENTS_MAX);
	plan->actions = draw(random, 50, chance(random, 80) ? 400 : 1500);
	plan->one_place_percent = chance(random, 30) ? draw(random, 30, 100) : 0;
	plan->one_lock_percent = chance(random, 60) ? draw(random, 20, 100) : 0;
	plan->others_percent = chance(random, 70) ? draw(random, 5, 50) : 0;
}

static void draw_faults(struct random *random, uint64_t unit, struct plan *plan)
{
	static const uint32_t often[] = {15, 40, 120, 400}, telling[] = {0, 1, 5, 30};

	if (chance(random, 60))
		plan->stall_every = unit * often[random_below(random, 4)];
	plan->stall_mean = unit * draw(random, 1, 60);
	if (chance(random, 75))
		plan->view_every = unit * often[random_below(random, 4)];
	if (chance(random, 40))
		plan->crash_every = unit * often[1 + random_below(random, 3)];
	plan->tell = (struct distribution){DISTRIBUTION_EXPONENTIAL,
	                                   unit * telling[random_below(random, 4)], 0};
	plan->forget_percent = chance(random, 30) ? 0 : chance(random, 40) ? 100 : 50;
	plan->tick_late_max = chance(random, 20) ? unit * draw(random, 1, 5) : 0;
}

/* Draws limits so narrow that they are reached. But the table of locks must have room for
 * everything that all clients want at a time; otherwise the run would never finish. */
static void draw_limits(struct random *random, struct plan *plan)
{
	if (chance(random, 25))
		plan->limits.backlog_bytes = draw(random, 1, 400);
	if (chance(random, 20))
		plan->limits.locks = plan->clients_count * 4;
	if (chance(random, 10))
		plan->limits.waiters = draw(random, 1, 3);
	if (chance(random, 10))
		plan->limits.subscriptions = draw(random, 1, 2);
	if (chance(random, 10))
		plan->limits.leaders = draw(random, 1, 2);
	if (chance(random, 5))
		plan->limits.sessions = draw(random, 1, 3);
	if (chance(random, 10))
		plan->floor = NODE_COUNTER_MAX - draw(random, 1, 12);
}

static int choose_network(const struct plan_words *words, struct random *random, struct plan *plan,
                          struct problem *problem)
{
	const char *drawn_topology;
	struct topology topology;

	plan->algorithm = draw_algorithm(random);
	if (words->algorithm != NULL)
		plan->algorithm = setup_algorithm(words->algorithm, problem);
	if (plan->algorithm == NULL)
		return -1;
	if (plan->algorithm->kind != KIND_MUTEX)
		return problem_set(problem,
		                   "%s is an election: a mutual exclusion algorithm is needed",
		                   plan->algorithm->name);
	drawn_topology = draw_topology(random, plan->algorithm);
	if (words->topology != NULL)
		drawn_topology = words->topology;
	if (strlen(drawn_topology) >= sizeof(plan->topology))
		return problem_set(problem, "topology '%.60s…': at most %d characters fit",
		                   drawn_topology, PLAN_TOPOLOGY_MAX - 1);
	memcpy(plan->topology, drawn_topology, strlen(drawn_topology) + 1);
	const char *wrong = topology_parse(plan->topology, &topology);
	if (wrong != NULL)
		return problem_set(problem, "topology '%s': %s", plan->topology, wrong);
	plan->fixed = topology_nodes(&topology);
	plan->places_count = draw(random, 1, PLAN_NODES_MAX);
	if (words->nodes != 0)
		plan->places_count = words->nodes;
	if (plan->fixed > PLAN_NODES_MAX || (words->nodes != 0 && words->nodes < plan->fixed))
		return problem_set(problem, "topology '%s' needs %u nodes", plan->topology,
		                   plan->fixed);
	if (plan->places_count < plan->fixed)
		plan->places_count = plan->fixed;
	/* Check with the most nodes: except for the smallest sizes, whether a graph suits the
	 * algorithm does not depend on the number of nodes. */
	struct setup_words asked = {
	        .host = host_here(),
	        .algorithm = plan->algorithm->name,
	        .topology = plan->topology,
	        .nodes = plan->fixed != 0 ? plan->fixed : PLAN_NODES_MAX,
	};
	struct setup setup;
	if (setup_make(&asked, &setup, problem) != 0)
		return -1;
	setup_free(&setup);
	draw_parameters(random, plan);
	return 0;
}

int plan_make(const struct plan_words *words, struct plan *ret_plan, struct problem *problem)
{
	static const uint64_t hops[] = {0, CLUSTER_MILLISECOND, 10 * CLUSTER_MILLISECOND,
	                                100 * CLUSTER_MILLISECOND};
	struct plan plan = {.seed = words->seed};
	struct random random;

	random_seed(&random, words->seed);
	if (choose_network(words, &random, &plan, problem) != 0)
		return -1;
	plan.locks_count = draw(&random, 1, chance(&random, 60) ? 4 : PLAN_LOCKS_MAX);
	if (words->locks != 0)
		plan.locks_count = words->locks;
	plan.turns = chance(&random, 60) ? 1 : draw(&random, 2, 4);
	uint64_t hop = hops[random_below(&random, 4)];
	plan.epoch = chance(&random, 50) ? 1 : draw(&random, 2, 100000);
	uint64_t unit = draw_delay(&random, &plan);
	/* Without a pause a token could go round forever while no time passes. */
	plan.idle_hop = plan.delay_max == 0 && hop == 0 ? CLUSTER_MILLISECOND : hop;
	draw_work(&random, unit, &plan);
	draw_faults(&random, unit, &plan);
	draw_limits(&random, &plan);
	*ret_plan = plan;
	return 0;
}
