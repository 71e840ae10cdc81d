#include "loop.h"

#include "clock.h"
#include "grow.h"
#include "must.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	EVENTS_MAX = 256,
	/* How often the kernel is asked for more events in one turn. */
	ROUNDS_MAX = 16,
};

/* --- descriptors --- */

static void control(const struct loop *loop, int what, struct loop_watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	must(epoll_ctl(loop->epoll_fd, what, watch->fd, &event) == 0);
}

void loop_add(struct loop *loop, struct loop_watch *watch, uint32_t events)
{
	control(loop, EPOLL_CTL_ADD, watch, events);
}

void loop_change(struct loop *loop, struct loop_watch *watch, uint32_t events)
{
	control(loop, EPOLL_CTL_MOD, watch, events);
}

int loop_remove(struct loop *loop, struct loop_watch *watch)
{
	int fd = watch->fd;

	if (fd >= 0)
		control(loop, EPOLL_CTL_DEL, watch, 0);
	watch->fd = -1;
	return fd;
}

void loop_close_fd(struct loop *loop, struct loop_watch *watch)
{
	/* Closing would not end the watch if another process has the descriptor too. */
	int fd = loop_remove(loop, watch);

	if (fd >= 0)
		close(fd);
}

/* --- timers: a binary heap, the earliest at 1 --- */

static void put(struct loop *loop, size_t place, struct loop_timer *timer)
{
	loop->heap[place] = timer;
	timer->place = place;
}

static void rise(struct loop *loop, size_t place, struct loop_timer *timer)
{
	for (; place > 1 && loop->heap[place / 2]->at > timer->at; place /= 2)
		put(loop, place, loop->heap[place / 2]);
	put(loop, place, timer);
}

static void sink(struct loop *loop, size_t place, struct loop_timer *timer)
{
	for (size_t child; (child = place * 2) <= loop->heap_count; place = child) {
		if (child < loop->heap_count && loop->heap[child + 1]->at < loop->heap[child]->at)
			child++;
		if (loop->heap[child]->at >= timer->at)
			break;
		put(loop, place, loop->heap[child]);
	}
	put(loop, place, timer);
}

void loop_timer_clear(struct loop *loop, struct loop_timer *timer)
{
	size_t place = timer->place;

	if (place == 0)
		return;
	timer->place = 0;
	struct loop_timer *last = loop->heap[loop->heap_count--];
	if (last == timer)
		return;
	if (place > 1 && loop->heap[place / 2]->at > last->at)
		rise(loop, place, last);
	else
		sink(loop, place, last);
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t at)
{
	loop_timer_clear(loop, timer);
	if (at == LOOP_NEVER)
		return;
	timer->at = at;
	loop->heap_count++;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers. */
	loop->heap = grow(loop->heap, &loop->heap_size, loop->heap_count + 1, sizeof(*loop->heap));
	rise(loop, loop->heap_count, timer);
}

void loop_serve_timers(struct loop *loop)
{
	/* A timer that a callback sets to a time in the past is served in the next turn. */
	for (size_t left = loop->heap_count;
	     left > 0 && loop->heap_count > 0 && loop->heap[1]->at <= loop->now; left--) {
		struct loop_timer *timer = loop->heap[1];
		loop_timer_clear(loop, timer);
		loop->worked = true;
		timer->due(timer);
	}
}

/* --- the turn --- */

static void on_alarm(struct loop_watch *watch, uint32_t events)
{
	struct loop *loop = (struct loop *)((char *)watch - offsetof(struct loop, alarm));
	uint64_t times;

	(void)events;
	if (read(watch->fd, &times, sizeof(times)) == sizeof(times))
		loop->alarm_at = LOOP_NEVER;
}

static void set_alarm(struct loop *loop, uint64_t at)
{
	struct itimerspec when = {0};

	if (loop->heap_count > 0 && loop->heap[1]->at < at)
		at = loop->heap[1]->at;
	if (at == loop->alarm_at)
		return;
	loop->alarm_at = at;
	if (at != LOOP_NEVER) {
		uint64_t now = clock_lease_ns();
		at = clock_boot_ns() + (at > now ? at - now : 1);
		when.it_value.tv_sec = (time_t)(at / 1000000000);
		when.it_value.tv_nsec = (long)(at % 1000000000);
	}
	must(timerfd_settime(loop->alarm.fd, TFD_TIMER_ABSTIME, &when, NULL) == 0);
}

void loop_read_clock(struct loop *loop)
{
	if (loop->worked)
		loop->now = clock_lease_ns();
	loop->worked = true;
}

/* Returns true if there may be more events. */
static bool serve_events(struct loop *loop, bool busy)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(loop->epoll_fd, events, EVENTS_MAX, busy ? 0 : -1);

	must(count >= 0 || errno == EINTR);
	loop->now = clock_lease_ns();
	loop->worked = false;
	for (int i = 0; i < count; i++) {
		struct loop_watch *watch = events[i].data.ptr;
		if (watch->fd < 0)
			continue;
		if (!watch->notes)
			loop_read_clock(loop);
		watch->ready(watch, events[i].events);
	}
	return count == EVENTS_MAX;
}

void loop_turn(struct loop *loop, bool busy, uint64_t deadline)
{
	if (!busy)
		set_alarm(loop, deadline);
	/* Thousands of clients may be ready, and the kernel reports them in the order in which they
	 * became ready. Peers must not wait behind them for many turns. */
	for (int round = 0; serve_events(loop, busy || round > 0) && round < ROUNDS_MAX; round++)
		;
}

void loop_open(struct loop *loop)
{
	*loop = (struct loop){.alarm_at = LOOP_NEVER, .now = clock_lease_ns()};
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->alarm.fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	must(loop->epoll_fd >= 0 && loop->alarm.fd >= 0);
	loop->alarm.ready = on_alarm;
	loop_add(loop, &loop->alarm, EPOLLIN);
}

void loop_close(struct loop *loop)
{
	loop_close_fd(loop, &loop->alarm);
	close(loop->epoll_fd);
	free(loop->heap);
}
