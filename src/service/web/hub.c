#include "hub.h"

#include "changes.h"
#include "clock.h"
#include "exchange.h"
#include "figures.h"
#include "memory.h"
#include "pace.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	STATUS_MS = 1000, /* how often viewers get a status */
	BUNDLE_MS = 100,  /* how often viewers get changes */
	/* How often viewers get a sign of life, which also finds viewers that have left. */
	BEAT_MS = 15000,
	DIAL_MS = 300,      /* how often the hub looks for a node */
	ANSWER_MS = 3000,   /* a node that owes an answer is given up after this much silence */
	LOCKS_SHOWN = 200,  /* the most locks in a status for viewers */
	WAITERS_SHOWN = 20, /* the most waiters of each lock in a status for viewers */
	PENDING_MAX = HUB_ASKS_MAX + 2,
};

/* A command that the node has not answered yet. */
struct pending {
	enum ask_kind kind;
	struct ask *ask; /* the question of an HTTP request; NULL: the viewers' question */
	int64_t since_ms;
};

struct hub {
	const char *address;
	struct feed *feed;
	pthread_t thread;
	int wake_fd;

	/* The mutex guards the fields below, which other threads use too. */
	pthread_mutex_t mutex;
	TAILQ_HEAD(, ask) asks; /* questions that were not sent yet */
	unsigned asks_count;    /* questions that were not answered yet, sent or not */
	bool stopping;
	bool up; /* the node has answered on this connection */

	/* Only for the hub's own thread. */
	struct exchange node;   /* the connection for commands */
	struct exchange events; /* the connection for events, which only subscribes */
	struct pending pending[PENDING_MAX];
	unsigned pending_first, pending_count;
	bool asks_status;       /* a STATUS for the viewers is among the pending questions */
	bool asking[ASK_BREAK]; /* a question of this kind, for a request, is pending */
	int64_t heard_ms;       /* when the node last sent anything */
	int64_t dial_ms, status_ms, beat_ms, bundle_ms;
	struct changes changes;
	struct pace pace;
	json_t *info;       /* the last reply to INFO that is not shown yet, or NULL */
	struct why unheard; /* why the node reports no changes; "": it does, or was not asked yet */
	struct why why;
};

static bool is_open(const struct exchange *exchange)
{
	return exchange->fd >= 0;
}

/* --- asking --- */

/* Gives the outcome to a question and to all others that share its reply. */
static void finish(struct hub *hub, struct ask *ask, json_t *reply, const struct problem *problem)
{
	for (struct ask *next; ask != NULL; ask = next) {
		next = ask->same; /* `done` may free the question */
		ask->reply = json_incref(reply);
		ask->problem = *problem;
		pthread_mutex_lock(&hub->mutex);
		hub->asks_count--;
		pthread_mutex_unlock(&hub->mutex);
		ask->done(ask);
	}
	json_decref(reply);
}

/* Ends a question without a reply, for the reason in hub->why. */
static void fail(struct hub *hub, struct ask *ask)
{
	struct problem problem;

	problem_set(&problem, "%.400s", hub->why.text);
	finish(hub, ask, NULL, &problem);
}

static bool is_same(const struct ask *one, const struct ask *other)
{
	return one->kind == other->kind && one->kind != ASK_BREAK &&
	       one->text_size == other->text_size &&
	       memcmp(one->text, other->text, one->text_size) == 0;
}

/* Takes a question that may be sent now, together with those that ask the same. A question that
 * only reads waits while another of its kind is pending. */
static struct ask *take_ask(struct hub *hub)
{
	struct ask *ask;

	pthread_mutex_lock(&hub->mutex);
	TAILQ_FOREACH (ask, &hub->asks, entry) {
		if (ask->kind == ASK_BREAK || !hub->asking[ask->kind])
			break;
	}
	if (ask != NULL)
		TAILQ_REMOVE(&hub->asks, ask, entry);
	struct ask *other = ask != NULL ? TAILQ_FIRST(&hub->asks) : NULL;
	for (struct ask *next; other != NULL; other = next) {
		next = TAILQ_NEXT(other, entry);
		if (!is_same(ask, other))
			continue;
		TAILQ_REMOVE(&hub->asks, other, entry);
		other->same = ask->same;
		ask->same = other;
	}
	pthread_mutex_unlock(&hub->mutex);
	return ask;
}

/* Fails the questions that were not sent yet. */
static void fail_unsent(struct hub *hub)
{
	for (struct ask *ask; (ask = take_ask(hub)) != NULL;)
		fail(hub, ask);
}

