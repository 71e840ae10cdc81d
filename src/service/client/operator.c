/*
 * The commands of operators, and a client's questions about itself.
 */
#include "handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends a command whose reply is a text. `command` is its name, for errors. */
static int ask_text(struct baton *baton, const struct word *words, size_t words_count,
                    const char *command, char **ret_text)
{
	redisReply *reply;
	int error = handle_command(baton, words, words_count, true, &reply);

	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_STRING)
		return handle_unexpected(baton, reply, command);
	char *text = strdup(reply->str);
	freeReplyObject(reply);
	if (text == NULL)
		return why_set(&baton->why, BATON_EMEMORY, "out of memory");
	*ret_text = text;
	return 0;
}

int baton_members(struct baton *baton, char **ret_json)
{
	const struct word words[] = {WORD("MEMBER"), WORD("LIST")};

	return ask_text(baton, words, 2, "MEMBER LIST", ret_json);
}

int baton_whoami(struct baton *baton, char **ret_json)
{
	const struct word words[] = {WORD("WHOAMI")};

	return ask_text(baton, words, 1, "WHOAMI", ret_json);
}

int baton_can(struct baton *baton, const char *name, char **ret_json)
{
	if (handle_check_name(baton, name) < 0)
		return BATON_ENAME;
	const struct word words[] = {WORD("CAN"), word_of(name)};
	return ask_text(baton, words, 2, "CAN", ret_json);
}

int baton_ready(struct baton *baton)
{
	const struct word words[] = {WORD("READY")};
	redisReply *reply;
	int error = handle_command(baton, words, 1, true, &reply);

	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_INTEGER || reply->integer < 0 || reply->integer > 1)
		return handle_unexpected(baton, reply, "READY");
	bool ready = reply->integer == 1;
	freeReplyObject(reply);
	return ready;
}

int baton_member(struct baton *baton, const char *act, const char *name)
{
	redisReply *reply;

	if (handle_check_name(baton, name) < 0)
		return BATON_ENAME;
	const struct word words[] = {WORD("MEMBER"), word_of(act), word_of(name)};
	int error = handle_command(baton, words, 3, true, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_STATUS)
		return handle_unexpected(baton, reply, "MEMBER");
	freeReplyObject(reply);
	return 0;
}

int baton_invite(struct baton *baton, uint64_t valid_ms, char **ret_token)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, valid_ms);
	const struct word words[] = {WORD("MEMBER"), WORD("INVITE"), WORD("FOR"), word_of(number)};
	return ask_text(baton, words, 4, "MEMBER INVITE", ret_token);
}

int baton_drain(struct baton *baton, int64_t finish_ms, uint64_t *ret_holds)
{
	char number[24];
	redisReply *reply;

	snprintf(number, sizeof(number), "%" PRId64, finish_ms);
	const struct word words[] = {WORD("DRAIN"), word_of(number)};
	int error = handle_command(baton, words, finish_ms < 0 ? 1 : 2, true, &reply);
	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_INTEGER || reply->integer < 0)
		return handle_unexpected(baton, reply, "DRAIN");
	if (ret_holds != NULL)
		*ret_holds = (uint64_t)reply->integer;
	freeReplyObject(reply);
	return 0;
}
