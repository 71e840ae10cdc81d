/*
 * Certificates for members in virtual time. Certificates and their signatures have the same size in
 * every run, so every TLS record has too. So the traces of two runs are equal although the bytes on
 * the wire are not. The members read the real clock, and the certificates are valid until 2049.
 */
#include "colony.h"

#include "../lib/test_certificate.h"

#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const ca_names[KEYS_CAS] = {"the CA", "its successor", "a strange CA"};

/* Adds the certificate to the file. */
static void write_certificate(const struct test_wish *wish, const char *path)
{
	X509 *certificate = test_certificate(wish);
	FILE *file = fopen(path, "a");

	must(file != NULL && PEM_write_X509(file, certificate) == 1 && fclose(file) == 0);
	X509_free(certificate);
}

static void write_key(uint8_t number, const char *path)
{
	EVP_PKEY *key = test_key(number);
	FILE *file = fopen(path, "w");

	must(file != NULL && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 &&
	     fclose(file) == 0);
	EVP_PKEY_free(key);
}

static struct credentials *make(const char *name, uint32_t number, enum keys_ca ca)
{
	char folder[] = "/tmp/baton-colony-XXXXXX", paths[3][40], uri[40];
	uint8_t key = (uint8_t)(KEYS_CAS + KEYS_CAS * number + ca);
	struct problem problem;

	must(mkdtemp(folder) != NULL);
	for (uint32_t i = 0; i < 3; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%u", folder, i);
	for (enum keys_ca trusted = 0; trusted < KEYS_CAS; trusted++) {
		if ((trusted == KEYS_STRANGE) == (ca == KEYS_STRANGE))
			write_certificate(&(struct test_wish){.name = ca_names[trusted],
			                                      .ca = ca_names[trusted],
			                                      .key = (uint8_t)trusted,
			                                      .ca_key = (uint8_t)trusted},
			                  paths[0]);
	}
	snprintf(uri, sizeof(uri), "URI:baton:node:%s", name);
	write_certificate(&(struct test_wish){.name = name,
	                                      .ca = ca_names[ca],
	                                      .names = uri,
	                                      .key = key,
	                                      .ca_key = (uint8_t)ca},
	                  paths[1]);
	write_key(key, paths[2]);
	struct credentials *credentials = credentials_load(
	        &(struct credentials_files){paths[0], paths[1], paths[2], NULL}, &problem);
	must(credentials != NULL);
	for (uint32_t i = 0; i < 3; i++)
		unlink(paths[i]);
	rmdir(folder);
	return credentials;
}

const struct credentials *keys_of(const struct colony *colony, const struct colony_place *place)
{
	/* The credentials are the same in every run of this process, so they are made once. */
	static struct credentials *all[COLONY_PLACES_MAX][KEYS_CAS];
	uint32_t strangers_begin = place->stranger ? COLONY_NODES_MAX - colony->plan.nodes : 0;
	uint32_t number = place->number + strangers_begin; /* each name has its own number */
	struct credentials **one = &all[number][place->ca];

	if (!colony->plan.tls)
		return NULL;
	if (*one == NULL)
		*one = make(place->name, number, place->ca);
	return *one;
}
