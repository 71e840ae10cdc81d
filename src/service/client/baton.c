/*
 * The functions of a handle, except locks (lock.c), losses (losses.c) and elections (leader.c,
 * observe.c).
 */
#include "handle.h"
#include "observe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long baton_stay waits for its answer. It is short, because the caller has other things to
 * do. */
enum { STAY_MS_MAX = 200 };

struct baton *baton_open(const char *address)
{
	return handle_new(address);
}

void baton_close(struct baton *baton)
{
	if (baton == NULL)
		return;
	observer_free(baton);
	handle_free(baton);
}

int baton_tls(struct baton *baton, const char *ca, const char *certificate, const char *key)
{
	struct secure_files files = {ca, certificate, key};
	int error = handle_ready(baton);

	if (error == 0 && (ca == NULL || certificate == NULL || key == NULL))
		error = why_set(&baton->why, BATON_ECERTIFICATE,
		                "TLS needs three files: a CA, a certificate and its key");
	if (error == 0)
		error = secure_files_check(&files, &baton->why);
	if (error < 0)
		return error;
	char *copies[] = {strdup(ca), strdup(certificate), strdup(key)};
	char **places[] = {&baton->tls_ca, &baton->tls_certificate, &baton->tls_key};
	bool all = copies[0] != NULL && copies[1] != NULL && copies[2] != NULL;
	for (int i = 0; i < 3; i++) {
		free(all ? *places[i] : copies[i]);
		if (all)
			*places[i] = copies[i];
	}
	return all ? 0 : why_set(&baton->why, BATON_EMEMORY, "out of memory");
}

const char *baton_address(const struct baton *baton)
{
	return baton->address;
}

const char *baton_message(const struct baton *baton)
{
	return baton->why.text;
}

int baton_connect(struct baton *baton)
{
	int ready = handle_ready(baton);

	return ready < 0 ? ready : handle_connect(baton);
}

int baton_fd(const struct baton *baton)
{
	return baton->session.fd >= 0 ? baton->session.fd : BATON_ECONNECTION;
}

int baton_sync(struct baton *baton)
{
	return baton_sync_within(baton, BATON_FOREVER);
}

int baton_sync_within(struct baton *baton, int64_t timeout_ms)
{
	int ready = handle_ready(baton);
	int64_t until_ms = now_ms() + timeout_clamp(timeout_ms);

	if (ready < 0)
		return ready;
	while (handle_is_open(baton) && handle_has_answers(baton)) {
		int64_t left_ms = until_ms - now_ms();
		int taken = handle_take_answer(baton, timeout_ms < 0 ? BATON_FOREVER
		                                                     : (left_ms > 0 ? left_ms : 0));
		if (taken < 0 && taken != BATON_ECONNECTION && taken != BATON_ELOST)
			return taken;
		if (taken == 0)
			return why_set(&baton->why, BATON_EPENDING,
			               "the node at %.200s has not answered yet", baton->address);
	}
	bool lost = baton->unlocks_lost, uncertain = baton->unlocks_uncertain;
	baton->unlocks_lost = baton->unlocks_uncertain = false;
	if (lost)
		return why_set(&baton->why, BATON_ELOST,
		               "a lock had been lost before it was released");
	if (uncertain)
		return why_set(&baton->why, BATON_ECONNECTION,
		               "the connection ended before the node had answered all unlocks");
	return 0;
}

/* --- the node --- */

/* Returns the value of a key in the reply to HELLO, or NULL. */
static const redisReply *hello_value(const redisReply *reply, const char *key)
{
	for (size_t i = 0; i + 1 < reply->elements; i += 2) {
		const redisReply *name = reply->element[i];
		if (name->type == REDIS_REPLY_STRING && strcmp(name->str, key) == 0)
			return reply->element[i + 1];
	}
	return NULL;
}

