/*
 * Writes a comparison as comma-separated values. The columns are the quantities that claims are
 * about, named as in the JSON report but with '_' for '.', and what else a plot may need.
 */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double of(const struct compare_load *load, double figure)
{
	return load->messages.count != 0 ? figure : NAN;
}

static double light_bytes(const struct compare_row *row)
{
	return of(&row->light, row->light.bytes);
}

static double light_idle(const struct compare_row *row)
{
	return of(&row->light, row->light.idle);
}

static double light_response(const struct compare_row *row)
{
	return of(&row->light, row->light.response_mean);
}

static double heavy_bytes(const struct compare_row *row)
{
	return of(&row->heavy, row->heavy.bytes);
}

static double heavy_response(const struct compare_row *row)
{
	return of(&row->heavy, row->heavy.response_mean);
}

/* Returns the first rate, or NAN if none was measured. Even then `poisson` can be read: it points
 * to a load of zeros. */
static double poisson_rate(const struct compare_row *row)
{
	return of(row->poisson, row->poisson->rate);
}

static double poisson_messages(const struct compare_row *row)
{
	return of(row->poisson, row->poisson->messages.mean);
}

static double poisson_bytes(const struct compare_row *row)
{
	return of(row->poisson, row->poisson->bytes);
}

static double poisson_idle(const struct compare_row *row)
{
	return of(row->poisson, row->poisson->idle);
}

static double poisson_sync(const struct compare_row *row)
{
	return of(row->poisson, row->poisson->sync_mean);
}

static double poisson_response(const struct compare_row *row)
{
	return of(row->poisson, row->poisson->response_mean);
}

static double poisson_bypass(const struct compare_row *row)
{
	return of(row->poisson, (double)row->poisson->bypass_max);
}

static double state_mean(const struct compare_row *row)
{
	return row->state_mean;
}

static double all_bytes(const struct compare_row *row)
{
	return row->all.messages.count != 0 ? row->all.bytes : NAN;
}

static double all_time(const struct compare_row *row)
{
	return row->all.messages.count != 0 ? row->all.time_mean : NAN;
}

static const struct {
	const char *name;
	double (*figure)(const struct compare_row *row);
} columns[] = {
        {"light_bytes", light_bytes},
        {"light_idle", light_idle},
        {"light_response_mean", light_response},
        {"heavy_bytes", heavy_bytes},
        {"heavy_response_mean", heavy_response},
        {"poisson_rate", poisson_rate},
        {"poisson_messages_mean", poisson_messages},
        {"poisson_bytes", poisson_bytes},
        {"poisson_idle", poisson_idle},
        {"poisson_sync_delay_mean", poisson_sync},
        {"poisson_response_mean", poisson_response},
        {"poisson_bypass_max", poisson_bypass},
        {"state_bytes_mean", state_mean},
        {"all_bytes", all_bytes},
        {"all_time_mean", all_time},
};

enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

static void write_header(FILE *file)
{
	fputs("kind,algorithm,parameter,topology,nodes,edges,diameter", file);
	for (int i = 0; i < QUANTITIES; i++) {
		putc(',', file);
		for (const char *c = quantity_name((enum quantity)i); *c != '\0'; c++)
			putc(*c == '.' ? '_' : *c, file);
	}
	for (size_t i = 0; i < COLUMNS; i++)
		fprintf(file, ",%s", columns[i].name);
	for (int i = CLAIM_HELD; i <= CLAIM_UNMEASURED; i++)
		fprintf(file, ",claims_%s", verdict_name((enum claim_verdict)i));
	fputs(",violation\n", file);
}

/* Writes a text, between quotation marks if it contains a comma, a quotation mark or a new line. */
static void write_text(const char *text, FILE *file)
{
	if (text == NULL || strpbrk(text, ",\"\n\r") == NULL) {
		fputs(text != NULL ? text : "", file);
		return;
	}
	putc('"', file);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			putc('"', file);
		putc(*text, file);
	}
	putc('"', file);
}

static void write_number(double number, FILE *file)
{
	if (isnan(number))
		putc(',', file);
	else
		fprintf(file, ",%.10g", number);
}

static void write_row(const struct compare_row *row, FILE *file)
{
	const struct algorithm *algorithm = row->subject->algorithm;
	size_t counts[CLAIM_UNMEASURED + 1] = {0};

	fprintf(file, "%s,%s,", algorithm->kind == KIND_MUTEX ? "mutex" : "election",
	        algorithm->name);
	write_text(row->subject->parameter, file);
	putc(',', file);
	write_text(row->topology, file);
	fprintf(file, ",%" PRIu32 ",%" PRIu64, row->nodes, row->edges);
	write_number(row->diameter, file);
	for (int i = 0; i < QUANTITIES; i++)
		write_number(compare_measured(row, (enum quantity)i), file);
	for (size_t i = 0; i < COLUMNS; i++)
		write_number(columns[i].figure(row), file);
	for (size_t i = 0; i < row->verdicts_count; i++)
		counts[row->verdicts[i].verdict]++;
	for (int i = CLAIM_HELD; i <= CLAIM_UNMEASURED; i++)
		fprintf(file, ",%zu", counts[i]);
	putc(',', file);
	write_text(row->violation, file);
	putc('\n', file);
}

void compare_write_csv(const struct comparison *comparison, FILE *file)
{
	write_header(file);
	for (size_t i = 0; i < comparison->rows_count; i++)
		write_row(&comparison->rows[i], file);
}
