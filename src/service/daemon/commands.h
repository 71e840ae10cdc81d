/*
 * What the files of commands share. A command is served by a function that gets its words, the name first:
 * true, it is done with, and was answered or will be; false, it has to be given again when the client has
 * been answered, because it is served piece by piece.
 */
#ifndef DAEMON_COMMANDS_H
#define DAEMON_COMMANDS_H

#include "internal.h"

typedef bool serve_command(struct client *client, const struct resp_argument *a, uint32_t count);

/* Is it that word? The letters of the argument may be small; those of the word are capital. */
bool is_word(const struct resp_argument *argument, const char *word);
/* An error reply with the code ERR; always true, so that a command can end with it. */
__attribute__((format(printf, 2, 3))) bool tell_wrong(struct client *client, const char *format,
                                                      ...);

/* --- replies.c: what the node says --- */

/* A sentence for an error code of the node. */
const char *error_text(int error);
/* An error reply; without a view it says what is waited for. */
void tell_error(struct client *client, int error);

/* --- commands_redis.c: what clients of Redis say beside locks --- */

serve_command serve_echo, serve_auth, serve_reset, serve_multi, serve_exec, serve_discard;
serve_command client_getname, client_setname, client_setinfo, client_info;
/* Keeps a text about the client; false: it was refused, and the client was told why. An empty one is forgotten. */
bool client_keep_text(struct client *client, enum client_text which, const char *what,
                      const struct resp_argument *text);
/* A MULTI was refused: is this command refused, too? Then the client was told so. */
bool refused_with_multi(struct client *client, const struct resp_argument *name);

#endif
