/*
 * Locks: asking and waiting for them, or asking now and finishing later.
 */
#include "handle.h"
#include "leases.h"
#include "losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How many replies to unlocks may be unread. With more, the node would stop reading from us. */
enum { UNLOCKS_PENDING_MAX = 64 };

/* If a node has not answered this long after the timeout, it is stopped or hangs. */
enum { ANSWER_MS = 5000 };

/* The first and the longest pause between attempts while there is no node, or none in a view. */
enum { RETRY_MS = 100, RETRY_MS_MAX = 800 };

/* A LOCK, or an ELECT with a value. */
struct lock_request {
	bool elect;
	int64_t timeout_ms;
	struct word value;
};

static void forget_wanted(struct baton *baton)
{
	if (baton->wanted == NULL)
		return;
	if (handle_is_open(baton))
		watch_unsubscribe(baton, baton->wanted->name);
	free(baton->wanted);
	baton->wanted = NULL;
}

/* Makes this the wanted lock. Returns 0 or an error. */
static int want(struct baton *baton, const char *name, const struct lock_request *request)
{
	int error = handle_ready(baton);

	if (error == 0)
		error = handle_check_name(baton, name);
	if (error < 0)
		return error;
	if (request->value.size > BATON_VALUE_MAX)
		return why_set(&baton->why, BATON_EVALUE, "a value has at most %d bytes, not %zu",
		               BATON_VALUE_MAX, request->value.size);
	if (hold_find(&baton->held, word_of(name)) != NULL)
		return why_set(&baton->why, BATON_EHELD, "this handle holds '%s' already", name);
	baton->wanted = hold_new(name);
	if (baton->wanted == NULL)
		return why_set(&baton->why, BATON_EMEMORY, "out of memory");
	baton->wanted_timeout_ms = request->timeout_ms;
	return 0;
}

/* Sends the command. Returns 0 or an error. */
static int ask(struct baton *baton, const struct lock_request *request)
{
	char number[24];
	struct word words[COMMAND_WORDS_MAX] = {request->elect ? WORD("ELECT") : WORD("LOCK"),
	                                        baton->wanted->name};
	size_t words_count = 2;

	int error = handle_connect(baton);
	if (error == 0)
		error = losses_subscribe(baton, baton->wanted->name);
	if (error == 0)
		error = leases_begin(baton);
	if (error < 0)
		return error;
	if (request->elect)
		words[words_count++] = request->value;
	if (request->timeout_ms == BATON_TRY) {
		words[words_count++] = WORD("NOWAIT");
	} else if (request->timeout_ms > 0) {
		snprintf(number, sizeof(number), "%" PRId64, request->timeout_ms);
		words[words_count++] = WORD("TIMEOUT");
		words[words_count++] = word_of(number);
	}
	baton->wanted_ns = validity_now();
	return handle_send(baton, words, words_count);
}

static int lost_at_once(struct baton *baton, const struct hold *hold)
{
	return why_set(&baton->why, BATON_ELOST, "'%s' was lost as soon as it was held",
	               hold->name.bytes);
}

/* Notes that the wanted lock is held from now on. */
static int acquired(struct baton *baton, const struct lock_grant *grant, uint64_t *ret_fence)
{
	struct hold *hold = baton->wanted;

	/* The rules have changed between the two commands. Nobody would tell us of a loss. */
	if (baton->watch.refused)
		return handle_fail(baton, why_set(&baton->why, BATON_ECONNECTION,
		                                  "the node's rules for '%s' have changed",
		                                  hold->name.bytes));
	int error = leases_granted(baton, grant, baton->wanted_ns);

	if (error < 0)
		return error;
	/* This process may have been suspended since the grant, and the lock may have been taken
	 * away. */
	losses_read(baton);
	if (!handle_is_open(baton) || baton->stale)
		return lost_at_once(baton, hold);
	struct hold *before = hold_find(&baton->lost, hold->name);

	/* A program that asks for the lock again knows of its earlier loss, which need not be
	 * reported any more. */
	if (before != NULL) {
		hold_drop(before);
		watch_flag(baton);
	}
	baton->wanted = NULL;
	hold->fence = grant->fence;
	LIST_INSERT_HEAD(&baton->held, hold, entry);
	if (baton->watch.gone_fence >= grant->fence) {
		const char *why = baton->watch.gone_why;
		handle_lose(baton, hold, (struct word){why, strlen(why)});
	} else {
		leases_look(baton); /* also sets the timer */
	}
	if (LIST_EMPTY(&baton->held) || LIST_FIRST(&baton->held) != hold)
		return lost_at_once(baton, hold);
	if (ret_fence != NULL)
		*ret_fence = grant->fence;
	return 0;
}

