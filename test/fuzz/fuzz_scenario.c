/*
 * Feeds bytes as a scenario: parsed and, if that works and the network is small, replayed. Files
 * are not read and the work is bounded. It looks for crashes, leaks and undefined behaviour, here
 * and in every algorithm that a scenario can drive.
 */
#include "host.h"
#include "replay.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NODES_SMALL = 64, STEPS_SMALL = 1000, RUN_SMALL = 10000 };

static bool is_small(const struct scenario *scenario)
{
	const struct setup_words *words = &scenario->words;
	struct topology topology;

	if (words->nodes > NODES_SMALL || scenario->steps_count > STEPS_SMALL)
		return false;
	if (words->topology == NULL)
		return true;
	if (strncmp(words->topology, "file:", 5) == 0)
		return false;
	/* A malformed topology is passed on too: scenario_setup must refuse it. */
	return topology_parse(words->topology, &topology) != NULL ||
	       topology_nodes(&topology) <= NODES_SMALL;
}

static void replay(struct scenario *scenario)
{
	struct replay_result result;
	struct problem problem;
	struct setup setup;
	uint32_t line = 0;

	scenario->words.host = host_here();
	if (scenario_setup(scenario, &setup, &line, &problem) != 0) {
		must(line != 0);
		return;
	}
	replay_run(scenario, &setup, NULL, RUN_SMALL, &result);
	must((result.verdict == REPLAY_PASSED) == (result.line == 0));
	must((result.verdict == REPLAY_FAILED) == (result.found != NULL));
	replay_result_free(&result);
	setup_free(&setup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scenario scenario;
	struct problem problem;
	uint32_t line = 0;

	if (scenario_parse((const char *)data, size, &scenario, &line, &problem) != 0) {
		must(line != 0);
		return 0;
	}
	if (is_small(&scenario))
		replay(&scenario);
	scenario_free(&scenario);
	return 0;
}
