#include "word.h"

#include <baton/error.h>
#include <string.h>

struct word word_of(const char *text)
{
	return (struct word){text, strlen(text)};
}

bool word_is(struct word word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

/* A fence is below 2^53. */
#define FENCE_MAX ((UINT64_C(1) << 53) - 1)

int fence_verify(uint64_t fence)
{
	return fence >= 1 && fence <= FENCE_MAX ? 0 : BATON_EFENCE;
}
