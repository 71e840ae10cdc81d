/* The files by which a node proves who it is and recognizes others: the CA, its own certificate and
 * its key. */
#ifndef TLS_CREDENTIALS_H
#define TLS_CREDENTIALS_H

#include "certificate.h"

/* Paths of files in PEM. The CA's file may have several certificates, so that one CA can replace
 * another. */
struct credentials_files {
	/* The paths of the PEM files; all NULL: there is no TLS. */
	const char *ca, *certificate, *key;
};

struct credentials;

/* Returns NULL and a problem if a file cannot be read, or if they do not belong together. The
 * problem begins with the name of the option: --tls-ca, --tls-cert or --tls-key. */
struct credentials *credentials_load(const struct credentials_files *files,
                                     struct problem *problem);
/* Open connections that were made with these credentials go on. */
void credentials_free(struct credentials *credentials);

/* Returns the node or client that the certificate is for. */
const struct certificate_holder *credentials_holder(const struct credentials *credentials);
/* Returns when the first certificate ends, in seconds since 1970: this node's own, or that of the
 * only CA. */
time_t credentials_end(const struct credentials *credentials);

struct ssl_ctx_st;
struct ssl_ctx_st *credentials_context(const struct credentials *credentials);

#endif
