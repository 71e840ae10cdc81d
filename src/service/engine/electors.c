#include "electors.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

void electors_free(struct electors *electors)
{
	free(electors->list);
	*electors = (struct electors){0};
}

void electors_clear(struct electors *electors, uint64_t index)
{
	electors->index = index;
	electors->count = 0;
}

void electors_add(struct electors *electors, uint64_t server, struct entry_text name,
                  struct entry_text address)
{
	electors->list = grow(electors->list, &electors->size, electors->count + 1UL,
	                      sizeof(*electors->list));
	struct elector *elector = &electors->list[electors->count++];
	*elector = (struct elector){.server = server};
	memcpy(elector->name, name.bytes, name.size);
	memcpy(elector->address, address.bytes, address.size);
}

void electors_copy(struct electors *electors, const struct electors *from)
{
	electors_clear(electors, from->index);
	for (uint32_t i = 0; i < from->count; i++)
		electors_add(electors, from->list[i].server, entry_text_of(from->list[i].name),
		             entry_text_of(from->list[i].address));
}

const struct elector *electors_find(const struct electors *electors, const char *name)
{
	for (uint32_t i = 0; i < electors->count; i++) {
		if (strcmp(electors->list[i].name, name) == 0)
			return &electors->list[i];
	}
	return NULL;
}

void electors_write(struct out *out, const struct electors *electors)
{
	out_uint(out, electors->index);
	out_uint(out, electors->count);
	for (uint32_t i = 0; i < electors->count; i++) {
		out_uint(out, electors->list[i].server);
		entry_put_text(out, entry_text_of(electors->list[i].name));
		entry_put_text(out, entry_text_of(electors->list[i].address));
	}
}

static struct elector read_elector(struct in *in)
{
	struct elector elector = {.server = in_uint(in)};
	struct entry_text name = entry_get_text(in, 1, ENTRY_NAME_MAX);
	struct entry_text address = entry_get_text(in, 0, ENTRY_ADDRESS_MAX);

	if (!in->bad) {
		memcpy(elector.name, name.bytes, name.size);
		memcpy(elector.address, address.bytes, address.size);
	}
	return elector;
}

void electors_skip(struct in *in)
{
	in_range(in, 1, UINT64_MAX);
	for (uint64_t left = in_range(in, 1, ELECTORS_MAX); left > 0 && !in->bad; left--)
		read_elector(in);
}

void electors_read(struct electors *electors, struct in in)
{
	electors_clear(electors, in_uint(&in));
	for (uint64_t left = in_uint(&in); left > 0; left--) {
		struct elector elector = read_elector(&in);
		electors_add(electors, elector.server, entry_text_of(elector.name),
		             entry_text_of(elector.address));
	}
}
