/*
 * Replays of algorithms of the project, and of three that are made up here. These do what no
 * algorithm of the project does yet or ever should: circulate, elect by timers, misbehave.
 */
#include "electorate.h"
#include "host.h"
#include "replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A token that goes round a ring for ever. With parameter 1, first a HELLO goes one hop the other
 * way. */

enum { TOKEN, HELLO };

struct carousel_state {
	uint32_t wants, inside;
};

static size_t carousel_state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct carousel_state);
}

static void carousel_pass(const struct site *site, struct out *out)
{
	out_message(out, TOKEN);
	out_send_side(out, site, SIDE_RIGHT);
}

static void carousel_init(const struct site *site, void *state, struct out *out)
{
	(void)state;
	if (site->self != site->holder)
		return;
	if (site->parameters[0] == 1) {
		out_message(out, HELLO);
		out_send_side(out, site, SIDE_LEFT);
	}
	carousel_pass(site, out);
}

static void carousel_request(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)out;
	((struct carousel_state *)state)->wants = 1;
}

static void carousel_release(const struct site *site, void *state, struct out *out)
{
	((struct carousel_state *)state)->inside = 0;
	carousel_pass(site, out);
}

static int carousel_receive(const struct site *site, void *state, const struct message *message,
                            struct out *out)
{
	struct carousel_state *node = state;

	if (message->side != (message->body[0] == TOKEN ? SIDE_LEFT : SIDE_RIGHT))
		return BATON_EMESSAGE;
	if (message->body[0] == HELLO)
		return 0;
	if (!node->wants) {
		carousel_pass(site, out);
		return 0;
	}
	*node = (struct carousel_state){.inside = 1};
	out_enter(out);
	return 0;
}

static bool carousel_has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct carousel_state *)state)->inside != 0;
}

static void describe_nothing(const struct site *site, const void *state, struct writer *writer)
{
	(void)site;
	(void)state;
	(void)writer;
}

static void show_nothing(const struct message *message, struct writer *writer)
{
	(void)message;
	(void)writer;
}

static const struct algorithm carousel = {
        .name = "carousel",
        .kind = KIND_MUTEX,
        .has_token = true,
        .circulates = true,
        .messages =
                (const struct message_type[]){{.name = "TOKEN", .token = true}, {.name = "HELLO"}},
        .messages_count = 2,
        .state_size = carousel_state_size,
        .init = carousel_init,
        .request = carousel_request,
        .release = carousel_release,
        .receive = carousel_receive,
        .has_privilege = carousel_has_privilege,
        .describe = describe_nothing,
        .show = show_nothing,
};

/* An election. A node that is not told of a leader in time declares itself the leader. The larger
 * the identifier, the shorter the time. A node takes part while its timer runs; with the parameter
 * SNOOZES, also after it has been told. */

enum { WAKES, SNOOZES };

struct alarm_state {
	uint64_t set;
};

static size_t alarm_state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct alarm_state);
}

static void alarm_init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

static void alarm_initiate(const struct site *site, void *state, struct out *out)
{
	((struct alarm_state *)state)->set = 1;
	out_arm(out, 3, 1000 - site->identifier);
}

static void alarm_expire(const struct site *site, void *state, uint32_t timer, struct out *out)
{
	must(timer == 3);
	((struct alarm_state *)state)->set = 0;
	out_elected(out, site->identifier);
	out_message(out, 0);
	out_uint(out, site->identifier);
	for (uint32_t k = 0; k < site->neighbours_count; k++)
		out_send(out, site_neighbour(site, k));
}

static int alarm_receive(const struct site *site, void *state, const struct message *message,
                         struct out *out)
{
	struct in in = in_message(message);

	if (site->parameters[0] != SNOOZES)
		((struct alarm_state *)state)->set = 0;
	out_disarm(out, 3);
	out_elected(out, (uint32_t)in_uint(&in));
	return 0;
}

static bool alarm_ready(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct alarm_state *)state)->set == 0;
}

static const struct algorithm alarm_clock = {
        .name = "alarm",
        .kind = KIND_ELECTION,
        .messages = (const struct message_type[]){{.name = "ELECTED"}},
        .messages_count = 1,
        .state_size = alarm_state_size,
        .init = alarm_init,
        .request = alarm_initiate,
        .receive = alarm_receive,
        .expire = alarm_expire,
        .ready = alarm_ready,
        .describe = describe_nothing,
        .show = show_nothing,
};

/* Does what no algorithm may do; the parameter chooses the answer to HELLO. */

enum { ANSWERS, REFUSES, ENTERS, RECOVERS };

struct rude_state {
	uint32_t busy, padding;
};

static size_t rude_state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct rude_state);
}

static void rude_greet(const struct site *site, struct out *out)
{
	out_message(out, 0);
	out_send(out, site->self == 1 ? 2 : 1);
}

