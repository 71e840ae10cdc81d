/* The events that are planned in a simulated world, the earliest first. Of two events at the same
 * time, the one that was planned first comes first. */
#ifndef AGENDA_H
#define AGENDA_H

#include <stddef.h>
#include <stdint.h>

struct happening {
	uint64_t time, order;
	int kind;      /* the world's own number for what happens */
	int server;    /* the place of the server that the event is for */
	uint64_t life; /* the life, or the timer, of that server for which the event is meant */
	uint64_t from, to;
	uint8_t *bytes; /* the bytes of a letter; the owner of the event frees them */
	size_t size;
};

/* All zero means empty. */
struct agenda {
	struct happening *heap;
	size_t count, size;
	uint64_t order;
};

void agenda_add(struct agenda *agenda, struct happening happening);
/* The agenda must not be empty. */
struct happening agenda_take(struct agenda *agenda);
/* Frees the agenda, and the bytes of everything that is left. */
void agenda_free(struct agenda *agenda);

#endif
