#include "losses.h"

#include "leases.h"
#include "lock_event.h"
#include "watch.h"

#include <stdio.h>
#include <string.h>

/* Notes that the hold with this fence has ended, whether or not it was ours. */
static void note_gone(struct baton *baton, const struct lock_event *event)
{
	struct hold *hold = hold_find(&baton->held, event->channel);

	if (hold != NULL && hold->fence == event->fence) {
		hold->told_ms = event->told_ms;
		handle_lose(baton, hold, event->value);
	}
	/* The event may be read before the reply to our LOCK. */
	if (baton->wanted != NULL && baton->watch.gone_fence < event->fence &&
	    word_is(event->channel, baton->wanted->name.bytes)) {
		baton->watch.gone_fence = event->fence;
		snprintf(baton->watch.gone_why, sizeof(baton->watch.gone_why), "%.*s",
		         (int)event->value.size, event->value.bytes);
	}
}

/* Reads one event. Returns 1 if it confirms the subscription to `awaited`, which may be NULL; 0 if
 * it is another event; BATON_EPENDING if there is none and `wait` is false; or another error, after
 * which the session is over. */
static int take_event(struct baton *baton, bool wait, const struct word *awaited)
{
	struct lock_event event;
	redisReply *reply;
	int64_t timeout_ms = wait ? handle_patience_ms(baton) : 0;
	int got = exchange_receive(&baton->watch.events, timeout_ms, &reply, &baton->why);

	if (got == 0)
		return wait ? handle_silent(baton) : BATON_EPENDING;
	if (got < 0)
		return handle_fail(baton, got);
	if (baton->watch.answers_pending > 0) {
		baton->watch.answers_pending--;
		freeReplyObject(reply);
		return 0;
	}
	if (reply->type == REDIS_REPLY_ERROR) {
		got = handle_refused(baton, reply);
		freeReplyObject(reply);
		/* The error refuses the awaited SUBSCRIBE. Nothing else that we send can be
		 * refused. */
		return awaited != NULL ? got : handle_fail(baton, got);
	}
	if (lock_event_parse(reply, &event) < 0)
		return handle_unexpected(baton, reply, "SUBSCRIBE");
	if (event.kind == EVENT_GONE)
		note_gone(baton, &event);
	if (event.kind == EVENT_DROPPED) { /* a loss may be among the events that were dropped */
		freeReplyObject(reply);
		return handle_fail(baton, why_set(&baton->why, BATON_ECONNECTION,
		                                  "this program did not read for so long that "
		                                  "the node dropped events"));
	}
	got = event.kind == EVENT_SUBSCRIBED && awaited != NULL &&
	      word_is(event.channel, awaited->bytes);
	freeReplyObject(reply);
	return got;
}

int losses_subscribe(struct baton *baton, struct word name)
{
	const struct word words[] = {WORD("SUBSCRIBE"), name};

	baton->watch.gone_fence = 0;
	baton->watch.refused = false;
	if (baton->watch.epoll < 0)
		return 0;
	int error = exchange_send(&baton->watch.events, words, 2, &baton->why);
	if (error < 0)
		return handle_fail(baton, error);
	do
		error = take_event(baton, true, &name);
	while (error == 0);
	baton->watch.refused = error == BATON_EACCESS;
	return error < 0 && error != BATON_EACCESS ? error : 0;
}

void losses_read(struct baton *baton)
{
	if (!handle_is_open(baton))
		return;
	while (baton->watch.epoll >= 0 && take_event(baton, false, NULL) >= 0)
		;
	leases_look(baton);
	if (baton->watch.epoll >= 0 && handle_is_open(baton) && exchange_ended(&baton->session))
		handle_end(baton);
}

int baton_watch(struct baton *baton)
{
	struct watch *watch = &baton->watch;
	int error = handle_ready(baton);

	if (error < 0)
		return error;
	if (watch->epoll >= 0)
		return watch->epoll;
	if (!LIST_EMPTY(&baton->held))
		return why_set(&baton->why, BATON_EHELD,
		               "'%s' is held already: call baton_watch before the first lock",
		               LIST_FIRST(&baton->held)->name.bytes);
	error = watch_open(baton);
	if (error == 0)
		error = handle_is_open(baton) ? watch_attach(baton) : handle_connect(baton);
	if (error < 0) {
		watch_free(baton);
		return error;
	}
	watch_flag(baton);
	return watch->epoll;
}