static void set_up(struct hub *hub, bool up)
{
	pthread_mutex_lock(&hub->mutex);
	hub->up = up;
	pthread_mutex_unlock(&hub->mutex);
}

static void publish_json(struct hub *hub, enum feed_kind kind, const char *name, json_t *json)
{
	char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	memory_must(text != NULL);
	feed_publish(hub->feed, kind, name, text);
	free(text);
	json_decref(json);
}

static void tell_gone(struct hub *hub)
{
	json_t *why = figures_text(hub->why.text, strlen(hub->why.text));

	publish_json(hub, FEED_STATE, "gone",
	             json_pack("{s:I, s:o}", "at_ms", (json_int_t)now_ms(), "why", why));
}

/* Ends the subscription. Changes that viewers were not told of yet are lost, and the pace is
 * reset. */
static void unsubscribe(struct hub *hub)
{
	exchange_close(&hub->events);
	changes_clear(&hub->changes);
	hub->pace = (struct pace){0};
}

/* The node is gone: everything that it was asked fails, and viewers are told. */
static void lose_node(struct hub *hub)
{
	bool was_up = hub_has_node(hub);

	exchange_close(&hub->node);
	unsubscribe(hub);
	json_decref(hub->info);
	hub->info = NULL;
	hub->asks_status = false;
	memset(hub->asking, 0, sizeof(hub->asking));
	set_up(hub, false);
	while (hub->pending_count > 0) {
		struct ask *ask = hub->pending[hub->pending_first].ask;
		hub->pending_first = (hub->pending_first + 1) % PENDING_MAX;
		hub->pending_count--;
		if (ask != NULL)
			fail(hub, ask);
	}
	/* Tell viewers only the first reason, which is the true one: later attempts find a node
	 * that is ending. */
	if (feed_viewers(hub->feed) > 0 && (was_up || !feed_has_state(hub->feed)))
		tell_gone(hub);
}

static void send_command(struct hub *hub, enum ask_kind kind, struct ask *ask)
{
	char number[32];
	struct word words[COMMAND_WORDS_MAX];
	size_t count = 0;

	if (kind == ASK_INFO) {
		words[count++] = WORD("INFO");
	} else if (kind == ASK_STATUS) {
		snprintf(number, sizeof(number), "%d", ask != NULL ? HUB_LOCKS_MAX : LOCKS_SHOWN);
		words[count++] = WORD("STATUS");
		words[count++] = ask != NULL ? (struct word){ask->text, ask->text_size} : WORD("*");
		words[count++] = WORD("COUNT");
		words[count++] = word_of(number);
	} else {
		snprintf(number, sizeof(number), "%llu", (unsigned long long)ask->fence);
		words[count++] = WORD("BREAK");
		words[count++] = (struct word){ask->text, ask->text_size};
		words[count++] = word_of(number);
	}
	if (ask != NULL && kind != ASK_BREAK)
		hub->asking[kind] = true;
	hub->pending[(hub->pending_first + hub->pending_count++) % PENDING_MAX] =
	        (struct pending){kind, ask, now_ms()};
	if (exchange_send(&hub->node, words, count, &hub->why) < 0)
		lose_node(hub);
}

static void ask_for_viewers(struct hub *hub)
{
	hub->status_ms = now_ms() + STATUS_MS;
	if (hub->asks_status)
		return;
	hub->asks_status = true;
	send_command(hub, ASK_INFO, NULL);
	if (is_open(&hub->node))
		send_command(hub, ASK_STATUS, NULL);
}

/* Connects to the node. The first command shows whether there is a node at the other end. */
static void dial(struct hub *hub)
{
	char *found = hub->address == NULL ? address_default() : NULL;

	memory_must(hub->address != NULL || found != NULL);
	hub->dial_ms = now_ms() + DIAL_MS;
	if (exchange_open(&hub->node, found != NULL ? found : hub->address,
	                  (struct secure_files){0}, &hub->why) == 0)
		send_command(hub, ASK_INFO, NULL);
	free(found);
}

/* --- answers --- */

/* Shortens the lists of locks and waiters that viewers get each second. Few people look at longer
 * lists, and these could overload a browser. */
