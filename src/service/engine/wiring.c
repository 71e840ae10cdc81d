#include "wiring.h"

#include "memory.h"
#include "must.h"

#include <stdlib.h>

static void follow_topology(const struct wiring *wiring, uint32_t count, uint32_t self,
                            bool *ret_linked)
{
	struct graph graph;
	size_t size = topology_memory(&wiring->topology, count);
	void *memory = malloc(size);

	memory_must(memory != NULL);
	must(size != 0);
	topology_build(&wiring->topology, count, wiring->seed, memory, &graph);
	for (uint32_t i = 0; i < count; i++)
		ret_linked[i] = i != self && graph_adjacent(&graph, self + 1, i + 1);
	free(memory);
}

static bool are_linked(const struct named_links *links, struct entry_text a, struct entry_text b)
{
	for (uint32_t i = 0; i < links->count; i++) {
		const struct named_link *link = &links->list[i];
		if ((entry_text_is(a, link->a) && entry_text_is(b, link->b)) ||
		    (entry_text_is(a, link->b) && entry_text_is(b, link->a)))
			return true;
	}
	return false;
}

void wiring_of(const struct wiring *wiring, const struct entry_text *names, uint32_t count,
               uint32_t self, bool *ret_linked)
{
	if (!wiring->complete && count > 1 && wiring->links.list == NULL) {
		follow_topology(wiring, count, self, ret_linked);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		ret_linked[i] = i != self && (wiring->complete || wiring->links.list == NULL ||
		                              are_linked(&wiring->links, names[self], names[i]));
}

static struct entry_text *names_of(const struct seat *seats, uint32_t count)
{
	struct entry_text *names = calloc(count + 1UL, sizeof(*names));

	memory_must(names != NULL);
	for (uint32_t i = 0; i < count; i++)
		names[i] = entry_text_of(seats[i].name);
	return names;
}

void wiring_of_seats(const struct wiring *wiring, const struct seat *seats, uint32_t count,
                     uint32_t self, bool *ret_linked)
{
	struct entry_text *names = names_of(seats, count);

	wiring_of(wiring, names, count, self, ret_linked);
	free(names);
}

/* --- parts --- */

/* Puts all members that can be reached from `place` into the same part. */
static void spread(const struct wiring *wiring, const struct entry_text *names, uint32_t count,
                   uint32_t place, uint32_t *parts)
{
	for (uint32_t i = 0; i < count; i++) {
		if (parts[i] == parts[place] || !are_linked(&wiring->links, names[place], names[i]))
			continue;
		parts[i] = parts[place];
		spread(wiring, names, count, i, parts);
	}
}

uint32_t wiring_parts(const struct wiring *wiring, const struct seat *seats, uint32_t count,
                      uint32_t *ret_parts)
{
	struct entry_text *names = names_of(seats, count);
	uint32_t best = 0, most = 0;

	for (uint32_t i = 0; i < count; i++)
		ret_parts[i] = UINT32_MAX;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t members = 0;
		if (ret_parts[i] != UINT32_MAX)
			continue;
		ret_parts[i] = i;
		if (wiring->complete || wiring->links.list == NULL) {
			for (uint32_t k = 0; k < count; k++)
				ret_parts[k] = 0;
		} else {
			spread(wiring, names, count, i, ret_parts);
		}
		for (uint32_t k = 0; k < count; k++)
			members += ret_parts[k] == i;
		if (members > most) {
			most = members;
			best = i;
		}
	}
	free(names);
	return best;
}
