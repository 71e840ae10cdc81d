/*
 * What a client may do here, by the rules of this node. Without rules everybody may do everything,
 * and asking costs a branch.
 */
#ifndef DAEMON_PERMISSIONS_H
#define DAEMON_PERMISSIONS_H

#include "node.h"
#include "resp.h"
#include "rules.h"

struct client;

/* True if one of these verbs is allowed for the lock. Otherwise the client is told which rule is
 * missing: that of the lowest verb. */
bool permission_for(struct client *client, unsigned verbs, const struct resp_argument *name);
/* True if the verb is allowed for any lock at all. Otherwise the client is told which rule is
 * missing. */
bool permission_somewhere(struct client *client, enum verb verb);

/* May the client see this lock in a STATUS? */
bool permission_sees(const struct client *client, struct node_bytes name);
/* May the client hear this event, to which it has subscribed? */
bool permission_hears(const struct client *client, const struct node_effect *effect);

/* Commands that a client may use whatever the rules are: WHOAMI, CAN name. */
bool serve_whoami(struct client *client, const struct resp_argument *a, uint32_t count);
bool serve_can(struct client *client, const struct resp_argument *a, uint32_t count);

#endif
