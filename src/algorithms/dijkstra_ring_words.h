/*
 * Writes the states of Dijkstra's ring as words, and gives a regular expression for all permissible
 * ones. It answers the question with which his note ends.
 *
 * A word describes a state of the whole ring, read from the token to the left. It begins with the
 * process that holds the token, or with the connection that carries it. Processes and connections
 * alternate, so that n processes make a word of 2n letters.
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

/* A place is the position of a letter in an expression. Place 0 is before the first letter. */
enum { WORDS_PLACES_MAX = 64 };

/* An automaton that accepts the words of an expression. Its state is a set of places, with a bit
 * for each. */
struct words {
	uint32_t places_count;
	char letter[WORDS_PLACES_MAX];
	/* [place]: the set of places where the next letter may be. */
	uint64_t next[WORDS_PLACES_MAX];
	uint64_t ends; /* the places of last letters */
};

/* The expression for the permissible states. */
extern const char words_permitted[];

/* The letters that a word can have. */
extern const char words_alphabet[];

/* Parses an expression. Returns false if it is malformed or has too many letters. */
bool words_parse(const char *expression, struct words *ret_words);

/* Return the automaton's state before the first letter, and after one more letter. State 0 means
 * that no word begins like that. */
static inline uint64_t words_start(void)
{
	return 1;
}
uint64_t words_read(const struct words *words, uint64_t at, char letter);

/* Do the letters that were read so far form a whole word? */
bool words_end(const struct words *words, uint64_t at);

/* Returns how many words have that many letters; UINT64_MAX if the number is too large or not
 * known. */
uint64_t words_count(const struct words *words, uint32_t letters);

#endif
