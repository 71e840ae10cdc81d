/*
 * The door for guests: new nodes that have an invitation and no certificate yet (enrolment.h). A
 * node that has the CA's key asks the voters about the invitation, has it marked as used, and only
 * then signs. The door is open to everybody who reaches the port, so that little is done for a guest
 * before the voters know its invitation, and little for all guests together.
 */
#ifndef MEMBER_DOOR_H
#define MEMBER_DOOR_H

#include "connection.h"
#include "inquiry.h"

/* A guest at the door. */
struct visit;

/* A guest has connected: the TLS handshake is over, and it has shown no certificate. */
void door_opened(struct connection *connection);
void door_input(struct visit *visit, const uint8_t *bytes, size_t size);
/* Call it when the connection is closed. */
void door_closed(struct visit *visit);

/* A voter has answered the inquiry of this guest; or none has. */
void door_told(struct visit *visit, const struct inquiry_answer *answer);
void door_not_told(struct visit *visit);

#endif
