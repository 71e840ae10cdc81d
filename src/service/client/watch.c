/*
 * A second connection, subscribed to the locks that are held, and a descriptor that says when to look
 * at it: an epoll set with that connection, the end of the session's own, and a flag for what was
 * lost but has not been told.
 */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int watch_fd(struct baton *baton, int fd, uint32_t events)
{
	struct epoll_event event = {.events = events};

	if (epoll_ctl(baton->watch.epoll, EPOLL_CTL_ADD, fd, &event) == 0)
		return 0;
	return why_set(&baton->why, BATON_EMEMORY, "epoll_ctl: %s", strerror(errno));
}

/* It shall tell why locks are lost. What it answers is read before the first event, and does not matter: a
 * node of an older version does not know this. */
static int ask_for_reasons(struct baton *baton)
{
	const struct word words[] = {WORD("CLIENT"), WORD("REASONS"), WORD("ON")};

	baton->watch.answer_pending = true;
	return connection_send(&baton->watch.events, words, 3, &baton->why);
}

int watch_attach(struct baton *baton)
{
	struct watch *watch = &baton->watch;

	if (watch->epoll < 0)
		return 0;
	int error = connection_open(&watch->events, baton->address, &baton->why);
	if (error == 0)
		error = ask_for_reasons(baton);
	if (error == 0)
		error = watch_fd(baton, watch->events.fd, EPOLLIN | EPOLLRDHUP);
	/* Not for input: that is the answer to a lock that was started, and not ours to read. */
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
	/* To close them is not enough if a forked child has them too. */
	epoll_ctl(watch->epoll, EPOLL_CTL_DEL, baton->session.fd, NULL);
	if (watch->events.fd >= 0)
		epoll_ctl(watch->epoll, EPOLL_CTL_DEL, watch->events.fd, NULL);
	connection_close(&watch->events);
}

void watch_free(struct baton *baton)
{
	struct watch *watch = &baton->watch;

	connection_close(&watch->events);
	if (watch->flag >= 0)
		close(watch->flag);
	if (watch->epoll >= 0)
		close(watch->epoll);
	watch->epoll = watch->flag = -1;
}

void watch_flag(struct baton *baton)
{
	eventfd_t value;

	if (baton->watch.flag < 0)
		return;
	/* Neither can fail in a way that matters: it is set already, or it is not. */
	if (baton->lost != NULL)
		(void)eventfd_write(baton->watch.flag, 1);
	else
		(void)eventfd_read(baton->watch.flag, &value);
}

int baton_watch(struct baton *baton)
{
	struct watch *watch = &baton->watch;
	int error = session_ready(baton);

	if (error < 0)
		return error;
	if (watch->epoll >= 0)
		return watch->epoll;
	if (baton->held != NULL)
		return why_set(&baton->why, BATON_EHELD,
		               "'%s' is held already: watch before anything is locked",
		               baton->held->name.bytes);
	watch->epoll = epoll_create1(EPOLL_CLOEXEC);
	watch->flag = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->epoll < 0 || watch->flag < 0)
		error = why_set(&baton->why, BATON_EMEMORY, "epoll_create, eventfd: %s",
		                strerror(errno));
	if (error == 0)
		error = watch_fd(baton, watch->flag, EPOLLIN);
	if (error == 0)
		error = session_open(baton) ? watch_attach(baton) : session_connect(baton);
	if (error < 0) {
		watch_free(baton);
		return error;
	}
	watch_flag(baton);
	return watch->epoll;
}

/* A lock with this fence is held no more, whoever held it. */
static void note_gone(struct baton *baton, const struct event *event)
{
	struct hold **place = hold_find(&baton->held, event->channel);

	if (place != NULL && (*place)->fence == event->fence)
		hold_lose(baton, place, event->value);
	/* It may be told before the answer to our LOCK has been read. */
	if (baton->wanted != NULL && baton->watch.gone_fence < event->fence &&
	    word_is(event->channel, baton->wanted->name.bytes))
		baton->watch.gone_fence = event->fence;
}

/* One event. 1: the one that says that `awaited` (or NULL) is subscribed to; 0: another; BATON_EPENDING:
 * none, if not `wait`; or another error, and the session is over. */
static int take_event(struct baton *baton, bool wait, const struct word *awaited)
{
	struct event event;
	redisReply *reply;
	int got = connection_receive(&baton->watch.events, wait ? -1 : 0, &reply, &baton->why);

	if (got == 0)
		return BATON_EPENDING;
	if (got < 0)
		return session_fail(baton, got);
	if (baton->watch.answer_pending) {
		baton->watch.answer_pending = false;
		freeReplyObject(reply);
		return 0;
	}
	if (reply->type == REDIS_REPLY_ERROR) {
		got = refused(baton, reply);
		freeReplyObject(reply);
		/* To a SUBSCRIBE that is waited for; nothing else that we send can be refused. */
		return awaited != NULL ? got : session_fail(baton, got);
	}
	if (event_parse(reply, &event) < 0)
		return unexpected(baton, reply, "SUBSCRIBE");
	if (event.kind == EVENT_GONE)
		note_gone(baton, &event);
	if (event.kind == EVENT_DROPPED) { /* a loss may be among what was not told */
		freeReplyObject(reply);
		return session_fail(baton, why_set(&baton->why, BATON_ECONNECTION,
		                                   "this program did not read for so long that "
		                                   "the node dropped events"));
	}
	got = event.kind == EVENT_SUBSCRIBED && awaited != NULL &&
	      word_is(event.channel, awaited->bytes);
	freeReplyObject(reply);
	return got;
}

int watch_subscribe(struct baton *baton, struct word name)
{
	const struct word words[] = {WORD("SUBSCRIBE"), name};

	baton->watch.gone_fence = 0;
	if (baton->watch.epoll < 0)
		return 0;
	int error = connection_send(&baton->watch.events, words, 2, &baton->why);
	if (error < 0)
		return session_fail(baton, error);
	do
		error = take_event(baton, true, &name);
	while (error == 0);
	return error < 0 ? error : 0;
}

void watch_unsubscribe(struct baton *baton, struct word name)
{
	const struct word words[] = {WORD("UNSUBSCRIBE"), name};
	struct why ignored;

	/* The answer is read among the events. If this fails, so will the next that reads them. */
	if (baton->watch.epoll >= 0)
		(void)connection_send(&baton->watch.events, words, 2, &ignored);
}

void watch_read(struct baton *baton)
{
	if (baton->watch.epoll < 0 || !session_open(baton))
		return;
	while (take_event(baton, false, NULL) >= 0)
		;
	if (session_open(baton) && connection_ended(&baton->session))
		session_end(baton);
}
