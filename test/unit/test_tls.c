/*
 * One side has a certificate that is not good enough. Each side must say why, from its own point of
 * view.
 */
#include "tls.h"

#include "../lib/test_certificate.h"

#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CA = 1, OTHER_CA, NODE, OTHER };

static const struct test_wish ca = {.name = "ca", .ca = "ca", .key = CA, .ca_key = CA};
static const struct test_wish good = {
        .name = "n1", .ca = "ca", .names = "URI:baton:node:n1", .key = NODE, .ca_key = CA};

/* Makes credentials that credentials_load would refuse. NULL: there is no certificate. */
static struct credentials *make(const struct test_wish *wish)
{
	struct credentials *credentials = credentials_of_guest();
	SSL_CTX *context = credentials_context(credentials);
	X509 *trusted = test_certificate(&ca), *own = NULL;

	/* These settings differ between a guest and a node. */
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	assert_int_equal(SSL_CTX_set_alpn_protos(context, NULL, 0), 0);
	assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), trusted), 1);
	X509_free(trusted);
	if (wish != NULL) {
		EVP_PKEY *key = test_key(wish->key);
		own = test_certificate(wish);
		assert_int_equal(SSL_CTX_use_certificate(context, own), 1);
		assert_int_equal(SSL_CTX_use_PrivateKey(context, key), 1);
		X509_free(own);
		EVP_PKEY_free(key);
	}
	return credentials;
}

/* Gives a side the output of the other side. Returns false if there is none. */
static bool carry(struct tls *from, struct tls *to)
{
	const uint8_t *bytes;
	size_t size = tls_output(from, &bytes);
	uint8_t room[100];

	if (size == 0)
		return false;
	tls_input(to, bytes, size);
	tls_written(from, size);
	while (tls_read(to, room, sizeof(room)) > 0)
		;
	return true;
}

/* Makes a connection. Each side must say this about the other; NULL: it has no complaint. */
static void meet(struct credentials *dialling, struct credentials *listening,
                 const char *dialler_says, const char *listener_says)
{
	struct tls *dialler = tls_create(dialling, false), *listener = tls_create(listening, true);

	while (carry(dialler, listener) || carry(listener, dialler))
		;
	struct {
		const struct tls *tls;
		const char *says;
	} sides[] = {{dialler, dialler_says}, {listener, listener_says}};
	for (size_t i = 0; i < 2; i++) {
		if (sides[i].says == NULL) {
			assert_int_equal(tls_state(sides[i].tls), TLS_OPEN);
			continue;
		}
		assert_string_equal(tls_problem(sides[i].tls), sides[i].says);
		assert_int_equal(tls_state(sides[i].tls), TLS_FAILED);
	}
	tls_destroy(dialler);
	tls_destroy(listener);
	credentials_free(dialling);
	credentials_free(listening);
}

static void test_good_certificates(void **state)
{
	(void)state;
	meet(make(&good), make(&good), NULL, NULL);
}

/* Lets a bad certificate dial, and be dialled. */
static void both_ways(const struct test_wish *wish, const char *other_says, const char *owner_says)
{
	meet(make(wish), make(&good), owner_says, other_says);
	meet(make(&good), make(wish), other_says, owner_says);
}

static void test_another_ca(void **state)
{
	struct test_wish wish = good;

	(void)state;
	wish.ca = "another";
	wish.ca_key = OTHER_CA;
	both_ways(&wish, "its certificate is not signed by this cluster's CA (--tls-ca)",
	          "it refuses our certificate: its CA has not signed it (its --tls-ca, our "
	          "--tls-cert)");
	wish.ca = "ca"; /* a CA with the same name */
	both_ways(&wish, "its certificate is not signed by this cluster's CA (--tls-ca)",
	          "it refuses our certificate: its CA has not signed it (its --tls-ca, our "
	          "--tls-cert)");
}

static void test_no_certificate(void **state)
{
	(void)state;
	meet(make(NULL), make(&good), "it wants a certificate, and this side has none",
	     "it has no certificate: it needs one of this cluster's CA, see 'baton cert'");
}

static void test_expired(void **state)
{
	struct test_wish wish = good;

	(void)state;
	wish.end = "210101000000Z";
	both_ways(&wish, "its certificate has expired: make it a new one with 'baton cert'",
	          "it refuses our certificate: expired");
}

static void test_not_yet_valid(void **state)
{
	struct test_wish wish = good;

	(void)state;
	wish.start = "480101000000Z";
	both_ways(&wish, "its certificate is not valid yet: is the clock of one host wrong?",
	          "it refuses our certificate: not valid there, or not yet; is a clock wrong?");
}

static void test_not_for_this_use(void **state)
{
	struct test_wish wish = good;

	(void)state;
	wish.usage = "clientAuth";
	meet(make(&good), make(&wish),
	     "its certificate is for clients: 'baton cert node' makes one for a node",
	     "it refuses our certificate: not for this use");
	wish.usage = "serverAuth";
	meet(make(&wish), make(&good), "it refuses our certificate: not for this use",
	     "its certificate is only for servers: 'baton cert' makes one with which it may "
	     "connect");
}

