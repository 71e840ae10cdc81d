#include "credentials.h"

#include "memory.h"
#include "must.h"

#include <errno.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* The most bytes of the certificates that a peer may send. Two of the usual kind have 2
	 * KiB, so a peer that exceeds this limit is not a node of ours. */
	CERTIFICATES_SIZE_MAX = 16 << 10,
	DEPTH_MAX = 4,
};

const uint8_t credentials_guest_protocol[CREDENTIALS_PROTOCOL_SIZE] = {
        11, 'b', 'a', 't', 'o', 'n', '-', 'g', 'u', 'e', 's', 't'};

struct credentials {
	SSL_CTX *context;
	struct certificate_holder holder;
	time_t end;
	/* The CA that has signed the certificate directly; NULL: there are other CAs between. */
	X509 *ca;
	EVP_PKEY *ca_key; /* the CA's key; NULL: this node does not sign */
};

/*
 * While this is true, all memory that OpenSSL frees is wiped. It is true only while a key is read:
 * then OpenSSL frees copies of the key without wiping them, namely the text of the file and the
 * bytes decoded from it. (OpenSSL wipes keys themselves when it frees them.) At other times this
 * would cost too much, because a connection frees its buffers with every record.
 */
static bool wipes;

static void *allocate(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return malloc(size);
}

static void wipe_and_free(void *memory, const char *file, int line)
{
	(void)file;
	(void)line;
	if (wipes && memory != NULL)
		OPENSSL_cleanse(memory, malloc_usable_size(memory));
	free(memory);
}

static void *reallocate(void *memory, size_t size, const char *file, int line)
{
	if (!wipes || memory == NULL)
		return realloc(memory, size);
	void *moved = malloc(size);
	size_t before = malloc_usable_size(memory);
	if (moved == NULL)
		return NULL;
	memcpy(moved, memory, before < size ? before : size);
	wipe_and_free(memory, file, line);
	return moved;
}

/* Returns why OpenSSL failed last, and clears its queue of errors. */
static const char *reason(void)
{
	unsigned long error = ERR_peek_last_error();
	const char *text = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error))
	                                           : ERR_reason_error_string(error);

	ERR_clear_error();
	return text != NULL ? text : "unknown error";
}

static int no_password(char *room, int size, int writes, void *context)
{
	(void)room;
	(void)size;
	(void)writes;
	(void)context;
	return -1;
}

static int readable(const char *option, const char *path, struct problem *problem)
{
	FILE *file = certificate_open(path, option, problem);

	return file == NULL ? -1 : fclose(file);
}

static int load_files(struct credentials *credentials, const struct credentials_files *files,
                      struct problem *problem)
{
	SSL_CTX *context = credentials->context;

	if (readable("--tls-ca", files->ca, problem) != 0 ||
	    readable("--tls-cert", files->certificate, problem) != 0)
		return -1;
	if (SSL_CTX_load_verify_file(context, files->ca) != 1)
		return problem_set(problem, "--tls-ca '%.300s': the file has no certificate in PEM",
		                   files->ca);
	if (SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1)
		return problem_set(problem,
		                   "--tls-cert '%.300s': the file has no certificate in PEM",
		                   files->certificate);
	EVP_PKEY *key = certificate_read_key(files->key, "--tls-key", problem);
	if (key == NULL)
		return -1;
	bool fits = SSL_CTX_use_PrivateKey(context, key) == 1;
	EVP_PKEY_free(key);
	if (!fits || SSL_CTX_check_private_key(context) != 1)
		return problem_set(problem,
		                   "--tls-key '%.150s': not the key of --tls-cert '%.150s': %s",
		                   files->key, files->certificate, reason());
	return 0;
}

/* Returns the size of all certificates that this node sends to others. */
static int size_of_own(SSL_CTX *context)
{
	STACK_OF(X509) *chain = NULL;
	int size = i2d_X509(SSL_CTX_get0_certificate(context), NULL);

	SSL_CTX_get0_chain_certs(context, &chain);
	for (int i = 0; i < sk_X509_num(chain); i++)
		size += i2d_X509(sk_X509_value(chain, i), NULL);
	return size;
}

