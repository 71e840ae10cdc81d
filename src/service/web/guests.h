/* The connections of the server, and the deadline of each: a client that sends the header of a
 * request byte by byte must not keep its place for ever, and many of them must not keep others
 * out. */
#ifndef WEB_GUESTS_H
#define WEB_GUESTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum {
	/* How long a request may take to arrive, counted from the beginning of the connection or
	 * from the last request. */
	GUEST_REQUEST_MS = 10000,
	/* How long a client may take to read the answer. */
	GUEST_ANSWER_MS = 60000,
	/* With more connections than this, the one that takes longest for its request or answer is
	 * closed. The server must accept somewhat more. */
	GUESTS_MAX = 960,
};

struct guest {
	LIST_ENTRY(guest) all;
	int fd;
	int64_t since_ms; /* when the connection began what it does now */
	int64_t due_ms;   /* when the connection is closed; INT64_MAX: never */
};

struct guests {
	pthread_mutex_t mutex;
	LIST_HEAD(, guest) list; /* the newest comes first */
	uint32_t count;
};

void guests_init(struct guests *guests);
struct guest *guest_enter(struct guests *guests, int fd);
/* Call it before the descriptor is closed. */
void guest_leave(struct guests *guests, struct guest *guest);
/* Sets how long the guest may take for what it does now; negative: for ever. */
void guest_due(struct guests *guests, struct guest *guest, int64_t ms);
/* Ends the connections that are not done in time. */
void guests_watch(struct guests *guests);

#endif
