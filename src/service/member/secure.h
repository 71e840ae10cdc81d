/*
 * TLS on the connections of a member. Before the first record is read, the other side has shown a
 * node's certificate, signed by the cluster's CA. The name in the certificate must be the name in
 * the first record (post.h, tie.h). A node with TLS talks only to nodes with TLS, and a node
 * without it only to nodes without.
 */
#ifndef MEMBER_SECURE_H
#define MEMBER_SECURE_H

#include "connection.h"

/* Returns memory for the bytes that one read decrypts. The caller frees it. */
uint8_t *secure_room(void);
/* Do these first RECORD_HEAD_SIZE bytes of a connection begin a TLS record? */
bool secure_is_tls(const uint8_t *bytes);

/* Begins a handshake on a connection that was dialled. */
void secure_begin(struct connection *connection);
/* Takes bytes of the network. */
void secure_input(struct connection *connection, const uint8_t *bytes, size_t size);
/* Encrypts what there is to send. Returns the bytes for the network. */
size_t secure_output(struct connection *connection, const uint8_t **ret_bytes);
/* Sends bytes inside TLS; if `last`, then ends the connection. */
void secure_say(struct connection *connection, const uint8_t *bytes, size_t size, bool last);
/* Logs the reason, sends it to the other side in a REFUSAL without TLS, and ends the connection. */
void secure_refuse(struct connection *connection, const char *why);

/* Has the handshake begun, and is it not over yet? */
bool secure_shakes(const struct connection *connection);
/* Returns the name in the certificate of the other side; NULL: there is no TLS. */
const char *secure_name(const struct connection *connection);

#endif
