#include "secure.h"

#include "door.h"
#include "member_state.h"
#include "memory.h"
#include "record.h"

#include <stdlib.h>

enum {
	DECRYPTED_SIZE = 32 << 10,
	/* The most bytes that are encrypted before the socket takes them. The rest waits in plain
	 * text, where it is counted and limited. */
	ENCRYPTED_MAX = 64 << 10,
	TLS_TYPE_FIRST = 0x14, /* the first and the last type of TLS records */
	TLS_TYPE_LAST = 0x17,
	TLS_VERSION_MAJOR = 3,
};

uint8_t *secure_room(void)
{
	uint8_t *room = malloc(DECRYPTED_SIZE);

	memory_must(room != NULL);
	return room;
}

/* Do these bytes begin a TLS record? Our own records begin with their length. The first ones are so
 * short that their third byte is 0, which is not so in TLS. */
bool secure_is_tls(const uint8_t *bytes)
{
	return bytes[0] >= TLS_TYPE_FIRST && bytes[0] <= TLS_TYPE_LAST &&
	       bytes[1] == TLS_VERSION_MAJOR && bytes[2] != 0;
}

bool secure_shakes(const struct connection *connection)
{
	return connection->tls != NULL && !connection->tls_open;
}

const char *secure_name(const struct connection *connection)
{
	return connection->tls != NULL ? tls_holder(connection->tls)->name : NULL;
}

/* Logs a complaint about the other side. If this node had dialled it, STATUS shows the complaint as
 * the reason why there is no connection. */
static void complain(struct connection *connection, const char *why)
{
	const struct post *post = connection->post;

	if (post != NULL && post->dialled)
		member_distrusts(connection->member,
		                 post->wanted[0] != '\0' ? post->wanted : post->address, why);
	else
		connection_complain(connection, why);
}

void secure_refuse(struct connection *connection, const char *why)
{
	uint8_t room[LINK_HELLO_MAX];

	complain(connection, why);
	buffer_append(&connection->last, room, link_refusal_write(why, room));
	connection_end(connection);
}

void secure_say(struct connection *connection, const uint8_t *bytes, size_t size, bool last)
{
	tls_write(connection->tls, bytes, size);
	connection_changed(connection);
	if (!last)
		return;
	tls_end(connection->tls);
	connection->tls_ended = true;
	connection_end(connection);
}

/* Ends a connection on which TLS itself works, so that the other side can be told the reason. */
static void refuse_politely(struct connection *connection, const char *why)
{
	uint8_t room[LINK_HELLO_MAX];

	complain(connection, why);
	secure_say(connection, room, link_refusal_write(why, room), true);
}

static void begin(struct connection *connection, bool accepts)
{
	connection->tls = tls_create(connection->member->credentials, accepts);
	tls_keep_buffers(connection->tls);
}

void secure_begin(struct connection *connection)
{
	begin(connection, false);
	connection_changed(connection);
}

/* The handshake is over: checks the certificate, and begins with the first record. */
static void come_open(struct connection *connection)
{
	const struct certificate_holder *holder = tls_holder(connection->tls);

	if (tls_has_guest(connection->tls)) {
		connection->tls_open = true;
		door_opened(connection);
		return;
	}
	if (holder->role != CERTIFICATE_NODE) {
		refuse_politely(connection,
		                "it connects to a port for nodes with a client's certificate: "
		                "'baton cert node' makes a certificate for a node");
		return;
	}
	connection->tls_open = true;
	if (connection->line != NULL)
		strand_certify(connection->line, holder->name);
	if (connection->line != NULL || connection->post != NULL)
		connection_opened(connection);
}

static void decrypt(struct connection *connection, const uint8_t *bytes, size_t size)
{
	uint8_t *room = connection->member->decrypted;
	struct tls *tls = connection->tls;
	size_t got;

	tls_input(tls, bytes, size);
	if (tls_state(tls) == TLS_OPEN && !connection->tls_open)
		come_open(connection);
	while (!connection->closing && !connection->ending &&
	       (got = tls_read(tls, room, DECRYPTED_SIZE)) > 0)
		connection_input(connection, room, got);
	if (connection->closing || connection->ending)
		return;
	if (tls_state(tls) == TLS_FAILED) {
		complain(connection, tls_problem(tls));
		connection_end(connection);
	} else if (tls_state(tls) == TLS_ENDED) {
		connection_close(connection);
	} else if (tls_output(tls, &bytes) > 0) {
		connection_changed(connection);
	}
}

/* The other side does not use TLS. If this node has dialled, the bytes are a REFUSAL of its
 * handshake, and need no answer. */
static void refuse_plain(struct connection *connection)
{
	if (connection->tls == NULL) {
		secure_refuse(connection, "it connects without TLS, which this node requires: "
		                          "start it with --tls-ca, --tls-cert and --tls-key");
		return;
	}
	complain(connection, "it does not use TLS, which this node requires: start it with "
	                     "--tls-ca, --tls-cert and --tls-key");
	connection_close(connection);
}

void secure_input(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct buffer *first = &connection->first;

	if (connection->tls_answered) {
		decrypt(connection, bytes, size);
		return;
	}
	buffer_append(first, bytes, size);
	if (buffer_size(first) < RECORD_HEAD_SIZE)
		return;
	if (!secure_is_tls((const uint8_t *)buffer_front(first))) {
		refuse_plain(connection);
		return;
	}
	connection->tls_answered = true;
	if (connection->tls == NULL) {
		begin(connection, true);
		tls_welcome(connection->tls);
	}
	struct buffer taken = *first;
	*first = (struct buffer){0};
	decrypt(connection, (const uint8_t *)buffer_front(&taken), buffer_size(&taken));
	buffer_free(&taken);
}

size_t secure_output(struct connection *connection, const uint8_t **ret_bytes)
{
	struct tls *tls = connection->tls;
	const uint8_t *bytes;
	size_t waiting, size;

	while (connection->tls_open && !connection->ending &&
	       (waiting = tls_output(tls, ret_bytes)) < ENCRYPTED_MAX &&
	       (size = connection_plain(connection, &bytes)) > 0) {
		if (size > ENCRYPTED_MAX - waiting)
			size = ENCRYPTED_MAX - waiting;
		tls_write(tls, bytes, size);
		connection_taken(connection, size);
	}
	if (connection_ends(connection) && connection->tls_open && !connection->tls_ended &&
	    connection_plain(connection, &bytes) == 0) {
		connection->tls_ended = true;
		tls_end(tls);
	}
	return tls_output(tls, ret_bytes);
}
