/*
 * A new node that has an invitation and no certificate yet. The new node makes its own key, which
 * never leaves its host. It recognizes the cluster by the fingerprint of the CA in the invitation,
 * and stores the certificate that the cluster gives it.
 */
#ifndef TLS_GUEST_H
#define TLS_GUEST_H

#include "tls.h"
#include "token.h"

/* Can a guest trust the node at the other side? Returns 0 if `ca` (as DER) has the fingerprint that
 * is in the invitation, and has signed the node's certificate; otherwise -1 and a problem. */
int guest_trusts(const struct tls *tls, const struct token *token, const uint8_t *ca,
                 size_t ca_size, struct problem *problem);

/* Writes the public key as DER into `room`. Returns its size. */
size_t guest_public_key(const struct evp_pkey_st *key, uint8_t room[CERTIFICATE_KEY_MAX]);

struct guest_certificate {
	const uint8_t *ca, *certificate; /* the certificates of the CA and of the guest, as DER */
	size_t ca_size, certificate_size;
};

/* Checks that the certificate is for this name and this key, and writes both certificates into new
 * files. Returns 0, or -1 and a problem. */
int guest_keep(const struct guest_certificate *given, const char *name,
               const struct evp_pkey_st *key, const char *ca_path, const char *certificate_path,
               struct problem *problem);

#endif
