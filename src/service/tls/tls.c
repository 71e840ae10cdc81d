#include "tls.h"

#include "buffer.h"
#include "memory.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* The most bytes that a handshake may have. One with two certificates needs about 4 KiB. */
	SHAKING_SIZE_MAX = 64 << 10,
	/* The most handshake messages after the handshake, such as KeyUpdate. Each costs several
	 * microseconds, and perhaps an answer; no implementation needs more than a few. */
	LATER_MAX = 64,
	/* After this many bytes of the protocol above, one of these messages is forgiven. */
	LATER_FORGIVEN = 1 << 20,
	WRITE_MAX = 1 << 24,
};

struct tls {
	SSL *ssl;
	struct buffer in, out; /* encrypted bytes: those that arrived, and those for the network */
	size_t taken;          /* how many bytes arrived before the handshake was over */
	uint32_t later;        /* handshake messages that came after that and are not forgiven */
	size_t later_read;     /* how many bytes were read since the last one was forgiven */
	enum tls_state state;
	struct certificate_holder holder;
	bool welcome; /* guests are let in (tls_welcome) */
	bool guest;   /* the other side has said that it is a guest */
	char problem[200];
};

/* --- the encrypted bytes: a BIO of our own, because OpenSSL's memory BIO clears its whole buffer
 * after each record --- */

static int read_in(BIO *bio, char *room, size_t size, size_t *ret_count)
{
	struct tls *tls = BIO_get_data(bio);
	size_t count = buffer_size(&tls->in);

	BIO_clear_retry_flags(bio);
	if (tls->later > LATER_MAX)
		return 0; /* one call of OpenSSL would read all of them: this makes it fail */
	if (count == 0) {
		BIO_set_retry_read(bio);
		return 0;
	}
	if (count > size)
		count = size;
	memcpy(room, buffer_front(&tls->in), count);
	buffer_take(&tls->in, count);
	*ret_count = count;
	return 1;
}

static int write_out(BIO *bio, const char *bytes, size_t size, size_t *ret_count)
{
	struct tls *tls = BIO_get_data(bio);

	BIO_clear_retry_flags(bio);
	buffer_append(&tls->out, bytes, size);
	*ret_count = size;
	return 1;
}

/* Answers what OpenSSL asks of a BIO. Only a flush matters, and it has nothing to do. */
static long control(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH;
}

/* The kind of BIO that has the functions above. All connections of all threads share it. */
static BIO_METHOD *method;
static CRYPTO_ONCE method_once = CRYPTO_ONCE_STATIC_INIT;

static void make_method(void)
{
	method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "baton");
	memory_must(method != NULL && BIO_meth_set_read_ex(method, read_in) == 1 &&
	            BIO_meth_set_write_ex(method, write_out) == 1 &&
	            BIO_meth_set_ctrl(method, control) == 1);
}

struct tls *tls_create(const struct credentials *credentials, bool accepts)
{
	struct tls *tls = calloc(1, sizeof(*tls));

	memory_must(tls != NULL && CRYPTO_THREAD_run_once(&method_once, make_method) == 1);
	BIO *bio = BIO_new(method);
	tls->ssl = SSL_new(credentials_context(credentials));
	memory_must(bio != NULL && tls->ssl != NULL);
	BIO_set_data(bio, tls);
	BIO_set_init(bio, 1);
	SSL_set_bio(tls->ssl, bio, bio);
	SSL_set_app_data(tls->ssl, tls);
	if (accepts) {
		SSL_set_accept_state(tls->ssl);
	} else {
		SSL_set_connect_state(tls->ssl);
		tls_input(tls, NULL, 0); /* begin the handshake: the side that dials sends first */
	}
	return tls;
}

void tls_expect_host(struct tls *tls, const char *host)
{
	X509_VERIFY_PARAM *expected = SSL_get0_param(tls->ssl);

	X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (X509_VERIFY_PARAM_set1_ip_asc(expected, host) != 1)
		memory_must(X509_VERIFY_PARAM_set1_host(expected, host, 0) == 1);
	ERR_clear_error();
}

void tls_keep_buffers(struct tls *tls)
{
	SSL_clear_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS);
	SSL_set_read_ahead(tls->ssl, 1);
}

/* A guest need not show a certificate. Any other protocol that the other side asks for is
 * ignored. */
