/*
 * Scenarios: what the parser makes of a text, and what it says if the text is wrong.
 */
#include "host.h"
#include "scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Parses the text and makes the network. Returns what is wrong with it, or "right". */
static const char *judge_bytes(const char *bytes, size_t size)
{
	static char text[1024];
	struct scenario scenario;
	struct problem problem;
	struct setup setup;
	uint32_t line;

	if (scenario_parse(bytes, size, &scenario, &line, &problem) != 0) {
		snprintf(text, sizeof(text), "%u: %s", line, problem.text);
		return text;
	}
	scenario.words.host = host_here();
	int wrong = scenario_setup(&scenario, &setup, &line, &problem);
	scenario_free(&scenario);
	if (wrong == 0) {
		setup_free(&setup);
		return "right";
	}
	snprintf(text, sizeof(text), "%u: %s", line, problem.text);
	return text;
}

static const char *judge(const char *text)
{
	return judge_bytes(text, strlen(text));
}

#define NEILSEN "algorithm neilsen\ntopology line\nnodes 3\n"
#define BULLY "algorithm bully\nnodes 3\n"

static struct scenario parsed(const char *text)
{
	struct scenario scenario;
	struct problem problem;
	uint32_t line;

	if (scenario_parse(text, strlen(text), &scenario, &line, &problem) != 0)
		fail_msg("%u: %s", line, problem.text);
	return scenario;
}

static void test_header_becomes_words(void **state)
{
	(void)state;
	struct scenario scenario =
	        parsed("# a comment\n\nfifo\nnodes 4 # four\nalgorithm bully\nparam init=wave\n"
	               "topology edges:1-2,2-3\nholder 2\nparam x=y=z\narrangement 3,1,2\n"
	               "crash 4,5\n");

	assert_string_equal(scenario.words.algorithm, "bully");
	assert_string_equal(scenario.words.topology, "edges:1-2,2-3");
	assert_int_equal(scenario.words.nodes, 4);
	assert_int_equal(scenario.words.holder, 2);
	assert_int_equal(scenario.words.order, ORDER_FIFO);
	assert_int_equal(scenario.words.seed, 1);
	assert_int_equal(scenario.words.parameters_count, 2);
	assert_string_equal(scenario.words.parameters[0], "init=wave");
	assert_string_equal(scenario.words.parameters[1], "x=y=z");
	assert_string_equal(scenario.words.arrangement, "3,1,2");
	assert_string_equal(scenario.words.crash, "4,5");
	assert_int_equal(scenario.lines[HEADER_ALGORITHM], 5);
	assert_int_equal(scenario.lines[HEADER_CRASH], 11);
	assert_int_equal(scenario.steps_count, 0);
	scenario_free(&scenario);
}

static void test_every_step_parses(void **state)
{
	(void)state;
	struct scenario scenario = parsed(
	        "algorithm a\r\n\r\nrequest 1 # one\r\n\tdeliver  1\t2 REQUEST #3\r\n"
	        "drop 1 2 #2\ndrop 1 2 # 2\nexpire 4 7\nexpire 4\nrelease 5\ninitiate 6\nrun");
	const struct step *step = scenario.steps;

	assert_int_equal(scenario.steps_count, 9);
	assert_int_equal(step[0].kind, STEP_REQUEST);
	assert_int_equal(step[0].line, 3);
	assert_int_equal(step[0].node, 1);
	assert_int_equal(step[1].kind, STEP_DELIVER);
	assert_int_equal(step[1].line, 4);
	assert_int_equal(step[1].node, 1);
	assert_int_equal(step[1].to, 2);
	assert_string_equal(step[1].name, "REQUEST");
	assert_int_equal(step[1].number, 3);
	assert_int_equal(step[2].kind, STEP_DROP);
	assert_int_equal(step[2].number, 2);
	assert_null(step[2].name);
	assert_int_equal(step[3].number, 1); /* "# 2" is a comment */
	assert_int_equal(step[4].kind, STEP_EXPIRE);
	assert_true(step[4].has_number);
	assert_int_equal(step[4].number, 7);
	assert_false(step[5].has_number);
	assert_int_equal(step[6].kind, STEP_RELEASE);
	assert_int_equal(step[7].kind, STEP_INITIATE);
	assert_int_equal(step[8].kind, STEP_RUN);
	assert_int_equal(step[8].line, 11);
	for (size_t i = 0; i < scenario.steps_count; i++)
		assert_false(step_expects(&step[i]));
	scenario_free(&scenario);
}

