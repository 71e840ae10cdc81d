#include "load.h"

#include <string.h>

/* Parses the rate of poisson:RATE or wishes:RATE. */
static int parse_rate(const char *text, uint64_t *ret_rate, struct problem *problem)
{
	size_t length = strcspn(text, ":");

	if (parse_decimal(text + length + 1, ret_rate) == 0 && *ret_rate != 0)
		return 0;
	return problem_set(problem,
	                   "--load '%.40s': %.*s:RATE needs a decimal above 0 and below "
	                   "1000000000, with at most 6 digits after the point",
	                   text, (int)length, text);
}

/* Returns the load with that name, or the index of the final NULL if there is none. */
static enum load find_load(const char *text, const char *const *names)
{
	enum load load = LOAD_LIGHT;

	for (; names[load] != NULL; load++) {
		size_t length = strcspn(names[load], ":");
		bool rated = names[load][length] == ':';
		if (strncmp(text, names[load], length + rated) == 0 &&
		    (rated || text[length] == '\0'))
			break;
	}
	return load;
}

static int parse_one_of_loads(const char *text, const char *const *names, const char *all,
                              enum load *ret_load, uint64_t *ret_rate, struct problem *problem)
{
	enum load load = find_load(text, names);

	*ret_rate = 0;
	if (names[load] == NULL) {
		const char *nearest = nearest_name(text, names);
		return problem_set(problem,
		                   nearest != NULL ? "--load '%.40s': did you mean %s?"
		                                   : "--load '%.40s': %s is needed",
		                   text, nearest != NULL ? nearest : all);
	}
	*ret_load = load;
	return strchr(names[load], ':') != NULL ? parse_rate(text, ret_rate, problem) : 0;
}

int parse_load(const char *text, enum load *ret_load, uint64_t *ret_rate, struct problem *problem)
{
	static const char *const names[] = {[LOAD_LIGHT] = "light",
	                                    [LOAD_HEAVY] = "heavy",
	                                    [LOAD_POISSON] = "poisson:RATE",
	                                    [LOAD_WISHES] = "wishes:RATE",
	                                    NULL};

	return parse_one_of_loads(text, names, "light, heavy, poisson:RATE or wishes:RATE",
	                          ret_load, ret_rate, problem);
}

int parse_compared_load(const char *text, enum load *ret_load, uint64_t *ret_rate,
                        struct problem *problem)
{
	static const char *const names[] = {[LOAD_LIGHT] = "light",
	                                    [LOAD_HEAVY] = "heavy",
	                                    [LOAD_POISSON] = "poisson:RATE",
	                                    NULL};
	enum { RATE_LEAST = 100 }; /* the smallest rate, in millionths */

	if (parse_one_of_loads(text, names, "light, heavy or poisson:RATE", ret_load, ret_rate,
	                       problem) != 0)
		return -1;
	/* A circulating token would make very many hops between two requests. */
	if (*ret_load == LOAD_POISSON && *ret_rate < RATE_LEAST)
		return problem_set(problem,
		                   "--load '%.40s': a rate of at least 0.0001 is needed; below "
		                   "that, take light load",
		                   text);
	return 0;
}
