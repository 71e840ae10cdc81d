/*
 * Commands that exist because clients of Redis send them. They have nothing to do with locks,
 * except that a transaction must be refused as a whole.
 */
#ifndef DAEMON_COMMANDS_REDIS_H
#define DAEMON_COMMANDS_REDIS_H

#include "client.h"

/* Serves a command, whose first word is its name. Returns the same as command_serve. */
typedef bool serve_command(struct client *client, const struct resp_argument *a, uint32_t count);

serve_command serve_echo, serve_auth, serve_reset, serve_multi, serve_exec, serve_discard;
serve_command client_getname, client_setname, client_setinfo, client_info;

/* Keeps a text about the client, in place of an earlier one; an empty text only removes the earlier
 * one. Returns false if the text was refused; then the client was told why. */
bool client_keep_text(struct client *client, enum client_text which, const char *what,
                      const struct resp_argument *text);
/* Is this command refused because it follows a MULTI that was refused? If so, tells the client. */
bool refused_with_multi(struct client *client, const struct resp_argument *name);

#endif
