#include "guest.h"

#include "memory.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <unistd.h>

/* Returns NULL if the bytes are not one certificate. */
static X509 *read_der(const uint8_t *bytes, size_t size)
{
	const unsigned char *next = bytes;
	X509 *certificate = size > CERTIFICATE_SIZE_MAX ? NULL : d2i_X509(NULL, &next, (long)size);

	if (certificate != NULL && next == bytes + size)
		return certificate;
	X509_free(certificate);
	ERR_clear_error();
	return NULL;
}

/* Has this CA signed the certificate for this use, and is it valid now by the clock of this host?
 * Returns 0, or -1 and a problem. */
static int verify(X509 *certificate, X509 *ca, int purpose, struct problem *problem)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *check = X509_STORE_CTX_new();

	memory_must(store != NULL && check != NULL);
	memory_must(X509_STORE_add_cert(store, ca) == 1);
	memory_must(X509_STORE_CTX_init(check, store, certificate, NULL) == 1);
	X509_STORE_CTX_set_purpose(check, purpose);
	bool good = X509_verify_cert(check) == 1;
	int error = X509_STORE_CTX_get_error(check);
	X509_STORE_CTX_free(check);
	X509_STORE_free(store);
	ERR_clear_error();
	if (good)
		return 0;
	if (error == X509_V_ERR_CERT_NOT_YET_VALID)
		return problem_set(problem, "not valid yet: is the clock of this host behind?");
	return problem_set(problem, "%s", X509_verify_cert_error_string(error));
}

int guest_trusts(const struct tls *tls, const struct token *token, const uint8_t *ca,
                 size_t ca_size, struct problem *problem)
{
	X509 *root = read_der(ca, ca_size);
	uint8_t digest[TOKEN_DIGEST_SIZE];
	struct problem why;
	int result = -1;

	if (root == NULL)
		return problem_set(problem, "what it sent as its CA is not a certificate");
	certificate_digest(root, digest);
	if (memcmp(digest, token->ca, sizeof(digest)) != 0)
		problem_set(problem, "it is not of the cluster that has made the invitation: its "
		                     "CA has another fingerprint");
	else if (verify(tls_certificate(tls), root, X509_PURPOSE_SSL_SERVER, &why) != 0)
		problem_set(problem, "its certificate is not valid: %.200s", why.text);
	else if (tls_holder(tls)->role != CERTIFICATE_NODE)
		problem_set(problem, "its certificate is a client's");
	else
		result = 0;
	X509_free(root);
	return result;
}

size_t guest_public_key(const EVP_PKEY *key, uint8_t room[CERTIFICATE_KEY_MAX])
{
	int size = i2d_PUBKEY(key, NULL);

	if (size <= 0 || size > CERTIFICATE_KEY_MAX)
		return 0;
	i2d_PUBKEY(key, &room);
	return (size_t)size;
}

static int check_given(X509 *certificate, X509 *ca, const char *name, const EVP_PKEY *key,
                       struct problem *problem)
{
	struct certificate_holder holder;
	struct problem why;

	if (certificate == NULL || ca == NULL)
		return problem_set(problem,
		                   "what it sent as this node's certificate is not a certificate");
	if (X509_check_private_key(certificate, key) != 1 ||
	    certificate_read_holder(certificate, &holder) != 0 || holder.role != CERTIFICATE_NODE ||
	    strcmp(holder.name, name) != 0)
		return problem_set(problem, "the certificate that it sent is not for this node");
	if (verify(certificate, ca, X509_PURPOSE_SSL_CLIENT, &why) != 0)
		return problem_set(problem, "the certificate that it sent is not valid: %.200s",
		                   why.text);
	return 0;
}

int guest_keep(const struct guest_certificate *given, const char *name, const EVP_PKEY *key,
               const char *ca_path, const char *certificate_path, struct problem *problem)
{
	X509 *ca = read_der(given->ca, given->ca_size);
	X509 *certificate = read_der(given->certificate, given->certificate_size);
	int result = check_given(certificate, ca, name, key, problem);

	/* Write the certificate last: if its file is there, the others are too. */
	if (result == 0) {
		unlink(ca_path);
		result = certificate_write(ca, ca_path, problem);
	}
	if (result == 0)
		result = certificate_write(certificate, certificate_path, problem);
	X509_free(certificate);
	X509_free(ca);
	return result;
}
