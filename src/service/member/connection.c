#include "connection.h"

#include "door.h"
#include "member_state.h"
#include "memory.h"
#include "record.h"
#include "secure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum {
	FIRST_MS = 1000, /* how long a new connection may take to send its first record */
	END_MS = 500,    /* how long the last output of a connection may take */
};

static struct connection *new_connection(struct member *member)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	memory_must(connection != NULL);
	connection->member = member;
	connection->patience_at = NODE_NEVER;
	LIST_INSERT_HEAD(&member->connections, connection, all);
	return connection;
}

static void free_connection(struct connection *connection)
{
	if (connection->changed)
		STAILQ_REMOVE(&connection->member->changed, connection, connection, changed_entry);
	LIST_REMOVE(connection, all);
	buffer_free(&connection->first);
	buffer_free(&connection->last);
	tls_destroy(connection->tls);
	free(connection);
}

static void ask_driver(struct connection *connection, const char *address)
{
	struct outcome *outcome = outcome_add(connection->member, MEMBER_DIAL, strlen(address) + 1);

	memcpy(outcome->text, address, strlen(address) + 1);
	outcome->effect.dial.connection = connection;
	outcome->effect.dial.address = outcome->text;
}

struct connection *connection_of_post(struct post *post)
{
	struct connection *connection = new_connection(post->member);

	connection->post = post;
	ask_driver(connection, post->address);
	return connection;
}

struct connection *connection_of_line(struct member *member, struct strand *line,
                                      const char *address)
{
	struct connection *connection = new_connection(member);

	connection->line = line;
	strand_set_user(line, connection);
	ask_driver(connection, address);
	return connection;
}

void connection_changed(struct connection *connection)
{
	if (connection->changed)
		return;
	connection->changed = true;
	STAILQ_INSERT_TAIL(&connection->member->changed, connection, changed_entry);
}

void connection_close(struct connection *connection)
{
	if (connection->closing)
		return;
	connection->closing = true;
	connection->patience_at = NODE_NEVER;
	outcome_add(connection->member, MEMBER_CLOSE, 0)->effect.close = connection;
}

void connection_end(struct connection *connection)
{
	connection->ending = true;
	connection->patience_at = connection->member->now + END_MS * MS;
	member_due(connection->member, connection->patience_at);
	connection_changed(connection);
}

uint64_t connections_tick(struct member *member)
{
	uint64_t next = NODE_NEVER;
	struct connection *connection;

	LIST_FOREACH (connection, &member->connections, all) {
		if (connection->patience_at <= member->now) {
			if (!connection->ending)
				connection_complain(connection,
				                    connection->tls != NULL && !connection->tls_open
				                            ? "its TLS handshake takes too long"
				                            : "it says nothing about itself");
			connection_close(connection);
		} else if (connection->patience_at < next) {
			next = connection->patience_at;
		}
	}
	return next;
}

void connections_free(struct member *member)
{
	while (!LIST_EMPTY(&member->connections))
		free_connection(LIST_FIRST(&member->connections));
}

/* --- for the driver --- */

struct connection *member_accepted(struct member *member, const char *from, void *user,
                                   uint64_t now)
{
	member_advance(member, now);
	struct connection *connection = new_connection(member);
	connection->user = user;
	snprintf(connection->from, sizeof(connection->from), "%s", from);
	connection->patience_at = now + FIRST_MS * MS;
	member_due(member, connection->patience_at);
	return connection;
}

void member_dialled(struct member *member, struct connection *connection, uint64_t now)
{
	member_advance(member, now);
	if (connection->closing)
		return;
	if (member->credentials != NULL)
		secure_begin(connection);
	else
		connection_opened(connection);
}

void connection_opened(struct connection *connection)
{
	struct member *member = connection->member;

	if (connection->post != NULL)
		post_dialled(connection->post);
	else
		resident_dialled(member->resident, connection->line, member->now);
}

/* Decides what a connection is for. Without a resident there can be no link, so the connection
 * becomes a post, which refuses a link's HELLO. */
static void sort_out(struct connection *connection)
{
	struct member *member = connection->member;
	enum record_type type = record_type((const uint8_t *)buffer_front(&connection->first));

	if (secure_is_tls((const uint8_t *)buffer_front(&connection->first))) {
		secure_refuse(connection,
		              "it uses TLS, and this node does not: start both with --tls-ca, "
		              "--tls-cert and --tls-key, or neither");
		return;
	}
	connection->patience_at = NODE_NEVER;
	if (type == RECORD_HELLO && member->resident != NULL) {
		connection->line = resident_accepted(member->resident, connection, member->now);
		strand_certify(connection->line, secure_name(connection));
	} else {
		connection->post = post_accepted(member, connection);
	}
	struct buffer first = connection->first;
	connection->first = (struct buffer){0};
	connection_input(connection, (const uint8_t *)buffer_front(&first), buffer_size(&first));
	buffer_free(&first);
}

