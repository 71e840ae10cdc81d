/*
 * Clusters of lock nodes without randomness. An entry must cost as many messages as in the
 * laboratory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cluster.h"
#include "registry.h"
#include "sim.h"

#include <string.h>

enum { NODES_MAX_HERE = 9, EVENT_UNLOCK = CLUSTER_EVENTS, ENTRIES = 150, SEED = 7 };

static const char *const names[NODES_MAX_HERE] = {"n1", "n2", "n3", "n4", "n5",
                                                  "n6", "n7", "n8", "n9"};
static const char lock[] = "lock";

/* A cluster with a session at each node. Only one session at a time asks. */
struct fixture {
	struct cluster cluster;
	uint64_t sessions[NODES_MAX_HERE];
	uint64_t sent[NODE_TYPES_MAX]; /* the counters when they were last read */
	uint64_t fence;
	bool inside;
};

static void on_effect(void *context, uint32_t place, const struct node_effect *effect)
{
	struct fixture *fixture = context;

	assert_int_equal(effect->kind, NODE_REPLY);
	assert_int_equal(effect->reply.kind, REPLY_FENCE);
	assert_int_equal(effect->reply.session, fixture->sessions[place]);
	assert_true(effect->reply.number > fixture->fence);
	assert_false(fixture->inside);
	fixture->fence = effect->reply.number;
	fixture->inside = true;
	/* Stay inside for as long as a message takes, as the simulator does. */
	cluster_push(&fixture->cluster,
	             &(struct event){.time = fixture->cluster.now + CLUSTER_MILLISECOND,
	                             .kind = EVENT_UNLOCK,
	                             .node = place});
}

static void on_event(void *context, const struct event *event)
{
	struct fixture *fixture = context;
	struct cluster *cluster = &fixture->cluster;

	assert_int_equal(event->kind, EVENT_UNLOCK);
	assert_int_equal(node_unlock(cluster->places[event->node].node,
	                             fixture->sessions[event->node], lock, strlen(lock),
	                             fixture->fence, cluster->now),
	                 1);
	fixture->inside = false;
	cluster_after(cluster, event->node);
}

static void on_told(void *context, uint32_t place)
{
	(void)context;
	(void)place;
}

static void on_wrong(void *context, const char *what)
{
	(void)context;
	fail_msg("%s", what);
}

static void run_until_quiet(struct fixture *fixture)
{
	while (cluster_step(&fixture->cluster))
		assert_true(fixture->cluster.events < 10000000);
	assert_int_equal(fixture->cluster.frames_flying, 0);
}

static void set_up(struct fixture *fixture, const struct algorithm *algorithm, const char *topology,
                   uint32_t nodes)
{
	struct cluster_options options = {
	        .node = {.algorithm = algorithm,
	                 .topology = topology,
	                 .seed = SEED,
	                 .idle_hop_ns = CLUSTER_MILLISECOND},
	        .names = names,
	        .places_count = nodes,
	        .delay = {DISTRIBUTION_CONSTANT, CLUSTER_MILLISECOND, 0},
	        .delay_max = CLUSTER_MILLISECOND,
	        .watch = {fixture, on_effect, on_event, on_told, on_wrong},
	};

	memset(fixture, 0, sizeof(*fixture));
	cluster_init(&fixture->cluster, &options);
	for (uint32_t i = 0; i < nodes; i++)
		cluster_start(&fixture->cluster, i);
	cluster_decide(&fixture->cluster, 1, (1U << nodes) - 1);
	for (uint32_t i = 0; i < nodes; i++) {
		cluster_tell(&fixture->cluster, i, 1);
		fixture->sessions[i] =
		        node_session_open(fixture->cluster.places[i].node,
		                          &(struct node_client){.pid = i}, fixture->cluster.now);
	}
	run_until_quiet(fixture);
}

static void ask(struct fixture *fixture, uint32_t place)
{
	assert_int_equal(node_lock(fixture->cluster.places[place].node, fixture->sessions[place],
	                           lock, strlen(lock), NODE_WAIT, 0, fixture->cluster.now),
	                 0);
	cluster_after(&fixture->cluster, place);
}

/* Counts the algorithm's messages so far, except those sent before any request. */
static uint64_t count_sent(const struct fixture *fixture, uint64_t *ret_by_type)
{
	const struct cluster_options *options = &fixture->cluster.options;
	uint64_t sum = 0;

	memset(ret_by_type, 0, NODE_TYPES_MAX * sizeof(*ret_by_type));
	for (uint32_t i = 0; i < options->places_count; i++) {
		struct node_figures figures;
		node_figures(fixture->cluster.places[i].node, &figures);
		for (size_t k = 0; k < options->node.algorithm->messages_count; k++) {
			if (options->node.algorithm->messages[k].init)
				continue;
			ret_by_type[k] += figures.sent_by_type[k];
			sum += figures.sent_by_type[k];
		}
	}
	return sum;
}

