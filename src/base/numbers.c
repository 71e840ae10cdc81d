#include "numbers.h"

#include "memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int parse_number(const char *text, uint64_t least, uint64_t most, const char *what,
                 uint64_t *ret_number, struct problem *problem)
{
	uint64_t number = 0;
	bool wrong = *text == '\0';

	for (const char *c = text; *c != '\0' && !wrong; c++) {
		uint64_t digit = (uint64_t)(*c - '0');
		wrong = *c < '0' || *c > '9' || number > (UINT64_MAX - digit) / 10;
		number = number * 10 + digit;
	}
	if (wrong || number < least || number > most)
		return problem_set(problem,
		                   "%s '%.40s': a whole number from %llu to %llu is needed", what,
		                   text, (unsigned long long)least, (unsigned long long)most);
	*ret_number = number;
	return 0;
}

int parse_numbers(const char *text, uint64_t least, uint64_t most, const char *what, uint32_t count,
                  uint32_t **ret_numbers, uint32_t *ret_count, struct problem *problem)
{
	uint32_t there = 1;
	for (const char *c = text; *c != '\0'; c++)
		there += *c == ',';
	if (count != 0 && there != count)
		return problem_set(problem, "%s '%.40s': %u numbers are needed, not %u", what, text,
		                   count, there);
	uint32_t *numbers = malloc(there * sizeof(*numbers));
	memory_must(numbers != NULL);
	for (uint32_t i = 0; i < there; i++) {
		char word[32];
		size_t length = strcspn(text, ",");
		uint64_t number = 0;
		snprintf(word, sizeof(word), "%.*s",
		         (int)(length < sizeof(word) ? length : sizeof(word)), text);
		if (parse_number(word, least, most, what, &number, problem) != 0) {
			free(numbers);
			return -1;
		}
		numbers[i] = (uint32_t)number;
		text += length + (text[length] == ',');
	}
	*ret_numbers = numbers;
	*ret_count = there;
	return 0;
}
