/*
 * Certificates of a cluster: how they are made, and what they say. The name and the role are in a
 * URI of the certificate, "baton:node:NAME" or "baton:client:NAME", so that a client's certificate
 * is never accepted as a node's. Files are made with mode 0600, and never replaced.
 */
#ifndef TLS_CERTIFICATE_H
#define TLS_CERTIFICATE_H

#include "problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { CERTIFICATE_NAME_MAX = 255, CERTIFICATE_ADDRESSES_MAX = 16 };

enum certificate_role { CERTIFICATE_NODE, CERTIFICATE_CLIENT };

/* The node or client that a certificate is for. */
struct certificate_holder {
	enum certificate_role role;
	char name[CERTIFICATE_NAME_MAX + 1];
};

/* Returns "node" or "client". */
const char *certificate_role_text(enum certificate_role role);

struct certificate_wish {
	struct certificate_holder holder;
	/* Names or IP addresses of hosts by which a node is reached, besides its own name and
	 * loopback. */
	const char *addresses[CERTIFICATE_ADDRESSES_MAX];
	size_t addresses_count;
	uint32_t days;
};

/* True if the text is an IP address, or may be the name of a host. */
bool certificate_takes_address(const char *text);

/* Makes a CA: a key and a certificate. Returns 0, or -1 and a problem. */
int certificate_make_ca(const char *certificate_path, const char *key_path, uint32_t days,
                        struct problem *problem);
/* Makes a key and a certificate that this CA signs. Returns 0, or -1 and a problem. */
int certificate_make(const struct certificate_wish *wish, const char *ca_certificate_path,
                     const char *ca_key_path, const char *certificate_path, const char *key_path,
                     struct problem *problem);

struct x509_st;
struct evp_pkey_st;

/* The most bytes that a certificate and a public key have as DER. */
enum { CERTIFICATE_SIZE_MAX = 4096, CERTIFICATE_KEY_MAX = 256 };

/* Signs a certificate for a public key, which is a SubjectPublicKeyInfo as DER. Returns the size of
 * the certificate, as DER in `room`; or 0 and a problem. */
size_t certificate_sign(const struct certificate_wish *wish, const uint8_t *key, size_t key_size,
                        struct x509_st *ca, struct evp_pkey_st *ca_key,
                        uint8_t room[CERTIFICATE_SIZE_MAX], struct problem *problem);
/* Reads a file with a key, or makes a key and the file. Returns NULL and a problem on failure. */
struct evp_pkey_st *certificate_key(const char *path, struct problem *problem);
void certificate_free_key(struct evp_pkey_st *key);
/* Opens a file to read it. The text of a problem begins with `what`, which says what the file is.
 * Returns NULL and a problem on failure. */
FILE *certificate_open(const char *path, const char *what, struct problem *problem);
/* Reads a file with a key. The text of a problem begins with `what`, which says what the file
 * is. */
struct evp_pkey_st *certificate_read_key(const char *path, const char *what,
                                         struct problem *problem);
/* Writes a certificate into a new file, in PEM. Returns 0, or -1 and a problem. */
int certificate_write(const struct x509_st *certificate, const char *path, struct problem *problem);
/* Computes the SHA-256 of a certificate. */
void certificate_digest(const struct x509_st *certificate, uint8_t ret_digest[32]);

/* Returns 0 and the node or client that the certificate is for; or -1 if the certificate does not
 * name exactly one. */
int certificate_read_holder(const struct x509_st *certificate,
                            struct certificate_holder *ret_holder);
/* Returns when the certificate expires, in seconds since 1970. */
time_t certificate_end(const struct x509_st *certificate);

#endif
