#include "packed.h"

#include "memory.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* zigzag maps 0, -1, 1, -2, … to 0, 1, 2, 3, …, so that numbers near 0 have few bytes that are not
 * 0. */
static uint64_t zigzag(uint64_t word)
{
	return word << 1 ^ (word >> 63 != 0 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t word)
{
	return word >> 1 ^ ((word & 1) != 0 ? UINT64_MAX : 0);
}

/* Writes the state in packed form. Returns the number of bytes written. */
static size_t pack(const uint8_t *state, size_t size, uint8_t *ret_packed)
{
	uint8_t *at = ret_packed;

	for (size_t i = 0; i < size; i += WORD) {
		uint64_t word;
		memcpy(&word, state + i, WORD);
		word = zigzag(word);
		uint8_t *mask = at++;
		*mask = 0;
		for (unsigned k = 0; word != 0; k++, word >>= 8) {
			if ((uint8_t)word == 0)
				continue;
			*mask |= (uint8_t)(1U << k);
			*at++ = (uint8_t)word;
		}
	}
	return (size_t)(at - ret_packed);
}

static void unpack(const uint8_t *packed, size_t size, uint8_t *ret_state)
{
	for (size_t i = 0; i < size; i += WORD) {
		uint64_t word = 0;
		for (unsigned mask = *packed++; mask != 0; mask &= mask - 1)
			word |= (uint64_t)*packed++ << 8 * __builtin_ctz(mask);
		word = unzigzag(word);
		memcpy(ret_state + i, &word, WORD);
	}
}

static size_t packed_words(const uint8_t *packed, size_t size)
{
	const uint8_t *at = packed;

	for (size_t i = 0; i < size; i += WORD)
		at += 1 + __builtin_popcount(*at);
	return words_of((size_t)(at - packed));
}

static void close_state(struct opened *opened, struct pool *pool)
{
	struct lock *lock = opened->lock;
	size_t size = pack(opened->state, opened->size, opened->packed);
	size_t before = lock->packed != NULL ? packed_words(lock->packed, opened->size) : 0;

	if (words_of(size) != before) {
		if (lock->packed != NULL)
			pool_give(pool, lock->packed, before);
		lock->packed = pool_take(pool, words_of(size));
	}
	must(lock->packed != NULL); /* a packed state has at least one byte */
	memcpy(lock->packed, opened->packed, size);
}

void packed_swap(struct opened *opened, struct pool *pool, struct lock *lock)
{
	if (opened->lock != NULL)
		close_state(opened, pool);
	opened->lock = lock;
	if (lock->packed != NULL)
		unpack(lock->packed, opened->size, opened->state);
	else
		memset(opened->state, 0, opened->size);
}

void packed_drop(struct opened *opened, struct pool *pool, struct lock *lock)
{
	if (opened->lock == lock)
		opened->lock = NULL;
	if (lock->packed != NULL)
		pool_give(pool, lock->packed, packed_words(lock->packed, opened->size));
	lock->packed = NULL;
}

/* Allocates one word more than a state needs, so that an empty state has an address too. */
void packed_renew(struct opened *opened, size_t state_size)
{
	size_t words = words_of(state_size);

	packed_free(opened);
	*opened = (struct opened){
	        .state = calloc(words + 1, WORD),
	        .packed = malloc(words * (WORD + 1) + 1),
	        .size = words * WORD,
	};
	memory_must(opened->state != NULL && opened->packed != NULL);
}

void packed_free(struct opened *opened)
{
	free(opened->state);
	free(opened->packed);
}
