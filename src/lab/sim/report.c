#include "report.h"
#include "sim_report.h"

uint64_t sim_largest_message(const struct algorithm *algorithm, const struct sim_result *result,
                             enum carries carries)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < algorithm->messages_count; i++) {
		bool counts = carries == CARRIES_ANY ||
		              algorithm->messages[i].token == (carries == CARRIES_TOKEN);
		if (counts && result->bytes_largest[i] > largest)
			largest = result->bytes_largest[i];
	}
	return largest;
}

double sim_jain(const struct sim_result *result)
{
	double sum = (double)result->entries_all;

	return result->entries_all == 0 ? NAN
	                                : sum * sum / (result->askers * result->entries_squares);
}

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *ratio(uint64_t sum, uint64_t count)
{
	return count == 0 ? json_null() : report_number((double)sum / (double)count);
}

static json_t *time_number(uint64_t time)
{
	return report_number((double)time / MILLION);
}

static json_t *list_numbers(const uint32_t *numbers, uint32_t count)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, integer(numbers[i]));
	return list;
}

/* Returns a sum over the time after the warm-up; null if the run ended during the warm-up. */
static json_t *measured(const struct sim_result *result, uint64_t sum)
{
	return result->measured ? integer(sum) : json_null();
}

/* Does the report have a line for messages of this type? */
static bool is_told(const struct message_type *type, uint64_t count)
{
	return count > 0 || !type->rare;
}

static json_t *report_messages(const struct sim_options *options, const struct sim_result *result)
{
	const struct algorithm *algorithm = options->setup->network.algorithm;
	const struct range *entry = &result->entry.all;
	bool exact = options->load == LOAD_LIGHT && entry->min <= entry->max;
	json_t *by_type = json_object();

	for (size_t i = 0; i < algorithm->messages_count; i++) {
		if (!algorithm->messages[i].init &&
		    is_told(&algorithm->messages[i], result->messages_by_type[i]))
			json_object_set_new(by_type, algorithm->messages[i].name,
			                    measured(result, result->messages_by_type[i]));
	}
	return json_pack(
	        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total", measured(result, result->messages),
	        "per_entry", ratio(result->messages, result->entries), "min",
	        exact ? integer(entry->min) : json_null(), "max",
	        exact ? integer(entry->max) : json_null(), "idle",
	        algorithm->circulates ? measured(result, result->messages_idle) : json_null(),
	        "init", integer(result->messages_init), "by_type", by_type);
}

static json_t *report_delays(const struct sim_options *options, const struct sim_result *result)
{
	double unit = (double)distribution_mean(&options->delay);

	if (result->sync_count_all == 0 || unit == 0)
		return json_null();
	return json_pack("{s:o, s:o}", "mean",
	                 result->sync_count != 0 ? report_number((double)result->sync_sum /
	                                                         (double)result->sync_count / unit)
	                                         : json_null(),
	                 "max", report_number((double)result->sync_max / unit));
}

static json_t *report_responses(const struct sim_result *result)
{
	bool any = result->response_count != 0;

	if (!any && result->entries_all == 0 && result->waiting_count == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "mean",
	                 any ? report_number((double)result->response_sum /
	                                     (double)result->response_count / MILLION)
	                     : json_null(),
	                 "p50", any ? time_number(result->response_p50) : json_null(), "p99",
	                 any ? time_number(result->response_p99) : json_null(), "max",
	                 time_number(result->response_max));
}

static json_t *report_regenerated(const struct sim_options *options,
                                  const struct sim_result *result)
{
	if (!options->setup->network.algorithm->regenerates)
		return json_null();
	json_t *hops = result->regenerated == 0
	                       ? json_null()
	                       : json_pack("{s:o, s:o}", "mean",
	                                   ratio(result->regenerated_hops_sum, result->regenerated),
	                                   "max", integer(result->regenerated_hops_max));
	return json_pack("{s:o, s:o}", "count", integer(result->regenerated), "hops", hops);
}

