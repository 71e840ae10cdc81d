/* The events that are planned in a simulated world, the earliest first. Of two events at the same
 * time, the one that was planned first comes first. */
#ifndef AGENDA_H
#define AGENDA_H

#include <stddef.h>
#include <stdint.h>

struct happening {
	uint64_t time, order;
	int kind;      /* the world's own number for what happens */
	int server;    /* the index of the server that the event is for */
	uint64_t life; /* the life, or the timer, of this server for which the event is meant */
	uint64_t from, to;
	uint8_t *bytes; /* the bytes of a letter; the owner of the event frees them */
	size_t size;
};

/* A struct of zeros is an empty agenda. */
struct agenda {
	struct happening *heap;
	size_t count, size;
	uint64_t order;
};

void agenda_add(struct agenda *agenda, struct happening happening);
/* Takes the earliest event. The agenda must not be empty. */
struct happening agenda_take(struct agenda *agenda);
/* Frees the agenda, and the bytes of all events that are left. */
void agenda_free(struct agenda *agenda);

#endif
