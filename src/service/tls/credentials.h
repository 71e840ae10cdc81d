/* The files with which a node proves who it is and recognizes others: the certificate of the CA,
 * the node's own certificate and the node's key. */
#ifndef TLS_CREDENTIALS_H
#define TLS_CREDENTIALS_H

#include "certificate.h"

/* The files that credentials are loaded from. The CA's file may have several certificates, so that
 * one CA can replace another. */
struct credentials_files {
	/* The paths of the PEM files; all NULL: there is no TLS. */
	const char *ca, *certificate, *key;
	/* The path of the CA's own key, with which this node signs the certificates of nodes that
	 * were invited; NULL: it signs none. */
	const char *ca_key;
};

struct credentials;

/* Loads credentials. Returns NULL and a problem if a file cannot be read, or if the files do not
 * belong together. The problem begins with the name of the option: --tls-ca, --tls-cert, --tls-key
 * or --tls-ca-key. */
struct credentials *credentials_load(const struct credentials_files *files,
                                     struct problem *problem);
/* Frees credentials. Open connections that were made with them go on. */
void credentials_free(struct credentials *credentials);

/* Returns the node or client that the certificate is for. */
const struct certificate_holder *credentials_holder(const struct credentials *credentials);
/* Returns when this node's certificate or that of a CA above it expires, whichever comes first, in
 * seconds since 1970. */
time_t credentials_end(const struct credentials *credentials);

/* Writes into `room`, as DER, the certificate of the CA that has signed this node's certificate
 * directly. Invitations name this CA. Returns the size; 0: the certificate is too long, or there
 * are other CAs between. */
size_t credentials_ca(const struct credentials *credentials, uint8_t room[CERTIFICATE_SIZE_MAX]);
/* Computes the SHA-256 of the certificate that credentials_ca returns. Returns false if there is
 * none. */
bool credentials_ca_digest(const struct credentials *credentials, uint8_t ret_digest[32]);
/* Can this node sign certificates? */
bool credentials_sign(const struct credentials *credentials);
/* Signs a certificate for a node that was invited, valid for a year or until the CA's certificate
 * expires. `host` may be "". Returns as certificate_sign does. */
size_t credentials_issue(const struct credentials *credentials, const char *name, const char *host,
                         const uint8_t *key, size_t key_size, uint8_t room[CERTIFICATE_SIZE_MAX],
                         struct problem *problem);

/* Makes the credentials of a node that has an invitation and no certificate yet. A connection with
 * these credentials accepts any certificate. So the caller must check the certificate (guest.h)
 * before it sends anything. */
struct credentials *credentials_of_guest(void);

/* The name of the protocol that a guest asks for (ALPN), in the format of TLS: the first byte is
 * the length of the name. */
enum { CREDENTIALS_PROTOCOL_SIZE = 12 };
extern const uint8_t credentials_guest_protocol[CREDENTIALS_PROTOCOL_SIZE];

struct ssl_ctx_st;
struct ssl_ctx_st *credentials_context(const struct credentials *credentials);

#endif
