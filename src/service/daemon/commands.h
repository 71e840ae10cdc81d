/*
 * What clients say: the commands of the protocol on one side, the node's calls on the other.
 */
#ifndef DAEMON_COMMANDS_H
#define DAEMON_COMMANDS_H

#include "client.h"

/* Does what a command says. True: it is done with, and was answered or will be. False: it is served
 * piece by piece, and has to be given again when the client has been answered. */
bool command_serve(struct client *client, const struct resp_command *command);

#endif
