#include "wiring.h"

#include "memory.h"
#include "must.h"

#include <stdlib.h>

void wiring_of(const struct wiring *wiring, uint32_t count, uint32_t self, bool *ret_linked)
{
	struct graph graph;

	if (wiring->complete || count == 1) {
		for (uint32_t i = 0; i < count; i++)
			ret_linked[i] = i != self;
		return;
	}
	size_t size = topology_memory(&wiring->topology, count);
	void *memory = malloc(size);
	memory_must(memory != NULL);
	must(size != 0);
	topology_build(&wiring->topology, count, wiring->seed, memory, &graph);
	for (uint32_t i = 0; i < count; i++)
		ret_linked[i] = i != self && graph_adjacent(&graph, self + 1, i + 1);
	free(memory);
}
