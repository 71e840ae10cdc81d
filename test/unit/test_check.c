/*
 * The checker and the simulator on algorithms that are wrong: each must be caught, in its own way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../lib/toy.h"
#include "check.h"
#include "sim.h"

#include <stdlib.h>

/* Every node enters at once. */
static void enter_at_once(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	out_enter(out);
}

/* Asks node 1, which never answers. */
static void call_the_first(const struct site *site, void *state, struct out *out)
{
	(void)state;
	out_message(out, TOY_CALL);
	out_send(out, site->self == 1 ? 2 : 1);
}

/* Passes a message to and fro for ever. */
static int call_back(const struct site *site, void *state, const struct message *message,
                     struct out *out)
{
	(void)message;
	call_the_first(site, state, out);
	return 0;
}

static int refuse(const struct site *site, void *state, const struct message *message,
                  struct out *out)
{
	(void)site;
	(void)state;
	(void)message;
	(void)out;
	return BATON_EMESSAGE;
}

/* Enters when a timer expires. The timers of the nodes differ in length, so one node enters at a
 * time. */
static void arm(const struct site *site, void *state, struct out *out)
{
	(void)state;
	out_arm(out, 0, 2 * site->self);
}

static void enter_when_expired(const struct site *site, void *state, uint32_t timer,
                               struct out *out)
{
	struct toy *toy = state;
	(void)site;
	assert_int_equal(timer, 0);
	toy->count++;
	out_enter(out);
}

/* Does something that depends on how often it was called. */
static void count_calls(const struct site *site, void *state, struct out *out)
{
	static uint32_t calls;
	(void)site;
	(void)out;
	((struct toy *)state)->count = ++calls;
}

static bool never_one(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct toy *)state)->count != 1;
}

static int count_up(const struct site *site, void *state, const struct message *message,
                    struct out *out)
{
	(void)site;
	(void)message;
	(void)out;
	((struct toy *)state)->count++;
	return 0;
}

static const struct algorithm crowd = {TOY, .name = "crowd", .request = enter_at_once,
                                       .release = toy_nothing, .receive = toy_receive_nothing};
static const struct algorithm deaf = {TOY, .name = "deaf", .request = call_the_first,
                                      .release = toy_nothing, .receive = toy_receive_nothing};
static const struct algorithm tennis = {TOY, .name = "tennis", .request = call_the_first,
                                        .release = toy_nothing, .receive = call_back};
static const struct algorithm proud = {TOY, .name = "proud", .request = call_the_first,
                                       .release = toy_nothing, .receive = refuse};
static const struct algorithm sleepy = {TOY,
                                        .name = "sleepy",
                                        .request = arm,
                                        .release = toy_nothing,
                                        .receive = toy_receive_nothing,
                                        .expire = enter_when_expired};
static const struct algorithm moody = {TOY, .name = "moody", .request = count_calls,
                                       .release = toy_nothing, .receive = toy_receive_nothing};
static const struct algorithm counter = {
        TOY,
        .name = "counter",
        .request = call_the_first,
        .release = toy_nothing,
        .receive = count_up,
        .invariants = (const struct invariant[]){{.name = "never_one",
                                                  .meaning = "a node never counts 1",
                                                  .local = never_one},
                                                 {.name = NULL}},
};

/* Makes a network of complete links without the registry. */
static struct setup make_setup(const struct algorithm *algorithm, uint32_t nodes)
{
	return (struct setup){
	        .network = {.algorithm = algorithm,
	                    .graph = {.nodes = nodes, .complete = true},
	                    .holder = 1},
	        .topology = "complete",
	};
}

static struct check_result check(const struct algorithm *algorithm, uint32_t nodes,
                                 uint32_t entries)
{
	struct setup setup = make_setup(algorithm, nodes);
	uint32_t each[8];
	struct check_result result;

	for (uint32_t i = 0; i < nodes; i++)
		each[i] = entries;
	check_run(&(struct check_options){.setup = &setup,
	                                  .entries = each,
	                                  .states_max = 100000,
	                                  .memory_max = 1u << 30,
	                                  .threads = 1},
	          &result);
	setup_free(&setup);
	return result;
}

static void test_two_inside_are_found_after_two_requests(void **state)
{
	struct check_result result = check(&crowd, 3, 1);
	(void)state;
	assert_int_equal(result.verdict, VERDICT_MUTUAL_EXCLUSION);
	assert_int_equal(result.path_count, 2);
	assert_non_null(strstr(result.scenario,
	                       "request 1\nrequest 2\nexpect invariant mutual_exclusion\n"));
	check_result_free(&result);
}

static void test_a_deadlock_is_found_where_nothing_is_left_to_happen(void **state)
{
	struct check_result result = check(&deaf, 2, 1);
	(void)state;
	assert_int_equal(result.verdict, VERDICT_DEADLOCK);
	assert_int_equal(result.path_count, 2);
	assert_non_null(
	        strstr(result.scenario, "request 1\ndeliver 1 2 CALL  # CALL\nrun\nexpect 1 in\n"));
	check_result_free(&result);
}

static void test_a_fair_cycle_in_which_somebody_waits_is_starvation(void **state)
{
	struct check_result result = check(&tennis, 2, 1);
	(void)state;
	assert_int_equal(result.verdict, VERDICT_STARVATION);
	assert_true(result.path_cycle < result.path_count);
	assert_non_null(strstr(result.scenario,
	                       "loop  # from here on it can go on like this for ever\ndeliver"));
	check_result_free(&result);
}

/* Starvation is looked for only after all states were searched, so the other properties hold then.
 * A deadlock ends the search early, and leaves them undecided. */