static void test_every_expectation_parses(void **state)
{
	(void)state;
	struct scenario scenario = parsed(
	        "algorithm a\nexpect 1 in\nexpect 2 waiting\nexpect 3 idle\nexpect 4 leaving\n"
	        "expect 5 leader\nexpect 6 RN=[-1,0,2] state=\"a # b\" x=null\n"
	        "expect flight 7 8 TOKEN\nexpect flight 7 8 TOKEN x0\nexpect messages 9\n"
	        "expect leader 10\nexpect invariant tidy\nexpect invariant one_token\n"
	        "expect invariant mutual_exclusion\nexpect invariant unique_leader\n"
	        "expect invariant agreement\nexpect invariant termination\n");
	static const enum step_kind kinds[] = {
	        STEP_EXPECT_PHASE,
	        STEP_EXPECT_PHASE,
	        STEP_EXPECT_PHASE,
	        STEP_EXPECT_PHASE,
	        STEP_EXPECT_LEADS,
	        STEP_EXPECT_VARIABLES,
	        STEP_EXPECT_FLIGHT,
	        STEP_EXPECT_FLIGHT,
	        STEP_EXPECT_MESSAGES,
	        STEP_EXPECT_LEADER,
	        STEP_EXPECT_INVARIANT,
	        STEP_EXPECT_ONE_TOKEN,
	        STEP_EXPECT_MUTUAL_EXCLUSION,
	        STEP_EXPECT_UNIQUE_LEADER,
	        STEP_EXPECT_AGREEMENT,
	        STEP_EXPECT_TERMINATION,
	};
	const struct step *step = scenario.steps;

	assert_int_equal(scenario.steps_count, sizeof(kinds) / sizeof(*kinds));
	for (size_t i = 0; i < scenario.steps_count; i++) {
		assert_int_equal(step[i].kind, kinds[i]);
		assert_true(step_expects(&step[i]));
	}
	assert_int_equal(step[0].phase, PHASE_INSIDE);
	assert_int_equal(step[1].phase, PHASE_WAITING);
	assert_int_equal(step[3].phase, PHASE_LEAVING);
	assert_int_equal(step[5].variables_count, 3);
	assert_string_equal(step[5].variables[1].name, "state");
	assert_string_equal(step[5].variables[1].value, "\"a # b\"");
	assert_false(step[6].has_number);
	assert_true(step[7].has_number);
	assert_int_equal(step[7].number, 0);
	assert_int_equal(step[9].number, 10);
	scenario_free(&scenario);
}

static void test_the_text_of_fail_keeps_blanks_and_hashes(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
	        {"fail \"no way # out\"  # a comment", "no way # out"},
	        {"fail \"say \\\"no\\\" \\\\\"", "say \"no\" \\"},
	        {"fail \"\"", ""},
	        {"fail \"déjà vu\"", "déjà vu"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256];
		snprintf(text, sizeof(text), NEILSEN "%s", cases[i].line);
		struct scenario scenario = parsed(text);
		assert_int_equal(scenario.steps[0].kind, STEP_FAIL);
		assert_string_equal(scenario.steps[0].name, cases[i].text);
		scenario_free(&scenario);
	}
}

