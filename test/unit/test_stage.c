/* The laboratory as the page calls it: steps, acts, and the description of a moment. */

#include "registry.h"
#include "stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char neilsen[] = "algorithm=neilsen\ntopology=line\nnodes=4\nload=light\nentries=4";

static struct stage *open_stage(const char *words)
{
	struct stage *stage = stage_create(true);
	struct text wrong = {0};

	if (stage_open(stage, words, &wrong) != 0)
		fail_msg("%.*s", (int)wrong.used, wrong.bytes);
	return stage;
}

/* Returns what one of the calls writes, as a string that the caller frees. */
static char *ask(struct stage *stage, void (*call)(struct stage *, struct text *))
{
	struct text text = {0};

	call(stage, &text);
	text_add(&text, "", 1);
	return text.bytes;
}

static bool says(struct stage *stage, void (*call)(struct stage *, struct text *), const char *part)
{
	char *text = ask(stage, call);
	bool found = strstr(text, part) != NULL;

	free(text);
	return found;
}

static void test_wrong_words_are_answered_with_a_sentence(void **state)
{
	struct stage *stage = stage_create(true);
	struct text wrong = {0};

	(void)state;
	assert_int_equal(stage_open(stage, "algorithm=nielsen", &wrong), -1);
	text_add(&wrong, "", 1);
	assert_string_equal(wrong.bytes, "unknown algorithm 'nielsen': did you mean 'neilsen'?");
	text_clear(&wrong);
	static const char scenario[] = "algorithm neilsen\nnodes 3\nrequest 9\n";
	assert_int_equal(stage_open_scenario(stage, scenario, strlen(scenario), &wrong), -1);
	text_add(&wrong, "", 1);
	assert_memory_equal(wrong.bytes, "3: ", 3);
	text_free(&wrong);
	stage_destroy(stage);
}

static void test_more_nodes_than_can_be_shown_are_refused(void **state)
{
	static const char *const words[] = {"algorithm=neilsen\nnodes=61",
	                                    "algorithm=raymond\ntopology=star\nnodes=99999",
	                                    "algorithm=suzuki-kasami\nnodes=999999"};
	static const char scenario[] = "algorithm neilsen\nnodes 61\nrequest 9\n";
	static const char sentence[] = "the page shows at most 60 nodes, not ";
	struct stage *stage = stage_create(true);
	struct text wrong = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		text_clear(&wrong);
		assert_int_equal(stage_open(stage, words[i], &wrong), -1);
		assert_memory_equal(wrong.bytes, sentence, sizeof(sentence) - 1);
	}
	assert_int_equal(stage_open(stage, "algorithm=neilsen\nnodes=60", &wrong), 0);
	text_clear(&wrong);
	assert_int_equal(stage_open_scenario(stage, scenario, strlen(scenario), &wrong), -1);
	assert_non_null(memmem(wrong.bytes, wrong.used, sentence, sizeof(sentence) - 1));
	text_free(&wrong);
	stage_destroy(stage);
}

/* The page makes one step at a time, the program all at once. For every algorithm both must write
 * the same lines. */
static void test_single_steps_give_the_lines_of_the_whole(void **state)
{
	(void)state;
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		char words[128];
		bool election = algorithms[i]->kind == KIND_ELECTION;
		snprintf(words, sizeof(words), "algorithm=%s%s", algorithms[i]->name,
		         election ? "" : "\nload=poisson:0.1\nentries=20");
		struct stage *slow = open_stage(words), *fast = open_stage(words);
		struct text slow_lines = {0}, fast_lines = {0};
		uint32_t steps = 0, count;
		while ((count = stage_step(slow, 1, NULL)) != 0) {
			assert_int_equal(count, 1);
			stage_lines(slow, &slow_lines);
			steps++;
		}
		assert_int_equal(stage_step(fast, UINT32_MAX, NULL), steps);
		stage_lines(fast, &fast_lines);
		stage_finish(slow);
		stage_finish(fast);
		stage_lines(slow, &slow_lines);
		stage_lines(fast, &fast_lines);
		assert_int_equal(slow_lines.used, fast_lines.used);
		assert_memory_equal(slow_lines.bytes, fast_lines.bytes, fast_lines.used);
		assert_true(says(slow, stage_status, "\"over\":true"));
		text_free(&slow_lines);
		text_free(&fast_lines);
		stage_destroy(slow);
		stage_destroy(fast);
	}
}

static void test_acts_that_cannot_happen_change_nothing(void **state)
{
	struct stage *stage = open_stage(neilsen);
	char *before = ask(stage, stage_states);

	(void)state;
	assert_false(stage_do(stage, STAGE_REQUEST, 0, 0));
	assert_false(stage_do(stage, STAGE_REQUEST, 5, 0));
	assert_false(stage_do(stage, STAGE_RELEASE, 1, 0));
	assert_false(stage_do(stage, STAGE_DELIVER, 99, 0));
	assert_false(stage_do(stage, STAGE_LOSE, 99, 0));
	assert_false(stage_do(stage, STAGE_DELAY, 99, 1));
	assert_false(stage_do(stage, STAGE_EXPIRE, 1, 0));
	assert_false(stage_do(stage, STAGE_CRASH, 1, 0));
	char *after = ask(stage, stage_states);
	assert_string_equal(before, after);
	free(before);
	free(after);
	stage_destroy(stage);
}

