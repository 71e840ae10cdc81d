/*
 * The one client of the node: a thread that asks on behalf of all viewers.
 *
 * While there are viewers, it asks STATUS once a second. It also subscribes to all changes and
 * sends them in bundles, ten times a second, unless there are too many (pace.h). Without viewers it
 * only keeps a connection, by which it notices that the node goes away. While there is no node, it
 * looks for one several times a second. It also sends the node the questions and orders of HTTP
 * requests (INFO, STATUS, BREAK), on the same connection. Only one INFO and one STATUS for requests
 * are pending at a time. Requests that come meanwhile and ask the same share the next reply.
 */
#ifndef WEB_HUB_H
#define WEB_HUB_H

#include "feed.h"
#include "request.h"

#include <jansson.h>

enum ask_kind { ASK_INFO, ASK_STATUS, ASK_BREAK };

/* A question to the node on behalf of an HTTP request. */
struct ask {
	TAILQ_ENTRY(ask) entry;
	/* The next question that the same reply answers; NULL: this is the last. */
	struct ask *same;
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

/* The most locks that the hub asks for on behalf of /api/status, whose pages are cut from these. */
enum { HUB_LOCKS_MAX = 10000 };
/* The most questions at a time. */
enum { HUB_ASKS_MAX = 1024 };

struct hub;

/* `address` is the node's; NULL: the one that clients use by default. It must stay valid, as must
 * the feed. */
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