static void rude_request(const struct site *site, void *state, struct out *out)
{
	(void)state;
	if (site->parameters[0] == RECOVERS)
		out_enter(out);
	else
		rude_greet(site, out);
}

static void rude_release(const struct site *site, void *state, struct out *out)
{
	((struct rude_state *)state)->busy = 1;
	rude_greet(site, out);
}

static bool rude_ready(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct rude_state *)state)->busy == 0;
}

static int rude_receive(const struct site *site, void *state, const struct message *message,
                        struct out *out)
{
	struct rude_state *node = state;

	(void)message;
	if (site->parameters[0] == REFUSES)
		return BATON_EMESSAGE;
	if (site->parameters[0] == ENTERS)
		out_enter(out);
	else if (!node->busy)
		rude_greet(site, out);
	node->busy = 0;
	return 0;
}

static bool nothing_in_flight(const struct snapshot *snapshot)
{
	return snapshot->flights_count == 0;
}

static bool is_not_busy(const struct site *site, const void *state)
{
	return rude_ready(site, state);
}

static const struct algorithm rude = {
        .name = "rude",
        .kind = KIND_MUTEX,
        .messages = (const struct message_type[]){{.name = "HELLO"}},
        .messages_count = 1,
        .invariants =
                (const struct invariant[]){
                        {.name = "nothing_in_flight",
                         .meaning = "no message is in flight",
                         .global = nothing_in_flight},
                        {.name = "is_not_busy", .meaning = "a node is ready", .local = is_not_busy},
                        {.name = NULL},
                },
        .state_size = rude_state_size,
        .init = alarm_init,
        .request = rude_request,
        .release = rude_release,
        .ready = rude_ready,
        .receive = rude_receive,
        .describe = describe_nothing,
        .show = show_nothing,
};

/* The fixture: a text is parsed and replayed, and the verdict is returned in words. */

static const uint32_t ring_left[] = {3, 1, 2}, ring_right[] = {2, 3, 1};
static const uint32_t pair_left[] = {2, 1}, pair_right[] = {2, 1};

static struct setup setup_by_hand(const struct algorithm *algorithm, uint32_t nodes,
                                  uint64_t parameter)
{
	struct setup setup = {
	        .network = {.algorithm = algorithm,
	                    .graph = {.nodes = nodes, .complete = true},
	                    .holder = 1},
	        .topology = "by hand",
	};

	setup.network.parameters[0] = parameter;
	if (algorithm == &carousel) {
		setup.network.left = nodes == 2 ? pair_left : ring_left;
		setup.network.right = nodes == 2 ? pair_right : ring_right;
		setup.fifo = true;
	}
	return setup;
}

enum { RUN_MAX = 1000 };

static struct replay_result last;

static const char *verdict_text(const struct replay_result *result)
{
	static char text[1024];

	if (result->verdict == REPLAY_PASSED)
		return "passed";
	if (result->verdict == REPLAY_BAD)
		snprintf(text, sizeof(text), "%u: bad: %s", result->line, result->problem.text);
	else if (result->expected == NULL)
		snprintf(text, sizeof(text), "%u: %s", result->line, result->found);
	else
		snprintf(text, sizeof(text), "%u: expected %s, found %s", result->line,
		         result->expected, result->found);
	return text;
}

static const char *problem_text(uint32_t line, const struct problem *problem)
{
	static char text[1024];
	snprintf(text, sizeof(text), "%u: bad: %s", line, problem->text);
	return text;
}

static const char *play_bytes(const char *bytes, size_t size, struct trace *trace)
{
	struct scenario scenario;
	struct problem problem;
	struct setup setup;
	uint32_t line;

	if (scenario_parse(bytes, size, &scenario, &line, &problem) != 0)
		return problem_text(line, &problem);
	scenario.words.host = host_here();
	if (scenario_setup(&scenario, &setup, &line, &problem) != 0) {
		scenario_free(&scenario);
		return problem_text(line, &problem);
	}
	replay_run(&scenario, &setup, trace, RUN_MAX, &last);
	const char *text = verdict_text(&last);
	replay_result_free(&last);
	setup_free(&setup);
	scenario_free(&scenario);
	return text;
}

static const char *play(const char *text)
{
	return play_bytes(text, strlen(text), NULL);
}

/* Replays the steps, with the electorate of the header, on a network made by hand. */
static const char *play_traced(const struct algorithm *algorithm, uint32_t nodes,
                               uint64_t parameter, const char *steps, struct trace *trace)
{
	struct setup setup = setup_by_hand(algorithm, nodes, parameter);
	struct scenario scenario;
	struct problem problem;
	const char *verdict;
	char text[1024];
	uint32_t line;

	snprintf(text, sizeof(text), "algorithm %s\n%s", algorithm->name, steps);
	assert_int_equal(scenario_parse(text, strlen(text), &scenario, &line, &problem), 0);
	if (algorithm->kind == KIND_ELECTION)
		scenario.words.arrangement = "7,9,8";
	assert_int_equal(electorate_make(&scenario.words, &setup, &problem), 0);
	if (scenario_bind(&scenario, &setup.network, &line, &problem) != 0) {
		verdict = problem_text(line, &problem);
	} else {
		replay_run(&scenario, &setup, trace, RUN_MAX, &last);
		verdict = verdict_text(&last);
		replay_result_free(&last);
	}
	setup_free(&setup);
	scenario_free(&scenario);
	return verdict;
}

