/*
 * Observers: they follow who leads.
 *
 * An observer first subscribes and then asks, on a second connection, so that it misses no change
 * in between. An event that repeats the answer is recognised by its fence. No event tells that a
 * node has become silent, so the observer goes on asking, every second.
 *
 * An answer may be older than the events that were read before it, and a member may be busy for a
 * moment. So an answer that contradicts what the user was told, and is not clearly newer, counts
 * only if it comes twice in a row.
 */
#include "observe.h"

#include "handle.h"
#include "leader.h"
#include "lock_event.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
	ASK_MS = 1000,    /* how long after an answer the next question is asked */
	ANSWER_MS = 3000, /* after this time the node itself counts as silent */
};

struct observer {
	struct word name; /* the lock's name with a terminating 0; its bytes follow this struct */
	/* The last thing that the user was told. */
	enum { TOLD_NOBODY, TOLD_LEADER, TOLD_UNKNOWN } told;
	struct baton_leader leader; /* the last leader that the user was told; fence 0: none */
	/* The questions. */
	struct baton *asking; /* the handle that asks */
	bool asked;           /* a question is not answered yet */
	bool overdue;         /* it was noted that the answer is overdue */
	int64_t ask_at_ms;    /* when the question was asked, or when to ask the next one */
	bool doubted;         /* the last answer contradicted what the user knows */
	bool found_first;     /* the session's first answer was not looked at yet */
	struct finding found;
};

static void stop_asking(struct observer *observer)
{
	if (observer->asking != NULL)
		handle_free(observer->asking);
	observer->asking = NULL;
}

void observer_free(struct baton *baton)
{
	if (baton->observer == NULL)
		return;
	stop_asking(baton->observer);
	free(baton->observer);
	baton->observer = NULL;
}

/* --- telling the user --- */

/* Call it when an answer contradicts what the user knows. Returns true if the previous answer did
 * so too. */
static bool is_confirmed(struct observer *observer)
{
	if (observer->doubted) {
		observer->doubted = false;
		return true;
	}
	observer->doubted = true;
	if (!observer->asked)
		observer->ask_at_ms = now_ms();
	return false;
}

static int tell_led(struct observer *observer)
{
	observer->told = TOLD_NOBODY;
	observer->leader.silent = 0;
	return BATON_LED;
}

/* Reports that the node of the present leader has become silent, or answers again. */
static int tell_silent(struct observer *observer, bool silent)
{
	if (observer->leader.silent == silent) {
		observer->doubted = false;
		return 0;
	}
	if (silent && !is_confirmed(observer))
		return 0;
	observer->leader.silent = silent;
	return BATON_LEADS;
}

static int learn_leader(struct observer *observer, const struct baton_leader *leader)
{
	if (leader->fence == observer->leader.fence && observer->told == TOLD_LEADER)
		return tell_silent(observer, leader->silent);
	/* The user was already told of this leader, or of a later one. */
	if (leader->fence <= observer->leader.fence)
		return 0;
	if (leader->silent && !is_confirmed(observer))
		return 0;
	observer->leader = *leader;
	observer->told = TOLD_LEADER;
	return BATON_LEADS;
}

static int learn_nobody(struct observer *observer)
{
	bool was_unknown = observer->told == TOLD_UNKNOWN;

	if (observer->told == TOLD_LEADER)
		/* If the leader was silent, this answer is newer. Otherwise a second answer must
		 * confirm it. */
		return observer->leader.silent || is_confirmed(observer) ? tell_led(observer) : 0;
	observer->doubted = false;
	observer->told = TOLD_NOBODY;
	return was_unknown ? BATON_NOBODY : 0;
}

/* Is the name in the list, whose names are separated by blanks? */
static bool has_name(const char *names, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = names; *at != '\0';) {
		size_t length = strcspn(at, " ");
		if (length == size && memcmp(at, name, size) == 0)
			return true;
		at += length + (at[length] == ' ');
	}
	return false;
}

static int learn_unknown(struct observer *observer, const char *silent)
{
	if (observer->told == TOLD_LEADER) {
		/* No member remembers a leader. The old one may still lead if its own node does not
		 * answer. */
		if (*silent == '\0' || has_name(silent, observer->leader.node))
			return tell_silent(observer, true);
		return is_confirmed(observer) ? tell_led(observer) : 0;
	}
	if (observer->told == TOLD_UNKNOWN) {
		observer->doubted = false;
		return 0;
	}
	if (!is_confirmed(observer))
		return 0;
	observer->told = TOLD_UNKNOWN;
	return BATON_UNKNOWN;
}