json_t *sim_report(const struct sim_options *options, const char *load,
                   const struct sim_result *result, double seconds)
{
	const struct setup *setup = options->setup;
	const struct network *network = &setup->network;
	json_t *report = json_object();

	json_object_set_new(report, "algorithm", json_string(network->algorithm->name));
	json_object_set_new(report, "topology", json_string(setup->topology));
	json_object_set_new(report, "nodes", integer(network->graph.nodes));
	json_object_set_new(report, "edges", integer(network->graph.edges_count));
	json_object_set_new(report, "holder",
	                    network->algorithm->has_token ? integer(network->holder) : json_null());
	json_object_set_new(report, "seed", integer(options->seed));
	json_object_set_new(report, "load", json_string(load));
	json_object_set_new(report, "fifo", json_boolean(setup->fifo));
	json_object_set_new(report, "entries", integer(result->entries_all));
	json_object_set_new(report, "warmup", integer(options->warmup));
	json_object_set_new(report, "entries_per_node",
	                    json_pack("{s:o, s:o, s:o}", "min", integer(result->entries_each.min),
	                              "max", integer(result->entries_each.max), "jain",
	                              report_number(sim_jain(result))));
	json_object_set_new(
	        report, "waiting",
	        json_pack("{s:o, s:o}", "count", integer(result->waiting_count), "longest",
	                  result->waiting_count != 0 ? time_number(result->waiting_longest)
	                                             : json_null()));
	json_object_set_new(report, "starved",
	                    list_numbers(result->starved, result->starved_count));
	json_object_set_new(report, "messages", report_messages(options, result));
	json_object_set_new(
	        report, "bytes",
	        json_pack("{s:o, s:o, s:o}", "total", measured(result, result->bytes), "per_entry",
	                  ratio(result->bytes, result->entries), "largest",
	                  integer(sim_largest_message(network->algorithm, result, CARRIES_ANY))));
	json_object_set_new(report, "sync_delay", report_delays(options, result));
	json_object_set_new(report, "response", report_responses(result));
	json_object_set_new(report, "bypass",
	                    json_pack("{s:o}", "max", integer(result->bypass_max)));
	json_object_set_new(report, "state_bytes",
	                    json_pack("{s:o, s:o}", "mean",
	                              ratio(result->state_sum, network->graph.nodes), "max",
	                              integer(result->state_max)));
	json_object_set_new(report, "lost", integer(result->lost));
	json_object_set_new(report, "regenerated", report_regenerated(options, result));
	json_object_set_new(report, "virtual_time", time_number(result->time));
	json_object_set_new(report, "events", integer(result->events));
	json_object_set_new(report, "seconds", report_number(seconds));
	json_object_set_new(
	        report, "events_per_second",
	        seconds > 0 ? report_number((double)(uint64_t)((double)result->events / seconds))
	                    : json_null());
	json_object_set_new(report, "violations", integer(result->violations));
	return report;
}

json_t *election_report(const struct sim_options *options, const struct sim_result *result,
                        double seconds)
{
	const struct network *network = &options->setup->network;
	const struct algorithm *algorithm = network->algorithm;
	uint64_t announcement = 0;
	json_t *by_type = json_object(), *report = json_object();

	for (size_t i = 0; i < algorithm->messages_count; i++) {
		if (is_told(&algorithm->messages[i], result->messages_by_type[i]))
			json_object_set_new(by_type, algorithm->messages[i].name,
			                    integer(result->messages_by_type[i]));
		if (algorithm->messages[i].announcement)
			announcement += result->messages_by_type[i];
	}
	json_object_set_new(report, "algorithm", json_string(algorithm->name));
	json_object_set_new(report, "nodes", integer(network->graph.nodes));
	json_object_set_new(report, "arrangement",
	                    list_numbers(network->identifiers, network->graph.nodes));
	json_object_set_new(report, "initiators",
	                    list_numbers(options->setup->electorate.initiators,
	                                 options->setup->electorate.initiators_count));
	json_object_set_new(report, "seed", integer(options->seed));
	json_object_set_new(report, "leader",
	                    result->leader != 0 && !result->disputed ? integer(result->leader)
	                                                             : json_null());
	json_object_set_new(report, "agreed", json_boolean(result->violations == 0));
	json_object_set_new(report, "messages",
	                    json_pack("{s:o, s:o, s:o, s:o}", "total", integer(result->messages),
	                              "election", integer(result->messages - announcement),
	                              "announcement", integer(announcement), "by_type", by_type));
	json_object_set_new(report, "bytes", integer(result->bytes));
	json_object_set_new(report, "virtual_time", time_number(result->time));
	json_object_set_new(report, "events", integer(result->events));
	json_object_set_new(report, "seconds", report_number(seconds));
	json_object_set_new(report, "violations", integer(result->violations));
	return report;
}