static void test_what_was_not_looked_at_is_not_decided(void **state)
{
	struct network network = {.graph = {.nodes = 2}};
	struct setup setup = {.network = network};
	uint32_t entries[2] = {1, ENTRIES_UNLIMITED};
	struct check_options options = {.setup = &setup, .entries = entries};
	struct check_result starves = {.complete = true, .verdict = VERDICT_STARVATION};
	struct check_result stuck = {.complete = false, .verdict = VERDICT_DEADLOCK};
	struct check_result right = {.complete = true};

	(void)state;
	assert_int_equal(check_finding(&options, &starves, VERDICT_STARVATION), FINDING_VIOLATED);
	assert_int_equal(check_finding(&options, &starves, VERDICT_DEADLOCK), FINDING_HOLDS);
	assert_int_equal(check_finding(&options, &stuck, VERDICT_DEADLOCK), FINDING_VIOLATED);
	assert_int_equal(check_finding(&options, &stuck, VERDICT_STARVATION), FINDING_UNDECIDED);
	assert_int_equal(check_finding(&options, &stuck, VERDICT_MUTUAL_EXCLUSION),
	                 FINDING_UNDECIDED);
	assert_int_equal(check_finding(&options, &right, VERDICT_DEADLOCK), FINDING_HOLDS);
	assert_int_equal(check_finding(&options, &right, VERDICT_STARVATION), FINDING_UNDECIDED);
	entries[0] = ENTRIES_UNLIMITED;
	assert_int_equal(check_finding(&options, &right, VERDICT_STARVATION), FINDING_HOLDS);
}

static void test_a_refused_message_is_a_violation(void **state)
{
	struct check_result result = check(&proud, 2, 1);
	(void)state;
	assert_int_equal(result.verdict, VERDICT_BROKEN);
	assert_int_equal(result.path_count, 2);
	check_result_free(&result);
}

static void test_a_broken_invariant_is_named(void **state)
{
	struct check_result result = check(&counter, 4, 1);
	(void)state;
	assert_int_equal(result.verdict, VERDICT_INVARIANT);
	assert_string_equal(result.what, "never_one");
	assert_int_equal(result.path_count, 2);
	check_result_free(&result);
}

static void test_a_step_that_is_not_pure_is_noticed(void **state)
{
	struct check_result result = check(&moody, 2, 1);
	(void)state;
	assert_int_equal(result.verdict, VERDICT_BROKEN);
	assert_string_equal(result.what, "made a step that is not a function of its inputs");
	check_result_free(&result);
}

static void test_a_timer_runs_out_only_when_nothing_is_under_way(void **state)
{
	struct check_result result = check(&sleepy, 1, 2);
	(void)state;
	assert_int_equal(result.verdict, VERDICT_HOLDS);
	assert_int_equal(result.states, 7);
	check_result_free(&result);
	result = check(&sleepy, 2, 1);
	assert_int_equal(result.verdict, VERDICT_MUTUAL_EXCLUSION);
	assert_int_equal(result.path_count, 4);
	check_result_free(&result);
}

static struct sim_result simulate(const struct algorithm *algorithm, uint32_t nodes, enum load load)
{
	struct setup setup = make_setup(algorithm, nodes);
	struct sim_options options = {
	        .setup = &setup,
	        .entries = 10,
	        .seed = 1,
	        .load = load,
	        .delay = {DISTRIBUTION_CONSTANT, MILLION, 0},
	        .cs = {DISTRIBUTION_CONSTANT, MILLION, 0},
	        .bound = MILLION,
	};
	struct sim_result result;
	struct sim *sim = sim_create(&setup);

	sim_run(sim, &options, &result);
	sim_destroy(sim);
	setup_free(&setup);
	return result;
}

static void test_the_simulator_counts_what_is_wrong(void **state)
{
	(void)state;
	assert_string_equal(simulate(&crowd, 3, LOAD_HEAVY).violation,
	                    "two nodes are inside at once");
	assert_string_equal(simulate(&deaf, 3, LOAD_HEAVY).violation,
	                    "stuck: somebody waits and nothing can happen");
	assert_string_equal(simulate(&deaf, 3, LOAD_LIGHT).violation,
	                    "stuck: somebody waits and nothing can happen");
	assert_string_equal(simulate(&tennis, 3, LOAD_HEAVY).violation,
	                    "stuck: somebody waits and the token never comes");
	assert_string_equal(simulate(&proud, 3, LOAD_LIGHT).violation, "refused a message");
}

static void test_timers_run_in_virtual_time(void **state)
{
	struct sim_result result = simulate(&sleepy, 1, LOAD_HEAVY);
	(void)state;
	assert_int_equal(result.violations, 0);
	assert_int_equal(result.entries, 10);
	assert_int_equal(result.time, 30 * (uint64_t)MILLION);
	assert_int_equal(result.response_max, 2 * MILLION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_two_inside_are_found_after_two_requests),
	        cmocka_unit_test(test_a_deadlock_is_found_where_nothing_is_left_to_happen),
	        cmocka_unit_test(test_a_fair_cycle_in_which_somebody_waits_is_starvation),
	        cmocka_unit_test(test_what_was_not_looked_at_is_not_decided),
	        cmocka_unit_test(test_a_refused_message_is_a_violation),
	        cmocka_unit_test(test_a_broken_invariant_is_named),
	        cmocka_unit_test(test_a_step_that_is_not_pure_is_noticed),
	        cmocka_unit_test(test_a_timer_runs_out_only_when_nothing_is_under_way),
	        cmocka_unit_test(test_the_simulator_counts_what_is_wrong),
	        cmocka_unit_test(test_timers_run_in_virtual_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