static const char *play_on(const struct algorithm *algorithm, uint32_t nodes, uint64_t parameter,
                           const char *steps)
{
	return play_traced(algorithm, nodes, parameter, steps, NULL);
}

static const char *elect(uint64_t parameter, const char *steps)
{
	return play_on(&alarm_clock, 3, parameter, steps);
}

/* Begins a trace for a replay. */
static struct trace *begin_trace(void)
{
	return trace_create(true, false);
}

/* Ends the trace and returns what was written. */
static const char *end_trace(struct trace *trace)
{
	static char written[4096];

	trace_end(trace, last.time);
	snprintf(written, sizeof(written), "%s", trace_lines(trace)->bytes);
	trace_destroy(trace);
	return written;
}

#define NEILSEN "algorithm neilsen\ntopology line\nnodes 3\n"

static void test_any_bytes_are_refused_or_understood(void **state)
{
	static const char text[] =
	        "\xef\xbb\xbf" NEILSEN "holder 2\nrequest 1\ndeliver 1 2 REQUEST #1\n"
	        "expect 1 waiting\nexpect 2 NEXT=1 HOLDING=false\nrun\nrelease 1\nfail \"x\"";
	char changed[sizeof(text)];

	(void)state;
	for (size_t size = 0; size < sizeof(text); size++)
		play_bytes(text, size, NULL);
	for (size_t at = 0; at < sizeof(text); at++) {
		for (int byte = 0; byte < 256; byte++) {
			memcpy(changed, text, sizeof(text));
			changed[at] = (char)byte;
			play_bytes(changed, sizeof(text) - 1, NULL);
		}
	}
}

static void test_a_run_that_holds_passes(void **state)
{
	(void)state;
	assert_string_equal(
	        play(NEILSEN
	             "request 1\nexpect 1 in\nrequest 3\nexpect flight 3 2 REQUEST x1\nrun\n"
	             "expect 1 NEXT=2 FOLLOW=3\nrelease 1\nrun\nexpect 3 in\nexpect messages 3\n"
	             "expect invariant one_token\nexpect invariant mutual_exclusion\n"
	             "expect invariant holding_is_a_sink\n"),
	        "passed");
	assert_int_equal(last.line, 0);
	assert_int_equal(last.steps, 6); /* the deliveries of `run` are steps */
	assert_int_equal(last.messages, 3);
	assert_int_equal(last.expectations, 8);
	assert_int_equal(last.time, 5000000);
}

