#include "summary.h"

#include "must.h"
#include "report.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

double student_quantile(uint64_t freedom)
{
	static const double few[] = {
	        12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851,
	        2.364624252,  2.306004135, 2.262157163, 2.228138852, 2.200985160, 2.178812830,
	        2.160368656,  2.144786688, 2.131449546, 2.119905299, 2.109815578, 2.100922040,
	        2.093024054,  2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
	        2.059538553,  2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
	};
	const double z = 1.959963985, v = (double)freedom;

	must(freedom >= 1);
	if (freedom <= sizeof(few) / sizeof(*few))
		return few[freedom - 1];
	/* These are the first terms of the expansion in powers of 1/v. For v this large they are
	 * correct to six digits. */
	return z + (pow(z, 3) + z) / (4 * v) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * v * v) +
	       (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / (384 * v * v * v);
}

/* Is this a field that is the same in all runs, or a time that depends on the machine? */
static bool is_left_out(const char *name)
{
	static const char *const names[] = {"seed",        "nodes",   "edges",
	                                    "holder",      "entries", "warmup",
	                                    "arrangement", "seconds", "events_per_second",
	                                    "initiators",  "starved", NULL};

	for (size_t i = 0; names[i] != NULL; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* Returns the value at a path such as "messages.total", or NULL. */
static const json_t *find(const json_t *report, const char *path)
{
	while (report != NULL && *path != '\0') {
		size_t length = strcspn(path, ".");
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)length, path);
		report = json_object_get(report, name);
		path += length + (path[length] == '.');
	}
	return report;
}

size_t summary_count(const json_t *runs, const char *path)
{
	size_t count = 0, i;
	const json_t *run;

	json_array_foreach ((json_t *)runs, i, run)
		count += json_is_number(find(run, path));
	return count;
}

static void summarize(const json_t *runs, const char *path, json_t *summary)
{
	double count = 0, sum = 0, squares = 0;
	size_t i;
	const json_t *run;

	/* Compute the mean first: summing squared differences from the mean loses fewer digits than
	 * summing squares. */
	json_array_foreach ((json_t *)runs, i, run) {
		const json_t *value = find(run, path);
		if (!json_is_number(value))
			continue;
		count++;
		sum += json_number_value(value);
	}
	if (count == 0)
		return;
	double mean = sum / count;
	json_array_foreach ((json_t *)runs, i, run) {
		const json_t *value = find(run, path);
		if (json_is_number(value))
			squares += pow(json_number_value(value) - mean, 2);
	}
	json_t *interval = json_null();
	if (count > 1) {
		double half =
		        student_quantile((uint64_t)count - 1) * sqrt(squares / (count - 1) / count);
		interval =
		        json_pack("[o, o]", report_number(mean - half), report_number(mean + half));
	}
	json_object_set_new(summary, path,
	                    json_pack("{s:o, s:o}", "mean", report_number(mean), "ci95", interval));
}

/* Summarizes every path at which some run has a number, in the order of the report. */
static void gather(const json_t *runs, const json_t *part, const char *prefix, json_t *summary)
{
	const char *name;
	json_t *value;
	char path[192];

	json_object_foreach ((json_t *)part, name, value) {
		if (*prefix == '\0' && is_left_out(name))
			continue;
		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix != '\0' ? "." : "", name);
		if (json_is_object(value))
			gather(runs, value, path, summary);
		else if (json_is_number(value) && json_object_get(summary, path) == NULL)
			summarize(runs, path, summary);
	}
}

json_t *summary_make(const json_t *runs)
{
	json_t *summary = json_object();
	size_t i;
	const json_t *run;

	json_array_foreach ((json_t *)runs, i, run)
		gather(runs, run, "", summary);
	return summary;
}
