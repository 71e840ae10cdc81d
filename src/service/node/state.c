/*
 * The states of algorithms. They have room for all members and for great numbers, and most of it is
 * zeros; a million locks at rest cannot afford that. So a state is kept without its zeros: for each
 * word of 8 bytes a byte that says which of them are not 0, then these. The word is turned first so
 * that a small negative number is a small one. One state, that of the lock looked at last, is as its
 * algorithm knows it: whoever goes on with the same lock unpacks nothing.
 */
#include "internal.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = sizeof(uint64_t) };

/* 0, -1, 1, -2, … to 0, 1, 2, 3, …, and back; any word to another. */
static uint64_t turn(uint64_t word)
{
	return word << 1 ^ (word >> 63 != 0 ? UINT64_MAX : 0);
}

static uint64_t turn_back(uint64_t word)
{
	return word >> 1 ^ ((word & 1) != 0 ? UINT64_MAX : 0);
}

/* The bytes that it takes. */
static size_t pack(const uint8_t *state, size_t size, uint8_t *ret_packed)
{
	uint8_t *at = ret_packed;

	for (size_t i = 0; i < size; i += WORD) {
		uint64_t word;
		memcpy(&word, state + i, WORD);
		word = turn(word);
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
		word = turn_back(word);
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

static void close_state(struct node *node)
{
	const struct opened *opened = &node->opened;
	struct lock *lock = opened->lock;
	size_t size = pack(opened->state, opened->size, opened->packed);
	size_t before = lock->packed != NULL ? packed_words(lock->packed, opened->size) : 0;

	if (words_of(size) != before) {
		if (lock->packed != NULL)
			pool_give(&node->pool, lock->packed, before);
		lock->packed = pool_take(&node->pool, words_of(size));
	}
	must(lock->packed != NULL); /* no state is empty */
	memcpy(lock->packed, opened->packed, size);
}

void *lock_state(struct node *node, struct lock *lock)
{
	struct opened *opened = &node->opened;

	if (opened->lock == lock)
		return opened->state;
	if (opened->lock != NULL)
		close_state(node);
	opened->lock = lock;
	if (lock->packed != NULL)
		unpack(lock->packed, opened->size, opened->state);
	else
		memset(opened->state, 0, opened->size);
	return opened->state;
}

void state_drop(struct node *node, struct lock *lock)
{
	if (node->opened.lock == lock)
		node->opened.lock = NULL;
	if (lock->packed != NULL)
		pool_give(&node->pool, lock->packed, packed_words(lock->packed, node->opened.size));
	lock->packed = NULL;
}

/* One word more, so that an empty state has an address, too. */
void states_renew(struct node *node)
{
	struct opened *opened = &node->opened;
	size_t words = words_of(node->view.state_size);

	free(opened->state);
	free(opened->packed);
	*opened = (struct opened){
	        .state = calloc(words + 1, WORD),
	        .packed = malloc(words * (WORD + 1) + 1),
	        .size = words * WORD,
	};
	memory_must(opened->state != NULL && opened->packed != NULL);
}
