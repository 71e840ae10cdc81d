#include "watch.h"

#include "handle.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int watch_fd(struct baton *baton, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events};

	if (epoll_ctl(baton->watch.epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return why_set(&baton->why, BATON_EMEMORY, "epoll_ctl: %s", strerror(errno));
}

int watch_open(struct baton *baton)
{
	struct watch *watch = &baton->watch;

	watch->epoll = epoll_create1(EPOLL_CLOEXEC);
	watch->flag = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	watch->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->epoll < 0 || watch->flag < 0 || watch->timer < 0)
		return why_set(&baton->why, BATON_EMEMORY,
		               "epoll_create, eventfd, timerfd_create: %s", strerror(errno));
	int error = watch_fd(baton, watch->flag, EPOLLIN);
	return error < 0 ? error : watch_fd(baton, watch->timer, EPOLLIN);
}

void watch_free(struct baton *baton)
{
	struct watch *watch = &baton->watch;

	exchange_close(&watch->events);
	if (watch->flag >= 0)
		close(watch->flag);
	if (watch->timer >= 0)
		close(watch->timer);
	if (watch->epoll >= 0)
		close(watch->epoll);
	watch->epoll = watch->flag = watch->timer = -1;
}

/* Asks the node to tell the reasons of losses and, if its clock may be the same as ours, their
 * times. The answers are read before the first event and do not matter: a node of an older version
 * does not know these commands. */
static int ask_for_reasons(struct baton *baton)
{
	const struct word reasons[] = {WORD("CLIENT"), WORD("REASONS"), WORD("ON")};
	const struct word times[] = {WORD("CLIENT"), WORD("REASONS"), WORD("TIMED")};
	struct watch *watch = &baton->watch;
	int error = exchange_send(&watch->events, reasons, 3, &baton->why);

	watch->answers_pending = 1;
	if (error < 0 || !exchange_is_local(&watch->events))
		return error;
	watch->answers_pending = 2;
	return exchange_send(&watch->events, times, 3, &baton->why);
}

int watch_attach(struct baton *baton)
{
	struct watch *watch = &baton->watch;

	if (watch->epoll < 0)
		return 0;
	int error = exchange_open(&watch->events, baton->address, handle_files(baton), &baton->why);
	if (error == 0)
		error = ask_for_reasons(baton);
	if (error == 0)
		error = watch_fd(baton, watch->events.fd, EPOLLIN | EPOLLRDHUP);
	/* Watch the session's connection for its end only. Input on it would be the answer to a
	 * started request, which is not read here. */
	if (error == 0)
		error = watch_fd(baton, baton->session.fd, EPOLLRDHUP);
	if (error < 0)
		watch_detach(baton);
	return error;
}

void watch_detach(struct baton *baton)
{
	struct watch *watch = &baton->watch;

	if (watch->epoll < 0)
		return;
	/* Remove the descriptors from the epoll set. Closing them is not enough if a forked child
	 * has them too. */
	epoll_ctl(watch->epoll, EPOLL_CTL_DEL, baton->session.fd, NULL);
	if (watch->events.fd >= 0)
		epoll_ctl(watch->epoll, EPOLL_CTL_DEL, watch->events.fd, NULL);
	exchange_close(&watch->events);
}

void watch_unsubscribe(struct baton *baton, struct word name)
{
	const struct word words[] = {WORD("UNSUBSCRIBE"), name};
	struct why ignored;

	/* The answer is read among the events. If sending fails, the next read of events will fail
	 * too. */
	if (baton->watch.epoll >= 0)
		(void)exchange_send(&baton->watch.events, words, 2, &ignored);
}

void watch_set_timer(struct baton *baton, uint64_t ns)
{
	const struct itimerspec when = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
	                                             .tv_nsec = (long)(ns % 1000000000)}};

	if (baton->watch.timer >= 0)
		(void)timerfd_settime(baton->watch.timer, 0, &when, NULL);
}

void watch_flag(struct baton *baton)
{
	eventfd_t value;

	if (baton->watch.flag < 0)
		return;
	/* Errors do not matter: the read fails only if the flag is already clear. */
	if (!LIST_EMPTY(&baton->lost))
		(void)eventfd_write(baton->watch.flag, 1);
	else
		(void)eventfd_read(baton->watch.flag, &value);
}