static void test_bad_text_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *verdict;
	} cases[] = {
	        {"", "1: no algorithm"},
	        {"\n\n# nothing\n", "3: no algorithm"},
	        {"nodes 3\nrequest 1\n", "2: no algorithm"},
	        {NEILSEN "algorithm neilsen\n", "4: a second 'algorithm': the first is on line 1"},
	        {NEILSEN "fifo\nfifo\n", "5: 'fifo': fifo or reorder was given on line 4"},
	        {BULLY "crash 1\ncrash 2\n", "4: a second 'crash': the first is on line 3"},
	        {BULLY "crash\n", "3: something is missing: the form is 'crash 4,5'"},
	        {BULLY "crash 1 2\n", "3: too much: the form is 'crash 4,5'"},
	        {NEILSEN "crash\n", "4: something is missing: the form is 'crash I'"},
	        {"algorithm chang-roberts\nnodes 3\nrun\ncrash 1\n",
	         "4: chang-roberts assumes that nobody fails"},
	        {BULLY "run\nrestart 1\n", "4: bully is an election: its nodes do not begin again"},
	        {NEILSEN "duplicate 1\n",
	         "4: something is missing: the form is 'duplicate A B [TYPE] [#K]'"},
	        {NEILSEN "run\ncrash 1,2\n", "5: node '1,2': a whole number from 1"},
	        {NEILSEN "run\nholder 1\n",
	         "5: 'holder' belongs in the header, before the first step (line 4)"},
	        {NEILSEN "reqest 1\n", "4: unknown keyword 'reqest': did you mean 'request'?"},
	        {NEILSEN "zzzzzzz 1\n", "4: unknown keyword 'zzzzzzz': a step is request"},
	        {NEILSEN "request\n", "4: something is missing: the form is 'request I'"},
	        {NEILSEN "run 1\n", "4: too much: the form is 'run'"},
	        {NEILSEN "request -1\n", "4: node '-1'"},
	        {NEILSEN "request 18446744073709551617\n", "4: node '18446744073709551617'"},
	        {NEILSEN "request 1#2\n", "4: node '1#2'"},
	        {NEILSEN "deliver 1 2 REQUEST x\n", "4: unexpected 'x': the form is"},
	        {NEILSEN "deliver 1 2 #1 #2\n", "4: unexpected '#2'"},
	        {NEILSEN "deliver 1 2 #0\n", "4: #K"},
	        {NEILSEN "fail text\n", "4: the text of fail stands in double quotes"},
	        {NEILSEN "fail \"\n", "4: a quotation mark is not closed"},
	        {NEILSEN "fail \"a\\\"\n", "4: a quotation mark is not closed"},
	        {NEILSEN "fail \"a\tb\"\n", "4: control character 0x09"},
	        {NEILSEN "fail \"\x80\"\n", "4: this is not UTF-8 text"},
	        {NEILSEN "expect\n", "4: something is missing: the form is 'expect …'"},
	        {NEILSEN "expect 1\n", "4: something is missing"},
	        {NEILSEN "expect 1 im\n", "4: unknown expectation 'im': did you mean 'in'?"},
	        {NEILSEN "expect 1 in now\n", "4: unexpected 'now' after 'expect 1 in'"},
	        {NEILSEN "expect 1 NEXT=0 in\n", "4: 'in': VARIABLE=VALUE is needed"},
	        {NEILSEN "expect 1 NEXT=\n", "4: NEXT=: the value is not JSON"},
	        {NEILSEN "expect 1 NEXT=0 NEXT=0\n", "4: variable 'NEXT' is given twice"},
	        {NEILSEN "expect 1 =0\n", "4: '=0': VARIABLE=VALUE is needed"},
	        {NEILSEN "expect flite 1 2 REQUEST\n",
	         "4: unknown expectation 'flite': did you mean 'flight'?"},
	        {NEILSEN "expect flight 1 2 REQUEST 2\n", "4: '2': xN is needed"},
	        {NEILSEN "expect messages many\n", "4: messages 'many'"},
	        {NEILSEN "param init\n", "4: parameter 'init': NAME=VALUE is needed"},
	        {NEILSEN "param init=a\nparam init=b\n",
	         "5: parameter 'init=b': already given on line 4"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *verdict = judge(cases[i].text);
		if (strncmp(verdict, cases[i].verdict, strlen(cases[i].verdict)) != 0)
			fail_msg("case %zu: %s", i, verdict);
	}
}

static void test_a_nul_byte_is_refused(void **state)
{
	static const char text[] = "algorithm neilsen\nrun\0\n";

	(void)state;
	assert_string_equal(judge_bytes(text, sizeof(text) - 1),
	                    "2: a NUL byte: a scenario is plain text");
}

