/*
 * Decides when a STATUS is answered. A reply to STATUS may have many megabytes, so the memory for
 * these replies is limited, both while they are being written and until they are read:
 *
 * - Each user has at most USER_STATUS_MAX of them answered at a time.
 * - All unread replies, and those being written, may take CLIENTS_UNREAD_MAX (flow.h). Beyond that,
 *   a user who has USER_REPLIES_FREE of it or more gets no long reply; short ones, and other users,
 *   are still answered.
 *
 * A STATUS that cannot be answered yet waits, and those of one user wait in order. So one user can
 * exceed CLIENTS_UNREAD_MAX by USER_STATUS_MAX replies, and each other user by USER_REPLIES_FREE and
 * USER_STATUS_MAX replies, however many connections they have.
 */
#ifndef DAEMON_STATUS_QUEUE_H
#define DAEMON_STATUS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client;
struct clients;

enum {
	/* More than one, so that a short STATUS need not wait for a long one, or for a member that
	 * is silent. */
	USER_STATUS_MAX = 4,
	USER_REPLIES_FREE = 1 << 25,
};

/* Keeps the words of a STATUS; they are as in node_status. Returns true if it is due now: the node
 * must be asked. Otherwise it becomes due later, and the client then gets a turn. */
bool status_enter(struct client *client, const char *pattern, size_t pattern_size, uint32_t count);
/* The node has told the status, which takes this much memory. Returns true if the reply would be too
 * long for now: the status must be forgotten, and the node is asked again later. */
bool status_put_off(struct client *client, size_t room);
/* Call it when the client has its reply or is gone. It may have sent no STATUS. */
void status_leave(struct client *client);
/* Call it when there is more memory for replies. Lets some of those that wait have their turn. */
void status_wake(struct clients *clients);

#endif
