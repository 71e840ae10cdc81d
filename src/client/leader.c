/*
 * Who leads: asked once, or observed.
 *
 * An observer subscribes first and asks then, on a connection of its own, so that no change falls between;
 * what the events tell once more is known by its fence.
 */
#include "handle.h"

#include <stdlib.h>
#include <string.h>

struct observer {
	struct word name;           /* its bytes are behind it, ended by 0 */
	bool leads;                 /* `leader` leads, as far as the user knows */
	struct baton_leader leader; /* the last that was told; fence 0: none */
	bool found_new;             /* whether the session's first question … */
	bool leads_now;             /* … has an answer that has not been told, … */
	struct baton_leader found;  /* … which is this */
};

void observer_free(struct baton *baton)
{
	free(baton->observer);
}

static void copy_leader(struct baton_leader *to, uint64_t fence, struct word node,
                        struct word value)
{
	to->fence = fence;
	to->value_size = value.size;
	memcpy(to->node, node.bytes, node.size);
	to->node[node.size] = '\0';
	memcpy(to->value, value.bytes, value.size);
	to->value[value.size] = '\0';
}

/* [fence, node, value] or nil. 1, 0: nobody, or -1: it is none. */
static int parse_leader(const redisReply *reply, struct baton_leader *ret_leader)
{
	if (reply->type == REDIS_REPLY_NIL)
		return 0;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3)
		return -1;
	const redisReply *fence = reply->element[0], *node = reply->element[1],
	                 *value = reply->element[2];
	if (fence->type != REDIS_REPLY_INTEGER || fence->integer < 1 ||
	    check_fence((uint64_t)fence->integer) < 0 || node->type != REDIS_REPLY_STRING ||
	    node->len < 1 || node->len > BATON_NAME_MAX || value->type != REDIS_REPLY_STRING ||
	    value->len > BATON_VALUE_MAX)
		return -1;
	copy_leader(ret_leader, (uint64_t)fence->integer, (struct word){node->str, node->len},
	            (struct word){value->str, value->len});
	return 1;
}

int baton_leader(struct baton *baton, const char *name, struct baton_leader *ret_leader)
{
	struct baton_leader leader;
	redisReply *reply;

	if (check_name(baton, name) < 0)
		return BATON_ENAME;
	const struct word words[] = {WORD("LEADER"), word_of(name)};
	int error = session_command(baton, words, 2, true, &reply);
	if (error < 0)
		return error;
	int leads = parse_leader(reply, &leader);
	if (leads < 0)
		return unexpected(baton, reply, "LEADER");
	freeReplyObject(reply);
	if (leads == 1 && ret_leader != NULL)
		*ret_leader = leader;
	return leads;
}

/* --- observers --- */

/* Subscribes on the session's connection. 0 or an error. */
static int subscribe(struct baton *baton)
{
	const struct word words[] = {WORD("SUBSCRIBE"), baton->observer->name};
	struct event event;
	redisReply *reply;

	int error = session_send(baton, words, 2);
	if (error >= 0)
		error = session_reply(baton, -1, &reply);
	if (error < 0)
		return error;
	if (reply->type == REDIS_REPLY_ERROR) {
		error = refused(baton, reply);
		freeReplyObject(reply);
		return error;
	}
	if (event_parse(reply, &event) < 0 || event.kind != EVENT_SUBSCRIBED)
		return unexpected(baton, reply, "SUBSCRIBE");
	freeReplyObject(reply);
	return 0;
}

/* A session that observes: after this `found` is who leads. 0 or an error. */
static int begin_observing(struct baton *baton)
{
	struct observer *observer = baton->observer;

	if (session_open(baton))
		return 0;
	int error = session_connect(baton);
	if (error == 0)
		error = subscribe(baton);
	if (error < 0)
		goto failed;
	struct baton *asking = baton_open(baton->address);
	if (asking == NULL) {
		error = why_set(&baton->why, BATON_EMEMORY, "out of memory");
		goto failed;
	}
	int leads = baton_leader(asking, observer->name.bytes, &observer->found);
	if (leads < 0) {
		baton->why = asking->why;
		error = leads;
	}
	baton_close(asking);
	if (error < 0)
		goto failed;
	observer->leads_now = leads == 1;
	observer->found_new = true;
	return 0;
failed:
	session_end(baton);
	return error;
}

int baton_observe(struct baton *baton, const char *name)
{
	int error = session_ready(baton);

	if (error == 0)
		error = check_name(baton, name);
	if (error < 0)
		return error;
	if (baton->held != NULL)
		return why_set(&baton->why, BATON_EHELD, "this handle holds '%s': open another",
		               baton->held->name.bytes);
	if (baton->watch.epoll >= 0)
		return why_set(&baton->why, BATON_EMODE,
		               "this handle watches its locks: open another");
	size_t size = strlen(name);
	struct observer *observer = calloc(1, sizeof(*observer) + size + 1);
	if (observer == NULL)
		return why_set(&baton->why, BATON_EMEMORY, "out of memory");
	memcpy(observer + 1, name, size + 1);
	observer->name = (struct word){(const char *)(observer + 1), size};
	session_end(baton);
	baton->observer = observer;
	error = begin_observing(baton);
	if (error < 0) {
		observer_free(baton);
		baton->observer = NULL;
	}
	return error;
}

/* What the session's first question tells that the user does not know. */
static int tell_found(struct observer *observer)
{
	observer->found_new = false;
	if (observer->leads_now && observer->found.fence > observer->leader.fence) {
		observer->leader = observer->found;
		observer->leads = true;
		return BATON_LEADS;
	}
	/* The user knows it already, or a later one: an answer may be older than what was told. */
	if (observer->leads_now || !observer->leads)
		return 0;
	observer->leads = false;
	return BATON_LED;
}

/* What an event tells that the user does not know; 0: nothing. */
static int tell_event(struct observer *observer, const struct event *event)
{
	if (event->kind == EVENT_LEADER && event->fence > observer->leader.fence) {
		copy_leader(&observer->leader, event->fence, event->node, event->value);
		observer->leads = true;
		return BATON_LEADS;
	}
	if (event->kind == EVENT_GONE && observer->leads &&
	    event->fence == observer->leader.fence) {
		observer->leads = false;
		return BATON_LED;
	}
	return 0;
}

int baton_observe_next(struct baton *baton, int64_t timeout_ms, struct baton_leader *ret_leader)
{
	struct observer *observer = baton->observer;

	if (observer == NULL)
		return why_set(&baton->why, BATON_EMODE, "this handle observes nothing");
	timeout_ms = timeout_clamp(timeout_ms);
	int64_t until_ms = timeout_ms > 0 ? now_ms() + timeout_ms : 0;
	int change = begin_observing(baton);
	if (change < 0)
		return change;
	if (observer->found_new)
		change = tell_found(observer);
	while (change == 0) {
		struct event event;
		redisReply *reply;
		int64_t left_ms = timeout_ms > 0 ? until_ms - now_ms() : timeout_ms;
		/* Time that has just run out must not become a wait without end. */
		if (timeout_ms > 0 && left_ms < 0)
			left_ms = 0;
		int got = session_reply(baton, left_ms, &reply);
		if (got <= 0)
			return got;
		if (event_parse(reply, &event) < 0)
			return unexpected(baton, reply, "SUBSCRIBE");
		change = tell_event(observer, &event);
		freeReplyObject(reply);
	}
	if (ret_leader != NULL)
		*ret_leader = observer->leader;
	return change;
}
