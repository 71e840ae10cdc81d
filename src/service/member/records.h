/*
 * What goes through a connection that is up: frames for the node, notices of the engine, refusals.
 */
#ifndef MEMBER_RECORDS_H
#define MEMBER_RECORDS_H

#include "connection.h"

/* Bytes that have come on a connection that is up. */
void records_input(struct connection *connection, const uint8_t *bytes, size_t size);
/* A frame that the node had refused is offered again. */
void records_read_again(struct peer *peer);
/* A frame of the node's; if the link is full the epoch ends. */
void records_send(struct peer *peer, uint64_t epoch, const uint8_t *bytes, size_t size);

#endif
