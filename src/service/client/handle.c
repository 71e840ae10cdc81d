/*
 * A handle: opening and closing, the session, and commands that do not wait at the node.
 */
#include "handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* How long baton_stay waits for its answer: a caller has other things to do. */
enum { STAY_MS_MAX = 200 };

/* A fence is below 2^53. */
#define FENCE_MAX ((UINT64_C(1) << 53) - 1)

struct word word_of(const char *text)
{
	return (struct word){text, strlen(text)};
}

bool word_is(struct word word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

int check_name(struct baton *baton, const char *name)
{
	size_t size = name == NULL ? 0 : strlen(name);

	if (size >= 1 && size <= BATON_NAME_MAX)
		return 0;
	return why_set(&baton->why, BATON_ENAME, "a name or pattern has 1 to %d bytes, not %zu",
	               BATON_NAME_MAX, size);
}

int check_fence(uint64_t fence)
{
	return fence >= 1 && fence <= FENCE_MAX ? 0 : BATON_EFENCE;
}

/* --- holds --- */

struct hold *hold_new(const char *name)
{
	size_t size = strlen(name);
	struct hold *hold = malloc(sizeof(*hold) + size + 1);

	if (hold == NULL)
		return NULL;
	char *copy = (char *)(hold + 1);
	memcpy(copy, name, size + 1);
	*hold = (struct hold){.name = {copy, size}};
	return hold;
}

struct hold **hold_find(struct hold **list, struct word name)
{
	for (; *list != NULL; list = &(*list)->next) {
		if ((*list)->name.size == name.size &&
		    memcmp((*list)->name.bytes, name.bytes, name.size) == 0)
			return list;
	}
	return NULL;
}

struct hold *hold_take(struct hold **place)
{
	struct hold *hold = *place;

	*place = hold->next;
	return hold;
}

void hold_lose(struct baton *baton, struct hold **place, struct word why)
{
	struct hold *hold = hold_take(place);

	snprintf(hold->why, sizeof(hold->why), "%.*s", (int)why.size, why.bytes);

	if (session_open(baton))
		watch_unsubscribe(baton, hold->name);
	hold->next = baton->lost;
	baton->lost = hold;
	watch_flag(baton);
}

static void free_holds(struct hold **list)
{
	while (*list != NULL)
		free(hold_take(list));
}

/* --- opening and closing --- */

struct baton *baton_open(const char *address)
{
	struct baton *baton = malloc(sizeof(*baton));

	if (baton == NULL)
		return NULL;
	*baton = (struct baton){
	        .address = address != NULL ? strdup(address) : address_default(),
	        .address_given = address != NULL,
	        .session.fd = -1,
	        .watch = {.epoll = -1, .flag = -1, .events.fd = -1},
	};
	if (baton->address == NULL) {
		free(baton);
		return NULL;
	}
	return baton;
}

/* Over TCP the end of a connection does not tell that this program has stopped what it did: so it says so.
 * Never waits. */
static void say_quit(struct baton *baton)
{
	static const char quit[] = "*1\r\n$4\r\nQUIT\r\n";

	if (session_open(baton))
		(void)send(baton->session.fd, quit, sizeof(quit) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void baton_close(struct baton *baton)
{
	if (baton == NULL)
		return;
	say_quit(baton);
	/* A child that was forked may have the connection too. */
	session_end(baton);
	connection_close(&baton->session);
	watch_free(baton);
	observer_free(baton);
	free_holds(&baton->held);
	free_holds(&baton->lost);
	free(baton->wanted);
	free(baton->address);
	free(baton);
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
	int ready = session_ready(baton);

	return ready < 0 ? ready : session_connect(baton);
}

int baton_fd(const struct baton *baton)
{
	return baton->session.fd >= 0 ? baton->session.fd : BATON_ECONNECTION;
}

/* --- the session --- */

int session_ready(struct baton *baton)
{
	if (baton->wanted != NULL)
		return why_set(&baton->why, BATON_EBUSY,
		               "'%s' was asked for and has not been finished or cancelled",
		               baton->wanted->name.bytes);
	if (baton->observer != NULL)
		return why_set(&baton->why, BATON_EMODE,
		               "this handle observes an election and does nothing else");
	return 0;
}

bool session_open(const struct baton *baton)
{
	return baton->session.fd >= 0 && !baton->over;
}

/* On a session that nothing has been said on yet. 0 or an error. */
static int send_grace(struct baton *baton)
{
	char number[16];
	redisReply *reply;

	snprintf(number, sizeof(number), "%" PRIu32, baton->grace_ms);
	const struct word words[] = {WORD("CLIENT"), WORD("GRACE"), word_of(number)};
	int error = connection_send(&baton->session, words, 3, &baton->why);
	if (error == 0)
		error = connection_receive(&baton->session, -1, &reply, &baton->why);
	if (error < 0)
		return error;
	error = reply->type == REDIS_REPLY_ERROR ? refused(baton, reply) : 0;
	freeReplyObject(reply);
	return error;
}

int session_connect(struct baton *baton)
{
	if (session_open(baton))
		return 0;
	connection_close(&baton->session);
	if (!baton->address_given) {
		char *address = address_default();
		if (address == NULL)
			return why_set(&baton->why, BATON_EMEMORY, "out of memory");
		free(baton->address);
		baton->address = address;
	}
	int error = connection_open(&baton->session, baton->address, &baton->why);
	if (error < 0)
		return error;
	baton->over = false;
	error = watch_attach(baton);
	if (error == 0 && baton->grace_ms > 0)
		error = send_grace(baton);
	if (error < 0) {
		watch_detach(baton);
		connection_close(&baton->session);
	}
	return error;
}

void session_end(struct baton *baton)
{
	if (!session_open(baton))
		return;
	baton->over = true;
	baton->over_because = baton->held != NULL ? BATON_ELOST : BATON_ECONNECTION;
	shutdown(baton->session.fd, SHUT_RDWR);
	watch_detach(baton);
	if (baton->unlocks_pending > 0)
		baton->unlocks_uncertain = true;
	baton->unlocks_pending = 0;
	while (baton->held != NULL)
		hold_lose(baton, &baton->held, WORD("connection"));
}

int session_fail(struct baton *baton, int error)
{
	session_end(baton);
	return error == BATON_ECONNECTION ? baton->over_because : error;
}

int session_send(struct baton *baton, const struct word *words, size_t words_count)
{
	int error = connection_send(&baton->session, words, words_count, &baton->why);

	return error == BATON_ECONNECTION ? session_fail(baton, error) : error;
}

int session_take_unlock(struct baton *baton, int64_t timeout_ms)
{
	redisReply *reply;
	int got = connection_receive(&baton->session, timeout_ms, &reply, &baton->why);

	if (got <= 0)
		return got < 0 ? session_fail(baton, got) : got;
	baton->unlocks_pending--;
	if (reply->type != REDIS_REPLY_INTEGER && reply->type != REDIS_REPLY_ERROR &&
	    reply->type != REDIS_REPLY_STATUS) /* the last is to CLIENT STAY */
		return unexpected(baton, reply, "UNLOCK");
	if (reply->type == REDIS_REPLY_ERROR ||
	    (reply->type == REDIS_REPLY_INTEGER && reply->integer != 1))
		baton->unlocks_lost = true;
	freeReplyObject(reply);
	return 1;
}

int session_reply(struct baton *baton, int64_t timeout_ms, redisReply **ret_reply)
{
	while (baton->unlocks_pending > 0) {
		int taken = session_take_unlock(baton, timeout_ms);
		if (taken <= 0)
			return taken;
	}
	int got = connection_receive(&baton->session, timeout_ms, ret_reply, &baton->why);
	return got < 0 ? session_fail(baton, got) : got;
}

int baton_sync(struct baton *baton)
{
	int ready = session_ready(baton);

	if (ready < 0)
		return ready;
	while (session_open(baton) && baton->unlocks_pending > 0) {
		int taken = session_take_unlock(baton, -1);
		if (taken < 0 && taken != BATON_ECONNECTION && taken != BATON_ELOST)
			return taken;
	}
	bool lost = baton->unlocks_lost, uncertain = baton->unlocks_uncertain;
	baton->unlocks_lost = baton->unlocks_uncertain = false;
	if (lost)
		return why_set(&baton->why, BATON_ELOST,
		               "a lock had been lost before it was given back");
	if (uncertain)
		return why_set(&baton->why, BATON_ECONNECTION,
		               "the connection ended before the node had answered all unlocks");
	return 0;
}

int session_command(struct baton *baton, const struct word *words, size_t words_count,
                    bool harmless, redisReply **ret_reply)
{
	int error = session_ready(baton);
	bool fresh, repeat;

	if (error < 0)
		return error;
	do {
		fresh = !session_open(baton);
		error = session_connect(baton);
		if (error < 0)
			return error;
		error = session_send(baton, words, words_count);
		repeat = harmless || error < 0;
		if (error >= 0)
			error = session_reply(baton, -1, ret_reply);
	} while (error == BATON_ECONNECTION && repeat && !fresh);
	if (error < 1)
		return error == 0 ? BATON_EPENDING : error; /* never 0: it waits */
	if ((*ret_reply)->type == REDIS_REPLY_ERROR) {
		error = refused(baton, *ret_reply);
		freeReplyObject(*ret_reply);
		return error;
	}
	return 0;
}

/* The first word of an error reply is the name of the error without its BATON_E, or one of Redis's
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
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (word_is(word, names[i].name))
			return names[i].code;
	}
	return BATON_EREFUSED;
}

int refused(struct baton *baton, const redisReply *reply)
{
	struct word word = {reply->str, strcspn(reply->str, " ")};

	return why_set(&baton->why, error_named(word), "the node at %.200s says: %.200s",
	               baton->address, reply->str);
}

int unexpected(struct baton *baton, const redisReply *reply, const char *command)
{
	static const char *const kinds[] = {
	        [REDIS_REPLY_STRING] = "a string",
	        [REDIS_REPLY_ARRAY] = "an array",
	        [REDIS_REPLY_INTEGER] = "a number that cannot be",
	        [REDIS_REPLY_NIL] = "nil",
	        [REDIS_REPLY_STATUS] = "a status",
	        [REDIS_REPLY_ERROR] = "an error",
	};
	const char *kind = reply->type >= REDIS_REPLY_STRING && reply->type <= REDIS_REPLY_ERROR
	                           ? kinds[reply->type]
	                           : "something unknown";

	why_set(&baton->why, BATON_EPROTOCOL, "what answers %s at %.200s is no node: it sent %s",
	        command, baton->address, kind);
	freeReplyObject((void *)reply);
	return session_fail(baton, BATON_EPROTOCOL);
}

/* --- who is there --- */

/* The value of a key in what HELLO says, or NULL. */
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
	int error = session_command(baton, words, 2, true, &reply);

	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_ARRAY)
		return unexpected(baton, reply, "HELLO");
	const redisReply *name = hello_value(reply, "node");
	const redisReply *lease = hello_value(reply, "lease_ms");
	if (name == NULL || name->type != REDIS_REPLY_STRING || name->len > BATON_NAME_MAX ||
	    lease == NULL || lease->type != REDIS_REPLY_INTEGER || lease->integer < 0)
		return unexpected(baton, reply, "HELLO");
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
	int error = session_command(baton, words, 3, true, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_STATUS)
		return unexpected(baton, reply, "CLIENT GRACE");
	freeReplyObject(reply);
	baton->grace_ms = grace_ms;
	return 0;
}

int baton_stay(struct baton *baton)
{
	const struct word words[] = {WORD("CLIENT"), WORD("STAY")};
	redisReply *reply;
	int error = session_ready(baton);

	if (error < 0)
		return error;
	if (!session_open(baton))
		return why_set(&baton->why, BATON_ECONNECTION,
		               "the connection to the node has ended: it keeps nothing");
	error = session_send(baton, words, 2);
	if (error < 0)
		return error;
	error = session_reply(baton, STAY_MS_MAX, &reply);
	if (error == 0) {
		baton->unlocks_pending++; /* its reply comes as theirs do */
		return why_set(&baton->why, BATON_EPENDING,
		               "the node at %.200s has not answered within %d ms", baton->address,
		               STAY_MS_MAX);
	}
	if (error < 0)
		return error;
	if (reply->type == REDIS_REPLY_ERROR) {
		error = refused(baton, reply);
		freeReplyObject(reply);
		return error;
	}
	if (reply->type != REDIS_REPLY_STATUS)
		return unexpected(baton, reply, "CLIENT STAY");
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
		int wrong = pattern != NULL ? check_name(baton, pattern) : 0;
		if (wrong < 0)
			return wrong;
		words[words_count++] = word_of(pattern != NULL ? pattern : "*");
	}
	if (count != 0) {
		snprintf(number, sizeof(number), "%" PRIu32, count);
		words[words_count++] = WORD("COUNT");
		words[words_count++] = word_of(number);
	}
	int error = session_command(baton, words, words_count, true, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_STRING)
		return unexpected(baton, reply, "STATUS");
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

	if (check_name(baton, name) < 0)
		return BATON_ENAME;
	if (check_fence(fence) < 0)
		return why_set(&baton->why, BATON_EFENCE,
		               "a fence is a whole number from 1 to 2^53 - 1, not %" PRIu64, fence);
	snprintf(number, sizeof(number), "%" PRIu64, fence);
	const struct word words[] = {WORD("BREAK"), word_of(name), word_of(number)};
	int error = session_command(baton, words, 3, false, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_INTEGER)
		return unexpected(baton, reply, "BREAK");
	bool done = reply->integer == 1;
	freeReplyObject(reply);
	return done ? 0
	            : why_set(&baton->why, BATON_ENOTHELD,
	                      "nobody holds '%s' with the fence %" PRIu64, name, fence);
}
