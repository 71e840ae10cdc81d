/*
 * Uses baton through hiredis, as a program in C would: hiredis SOCKET SOCKET. Prints what was wrong
 * and exits 1, or exits 0.
 */
#include <hiredis/hiredis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(what)                                                                               \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "hiredis.c:%d: not so: %s\n", __LINE__, #what);            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static redisContext *connect_to(const char *path)
{
	redisContext *connection = redisConnectUnix(path);

	EXPECT(connection != NULL && connection->err == 0);
	return connection;
}

static redisReply *next(redisContext *connection)
{
	void *reply = NULL;

	EXPECT(redisGetReply(connection, &reply) == REDIS_OK);
	return reply;
}

static void ask(redisContext *connection, const char *command)
{
	EXPECT(redisAppendCommand(connection, command) == REDIS_OK);
}

static long long number(redisReply *reply)
{
	EXPECT(reply->type == REDIS_REPLY_INTEGER);
	long long found = reply->integer;
	freeReplyObject(reply);
	return found;
}

static void expect_nil(redisReply *reply)
{
	EXPECT(reply->type == REDIS_REPLY_NIL);
	freeReplyObject(reply);
}

static void expect_error(redisReply *reply, const char *begin)
{
	EXPECT(reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, begin, strlen(begin)) == 0);
	freeReplyObject(reply);
}

/* Expects [message, name, text]. */
static void expect_event(redisReply *reply, const char *name, const char *format, long long fence)
{
	char text[64];

	snprintf(text, sizeof(text), "%s %lld n1", format, fence);
	EXPECT(reply->type == REDIS_REPLY_ARRAY && reply->elements == 3);
	EXPECT(strcmp(reply->element[0]->str, "message") == 0);
	EXPECT(strcmp(reply->element[1]->str, name) == 0);
	EXPECT(strcmp(reply->element[2]->str, text) == 0);
	freeReplyObject(reply);
}

static void try_locks(redisContext *here, redisContext *there, redisContext *listener)
{
	ask(listener, "SUBSCRIBE hiredis");
	freeReplyObject(next(listener));
	ask(here, "LOCK hiredis");
	long long fence = number(next(here));
	EXPECT(fence > 0);
	ask(there, "LOCK hiredis NOWAIT");
	expect_nil(next(there));
	ask(there, "LOCK hiredis TIMEOUT 10");
	expect_nil(next(there));
	ask(here, "LOCK hiredis");
	expect_error(next(here), "HELD ");
	/* The reply to LOCK comes when it is granted, and the other replies after it. */
	ask(there, "LOCK hiredis");
	ask(there, "UNLOCK hiredis");
	ask(there, "PING behind");
	ask(here, "UNLOCK hiredis");
	EXPECT(number(next(here)) == 1);
	EXPECT(number(next(there)) == fence + 1);
	EXPECT(number(next(there)) == 1);
	redisReply *pong = next(there);
	EXPECT(pong->type == REDIS_REPLY_STRING && strcmp(pong->str, "behind") == 0);
	freeReplyObject(pong);
	expect_event(next(listener), "hiredis", "granted", fence);
	expect_event(next(listener), "hiredis", "released", fence);
}

static void try_elections(redisContext *here, redisContext *there)
{
	const char *words[] = {"ELECT", "boss", "a\0b"};
	const size_t sizes[] = {5, 4, 3};

	long long fence = number(redisCommandArgv(here, 3, words, sizes));
	redisReply *leader = redisCommand(there, "LEADER %s", "boss");
	EXPECT(leader->type == REDIS_REPLY_ARRAY && leader->elements == 3);
	EXPECT(leader->element[0]->integer == fence);
	EXPECT(strcmp(leader->element[1]->str, "n1") == 0);
	EXPECT(leader->element[2]->len == 3 && memcmp(leader->element[2]->str, "a\0b", 3) == 0);
	freeReplyObject(leader);
	EXPECT(number(redisCommand(here, "RESIGN %s %lld", "boss", fence)) == 1);
	expect_nil(redisCommand(there, "LEADER boss"));
	redisReply *status = redisCommand(here, "STATUS");
	EXPECT(status->type == REDIS_REPLY_STRING && status->str[0] == '{');
	freeReplyObject(status);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 3);
	redisContext *here = connect_to(argv[1]), *there = connect_to(argv[2]);
	redisContext *listener = connect_to(argv[2]);

	try_locks(here, there, listener);
	try_elections(here, there);
	redisFree(here);
	redisFree(there);
	redisFree(listener);
	return 0;
}
