/*
 * A second connection, which is subscribed to the locks that are held, and a descriptor that tells
 * when to read it. The descriptor is an epoll set. It watches that connection, the end of the
 * session's own connection, a timer for the lease, and a flag for losses that were not reported
 * yet. losses.c reads the events.
 */
#ifndef CLIENT_WATCH_H
#define CLIENT_WATCH_H

#include "exchange.h"

#include "baton/baton.h"

struct baton;

struct watch {
	int epoll; /* the descriptor that the user polls; -1: nothing is watched */
	int flag;  /* an eventfd, readable while a loss was not reported yet */
	int timer; /* a timerfd, readable when leases_look must be called */
	struct exchange events;
	/* how many answers are still to be read from `events`; they come before the first event */
	int answers_pending;
	bool refused;        /* the node refuses the subscription to the wanted lock */
	uint64_t gone_fence; /* the greatest fence of the wanted lock that was released or lost */
	/* The reason why the wanted lock was lost, in the node's words; or "". */
	char gone_why[BATON_NAME_MAX + 64];
};

/* Makes the descriptors. Returns 0 or an error; after an error the caller must call watch_free. */
int watch_open(struct baton *baton);
void watch_free(struct baton *baton);
/* Call it when a session begins: opens its second connection, if anything is watched. Returns 0 or
 * an error. */
int watch_attach(struct baton *baton);
void watch_detach(struct baton *baton);
/* Ends the subscription to a lock that is no longer wanted or held. Never waits. */
void watch_unsubscribe(struct baton *baton, struct word name);
/* Makes the descriptor readable after this time; 0: clears the timer. */
void watch_set_timer(struct baton *baton, uint64_t ns);
/* Sets the flag if a loss is to be reported, and clears it if all losses were reported. */
void watch_flag(struct baton *baton);

#endif
