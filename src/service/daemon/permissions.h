/*
 * Decides by the rules of this node what a client may do. Without rules everybody may do
 * everything, and a check costs one branch.
 */
#ifndef DAEMON_PERMISSIONS_H
#define DAEMON_PERMISSIONS_H

#include "buffer.h"
#include "node.h"
#include "resp.h"
#include "rules.h"

struct client;

/* Returns the rules that apply to the client; NULL: it may do everything. */
const struct rules *permission_rules(const struct client *client);
/* Is one of these verbs allowed for the lock? If not, tells the client which rule is missing: one
 * for "observe", if that is among the verbs, otherwise one for the only verb. If no lock can have
 * this name, tells the client that instead. */
bool permission_for(struct client *client, unsigned verbs, const struct resp_argument *name);
/* Is one of the verbs allowed for at least one lock? If not, tells the client which rule is missing:
 * one for the pattern that it asks about (NULL: all locks). */
bool permission_somewhere(struct client *client, unsigned verbs,
                          const struct resp_argument *pattern);

/* Does a STATUS for this client show every lock? Only then may the client be told figures that
 * count all locks together. */
bool permission_sees_all(const struct client *client);
/* Returns the patterns of the locks that the client may see, as node_status takes them. The room
 * belongs to the caller, and keeps them. */
struct node_bytes permission_sights(const struct client *client, struct buffer *room);
/* May the client hear this event, to which it has subscribed? */
bool permission_hears(const struct client *client, const struct node_effect *effect);

/* WHOAMI and CAN name: commands that need no permission. */
bool serve_whoami(struct client *client, const struct resp_argument *a, uint32_t count);
bool serve_can(struct client *client, const struct resp_argument *a, uint32_t count);

#endif
