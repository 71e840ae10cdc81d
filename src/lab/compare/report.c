#include "report.h"
#include "compare.h"

#include <math.h>
#include <string.h>

static json_t *integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *report_range(struct range range)
{
	if (range.min > range.max)
		return json_null();
	return json_pack("{s:o, s:o}", "min", integer(range.min), "max", integer(range.max));
}

static json_t *report_mean(const struct compare_mean *mean)
{
	if (mean->count == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "count", integer(mean->count), "mean",
	                 report_number(mean->mean), "error", report_number(mean->error));
}

/* Writes the measurements under one load. Extremes exist only for light load and stand beside
 * the mean. */
static json_t *report_load(const struct compare_load *load, bool has_token)
{
	json_t *messages = report_mean(&load->messages), *report = json_object();

	if (load->messages.count == 0) {
		json_decref(messages);
		json_decref(report);
		return json_null();
	}
	if (load->rate != 0)
		json_object_set_new(report, "rate", report_number(load->rate));
	if (load->entry.all.min <= load->entry.all.max) {
		json_object_set_new(messages, "min", integer(load->entry.all.min));
		json_object_set_new(messages, "max", integer(load->entry.all.max));
	}
	json_object_set_new(report, "messages", messages);
	if (load->entry.all.min <= load->entry.all.max) {
		json_object_set_new(report, "asked", report_range(load->entry.asked));
		json_object_set_new(report, "token",
		                    has_token ? report_range(load->entry.asked_token)
		                              : json_null());
		json_object_set_new(report, "others", report_range(load->entry.asked_others));
		json_object_set_new(
		        report, "time",
		        json_pack("{s:o, s:o}", "asked", report_number(load->asked_time), "token",
		                  has_token ? report_number(load->token_time) : json_null()));
	}
	json_object_set_new(report, "bytes", report_number(load->bytes));
	json_object_set_new(report, "idle", report_number(load->idle));
	json_object_set_new(report, "sync_delay",
	                    isnan(load->sync_mean)
	                            ? json_null()
	                            : json_pack("{s:o, s:o}", "mean",
	                                        report_number(load->sync_mean), "max",
	                                        report_number(load->sync_max)));
	json_object_set_new(report, "response",
	                    json_pack("{s:o, s:o}", "mean", report_number(load->response_mean),
	                              "max", report_number(load->response_max)));
	json_object_set_new(report, "bypass", json_pack("{s:o}", "max", integer(load->bypass_max)));
	return report;
}

static json_t *report_elections(const struct compare_elections *elections)
{
	json_t *messages = report_mean(&elections->messages);

	if (elections->messages.count == 0)
		return messages;
	json_object_set_new(messages, "min", integer(elections->messages_range.min));
	json_object_set_new(messages, "max", integer(elections->messages_range.max));
	return json_pack("{s:o, s:o, s:o, s:{s:o, s:o}}", "messages", messages, "announcement",
	                 report_range(elections->announcement), "bytes",
	                 report_number(elections->bytes), "time", "mean",
	                 report_number(elections->time_mean), "max",
	                 report_number(elections->time_max));
}

static json_t *report_verdicts(const struct compare_row *row)
{
	json_t *list = json_array();

	for (size_t i = 0; i < row->verdicts_count; i++) {
		const struct compare_verdict *verdict = &row->verdicts[i];
		const struct paper_claim *claim = verdict->claim;
		const char *why = verdict->verdict == CLAIM_REFUTED ? claim->refuted
		                  : verdict->verdict == CLAIM_OTHER ? claim->other
		                                                    : NULL;
		json_array_append_new(
		        list, json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "quantity",
		                        quantity_name(claim->quantity), "relation",
		                        relation_text(claim->relation), "formula", claim->formula,
		                        "where", text_or_null(claim->where), "claimed",
		                        report_number(verdict->claimed), "measured",
		                        report_number(verdict->measured), "verdict",
		                        verdict_name(verdict->verdict), "why", text_or_null(why)));
	}
	return list;
}