static void test_a_hand_lets_a_node_enter_and_leave(void **state)
{
	struct stage *stage = open_stage(neilsen);

	(void)state;
	assert_true(stage_do(stage, STAGE_REQUEST, 2, 0));
	assert_false(stage_do(stage, STAGE_REQUEST, 2, 0));
	assert_true(
	        says(stage, stage_flights, "{\"msg\":1,\"from\":2,\"to\":1,\"type\":\"REQUEST\""));
	assert_true(stage_do(stage, STAGE_DELAY, 1, 5000000));
	assert_true(says(stage, stage_flights, "\"at\":6,"));
	assert_true(stage_do(stage, STAGE_DELIVER, 1, 0));
	assert_true(says(stage, stage_flights, "\"type\":\"PRIVILEGE\""));
	assert_true(stage_do(stage, STAGE_DELIVER, 2, 0));
	assert_true(says(stage, stage_states, "\"phase\":\"in\""));
	assert_true(stage_do(stage, STAGE_RELEASE, 2, 0));
	assert_false(says(stage, stage_states, "\"phase\":\"in\""));
	assert_true(says(stage, stage_status, "{\"steps\":4,"));
	stage_destroy(stage);
}

static void test_a_lost_token_is_told_at_that_step(void **state)
{
	static const char one[] = "{\"name\":\"one_token\",\"holds\":true}";
	struct stage *stage = open_stage(neilsen);

	(void)state;
	assert_true(stage_do(stage, STAGE_REQUEST, 2, 0));
	assert_true(stage_do(stage, STAGE_DELIVER, 1, 0));
	assert_true(says(stage, stage_properties, one));
	assert_true(stage_do(stage, STAGE_LOSE, 2, 0));
	assert_false(says(stage, stage_properties, one));
	assert_true(
	        says(stage, stage_properties, "{\"name\":\"mutual_exclusion\",\"holds\":true}"));
	stage_destroy(stage);
}

static void test_only_places_that_may_fail_crash(void **state)
{
	struct stage *bully = open_stage("algorithm=bully\nnodes=4");
	struct stage *ring = open_stage("algorithm=chang-roberts\nnodes=4");

	(void)state;
	assert_true(stage_do(bully, STAGE_CRASH, 4, 0));
	assert_false(stage_do(bully, STAGE_CRASH, 4, 0));
	assert_true(says(bully, stage_states, "\"dead\":true"));
	assert_false(stage_do(ring, STAGE_CRASH, 4, 0));
	/* Nobody can leave an election. */
	assert_false(stage_do(bully, STAGE_RELEASE, 1, 0));
	stage_destroy(bully);
	stage_destroy(ring);
}

static void test_a_scenario_tells_its_line_and_its_verdict(void **state)
{
	static const char scenario[] = "algorithm neilsen\ntopology line\nnodes 3\n"
	                               "request 2\ndeliver 2 1\nexpect 2 in\n";
	struct stage *stage = stage_create(false);
	struct text wrong = {0};

	(void)state;
	assert_int_equal(stage_open_scenario(stage, scenario, strlen(scenario), &wrong), 0);
	assert_int_equal(stage_step(stage, 1, NULL), 1);
	assert_true(says(stage, stage_status, "\"line\":4"));
	assert_int_equal(stage_step(stage, 9, NULL), 1);
	assert_true(says(stage, stage_status, "\"verdict\":\"failed\",\"failed\":6"));
	assert_true(says(stage, stage_status, "\"found\":\"waiting\""));
	/* The user may go on from there. Messages have no times here, so nothing can be delayed. */
	assert_false(stage_do(stage, STAGE_DELAY, 2, 1000000));
	assert_true(stage_do(stage, STAGE_DELIVER, 2, 0));
	assert_true(says(stage, stage_states, "\"phase\":\"in\""));
	text_free(&wrong);
	stage_destroy(stage);
}

static void test_the_catalogue_has_every_algorithm_with_its_tables(void **state)
{
	struct text json = {0};

	(void)state;
	stage_catalogue(&json);
	text_add(&json, "", 1);
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		char name[64];
		snprintf(name, sizeof(name), "{\"name\":\"%s\",\"kind\":", algorithms[i]->name);
		assert_non_null(strstr(json.bytes, name));
	}
	assert_non_null(strstr(json.bytes, "{\"name\":\"NEXT\",\"kind\":\"node\"}"));
	assert_non_null(strstr(json.bytes, "{\"name\":\"FAIL\",\"role\":\"refuses\""));
	text_free(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_wrong_words_are_answered_with_a_sentence),
	        cmocka_unit_test(test_more_nodes_than_can_be_shown_are_refused),
	        cmocka_unit_test(test_single_steps_give_the_lines_of_the_whole),
	        cmocka_unit_test(test_acts_that_cannot_happen_change_nothing),
	        cmocka_unit_test(test_a_hand_lets_a_node_enter_and_leave),
	        cmocka_unit_test(test_a_lost_token_is_told_at_that_step),
	        cmocka_unit_test(test_only_places_that_may_fail_crash),
	        cmocka_unit_test(test_a_scenario_tells_its_line_and_its_verdict),
	        cmocka_unit_test(test_the_catalogue_has_every_algorithm_with_its_tables),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
