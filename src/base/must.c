#include "must.h"

#include <stdio.h>
#include <stdlib.h>

void must_failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "baton: a bug: %s:%d: must(%s) does not hold\n", file, line, condition);
	abort();
}
