/*
 * Feeds bytes as what baton-web is sent: headers, numbers, orders, and a node's INFO and events. An
 * order that is accepted has a name and a fence. Metrics have whole lines, each a comment or a
 * sample.
 */
#include "changes.h"
#include "figures.h"
#include "must.h"
#include "request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_order(const char *bytes, size_t size)
{
	struct break_order order;
	struct problem problem;

	if (request_break(bytes, size, &order, &problem) != 0)
		return;
	must(order.name_size >= 1 && order.name_size <= REQUEST_NAME_MAX);
	must(order.fence >= 1 && order.fence < UINT64_C(1) << 53);
}

static void try_headers(const char *text)
{
	struct problem problem;
	uint64_t number;

	if (request_is_host(text, "10.0.0.1", 7480)) {
		must(strchr(text, ':') != NULL);
		must(!request_is_own_origin(text, text));
	}
	request_is_own_origin(text, "localhost:7480");
	if (request_number(text, "count", 5, 1000, &number, &problem) == 0)
		must(number >= 5 && number <= 1000);
}

static void try_figures(const char *bytes, size_t size)
{
	json_t *figures = figures_parse(bytes, size);
	char *json = json_dumps(figures, JSON_COMPACT), *metrics = figures_metrics(figures);

	must(json != NULL && metrics != NULL);
	for (char *line = metrics, *end; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		must(end != NULL && end > line);
		*end = '\0';
		must(*line == '#' || strncmp(line, "baton_", 6) == 0 ||
		     strncmp(line, "process_", 8) == 0);
		must(*line == '#' || strchr(line, ' ') != NULL);
	}
	free(metrics);
	free(json);
	json_decref(figures);
}

static void try_changes(const char *bytes, size_t size)
{
	struct changes changes = {0};
	size_t half = size / 2;

	changes_add(&changes, 0, bytes, half, bytes + half, size - half);
	changes_add(&changes, 1, "x", 1, bytes, size);
	json_t *bundle = changes_take(&changes);
	char *json = bundle != NULL ? json_dumps(bundle, JSON_COMPACT) : NULL;
	must((json != NULL) == (bundle != NULL));
	free(json);
	json_decref(bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly that size, so that a sanitizer notices any read beyond it. */
	char *copy = malloc(size + 1);

	must(copy != NULL);
	if (size > 0)
		memcpy(copy, data, size);
	copy[size] = '\0';
	try_headers(copy);
	copy = realloc(copy, size + (size == 0));
	must(copy != NULL);
	try_order(copy, size);
	try_figures(copy, size);
	try_changes(copy, size);
	free(copy);
	return 0;
}