/* Says what is wrong with this node's own certificate, or with a certificate above it. */
static const char *verdict_text(int error, int depth)
{
	switch (error) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return depth == 0 ? "the certificate has expired" : "the CA has expired";
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return depth == 0 ? "the certificate is not valid yet: is the clock wrong?"
		                  : "the CA is not valid yet: is the clock wrong?";
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
		return "this CA has not signed the certificate, and the certificate's file has no "
		       "intermediate CA";
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
		return "this CA was signed by another one: --tls-ca must have that one, too";
	default:
		return X509_verify_cert_error_string(error);
	}
}

/* Checks this node's own certificate, so that a node that others would refuse says so when it
 * starts. */
static int check_own(struct credentials *credentials, const struct credentials_files *files,
                     struct problem *problem)
{
	X509 *own = SSL_CTX_get0_certificate(credentials->context);
	X509_STORE *store = SSL_CTX_get_cert_store(credentials->context);
	X509_STORE_CTX *check = X509_STORE_CTX_new();
	STACK_OF(X509) *chain = NULL;

	memory_must(check != NULL);
	SSL_CTX_get0_chain_certs(credentials->context, &chain);
	memory_must(X509_STORE_CTX_init(check, store, own, chain) == 1);
	bool good = X509_verify_cert(check) == 1;
	int error = X509_STORE_CTX_get_error(check), depth = X509_STORE_CTX_get_error_depth(check);
	const STACK_OF(X509) *whole = X509_STORE_CTX_get0_chain(check);
	credentials->end = certificate_end(own);
	for (int i = 1; good && i < sk_X509_num(whole); i++) {
		time_t end = certificate_end(sk_X509_value(whole, i));
		if (end < credentials->end)
			credentials->end = end;
	}
	if (good && sk_X509_num(whole) == 2) {
		credentials->ca = sk_X509_value(whole, 1);
		X509_up_ref(credentials->ca);
	}
	X509_STORE_CTX_free(check);
	ERR_clear_error();
	if (!good)
		return problem_set(problem, "--tls-cert '%.150s' with --tls-ca '%.150s': %s",
		                   files->certificate, files->ca, verdict_text(error, depth));
	/* Leave room for the few bytes before each certificate. */
	if (size_of_own(credentials->context) > CERTIFICATES_SIZE_MAX - 100)
		return problem_set(problem,
		                   "--tls-cert '%.200s': its certificates have %d bytes, and "
		                   "others accept only %d",
		                   files->certificate, size_of_own(credentials->context),
		                   CERTIFICATES_SIZE_MAX - 100);
	if (certificate_read_holder(own, &credentials->holder) != 0)
		return problem_set(problem,
		                   "--tls-cert '%.200s': it says neither baton:node:NAME nor "
		                   "baton:client:NAME; 'baton cert' makes one that does",
		                   files->certificate);
	return 0;
}

static int load_ca_key(struct credentials *credentials, const struct credentials_files *files,
                       struct problem *problem)
{
	if (files->ca_key == NULL)
		return 0;
	credentials->ca_key = certificate_read_key(files->ca_key, "--tls-ca-key", problem);
	if (credentials->ca_key == NULL)
		return -1;
	if (credentials->ca != NULL &&
	    X509_check_private_key(credentials->ca, credentials->ca_key) == 1)
		return 0;
	ERR_clear_error();
	return problem_set(problem,
	                   "--tls-ca-key '%.150s': not the key of the CA that has signed "
	                   "--tls-cert '%.150s'",
	                   files->ca_key, files->certificate);
}

/* Sets what a handshake must check. Sessions are not resumed, so that each handshake checks the
 * present certificates. */
