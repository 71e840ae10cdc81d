/*
 * The one client of the node: a thread that asks for all viewers together.
 *
 * While somebody views, it asks STATUS once a second and is subscribed to all changes, which it
 * bundles ten times a second; not while there are too many of them (pace.h). Otherwise it only keeps a connection, by which it notices that the
 * node goes away. While there is no node, it looks for one several times a second. What a request
 * needs from the node (INFO, STATUS, BREAK) it asks on the same connection. Of INFO and of STATUS, one
 * at a time is asked for requests: those that wait meanwhile for the same words share the next reply.
 */
#ifndef WEB_HUB_H
#define WEB_HUB_H

#include "feed.h"
#include "request.h"

#include <jansson.h>

enum ask_kind { ASK_INFO, ASK_STATUS, ASK_BREAK };

/* What the node is asked on behalf of a request. */
struct ask {
	TAILQ_ENTRY(ask) entry;
	struct ask *same; /* the next of those that the same reply answers; NULL: the last */
	enum ask_kind kind;
	char text[REQUEST_NAME_MAX]; /* the pattern, or the name of the lock */
	size_t text_size;
	uint64_t fence;
	/* The outcome: the parsed reply; or NULL, and the problem says why there is none. */
	json_t *reply;
	struct problem problem;
	/* Called by the hub's thread when the outcome is there. */
	void (*done)(struct ask *ask);
	void *user;
};

/* The most locks of a STATUS that the pages of /api/status are cut from. */
enum { HUB_LOCKS_MAX = 10000 };
/* The most questions at a time. */
enum { HUB_ASKS_MAX = 1024 };

struct hub;

/* `address` is the node's; NULL: where clients look for one. It must stay valid, as must the
 * feed. */
struct hub *hub_start(const char *address, struct feed *feed);
/* Ends the hub's thread. Everything that was asked is answered, and nothing more can be asked. */
void hub_end(struct hub *hub);
void hub_free(struct hub *hub);

/* Asks the node. Returns false if the hub is ending, or has HUB_ASKS_MAX questions. Otherwise `ask`
 * belongs to the hub until it calls `done`. Replies are shared: they must not be changed. */
bool hub_ask(struct hub *hub, struct ask *ask);
/* Call it when there is a first viewer. */
void hub_wake(struct hub *hub);
/* Does the node answer? */
bool hub_has_node(struct hub *hub);

#endif
