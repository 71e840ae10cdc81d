/*
 * The sentences of a comparison, for the terminal and for the page.
 */
#include "compare.h"

#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Has the same claim about the same subject failed at a smaller size? Then its line was written
 * there. */
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
	const struct paper_claim *claim = failed->claim;
	char *text = NULL;
	size_t size = 0;

	if (is_told(comparison, row_index, failed))
		return NULL;
	FILE *file = open_memstream(&text, &size);
	memory_must(file != NULL);
	/* Write the subject first, such as "neilsen" or "suzuki-kasami-b L=10". */
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
	if (failed->verdict == CLAIM_REFUTED)
		fprintf(file, ". Claim fails: %s", claim->refuted);
	else if (failed->verdict == CLAIM_OTHER)
		fprintf(file, ". The run is not what the document means: %s.", claim->other);
	else
		fputs(". VIOLATED: it ought to hold.", file);
	fclose(file);
	return text;
}

/* Is the subject left out at that size too, because it needs the same kind of graph? */
static bool is_left_out(const struct comparison *comparison, const struct compare_left_out *left,
                        uint32_t nodes)
{
	for (size_t i = 0; i < comparison->left_out_count; i++) {
		const struct compare_left_out *other = &comparison->left_out[i];
		if (other->subject == left->subject && other->needs == left->needs &&
		    other->nodes == nodes)
			return true;
	}
	return false;
}

/* Are the two subjects left out for the same reason? If the reason is the kind of graph, the sizes
 * must be the same too. */
static bool is_alike(const struct comparison *comparison, const struct compare_left_out *one,
                     const struct compare_left_out *other)
{
	if (one->needs != other->needs)
		return false;
	if (one->needs == GRAPH_NONE)
		return strcmp(one->why, other->why) == 0;
	for (size_t i = 0; i < comparison->options.nodes_count; i++) {
		uint32_t nodes = comparison->options.nodes[i];
		if (is_left_out(comparison, one, nodes) != is_left_out(comparison, other, nodes))
			return false;
	}
	return true;
}

/* Writes a text like "at 3, 5 nodes, because topology 'ring' is not a complete graph:". */
static void write_unsuited(const struct comparison *comparison, const struct compare_left_out *left,
                           FILE *line)
{
	bool first = true;

	fputs("at ", line);
	for (size_t i = 0; i < comparison->options.nodes_count; i++) {
		uint32_t nodes = comparison->options.nodes[i];
		if (!is_left_out(comparison, left, nodes))
			continue;
		fprintf(line, "%s%" PRIu32, first ? "" : ", ", nodes);
		first = false;
	}
	if (left->needs == GRAPH_STAR)
		fprintf(line,
		        " nodes, because node 1 is not linked to all others in topology '%s':",
		        left->subject->topology);
	else
		fprintf(line,
		        " nodes, because topology '%s' is not a %s graph:", left->subject->topology,
		        graph_class_name(left->needs));
}

char *compare_left_out_text(const struct comparison *comparison, size_t index)
{
	const struct compare_left_out *list = comparison->left_out, *left = &list[index];
	bool first = true;
	char *text = NULL;
	size_t size = 0;

	for (size_t i = 0; i < index; i++) {
		if (is_alike(comparison, &list[i], left))
			return NULL;
	}
	FILE *line = open_memstream(&text, &size);
	memory_must(line != NULL);
	if (left->needs != GRAPH_NONE)
		write_unsuited(comparison, left, line);
	else
		fprintf(line, "because %s:", left->why);
	for (size_t i = index; i < comparison->left_out_count; i++) {
		bool told = list[i].subject->parameter != NULL ||
		            (left->needs != GRAPH_NONE && list[i].nodes != left->nodes);
		if (told || !is_alike(comparison, &list[i], left))
			continue;
		fprintf(line, "%s %s", first ? "" : ",", list[i].subject->algorithm->name);
		first = false;
	}
	fclose(line);
	return text;
}