static void test_an_expectation_that_fails_says_what_was_found(void **state)
{
	static const struct {
		const char *steps, *verdict;
	} cases[] = {
	        {"expect 1 in", "4: expected node 1 in, found idle"},
	        {"request 3\nexpect 3 idle", "5: expected node 3 idle, found waiting"},
	        {"request 1\nexpect 1 leaving", "5: expected node 1 leaving, found in"},
	        {"expect 2 HOLDING=false NEXT=3 FOLLOW=2",
	         "4: expected node 2 NEXT=3 FOLLOW=2, found node 2 NEXT=1 FOLLOW=0"},
	        {"expect 2 NEXT=1.0", "4: expected node 2 NEXT=1.0, found node 2 NEXT=1"},
	        {"expect 2 NEXT=\"1\"", "4: expected node 2 NEXT=\"1\", found node 2 NEXT=1"},
	        {"expect flight 1 2 REQUEST",
	         "4: expected a REQUEST in flight from 1 to 2, found none"},
	        {"request 2\nexpect flight 2 1 REQUEST x2",
	         "5: expected 2 REQUEST in flight from 2 to 1, found 1"},
	        {"request 2\nexpect flight 2 1 REQUEST x0",
	         "5: expected 0 REQUEST in flight from 2 to 1, found 1"},
	        {"expect messages 1", "4: expected 1 messages, found 0"},
	        {"request 2\nrun\nrequest 3\nrun\nrelease 2\ndrop 2 3 PRIVILEGE\nexpect invariant "
	         "one_token",
	         "10: expected one_token, found none"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[512];
		snprintf(text, sizeof(text), NEILSEN "%s\nrun\n", cases[i].steps);
		assert_string_equal(play(text), cases[i].verdict);
	}
}

static void test_a_step_that_cannot_happen_is_bad(void **state)
{
	static const struct {
		const char *steps, *verdict;
	} cases[] = {
	        {"request 1\nrequest 1", "5: bad: node 1 is in: only an idle node can ask"},
	        {"request 2\nrequest 2", "5: bad: node 2 is waiting: only an idle node can ask"},
	        {"release 1", "4: bad: node 1 is idle: only a node that is inside can leave"},
	        {"deliver 1 2", "4: bad: no message is in flight from 1 to 2; in flight: nothing"},
	        {"request 3\ndrop 2 3",
	         "5: bad: no message is in flight from 2 to 3; in flight: REQUEST from 3 to 2"},
	        {"request 3\ndeliver 3 2 #2",
	         "5: bad: no message #2 is in flight from 3 to 2: there is only 1"},
	        {"expect 1 HOLDING=true MEXT=1", "4: bad: unknown variable 'MEXT': node 1 of "
	                                         "neilsen has HOLDING, NEXT, FOLLOW, figure"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[512];
		snprintf(text, sizeof(text), NEILSEN "%s\n", cases[i].steps);
		assert_string_equal(play(text), cases[i].verdict);
	}
	assert_string_equal(play(NEILSEN "param init=wave\nrequest 2\n"),
	                    "5: bad: node 2 is not ready to ask yet");
}

static void test_messages_before_any_request_are_not_counted(void **state)
{
	(void)state;
	assert_string_equal(
	        play(NEILSEN
	             "param init=wave\nexpect flight 1 2 INITIALIZE\nexpect messages 0\nrun\n"
	             "expect messages 0\nrequest 2\nexpect messages 1\n"),
	        "passed");
}

#define TWO_ON_A_CHANNEL "algorithm suzuki-kasami\nnodes 2\n%s\nrequest 2\ndeliver 2 1\nrequest 1\n"

static void test_order_rules_the_channels_of_fifo_only(void **state)
{
	char text[256];

	(void)state;
	snprintf(text, sizeof(text),
	         TWO_ON_A_CHANNEL "deliver 1 2 REQUEST\nexpect 2 waiting RN=1\n", "reorder");
	assert_string_equal(play(text), "8: bad: unexpected 'RN=1' after 'expect 2 waiting'");
	snprintf(text, sizeof(text), TWO_ON_A_CHANNEL "deliver 1 2 REQUEST\nexpect 2 RN=[0,0]\n",
	         "reorder");
	assert_string_equal(play(text), "passed");
	snprintf(text, sizeof(text), TWO_ON_A_CHANNEL "deliver 1 2 #2\nexpect 2 RN=[0,0]\n",
	         "reorder");
	assert_string_equal(play(text), "passed");
	snprintf(text, sizeof(text),
	         TWO_ON_A_CHANNEL "deliver 1 2\nexpect 2 RN=[-1,0]\nexpect 2 in\n", "fifo");
	assert_string_equal(play(text), "passed");
	snprintf(text, sizeof(text), TWO_ON_A_CHANNEL "deliver 1 2 REQUEST\n", "fifo");
	assert_string_equal(play(text),
	                    "7: bad: under fifo this REQUEST must wait: an older message, "
	                    "PRIVILEGE, is still in flight from 1 to 2");
	/* Any of these messages can be lost; then the next one is the oldest. */
	snprintf(text, sizeof(text), TWO_ON_A_CHANNEL "drop 1 2 #2\nexpect flight 1 2 REQUEST x0\n",
	         "fifo");
	assert_string_equal(play(text), "passed");
	snprintf(text, sizeof(text),
	         TWO_ON_A_CHANNEL "drop 1 2\ndeliver 1 2 REQUEST\nexpect 2 RN=[0,0]\n", "fifo");
	assert_string_equal(play(text), "passed");
}

static void test_a_circulating_token_counts_while_somebody_wants_in(void **state)
{
	(void)state;
	/* Nobody waits: `run` has nothing to do. */
	assert_string_equal(
	        play_on(&carousel, 3, 0, "expect flight 1 2 TOKEN\nrun\nexpect flight 1 2 TOKEN\n"),
	        "passed");
	assert_int_equal(last.steps, 0);
	assert_string_equal(play_on(&carousel, 3, 0,
	                            "deliver 1 2\ndeliver 2 3\nexpect messages 0\nrequest 2\nrun\n"
	                            "expect 2 in\nexpect messages 2\nexpect invariant one_token\n"
	                            "release 2\nexpect messages 2\ndeliver 2 3\nexpect messages 2\n"
	                            "expect 2 idle\n"),
	                    "passed");
	/* A token in flight counts as soon as a node wants to enter. */
	assert_string_equal(
	        play_on(&carousel, 3, 0, "expect messages 0\nrequest 3\nexpect messages 1\n"),
	        "passed");
	assert_string_equal(
	        play_on(&carousel, 3, 0,
	                "drop 1 2\nrequest 3\nrun\nexpect 3 waiting\nexpect messages 0\n"),
	        "passed");
}

static void test_a_ring_of_two_has_two_channels(void **state)
{
	(void)state;
	/* The TOKEN was sent after the HELLO, but to the other side, so even under fifo it need not
	 * wait. */
	assert_string_equal(
	        play_on(&carousel, 2, 1,
	                "deliver 1 2 TOKEN\nexpect flight 2 1 TOKEN x1\n"
	                "expect flight 1 2 HELLO x1\nrequest 1\ndeliver 2 1\nexpect 1 in\n"
	                "run\nexpect flight 1 2 HELLO\ndeliver 1 2\n"),
	        "passed");
}

static void test_a_run_without_end_fails(void **state)
{
	(void)state;
	assert_string_equal(play_on(&rude, 2, ANSWERS, "request 1\nrun\n"),
	                    "3: expected nothing in flight in the end, found 1 in flight after "
	                    "1000 deliveries");
	assert_int_equal(last.steps, 1001);
}

static void test_what_no_step_may_do_fails_there(void **state)
{
	(void)state;
	assert_string_equal(play_on(&rude, 2, REFUSES, "request 1\ndeliver 1 2\n"),
	                    "3: node 2 refused a message: HELLO from 1");
	assert_string_equal(play_on(&rude, 2, REFUSES, "request 1\nrun\n"),
	                    "3: node 2 refused a message: HELLO from 1");
	assert_string_equal(play_on(&rude, 2, ENTERS, "request 1\ndeliver 1 2\nrun\n"),
	                    "3: node 2 entered without waiting: HELLO from 1");
}

static void test_a_node_that_leaves_is_not_ready(void **state)
{
	(void)state;
	assert_string_equal(play_on(&rude, 2, RECOVERS,
	                            "request 1\nrelease 1\nexpect 1 leaving\ndeliver 1 2\n"
	                            "deliver 2 1\nexpect 1 idle\nrequest 1\nexpect 1 in\n"),
	                    "passed");
	assert_string_equal(play_on(&rude, 2, RECOVERS, "request 1\nrelease 1\nrequest 1\n"),
	                    "4: bad: node 1 is leaving: only an idle node can ask");
}

static void test_invariants_speak_of_nodes_and_of_all(void **state)
{
	(void)state;
	assert_string_equal(play_on(&rude, 2, RECOVERS,
	                            "expect invariant nothing_in_flight\nrequest 1\nrequest 2\n"
	                            "expect invariant is_not_busy\n"
	                            "expect invariant mutual_exclusion\n"),
	                    "6: expected mutual_exclusion, found nodes 1 2 in");
	assert_string_equal(
	        play_on(&rude, 2, RECOVERS,
	                "request 2\nrelease 2\nexpect invariant nothing_in_flight\n"),
	        "4: expected nothing_in_flight (no message is in flight), found it broken");
	assert_string_equal(
	        play_on(&rude, 2, RECOVERS, "request 2\nrelease 2\nexpect invariant is_not_busy\n"),
	        "4: expected is_not_busy (a node is ready), found it broken at node 2, {}");
}

static void test_timers_expire_when_nothing_is_in_flight(void **state)
{
	(void)state;
	/* The identifiers are 7, 9, 8; the largest has the shortest timer. */
	assert_string_equal(play_on(&alarm_clock, 3, 0,
	                            "initiate 1\ninitiate 2\ninitiate 3\nexpect 2 waiting\nrun\n"
	                            "expect leader 9\nexpect 2 leader\nexpect 2 idle\n"
	                            "expect 1 idle\nexpect messages 2\n"),
	                    "passed");
	assert_int_equal(last.steps, 6);
	assert_string_equal(play_on(&alarm_clock, 3, 0,
	                            "initiate 1\nexpire 1\nexpect leader 7\nexpect 1 leader\n"
	                            "drop 1 2\nrun\nexpect leader 7\n"),
	                    "passed");
	assert_string_equal(
	        play_on(&alarm_clock, 3, 0, "initiate 1\nexpire 1 3\nexpect 3 leader\n"),
	        "4: expected node 3 leader, found no leader");
	assert_string_equal(play_on(&alarm_clock, 3, 0, "initiate 1\nexpire 1 2\n"),
	                    "3: bad: timer 2 of node 1 is not armed");
	assert_string_equal(play_on(&alarm_clock, 3, 0, "initiate 1\nexpire 1\nexpire 1\n"),
	                    "4: bad: node 1 has no armed timer");
}

static void test_two_leaders_are_not_one(void **state)
{
	(void)state;
	assert_string_equal(play_on(&alarm_clock, 3, 0, "expect leader 9\n"),
	                    "2: expected leader 9, found no leader");
	assert_string_equal(
	        play_on(&alarm_clock, 3, 0,
	                "initiate 1\ninitiate 2\nexpire 1\nexpire 2\nexpect leader 7\n"),
	        "6: expected leader 7, found leader 9 at node 2");
	assert_string_equal(play_on(&alarm_clock, 3, 0, "request 1\n"),
	                    "2: bad: alarm is an election: its nodes 'initiate'");
}

/* The identifiers at the places 1, 2, 3 are 7, 9, 8. */

static void test_an_election_that_ends_well_keeps_its_invariants(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "expect invariant unique_leader\n"
	                                 "expect invariant agreement\n"
	                                 "initiate 1\ninitiate 2\ninitiate 3\nexpire 2\n"
	                                 "expect invariant unique_leader\n"
	                                 "expect invariant agreement\nrun\n"
	                                 "expect invariant unique_leader\n"
	                                 "expect invariant agreement\n"
	                                 "expect invariant termination\n"),
	                    "passed");
	assert_int_equal(last.expectations, 7);
}

