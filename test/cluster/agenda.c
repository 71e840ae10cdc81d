#include "agenda.h"

#include "grow.h"
#include "must.h"

#include <stdbool.h>
#include <stdlib.h>

static bool is_earlier(const struct happening *left, const struct happening *right)
{
	return left->time != right->time ? left->time < right->time : left->order < right->order;
}

void agenda_add(struct agenda *agenda, struct happening happening)
{
	happening.order = ++agenda->order;
	agenda->heap = grow(agenda->heap, &agenda->size, agenda->count + 1, sizeof *agenda->heap);
	size_t place = agenda->count++;
	for (; place > 0 && is_earlier(&happening, &agenda->heap[(place - 1) / 2]);
	     place = (place - 1) / 2)
		agenda->heap[place] = agenda->heap[(place - 1) / 2];
	agenda->heap[place] = happening;
}

struct happening agenda_take(struct agenda *agenda)
{
	must(agenda->count > 0);
	struct happening first = agenda->heap[0];
	struct happening last = agenda->heap[--agenda->count];
	size_t place = 0;

	for (;;) {
		size_t child = 2 * place + 1;
		if (child >= agenda->count)
			break;
		if (child + 1 < agenda->count &&
		    is_earlier(&agenda->heap[child + 1], &agenda->heap[child]))
			child++;
		if (!is_earlier(&agenda->heap[child], &last))
			break;
		agenda->heap[place] = agenda->heap[child];
		place = child;
	}
	agenda->heap[place] = last;
	return first;
}

void agenda_free(struct agenda *agenda)
{
	while (agenda->count > 0)
		free(agenda->heap[--agenda->count].bytes);
	free(agenda->heap);
	*agenda = (struct agenda){0};
}