static void set_rules(SSL_CTX *context)
{
	must(SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1);
	must(SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
	                                       "TLS_CHACHA20_POLY1305_SHA256") == 1);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_verify_depth(context, DEPTH_MAX);
	SSL_CTX_set_max_cert_list(context, CERTIFICATES_SIZE_MAX);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_num_tickets(context, 0);
	SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
	                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
	                                  SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_default_passwd_cb(context, no_password);
}

struct credentials *credentials_of_guest(void)
{
	struct credentials *credentials = calloc(1, sizeof(*credentials));

	memory_must(credentials != NULL);
	credentials->context = SSL_CTX_new(TLS_method());
	memory_must(credentials->context != NULL);
	set_rules(credentials->context);
	SSL_CTX_set_verify(credentials->context, SSL_VERIFY_NONE, NULL);
	must(SSL_CTX_set_alpn_protos(credentials->context, credentials_guest_protocol,
	                             sizeof(credentials_guest_protocol)) == 0);
	return credentials;
}

struct credentials *credentials_load(const struct credentials_files *files, struct problem *problem)
{
	struct credentials *credentials = calloc(1, sizeof(*credentials));

	memory_must(credentials != NULL);
	/* This works only before OpenSSL's first allocation. In a program that has used OpenSSL
	 * before, keys are not wiped in this way. */
	(void)CRYPTO_set_mem_functions(allocate, reallocate, wipe_and_free);
	ERR_clear_error();
	credentials->context = SSL_CTX_new(TLS_method());
	memory_must(credentials->context != NULL);
	set_rules(credentials->context);
	wipes = true;
	bool good = load_files(credentials, files, problem) == 0 &&
	            check_own(credentials, files, problem) == 0 &&
	            load_ca_key(credentials, files, problem) == 0;
	wipes = false;
	if (good)
		return credentials;
	credentials_free(credentials);
	return NULL;
}

void credentials_free(struct credentials *credentials)
{
	if (credentials == NULL)
		return;
	SSL_CTX_free(credentials->context);
	X509_free(credentials->ca);
	EVP_PKEY_free(credentials->ca_key);
	free(credentials);
}

const struct certificate_holder *credentials_holder(const struct credentials *credentials)
{
	return &credentials->holder;
}

time_t credentials_end(const struct credentials *credentials)
{
	return credentials->end;
}

SSL_CTX *credentials_context(const struct credentials *credentials)
{
	return credentials->context;
}

size_t credentials_ca(const struct credentials *credentials, uint8_t room[CERTIFICATE_SIZE_MAX])
{
	int size = credentials->ca == NULL ? 0 : i2d_X509(credentials->ca, NULL);

	if (size <= 0 || size > CERTIFICATE_SIZE_MAX)
		return 0;
	i2d_X509(credentials->ca, &room);
	return (size_t)size;
}

bool credentials_ca_digest(const struct credentials *credentials, uint8_t ret_digest[32])
{
	if (credentials->ca == NULL)
		return false;
	certificate_digest(credentials->ca, ret_digest);
	return true;
}

bool credentials_sign(const struct credentials *credentials)
{
	return credentials->ca_key != NULL;
}

size_t credentials_issue(const struct credentials *credentials, const char *name, const char *host,
                         const uint8_t *key, size_t key_size, uint8_t room[CERTIFICATE_SIZE_MAX],
                         struct problem *problem)
{
	enum { DAYS = 365, DAY_S = 86400 };
	struct certificate_wish wish = {.holder.role = CERTIFICATE_NODE, .days = DAYS};
	time_t left = certificate_end(credentials->ca) - time(NULL);

	snprintf(wish.holder.name, sizeof(wish.holder.name), "%s", name);
	if (certificate_takes_address(host))
		wish.addresses[wish.addresses_count++] = host;
	if (left < (time_t)DAYS * DAY_S)
		wish.days = left < 0 ? 0 : (uint32_t)(left / DAY_S);
	if (wish.days == 0) {
		problem_set(problem, "the CA ends in less than a day: make a new one");
		return 0;
	}
	return certificate_sign(&wish, key, key_size, credentials->ca, credentials->ca_key, room,
	                        problem);
}
