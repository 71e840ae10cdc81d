#include "leases.h"

#include "watch.h"

#include <string.h>
#include <unistd.h>

enum { WORD_TRIES = 3 };

/* If an answer came within this time, the clocks are compared well enough. */
static const uint64_t short_ns = 5 * VALIDITY_MS;
/* Two readings of one clock, on different processors, may be in the wrong order by this much. */
static const uint64_t apart_ns = 2 * VALIDITY_MS;

/* --- the beginning of a session --- */

/* Does the error only say that the node does not know this command, or cannot pass the lease word
 * on this connection? */
static bool is_unknown(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR && (strncmp(reply->str, "ERR CLIENT", 10) == 0 ||
	                                            strncmp(reply->str, "ERR the lease", 13) == 0);
}

/* Asks the node to tell with each grant what is left of the lease; `word` says whether it should
 * also pass the lease word. Returns 1 and the time on the node's clock; 0 if the node cannot do it;
 * or an error. */
static int ask_for_leases(struct baton *baton, struct word word, uint64_t *ret_clock_ns)
{
	const struct word words[] = {WORD("CLIENT"), WORD("LEASES"), word};
	redisReply *reply;
	int got = handle_send(baton, words, 3);

	if (got < 0)
		return got;
	got = handle_reply(baton, handle_patience_ms(baton), &reply);
	if (got <= 0)
		return got < 0 ? got : handle_silent(baton);
	if (reply->type == REDIS_REPLY_ERROR) {
		got = is_unknown(reply) ? 0 : handle_refused(baton, reply);
		freeReplyObject(reply);
		return got;
	}
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
	    reply->element[0]->type != REDIS_REPLY_INTEGER ||
	    reply->element[1]->type != REDIS_REPLY_INTEGER || reply->element[1]->integer < 0)
		return handle_unexpected(baton, reply, "CLIENT LEASES");
	*ret_clock_ns = (uint64_t)reply->element[0]->integer;
	baton->validity.lease_ns = (uint64_t)reply->element[1]->integer * VALIDITY_MS;
	freeReplyObject(reply);
	return 1;
}

/* Gets the lease word. Returns 1, and by how much the node's clock can be ahead of ours; 0 if the
 * word cannot be used; or an error. */
static int get_word(struct baton *baton, uint64_t *ret_ahead_ns)
{
	uint64_t clock_ns = 0, before_ns = validity_now();
	int got = ask_for_leases(baton, WORD("WORD"), &clock_ns);
	uint64_t after_ns = validity_now();
	int fd = exchange_take_fd(&baton->session);

	/* If the clocks differ, this process is in another time namespace than the node. */
	if (got == 1 && (clock_ns + apart_ns < before_ns || clock_ns > after_ns + apart_ns))
		got = 0;
	if (got == 1 && baton->validity.word == NULL && !validity_map(&baton->validity, fd))
		got = 0;
	if (fd >= 0)
		close(fd);
	if (got == 1)
		*ret_ahead_ns = clock_ns > before_ns ? clock_ns - before_ns : 0;
	return got;
}

/*
 * The node's clock can be ahead of ours by at most the time that its answer took. That much is
 * subtracted from every deadline. If the answer took long, because the machine is busy, another try
 * may be better. Returns the same as get_word.
 */
static int begin_with_word(struct baton *baton)
{
	struct validity *validity = &baton->validity;

	validity->ahead_ns = VALIDITY_FOREVER;
	for (int i = 0; i < WORD_TRIES && validity->ahead_ns > short_ns; i++) {
		uint64_t ahead_ns = 0;
		int got = get_word(baton, &ahead_ns);
		if (got <= 0)
			return got;
		if (ahead_ns < validity->ahead_ns)
			validity->ahead_ns = ahead_ns;
	}
	validity->source = VALIDITY_WORD;
	return 1;
}

static int send_question(struct baton *baton)
{
	const struct word words[] = {WORD("LEASE")};
	uint64_t asked_ns = validity_now();
	int error = handle_send(baton, words, 1);

	if (error < 0)
		return error;
	baton->validity.answers->asked_ns = asked_ns;
	baton->validity.answers->pending = true;
	return 0;
}

/* Asks LEASE and waits for the answer. */
static int ask_and_wait(struct baton *baton)
{
	int error = validity_is_pending(&baton->validity) ? 0 : send_question(baton);

	while (error == 0 && validity_is_pending(&baton->validity)) {
		int taken = handle_take_answer(baton, handle_patience_ms(baton));
		if (taken <= 0)
			error = taken < 0 ? taken : handle_silent(baton);
	}
	return error;
}

