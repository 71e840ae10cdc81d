#include "distribution.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses a decimal at *text, as parse_decimal does, and moves *text past it. */
static int read_decimal(const char **text, uint64_t *ret_millionths)
{
	const char *c = *text;
	uint64_t whole = 0, part = 0;

	if (!is_digit(*c))
		return -1;
	for (; is_digit(*c); c++) {
		whole = whole * 10 + (uint64_t)(*c - '0');
		if (whole >= 1000u * (uint64_t)MILLION)
			return -1;
	}
	if (*c == '.') {
		uint64_t worth = MILLION;
		for (c++; is_digit(*c) && worth > 1; c++) {
			worth /= 10;
			part += worth * (uint64_t)(*c - '0');
		}
		if (worth == MILLION || is_digit(*c))
			return -1;
	}
	*text = c;
	*ret_millionths = whole * MILLION + part;
	return 0;
}

int parse_decimal(const char *text, uint64_t *ret_millionths)
{
	uint64_t millionths;
	if (read_decimal(&text, &millionths) != 0 || *text != '\0')
		return -1;
	*ret_millionths = millionths;
	return 0;
}

int distribution_parse(const char *text, const char *what, struct distribution *ret_distribution,
                       struct problem *problem)
{
	static const char *const names[] = {"constant:D", "uniform:A,B", "exp:M", NULL};
	struct distribution distribution = {.kind = DISTRIBUTION_CONSTANT};
	const char *c = text + strcspn(text, ":");
	bool right = *c == ':';

	c += right;
	if (strncmp(text, "uniform:", 8) == 0) {
		distribution.kind = DISTRIBUTION_UNIFORM;
		right = read_decimal(&c, &distribution.a) == 0 && *c++ == ',' &&
		        read_decimal(&c, &distribution.b) == 0 && distribution.a <= distribution.b;
	} else if (strncmp(text, "constant:", 9) == 0 || strncmp(text, "exp:", 4) == 0) {
		if (*text == 'e')
			distribution.kind = DISTRIBUTION_EXPONENTIAL;
		right = read_decimal(&c, &distribution.a) == 0;
	} else {
		const char *nearest = nearest_name(text, names);
		if (nearest != NULL)
			return problem_set(problem, "%s '%.40s': did you mean %s?", what, text,
			                   nearest);
		right = false;
	}
	if (!right || *c != '\0')
		return problem_set(problem,
		                   "%s '%.40s': constant:D, uniform:A,B (A at most B) or exp:M is "
		                   "needed, in decimals with "
		                   "at most 6 digits after the point, below 1000000000",
		                   what, text);
	*ret_distribution = distribution;
	return 0;
}

uint64_t distribution_draw(const struct distribution *distribution, struct random *random)
{
	switch (distribution->kind) {
	case DISTRIBUTION_UNIFORM:
		return distribution->a +
		       random_below(random, distribution->b - distribution->a + 1);
	case DISTRIBUTION_EXPONENTIAL:
		return random_exponential(random, distribution->a);
	case DISTRIBUTION_CONSTANT:
		break;
	}
	return distribution->a;
}

uint64_t distribution_mean(const struct distribution *distribution)
{
	return distribution->kind == DISTRIBUTION_UNIFORM ? (distribution->a + distribution->b) / 2
	                                                  : distribution->a;
}

uint64_t distribution_bound(const struct distribution *distribution)
{
	switch (distribution->kind) {
	case DISTRIBUTION_UNIFORM:
		return distribution->b;
	case DISTRIBUTION_EXPONENTIAL:
		return 10 * distribution->a;
	case DISTRIBUTION_CONSTANT:
		break;
	}
	return distribution->a;
}
