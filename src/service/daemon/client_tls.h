/*
 * TLS for clients that connect over TCP. Commands are read only after the client has shown a
 * client's certificate, signed by the cluster's CA. Rules refer to the name in it (subject.h).
 */
#ifndef DAEMON_CLIENT_TLS_H
#define DAEMON_CLIENT_TLS_H

#include "client.h"

/* The most clients whose handshake is not over. A client far away needs half a second, and in this
 * time the node may accept this many. */
enum { CLIENT_STRANGERS_MAX = 512 };

/* Expects a handshake from a client that was accepted; until then the client is a stranger. If
 * there are too many strangers, one of them is closed. `network`: see strangers.h. */
void client_tls_begin(struct client *client, uint64_t network);
/* Takes bytes from the client's socket. If it returns true, call client_tls_read until that returns
 * 0. It returns false if there are no commands to read: the handshake is not over, or the client is
 * refused and its connection ends. */
bool client_tls_input(struct client *client, const char *bytes, size_t size);
/* Decrypts bytes of commands into `room`. Returns how many; 0: there are no more. */
size_t client_tls_read(struct client *client, char *room, size_t size);
/* Encrypts the client's output, and writes what the socket takes. Returns 0, or -1 if the socket
 * cannot be written to. */
int client_tls_flush(struct client *client);
/* Returns how many encrypted bytes the client's socket has not taken yet. */
size_t client_tls_unread(const struct client *client);
/* Are there any? */
bool client_tls_waits(const struct client *client);
/* Has the client's handshake taken too long? */
bool client_tls_is_late(const struct client *client);
void client_tls_free(struct client *client);

#endif
