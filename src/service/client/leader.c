#include "leader.h"

#include "handle.h"

#include <string.h>

void leader_copy(struct baton_leader *to, uint64_t fence, struct word node, struct word value)
{
	to->fence = fence;
	to->silent = 0;
	to->value_size = value.size;
	memcpy(to->node, node.bytes, node.size);
	to->node[node.size] = '\0';
	memcpy(to->value, value.bytes, value.size);
	to->value[value.size] = '\0';
}

void leader_words(struct word name, struct word words[LEADER_WORDS])
{
	words[0] = WORD("LEADER");
	words[1] = name;
	words[2] = WORD("SILENT");
}

/* Reads the names of silent members. Returns false if this is no such list. */
static bool parse_silent(const redisReply *list, struct finding *finding)
{
	size_t size = 0;

	if (list->type != REDIS_REPLY_ARRAY)
		return false;
	for (size_t i = 0; i < list->elements; i++) {
		const redisReply *name = list->element[i];
		if (name->type != REDIS_REPLY_STRING || name->len < 1 || name->len > BATON_NAME_MAX)
			return false;
		if (finding->kind == FOUND_LEADER && strcmp(name->str, finding->leader.node) == 0)
			finding->leader.silent = 1;
		if (size + 1 + name->len >= sizeof(finding->silent))
			continue;
		if (size > 0)
			finding->silent[size++] = ' ';
		memcpy(finding->silent + size, name->str, name->len);
		size += name->len;
	}
	finding->silent[size] = '\0';
	if (finding->kind == FOUND_NOBODY && list->elements > 0)
		finding->kind = FOUND_UNKNOWN;
	return true;
}

/* Reads [fence, node, value, [names]]; the first three may be nil. */
int leader_parse(const redisReply *reply, struct finding *ret_finding)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 4)
		return -1;
	const redisReply *fence = reply->element[0], *node = reply->element[1],
	                 *value = reply->element[2];
	ret_finding->kind = FOUND_NOBODY;
	if (fence->type != REDIS_REPLY_NIL) {
		if (fence->type != REDIS_REPLY_INTEGER || fence->integer < 1 ||
		    fence_verify((uint64_t)fence->integer) < 0 ||
		    node->type != REDIS_REPLY_STRING || node->len < 1 ||
		    node->len > BATON_NAME_MAX || value->type != REDIS_REPLY_STRING ||
		    value->len > BATON_VALUE_MAX)
			return -1;
		ret_finding->kind = FOUND_LEADER;
		leader_copy(&ret_finding->leader, (uint64_t)fence->integer,
		            (struct word){node->str, node->len},
		            (struct word){value->str, value->len});
	}
	return parse_silent(reply->element[3], ret_finding) ? 0 : -1;
}

int baton_leader(struct baton *baton, const char *name, struct baton_leader *ret_leader)
{
	struct word words[LEADER_WORDS];
	struct finding finding;
	redisReply *reply;

	if (handle_check_name(baton, name) < 0)
		return BATON_ENAME;
	leader_words(word_of(name), words);
	int error = handle_command(baton, words, LEADER_WORDS, true, &reply);
	if (error < 0)
		return error;
	if (leader_parse(reply, &finding) < 0)
		return handle_unexpected(baton, reply, "LEADER");
	freeReplyObject(reply);
	if (finding.kind == FOUND_UNKNOWN)
		return why_set(&baton->why, BATON_ESILENT,
		               "it cannot be known who leads '%s': no answer from %.200s", name,
		               finding.silent);
	if (finding.kind == FOUND_NOBODY)
		return 0;
	if (ret_leader != NULL)
		*ret_leader = finding.leader;
	return 1;
}
