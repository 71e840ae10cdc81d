/*
 * TLS of clients that connect over TCP. Commands are read when the client has shown a client's
 * certificate of the cluster's CA. The name in it is what rules are about (subject.h).
 */
#ifndef DAEMON_CLIENT_TLS_H
#define DAEMON_CLIENT_TLS_H

#include "client.h"

/* Expects a handshake from a client that was accepted. */
void client_tls_begin(struct client *client);
/* Takes bytes from the client's socket. Returns false if the client is refused; then its connection
 * ends. Otherwise call client_tls_read until it returns 0. */
bool client_tls_input(struct client *client, const char *bytes, size_t size);
/* Returns how many bytes of commands are in `room` now; 0: there are no more. */
size_t client_tls_read(struct client *client, char *room, size_t size);
/* Encrypts the client's output, and writes what the socket takes. Returns 0, or -1 if the socket
 * cannot be written to. */
int client_tls_flush(struct client *client);
/* True if encrypted bytes wait for the socket of a client with TLS. */
bool client_tls_waits(const struct client *client);
/* True if the client's handshake has taken too long. */
bool client_tls_is_late(const struct client *client);
void client_tls_free(struct client *client);

#endif
