#include "guests.h"

#include "clock.h"
#include "memory.h"

#include <stdlib.h>
#include <sys/socket.h>

static int64_t now_ms(void)
{
	return (int64_t)(clock_boot_ns() / 1000000);
}

void guests_init(struct guests *guests)
{
	pthread_mutex_init(&guests->mutex, NULL);
	LIST_INIT(&guests->list);
}

/* Only shuts the connection down. The server's thread notices that it has ended, and closes it. */
static void end_guest(struct guest *guest)
{
	guest->due_ms = INT64_MAX;
	shutdown(guest->fd, SHUT_RDWR);
}

static void end_slowest(struct guests *guests)
{
	struct guest *guest, *slowest = NULL;

	LIST_FOREACH (guest, &guests->list, all) {
		if (guest->due_ms != INT64_MAX &&
		    (slowest == NULL || guest->since_ms <= slowest->since_ms))
			slowest = guest;
	}
	if (slowest != NULL)
		end_guest(slowest);
}

struct guest *guest_enter(struct guests *guests, int fd)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	memory_must(guest != NULL);
	guest->fd = fd;
	guest->since_ms = now_ms();
	guest->due_ms = guest->since_ms + GUEST_REQUEST_MS;
	pthread_mutex_lock(&guests->mutex);
	LIST_INSERT_HEAD(&guests->list, guest, all);
	if (++guests->count > GUESTS_MAX)
		end_slowest(guests);
	pthread_mutex_unlock(&guests->mutex);
	return guest;
}

void guest_leave(struct guests *guests, struct guest *guest)
{
	pthread_mutex_lock(&guests->mutex);
	LIST_REMOVE(guest, all);
	guests->count--;
	pthread_mutex_unlock(&guests->mutex);
	free(guest);
}

void guest_due(struct guests *guests, struct guest *guest, int64_t ms)
{
	pthread_mutex_lock(&guests->mutex);
	guest->since_ms = now_ms();
	guest->due_ms = ms < 0 ? INT64_MAX : guest->since_ms + ms;
	pthread_mutex_unlock(&guests->mutex);
}

void guests_watch(struct guests *guests)
{
	struct guest *guest;
	int64_t now = now_ms();

	pthread_mutex_lock(&guests->mutex);
	LIST_FOREACH (guest, &guests->list, all) {
		if (guest->due_ms <= now)
			end_guest(guest);
	}
	pthread_mutex_unlock(&guests->mutex);
}