/* Returns the change in observer->found that the user does not know yet; 0: none. */
static int learn(struct observer *observer)
{
	const struct finding *found = &observer->found;

	switch (found->kind) {
	case FOUND_LEADER:
		return learn_leader(observer, &found->leader);
	case FOUND_NOBODY:
		return learn_nobody(observer);
	case FOUND_UNKNOWN:
		break;
	}
	return learn_unknown(observer, found->silent);
}

/* Returns the change in an event that the user does not know yet; 0: none. */
static int tell_event(struct observer *observer, const struct lock_event *event)
{
	observer->doubted = false;
	if (event->kind == EVENT_LEADER && event->fence > observer->leader.fence) {
		leader_copy(&observer->leader, event->fence, event->node, event->value);
		observer->told = TOLD_LEADER;
		return BATON_LEADS;
	}
	if (event->kind == EVENT_GONE && observer->told == TOLD_LEADER &&
	    event->fence == observer->leader.fence)
		return tell_led(observer);
	return 0;
}

/* --- the session --- */

/* Subscribes on the session's connection. Returns 0 or an error. */
static int subscribe(struct baton *baton)
{
	const struct word words[] = {WORD("SUBSCRIBE"), baton->observer->name};
	struct lock_event event;
	redisReply *reply;

	int error = handle_send(baton, words, 2);
	if (error >= 0)
		error = handle_reply(baton, -1, &reply);
	if (error < 0)
		return error;
	if (reply->type == REDIS_REPLY_ERROR) {
		error = handle_refused(baton, reply);
		freeReplyObject(reply);
		return error;
	}
	if (lock_event_parse(reply, &event) < 0 || event.kind != EVENT_SUBSCRIBED)
		return handle_unexpected(baton, reply, "SUBSCRIBE");
	freeReplyObject(reply);
	return 0;
}

/* Asks and waits for the answer. Returns 0, or an error of the handle that asks. */
static int ask_first(struct observer *observer)
{
	struct word words[LEADER_WORDS];
	redisReply *reply;

	leader_words(observer->name, words);
	int error = handle_command(observer->asking, words, LEADER_WORDS, true, &reply);
	if (error < 0)
		return error;
	if (leader_parse(reply, &observer->found) < 0)
		return handle_unexpected(observer->asking, reply, "LEADER");
	freeReplyObject(reply);
	return 0;
}

/* Begins a session that observes. Afterwards `found` is what the members answered. Returns 0 or an
 * error. */
static int begin_observing(struct baton *baton)
{
	struct observer *observer = baton->observer;

	if (handle_is_open(baton))
		return 0;
	stop_asking(observer);
	int error = handle_connect(baton);
	if (error == 0)
		error = subscribe(baton);
	if (error < 0)
		goto failed;
	observer->asking = handle_new(baton->address);
	if (observer->asking == NULL) {
		error = why_set(&baton->why, BATON_EMEMORY, "out of memory");
		goto failed;
	}
	error = ask_first(observer);
	/* Ask once more, because a silent member may only have been busy. */
	if (error == 0 && observer->found.silent[0] != '\0')
		error = ask_first(observer);
	if (error < 0) {
		baton->why = observer->asking->why;
		goto failed;
	}
	observer->found_first = observer->doubted = true;
	observer->asked = observer->overdue = false;
	observer->ask_at_ms = now_ms() + ASK_MS;
	return 0;
failed:
	handle_end(baton);
	return error;
}

int baton_observe(struct baton *baton, const char *name)
{
	int error = handle_ready(baton);

	if (error == 0)
		error = handle_check_name(baton, name);
	if (error < 0)
		return error;
	if (!LIST_EMPTY(&baton->held))
		return why_set(&baton->why, BATON_EHELD, "this handle holds '%s': open another",
		               LIST_FIRST(&baton->held)->name.bytes);
	if (baton->watch.epoll >= 0)
		return why_set(&baton->why, BATON_EMODE,
		               "this handle watches its locks: open another");
	size_t size = strlen(name);
	struct observer *observer = calloc(1, sizeof(*observer) + size + 1);
	if (observer == NULL)
		return why_set(&baton->why, BATON_EMEMORY, "out of memory");
	memcpy(observer + 1, name, size + 1);
	observer->name = (struct word){(const char *)(observer + 1), size};
	handle_end(baton);
	baton->observer = observer;
	error = begin_observing(baton);
	if (error < 0)
		observer_free(baton);
	return error;
}

/* --- events and answers --- */

/* Ends the session, because the connection that asks has ended. */
static int fail_asking(struct baton *baton, int error)
{
	baton->why = baton->observer->asking->why;
	return handle_fail(baton, error);
}