/* Runs the same work in the laboratory. */
static void simulate(const struct algorithm *algorithm, const char *topology, uint32_t nodes,
                     uint32_t holder, struct sim_result *ret_result)
{
	struct setup_words words = {.algorithm = algorithm->name,
	                            .topology = topology,
	                            .nodes = nodes,
	                            .holder = holder,
	                            .seed = SEED};
	struct problem problem;
	struct setup setup;

	if (setup_make(&words, &setup, &problem) != 0)
		fail_msg("%s", problem.text);
	struct sim *sim = sim_create(&setup);
	struct sim_options options = {
	        .setup = &setup,
	        .entries = ENTRIES,
	        .seed = SEED,
	        .load = LOAD_LIGHT,
	        .delay = {DISTRIBUTION_CONSTANT, MILLION, 0},
	        .cs = {DISTRIBUTION_CONSTANT, MILLION, 0},
	        .bound = MILLION,
	};
	sim_run(sim, &options, ret_result);
	assert_int_equal(ret_result->violations, 0);
	sim_destroy(sim);
	setup_free(&setup);
}

static void compare(const struct algorithm *algorithm, const char *topology, uint32_t nodes)
{
	struct fixture fixture;
	struct sim_result expected;
	struct random random;
	uint64_t by_type[NODE_TYPES_MAX], before = 0, least = UINT64_MAX, most = 0;

	set_up(&fixture, algorithm, topology, nodes);
	simulate(algorithm, topology, nodes,
	         node_home(fixture.cluster.places[0].node, lock, strlen(lock)), &expected);
	/* Delays are constant, so that the simulator draws only who asks next. */
	random_seed(&random, SEED);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		ask(&fixture, (uint32_t)random_below(&random, nodes));
		run_until_quiet(&fixture);
		uint64_t sent = count_sent(&fixture, by_type);
		least = sent - before < least ? sent - before : least;
		most = sent - before > most ? sent - before : most;
		before = sent;
	}
	if (before != expected.messages || least != expected.entry.all.min ||
	    most != expected.entry.all.max)
		fail_msg("%s, %s of %u: %llu messages, %llu to %llu an entry, and the simulator "
		         "says %llu, %llu to %llu",
		         algorithm->name, topology, nodes, (unsigned long long)before,
		         (unsigned long long)least, (unsigned long long)most,
		         (unsigned long long)expected.messages,
		         (unsigned long long)expected.entry.all.min,
		         (unsigned long long)expected.entry.all.max);
	for (size_t i = 0; i < algorithm->messages_count; i++)
		assert_int_equal(by_type[i], expected.messages_by_type[i]);
	cluster_free(&fixture.cluster);
}

static void test_an_entry_costs_what_the_simulator_says(void **state)
{
	static const char *const trees[] = {"line", "tree:2", "radiating:3", NULL};
	static const char *const graphs[] = {"complete", "ring", "line", "tree:2", NULL};
	static const uint32_t sizes[] = {1, 2, 3, 5, 9};

	(void)state;
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		const struct algorithm *algorithm = algorithms[i];
		const char *const *more = algorithm->shape == GRAPH_TREE        ? trees
		                          : algorithm->links == GRAPH_CONNECTED ? graphs
		                                                                : graphs + 4;
		/* A circulating token is slowed and parked: see the test below. */
		if (algorithm->kind != KIND_MUTEX || algorithm->circulates)
			continue;
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			compare(algorithm, algorithm->topology, sizes[k]);
			for (size_t j = 0; more[j] != NULL; j++)
				compare(algorithm, more[j], sizes[k]);
		}
	}
}

/* A parked token comes straight to the node that asks, hop by hop. Afterwards it goes round only as
 * often as the home needs to learn that nobody wants it. */
static void test_a_parked_token_comes_straight(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 9};

	(void)state;
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		const struct algorithm *algorithm = algorithms[i];
		struct fixture fixture;
		if (algorithm->kind != KIND_MUTEX || !algorithm->circulates)
			continue;
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			uint32_t nodes = sizes[k];
			struct random random;
			set_up(&fixture, algorithm, "ring", nodes);
			uint32_t home =
			        node_home(fixture.cluster.places[0].node, lock, strlen(lock));
			random_seed(&random, SEED);
			for (uint32_t entry = 0; entry < ENTRIES; entry++) {
				uint64_t by_type[NODE_TYPES_MAX], after[NODE_TYPES_MAX];
				uint32_t place = (uint32_t)random_below(&random, nodes);
				uint32_t hops = (place + nodes - (home - 1)) % nodes;
				count_sent(&fixture, by_type);
				ask(&fixture, place);
				while (!fixture.inside)
					assert_true(cluster_step(&fixture.cluster));
				count_sent(&fixture, after);
				/* Before the first request the token has not set out, and goes
				 * round to its home once. */
				if (entry == 0 && hops == 0 && nodes > 1)
					hops = nodes;
				assert_int_equal(after[0] - by_type[0], hops);
				run_until_quiet(&fixture);
				count_sent(&fixture, after);
				assert_in_range(after[0] - by_type[0], hops,
				                nodes == 1 ? 0 : hops + 3 * nodes);
			}
			cluster_free(&fixture.cluster);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_an_entry_costs_what_the_simulator_says),
	        cmocka_unit_test(test_a_parked_token_comes_straight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
