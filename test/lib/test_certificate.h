/*
 * Certificates for tests in C. Keys are Ed25519, and each key is computed from a number. So keys,
 * certificates and signatures have the same size in every run.
 */
#ifndef TEST_CERTIFICATE_H
#define TEST_CERTIFICATE_H

#include "must.h"

#include <openssl/evp.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdio.h>

static inline EVP_PKEY *test_key(uint8_t number)
{
	uint8_t secret[32] = {number};
	EVP_PKEY *key =
	        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, sizeof(secret));

	must(key != NULL);
	return key;
}

static inline void test_extend(X509 *certificate, int kind, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, kind, value);

	must(extension != NULL && X509_add_ext(certificate, extension, -1) == 1);
	X509_EXTENSION_free(extension);
}

struct test_wish {
	const char *name, *ca; /* common names of the subject and of the CA that signs */
	/* Alternative names as in openssl.cnf: "URI:baton:node:n1"; NULL: this is a CA. */
	const char *names;
	const char *usage; /* the extended key usage; NULL: any */
	/* The dates of validity, as "200101000000Z"; NULL: from 2020 to 2049. */
	const char *start, *end;
	uint8_t key, ca_key; /* the numbers of the keys */
};

static inline X509 *test_certificate(const struct test_wish *wish)
{
	EVP_PKEY *key = test_key(wish->key), *ca_key = test_key(wish->ca_key);
	const char *start = wish->start != NULL ? wish->start : "200101000000Z";
	const char *end = wish->end != NULL ? wish->end : "490101000000Z";
	X509 *certificate = X509_new();
	X509_NAME *issuer = X509_NAME_new();

	must(certificate != NULL && issuer != NULL);
	must(X509_set_version(certificate, 2) == 1 && /* 2 means version 3 */
	     ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
	     ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), start) == 1 &&
	     ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), end) == 1 &&
	     X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
	                                (const unsigned char *)wish->name, -1, -1, 0) == 1 &&
	     X509_NAME_add_entry_by_txt(issuer, "CN", MBSTRING_ASC, (const unsigned char *)wish->ca,
	                                -1, -1, 0) == 1 &&
	     X509_set_issuer_name(certificate, issuer) == 1 &&
	     X509_set_pubkey(certificate, key) == 1);
	if (wish->names == NULL)
		test_extend(certificate, NID_basic_constraints, "critical,CA:TRUE");
	else
		test_extend(certificate, NID_subject_alt_name, wish->names);
	if (wish->usage != NULL)
		test_extend(certificate, NID_ext_key_usage, wish->usage);
	must(X509_sign(certificate, ca_key, NULL) > 0);
	X509_NAME_free(issuer);
	EVP_PKEY_free(key);
	EVP_PKEY_free(ca_key);
	return certificate;
}

#endif