/* Reads an event, if there is one. Returns a change, 0 (no change) or an error. */
static int take_event(struct baton *baton, bool *ret_any)
{
	struct lock_event event;
	redisReply *reply;

	*ret_any = false;
	int got = handle_reply(baton, 0, &reply);
	if (got <= 0)
		return got;
	if (lock_event_parse(reply, &event) < 0)
		return handle_unexpected(baton, reply, "SUBSCRIBE");
	if (event.kind ==
	    EVENT_DROPPED) { /* the leader may have changed: continue as after a lost connection */
		freeReplyObject(reply);
		return handle_fail(
		        baton, why_set(&baton->why, BATON_ECONNECTION, "the node dropped events"));
	}
	int change = tell_event(baton->observer, &event);
	freeReplyObject(reply);
	*ret_any = true;
	return change;
}

/* Reads the answer to the question, if there is one, and asks a new one if it is time. Returns a
 * change, 0 (no change) or an error. */
static int take_answer(struct baton *baton)
{
	struct observer *observer = baton->observer;
	struct word words[LEADER_WORDS];
	redisReply *reply;

	if (!observer->asked) {
		if (now_ms() < observer->ask_at_ms)
			return 0;
		leader_words(observer->name, words);
		int error = handle_send(observer->asking, words, LEADER_WORDS);
		if (error < 0)
			return fail_asking(baton, error);
		observer->asked = true;
		observer->overdue = false;
		observer->ask_at_ms = now_ms();
	}
	int got = handle_reply(observer->asking, 0, &reply);
	if (got < 0)
		return fail_asking(baton, got);
	observer->found.kind = FOUND_UNKNOWN;
	observer->found.silent[0] = '\0';
	if (got == 0) {
		if (observer->overdue || now_ms() < observer->ask_at_ms + ANSWER_MS)
			return 0;
		/* The node has had enough time to answer. */
		observer->overdue = observer->doubted = true;
		return learn(observer);
	}
	observer->asked = false;
	observer->ask_at_ms = now_ms() + ASK_MS;
	/* An error reply is no answer: the node may be in no view. */
	if (reply->type != REDIS_REPLY_ERROR && leader_parse(reply, &observer->found) < 0) {
		int error = handle_unexpected(observer->asking, reply, "LEADER");
		return fail_asking(baton, error);
	}
	freeReplyObject(reply);
	return learn(observer);
}

/* Waits until something arrives, or it is time to ask, or until `until_ms`. */
static void wait_for_news(const struct baton *baton, int64_t until_ms)
{
	const struct observer *observer = baton->observer;
	/* While no question is pending, the asking connection need not be polled: the next question
	 * will find out if it has ended. */
	int asking_fd = observer->asked ? observer->asking->session.fd : -1;
	struct pollfd items[] = {{.fd = baton->session.fd, .events = POLLIN},
	                         {.fd = asking_fd, .events = POLLIN}};
	int64_t at_ms = observer->ask_at_ms + (observer->asked ? ANSWER_MS : 0);

	if (observer->overdue || at_ms > until_ms)
		at_ms = until_ms;
	int64_t left_ms = at_ms - now_ms();
	if (left_ms > INT32_MAX)
		left_ms = INT32_MAX;
	/* If poll is interrupted, the caller just looks again. */
	if (left_ms > 0)
		poll(items, 2, (int)left_ms);
}

int baton_observe_next(struct baton *baton, int64_t timeout_ms, struct baton_leader *ret_leader)
{
	struct observer *observer = baton->observer;

	if (observer == NULL)
		return why_set(&baton->why, BATON_EMODE, "this handle observes nothing");
	timeout_ms = timeout_clamp(timeout_ms);
	int64_t until_ms = timeout_ms < 0 ? INT64_MAX : now_ms() + timeout_ms;
	int change = begin_observing(baton);
	if (change < 0)
		return change;
	if (observer->found_first) {
		observer->found_first = false;
		change = learn(observer);
		observer->doubted = false;
	}
	while (change == 0) {
		bool any;
		change = take_event(baton, &any);
		if (change == 0 && !any)
			change = take_answer(baton);
		if (change != 0 || any)
			continue;
		if (now_ms() >= until_ms)
			return 0;
		wait_for_news(baton, until_ms);
	}
	if (change < 0 || ret_leader == NULL)
		return change;
	if (change == BATON_LEADS || change == BATON_LED) {
		*ret_leader = observer->leader;
		return change;
	}
	struct word silent = word_of(change == BATON_UNKNOWN ? observer->found.silent : "");
	leader_copy(ret_leader, 0, WORD(""), silent);
	ret_leader->silent = change == BATON_UNKNOWN;
	return change;
}
