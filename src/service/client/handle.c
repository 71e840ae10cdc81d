#include "handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int handle_check_name(struct baton *baton, const char *name)
{
	size_t size = name == NULL ? 0 : strlen(name);

	if (size >= 1 && size <= BATON_NAME_MAX)
		return 0;
	return why_set(&baton->why, BATON_ENAME, "a name or pattern has 1 to %d bytes, not %zu",
	               BATON_NAME_MAX, size);
}

/* --- the session --- */

int handle_ready(struct baton *baton)
{
	if (baton->wanted != NULL)
		return why_set(&baton->why, BATON_EBUSY,
		               "the request for '%s' must first be finished or cancelled",
		               baton->wanted->name.bytes);
	if (baton->observer != NULL)
		return why_set(&baton->why, BATON_EMODE,
		               "this handle observes an election and does nothing else");
	return 0;
}

bool handle_is_open(const struct baton *baton)
{
	return baton->session.fd >= 0 && !baton->over;
}

/* --- errors --- */

/* The first word of an error reply is the name of the error without its BATON_E, or one of Redis'
 * own. */
static int error_named(struct word word)
{
	static const struct {
		const char *name;
		int code;
	} names[] = {
#define ERROR_ENTRY(name, code, text) {&#name[sizeof("BATON_E") - 1], code},
	        BATON_ERRORS(ERROR_ENTRY)
#undef ERROR_ENTRY
	                {"NOPERM", BATON_EACCESS},
	        {"NOAUTH", BATON_EACCESS},
	        {"DENIED", BATON_EACCESS},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (word_is(word, names[i].name))
			return names[i].code;
	}
	return BATON_EREFUSED;
}

int handle_refused(struct baton *baton, const redisReply *reply)
{
	struct word word = {reply->str, strcspn(reply->str, " ")};

	return why_set(&baton->why, error_named(word), "the node at %.200s says: %.700s",
	               baton->address, reply->str);
}

int handle_unexpected(struct baton *baton, const redisReply *reply, const char *command)
{
	static const char *const kinds[] = {
	        [REDIS_REPLY_STRING] = "a string",
	        [REDIS_REPLY_ARRAY] = "an array",
	        [REDIS_REPLY_INTEGER] = "an impossible number",
	        [REDIS_REPLY_NIL] = "nil",
	        [REDIS_REPLY_STATUS] = "a status",
	        [REDIS_REPLY_ERROR] = "an error",
	};
	const char *kind = reply->type >= REDIS_REPLY_STRING && reply->type <= REDIS_REPLY_ERROR
	                           ? kinds[reply->type]
	                           : "something unknown";

	why_set(&baton->why, BATON_EPROTOCOL,
	        "the program that answers %s at %.200s is not a baton node: it sent %s", command,
	        baton->address, kind);
	freeReplyObject((void *)reply);
	return handle_fail(baton, BATON_EPROTOCOL);
}

/* --- beginning and ending a session --- */

/* Sends CLIENT GRACE, on a session on which nothing was sent yet. Returns 0 or an error. */
static int send_grace(struct baton *baton)
{
	char number[16];
	redisReply *reply;

	snprintf(number, sizeof(number), "%" PRIu32, baton->grace_ms);
	const struct word words[] = {WORD("CLIENT"), WORD("GRACE"), word_of(number)};
	int error = exchange_send(&baton->session, words, 3, &baton->why);
	if (error < 0)
		return error;
	error = exchange_receive(&baton->session, handle_patience_ms(baton), &reply, &baton->why);
	if (error <= 0)
		return error < 0 ? error : handle_silent(baton);
	error = reply->type == REDIS_REPLY_ERROR ? handle_refused(baton, reply) : 0;
	freeReplyObject(reply);
	return error;
}

struct secure_files handle_files(const struct baton *baton)
{
	return (struct secure_files){baton->tls_ca, baton->tls_certificate, baton->tls_key};
}

int handle_connect(struct baton *baton)
{
	if (baton->stale)
		handle_end(baton);
	if (handle_is_open(baton))
		return 0;
	validity_free(&baton->validity);
	exchange_close(&baton->session);
	if (!baton->address_given) {
		char *address = address_default();
		if (address == NULL)
			return why_set(&baton->why, BATON_EMEMORY, "out of memory");
		free(baton->address);
		baton->address = address;
	}
	int error =
	        exchange_open(&baton->session, baton->address, handle_files(baton), &baton->why);
	if (error < 0)
		return error;
	baton->over = baton->stale = false;
	error = watch_attach(baton);
	if (error == 0 && baton->grace_ms > 0)
		error = send_grace(baton);
	if (error < 0) {
		watch_detach(baton);
		exchange_close(&baton->session);
	}
	return error;
}

void handle_lose(struct baton *baton, struct hold *hold, struct word why)
{
	LIST_REMOVE(hold, entry);
	snprintf(hold->why, sizeof(hold->why), "%.*s", (int)why.size, why.bytes);
	if (handle_is_open(baton))
		watch_unsubscribe(baton, hold->name);
	LIST_INSERT_HEAD(&baton->lost, hold, entry);
	watch_flag(baton);
}

/* Returns why the locks are lost with the session: because the connection ended or, if the lease is
 * over, because of the lease. */
static struct word reason_of_end(const struct baton *baton)
{
	bool lapsed;

	return validity_left_ns(&baton->validity, &lapsed) == 0 && lapsed ? WORD("lease")
	                                                                  : WORD("connection");
}

