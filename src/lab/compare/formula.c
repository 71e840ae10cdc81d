#include "formula.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct formula_parser {
	const char *at;
	const struct formula_variable *variables;
	size_t variables_count;
	bool wrong;
};

static double harmonic(double n)
{
	double sum = 0;
	for (uint64_t i = 1; i <= (uint64_t)n; i++)
		sum += 1 / (double)i;
	return sum;
}

/* The function S(n) of formula.h. Four times this sum is Raynal's bound on the messages of
 * Hirschberg and Sinclair's election: each term is the number of candidates of a round times
 * their distance. */
static double candidatures(double n)
{
	double sum = n;
	for (double length = 2; length / 2 + 1 <= n; length *= 2)
		sum += length * floor(n / (length / 2 + 1));
	return sum;
}

static double fibonacci_rank(double n)
{
	double rank = 0;
	for (double a = 1, b = 2; b <= n; rank++) {
		double next = a + b;
		a = b;
		b = next;
	}
	return rank;
}

static double encoded_bytes(double n)
{
	double bytes = 1;
	while (n >= 128) {
		n /= 128;
		bytes++;
	}
	return bytes;
}

static const struct {
	const char *name;
	double (*call)(double x);
} functions[] = {
        {"log", log2},       {"floor", floor},      {"sqrt", sqrt},       {"H", harmonic},
        {"S", candidatures}, {"F", fibonacci_rank}, {"B", encoded_bytes}, {NULL, NULL},
};

static double parse_sum(struct formula_parser *parser);

static bool take(struct formula_parser *parser, char what)
{
	parser->at += strspn(parser->at, " ");
	if (*parser->at != what)
		return false;
	parser->at++;
	return true;
}

static double parse_parenthesis(struct formula_parser *parser)
{
	double value = parse_sum(parser);

	if (!take(parser, ')'))
		parser->wrong = true;
	return value;
}

static double parse_name(struct formula_parser *parser)
{
	size_t length = 0;

	for (size_t i = 0; i < parser->variables_count; i++) {
		if (parser->variables[i].letter == *parser->at) {
			parser->at++;
			return parser->variables[i].value;
		}
	}
	while (isalpha((unsigned char)parser->at[length]))
		length++;
	for (size_t i = 0; functions[i].name != NULL; i++) {
		if (strlen(functions[i].name) == length && parser->at[length] == '(' &&
		    memcmp(functions[i].name, parser->at, length) == 0) {
			parser->at += length + 1;
			return functions[i].call(parse_parenthesis(parser));
		}
	}
	parser->wrong = true;
	return NAN;
}

static double parse_factor(struct formula_parser *parser)
{
	double value = NAN;

	parser->at += strspn(parser->at, " ");
	if (isdigit((unsigned char)*parser->at)) {
		char *end;
		value = strtod(parser->at, &end);
		parser->at = end;
	} else if (take(parser, '(')) {
		value = parse_parenthesis(parser);
	} else {
		value = parse_name(parser);
	}
	return take(parser, '^') && !parser->wrong ? pow(value, parse_factor(parser)) : value;
}

static double parse_product(struct formula_parser *parser)
{
	double value = parse_factor(parser);

	while (!parser->wrong) {
		parser->at += strspn(parser->at, " ");
		if (take(parser, '/'))
			value /= parse_factor(parser);
		else if (isalnum((unsigned char)*parser->at) || *parser->at == '(')
			value *= parse_factor(parser);
		else
			break;
	}
	return value;
}

static double parse_sum(struct formula_parser *parser)
{
	double value = parse_product(parser);

	while (!parser->wrong) {
		if (take(parser, '+'))
			value += parse_product(parser);
		else if (take(parser, '-'))
			value -= parse_product(parser);
		else
			break;
	}
	return value;
}

int formula_evaluate(const char *text, const struct formula_variable *variables,
                     size_t variables_count, double *ret_value)
{
	struct formula_parser parser = {text, variables, variables_count, false};
	double value = parse_sum(&parser);

	if (parser.wrong || *parser.at != '\0')
		return -1;
	*ret_value = value;
	return 0;
}