int leases_begin(struct baton *baton)
{
	struct validity *validity = &baton->validity;
	uint64_t clock_ns;

	if (validity->source != VALIDITY_NONE)
		return 0;
	int got = exchange_is_local(&baton->session) ? begin_with_word(baton) : 0;
	if (got != 0)
		return got < 0 ? got : 0;
	got = ask_for_leases(baton, WORD("ON"), &clock_ns);
	if (got == 0)
		validity->source = VALIDITY_UNTOLD;
	if (got <= 0)
		return got;
	if (!validity_expect(validity))
		return why_set(&baton->why, BATON_EMEMORY, "out of memory");
	validity->source = VALIDITY_ASKED;
	return ask_and_wait(baton);
}

/* --- while locks are held --- */

static void lose_all(struct baton *baton)
{
	while (!LIST_EMPTY(&baton->held))
		handle_lose(baton, LIST_FIRST(&baton->held), WORD("lease"));
	baton->stale = true;
}

/* Returns how long before the end of the lease a program that watches is told, so that it can stop:
 * its grace and a margin. */
static uint64_t ahead_of_end(const struct baton *baton)
{
	if (baton->watch.epoll < 0 || baton->grace_ms == 0)
		return 0;
	return baton->grace_ms * VALIDITY_MS + baton->validity.lease_ns / 10;
}

/* Asks LEASE if it is time to, but not while the program waits for a lock: answers come in the
 * order of the commands, so this one would come too late. */
static void ask_again(struct baton *baton)
{
	const struct validity_answers *answers = baton->validity.answers;

	if (baton->wanted != NULL || !exchange_is_ours(&baton->session))
		return;
	while (answers->pending && handle_take_answer(baton, 0) > 0)
		;
	if (handle_is_open(baton) && !answers->pending && answers->ask_ns <= validity_now())
		(void)send_question(baton); /* if that fails, the session has ended */
}

/* Returns how long to sleep. The kernel's timers use a clock that may be slewed and so run slower,
 * so a long time is slept in several steps. */
static uint64_t time_to_sleep(const struct baton *baton, uint64_t left_ns)
{
	const struct validity *validity = &baton->validity;
	const uint64_t soon_ns = 20 * VALIDITY_MS;
	uint64_t sleep_ns = left_ns > soon_ns ? left_ns / 10 * 9 : left_ns + 1;

	if (validity->source != VALIDITY_ASKED)
		return sleep_ns;
	uint64_t now_ns = validity_now(), ask_ns = validity->answers->ask_ns;
	uint64_t ask_in_ns = ask_ns > now_ns ? ask_ns - now_ns : VALIDITY_MS;
	if (validity->answers->pending || baton->wanted != NULL)
		ask_in_ns = validity->lease_ns / 30;
	return ask_in_ns < sleep_ns ? ask_in_ns : sleep_ns;
}

/* Treats the locks as lost if at most `ahead_ns` is left of the lease. Exception: a program that
 * neither watches nor has the lease word may only have asked too late. It cannot know whether the
 * lease has ended, so it loses nothing yet. */
static bool is_over(struct baton *baton, uint64_t ahead_ns, uint64_t *ret_left_ns)
{
	const struct validity *validity = &baton->validity;
	bool lapsed, sure = baton->watch.epoll >= 0 || validity->source == VALIDITY_WORD;

	*ret_left_ns = validity_left_ns(validity, &lapsed);
	if (!lapsed && (*ret_left_ns > ahead_ns || !sure))
		return false;
	lose_all(baton);
	return true;
}

bool leases_over(struct baton *baton)
{
	uint64_t left_ns;

	return handle_is_open(baton) && !LIST_EMPTY(&baton->held) && is_over(baton, 0, &left_ns);
}

void leases_look(struct baton *baton)
{
	uint64_t left_ns = VALIDITY_FOREVER, ahead_ns = ahead_of_end(baton);

	if (!LIST_EMPTY(&baton->held) && baton->validity.source == VALIDITY_ASKED)
		ask_again(baton); /* this may find that the session has ended */
	if (LIST_EMPTY(&baton->held) || is_over(baton, ahead_ns, &left_ns) ||
	    left_ns == VALIDITY_FOREVER)
		watch_set_timer(baton, 0);
	else
		watch_set_timer(baton,
		                time_to_sleep(baton, left_ns > ahead_ns ? left_ns - ahead_ns : 0));
}

int leases_granted(struct baton *baton, const struct lock_grant *grant, uint64_t asked_ns)
{
	struct validity *validity = &baton->validity;
	int error = 0;

	if (validity->source == VALIDITY_ASKED) {
		validity_note(validity, asked_ns, grant->lapses, grant->left_ms);
		/* What is left of the lease counts from the request. If that was long ago, little
		 * may be left by now: ask again. */
		if (validity_now() - asked_ns > validity->lease_ns / 6)
			error = ask_and_wait(baton);
	}
	if (error < 0)
		return error;
	/* The node has lapsed since earlier grants: those locks are lost. */
	if (grant->lapses != validity->lapses && !LIST_EMPTY(&baton->held))
		lose_all(baton);
	validity->lapses = grant->lapses;
	return 0;
}
