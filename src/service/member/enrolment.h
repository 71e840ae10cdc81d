/*
 * The records between a node and a guest: a new node that has an invitation and wants a
 * certificate. They are sent inside TLS, in which only the node has a certificate. All begin as a
 * link's HELLO does (link.h): length, type, magic, version.
 *
 * 	node   CA           the certificate of the cluster's CA
 * 	guest  ENROL        the secret of the invitation; the guest's name, host and public key
 * 	node   CERTIFICATE  the certificate; or REFUSAL, or ELSEWHERE, with a text
 *
 * A guest that does not trust the node answers CA with a REFUSAL and does not send its secret.
 */
#ifndef MEMBER_ENROLMENT_H
#define MEMBER_ENROLMENT_H

#include "certificate.h"
#include "link.h"
#include "record.h"
#include "state.h"
#include "token.h"

/* The most bytes of a record. */
enum { ENROLMENT_SIZE_MAX = CERTIFICATE_SIZE_MAX + 64 };

struct enrolment {
	enum record_type type; /* CA, ENROL, CERTIFICATE, REFUSAL or ELSEWHERE */
	/* ENROL: */
	uint8_t secret[TOKEN_SECRET_SIZE];
	char name[ENTRY_NAME_MAX + 1];
	char host[ENTRY_NAME_MAX + 1]; /* where others reach the guest; "": it does not say */
	/* CA, CERTIFICATE: a certificate; ENROL: the public key; as DER. */
	const uint8_t *bytes;
	size_t size;
	/* REFUSAL, ELSEWHERE: the reason. */
	char text[LINK_TEXT_MAX + 1];
};

enum enrolment_kind {
	ENROLMENT_MORE,     /* the record is not complete yet */
	ENROLMENT_WHOLE,    /* the record is in *ret_enrolment, which points into the bytes */
	ENROLMENT_VERSION,  /* the other side speaks another version of the protocol */
	ENROLMENT_NONSENSE, /* the bytes are not of this protocol */
};

/* Reads one record; *ret_size is how many bytes it took. */
enum enrolment_kind enrolment_read(const uint8_t *bytes, size_t size,
                                   struct enrolment *ret_enrolment, size_t *ret_size);
/* Appends the record to out->bytes. */
void enrolment_write(struct out *out, const struct enrolment *enrolment);

#endif