void handle_end(struct baton *baton)
{
	if (!handle_is_open(baton))
		return;
	baton->over = true;
	baton->over_because =
	        !LIST_EMPTY(&baton->held) || baton->stale ? BATON_ELOST : BATON_ECONNECTION;
	shutdown(baton->session.fd, SHUT_RDWR);
	watch_detach(baton);
	if (baton->unlocks_pending > 0)
		baton->unlocks_uncertain = true;
	baton->unlocks_pending = 0;
	while (!LIST_EMPTY(&baton->held))
		handle_lose(baton, LIST_FIRST(&baton->held), reason_of_end(baton));
}

int handle_fail(struct baton *baton, int error)
{
	handle_end(baton);
	return error == BATON_ECONNECTION ? baton->over_because : error;
}

/* --- commands --- */

int64_t handle_patience_ms(const struct baton *baton)
{
	int64_t left_ms = baton->answer_by_ms - now_ms();

	return baton->answer_by_ms == 0 ? -1 : left_ms > 0 ? left_ms : 0;
}

int handle_silent(struct baton *baton)
{
	handle_end(baton);
	return why_set(&baton->why, BATON_ESILENT, "the node at %.200s does not answer",
	               baton->address);
}

int handle_send(struct baton *baton, const struct word *words, size_t words_count)
{
	if (!exchange_is_ours(&baton->session))
		return why_set(&baton->why, BATON_ECONNECTION,
		               "another process uses the TLS connection to %.200s since the fork, "
		               "so this process cannot",
		               baton->address);
	int error = exchange_send(&baton->session, words, words_count, &baton->why);

	return error == BATON_ECONNECTION ? handle_fail(baton, error) : error;
}

bool handle_has_answers(const struct baton *baton)
{
	return baton->unlocks_pending > 0 || validity_is_pending(&baton->validity);
}

int handle_take_answer(struct baton *baton, int64_t timeout_ms)
{
	redisReply *reply;
	int got = exchange_receive(&baton->session, timeout_ms, &reply, &baton->why);

	if (got <= 0)
		return got < 0 ? handle_fail(baton, got) : got;
	if (validity_take(&baton->validity, reply)) {
		freeReplyObject(reply);
		return 1;
	}
	if (baton->unlocks_pending == 0)
		return handle_unexpected(baton, reply, "LEASE");
	baton->unlocks_pending--;
	if (reply->type != REDIS_REPLY_INTEGER && reply->type != REDIS_REPLY_ERROR &&
	    reply->type != REDIS_REPLY_STATUS) /* the reply to CLIENT STAY is a status */
		return handle_unexpected(baton, reply, "UNLOCK");
	if (reply->type == REDIS_REPLY_ERROR ||
	    (reply->type == REDIS_REPLY_INTEGER && reply->integer != 1))
		baton->unlocks_lost = true;
	freeReplyObject(reply);
	return 1;
}

int handle_reply(struct baton *baton, int64_t timeout_ms, redisReply **ret_reply)
{
	while (handle_has_answers(baton)) {
		int taken = handle_take_answer(baton, timeout_ms);
		if (taken <= 0)
			return taken;
	}
	int got = exchange_receive(&baton->session, timeout_ms, ret_reply, &baton->why);
	return got < 0 ? handle_fail(baton, got) : got;
}

int handle_command(struct baton *baton, const struct word *words, size_t words_count, bool harmless,
                   redisReply **ret_reply)
{
	int error = handle_ready(baton);
	bool fresh, repeat;

	if (error < 0)
		return error;
	do {
		fresh = !handle_is_open(baton);
		error = handle_connect(baton);
		if (error < 0)
			return error;
		error = handle_send(baton, words, words_count);
		repeat = harmless || error < 0;
		if (error >= 0)
			error = handle_reply(baton, -1, ret_reply);
	} while (error == BATON_ECONNECTION && repeat && !fresh);
	if (error < 1)
		/* The reply is still to come. */
		return error == 0 ? BATON_EPENDING : error;
	if ((*ret_reply)->type == REDIS_REPLY_ERROR) {
		error = handle_refused(baton, *ret_reply);
		freeReplyObject(*ret_reply);
		return error;
	}
	return 0;
}

/* --- the handle --- */

struct baton *handle_new(const char *address)
{
	struct baton *baton = malloc(sizeof(*baton));

	if (baton == NULL)
		return NULL;
	*baton = (struct baton){
	        .address = address != NULL ? strdup(address) : address_default(),
	        .address_given = address != NULL,
	        .session.fd = -1,
	        .watch = {.epoll = -1, .flag = -1, .timer = -1, .events.fd = -1},
	};
	if (baton->address == NULL) {
		free(baton);
		return NULL;
	}
	return baton;
}

void handle_free(struct baton *baton)
{
	/* Say QUIT: the end of a TCP connection alone does not tell the node that this program has
	 * stopped using its locks. */
	if (handle_is_open(baton))
		exchange_quit(&baton->session);
	/* This shuts the connection down; closing would not end it if a forked child has it open
	 * too. */
	handle_end(baton);
	exchange_close(&baton->session);
	validity_free(&baton->validity);
	watch_free(baton);
	holds_free(&baton->held);
	holds_free(&baton->lost);
	free(baton->wanted);
	free(baton->address);
	free(baton->tls_ca);
	free(baton->tls_certificate);
	free(baton->tls_key);
	free(baton);
}