static void test_one_declares_itself_and_once(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "initiate 2\ninitiate 3\nexpire 2\nexpire 3\n"
	                                 "expect invariant unique_leader\n"),
	                    "6: expected unique_leader, found 2 and 3 declared");
	assert_string_equal(elect(WAKES, "initiate 1\ninitiate 2\ninitiate 3\nexpire 3\n"
	                                 "expire 2\nexpire 1\nexpect invariant unique_leader\n"),
	                    "8: expected unique_leader, found 1, 2 and 3 declared");
	assert_string_equal(elect(WAKES, "initiate 3\nrun\ninitiate 3\nexpire 3\n"
	                                 "expect invariant agreement\n"
	                                 "expect invariant unique_leader\n"),
	                    "7: expected unique_leader, found 3 declared 2 times");
	/* That node 2 learns of another leader does not undo that it has declared itself. */
	assert_string_equal(elect(WAKES, "initiate 2\ninitiate 3\nexpire 3\nexpire 2\n"
	                                 "drop 3 2\nrun\nexpect leader 9\n"
	                                 "expect invariant unique_leader\n"),
	                    "9: expected unique_leader, found 2 and 3 declared");
}

static void test_all_agree_for_ever(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "initiate 1\ninitiate 3\nexpire 1\nexpire 3\n"
	                                 "expect invariant agreement\n"),
	                    "6: expected agreement, found leader 7 at node 1, leader 8 at node 3");
	assert_string_equal(
	        elect(WAKES, "initiate 1\nrun\nexpect invariant agreement\n"
	                     "initiate 2\nexpire 2\nexpect invariant agreement\n"),
	        "7: expected agreement, found node 2 changed from leader 7 to leader 9");
	/* In the end all know the same leader, but not at every step. */
	assert_string_equal(elect(WAKES, "initiate 1\nexpire 1\ndrop 1 2\ndrop 1 3\ninitiate 2\n"
	                                 "run\nexpect leader 9\nexpect invariant agreement\n"),
	                    "9: expected agreement, found leader 7 at node 1, leader 9 at node 2");
}

