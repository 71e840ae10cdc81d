/*
 * The commands about members: MEMBER and DRAIN.
 */
#ifndef DAEMON_COMMANDS_MEMBER_H
#define DAEMON_COMMANDS_MEMBER_H

#include "client.h"

#include <jansson.h>

/* Serves MEMBER, as the functions in commands.c serve their commands. */
bool serve_member(struct client *client, const struct resp_argument *a, uint32_t count);
bool serve_drain(struct client *client, const struct resp_argument *a, uint32_t count);

/* Writes the reply to MEMBER LIST, when the members have answered. */
void members_reply(struct client *client, const struct node_status *status);

struct member_effect;

/* Call it when the voters have answered an operator, or have not answered in time
 * (MEMBER_ANSWERED): answers the client that has asked. */
void members_answered(struct daemon *daemon, const struct member_effect *effect);

/* Erases and frees the invitation that is being made for the client, if any. */
void client_forget_token(struct client *client);

/* Call it when there is a new view: notes when each new member was first seen. */
void members_note(struct daemon *daemon);

/* When a member was first seen. */
struct member_note {
	uint64_t incarnation, since;
};

#endif
