#include "conditions.h"

#include <inttypes.h>
#include <stdio.h>

void conditions_print(const struct setup_words *words, const struct setup *setup,
                      const char *before)
{
	const struct electorate *electorate = &setup->electorate;

	for (size_t i = 0; i < setup->parameters_count; i++)
		printf("%s%s=%s", before, setup->parameters[i].name, setup->parameters[i].value);
	if (words->holder != 0 && setup->network.algorithm->has_token)
		printf("%snode %" PRIu32 " has the token at the start", before, words->holder);
	for (uint32_t i = 0; i < electorate->crashed_count; i++)
		printf("%s%" PRIu32,
		       i > 0                           ? ", "
		       : electorate->crashed_count > 1 ? "; dead: places "
		                                       : "; dead: place ",
		       electorate->crashed[i]);
}
