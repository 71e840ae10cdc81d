/*
 * The set of states that the checker has seen, in the order in which it saw them: rows of numbers,
 * one behind the other, which are also the queue of the search. A state's number is its place.
 */
#ifndef LAB_STATES_H
#define LAB_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct states {
	uint32_t **chunks; /* of rows: a row's length, then the row; a row does not cross chunks */
	size_t chunks_count, chunks_size;
	size_t chunk_used;
	uint64_t *places; /* where the row of a state is: chunk and offset */
	uint64_t *slots;  /* half of a state's hash above its number + 1, or 0 */
	size_t slots_size;
	uint32_t count;
	size_t places_size;
};

enum { STATES_MAX = INT32_MAX };

void states_init(struct states *states);
void states_free(struct states *states);
/* The number of the state with this row; *ret_new tells whether it is new. */
uint32_t states_put(struct states *states, const uint32_t *row, uint32_t count, bool *ret_new);
const uint32_t *states_get(const struct states *states, uint32_t state, uint32_t *ret_count);
size_t states_memory(const struct states *states);

#endif
