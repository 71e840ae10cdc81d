/*
 * One connection with TLS 1.3 and certificates on both sides, without I/O. Encrypted bytes of the
 * network, and plain bytes of the protocol above, go in and come out. The driver passes in what
 * arrives, writes what tls_output returns, and limits the time that a handshake may take.
 */
#ifndef TLS_TLS_H
#define TLS_TLS_H

#include "credentials.h"

struct tls;

enum tls_state {
	TLS_SHAKING, /* the handshake is not over */
	TLS_OPEN,
	TLS_ENDED, /* the other side sends nothing more */
	/* The connection is useless and tls_problem says why; the output may have an alert for the
	 * other side. */
	TLS_FAILED,
};

/* The first byte of a TLS connection; no record of ours begins with it. */
enum { TLS_FIRST_BYTE = 0x16 };

/* Makes one end of a connection. `accepts` is true if the other side has dialled. The credentials
 * are not needed after the call. */
struct tls *tls_create(const struct credentials *credentials, bool accepts);
void tls_destroy(struct tls *tls);
/* Requires that the other side's certificate is for this host: a name or an IP address. Call it
 * before any input. */
void tls_expect_host(struct tls *tls, const char *host);
/* Keeps about 35 KiB of buffers between records, which makes each record a tenth faster. Worth it
 * for links, because there are few. */
void tls_keep_buffers(struct tls *tls);
/* Lets in guests too, which need no certificate. They say at the beginning that they are guests.
 * Call it before the first input. */
void tls_welcome(struct tls *tls);
/* Is the other side a guest, without a certificate? The connection must be OPEN. */
bool tls_has_guest(const struct tls *tls);

enum tls_state tls_state(const struct tls *tls);
/* Returns why the connection has FAILED, as a sentence about the other side, such as "its
 * certificate has expired". */
const char *tls_problem(const struct tls *tls);
/* Returns the node or client that the other side's certificate is for. The connection must be
 * OPEN. */
const struct certificate_holder *tls_holder(const struct tls *tls);

/* Takes bytes of the network. Then tls_read must be called until it returns 0. */
void tls_input(struct tls *tls, const uint8_t *bytes, size_t size);
/* Puts plain bytes into `room`. Returns how many; 0: there are none now. */
size_t tls_read(struct tls *tls, uint8_t *room, size_t size);

/* Encrypts all bytes. The connection must be OPEN or ENDED. */
void tls_write(struct tls *tls, const uint8_t *bytes, size_t size);
/* Tells the other side that this side sends nothing more. */
void tls_end(struct tls *tls);

/* tls_output returns the bytes for the network, in one piece; 0: there are none. Valid until the
 * next call. Then tls_written tells how many of them were written. */
size_t tls_output(struct tls *tls, const uint8_t **ret_bytes);
void tls_written(struct tls *tls, size_t size);

struct x509_st;
/* Returns the other side's certificate. The connection must be OPEN, and the other side must not be
 * a guest. */
struct x509_st *tls_certificate(const struct tls *tls);

#endif
