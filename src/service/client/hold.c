#include "hold.h"

#include <stdlib.h>
#include <string.h>

struct hold *hold_new(const char *name)
{
	size_t size = strlen(name);
	struct hold *hold = malloc(sizeof(*hold) + size + 1);

	if (hold == NULL)
		return NULL;
	char *copy = (char *)(hold + 1);
	memcpy(copy, name, size + 1);
	*hold = (struct hold){.name = {copy, size}};
	return hold;
}

struct hold *hold_find(const struct holds *holds, struct word name)
{
	struct hold *hold;

	LIST_FOREACH (hold, holds, entry) {
		if (hold->name.size == name.size &&
		    memcmp(hold->name.bytes, name.bytes, name.size) == 0)
			return hold;
	}
	return NULL;
}

void hold_drop(struct hold *hold)
{
	LIST_REMOVE(hold, entry);
	free(hold);
}

void holds_free(struct holds *holds)
{
	while (!LIST_EMPTY(holds))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that LIST_REMOVE
		 * moves the head. */
		hold_drop(LIST_FIRST(holds));
}