static void test_an_old_version(void **state)
{
	struct credentials *old = make(&good);

	(void)state;
	assert_int_equal(SSL_CTX_set_min_proto_version(credentials_context(old), TLS1_2_VERSION),
	                 1);
	assert_int_equal(SSL_CTX_set_max_proto_version(credentials_context(old), TLS1_2_VERSION),
	                 1);
	meet(old, make(&good), "it does not speak TLS 1.3, which is needed",
	     "it speaks an old version of TLS; 1.3 is needed");
}

/* A node whose own certificates are too long says so at its start (test_tls.py). */
static void test_too_many_certificates(void **state)
{
	struct test_wish wish = good;
	char names[20000] = "URI:baton:node:n1";

	(void)state;
	for (size_t at = strlen(names); at + 40 < sizeof(names); at = strlen(names))
		snprintf(names + at, sizeof(names) - at, ",DNS:a%zu.very.long.example", at);
	wish.names = names;
	both_ways(&wish, "it sends more certificates than anybody needs",
	          "TLS fails: sslv3 alert illegal parameter");
}

/* --- KeyUpdate --- */

/* A client that uses OpenSSL directly, and the node's end of the connection. */
struct flood {
	struct credentials *credentials[2];
	SSL *ssl;
	BIO *out; /* what the client sends */
	struct tls *node;
	size_t got; /* how many bytes the node has read */
};

/* Carries everything in both directions. */
static void exchange(struct flood *flood)
{
	static uint8_t room[1 << 16];
	const uint8_t *bytes;
	size_t size;

	while (BIO_read_ex(flood->out, room, sizeof(room), &size) == 1) {
		tls_input(flood->node, room, size);
		while ((size = tls_read(flood->node, room, sizeof(room))) > 0)
			flood->got += size;
	}
	size = tls_output(flood->node, &bytes);
	if (size > 0)
		assert_int_equal(BIO_write(SSL_get_rbio(flood->ssl), bytes, (int)size), (int)size);
	tls_written(flood->node, size);
}

static void flood_begin(struct flood *flood)
{
	*flood = (struct flood){.credentials = {make(&good), make(&good)}};
	flood->ssl = SSL_new(credentials_context(flood->credentials[0]));
	flood->out = BIO_new(BIO_s_mem());
	SSL_set_bio(flood->ssl, BIO_new(BIO_s_mem()), flood->out);
	SSL_set_connect_state(flood->ssl);
	flood->node = tls_create(flood->credentials[1], true);
	while (tls_state(flood->node) == TLS_SHAKING) {
		SSL_do_handshake(flood->ssl);
		exchange(flood);
	}
	assert_int_equal(tls_state(flood->node), TLS_OPEN);
}

static void flood_end(struct flood *flood)
{
	tls_destroy(flood->node);
	SSL_free(flood->ssl);
	credentials_free(flood->credentials[0]);
	credentials_free(flood->credentials[1]);
}

static void send_updates(struct flood *flood, int count)
{
	for (int i = 0; i < count; i++) {
		assert_int_equal(SSL_key_update(flood->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
		assert_int_equal(SSL_do_handshake(flood->ssl), 1);
	}
}

static void send_bytes(struct flood *flood, size_t size)
{
	static const char bytes[1 << 12];

	for (; size > 0; size -= sizeof(bytes))
		assert_int_equal(SSL_write(flood->ssl, bytes, sizeof(bytes)), (int)sizeof(bytes));
	exchange(flood);
}

static void test_some_new_keys(void **state)
{
	struct flood flood;

	(void)state;
	flood_begin(&flood);
	send_updates(&flood, 64);
	for (int i = 0; i < 3; i++) { /* one more for each mebibyte */
		send_bytes(&flood, 1 << 20);
		send_updates(&flood, 1);
	}
	send_bytes(&flood, 1 << 12);
	assert_int_equal(tls_state(flood.node), TLS_OPEN);
	assert_int_equal(flood.got, (3 << 20) + (1 << 12));
	flood_end(&flood);
}

static void test_new_keys_again_and_again(void **state)
{
	struct flood flood;

	(void)state;
	flood_begin(&flood);
	for (int i = 0; i < 50; i++) {
		send_updates(&flood, 50);
		send_bytes(&flood, 1 << 12); /* a few bytes between them do not help */
	}
	assert_int_equal(tls_state(flood.node), TLS_FAILED);
	assert_string_equal(tls_problem(flood.node), "it changes its keys again and again");
	assert_int_equal(flood.got, 1 << 12);
	flood_end(&flood);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_good_certificates),
	        cmocka_unit_test(test_another_ca),
	        cmocka_unit_test(test_no_certificate),
	        cmocka_unit_test(test_expired),
	        cmocka_unit_test(test_not_yet_valid),
	        cmocka_unit_test(test_not_for_this_use),
	        cmocka_unit_test(test_an_old_version),
	        cmocka_unit_test(test_too_many_certificates),
	        cmocka_unit_test(test_some_new_keys),
	        cmocka_unit_test(test_new_keys_again_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
