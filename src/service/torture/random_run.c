#include "random_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void run_wrong(struct run *run, const char *format, ...)
{
	struct run_result *result = run->result;
	va_list arguments;

	if (result->failed)
		return;
	result->failed = true;
	int used = snprintf(result->wrong, sizeof(result->wrong), "at %" PRIu64 ".%09" PRIu64 ": ",
	                    run->cluster.now / CLUSTER_SECOND, run->cluster.now % CLUSTER_SECOND);
	va_start(arguments, format);
	vsnprintf(result->wrong + used, sizeof(result->wrong) - (size_t)used, format, arguments);
	va_end(arguments);
}
