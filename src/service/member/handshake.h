/*
 * The handshake: both sides of a new connection tell who they are, and each decides whether it
 * wants to talk to the other.
 */
#ifndef MEMBER_HANDSHAKE_H
#define MEMBER_HANDSHAKE_H

#include "connection.h"

/* The connection that we dialled is open: we send first. */
void handshake_begin(struct connection *connection);
/* Takes bytes that arrived before the handshake was done. */
void handshake_input(struct connection *connection, const uint8_t *bytes, size_t size);

#endif
