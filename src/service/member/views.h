/*
 * Views: what the engine has decided is told to all peers, and entered by the node.
 */
#ifndef MEMBER_VIEWS_H
#define MEMBER_VIEWS_H

#include "peer.h"

/* Tells a connected peer all that the engine knows. */
void views_tell(struct peer *peer);
/* Tells all peers what the engine knows, if that has changed. */
void views_spread(struct member *member);
/* Enters the engine's view, if it has a new one. */
void views_enter(struct member *member);

#endif
