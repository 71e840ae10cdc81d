/*
 * What goes through a connection that is up: frames for the node, notices of the engine, refusals.
 */
#ifndef MEMBER_RECORDS_H
#define MEMBER_RECORDS_H

#include "connection.h"

/* Takes bytes that have arrived on a connection that is up. */
void records_input(struct connection *connection, const uint8_t *bytes, size_t size);
/* Offers a frame again that the node had refused. */
void records_read_again(struct peer *peer);
/* Sends a frame of the node. If the link is full, the epoch ends. */
void records_send(struct peer *peer, uint64_t epoch, const uint8_t *bytes, size_t size);

#endif
