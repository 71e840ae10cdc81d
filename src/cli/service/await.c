#include "await.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/select.h>

enum { LOOK_MS = 10 };

/* Waits like await_any, but with select, which does not look at the limit of descriptors. A
 * descriptor that does not fit into an fd_set counts as ready every few milliseconds. */
static int select_any(struct pollfd *items, nfds_t count, int ms)
{
	fd_set ready;
	int end = 0;
	bool beyond = false;

	FD_ZERO(&ready);
	for (nfds_t i = 0; i < count; i++) {
		if (items[i].fd >= FD_SETSIZE)
			beyond = true;
		else if (items[i].fd >= 0)
			FD_SET(items[i].fd, &ready);
		if (items[i].fd >= end && items[i].fd < FD_SETSIZE)
			end = items[i].fd + 1;
	}
	if (beyond && (ms < 0 || ms > LOOK_MS))
		ms = LOOK_MS;
	struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};
	int found = select(end, &ready, NULL, NULL, ms < 0 ? NULL : &limit);
	for (nfds_t i = 0; found >= 0 && i < count; i++) {
		bool is = items[i].fd >= FD_SETSIZE ||
		          (items[i].fd >= 0 && FD_ISSET(items[i].fd, &ready));
		items[i].revents = is ? POLLIN : 0;
	}
	return beyond && found == 0 ? 1 : found;
}

int await_any(struct pollfd *items, nfds_t count, int ms)
{
	int ready = poll(items, count, ms);

	return ready < 0 && errno == EINVAL ? select_any(items, count, ms) : ready;
}
