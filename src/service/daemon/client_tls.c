#include "client_tls.h"

#include "clients.h"
#include "closing.h"
#include "instance.h"
#include "log.h"
#include "memory.h"
#include "strangers.h"
#include "tls.h"

#include <errno.h>
#include <sys/socket.h>

enum {
	ENCRYPTED_MAX = 64 << 10, /* the most encrypted bytes that may wait for the socket */
	SHAKE_MS = 5000,
};

#define NEEDS_TLS                                                                                  \
	"-ERR this port needs TLS: --tls-ca, --tls-cert and --tls-key, with a certificate of "     \
	"'baton cert client'\r\n"

struct client_tls {
	struct tls *tls;
	bool begun; /* the client's first byte was TLS */
	bool open;  /* the handshake is over, and the client's name is known */
	bool ended; /* TLS was closed in our direction: nothing more is sent */
	bool failed;
	uint64_t network; /* the client's network, see strangers.h */
};

/* Strangers must not keep clients out. */
static void limit_strangers(struct daemon *daemon)
{
	uint64_t networks[CLIENT_STRANGERS_MAX + 1];
	char who[CLIENT_DESCRIPTION_MAX];
	struct client *client;
	uint32_t count = 0;

	LIST_FOREACH (client, &daemon->clients.strangers, stranger_entry)
		networks[count++] = client->tls->network;
	if (count <= daemon->clients.strangers_max)
		return;
	uint32_t chosen = strangers_choose(networks, count);
	client = LIST_FIRST(&daemon->clients.strangers);
	for (uint32_t i = 0; i < chosen; i++)
		client = LIST_NEXT(client, stranger_entry);
	client_describe(client, who);
	if (log_limit_passes(&daemon->refusals, daemon->loop.now))
		log_line(LEVEL_WARNING,
		         "too many clients do not finish the TLS handshake: the oldest ones are "
		         "closed: %s",
		         who);
	client_close(client);
}

void client_tls_begin(struct client *client, uint64_t network)
{
	client->tls = calloc(1, sizeof(*client->tls));
	memory_must(client->tls != NULL);
	client->tls->tls = tls_create(client->daemon->credentials, true);
	client->tls->network = network;
	client->stranger = true;
	LIST_INSERT_HEAD(&client->daemon->clients.strangers, client, stranger_entry);
	limit_strangers(client->daemon);
}

void client_tls_free(struct client *client)
{
	if (client->tls != NULL)
		tls_destroy(client->tls->tls);
	free(client->tls);
}

static bool refuse(struct client *client, const char *why)
{
	char who[CLIENT_DESCRIPTION_MAX];

	client_describe(client, who);
	if (log_limit_passes(&client->daemon->refusals, client->daemon->loop.now))
		log_line(LEVEL_WARNING, "a client was refused: %s: %s", who, why);
	client->tls->failed = true;
	client_end(client);
	return false;
}

/* Called when the handshake is over. A client may not use a node's certificate: rules would take
 * the node's name for a client's. */
static bool come_open(struct client *client)
{
	const struct certificate_holder *holder = tls_holder(client->tls->tls);

	client->tls->open = true;
	if (holder->role != CERTIFICATE_CLIENT) {
		resp_error(&client->output, "DENIED",
		           "this is a node's certificate: 'baton cert client' makes a client's");
		char who[CLIENT_DESCRIPTION_MAX];
		client_describe(client, who);
		if (log_limit_passes(&client->daemon->refusals, client->daemon->loop.now))
			log_line(LEVEL_WARNING,
			         "a client was refused: %s: it uses the certificate of node '%s'; "
			         "'baton cert client' makes one for a client",
			         who, holder->name);
		client_end(client);
		return false;
	}
	client->subject.certificate = strdup(holder->name);
	memory_must(client->subject.certificate != NULL);
	client->stranger = false;
	LIST_REMOVE(client, stranger_entry);
	return client_admit(client);
}

bool client_tls_input(struct client *client, const char *bytes, size_t size)
{
	struct client_tls *secure = client->tls;

	if (!secure->begun && (uint8_t)bytes[0] != TLS_FIRST_BYTE) {
		send(client->watch.fd, NEEDS_TLS, sizeof(NEEDS_TLS) - 1, MSG_NOSIGNAL);
		return refuse(client, "it does not use TLS");
	}
	secure->begun = true;
	tls_input(secure->tls, (const uint8_t *)bytes, size);
	client_dirty(client); /* the handshake may have produced bytes to send */
	if (tls_state(secure->tls) == TLS_FAILED)
		return refuse(client, tls_problem(secure->tls));
	return tls_state(secure->tls) == TLS_OPEN && (secure->open || come_open(client));
}

size_t client_tls_read(struct client *client, char *room, size_t size)
{
	struct tls *tls = client->tls->tls;
	size_t got = tls_read(tls, (uint8_t *)room, size);

	if (got == 0 && tls_state(tls) == TLS_FAILED)
		refuse(client, tls_problem(tls));
	else if (got == 0 && tls_state(tls) == TLS_ENDED && !client_awaits_last(client))
		client_end(client);
	return got;
}

/* Encrypts the output. If the handshake has failed or is not over, the output cannot be encrypted,
 * and is discarded. */
static void encrypt(struct client *client)
{
	struct client_tls *secure = client->tls;
	struct buffer *output = &client->output;
	const uint8_t *bytes;
	size_t waits;

	if (!secure->open || secure->failed) {
		buffer_take(output, buffer_size(output));
		return;
	}
	while (buffer_size(output) > 0 &&
	       (waits = tls_output(secure->tls, &bytes)) < ENCRYPTED_MAX) {
		size_t size = buffer_size(output);
		size = size < ENCRYPTED_MAX - waits ? size : ENCRYPTED_MAX - waits;
		tls_write(secure->tls, (const uint8_t *)buffer_front(output), size);
		buffer_take(output, size);
	}
	if (client->ending && !secure->ended && buffer_size(output) == 0) {
		secure->ended = true;
		tls_end(secure->tls);
	}
}

int client_tls_flush(struct client *client)
{
	struct tls *tls = client->tls->tls;
	const uint8_t *bytes;
	size_t size;

	for (;;) {
		encrypt(client);
		size = tls_output(tls, &bytes);
		if (size == 0)
			return 0;
		ssize_t written = send(client->watch.fd, bytes, size, MSG_NOSIGNAL);
		if (written < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		tls_written(tls, (size_t)written);
		client->taken += (uint64_t)written;
		if ((size_t)written < size)
			return 0;
	}
}

size_t client_tls_unread(const struct client *client)
{
	const uint8_t *bytes;

	return tls_output(client->tls->tls, &bytes);
}

bool client_tls_waits(const struct client *client)
{
	return client_tls_unread(client) > 0;
}

bool client_tls_is_late(const struct client *client)
{
	return client->tls != NULL && !client->tls->open &&
	       client->daemon->loop.now - client->since >= SHAKE_MS * LOOP_MS;
}
