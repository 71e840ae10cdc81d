/*
 * What operators do with the members of a cluster.
 */
#include "handle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int baton_members(struct baton *baton, char **ret_json)
{
	const struct word words[] = {WORD("MEMBER"), WORD("LIST")};
	redisReply *reply;
	int error = handle_command(baton, words, 2, true, &reply);

	if (error < 0)
		return error;
	if (reply->type != REDIS_REPLY_STRING)
		return handle_unexpected(baton, reply, "MEMBER LIST");
	char *json = strdup(reply->str);
	freeReplyObject(reply);
	if (json == NULL)
		return why_set(&baton->why, BATON_EMEMORY, "out of memory");
	*ret_json = json;
	return 0;
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
