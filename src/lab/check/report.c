#include "check.h"

#include <string.h>

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *report_number_of_entries(uint32_t entries)
{
	return entries == ENTRIES_UNLIMITED ? json_string("unlimited") : integer(entries);
}

static json_t *report_entries(const struct check_options *options)
{
	uint32_t nodes = options->setup->network.graph.nodes;
	bool alike = true;
	json_t *list;

	for (uint32_t i = 1; i < nodes; i++)
		alike = alike && options->entries[i] == options->entries[0];
	if (alike)
		return report_number_of_entries(options->entries[0]);
	list = json_array();
	for (uint32_t i = 0; i < nodes; i++)
		json_array_append_new(list, report_number_of_entries(options->entries[i]));
	return list;
}

/* Does the algorithm run as its document prints it? Then no invariants are listed: they are claimed
 * only for the corrected text. */
static bool is_printed(const struct network *network)
{
	const struct parameter *parameter = network->algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		if (strcmp(parameter[i].name, "text") == 0)
			return network->parameters[i] != parameter[i].choices[0].value;
	}
	return false;
}

static json_t *report_invariants(const struct check_options *options,
                                 const struct check_result *result)
{
	const struct network *network = &options->setup->network;
	const struct algorithm *algorithm = network->algorithm;
	const struct invariant *invariant = algorithm->invariants;
	bool printed = is_printed(network);
	const char *verdict = result->complete ? "holds" : NULL;
	json_t *list = json_object();

	/* Algorithms claim their properties only for runs without faults. */
	if (faults_any(&options->faults) && result->verdict != VERDICT_BROKEN)
		return list;
	if (algorithm->has_token && !algorithm->regenerates && !options->lose_token)
		json_object_set_new(list, "one_token", text_or_null(verdict));
	/* A reduction may leave out states that break an invariant about several nodes. */
	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (!printed && !(options->reduce && invariant->global != NULL))
			json_object_set_new(list, invariant->name,
			                    text_or_null(invariant_applies(invariant, network)
			                                         ? verdict
			                                         : NULL));
	}
	if (result->verdict == VERDICT_INVARIANT)
		json_object_set_new(list, result->what, json_string("violated"));
	if (result->verdict == VERDICT_BROKEN)
		json_object_set_new(list, "steps_are_allowed", json_string("violated"));
	return list;
}

enum finding check_finding(const struct check_options *options, const struct check_result *result,
                           enum verdict_kind property)
{
	uint32_t nodes = options->setup->network.graph.nodes;

	if (result->verdict == property)
		return FINDING_VIOLATED;
	if (!result->complete ||
	    (options->sought != SOUGHT_ANY && property != VERDICT_MUTUAL_EXCLUSION))
		return FINDING_UNDECIDED;
	must(property != VERDICT_STARVATION || options->entries != NULL);
	for (uint32_t i = 0; i < nodes && property == VERDICT_STARVATION; i++) {
		if (options->entries[i] != ENTRIES_UNLIMITED)
			return FINDING_UNDECIDED;
	}
	return FINDING_HOLDS;
}

bool check_permitted(const struct check_options *options, const struct check_result *result,
                     const struct invariant *invariant, uint64_t *ret_permitted)
{
	const struct network *network = &options->setup->network;

	if (invariant->permitted == NULL || !result->complete || options->lose_token ||
	    faults_any(&options->faults) || options->reduce || result->lowered ||
	    is_printed(network))
		return false;
	for (uint32_t i = 0; i < network->graph.nodes; i++) {
		if (options->entries[i] != ENTRIES_UNLIMITED)
			return false;
	}
	*ret_permitted = invariant->permitted(network);
	return *ret_permitted != UINT64_MAX;
}

/* Adds for each exact invariant how many states it permits, to be compared with "states". */
static void report_permitted(json_t *report, const struct check_options *options,
                             const struct check_result *result)
{
	const struct invariant *invariant = options->setup->network.algorithm->invariants;
	json_t *list = json_object();
	uint64_t permitted;

	for (; invariant != NULL && invariant->name != NULL; invariant++) {
		if (check_permitted(options, result, invariant, &permitted))
			json_object_set_new(list, invariant->name, integer(permitted));
	}
	if (json_object_size(list) > 0)
		json_object_set_new(report, "permitted", list);
	else
		json_decref(list);
}

