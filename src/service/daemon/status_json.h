/*
 * The reply to STATUS, as JSON. A long one is made in pieces, one a turn.
 */
#ifndef DAEMON_STATUS_JSON_H
#define DAEMON_STATUS_JSON_H

#include "node.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

struct client;
struct daemon;
struct status_job;

TAILQ_HEAD(status_jobs, status_job);

/* The reply is written now or in later turns; the client is answered when it is whole. */
void status_begin(struct client *client, struct node_status *status);
/* Goes on with one that is under way. To be called once a turn. True: call it again soon, without
 * sleeping. */
bool status_continue(struct daemon *daemon);
/* The client is gone. */
void status_cancel(struct client *client);

/* Why the node serves nobody; false: it does. */
enum { WAITS_FOR_MAX = 512 };
bool status_waits_for(struct daemon *daemon, char *ret_text, size_t size);

#endif