static json_t *make_status(struct hub *hub, json_t *status)
{
	json_t *locks = json_object_get(status, "locks"), *lock;
	size_t i, total = json_array_size(locks);
	bool more = figures_locks_more(locks, LOCKS_SHOWN);

	json_t *waiting = figures_waiting(locks, LOCKS_SHOWN);
	json_array_foreach (locks, i, lock) {
		json_t *waiters = json_object_get(lock, "waiters");
		size_t waiters_count = json_array_size(waiters);
		if (waiters_count <= WAITERS_SHOWN)
			continue;
		json_object_set_new(lock, "waiters_total", json_integer((json_int_t)waiters_count));
		while (json_array_size(waiters) > WAITERS_SHOWN)
			json_array_remove(waiters, json_array_size(waiters) - 1);
	}
	while (json_array_size(locks) > LOCKS_SHOWN)
		json_array_remove(locks, json_array_size(locks) - 1);
	json_t *info = hub->info != NULL ? hub->info : json_object();
	hub->info = NULL;
	/* The node reports at most LOCKS_SHOWN locks of each member. If there are more, nobody
	 * knows how many. */
	json_t *sample = json_pack("{s:I, s:o, s:o, s:I, s:b}", "at_ms", (json_int_t)now_ms(),
	                           "status", status, "info", info, "locks_total", (json_int_t)total,
	                           "locks_more", more);
	json_object_update(sample, waiting);
	json_decref(waiting);
	if (hub->unheard.text[0] != '\0')
		json_object_set_new(sample, "unheard",
		                    figures_text(hub->unheard.text, strlen(hub->unheard.text)));
	else if (pace_is_busy(&hub->pace))
		json_object_set_new(sample, "unheard",
		                    json_sprintf("there are too many changes, more than %d in a "
		                                 "second",
		                                 PACE_A_SECOND));
	return sample;
}

/* Parses the reply to a question of this kind. Returns NULL and a problem if it is another
 * reply. */
static json_t *parse_reply(enum ask_kind kind, const redisReply *reply, struct problem *problem)
{
	json_t *json = NULL;
	json_error_t error;

	if (reply->type == REDIS_REPLY_ERROR)
		problem_set(problem, "the node refuses: %.400s", reply->str);
	else if (kind == ASK_BREAK && reply->type == REDIS_REPLY_INTEGER)
		json = json_integer(reply->integer);
	else if (kind == ASK_INFO && reply->type == REDIS_REPLY_STRING)
		json = figures_parse(reply->str, reply->len);
	else if (kind == ASK_STATUS && reply->type == REDIS_REPLY_STRING)
		json = json_loadb(reply->str, reply->len, 0, &error);
	if (json == NULL && reply->type != REDIS_REPLY_ERROR)
		problem_set(problem, "the program that answers is not a baton node");
	return json;
}

static void take_for_viewers(struct hub *hub, enum ask_kind kind, json_t *json,
                             const struct problem *problem)
{
	if (kind == ASK_INFO) {
		json_decref(hub->info);
		hub->info = json;
		return;
	}
	hub->asks_status = false;
	if (json_is_object(json)) {
		publish_json(hub, FEED_STATE, "status", make_status(hub, json));
		return;
	}
	json_decref(json);
	snprintf(hub->why.text, sizeof(hub->why.text), "%s", problem->text);
	tell_gone(hub);
}

static void take_reply(struct hub *hub, const redisReply *reply)
{
	struct pending pending = hub->pending[hub->pending_first];
	struct problem problem = {""};

	hub->pending_first = (hub->pending_first + 1) % PENDING_MAX;
	hub->pending_count--;
	json_t *json = parse_reply(pending.kind, reply, &problem);
	if (json != NULL || reply->type == REDIS_REPLY_ERROR)
		set_up(hub, true);
	if (pending.ask == NULL) {
		take_for_viewers(hub, pending.kind, json, &problem);
		return;
	}
	if (pending.kind != ASK_BREAK)
		hub->asking[pending.kind] = false;
	finish(hub, pending.ask, json, &problem);
}

static void read_node(struct hub *hub)
{
	redisReply *reply;
	int some;

	while (is_open(&hub->node) &&
	       (some = exchange_receive(&hub->node, 0, &reply, &hub->why)) != 0) {
		if (some > 0 && hub->pending_count > 0) {
			take_reply(hub, reply);
		} else {
			if (some > 0)
				snprintf(hub->why.text, sizeof(hub->why.text),
				         "the node has ended the connection: %.200s",
				         reply->str != NULL ? reply->str : "");
			lose_node(hub);
		}
		if (some > 0)
			freeReplyObject(reply);
	}
}

/* --- changes --- */

static const struct word all_changes[] = {{"PSUBSCRIBE", 10}, {"*", 1}};

