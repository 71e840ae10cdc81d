/*
 * A second connection, subscribed to the locks that are held, and a descriptor that says when to look
 * at it: an epoll set with that connection, the end of the session's own, and a flag for what was lost
 * but has not been told. What comes on it is read in losses.c.
 */
#ifndef CLIENT_WATCH_H
#define CLIENT_WATCH_H

#include "exchange.h"

#include "baton/baton.h"

struct baton;

struct watch {
	int epoll; /* what the user polls; -1: nothing is watched */
	int flag;  /* an eventfd, readable while a loss has not been told */
	struct exchange events;
	bool answer_pending; /* the first thing that comes on `events` is an answer, not an event */
	uint64_t gone_fence; /* the greatest fence of the wanted lock that was released or lost */
	char gone_why[BATON_NAME_MAX + 64]; /* why it was lost, as the node says it; or "" */
};

/* Makes the descriptors. 0 or an error; then watch_free is due. */
int watch_open(struct baton *baton);
void watch_free(struct baton *baton);
/* A session begins: its second connection is opened, if anything is watched. 0 or an error. */
int watch_attach(struct baton *baton);
void watch_detach(struct baton *baton);
/* A lock is wanted no more, or held no more. Never waits. */
void watch_unsubscribe(struct baton *baton, struct word name);
/* A loss is to be told, or all have been told. */
void watch_flag(struct baton *baton);

#endif
