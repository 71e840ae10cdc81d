/*
 * Decides whether the measurements agree with the claims.
 */
#include "compare.h"

#include <math.h>
#include <string.h>

static double smallest(struct range range)
{
	return range.min > range.max ? NAN : (double)range.min;
}

static double largest(struct range range)
{
	return range.min > range.max ? NAN : (double)range.max;
}

static double of_load(const struct compare_load *load, double figure)
{
	return load->messages.count == 0 ? NAN : figure;
}

static double of_light(const struct compare_row *row, enum quantity quantity)
{
	const struct sim_entry_messages *entry = &row->light.entry;

	if (row->light.messages.count == 0)
		return NAN;
	if (quantity == LIGHT_MEAN)
		return row->light.messages.mean;
	if (quantity == LIGHT_RESPONSE_MAX)
		return row->light.response_max;
	if (quantity == LIGHT_ASKED_TIME)
		return row->light.asked_time;
	if (quantity == LIGHT_TOKEN_TIME)
		return row->subject->algorithm->has_token ? row->light.token_time : NAN;
	if (quantity == LIGHT_MIN)
		return smallest(entry->all);
	if (quantity == LIGHT_MAX)
		return largest(entry->all);
	if (quantity == LIGHT_ASKED_MIN)
		return smallest(entry->asked);
	if (!row->subject->algorithm->has_token &&
	    (quantity == LIGHT_TOKEN_MIN || quantity == LIGHT_TOKEN_MAX))
		return NAN;
	if (quantity == LIGHT_TOKEN_MIN)
		return smallest(entry->asked_token);
	if (quantity == LIGHT_TOKEN_MAX)
		return largest(entry->asked_token);
	return quantity == LIGHT_OTHERS_MIN ? smallest(entry->asked_others)
	                                    : largest(entry->asked_others);
}

static double of_elections(const struct compare_elections *elections, double figure)
{
	return elections->messages.count == 0 ? NAN : figure;
}

double compare_measured(const struct compare_row *row, enum quantity quantity)
{
	switch (quantity) {
	case LIGHT_MEAN:
	case LIGHT_MIN:
	case LIGHT_MAX:
	case LIGHT_ASKED_MIN:
	case LIGHT_TOKEN_MIN:
	case LIGHT_TOKEN_MAX:
	case LIGHT_OTHERS_MIN:
	case LIGHT_OTHERS_MAX:
	case LIGHT_RESPONSE_MAX:
	case LIGHT_ASKED_TIME:
	case LIGHT_TOKEN_TIME:
		return of_light(row, quantity);
	case FIRST_CENTRE_MEAN:
		return row->first_centre.count == 0 ? NAN : row->first_centre.mean;
	case FIRST_LEAF_MEAN:
		return row->first_leaf.count == 0 ? NAN : row->first_leaf.mean;
	case HEAVY_MEAN:
		return of_load(&row->heavy, row->heavy.messages.mean);
	case HEAVY_VARIED_MEAN:
		return row->heavy_varied.count == 0 ? NAN : row->heavy_varied.mean;
	case HEAVY_SYNC_MEAN:
		return of_load(&row->heavy, row->heavy.sync_mean);
	case HEAVY_SYNC_MAX:
		return of_load(&row->heavy, row->heavy.sync_max);
	case HEAVY_BYPASS:
		return of_load(&row->heavy, (double)row->heavy.bypass_max);
	case COMMITTEE_MAX:
		return row->committee_max == 0 ? NAN : (double)row->committee_max;
	case STATE_BYTES:
		return (double)row->state_max;
	case TOKEN_BYTES:
		return row->token_bytes == 0 ? NAN : (double)row->token_bytes;
	case REQUEST_BYTES:
		return row->request_bytes == 0 ? NAN : (double)row->request_bytes;
	case REGENERATED_MAX:
		return largest(row->regenerated);
	case ALL_MEAN:
		return of_elections(&row->all, row->all.messages.mean);
	case ALL_MIN:
		return of_elections(&row->all, smallest(row->all.messages_range));
	case ALL_MAX:
		return of_elections(&row->all, largest(row->all.messages_range));
	case ALL_TIME_MAX:
		return of_elections(&row->all, row->all.time_max);
	case ONE_MIN:
		return of_elections(&row->one, smallest(row->one.messages_range));
	case ONE_MAX:
		return of_elections(&row->one, largest(row->one.messages_range));
	case ONE_TIME_MAX:
		return of_elections(&row->one, row->one.time_max);
	case ANNOUNCEMENT_MAX:
		return of_elections(&row->all, largest(row->all.announcement));
	case QUANTITIES:
		break;
	}
	return NAN;
}

/* Returns the mean that a quantity is taken from, or NULL. A mean has a statistical error, which
 * the verdict allows for. */
static const struct compare_mean *mean_of(const struct compare_row *row, enum quantity quantity)
{
	return quantity == LIGHT_MEAN          ? &row->light.messages
	       : quantity == HEAVY_MEAN        ? &row->heavy.messages
	       : quantity == HEAVY_VARIED_MEAN ? &row->heavy_varied
	       : quantity == FIRST_CENTRE_MEAN ? &row->first_centre
	       : quantity == FIRST_LEAF_MEAN   ? &row->first_leaf
	       : quantity == ALL_MEAN          ? &row->all.messages
	                                       : NULL;
}

/* Are there enough random samples to judge a claim about a mean, or about a value that must
 * occur sooner or later? */
