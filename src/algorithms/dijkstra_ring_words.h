/*
 * The permissible states of Dijkstra's ring as words, and the regular expression of all of them:
 * an answer to the question with which his note ends.
 *
 * A word tells a state of the whole ring, read to the left from the token. It begins with the
 * process that holds the token, or with the connection that carries it; processes and connections
 * take turns, so that n processes make a word of 2n letters.
 *
 *     n w c    a white process: noncritical, waiting, critical
 *     N W C    a black one
 *     - s t    a connection: unused, with a signal, with the token
 *
 * Expressions have letters, [nc] for one of several letters, ( ), * and |.
 */
#ifndef ALGORITHMS_DIJKSTRA_RING_WORDS_H
#define ALGORITHMS_DIJKSTRA_RING_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* A letter of an expression is a place; place 0 is before the first. */
enum { WORDS_PLACES_MAX = 64 };

/* All words of an expression, as an automaton: a set of places, one bit each, is its state. */
struct words {
	uint32_t places_count;
	char letter[WORDS_PLACES_MAX];
	uint64_t next[WORDS_PLACES_MAX]; /* where the letter after this place may be */
	uint64_t ends;                   /* the places of last letters */
};

/* The permissible states. */
extern const char words_permitted[];

/* The letters that a word can have. */
extern const char words_alphabet[];

/* False if the expression is malformed or has too many letters. */
bool words_parse(const char *expression, struct words *ret_words);

/* The automaton's state before the first letter, and after one more; 0: no word begins so. */
static inline uint64_t words_start(void)
{
	return 1;
}
uint64_t words_read(const struct words *words, uint64_t at, char letter);

/* Is what has been read a word? */
bool words_end(const struct words *words, uint64_t at);

/* How many words have that many letters; UINT64_MAX if the number is too large or is not known. */
uint64_t words_count(const struct words *words, uint32_t letters);

#endif