static int not_acquired(struct baton *baton)
{
	const char *name = baton->wanted->name.bytes;

	if (baton->wanted_timeout_ms == BATON_TRY)
		return why_set(&baton->why, BATON_ENOTFREE, "'%s' is not free", name);
	return why_set(&baton->why, BATON_ETIMEOUT, "'%s' was not free within %" PRId64 " ms", name,
	               baton->wanted_timeout_ms);
}

/* The reply is -SILENT and the names of members that did not answer. Without names, all have
 * answered, but the lock did not come. */
static int cannot_know(struct baton *baton, const redisReply *reply)
{
	const char *name = baton->wanted->name.bytes, *names = strchr(reply->str, ' ');

	if (names == NULL)
		return why_set(&baton->why, BATON_ESILENT,
		               "it cannot be known whether '%s' is free: no member says that it is "
		               "taken, but it was not granted",
		               name);
	return why_set(&baton->why, BATON_ESILENT,
	               "it cannot be known whether '%s' is free: no answer from%.200s", name,
	               names);
}

/* Reads the outcome of the request for baton->wanted, which stays set after an error (after
 * BATON_ELOST not always). */
static int settle(struct baton *baton, bool wait, uint64_t *ret_fence)
{
	redisReply *reply;
	int error = handle_reply(baton, wait ? handle_patience_ms(baton) : 0, &reply);

	if (error == 0 && wait)
		return handle_silent(baton);
	if (error == 0)
		return why_set(&baton->why, BATON_EPENDING,
		               "the request for '%s' is not answered yet",
		               baton->wanted->name.bytes);
	if (error < 0)
		return error;
	struct lock_grant grant;
	if (grant_parse(reply, &grant)) {
		freeReplyObject(reply);
		return acquired(baton, &grant, ret_fence);
	}
	if (reply->type == REDIS_REPLY_NIL)
		error = not_acquired(baton);
	else if (reply->type == REDIS_REPLY_ERROR)
		error = strncmp(reply->str, "SILENT", 6) == 0 ? cannot_know(baton, reply)
		                                              : handle_refused(baton, reply);
	else
		return handle_unexpected(baton, reply, "LOCK");
	freeReplyObject(reply);
	return error;
}

/* Can a wait go on after this error, because there may be a node in a view again later? */
static bool may_pass(int error)
{
	return error == BATON_ECONNECTION || error == BATON_ENODE || error == BATON_ENOVIEW;
}

/* Should the call try again? If so, pauses first. There is no pause if the session that ended was
 * an old one. If the wait has no limit, the pauses become longer. */
static bool waits_on(const struct lock_request *request, int error, bool met, bool fresh,
                     int64_t until_ms, long *pause_ms)
{
	const struct timespec pause = {.tv_sec = *pause_ms / 1000,
	                               .tv_nsec = *pause_ms % 1000 * 1000000L};

	if (error == BATON_ECONNECTION && !fresh)
		return true;
	if (!may_pass(error) || request->timeout_ms == BATON_TRY)
		return false;
	if (request->timeout_ms > 0 ? now_ms() + RETRY_MS >= until_ms : !met)
		return false;
	nanosleep(&pause, NULL);
	if (request->timeout_ms < 0 && *pause_ms < RETRY_MS_MAX)
		*pause_ms *= 2;
	return true;
}

/* Waits for the lock. If the session has ended, or ends now, while nothing is held, the wait begins
 * again on a new session: a request or grant on the old session ended with it. */
static int acquire(struct baton *baton, const char *name, struct lock_request request,
                   uint64_t *ret_fence)
{
	int64_t until_ms = request.timeout_ms > 0 ? now_ms() + request.timeout_ms : 0;
	int error = want(baton, name, &request);
	long pause_ms = RETRY_MS;
	bool fresh, met = false;

	if (error < 0)
		return error;
	do {
		if (request.timeout_ms > 0) {
			int64_t left_ms = until_ms - now_ms();
			request.timeout_ms = left_ms > 0 ? left_ms : 1;
		}
		/* Giving up ends the session, so do not give up if that would lose another lock. */
		if (request.timeout_ms >= 0 && LIST_EMPTY(&baton->held))
			baton->answer_by_ms = now_ms() + request.timeout_ms + ANSWER_MS;
		fresh = !handle_is_open(baton);
		error = ask(baton, &request);
		if (error == 0) {
			pause_ms = RETRY_MS;
			error = settle(baton, true, ret_fence);
			/* If the connection ended only now, there was a node in a view, which had
			 * accepted the request. */
			met = met || error == BATON_ECONNECTION;
		}
		baton->answer_by_ms = 0;
	} while (error < 0 && waits_on(&request, error, met, fresh, until_ms, &pause_ms));
	if (error < 0)
		forget_wanted(baton);
	return error;
}

