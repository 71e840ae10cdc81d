#include "check_text.h"

#include "cli.h"
#include "conditions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *verdict_text(const struct check_result *result, enum sought sought,
                                bool election, bool lives)
{
	switch (result->verdict) {
	case VERDICT_HOLDS:
		if (!result->complete)
			return "not decided: nothing wrong so far";
		if (sought != SOUGHT_ANY)
			return sought == SOUGHT_TWO_INSIDE ? "mutual exclusion holds"
			                                   : "mutual exclusion holds, and there is "
			                                     "no state in which everybody waits";
		return election ? "one leader, agreed by all, every run ends"
		       : lives  ? "mutual exclusion holds, no deadlock, no starvation"
		                : "mutual exclusion holds, no deadlock";
	case VERDICT_MUTUAL_EXCLUSION:
		return "VIOLATED: two nodes are inside at once";
	case VERDICT_DEADLOCK:
		return "VIOLATED: deadlock: somebody waits, or cannot leave or ask, and nothing "
		       "can happen";
	case VERDICT_STARVATION:
		return "VIOLATED: starvation, somebody may wait for ever";
	case VERDICT_INVARIANT:
		return "VIOLATED: invariant";
	case VERDICT_BROKEN:
		return "VIOLATED: the algorithm made a step that is not allowed";
	case VERDICT_UNIQUE_LEADER:
		return "VIOLATED: two processes declare themselves the leader, or one does so "
		       "twice";
	case VERDICT_AGREEMENT:
		return "VIOLATED: processes know different leaders";
	case VERDICT_TERMINATION:
		return "VIOLATED: a run does not end, or somebody does not know the leader or "
		       "still takes part";
	}
	return NULL;
}

/* Prints which runs of an election were tried. */
static void print_runs(const struct setup_words *words, uint32_t nodes,
                       const struct check_result *result)
{
	const char *arrangement = words->arrangement != NULL        ? words->arrangement
	                          : nodes <= ELECTIONS_ARRANGED_MAX ? "all"
	                                                            : "increasing only";
	const char *initiators = words->initiators != NULL     ? words->initiators
	                         : nodes <= ELECTIONS_SETS_MAX ? "all"
	                                                       : "only the set of all places";

	printf("  tried     %" PRIu64 " run%s: arrangements %s, sets of initiators %s\n",
	       result->runs, plural(result->runs), arrangement, initiators);
}

/* Prints which properties were not decided, and what would decide them. */
static void print_undecided(const struct check_options *options, const struct check_result *result)
{
	const char *grows = setup_grows(options->setup);

	if (result->verdict != VERDICT_HOLDS && !result->complete)
		printf("            the rest: not decided (the search ended here)\n");
	if (!result->complete || options->setup->network.algorithm->kind == KIND_ELECTION ||
	    options->sought != SOUGHT_ANY)
		return;
	if (result->verdict == VERDICT_STARVATION)
		printf("            mutual exclusion holds, no deadlock\n");
	if (check_finding(options, result, VERDICT_STARVATION) != FINDING_UNDECIDED)
		return;
	if (grows == NULL)
		printf("            starvation: not decided (entries are bounded; --entries "
		       "unlimited "
		       "decides it, or look at the bypass)\n");
	else
		printf("            starvation: not decided (entries are bounded; %s grow without "
		       "bound, so that --entries unlimited cannot decide it: look at the bypass)\n",
		       grows);
}

/* Prints what the violated invariant says. */
static void print_meaning(const struct check_options *options, const struct check_result *result)
{
	const struct invariant *invariant = options->setup->network.algorithm->invariants;

	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (strcmp(invariant->name, result->what) == 0)
			printf("            it says that %s\n", invariant->meaning);
	}
}

static void print_verdict(const struct check_options *options, const struct check_result *result)
{
	bool election = options->setup->network.algorithm->kind == KIND_ELECTION;
	bool lives =
	        !election && check_finding(options, result, VERDICT_STARVATION) == FINDING_HOLDS;

	printf("  verdict   %s", verdict_text(result, options->sought, election, lives));
	if (result->verdict >= VERDICT_INVARIANT)
		printf(": %s", result->what);
	putchar('\n');
	if (result->verdict == VERDICT_INVARIANT)
		print_meaning(options, result);
	print_undecided(options, result);
}

/* For each node that can ask, adds up the entries of all other nodes, and returns the smallest sum;
 * ENTRIES_UNLIMITED if there is no bound. */
static uint64_t entries_of_others(const struct check_options *options)
{
	uint32_t nodes = options->setup->network.graph.nodes;
	uint64_t sum = 0, least = UINT64_MAX;

	for (uint32_t i = 0; i < nodes; i++) {
		if (options->entries[i] == ENTRIES_UNLIMITED)
			return ENTRIES_UNLIMITED;
		sum += options->entries[i];
	}
	for (uint32_t i = 0; i < nodes; i++) {
		if (options->entries[i] != 0 && sum - options->entries[i] < least)
			least = sum - options->entries[i];
	}
	return least != UINT64_MAX ? least : 0;
}

/* Prints the longest bypass. If the other nodes have used up all their entries in it, it is no
 * bound: with more entries there could be a longer one. */