static void test_termination_leaves_nobody_behind(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "expect invariant termination\n"),
	                    "2: expected termination, found node 1 without a leader");
	assert_string_equal(elect(WAKES, "initiate 1\nexpire 1\ndrop 1 2\nrun\n"
	                                 "expect invariant termination\n"),
	                    "6: expected termination, found node 2 without a leader");
	assert_string_equal(elect(SNOOZES, "initiate 1\ninitiate 2\nexpire 1\nrun\n"
	                                   "expect leader 7\nexpect invariant termination\n"),
	                    "7: expected termination, found node 2 still takes part");
	assert_string_equal(elect(WAKES, "initiate 1\nrun\nexpect invariant termination\n"
	                                 "initiate 3\nexpect invariant termination\n"),
	                    "6: expected termination, found node 3 still takes part");
}

static void test_what_is_sent_to_the_dead_is_lost(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "crash 3\ninitiate 1\nexpire 1\n"
	                                 "expect flight 1 3 ELECTED x1\nrun\n"
	                                 "expect flight 1 3 ELECTED x0\nexpect messages 2\n"
	                                 "expect leader 7\nexpect invariant unique_leader\n"
	                                 "expect invariant agreement\n"
	                                 "expect invariant termination\n"),
	                    "passed");
	assert_int_equal(last.steps, 4); /* losing a message is a step, as `drop` is */
	/* A message to a dead place is also lost by `deliver`, and the dead learn nothing. */
	assert_string_equal(elect(WAKES, "crash 3,1\ninitiate 2\nexpire 2\ndeliver 2 1\n"
	                                 "expect flight 2 1 ELECTED x0\n"
	                                 "expect invariant termination\ndeliver 2 3\n"
	                                 "deliver 2 3\n"),
	                    "9: bad: no message is in flight from 2 to 3; in flight: nothing");
	assert_string_equal(elect(WAKES, "crash 1,3\nexpect invariant termination\n"),
	                    "3: expected termination, found node 2 without a leader");
	assert_string_equal(elect(WAKES, "crash 1,3\ninitiate 2\nexpire 2\ndeliver 2 1\n"
	                                 "expect 1 leader\n"),
	                    "6: expected node 1 leader, found no leader");
}

static void test_the_dead_begin_nothing(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "crash 3\ninitiate 3\n"),
	                    "3: bad: node 3 is dead: it cannot initiate");
	assert_string_equal(elect(WAKES, "crash 3\nexpire 3\n"),
	                    "3: bad: node 3 has no armed timer");
}