int baton_node(struct baton *baton, char *ret_name, uint64_t *ret_lease_ms)
{
	const struct word words[] = {WORD("HELLO"), WORD("2")};
	redisReply *reply;
	int error = handle_command(baton, words, 2, true, &reply);

	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_ARRAY)
		return handle_unexpected(baton, reply, "HELLO");
	const redisReply *name = hello_value(reply, "node");
	const redisReply *lease = hello_value(reply, "lease_ms");
	if (name == NULL || name->type != REDIS_REPLY_STRING || name->len > BATON_NAME_MAX ||
	    lease == NULL || lease->type != REDIS_REPLY_INTEGER || lease->integer < 0)
		return handle_unexpected(baton, reply, "HELLO");
	if (ret_name != NULL)
		memcpy(ret_name, name->str, name->len + 1);
	if (ret_lease_ms != NULL)
		*ret_lease_ms = (uint64_t)lease->integer;
	freeReplyObject(reply);
	return 0;
}

int baton_grace(struct baton *baton, uint32_t grace_ms)
{
	char number[16];
	redisReply *reply;

	snprintf(number, sizeof(number), "%" PRIu32, grace_ms);
	const struct word words[] = {WORD("CLIENT"), WORD("GRACE"), word_of(number)};
	int error = handle_command(baton, words, 3, true, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_STATUS)
		return handle_unexpected(baton, reply, "CLIENT GRACE");
	freeReplyObject(reply);
	baton->grace_ms = grace_ms;
	return 0;
}

int baton_stay(struct baton *baton)
{
	const struct word words[] = {WORD("CLIENT"), WORD("STAY")};
	redisReply *reply;
	int error = handle_ready(baton);

	if (error < 0)
		return error;
	if (!handle_is_open(baton))
		return why_set(&baton->why, BATON_ECONNECTION,
		               "the connection to the node has ended, so no lock is kept");
	error = handle_send(baton, words, 2);
	if (error < 0)
		return error;
	error = handle_reply(baton, STAY_MS_MAX, &reply);
	if (error == 0) {
		/* The reply to CLIENT STAY is read later, together with those to UNLOCKs. */
		baton->unlocks_pending++;
		return why_set(&baton->why, BATON_EPENDING,
		               "the node at %.200s has not answered within %d ms", baton->address,
		               STAY_MS_MAX);
	}
	if (error < 0)
		return error;
	if (reply->type == REDIS_REPLY_ERROR) {
		error = handle_refused(baton, reply);
		freeReplyObject(reply);
		return error;
	}
	if (reply->type != REDIS_REPLY_STATUS)
		return handle_unexpected(baton, reply, "CLIENT STAY");
	freeReplyObject(reply);
	return 0;
}

/* --- for operators --- */

int baton_status(struct baton *baton, const char *pattern, uint32_t count, char **ret_json)
{
	char number[16];
	struct word words[4] = {WORD("STATUS")};
	size_t words_count = 1;
	redisReply *reply;

	if (pattern != NULL || count != 0) {
		int wrong = pattern != NULL ? handle_check_name(baton, pattern) : 0;
		if (wrong < 0)
			return wrong;
		words[words_count++] = word_of(pattern != NULL ? pattern : "*");
	}
	if (count != 0) {
		snprintf(number, sizeof(number), "%" PRIu32, count);
		words[words_count++] = WORD("COUNT");
		words[words_count++] = word_of(number);
	}
	int error = handle_command(baton, words, words_count, true, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_STRING)
		return handle_unexpected(baton, reply, "STATUS");
	char *json = strdup(reply->str);
	freeReplyObject(reply);
	if (json == NULL)
		return why_set(&baton->why, BATON_EMEMORY, "out of memory");
	if (ret_json != NULL)
		*ret_json = json;
	else
		free(json);
	return 0;
}

int baton_break(struct baton *baton, const char *name, uint64_t fence)
{
	char number[24];
	redisReply *reply;

	if (handle_check_name(baton, name) < 0)
		return BATON_ENAME;
	if (fence_verify(fence) < 0)
		return why_set(&baton->why, BATON_EFENCE,
		               "a fence is a whole number from 1 to 2^53 - 1, not %" PRIu64, fence);
	snprintf(number, sizeof(number), "%" PRIu64, fence);
	const struct word words[] = {WORD("BREAK"), word_of(name), word_of(number)};
	int error = handle_command(baton, words, 3, false, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_INTEGER)
		return handle_unexpected(baton, reply, "BREAK");
	bool done = reply->integer == 1;
	freeReplyObject(reply);
	return done ? 0
	            : why_set(&baton->why, BATON_ENOTHELD,
	                      "nobody holds '%s' with the fence %" PRIu64, name, fence);
}