static void print_bypass(const struct check_options *options, const struct check_result *result)
{
	uint64_t others = entries_of_others(options), most = result->bypass_max;

	if (!result->bypass_bounded)
		printf("  bypass    no bound: others may enter again and again after a request has "
		       "arrived\n");
	else if (others == ENTRIES_UNLIMITED)
		printf("  bypass    at most %" PRIu64 " %s of others after a request has arrived\n",
		       most, most == 1 ? "entry" : "entries");
	else if (most < others)
		printf("  bypass    at most %" PRIu64 " of the %" PRIu64
		       " entries of others after a request has arrived; it may be more with more "
		       "--entries\n",
		       most, others);
	else if (others != 0)
		printf("  bypass    %" PRIu64 " %s of others after a request has arrived. They had "
		       "no more, so this shows no bound\n",
		       most, most == 1 ? "entry" : "entries");
}

static void print_heading(const struct setup_words *words, const char *entries,
                          const struct check_options *options)
{
	const struct setup *setup = options->setup;
	bool election = setup->network.algorithm->kind == KIND_ELECTION;
	bool list = entries != NULL && strchr(entries, ',') != NULL;

	printf("%s, %s of %" PRIu32, setup->network.algorithm->name, setup->topology,
	       setup->network.graph.nodes);
	if (setup->nodes_chosen)
		printf(" (chosen for %s%s%s; --nodes N for another)",
		       setup->network.algorithm->name,
		       entries != NULL && !list ? " and --entries " : "",
		       entries != NULL && !list ? entries : "");
	if (!election && list)
		printf(", %s entries by node", entries);
	else if (!election)
		printf(", %s entr%s each", entries != NULL ? entries : "1",
		       entries == NULL || strcmp(entries, "1") == 0 ? "y" : "ies");
	printf(", %s", setup->fifo ? "channels keep order" : "messages may overtake each other");
	if (options->lose_token)
		printf("; any one token message at a time may be lost");
	conditions_print(words, setup, "; ");
	if (faults_any(&options->faults)) {
		struct text faults = {0};
		faults_describe(&options->faults, setup->network.algorithm, &faults);
		char *sentence = text_take(&faults);
		printf("; %s, at any moment", sentence);
		free(sentence);
	}
	putchar('\n');
}

/* For each invariant that claims to be exact, prints how many states it permits. All states that
 * were reached are among these, because the invariant held in them. */
static void print_permitted(const struct check_options *options, const struct check_result *result)
{
	const struct invariant *invariant = options->setup->network.algorithm->invariants;
	uint64_t permitted;

	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (!check_permitted(options, result, invariant, &permitted))
			continue;
		printf("  permitted %" PRIu64 " by \"%s\": ", permitted, invariant->name);
		if (permitted == result->states)
			printf("exactly the states that were reached\n");
		else
			printf("NOT EXACT, %" PRIu64 " of these states cannot be reached\n",
			       permitted - result->states);
	}
}

/* Prints notes without which a good result under faults could be misread. */
static void print_faults(const struct check_options *options, const struct check_result *result)
{
	const struct network *network = &options->setup->network;
	bool once = false;

	for (size_t i = 0; i < network->algorithm->messages_count; i++) {
		if ((result->never_sent >> i & 1) != 0)
			printf("  faults    no %s was ever sent, so none was lost or duplicated\n",
			       network->algorithm->messages[i].name);
	}
	for (uint32_t i = 0; i < network->graph.nodes && options->entries != NULL; i++)
		once = once || options->entries[i] == 1;
	if (once && options->faults.duplicate != 0 && result->verdict == VERDICT_HOLDS)
		printf("  faults    a second copy often does harm only during a later request: use "
		       "--entries 2\n");
}

void check_print(const struct setup_words *words, const char *entries,
                 const struct check_options *options, const struct check_result *result)
{
	const struct network *network = &options->setup->network;

	print_heading(words, entries, options);
	if (network->algorithm->kind == KIND_ELECTION)
		print_runs(words, network->graph.nodes, result);
	print_verdict(options, result);
	printf("  states    %" PRIu64 ", %" PRIu64 " transition%s, depth %" PRIu64 "%s%s",
	       result->states, result->transitions, plural(result->transitions), result->depth,
	       options->reduce   ? ", reduced by persistent sets"
	       : result->lowered ? ", numbers compared by their differences"
	                         : "",
	       result->complete ? "" : ", not complete");
	if (result->verdict == VERDICT_HOLDS && result->limit != NULL)
		printf(" (%s)", result->interrupted ? "interrupted" : "a limit was reached");
	putchar('\n');
	print_permitted(options, result);
	print_faults(options, result);
	bool all =
	        result->complete && !faults_any(&options->faults) && options->sought == SOUGHT_ANY;
	if (all && network->algorithm->kind == KIND_MUTEX)
		print_bypass(options, result);
	if (all && result->bounded)
		printf("  messages  %" PRIu64 " to %" PRIu64 " in a whole run\n",
		       result->messages_min, result->messages_max);
	printf("  time      %.3f s, %.2f M states/s, %.1f bytes a state\n", result->seconds,
	       (double)result->states / (result->seconds + 1e-9) / 1e6,
	       (double)result->memory / (double)result->memory_states);
	if (result->scenario != NULL)
		printf("\n%s", result->scenario);
}
