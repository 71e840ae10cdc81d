/*
 * Feeds bytes as the certificates and public keys that strangers, guests and nodes show. It must
 * not crash. A certificate names at most one node or client, by a name that fits; a key that is
 * accepted is signed, and its certificate names the node that was wished for; bytes that nobody
 * has signed are never accepted as a certificate. The first byte of the input says which decoder
 * gets the rest.
 */
#include "certificate.h"
#include "guest.h"
#include "must.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum decoder { HOLDER, KEY, GIVEN, DECODERS };

static const struct certificate_wish wish = {.holder = {CERTIFICATE_NODE, "n"}, .days = 100};
static X509 *ca;
static EVP_PKEY *ca_key;

/* Makes a CA in a folder that is removed at once. */
static void make_ca(void)
{
	char folder[] = "/tmp/fuzz-certificate.XXXXXX", paths[2][64];
	struct problem problem;

	must(mkdtemp(folder) != NULL);
	snprintf(paths[0], sizeof(paths[0]), "%s/ca.crt", folder);
	snprintf(paths[1], sizeof(paths[1]), "%s/ca.key", folder);
	must(certificate_make_ca(paths[0], paths[1], 200, &problem) == 0);
	FILE *file = fopen(paths[0], "r");
	must(file != NULL);
	ca = PEM_read_X509(file, NULL, NULL, NULL);
	fclose(file);
	ca_key = certificate_read_key(paths[1], "the key of the CA", &problem);
	must(ca != NULL && ca_key != NULL);
	unlink(paths[0]);
	unlink(paths[1]);
	rmdir(folder);
}

static void check_holder(const uint8_t *data, size_t size)
{
	struct certificate_holder holder;
	X509 *certificate = d2i_X509(NULL, &data, (long)size);

	if (certificate == NULL) {
		ERR_clear_error();
		return;
	}
	if (certificate_read_holder(certificate, &holder) == 0)
		must((holder.role == CERTIFICATE_NODE || holder.role == CERTIFICATE_CLIENT) &&
		     holder.name[0] != '\0' && strlen(holder.name) <= CERTIFICATE_NAME_MAX);
	(void)certificate_end(certificate);
	X509_free(certificate);
	ERR_clear_error();
}

static void check_key(const uint8_t *data, size_t size)
{
	uint8_t room[CERTIFICATE_SIZE_MAX];
	struct certificate_holder holder;
	struct problem problem;
	size_t signed_size = certificate_sign(&wish, data, size, ca, ca_key, room, &problem);
	const uint8_t *at = room;

	if (signed_size == 0)
		return;
	X509 *certificate = d2i_X509(NULL, &at, (long)signed_size);
	must(certificate != NULL && certificate_read_holder(certificate, &holder) == 0);
	must(holder.role == CERTIFICATE_NODE && strcmp(holder.name, "n") == 0);
	must(X509_verify(certificate, ca_key) == 1);
	X509_free(certificate);
}

static void check_given(const uint8_t *data, size_t size)
{
	struct problem problem;
	size_t first = size / 2;
	struct guest_certificate given = {.ca = data,
	                                  .ca_size = first,
	                                  .certificate = data + first,
	                                  .certificate_size = size - first};

	/* Nothing is written, so the paths are never used. */
	must(guest_keep(&given, "n", ca_key, "/nowhere/ca", "/nowhere/n", &problem) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (ca == NULL)
		make_ca();
	if (size < 2)
		return 0;
	/* Use memory of its own, so that reading beyond the end is noticed. */
	uint8_t *copy = malloc(size - 1);
	must(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	switch ((enum decoder)(data[0] % DECODERS)) {
	case HOLDER:
		check_holder(copy, size - 1);
		break;
	case KEY:
		check_key(copy, size - 1);
		break;
	case GIVEN:
	case DECODERS:
		check_given(copy, size - 1);
		break;
	}
	free(copy);
	return 0;
}
