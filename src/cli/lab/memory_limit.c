#include "memory_limit.h"

#include "setup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

int parse_size(const char *text, uint64_t *ret_bytes, struct problem *problem)
{
	static const char units[] = "KMGT";
	char digits[32];
	size_t length = strspn(text, "0123456789");
	int letter = text[length] == 'k' ? 'K' : text[length];
	const char *unit = letter != 0 ? strchr(units, letter) : NULL;
	uint64_t shift = unit != NULL ? 10 * (uint64_t)(unit - units + 1) : 0;

	snprintf(digits, sizeof(digits), "%.*s", (int)length, text);
	if (length == 0 || length > 12 ||
	    (text[length] != '\0' && (unit == NULL || text[length + 1] != '\0')))
		return problem_set(
		        problem, "--max-memory '%.40s': a size such as 500M or 4G is needed", text);
	if (parse_number(digits, 1, UINT64_MAX >> shift, "--max-memory", ret_bytes, problem) != 0)
		return -1;
	*ret_bytes <<= shift;
	return 0;
}

/* Returns the memory limit of this process's control group, as set in a container; UINT64_MAX:
 * there is none. */
static uint64_t memory_of_container(void)
{
	uint64_t bytes = UINT64_MAX;
	FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");

	if (file == NULL)
		return UINT64_MAX;
	if (fscanf(file, "%" SCNu64, &bytes) != 1)
		bytes = UINT64_MAX; /* the file says "max" */
	fclose(file);
	return bytes;
}

/* If the address space is limited, only half of it is used, because the checker reserves
 * addresses in advance. */
uint64_t memory_by_default(void)
{
	uint64_t most = (uint64_t)8 << 30, container = memory_of_container();
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t machine = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
	struct rlimit addresses;

	if (container < machine)
		machine = container;
	if (machine / 4 * 3 < most)
		most = machine / 4 * 3;
	if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY &&
	    addresses.rlim_cur / 2 < most)
		most = addresses.rlim_cur / 2;
	return most;
}

char *memory_text(uint64_t bytes, char *ret_text)
{
	snprintf(ret_text, 16, bytes < 1000000000 ? "%.0f MB" : "%.1f GB",
	         (double)bytes / (bytes < 1000000000 ? 1e6 : 1e9));
	return ret_text;
}