int baton_lock(struct baton *baton, const char *name, int64_t timeout_ms, uint64_t *ret_fence)
{
	return acquire(baton, name, (struct lock_request){.timeout_ms = timeout_clamp(timeout_ms)},
	               ret_fence);
}

int baton_trylock(struct baton *baton, const char *name, uint64_t *ret_fence)
{
	return baton_lock(baton, name, BATON_TRY, ret_fence);
}

static int start(struct baton *baton, const char *name, const struct lock_request *request)
{
	int error = want(baton, name, request);
	bool fresh;

	if (error < 0)
		return error;
	baton->answer_by_ms = now_ms() + CONNECT_MS_MAX;
	do {
		fresh = !handle_is_open(baton);
		error = ask(baton, request);
	} while (error == BATON_ECONNECTION && !fresh);
	baton->answer_by_ms = 0;
	if (error < 0)
		forget_wanted(baton);
	return error;
}

int baton_lock_start(struct baton *baton, const char *name, int64_t timeout_ms)
{
	return start(baton, name, &(struct lock_request){.timeout_ms = timeout_clamp(timeout_ms)});
}

static struct lock_request election(const void *value, size_t value_size, int64_t timeout_ms)
{
	return (struct lock_request){.elect = true,
	                             .timeout_ms = timeout_clamp(timeout_ms),
	                             .value = {value_size > 0 ? value : "", value_size}};
}

int baton_elect(struct baton *baton, const char *name, const void *value, size_t value_size,
                uint64_t *ret_fence)
{
	return acquire(baton, name, election(value, value_size, BATON_FOREVER), ret_fence);
}

int baton_elect_within(struct baton *baton, const char *name, const void *value, size_t value_size,
                       int64_t timeout_ms, uint64_t *ret_fence)
{
	return acquire(baton, name, election(value, value_size, timeout_ms), ret_fence);
}

int baton_elect_start(struct baton *baton, const char *name, const void *value, size_t value_size)
{
	const struct lock_request request = election(value, value_size, BATON_FOREVER);

	return start(baton, name, &request);
}

int baton_finish(struct baton *baton, uint64_t *ret_fence)
{
	if (baton->wanted == NULL)
		return why_set(&baton->why, BATON_ENOTHELD, "no lock was started");
	/* An earlier call, such as baton_lost or baton_fence, has noticed that the session has
	 * ended. */
	if (baton->over || baton->stale) {
		handle_end(baton);
		forget_wanted(baton);
		return why_set(&baton->why, baton->over_because,
		               "the connection to the node has ended");
	}
	baton->answer_by_ms = now_ms() + CONNECT_MS_MAX;
	int error = settle(baton, false, ret_fence);
	baton->answer_by_ms = 0;
	if (error < 0 && error != BATON_EPENDING)
		forget_wanted(baton);
	return error;
}

int baton_cancel(struct baton *baton)
{
	if (baton->wanted == NULL)
		return 0;
	if (!LIST_EMPTY(&baton->held))
		return why_set(&baton->why, BATON_EHELD,
		               "withdrawing '%s' would end the session, which holds '%s'",
		               baton->wanted->name.bytes, LIST_FIRST(&baton->held)->name.bytes);
	handle_end(baton);
	exchange_close(&baton->session);
	forget_wanted(baton);
	return 0;
}