static bool is_enough(const struct compare_row *row, const struct paper_claim *claim)
{
	enum { ENTRIES_ENOUGH = 1000, ELECTIONS_ENOUGH = 20, ROUNDS_ENOUGH = 50 };

	if (claim->relation == AT_BEST)
		return row->light.messages.count >= (uint64_t)ROUNDS_ENOUGH * row->nodes;
	if (claim->quantity == ALL_MEAN)
		return row->all.messages.count >= ELECTIONS_ENOUGH;
	const struct compare_mean *mean = mean_of(row, claim->quantity);
	return mean == NULL || claim->quantity == HEAVY_MEAN || mean->count >= ENTRIES_ENOUGH;
}

/*
 * Returns how far a measured value may be off. A mean may be off by five standard errors or one per
 * cent, whichever is more, because successive entries are not quite independent and the end of a
 * run cuts some of them short. Quantities that are counted may be off only by rounding, and so may
 * the quantity of an EXACTLY claim.
 */
static double tolerance(const struct compare_row *row, const struct compare_verdict *verdict)
{
	const struct compare_mean *mean = mean_of(row, verdict->claim->quantity);
	double chance = mean != NULL ? 5 * mean->error : 0;

	if (verdict->claim->relation == EXACTLY ||
	    (mean == NULL && verdict->claim->relation != ON_AVERAGE))
		return 1e-9;
	return chance > verdict->claimed / 100 ? chance : verdict->claimed / 100;
}

static enum claim_verdict decide(bool holds, const struct paper_claim *claim)
{
	return holds                    ? CLAIM_HELD
	       : claim->refuted != NULL ? CLAIM_REFUTED
	       : claim->other != NULL   ? CLAIM_OTHER
	                                : CLAIM_VIOLATED;
}

static enum claim_verdict judge(const struct compare_row *row,
                                const struct compare_verdict *verdict)
{
	const struct paper_claim *claim = verdict->claim;
	double more = verdict->measured - verdict->claimed, slack = tolerance(row, verdict);

	if (isnan(verdict->measured))
		return CLAIM_UNMEASURED;
	switch (claim->relation) {
	case AT_MOST:
		if (more > slack && !is_enough(row, claim))
			return CLAIM_UNMEASURED;
		return decide(more <= slack, claim);
	case AT_LEAST:
		return decide(more >= -slack, claim);
	case AT_BEST:
		if (more > slack && !is_enough(row, claim))
			return CLAIM_UNMEASURED;
		return decide(fabs(more) <= slack, claim);
	case EXACTLY:
		return decide(fabs(more) <= slack, claim);
	case ON_AVERAGE:
		if (!is_enough(row, claim))
			return CLAIM_UNMEASURED;
		return decide(fabs(more) <= slack, claim);
	case ABOUT:
		return decide(fabs(more) <= verdict->claimed / 4, claim);
	case OF_ORDER:
		break;
	}
	return CLAIM_UNMEASURED;
}

/*
 * A claim of order is about growth. It holds if the ratio of measured to claimed value, at a size
 * at least sixteen times the smallest, is at most three times the ratio at the smallest size. (If
 * the value grows like n^2 where n log n is claimed, the ratio becomes more than five times as
 * large, provided that the smallest size is at least 4.)
 */
static void judge_order(struct comparison *comparison, size_t row_index, size_t claim_index)
{
	enum { APART = 16, GROWTH_MAX = 3 };
	const struct compare_row *row = &comparison->rows[row_index];
	struct compare_verdict *verdict = &row->verdicts[claim_index];

	for (size_t i = 0; i < row_index; i++) {
		const struct compare_row *small = &comparison->rows[i];
		if (small->subject != row->subject || small->nodes * (uint64_t)APART > row->nodes)
			continue;
		for (size_t k = 0; k < small->verdicts_count; k++) {
			const struct compare_verdict *other = &small->verdicts[k];
			if (other->claim != verdict->claim || isnan(other->measured))
				continue;
			double growth = verdict->measured / verdict->claimed /
			                (other->measured / other->claimed);
			verdict->verdict = decide(growth <= GROWTH_MAX, verdict->claim);
			return;
		}
	}
}

void compare_judge(struct comparison *comparison)
{
	memset(comparison->verdict_counts, 0, sizeof(comparison->verdict_counts));
	memset(comparison->rule_counts, 0, sizeof(comparison->rule_counts));
	comparison->violated = false;
	for (size_t i = 0; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		comparison->violated = comparison->violated || row->violation != NULL;
		for (size_t k = 0; k < row->verdicts_count; k++) {
			struct compare_verdict *verdict = &row->verdicts[k];
			verdict->measured = compare_measured(row, verdict->claim->quantity);
			verdict->verdict = judge(row, verdict);
			if (verdict->claim->relation == OF_ORDER && !isnan(verdict->measured))
				judge_order(comparison, i, k);
			comparison->verdict_counts[verdict->verdict]++;
			comparison->rule_counts[verdict->verdict] += verdict->claim->where == NULL;
			comparison->violated =
			        comparison->violated || verdict->verdict == CLAIM_VIOLATED;
		}
	}
}

void compare_count(const struct compare_row *row, bool of_documents,
                   size_t ret_counts[CLAIM_UNMEASURED + 1])
{
	memset(ret_counts, 0, (CLAIM_UNMEASURED + 1) * sizeof(*ret_counts));
	for (size_t i = 0; i < row->verdicts_count; i++)
		ret_counts[row->verdicts[i].verdict] +=
		        (row->verdicts[i].claim->where != NULL) == of_documents;
}

const char *verdict_name(enum claim_verdict verdict)
{
	static const char *const names[] = {
	        [CLAIM_HELD] = "held",
	        [CLAIM_VIOLATED] = "violated",
	        [CLAIM_REFUTED] = "refuted",
	        [CLAIM_OTHER] = "other",
	        [CLAIM_UNMEASURED] = "unmeasured",
	};
	return names[verdict];
}
