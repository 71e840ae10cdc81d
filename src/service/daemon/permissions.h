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
/* The same for one verb and any lock at all. */
bool permission_somewhere(struct client *client, enum verb verb);

/* May the client see this lock in a STATUS? */
bool permission_sees(const struct client *client, struct node_bytes name);
/* May the client hear this event, to which it has subscribed? */
bool permission_hears(const struct client *client, const struct node_effect *effect);

/* What a client may ask whatever the rules are: WHOAMI, CAN name. */
bool serve_whoami(struct client *client, const struct resp_argument *a, uint32_t count);
bool serve_can(struct client *client, const struct resp_argument *a, uint32_t count);

#endif
