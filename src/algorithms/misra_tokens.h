/*
 * Misra's algorithm with any number of tokens: see misra_tokens.c.
 */
#ifndef ALGORITHMS_MISRA_TOKENS_H
#define ALGORITHMS_MISRA_TOKENS_H

#include "algorithm.h"

enum { MISRA_PING, MISRA_PONG, MISRA_MESSAGES_COUNT };

enum { MISRA_TOKENS_MAX = 64 };

size_t misra_tokens_state_size(uint32_t tokens);
void misra_tokens_init(const struct site *site, uint32_t tokens, void *state, struct out *out);
void misra_tokens_request(void *state);
void misra_tokens_release(const struct site *site, uint32_t tokens, void *state, struct out *out);
int misra_tokens_receive(const struct site *site, uint32_t tokens, void *state,
                         const struct message *message, struct out *out);
bool misra_tokens_inside(const void *state);
void misra_tokens_describe(uint32_t tokens, const void *state, struct writer *writer);

/* Is there at most one of each token of this type? */
bool misra_tokens_one_of_each(const struct snapshot *snapshot, uint32_t tokens, uint8_t type);

#endif
