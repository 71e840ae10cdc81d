/*
 * The event stream of all viewers. Each event is written once into a ring; a viewer is a position
 * in it. A viewer that falls behind the ring is told how much it has missed and goes on with the
 * latest status. So a slow viewer costs only the memory of the event that it is reading.
 *
 * Threads: the hub publishes; the server's thread reads for its viewers.
 */
#ifndef WEB_FEED_H
#define WEB_FEED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

/* How many events the ring has. At eleven events a second this is about six seconds. */
enum { FEED_RING = 64 };

enum feed_kind {
	/* The whole status, or the news that there is none: a viewer begins with this message. */
	FEED_STATE,
	FEED_CHANGES, /* changes to the state; they make sense only after a state */
	FEED_BEAT,    /* no content, but keeps connections alive */
};

struct feed_message {
	unsigned owners_count;
	enum feed_kind kind;
	size_t size;
	char text[];
};

struct viewer {
	LIST_ENTRY(viewer) all;
	struct feed_message *reading; /* the message that is being sent, or NULL */
	size_t offset;                /* how many bytes of `reading` were sent */
	uint64_t next;                /* the number of the message that the viewer reads next */
	bool greeted;                 /* the viewer has got a state */
	bool waits;                   /* the viewer has read everything, and was paused */
	void *user;
};

struct feed {
	pthread_mutex_t mutex;
	struct feed_message *ring[FEED_RING];
	uint64_t next;               /* the number of the message that is published next */
	struct feed_message *latest; /* the latest state, or NULL */
	LIST_HEAD(, viewer) viewers;
	unsigned viewers_count;
	bool ended;
	/* `pause` stops reading for a viewer until `wake` is called. Both are called with the mutex
	 * locked. */
	void (*pause)(struct viewer *viewer);
	void (*wake)(struct viewer *viewer);
};

void feed_init(struct feed *feed);
/* All viewers must have left. */
void feed_free(struct feed *feed);

/* Returns true if it is the first viewer. */
bool feed_join(struct feed *feed, struct viewer *viewer);
void feed_leave(struct feed *feed, struct viewer *viewer);
unsigned feed_viewers(struct feed *feed);

/* Copies what comes next for a viewer. Returns the number of bytes; 0 if there is nothing and the
 * viewer was paused; -1 if the feed has ended. */
ssize_t feed_read(struct feed *feed, struct viewer *viewer, char *room, size_t size);

/* Publishes "event: NAME" with that text as its data; a NULL name: a comment. */
void feed_publish(struct feed *feed, enum feed_kind kind, const char *name, const char *data);
/* Is there a state that can be sent to a new viewer first? */
bool feed_has_state(struct feed *feed);
/* Ends all streams. */
void feed_end(struct feed *feed);

#endif