void member_input(struct member *member, struct connection *connection, const uint8_t *bytes,
                  size_t size, uint64_t now)
{
	member_advance(member, now);
	if (connection->closing || connection->ending)
		return;
	if (member->credentials != NULL)
		secure_input(connection, bytes, size);
	else
		connection_input(connection, bytes, size);
}

void connection_input(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct member *member = connection->member;

	if (connection->visit != NULL) {
		door_input(connection->visit, bytes, size);
	} else if (connection->post != NULL) {
		post_input(connection->post, bytes, size);
	} else if (connection->line != NULL) {
		resident_input(member->resident, connection->line, bytes, size, member->now);
		if (strand_misnamed(connection->line))
			connection_complain(
			        connection,
			        "the name in its HELLO is not the one in its certificate");
	} else {
		buffer_append(&connection->first, bytes, size);
		if (buffer_size(&connection->first) >= RECORD_HEAD_SIZE)
			sort_out(connection);
	}
}

void member_closed(struct member *member, struct connection *connection, const char *why,
                   uint64_t now)
{
	member_advance(member, now);
	outcomes_drop(member, connection);
	if (connection->visit != NULL)
		door_closed(connection->visit);
	else if (connection->post != NULL)
		post_closed(connection->post, why);
	else if (connection->line != NULL)
		resident_closed(member->resident, connection->line, now);
	free_connection(connection);
}

size_t connection_output(struct connection *connection, const uint8_t **ret_bytes)
{
	if (connection->closing)
		return 0;
	if (connection->tls != NULL)
		return secure_output(connection, ret_bytes);
	if (connection->ending) {
		*ret_bytes = (const uint8_t *)buffer_front(&connection->last);
		return buffer_size(&connection->last);
	}
	return connection_plain(connection, ret_bytes);
}

void connection_written(struct connection *connection, size_t size)
{
	if (connection->tls != NULL)
		tls_written(connection->tls, size);
	else if (connection->ending)
		buffer_take(&connection->last, size);
	else
		connection_taken(connection, size);
}

size_t connection_plain(struct connection *connection, const uint8_t **ret_bytes)
{
	struct post *post = connection->post;

	if (connection->line != NULL)
		return strand_output(connection->line, ret_bytes);
	if (post == NULL || post->state == POST_DIALLING)
		return 0;
	*ret_bytes = (const uint8_t *)buffer_front(&post->output);
	return buffer_size(&post->output);
}

void connection_taken(struct connection *connection, size_t size)
{
	if (connection->line != NULL)
		strand_written(connection->line, size);
	else
		buffer_take(&connection->post->output, size);
}

bool connection_reads(const struct connection *connection)
{
	return connection->line == NULL || strand_reads(connection->line);
}

bool connection_ends(const struct connection *connection)
{
	return connection->ending ||
	       (connection->post != NULL && connection->post->state == POST_ENDING);
}

bool connection_is_stranger(const struct connection *connection)
{
	if (connection->member->credentials != NULL)
		return !connection->tls_open || connection->visit != NULL;
	return (connection->post == NULL || connection->post->state != POST_UP) &&
	       (connection->line == NULL || strand_peer(connection->line) == NULL);
}

const char *connection_peer(const struct connection *connection)
{
	const struct post *post = connection->post;

	if (connection->tls != NULL)
		return connection->tls_open && connection->visit == NULL ? secure_name(connection)
		                                                         : NULL;
	if (post != NULL)
		return post->state == POST_UP ? post->call.name : NULL;
	return connection->line != NULL ? strand_peer(connection->line) : NULL;
}

void *connection_user(const struct connection *connection)
{
	return connection->user;
}

void connection_set_user(struct connection *connection, void *user)
{
	connection->user = user;
}

void connection_complain(const struct connection *connection, const char *text)
{
	const struct post *post = connection->post;

	if (post != NULL)
		member_complain(connection->member, post->wanted[0] != '\0' ? post->wanted : NULL,
		                post->dialled ? post->address : connection->from, text);
	else if (connection->line != NULL && connection->from[0] == '\0')
		member_complain(connection->member, NULL, strand_peer(connection->line), text);
	else
		member_complain(connection->member, NULL, connection->from, text);
}

struct connection *member_changed(struct member *member)
{
	struct connection *connection = STAILQ_FIRST(&member->changed);
	struct strand *line;

	if (connection != NULL) {
		STAILQ_REMOVE_HEAD(&member->changed, changed_entry);
		connection->changed = false;
		return connection;
	}
	line = member->resident == NULL ? NULL : resident_changed(member->resident);
	return line == NULL ? NULL : strand_user(line);
}
