/*
 * Views: what the engine has decided is sent to all peers, and entered by the node.
 */
#ifndef MEMBER_VIEWS_H
#define MEMBER_VIEWS_H

#include "peer.h"

/* Sends everything that the engine knows to a connected peer. */
void views_tell(struct peer *peer);
/* Sends everything that the engine knows to all peers, if it has changed. */
void views_spread(struct member *member);
/* Enters the engine's view, if it has a new one. */
void views_enter(struct member *member);

#endif