static int choose_protocol(SSL *ssl, const unsigned char **ret_name, unsigned char *ret_size,
                           const unsigned char *offered, unsigned offered_size, void *context)
{
	struct tls *tls = SSL_get_app_data(ssl);

	(void)context;
	if (!tls->welcome || offered_size != CREDENTIALS_PROTOCOL_SIZE ||
	    memcmp(offered, credentials_guest_protocol, CREDENTIALS_PROTOCOL_SIZE) != 0)
		return SSL_TLSEXT_ERR_NOACK;
	tls->guest = true;
	SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
	*ret_name = offered + 1;
	*ret_size = (unsigned char)(offered_size - 1);
	return SSL_TLSEXT_ERR_OK;
}

void tls_welcome(struct tls *tls)
{
	tls->welcome = true;
	SSL_CTX_set_alpn_select_cb(SSL_get_SSL_CTX(tls->ssl), choose_protocol, NULL);
}

bool tls_has_guest(const struct tls *tls)
{
	return tls->guest;
}

X509 *tls_certificate(const struct tls *tls)
{
	return SSL_get0_peer_certificate(tls->ssl);
}

void tls_destroy(struct tls *tls)
{
	if (tls == NULL)
		return;
	SSL_free(tls->ssl);
	buffer_free(&tls->in);
	buffer_free(&tls->out);
	free(tls);
}

enum tls_state tls_state(const struct tls *tls)
{
	return tls->state;
}

const char *tls_problem(const struct tls *tls)
{
	return tls->problem;
}

const struct certificate_holder *tls_holder(const struct tls *tls)
{
	return &tls->holder;
}

/* --- what went wrong --- */

/* Returns what is wrong with the other side's certificate; NULL: nothing, or nothing that has a
 * text here. */
static const char *verdict_text(const SSL *ssl)
{
	switch (SSL_get_verify_result(ssl)) {
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return "its certificate has expired: make it a new one with 'baton cert'";
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return "its certificate is not valid yet: is the clock of one host wrong?";
	case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
	case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
	case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
	case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
	case X509_V_ERR_CERT_SIGNATURE_FAILURE:
		return "its certificate is not signed by this cluster's CA (--tls-ca)";
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return "its certificate is not for this host: 'baton cert node NAME --address "
		       "HOST' makes one that is";
	case X509_V_ERR_INVALID_PURPOSE:
		return SSL_is_server(ssl) == 1
		               ? "its certificate is only for servers: 'baton cert' makes one "
		                 "with which it may connect"
		               : "its certificate is for clients: 'baton cert node' makes one "
		                 "for a node";
	default:
		return NULL;
	}
}

/* Texts for failed handshakes: alerts of the other side say what is wrong with us, other errors
 * what the other side did wrong. */
static const struct {
	int reason;
	const char *text;
} reasons[] = {
        {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE,
         "it has no certificate: it needs one of this cluster's CA, see 'baton cert'"},
        {SSL_R_UNSUPPORTED_PROTOCOL, "it speaks an old version of TLS; 1.3 is needed"},
        {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, "it does not speak TLS 1.3, which is needed"},
        {SSL_R_WRONG_VERSION_NUMBER, "it sends bytes that are not a TLS record"},
        {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, "it wants a certificate, and this side has none"},
        {SSL_R_TLSV1_ALERT_UNKNOWN_CA,
         "it refuses our certificate: its CA has not signed it (its --tls-ca, our --tls-cert)"},
        {SSL_R_TLSV1_ALERT_DECRYPT_ERROR,
         "it refuses our certificate: its CA has not signed it (its --tls-ca, our --tls-cert)"},
        {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "it refuses our certificate: expired"},
        {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
         "it refuses our certificate: not valid there, or not yet; is a clock wrong?"},
        {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, "it refuses our certificate: not for this use"},
        {SSL_R_TLSV1_ALERT_ACCESS_DENIED, "it refuses our certificate: not for this use"},
        {SSL_R_EXCESSIVE_MESSAGE_SIZE, "it sends more certificates than anybody needs"},
};

static void fail(struct tls *tls, const char *text)
{
	tls->state = TLS_FAILED;
	snprintf(tls->problem, sizeof(tls->problem), "%s", text);
	ERR_clear_error();
}