static json_t *report_row(const struct compare_row *row)
{
	const struct algorithm *algorithm = row->subject->algorithm;
	bool has_token = algorithm->has_token;
	json_t *report =
	        json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:b}", "algorithm", algorithm->name,
	                  "kind", algorithm->kind == KIND_MUTEX ? "mutex" : "election", "parameter",
	                  text_or_null(row->subject->parameter), "topology", row->topology, "nodes",
	                  integer(row->nodes), "edges", integer(row->edges), "diameter",
	                  report_number(row->diameter), "fifo", row->fifo);

	if (algorithm->kind == KIND_MUTEX) {
		json_t *rates = json_array();
		for (size_t i = 0; i < row->poisson_count; i++)
			json_array_append_new(rates, report_load(&row->poisson[i], has_token));
		json_t *heavy = report_load(&row->heavy, has_token);
		if (json_is_object(heavy))
			json_object_set_new(heavy, "varied", report_mean(&row->heavy_varied));
		json_object_set_new(report, "light", report_load(&row->light, has_token));
		json_object_set_new(report, "heavy", heavy);
		json_object_set_new(report, "poisson", rates);
		json_object_set_new(report, "first",
		                    json_pack("{s:o, s:o}", "centre",
		                              report_mean(&row->first_centre), "leaf",
		                              report_mean(&row->first_leaf)));
		json_object_set_new(report, "regenerated",
		                    json_pack("{s:o}", "hops", report_range(row->regenerated)));
	} else {
		json_object_set_new(report, "all", report_elections(&row->all));
		json_object_set_new(report, "one", report_elections(&row->one));
	}
	const struct headline *headline = headline_of(algorithm, row->subject->parameter);
	json_object_set_new(report, "claimed",
	                    headline == NULL ? json_null()
	                                     : json_pack("{s:s, s:s}", "messages", headline->text,
	                                                 "where", headline->where));
	json_object_set_new(
	        report, "committee",
	        row->committee_max == 0
	                ? json_null()
	                : report_range((struct range){row->committee_min, row->committee_max}));
	json_object_set_new(report, "state_bytes",
	                    json_pack("{s:o, s:o}", "mean", report_number(row->state_mean), "max",
	                              integer(row->state_max)));
	json_object_set_new(report, "token_bytes",
	                    row->token_bytes != 0 ? integer(row->token_bytes) : json_null());
	json_object_set_new(report, "request_bytes",
	                    row->request_bytes != 0 ? integer(row->request_bytes) : json_null());
	json_object_set_new(report, "violation", text_or_null(row->violation));
	json_object_set_new(report, "claims", report_verdicts(row));
	return report;
}

static json_t *report_counts(const size_t *counts)
{
	json_t *report = json_object();

	for (int i = CLAIM_HELD; i <= CLAIM_UNMEASURED; i++)
		json_object_set_new(report, verdict_name((enum claim_verdict)i),
		                    integer(counts[i]));
	return report;
}

json_t *compare_report(const struct comparison *comparison)
{
	const struct compare_options *options = &comparison->options;
	json_t *nodes = json_array(), *rows = json_array(), *left_out = json_array();

	for (size_t i = 0; i < options->nodes_count; i++)
		json_array_append_new(nodes, integer(options->nodes[i]));
	for (size_t i = 0; i < comparison->rows_count; i++)
		json_array_append_new(rows, report_row(&comparison->rows[i]));
	for (size_t i = 0; i < comparison->left_out_count; i++) {
		const struct compare_left_out *left = &comparison->left_out[i];
		json_array_append_new(left_out,
		                      json_pack("{s:s, s:o, s:o, s:s}", "algorithm",
		                                left->subject->algorithm->name, "parameter",
		                                text_or_null(left->subject->parameter), "nodes",
		                                integer(left->nodes), "why", left->why));
	}
	return json_pack("{s:o, s:o, s:[o, o], s:o, s:o, s:o, s:o, s:b}", "nodes", nodes, "entries",
	                 integer(options->entries), "seeds", integer(options->seed_first),
	                 integer(options->seed_last), "rows", rows, "left_out", left_out, "claims",
	                 report_counts(comparison->verdict_counts), "rules",
	                 report_counts(comparison->rule_counts), "violated", comparison->violated);
}

static json_t *report_claim(const struct paper_claim *claim)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "algorithm",
	                 claim->algorithm, "parameter", text_or_null(claim->parameter), "graph",
	                 claim_graph_text(claim->graph), "nodes_min", integer(claim->nodes_min),
	                 "quantity", quantity_name(claim->quantity), "text",
	                 quantity_text(claim->quantity), "relation", relation_text(claim->relation),
	                 "formula", claim->formula, "where", text_or_null(claim->where), "refuted",
	                 text_or_null(claim->refuted), "other", text_or_null(claim->other));
}

json_t *compare_report_claims(const struct algorithm *const *algorithms, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
			if (strcmp(claim->algorithm, algorithms[i]->name) == 0)
				json_array_append_new(list, report_claim(claim));
		}
	}
	return json_pack("{s:o}", "claims", list);
}