static void subscribe(struct hub *hub)
{
	static const struct word reasons[] = {{"CLIENT", 6}, {"REASONS", 7}, {"ON", 2}};
	char *found = hub->address == NULL ? address_default() : NULL;

	memory_must(hub->address != NULL || found != NULL);
	if (exchange_open(&hub->events, found != NULL ? found : hub->address,
	                  (struct secure_files){0}, &hub->why) == 0 &&
	    (exchange_send(&hub->events, reasons, 3, &hub->why) < 0 ||
	     exchange_send(&hub->events, all_changes, 2, &hub->why) < 0))
		exchange_close(&hub->events);
	free(found);
	pace_begin(&hub->pace, now_ms());
}

/* Subscribes again if the node refused it: an operator may have allowed it since. */
static void subscribe_again(struct hub *hub)
{
	if (is_open(&hub->events) && hub->unheard.text[0] != '\0' &&
	    exchange_send(&hub->events, all_changes, 2, &hub->why) < 0)
		exchange_close(&hub->events);
}

/* Takes the answer to a subscription. */
static void take_subscribed(struct hub *hub, const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_ERROR)
		snprintf(hub->unheard.text, sizeof(hub->unheard.text), "%.200s", reply->str);
	else if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 3)
		hub->unheard.text[0] = '\0';
}

/* Takes one change. Returns true if there are too many. The caller then closes the connection: the
 * node forgets the subscription at once, and what it has already written need not be read. */
static bool take_change(struct hub *hub, const redisReply *reply)
{
	const redisReply *name = reply->element[2], *message = reply->element[3];
	int64_t now = now_ms();

	changes_add(&hub->changes, now, name->str, name->len, message->str, message->len);
	return pace_count(&hub->pace, now);
}

static void read_events(struct hub *hub)
{
	redisReply *reply;
	bool pauses = false;
	int some;

	while (!pauses && (some = exchange_receive(&hub->events, 0, &reply, &hub->why)) > 0) {
		if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 4 &&
		    reply->element[2]->type == REDIS_REPLY_STRING &&
		    reply->element[3]->type == REDIS_REPLY_STRING)
			pauses = take_change(hub, reply);
		else
			take_subscribed(hub, reply);
		freeReplyObject(reply);
	}
	if (pauses || some < 0)
		exchange_close(&hub->events);
}

static void flush_changes(struct hub *hub)
{
	json_t *bundle = changes_take(&hub->changes);

	hub->bundle_ms = now_ms() + BUNDLE_MS;
	if (bundle != NULL)
		publish_json(hub, FEED_CHANGES, "changes", bundle);
}

/* --- the loop --- */

/* Dials at once if there is no connection: a request does not wait until the hub looks for a node
 * again. */
static void send_asks(struct hub *hub)
{
	bool tried = false;

	for (struct ask *ask; (ask = take_ask(hub)) != NULL;) {
		if (!is_open(&hub->node) && !tried)
			dial(hub);
		tried = true;
		if (is_open(&hub->node)) {
			send_command(hub, ask->kind, ask);
			continue;
		}
		fail(hub, ask);
	}
}

/* Returns when the node is given up if it stays silent. Only silence counts, because a long reply,
 * or one after many others, takes its time. */
static int64_t silent_ms(const struct hub *hub)
{
	int64_t since = hub->pending[hub->pending_first].since_ms;

	if (hub->pending_count == 0)
		return INT64_MAX;
	return (since > hub->heard_ms ? since : hub->heard_ms) + ANSWER_MS + 1;
}

/* Does what is due now. */
static void look(struct hub *hub)
{
	bool viewed = feed_viewers(hub->feed) > 0;
	int64_t now = now_ms();

	if (is_open(&hub->node) && now >= silent_ms(hub)) {
		snprintf(hub->why.text, sizeof(hub->why.text), "the node does not answer");
		lose_node(hub);
		fail_unsent(hub); /* otherwise each would wait as long, for the same result */
	}
	if (!is_open(&hub->node) && now >= hub->dial_ms)
		dial(hub);
	if (viewed && !is_open(&hub->node) && !feed_has_state(hub->feed))
		tell_gone(hub);
	if (viewed && is_open(&hub->node) &&
	    (now >= hub->status_ms || !feed_has_state(hub->feed))) {
		subscribe_again(hub);
		ask_for_viewers(hub);
	}
	if (is_open(&hub->events))
		pace_look(&hub->pace, now);
	if (viewed && hub_has_node(hub) && !is_open(&hub->events) &&
	    !pace_is_paused(&hub->pace, now))
		subscribe(hub);
	if (!viewed)
		unsubscribe(hub);
	if (now >= hub->bundle_ms)
		flush_changes(hub);
	if (viewed && now >= hub->beat_ms) {
		hub->beat_ms = now + BEAT_MS;
		feed_publish(hub->feed, FEED_BEAT, NULL, ":");
	}
}