static void test_a_message_to_the_dead_is_traced_as_lost(void **state)
{
	static const char expected[] =
	        "{\"ev\":\"start\",\"algorithm\":\"alarm\",\"topology\":\"by hand\","
	        "\"nodes\":3,\"edges\":[[1,2],[1,3],[2,3]],\"holder\":null,"
	        "\"fifo\":false,\"seed\":0,\"params\":{},\"arrangement\":[7,9,8]}\n"
	        "{\"t\":0,\"ev\":\"initiate\",\"node\":1}\n"
	        "{\"t\":1,\"ev\":\"expire\",\"node\":1}\n"
	        "{\"t\":1,\"ev\":\"send\",\"msg\":1,\"from\":1,\"to\":2,\"type\":\"ELECTED\","
	        "\"text\":\"ELECTED\",\"bytes\":2,\"token\":false}\n"
	        "{\"t\":1,\"ev\":\"send\",\"msg\":2,\"from\":1,\"to\":3,\"type\":\"ELECTED\","
	        "\"text\":\"ELECTED\",\"bytes\":2,\"token\":false}\n"
	        "{\"t\":1,\"ev\":\"elected\",\"node\":1,\"leader\":7}\n"
	        "{\"t\":2,\"ev\":\"lose\",\"msg\":1}\n"
	        "{\"t\":3,\"ev\":\"deliver\",\"msg\":2,\"from\":1,\"to\":3,\"type\":"
	        "\"ELECTED\"}\n"
	        "{\"t\":3,\"ev\":\"elected\",\"node\":3,\"leader\":7}\n"
	        "{\"t\":3,\"ev\":\"end\"}\n";
	struct trace *trace = begin_trace();

	(void)state;
	assert_string_equal(
	        play_traced(&alarm_clock, 3, WAKES, "crash 2\ninitiate 1\nrun\n", trace), "passed");
	assert_string_equal(end_trace(trace), expected);
}

static void test_invariants_are_of_their_kind(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "expect invariant mutual_exclusion\n"),
	                    "2: bad: alarm is an election: it excludes nobody");
	assert_string_equal(elect(WAKES, "expect invariant one_token\n"),
	                    "2: bad: alarm has no token");
	assert_string_equal(elect(WAKES, "expect invariant x\n"),
	                    "2: bad: unknown invariant 'x': there is unique_leader, agreement, "
	                    "termination");
	assert_string_equal(elect(WAKES, "expect invariant agrement\n"),
	                    "2: bad: unknown invariant 'agrement': did you mean 'agreement'?");
	assert_string_equal(play_on(&rude, 2, RECOVERS, "expect invariant unique_leader\n"),
	                    "2: bad: rude is not an election: it elects nobody");
	assert_string_equal(play_on(&rude, 2, RECOVERS, "expect invariant agreement\n"),
	                    "2: bad: rude is not an election: it elects nobody");
	assert_string_equal(play_on(&rude, 2, RECOVERS, "expect invariant termination\n"),
	                    "2: bad: rude is not an election: it elects nobody");
}

static void test_a_place_crashes_on_the_way(void **state)
{
	(void)state;
	assert_string_equal(elect(WAKES, "initiate 1\ncrash 2\nrun\nexpect leader 7\n"), "passed");
	assert_string_equal(elect(WAKES, "initiate 1\ncrash 2\ncrash 2\n"),
	                    "4: bad: node 2 is dead already");
	assert_string_equal(elect(WAKES, "initiate 1\ncrash 2\ninitiate 2\n"),
	                    "4: bad: node 2 is dead: it cannot initiate");
	assert_string_equal(play_on(&rude, 2, RECOVERS, "request 1\ncrash 1\nrequest 1\n"),
	                    "4: bad: node 1 is dead: it cannot ask");
}

/* Messages that were in flight when the link was cut are lost, and so are later ones. Other links
 * work. */
static void test_nothing_arrives_over_a_cut_link(void **state)
{
	(void)state;
	assert_string_equal(play(NEILSEN "request 3\ncut 2 3\ndeliver 3 2\n"
	                                 "expect 2 NEXT=1\nrequest 2\nrun\nexpect 2 in\n"
	                                 "expect messages 3\n"),
	                    "passed");
	assert_string_equal(play(NEILSEN "cut 2 1\nrequest 3\nrun\nexpect 2 NEXT=3\n"
	                                 "expect 1 HOLDING=true\nexpect 3 waiting\n"),
	                    "passed");
	assert_string_equal(play(NEILSEN "cut 2 3\ncut 3 2\n"),
	                    "5: bad: the link between 3 and 2 is cut already");
	assert_string_equal(play(NEILSEN "cut 2 2\n"), "4: bad: a link has two different ends");
}

