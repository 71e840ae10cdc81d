/*
 * What a comparison has to say in whole sentences, for the terminal and for the page.
 */
#include "compare.h"

#include "must.h"

#include <inttypes.h>
#include <stdlib.h>

/* Has the same claim about the same subject failed at a smaller size? Then it was told there. */
static bool is_told(const struct comparison *comparison, size_t row_index,
                    const struct compare_verdict *verdict)
{
	const struct compare_row *row = &comparison->rows[row_index];

	for (size_t i = 0; i < row_index; i++) {
		const struct compare_row *other = &comparison->rows[i];
		for (size_t k = 0; k < other->verdicts_count && other->subject == row->subject;
		     k++) {
			if (other->verdicts[k].claim == verdict->claim &&
			    other->verdicts[k].verdict == verdict->verdict)
				return true;
		}
	}
	return false;
}

char *compare_failure_text(const struct comparison *comparison, size_t row_index,
                           size_t verdict_index)
{
	const struct compare_row *first = &comparison->rows[row_index];
	const struct compare_verdict *failed = &first->verdicts[verdict_index];
	const struct claim *claim = failed->claim;
	char *text = NULL;
	size_t size = 0;

	if (is_told(comparison, row_index, failed))
		return NULL;
	FILE *file = open_memstream(&text, &size);
	must(file != NULL);
	/* "neilsen", "suzuki-kasami-b L=10" */
	fputs(first->subject->algorithm->name, file);
	if (first->subject->parameter != NULL)
		fprintf(file, " %s", first->subject->parameter);
	fprintf(file, ", %s: %s %s, says %s; ", quantity_text(claim->quantity),
	        relation_text(claim->relation), claim->formula,
	        claim->where != NULL ? claim->where : "what follows from the rules");
	for (size_t i = row_index; i < comparison->rows_count; i++) {
		const struct compare_row *row = &comparison->rows[i];
		for (size_t k = 0; k < row->verdicts_count && row->subject == first->subject; k++) {
			const struct compare_verdict *verdict = &row->verdicts[k];
			if (verdict->claim == claim && verdict->verdict == failed->verdict)
				fprintf(file, "%sN=%" PRIu32 ": %.4g, not %.4g",
				        row == first ? "" : "; ", row->nodes, verdict->measured,
				        verdict->claimed);
		}
	}
	if (failed->verdict == CLAIM_WRONG)
		fprintf(file, ". Claim fails: %s.", claim->wrong);
	else
		fputs(". VIOLATED: it ought to hold.", file);
	fclose(file);
	return text;
}

char *compare_left_out_text(const struct comparison *comparison, size_t index)
{
	const struct compare_left_out *left = &comparison->left_out[index];
	bool told = left->subject->parameter != NULL;
	char *text = NULL;
	size_t size = 0;

	for (size_t i = 0; i < index; i++)
		told = told || comparison->left_out[i].subject == left->subject;
	if (told)
		return NULL;
	FILE *line = open_memstream(&text, &size);
	must(line != NULL);
	fprintf(line, "%s at ", left->subject->algorithm->name);
	for (size_t i = index; i < comparison->left_out_count; i++) {
		if (comparison->left_out[i].subject == left->subject)
			fprintf(line, "%s%" PRIu32, i == index ? "" : ", ",
			        comparison->left_out[i].nodes);
	}
	fprintf(line, " nodes: %s", left->why);
	fclose(line);
	return text;
}
