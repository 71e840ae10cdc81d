/*
 * The daemon's one event loop, and its one clock.
 *
 * A turn sleeps until a descriptor is ready or a timer is due, reads the clock once, and then calls
 * the callbacks: descriptors first, timers after them. Everything in a turn sees the same time
 * (loop->now), and every deadline is counted from it. So a deadline is too early by at most the
 * length of a turn. The time that clients have to stop is the exception: it is counted from a new
 * reading (clock_boot_ns), because the process may have been suspended since the turn began.
 *
 * The clock is CLOCK_BOOTTIME: it goes on while the machine is suspended. All timers share one
 * kernel timer on that clock, which stays set while the loop sleeps and wakes.
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
	/* -1: there is none; events of this turn for it that are still to come are dropped. */
	int fd;
	void (*ready)(struct loop_watch *watch, uint32_t events);
};

/* A deadline. A timer that is all zero except for `due` is not set. */
struct loop_timer {
	uint64_t at;
	size_t place; /* its index in the heap, from 1; 0: not set */
	void (*due)(struct loop_timer *timer);
};

struct loop {
	int epoll_fd;
	uint64_t now; /* when this turn began */
	struct loop_watch alarm;
	uint64_t alarm_at; /* what the kernel's timer is set to */
	struct loop_timer **heap;
	size_t heap_count, heap_size;
};

void loop_open(struct loop *loop);
/* The owners still own their descriptors and timers. */
void loop_close(struct loop *loop);

/* Sleeps, unless `busy`, until something is ready or due, or until `deadline`, and serves it. */
void loop_turn(struct loop *loop, bool busy, uint64_t deadline);

void loop_add(struct loop *loop, struct loop_watch *watch, uint32_t events);
/* With EPOLLET this also reports again what is ready already. */
void loop_change(struct loop *loop, struct loop_watch *watch, uint32_t events);
/* Stops watching the descriptor and closes it. The memory must stay valid until the turn is
 * over. */
void loop_close_fd(struct loop *loop, struct loop_watch *watch);

/* Sets the timer to that time, whatever it was set to before. LOOP_NEVER clears it. */
void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t at);
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);

static inline bool loop_timer_is_set(const struct loop_timer *timer)
{
	return timer->place != 0;
}

#endif
