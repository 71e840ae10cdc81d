#include "leader.h"

#include "control.h"
#include "memory.h"
#include "name.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

void leader_publish(struct node *node, const struct live *live, uint64_t question)
{
	control_begin(node, FRAME_PUBLISH, 0);
	control_uint(node, question);
	control_name(node, lock_name(node, live->lock));
	control_uint(node, live->fence);
	control_text(node, (struct slice){live->value, live->value_size});
	control_end(node, 0);
}

void leader_announce(struct node *node, struct session *session)
{
	const struct live *live = LIST_FIRST(&session->holds);

	session_ask(node, session);
	if (session->question.missing_count == 0)
		session_reply(node, session, REPLY_FENCE, session->question.fence);
	else
		leader_publish(node, live, session->question.number);
}

int on_publish(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);
	uint64_t fence = in_range(&in, 1, NODE_FENCE_MAX);
	struct slice value = in_text(&in, NODE_VALUE_MAX);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	/* A node's memory of leaders elsewhere is only a hint, so it may be incomplete. */
	if (node->publications.count / node->view.count < node->limits.leaders)
		publication_set(&node->publications, name, fence, frame->origin, value);
	control_answer(node, question, frame->origin, false);
	return 0;
}

void leader_ended(struct node *node, struct live *live)
{
	control_begin(node, FRAME_ENDED, 0);
	control_name(node, lock_name(node, live->lock));
	control_uint(node, live->fence);
	control_end(node, 0);
	free(live->value);
	live->value = NULL;
	session_count_leader(&node->sessions, live->holder, -1);
}

int on_ended(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct slice name = in_name(&in);
	uint64_t fence = in_uint(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	struct publication *publication = publication_find(&node->publications, name);
	if (publication != NULL && publication->fence == fence)
		publication_drop(&node->publications, publication);
	return 0;
}

/* A member's answer to "who leads?"; a fence of 0 means nobody. */
struct told {
	uint64_t fence;
	uint32_t member;
	struct slice value;
};

/* Returns the leader as this node knows it: its own client, or the one that was published last. */
static struct told find_leader(const struct node *node, struct slice name)
{
	const struct lock *lock = table_find(node, name);
	const struct live *live = lock != NULL ? lock->live : NULL;

	if (live != NULL && live->holder != NULL && live->value != NULL)
		return (struct told){live->fence, node->view.self, {live->value, live->value_size}};
	const struct publication *publication = publication_find(&node->publications, name);
	if (publication == NULL)
		return (struct told){.fence = 0};
	return (struct told){
	        publication->fence,
	        publication->member,
	        {publication->bytes + publication->name_size, publication->value_size}};
}

/* Keeps the answer with the greatest fence. */
static void collect(struct session *session, const struct told *told, uint32_t from)
{
	struct question *question = &session->question;
	struct leadership *best = told->member == from ? &question->own : &question->stored;

	if (told->fence <= best->fence)
		return;
	free(best->value);
	best->fence = told->fence;
	best->member = told->member;
	best->value_size = told->value.size;
	best->value = malloc(told->value.size + 1UL);
	memory_must(best->value != NULL);
	if (told->value.size != 0)
		memcpy(best->value, told->value.bytes, told->value.size);
}

int on_ask_leader(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	struct told told = find_leader(node, name);
	control_begin(node, FRAME_TELL_LEADER, frame->origin);
	control_uint(node, question);
	control_uint(node, told.fence);
	control_uint(node, told.member);
	control_text(node, told.value);
	control_end(node, frame->origin);
	return 0;
}

int on_tell_leader(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t number = in_uint(&in);
	struct told told = {.fence = in_range(&in, 0, NODE_FENCE_MAX)};

	told.member =
	        (uint32_t)in_range(&in, told.fence != 0, told.fence != 0 ? node->view.count : 0);
	told.value = in_text(&in, NODE_VALUE_MAX);
	if (!in_end(&in))
		return BATON_EMESSAGE;
	struct session *session = session_answered(node, number, frame->origin, true);
	if (session == NULL || session->command != COMMAND_LEADER)
		return 0;
	collect(session, &told, frame->origin);
	node->sessions.answered = session;
	return 0;
}

void leader_reply(struct node *node, struct session *session)
{
	struct question *question = &session->question;
	struct told here = find_leader(
	        node, (struct slice){(const uint8_t *)question->name, question->name_size});
	struct span of_name = {0}, of_value = {0};

	collect(session, &here, node->view.self);
	const struct leadership *best = &question->own;
	bool silent =
	        question->stored.fence != 0 && question_missing(question, question->stored.member);
	if (silent && question->stored.fence > best->fence)
		best = &question->stored;
	struct span of_silent = session_keep_silent(node, question);
	if (best->fence != 0) {
		const char *name = node->view.members[best->member - 1].name;
		of_name = outbox_keep(&node->outbox, name, strlen(name));
		of_value = outbox_keep(&node->outbox, best->value, best->value_size);
	}
	uint64_t fence = best->fence;
	struct record *record =
	        session_reply(node, session, fence == 0 ? REPLY_NIL : REPLY_LEADER, fence);
	record->reply.member = of_name;
	record->reply.value = of_value;
	record->reply.silent = of_silent;
}
