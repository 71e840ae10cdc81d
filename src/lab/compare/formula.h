/*
 * Evaluates a formula such as "3 - 5/N + 2/N^2". People read the same text that is evaluated.
 *
 * + - / ^ and parentheses; factors may stand side by side: 2(N - 1), 3N log(N). Variables are
 * single letters. Functions:
 *
 *   log(x)    to the base 2          floor(x)  rounded down          sqrt(x)
 *   H(n)      1 + 1/2 + 1/3 + ... + 1/n
 *   S(n)      n + 2 floor(n/2) + 4 floor(n/3) + ... + 2^i floor(n/(2^(i-1) + 1)) + ...
 *   F(n)      the greatest k such that the (k+2)-nd Fibonacci number is at most n
 *   B(n)      bytes of n in a message, seven bits each
 */
#ifndef LAB_FORMULA_H
#define LAB_FORMULA_H

#include <stddef.h>

struct formula_variable {
	char letter;
	double value;
};

/* Returns 0, or -1 if the text is not a formula or has a variable that is not among those given. */
int formula_evaluate(const char *text, const struct formula_variable *variables,
                     size_t variables_count, double *ret_value);

#endif
