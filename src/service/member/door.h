/*
 * The door for guests: new nodes that have an invitation and no certificate yet (enrolment.h). A
 * node that has the CA's key asks the voters about the invitation, has it marked as used, and only
 * then signs. Everybody who reaches the port can come to the door. So a guest costs little until
 * the voters have confirmed its invitation, and the cost of all guests together is limited.
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

/* Call door_told with each answer of a voter to this guest's inquiry, and door_not_told if no
 * answer has settled it in time. */
void door_told(struct visit *visit, const struct inquiry_answer *answer);
void door_not_told(struct visit *visit);

#endif