int baton_unlock(struct baton *baton, const char *name)
{
	char number[24];
	int error = handle_ready(baton);

	if (error == 0)
		error = handle_check_name(baton, name);
	if (error < 0)
		return error;
	leases_over(baton);
	/* Reading may find that the session has ended. Then the lock is among the lost ones. */
	for (int taken = 1; taken > 0 && baton->unlocks_pending >= UNLOCKS_PENDING_MAX;)
		taken = handle_take_answer(baton, -1);
	struct hold *hold = hold_find(&baton->held, word_of(name));
	if (hold == NULL) {
		hold = hold_find(&baton->lost, word_of(name));
		if (hold == NULL)
			return why_set(&baton->why, BATON_ENOTHELD,
			               "this handle does not hold '%s'", name);
		memcpy(baton->lost_why, hold->why, sizeof(baton->lost_why));
		baton->lost_told_ms = hold->told_ms;
		hold_drop(hold);
		watch_flag(baton);
		return why_set(&baton->why, BATON_ELOST, "'%s' was lost before it was released",
		               name);
	}
	/* If the session ends now, this lock must not be among the lost ones. */
	LIST_REMOVE(hold, entry);
	if (!exchange_is_ours(&baton->session)) {
		/* The node learns of the release only by the end of the connection. It then keeps
		 * the lock until the last lease that it reported has ended. */
		free(hold);
		handle_end(baton);
		baton->unlocks_uncertain = true;
		return 0;
	}
	snprintf(number, sizeof(number), "%" PRIu64, hold->fence);
	const struct word words[] = {WORD("UNLOCK"), hold->name, word_of(number)};
	error = handle_send(baton, words, 3);
	if (error == BATON_EMEMORY) { /* nothing was sent */
		LIST_INSERT_HEAD(&baton->held, hold, entry);
		return error;
	}
	if (error == 0) {
		baton->unlocks_pending++;
		watch_unsubscribe(baton, hold->name);
	}
	free(hold);
	if (error == 0)
		return 0;
	snprintf(baton->lost_why, sizeof(baton->lost_why), "connection");
	baton->lost_told_ms = 0;
	return BATON_ELOST;
}

int baton_resign(struct baton *baton, const char *name)
{
	return baton_unlock(baton, name);
}

int baton_fence(struct baton *baton, const char *name, uint64_t *ret_fence)
{
	int error = handle_check_name(baton, name);

	if (error < 0)
		return error;
	losses_read(baton);
	const struct hold *hold = hold_find(&baton->held, word_of(name));
	if (hold != NULL) {
		if (ret_fence != NULL)
			*ret_fence = hold->fence;
		return 0;
	}
	if (hold_find(&baton->lost, word_of(name)) != NULL)
		return why_set(&baton->why, BATON_ELOST, "'%s' was lost", name);
	return why_set(&baton->why, BATON_ENOTHELD, "this handle does not hold '%s'", name);
}

int64_t baton_left(const struct baton *baton)
{
	bool lapsed;

	if (LIST_EMPTY(&baton->held))
		return LIST_EMPTY(&baton->lost) ? BATON_ENOTHELD : BATON_ELOST;
	uint64_t left_ns = validity_left_ns(&baton->validity, &lapsed);
	if (lapsed)
		return BATON_ELOST;
	return left_ns == VALIDITY_FOREVER ? BATON_UNENDING : (int64_t)(left_ns / VALIDITY_MS);
}

int baton_lost(struct baton *baton, char *ret_name, uint64_t *ret_fence)
{
	losses_read(baton);
	struct hold *hold = LIST_FIRST(&baton->lost);
	if (hold == NULL)
		return 0;
	if (ret_name != NULL)
		memcpy(ret_name, hold->name.bytes, hold->name.size + 1);
	if (ret_fence != NULL)
		*ret_fence = hold->fence;
	memcpy(baton->lost_why, hold->why, sizeof(baton->lost_why));
	baton->lost_told_ms = hold->told_ms;
	hold_drop(hold);
	watch_flag(baton);
	return 1;
}

int64_t baton_lost_ago(const struct baton *baton)
{
	const struct validity *validity = &baton->validity;

	if (baton->lost_told_ms == 0 || validity->source != VALIDITY_WORD)
		return 0;
	uint64_t now_ms = (validity_now() + validity->ahead_ns) / VALIDITY_MS;
	return now_ms > baton->lost_told_ms ? (int64_t)(now_ms - baton->lost_told_ms) : 0;
}

enum baton_reason baton_lost_reason(const struct baton *baton, const char **ret_text)
{
	static const struct {
		const char *word;
		enum baton_reason reason;
	} words[] = {{"broken", BATON_LOST_BROKEN},
	             {"leaving", BATON_LOST_LEAVING},
	             {"connection", BATON_LOST_CONNECTION},
	             {"view", BATON_LOST_LEASE},
	             {"lease", BATON_LOST_LEASE}};
	size_t size = strcspn(baton->lost_why, " ");

	if (ret_text != NULL)
		*ret_text = baton->lost_why;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (word_is((struct word){baton->lost_why, size}, words[i].word))
			return words[i].reason;
	}
	return 0;
}
