#include "token.h"

#include "must.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

enum { VERSION = 1, CHECK_SIZE = 4, CHECKED_SIZE = 1 + TOKEN_DIGEST_SIZE + TOKEN_SECRET_SIZE };
enum { WHOLE_SIZE = CHECKED_SIZE + CHECK_SIZE, ENCODED_SIZE = WHOLE_SIZE / 3 * 4 };

static const char prefix[] = "baton-";
enum { PREFIX_SIZE = sizeof(prefix) - 1 };
_Static_assert(WHOLE_SIZE % 3 == 0 && PREFIX_SIZE + ENCODED_SIZE == TOKEN_TEXT_SIZE,
               "the text has no padding");

/* Computes the digest of a few texts, one after the other. Each kind of digest begins with another
 * text, so that a digest of one kind is never taken for one of another kind. */
static void digest(const char *kind, const void *first, size_t first_size, const void *second,
                   size_t second_size, uint8_t *ret_digest)
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();

	must(context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1 &&
	     EVP_DigestUpdate(context, kind, strlen(kind) + 1) == 1 &&
	     EVP_DigestUpdate(context, first, first_size) == 1 &&
	     EVP_DigestUpdate(context, second, second_size) == 1 &&
	     EVP_DigestFinal_ex(context, ret_digest, NULL) == 1);
	EVP_MD_CTX_free(context);
}

void token_digest(const uint8_t secret[TOKEN_SECRET_SIZE], uint8_t ret_digest[TOKEN_DIGEST_SIZE])
{
	digest("baton invitation", secret, TOKEN_SECRET_SIZE, "", 0, ret_digest);
}

void token_ticket(const char *name, const uint8_t *key, size_t key_size,
                  uint8_t ret_digest[TOKEN_DIGEST_SIZE])
{
	digest("baton ticket", name, strlen(name) + 1, key, key_size, ret_digest);
}

void token_draw(struct token *token)
{
	must(RAND_bytes(token->secret, sizeof(token->secret)) == 1);
}

static void check(const uint8_t *bytes, uint8_t ret_check[TOKEN_DIGEST_SIZE])
{
	digest("baton token", bytes, CHECKED_SIZE, "", 0, ret_check);
}

/* Replaces each `from` by `to`. */
static void replace(char *text, char from, char to)
{
	for (; *text != '\0'; text++) {
		if (*text == from)
			*text = to;
	}
}

void token_write(const struct token *token, char ret_text[TOKEN_TEXT_SIZE + 1])
{
	uint8_t bytes[CHECKED_SIZE + TOKEN_DIGEST_SIZE] = {VERSION};

	memcpy(bytes + 1, token->ca, TOKEN_DIGEST_SIZE);
	memcpy(bytes + 1 + TOKEN_DIGEST_SIZE, token->secret, TOKEN_SECRET_SIZE);
	check(bytes, bytes + CHECKED_SIZE);
	memcpy(ret_text, prefix, PREFIX_SIZE);
	EVP_EncodeBlock((unsigned char *)ret_text + PREFIX_SIZE, bytes, WHOLE_SIZE);
	replace(ret_text + PREFIX_SIZE, '+', '-');
	replace(ret_text + PREFIX_SIZE, '/', '_');
}

int token_read(const char *text, struct token *ret_token, struct problem *problem)
{
	static const char letters[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char encoded[ENCODED_SIZE + 1];
	uint8_t bytes[WHOLE_SIZE], right[TOKEN_DIGEST_SIZE];

	text += strspn(text, " \t\r\n");
	size_t size = strcspn(text, " \t\r\n");
	if (strncmp(text, prefix, PREFIX_SIZE) != 0 || text[size + strspn(text + size, " \t\r\n")])
		return problem_set(problem,
		                   "this is no invitation: one begins with '%s', and "
		                   "'baton member invite' prints it",
		                   prefix);
	if (size != TOKEN_TEXT_SIZE || strspn(text + PREFIX_SIZE, letters) != ENCODED_SIZE)
		return problem_set(problem,
		                   "the invitation has %zu characters of %d: a part is missing, or "
		                   "was changed",
		                   size, TOKEN_TEXT_SIZE);
	memcpy(encoded, text + PREFIX_SIZE, ENCODED_SIZE);
	encoded[ENCODED_SIZE] = '\0';
	replace(encoded, '-', '+');
	replace(encoded, '_', '/');
	must(EVP_DecodeBlock(bytes, (unsigned char *)encoded, ENCODED_SIZE) == WHOLE_SIZE);
	check(bytes, right);
	if (memcmp(right, bytes + CHECKED_SIZE, CHECK_SIZE) != 0)
		return problem_set(problem, "the invitation was changed on its way: it is not "
		                            "what 'baton member invite' has printed");
	if (bytes[0] != VERSION)
		return problem_set(problem,
		                   "the invitation is of version %u, and this program knows "
		                   "version %d",
		                   bytes[0], VERSION);
	memcpy(ret_token->ca, bytes + 1, TOKEN_DIGEST_SIZE);
	memcpy(ret_token->secret, bytes + 1 + TOKEN_DIGEST_SIZE, TOKEN_SECRET_SIZE);
	return 0;
}
