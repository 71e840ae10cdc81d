/*
 * Translates the commands of clients into calls of the node.
 */
#ifndef DAEMON_COMMANDS_H
#define DAEMON_COMMANDS_H

#include "client.h"

/* Carries out a command. Returns true if the command was answered, or the node will answer it.
 * Returns false if the command is served in parts: call this again with it after each answer. */
bool command_serve(struct client *client, const struct resp_command *command);
/* Asks the node, in the turn of a client whose STATUS is due (status_queue.h). */
void command_ask_status(struct client *client);

#endif