static void fail_by_openssl(struct tls *tls)
{
	/* If a signature does not match, there are other errors in the queue before this one. */
	bool verdict = ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED;
	int reason = ERR_GET_REASON(ERR_peek_error());
	const char *text = NULL, *why = ERR_reason_error_string(ERR_peek_error());
	char room[160];

	if (verdict)
		text = verdict_text(tls->ssl);
	for (size_t i = 0; text == NULL && i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (reasons[i].reason == reason)
			text = reasons[i].text;
	}
	if (text == NULL && verdict)
		why = X509_verify_cert_error_string(SSL_get_verify_result(tls->ssl));
	if (text == NULL)
		snprintf(room, sizeof(room), "TLS fails: %.100s",
		         why != NULL ? why : "the connection is broken");
	fail(tls, text != NULL ? text : room);
}

/* --- in --- */

/* OpenSSL calls this for each message that is sent or received. */
static void count_later(int sent, int version, int kind, const void *bytes, size_t size, SSL *ssl,
                        void *context)
{
	(void)version;
	(void)bytes;
	(void)size;
	(void)context;
	if (sent == 0 && kind == SSL3_RT_HANDSHAKE)
		((struct tls *)SSL_get_app_data(ssl))->later++;
}

static void forgive_later(struct tls *tls, size_t got)
{
	tls->later_read += got;
	if (tls->later_read < LATER_FORGIVEN)
		return;
	tls->later_read = 0;
	if (tls->later > 0)
		tls->later--;
}

static void shake(struct tls *tls)
{
	int done = SSL_do_handshake(tls->ssl);
	int error = SSL_get_error(tls->ssl, done);

	if (done != 1 && error == SSL_ERROR_WANT_READ) {
		if (tls->taken > SHAKING_SIZE_MAX)
			fail(tls, "it sends too much before it has proved who it is");
		return;
	}
	if (done != 1) {
		fail_by_openssl(tls);
		return;
	}
	SSL_set_msg_callback(tls->ssl, count_later);
	const X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
	if (tls->guest)
		tls->state = TLS_OPEN;
	else if (certificate == NULL || certificate_read_holder(certificate, &tls->holder) != 0)
		fail(tls, "its certificate says neither baton:node:NAME nor baton:client:NAME; "
		          "'baton cert' makes one that does");
	else
		tls->state = TLS_OPEN;
}

void tls_input(struct tls *tls, const uint8_t *bytes, size_t size)
{
	if (tls->state == TLS_FAILED || tls->state == TLS_ENDED)
		return;
	/* A program that uses libbaton may have left errors of its own in OpenSSL's queue. Clearing
	 * an empty queue would cost a tenth of the time that a record costs. */
	if (ERR_peek_error() != 0)
		ERR_clear_error();
	buffer_append(&tls->in, bytes, size);
	if (tls->state == TLS_OPEN)
		return;
	tls->taken += size;
	shake(tls);
}

size_t tls_read(struct tls *tls, uint8_t *room, size_t size)
{
	size_t got = 0;

	if (tls->state != TLS_OPEN ||
	    (buffer_size(&tls->in) == 0 && SSL_has_pending(tls->ssl) == 0))
		return 0;
	int done = SSL_read_ex(tls->ssl, room, size, &got);
	if (done == 1) {
		forgive_later(tls, got);
		return got;
	}
	int error = SSL_get_error(tls->ssl, done);
	if (tls->later > LATER_MAX)
		fail(tls, "it changes its keys again and again");
	else if (error == SSL_ERROR_ZERO_RETURN)
		tls->state = TLS_ENDED;
	else if (error != SSL_ERROR_WANT_READ)
		fail_by_openssl(tls);
	return 0;
}

/* --- out --- */

void tls_write(struct tls *tls, const uint8_t *bytes, size_t size)
{
	while (size > 0 && tls->state != TLS_FAILED) {
		size_t written = 0;
		if (SSL_write_ex(tls->ssl, bytes, size < WRITE_MAX ? size : WRITE_MAX, &written) !=
		    1) {
			fail_by_openssl(tls);
			return;
		}
		bytes += written;
		size -= written;
	}
}

void tls_end(struct tls *tls)
{
	if (tls->state == TLS_OPEN || tls->state == TLS_ENDED)
		SSL_shutdown(tls->ssl);
	ERR_clear_error();
}

size_t tls_output(struct tls *tls, const uint8_t **ret_bytes)
{
	size_t size = buffer_size(&tls->out);

	if (size > 0) /* an empty buffer may have no bytes to point to */
		*ret_bytes = (const uint8_t *)buffer_front(&tls->out);
	return size;
}

void tls_written(struct tls *tls, size_t size)
{
	buffer_take(&tls->out, size);
}