static void test_the_trace_has_a_second_for_each_step(void **state)
{
	static const char text[] = "algorithm neilsen\nnodes 2\nrequest 2\nexpect 2 "
	                           "waiting\nrun\nrelease 2\nrequest 1\n"
	                           "drop 1 2\n";
	static const char expected[] =
	        "{\"ev\":\"start\",\"algorithm\":\"neilsen\",\"topology\":\"star\",\"nodes\":2,"
	        "\"edges\":[[1,2]],\"holder\":1,"
	        "\"fifo\":false,\"seed\":1,\"params\":{}}\n"
	        "{\"t\":0,\"ev\":\"request\",\"node\":2}\n"
	        "{\"t\":0,\"ev\":\"send\",\"msg\":1,\"from\":2,\"to\":1,\"type\":\"REQUEST\","
	        "\"text\":\"REQUEST(2,2)\","
	        "\"bytes\":3,\"token\":false}\n"
	        "{\"t\":0,\"ev\":\"state\",\"node\":2,\"vars\":{\"HOLDING\":false,\"NEXT\":0,"
	        "\"FOLLOW\":0}}\n"
	        "{\"t\":1,\"ev\":\"deliver\",\"msg\":1,\"from\":2,\"to\":1,\"type\":\"REQUEST\"}\n"
	        "{\"t\":1,\"ev\":\"send\",\"msg\":2,\"from\":1,\"to\":2,\"type\":\"PRIVILEGE\","
	        "\"text\":\"PRIVILEGE\","
	        "\"bytes\":1,\"token\":true}\n"
	        "{\"t\":1,\"ev\":\"state\",\"node\":1,\"vars\":{\"HOLDING\":false,\"NEXT\":2,"
	        "\"FOLLOW\":0}}\n"
	        "{\"t\":2,\"ev\":\"deliver\",\"msg\":2,\"from\":1,\"to\":2,\"type\":\"PRIVILEGE\"}"
	        "\n"
	        "{\"t\":2,\"ev\":\"enter\",\"node\":2}\n"
	        "{\"t\":3,\"ev\":\"exit\",\"node\":2}\n"
	        "{\"t\":3,\"ev\":\"state\",\"node\":2,\"vars\":{\"HOLDING\":true,\"NEXT\":0,"
	        "\"FOLLOW\":0}}\n"
	        "{\"t\":4,\"ev\":\"request\",\"node\":1}\n"
	        "{\"t\":4,\"ev\":\"send\",\"msg\":3,\"from\":1,\"to\":2,\"type\":\"REQUEST\","
	        "\"text\":\"REQUEST(1,1)\","
	        "\"bytes\":3,\"token\":false}\n"
	        "{\"t\":4,\"ev\":\"state\",\"node\":1,\"vars\":{\"HOLDING\":false,\"NEXT\":0,"
	        "\"FOLLOW\":0}}\n"
	        "{\"t\":5,\"ev\":\"lose\",\"msg\":3}\n"
	        "{\"t\":5,\"ev\":\"end\"}\n";
	struct trace *trace = begin_trace();

	(void)state;
	assert_string_equal(play_bytes(text, strlen(text), trace), "passed");
	assert_string_equal(end_trace(trace), expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_any_bytes_are_refused_or_understood),
	        cmocka_unit_test(test_a_run_that_holds_passes),
	        cmocka_unit_test(test_an_expectation_that_fails_says_what_was_found),
	        cmocka_unit_test(test_a_step_that_cannot_happen_is_bad),
	        cmocka_unit_test(test_messages_before_any_request_are_not_counted),
	        cmocka_unit_test(test_order_rules_the_channels_of_fifo_only),
	        cmocka_unit_test(test_a_circulating_token_counts_while_somebody_wants_in),
	        cmocka_unit_test(test_a_ring_of_two_has_two_channels),
	        cmocka_unit_test(test_a_run_without_end_fails),
	        cmocka_unit_test(test_what_no_step_may_do_fails_there),
	        cmocka_unit_test(test_a_node_that_leaves_is_not_ready),
	        cmocka_unit_test(test_invariants_speak_of_nodes_and_of_all),
	        cmocka_unit_test(test_timers_expire_when_nothing_is_in_flight),
	        cmocka_unit_test(test_two_leaders_are_not_one),
	        cmocka_unit_test(test_an_election_that_ends_well_keeps_its_invariants),
	        cmocka_unit_test(test_one_declares_itself_and_once),
	        cmocka_unit_test(test_all_agree_for_ever),
	        cmocka_unit_test(test_termination_leaves_nobody_behind),
	        cmocka_unit_test(test_what_is_sent_to_the_dead_is_lost),
	        cmocka_unit_test(test_the_dead_begin_nothing),
	        cmocka_unit_test(test_a_message_to_the_dead_is_traced_as_lost),
	        cmocka_unit_test(test_invariants_are_of_their_kind),
	        cmocka_unit_test(test_a_place_crashes_on_the_way),
	        cmocka_unit_test(test_nothing_arrives_over_a_cut_link),
	        cmocka_unit_test(test_the_trace_has_a_second_for_each_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