/* Adds the verdicts, such as "mutual_exclusion": "holds". */
static void report_findings(json_t *report, const struct check_options *options,
                            const struct check_result *result)
{
	static const struct {
		enum kind kind;
		enum verdict_kind property;
		const char *name, *holds, *violated;
	} findings[] = {
	        {KIND_MUTEX, VERDICT_MUTUAL_EXCLUSION, "mutual_exclusion", "holds", "violated"},
	        {KIND_MUTEX, VERDICT_DEADLOCK, "deadlock", "none", "found"},
	        {KIND_MUTEX, VERDICT_STARVATION, "starvation", "none", "found"},
	        {KIND_ELECTION, VERDICT_UNIQUE_LEADER, "unique_leader", "holds", "violated"},
	        {KIND_ELECTION, VERDICT_AGREEMENT, "agreement", "holds", "violated"},
	        {KIND_ELECTION, VERDICT_TERMINATION, "termination", "holds", "violated"},
	};

	for (size_t i = 0; i < sizeof(findings) / sizeof(*findings); i++) {
		if (findings[i].kind != options->setup->network.algorithm->kind)
			continue;
		enum finding finding = check_finding(options, result, findings[i].property);
		json_object_set_new(report, findings[i].name,
		                    text_or_null(finding == FINDING_HOLDS ? findings[i].holds
		                                 : finding == FINDING_VIOLATED
		                                         ? findings[i].violated
		                                         : NULL));
	}
}

json_t *check_report(const struct check_options *options, const struct check_result *result)
{
	const struct setup *setup = options->setup;
	/* Figures are not reported for runs with faults, where they mean nothing. */
	bool all = result->complete && !faults_any(&options->faults);
	json_t *report = json_object();

	json_object_set_new(report, "algorithm", json_string(setup->network.algorithm->name));
	json_object_set_new(report, "topology", json_string(setup->topology));
	json_object_set_new(report, "nodes", integer(setup->network.graph.nodes));
	json_object_set_new(report, "entries",
	                    options->entries != NULL ? report_entries(options) : json_null());
	json_object_set_new(report, "fifo", json_boolean(setup->fifo));
	json_object_set_new(report, "states", integer(result->states));
	json_object_set_new(report, "transitions", integer(result->transitions));
	json_object_set_new(report, "depth", integer(result->depth));
	json_object_set_new(report, "complete", json_boolean(result->complete));
	report_findings(report, options, result);
	json_object_set_new(report, "invariants", report_invariants(options, result));
	report_permitted(report, options, result);
	json_object_set_new(report, "max_bypass",
	                    all && result->bypass_bounded ? integer(result->bypass_max)
	                                                  : json_null());
	json_object_set_new(report, "max_messages",
	                    all && result->bounded ? integer(result->messages_max) : json_null());
	json_object_set_new(report, "min_messages",
	                    all && result->bounded ? integer(result->messages_min) : json_null());
	json_object_set_new(report, "seconds", json_real(result->seconds));
	json_object_set_new(
	        report, "states_per_second",
	        json_integer((json_int_t)((double)result->states / (result->seconds + 1e-9))));
	json_object_set_new(report, "bytes_per_state",
	                    json_real((double)result->memory / (double)result->memory_states));
	if (setup->network.algorithm->kind == KIND_ELECTION) {
		json_object_set_new(report, "runs", integer(result->runs));
		json_object_set_new(report, "reduction",
		                    options->reduce ? json_string("persistent sets") : json_null());
	}
	if (result->lowered)
		json_object_set_new(report, "reduction", json_string("differences of numbers"));
	if (faults_any(&options->faults)) {
		struct text faults = {0};
		faults_describe(&options->faults, setup->network.algorithm, &faults);
		char *sentence = text_take(&faults);
		json_object_set_new(report, "faults", json_string(sentence));
		free(sentence);
		json_t *never = json_array();
		for (size_t i = 0; i < setup->network.algorithm->messages_count; i++) {
			if ((result->never_sent >> i & 1) != 0)
				json_array_append_new(
				        never,
				        json_string(setup->network.algorithm->messages[i].name));
		}
		json_object_set_new(report, "never_sent", never);
	}
	json_object_set_new(report, "counterexample", text_or_null(result->scenario));
	return report;
}
