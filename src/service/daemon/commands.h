/*
 * Translates the commands of clients into calls of the node.
 */
#ifndef DAEMON_COMMANDS_H
#define DAEMON_COMMANDS_H

#include "client.h"

/* Carries out a command. Returns true if it is finished: it was answered or will be. Returns false
 * if it is served in parts, and must be given again when the client has been answered. */
bool command_serve(struct client *client, const struct resp_command *command);

#endif