static void test_a_network_that_cannot_be_blames_the_right_line(void **state)
{
	static const struct {
		const char *text, *verdict;
	} cases[] = {
	        {"nodes 3\nalgorithm nielsen\n",
	         "2: unknown algorithm 'nielsen': did you mean 'neilsen'?"},
	        {"nodes 3\nalgorithm neilsen\ntopology ring\n",
	         "3: topology 'ring' of 3 nodes does not suit"},
	        {"nodes 4\nalgorithm neilsen\ntopology edges:1-2\n",
	         "3: topology 'edges:1-2' has 2 nodes, not 4"},
	        {"holder 4\nalgorithm neilsen\nnodes 3\n", "1: holder 4: there are only 3 nodes"},
	        {"algorithm neilsen\nparam init=wave\nparam depth=1\n", "3: parameter 'depth=1'"},
	        {"algorithm suzuki-kasami\nnodes 16777216\n",
	         "2: suzuki-kasami on 16777216 nodes needs"},
	        {NEILSEN "run\nrequest 4\n", "5: node 4: there are only 3 nodes"},
	        {NEILSEN "deliver 1 2 REQUESTS\n",
	         "4: unknown message type 'REQUESTS': did you mean 'REQUEST'?"},
	        {NEILSEN "deliver 1 2 X\n",
	         "4: unknown message type 'X': there is REQUEST, PRIVILEGE, INIT"},
	        {NEILSEN "expect invariant x\n",
	         "4: unknown invariant 'x': there is sink_has_or_awaits_the_token"},
	        {NEILSEN "initiate 1\n", "4: neilsen is not an election"},
	        {NEILSEN "expire 1\n", "4: neilsen has no timers"},
	        {"algorithm central\nexpect invariant one_token\n", "2: central has no token"},
	        {"arrangement 1,2\nalgorithm central\n",
	         "1: arrangement: central is not an election"},
	        {"nodes 4\ncrash 1,2\nalgorithm neilsen\nholder 2\nparam init=wave\n",
	         "2: crash: neilsen is not an election"},
	        {NEILSEN "expect invariant unique_leader\n", "4: neilsen is not an election"},
	        {NEILSEN "expect invariant agreement\n", "4: neilsen is not an election"},
	        {NEILSEN "expect invariant termination\n", "4: neilsen is not an election"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *verdict = judge(cases[i].text);
		if (strncmp(verdict, cases[i].verdict, strlen(cases[i].verdict)) != 0)
			fail_msg("case %zu: %s", i, verdict);
	}
}

static void test_long_lines_and_long_texts(void **state)
{
	enum { SIZE = 1 << 20 };
	static const char head[] = "algorithm neilsen\nexpect 1";
	char *text = malloc((size_t)SCENARIO_SIZE_MAX + 1);

	(void)state;
	assert_non_null(text);
	memcpy(text, head, sizeof(head));
	for (size_t i = sizeof(head) - 1; i < SIZE; i++)
		text[i] = i % 2 == 0 ? ' ' : '1';
	assert_non_null(strstr(judge_bytes(text, SIZE), "2: unknown expectation"));
	memset(text + sizeof(head) - 1, '9', SIZE);
	assert_non_null(strstr(judge_bytes(text, SIZE), "2: something is missing"));
	memset(text, '#', (size_t)SCENARIO_SIZE_MAX + 1);
	assert_string_equal(judge_bytes(text, SCENARIO_SIZE_MAX),
	                    "1: no algorithm: a scenario begins with 'algorithm NAME'");
	assert_non_null(strstr(judge_bytes(text, (size_t)SCENARIO_SIZE_MAX + 1),
	                       "too large for a scenario"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_header_becomes_words),
	        cmocka_unit_test(test_every_step_parses),
	        cmocka_unit_test(test_every_expectation_parses),
	        cmocka_unit_test(test_the_text_of_fail_keeps_blanks_and_hashes),
	        cmocka_unit_test(test_bad_text_is_refused_with_its_line),
	        cmocka_unit_test(test_a_nul_byte_is_refused),
	        cmocka_unit_test(test_a_network_that_cannot_be_blames_the_right_line),
	        cmocka_unit_test(test_long_lines_and_long_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
