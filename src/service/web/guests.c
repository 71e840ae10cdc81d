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

struct guest *guest_enter(struct guests *guests, int fd)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	memory_must(guest != NULL);
	guest->fd = fd;
	guest->due_ms = now_ms() + GUEST_REQUEST_MS;
	pthread_mutex_lock(&guests->mutex);
	LIST_INSERT_HEAD(&guests->list, guest, all);
	pthread_mutex_unlock(&guests->mutex);
	return guest;
}

void guest_leave(struct guests *guests, struct guest *guest)
{
	pthread_mutex_lock(&guests->mutex);
	LIST_REMOVE(guest, all);
	pthread_mutex_unlock(&guests->mutex);
	free(guest);
}

void guest_due(struct guests *guests, struct guest *guest, int64_t ms)
{
	pthread_mutex_lock(&guests->mutex);
	guest->due_ms = ms < 0 ? INT64_MAX : now_ms() + ms;
	pthread_mutex_unlock(&guests->mutex);
}

/* Only shuts connections down. The server's thread notices that they have ended, and closes
 * them. */
void guests_watch(struct guests *guests)
{
	struct guest *guest;
	int64_t now = now_ms();

	pthread_mutex_lock(&guests->mutex);
	LIST_FOREACH (guest, &guests->list, all) {
		if (guest->due_ms <= now) {
			guest->due_ms = INT64_MAX;
			shutdown(guest->fd, SHUT_RDWR);
		}
	}
	pthread_mutex_unlock(&guests->mutex);
}