/* Returns the time until something is due, in milliseconds. */
static int time_to_wait(struct hub *hub)
{
	int64_t now = now_ms(), next = now + BEAT_MS;

	if (feed_viewers(hub->feed) > 0) {
		next = hub->beat_ms < next ? hub->beat_ms : next;
		if (is_open(&hub->node))
			next = hub->status_ms < next ? hub->status_ms : next;
		/* Wake up in time to subscribe again. */
		int64_t again =
		        pace_is_paused(&hub->pace, now) ? hub->pace.paused_till : now + DIAL_MS;
		if (is_open(&hub->node) && !is_open(&hub->events) && again < next)
			next = again;
	}
	if (!is_open(&hub->node))
		next = hub->dial_ms < next ? hub->dial_ms : next;
	if (changes_waiting(&hub->changes))
		next = hub->bundle_ms < next ? hub->bundle_ms : next;
	next = silent_ms(hub) < next ? silent_ms(hub) : next;
	return next <= now ? 0 : (int)(next - now);
}

static bool is_stopping(struct hub *hub)
{
	pthread_mutex_lock(&hub->mutex);
	bool stopping = hub->stopping;
	pthread_mutex_unlock(&hub->mutex);
	return stopping;
}

static void *run(void *context)
{
	struct hub *hub = context;

	while (!is_stopping(hub)) {
		send_asks(hub);
		look(hub);
		/* poll ignores an entry whose descriptor is negative. */
		struct pollfd items[] = {{.fd = hub->wake_fd, .events = POLLIN},
		                         {.fd = hub->node.fd, .events = POLLIN},
		                         {.fd = hub->events.fd, .events = POLLIN}};
		poll(items, 3, time_to_wait(hub));
		uint64_t count;
		if (items[0].revents != 0 && read(hub->wake_fd, &count, sizeof(count)) < 0)
			continue;
		if (items[2].revents != 0)
			read_events(hub);
		if (items[1].revents != 0) {
			hub->heard_ms = now_ms();
			read_node(hub);
		}
	}
	snprintf(hub->why.text, sizeof(hub->why.text), "baton web is ending");
	lose_node(hub);
	fail_unsent(hub);
	return NULL;
}

/* --- for others --- */

struct hub *hub_start(const char *address, struct feed *feed)
{
	struct hub *hub = calloc(1, sizeof(*hub));

	memory_must(hub != NULL);
	hub->address = address;
	hub->feed = feed;
	hub->node.fd = hub->events.fd = -1;
	TAILQ_INIT(&hub->asks);
	pthread_mutex_init(&hub->mutex, NULL);
	hub->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	hub->beat_ms = now_ms() + BEAT_MS;
	memory_must(hub->wake_fd >= 0 && pthread_create(&hub->thread, NULL, run, hub) == 0);
	return hub;
}

void hub_wake(struct hub *hub)
{
	uint64_t one = 1;
	ssize_t written = write(hub->wake_fd, &one, sizeof(one));

	(void)written; /* the write fails only if the hub is about to wake up anyway */
}

void hub_end(struct hub *hub)
{
	pthread_mutex_lock(&hub->mutex);
	hub->stopping = true;
	pthread_mutex_unlock(&hub->mutex);
	hub_wake(hub);
	pthread_join(hub->thread, NULL);
}

void hub_free(struct hub *hub)
{
	changes_clear(&hub->changes);
	close(hub->wake_fd);
	pthread_mutex_destroy(&hub->mutex);
	free(hub);
}

bool hub_ask(struct hub *hub, struct ask *ask)
{
	pthread_mutex_lock(&hub->mutex);
	bool room = hub->asks_count < HUB_ASKS_MAX && !hub->stopping;
	if (room) {
		TAILQ_INSERT_TAIL(&hub->asks, ask, entry);
		hub->asks_count++;
	}
	pthread_mutex_unlock(&hub->mutex);
	if (room)
		hub_wake(hub);
	return room;
}

bool hub_has_node(struct hub *hub)
{
	pthread_mutex_lock(&hub->mutex);
	bool up = hub->up;
	pthread_mutex_unlock(&hub->mutex);
	return up;
}
