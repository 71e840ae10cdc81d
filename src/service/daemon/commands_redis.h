/*
 * Commands that are here because clients of Redis say them. They have nothing to do with locks, except
 * that what looks like a transaction must not act as if it were none.
 */
#ifndef DAEMON_COMMANDS_REDIS_H
#define DAEMON_COMMANDS_REDIS_H

#include "client.h"

/* Serves a command: its words, the name first. The result is that of command_serve. */
typedef bool serve_command(struct client *client, const struct resp_argument *a, uint32_t count);

serve_command serve_echo, serve_auth, serve_reset, serve_multi, serve_exec, serve_discard;
serve_command client_getname, client_setname, client_setinfo, client_info;

/* Keeps a text about the client; an empty one is forgotten. False: it was refused, and the client was
 * told why. */
bool client_keep_text(struct client *client, enum client_text which, const char *what,
                      const struct resp_argument *text);
/* A MULTI was refused: is this command refused, too? Then the client was told so. */
bool refused_with_multi(struct client *client, const struct resp_argument *name);

#endif
