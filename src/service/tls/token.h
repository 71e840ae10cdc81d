/*
 * The token of an invitation: a line of text that an operator carries to a new node. It has the
 * fingerprint of the cluster's CA, by which the new node recognizes the cluster, and a secret, by
 * which the cluster recognizes the new node.
 *
 * 	baton-…   after "baton-", in base64 for URLs: the version (1 byte), the SHA-256 of the CA's
 * 	          certificate, the secret, the first 4 bytes of the SHA-256 of all that
 */
#ifndef TLS_TOKEN_H
#define TLS_TOKEN_H

#include "problem.h"

#include <stddef.h>
#include <stdint.h>

enum { TOKEN_DIGEST_SIZE = 32, TOKEN_SECRET_SIZE = 32, TOKEN_TEXT_SIZE = 98 };

struct token {
	uint8_t ca[TOKEN_DIGEST_SIZE]; /* the SHA-256 of the CA's certificate */
	uint8_t secret[TOKEN_SECRET_SIZE];
};

/* Draws a random secret. */
void token_draw(struct token *token);
/* Writes the text and a terminating 0. */
void token_write(const struct token *token, char ret_text[TOKEN_TEXT_SIZE + 1]);
/* Returns 0; or -1 and a problem if the text is not a token, or not a complete one. Spaces around
 * it are ignored. */
int token_read(const char *text, struct token *ret_token, struct problem *problem);

/* Computes the digest of the secret. The cluster keeps only the digest. */
void token_digest(const uint8_t secret[TOKEN_SECRET_SIZE], uint8_t ret_digest[TOKEN_DIGEST_SIZE]);
/* Computes the digest of a node's name and its public key. */
void token_ticket(const char *name, const uint8_t *key, size_t key_size,
                  uint8_t ret_digest[TOKEN_DIGEST_SIZE]);

#endif
