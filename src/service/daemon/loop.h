/*
 * The daemon's only event loop, and its only clock.
 *
 * A turn sleeps until a descriptor is ready or a timer is due, and then calls the callbacks:
 * descriptors first, timers after them. The clock is read before each descriptor is served
 * (loop->now): the process may have been stopped in between, and input must not be handled as if
 * the lease were still valid. Events of clients are only noted, and acted on after peers and other
 * descriptors (clients.h); the clock is read before each client's turn. The time that clients have
 * to stop is counted from a later reading (clock_lease_ns), after they were told.
 *
 * The clock is the lease clock (lease_clock.h): it goes on while the machine is suspended, and is
 * not slewed. All timers share one kernel timer, which stays set when the loop wakes for another
 * reason. The kernel has no timer on the lease clock, so this one runs on CLOCK_BOOTTIME, set for
 * the same length of time. While the system's clock is slewed, it may expire early or late, by a
 * few percent of that length; if it is early, the loop sets it again.
 */
#ifndef DAEMON_LOOP_H
#define DAEMON_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#define LOOP_NEVER UINT64_MAX
#define LOOP_MS UINT64_C(1000000)

/* A descriptor that the loop watches. `ready` gets the events of epoll. */
struct loop_watch {
	/* The descriptor; -1: there is none. Events of this turn for a closed descriptor are
	 * dropped. */
	int fd;
	/* `ready` only notes the events. They are acted on after the loop's turn, by code that
	 * reads the clock itself (loop_read_clock). */
	bool notes;
	void (*ready)(struct loop_watch *watch, uint32_t events);
};

/* A deadline. A timer whose fields are zero, except `due`, is not set. */
struct loop_timer {
	uint64_t at;
	size_t place; /* the index of this timer in the heap, from 1; 0: the timer is not set */
	void (*due)(struct loop_timer *timer);
};

struct loop {
	int epoll_fd;
	uint64_t now; /* the time of the last reading of the clock in this turn */
	bool worked;  /* something was done since the clock was read, and it may have taken long */
	struct loop_watch alarm;
	uint64_t alarm_at; /* the time to which the kernel's timer is set */
	struct loop_timer **heap;
	size_t heap_count, heap_size;
};

void loop_open(struct loop *loop);
/* Frees the loop, but not the descriptors and timers, which belong to others. */
void loop_close(struct loop *loop);

/* Sleeps, unless `busy`, until something is ready or due, or until `deadline`, and serves the
 * descriptors that are ready. */
void loop_turn(struct loop *loop, bool busy, uint64_t deadline);
/* Serves the timers that are due. Call it after each turn, when what was noted in it (`notes`) has
 * been acted on: what a client sent before a deadline counts, even if the process was stopped. */
void loop_serve_timers(struct loop *loop);

/* Call it before something is done that needs the time. Reads the clock (loop->now), unless nothing
 * was done since it was read. */
void loop_read_clock(struct loop *loop);

void loop_add(struct loop *loop, struct loop_watch *watch, uint32_t events);
/* Changes the events that are watched. With EPOLLET, events that are ready already are reported
 * again. */
void loop_change(struct loop *loop, struct loop_watch *watch, uint32_t events);
/* Stops watching the descriptor, and returns it; -1: there is none. The memory must stay valid until
 * the turn is over. */
int loop_remove(struct loop *loop, struct loop_watch *watch);
/* Stops watching the descriptor and closes it. The memory must stay valid until the turn is
 * over. */
void loop_close_fd(struct loop *loop, struct loop_watch *watch);

/* Sets the timer to this time, even if it was set to another. LOOP_NEVER clears it. */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t at);
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);

static inline bool loop_timer_is_set(const struct loop_timer *timer)
{
	return timer->place != 0;
}

#endif
