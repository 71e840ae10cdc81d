#include "ask.h"

#include "control.h"
#include "hold.h"
#include "leader.h"
#include "name.h"
#include "status.h"
#include "tame.h"
#include "wait.h"
#include "whole.h"

#include <stdio.h>
#include <string.h>

void ask_describe_breaker(const struct node *node, const struct session *session,
                          char why[ASK_WHY_MAX + 1])
{
	if (session->pid == UINT32_MAX)
		snprintf(why, ASK_WHY_MAX + 1, NODE_LOST_BROKEN " at %s", node->name);
	else
		snprintf(why, ASK_WHY_MAX + 1, NODE_LOST_BROKEN " uid %u pid %u at %s",
		         session->uid, session->pid, node->name);
}

static void send_question(struct node *node, const struct session *session)
{
	const struct question *question = &session->question;
	struct slice name = {(const uint8_t *)question->name, question->name_size};
	char why[ASK_WHY_MAX + 1];

	switch (session->command) {
	case COMMAND_LEADER:
		control_begin(node, FRAME_ASK_LEADER, 0);
		control_uint(node, question->number);
		control_name(node, name);
		break;
	case COMMAND_BREAK:
		control_begin(node, FRAME_BREAK, 0);
		control_uint(node, question->number);
		control_name(node, name);
		control_uint(node, question->fence);
		ask_describe_breaker(node, session, why);
		control_text(node, (struct slice){(const uint8_t *)why, (uint32_t)strlen(why)});
		break;
	case COMMAND_STATUS:
		control_begin(node, FRAME_ASK_STATUS, 0);
		control_uint(node, question->number);
		control_uint(node, question->count);
		control_text(node, name);
		control_bytes(node, question->sights, question->sights_size);
		break;
	case COMMAND_SUBSCRIBE:
		control_begin(node, FRAME_INTEREST, 0);
		control_uint(node, question->number);
		control_byte(node, true);
		control_byte(node, question->pattern);
		control_name(node, name);
		break;
	case COMMAND_ELECT:
	case COMMAND_NONE:
	case COMMAND_LOCK:
		must(false);
		return;
	}
	control_end(node, 0);
}

void ask_all(struct node *node, struct session *session)
{
	if (session->command == COMMAND_ELECT) {
		leader_announce(node, session);
		return;
	}
	session_ask(node, session);
	if (session->question.missing_count == 0)
		ask_finish(node, session);
	else
		send_question(node, session);
}

void ask_finish(struct node *node, struct session *session)
{
	switch (session->command) {
	case COMMAND_LEADER:
		leader_reply(node, session);
		break;
	case COMMAND_BREAK:
		if (session->question.done || session->question.missing_count == 0)
			session_reply(node, session, REPLY_NUMBER, session->question.done);
		else
			session_fail_silent(node, session);
		break;
	case COMMAND_STATUS:
		status_reply(node, session);
		break;
	case COMMAND_SUBSCRIBE:
		session_reply(node, session, REPLY_NUMBER, session->subscriptions_count);
		break;
	case COMMAND_ELECT:
		session_reply(node, session, REPLY_FENCE, session->question.fence);
		break;
	case COMMAND_NONE:
	case COMMAND_LOCK:
		must(false);
	}
}

/* Ends the session's question, because without a view there is nobody to ask. */
static void give_up(struct node *node, struct session *session)
{
	session->question.missing_count = 0;
	if (session->command == COMMAND_LEADER || session->command == COMMAND_BREAK)
		session_fail(node, session, BATON_ENOVIEW);
	else
		ask_finish(node, session);
}

void ask_again(struct node *node)
{
	for (uint32_t i = 0; i < node->sessions.slots_count; i++) {
		struct session *session = node->sessions.slots[i].session;
		if (session == NULL || session->command == COMMAND_NONE || session->waits != NULL)
			continue;
		/* The question is asked again: answers from the old view do not count. */
		question_drop_answers(&session->question);
		if (node->view.count == 0) {
			give_up(node, session);
			continue;
		}
		/* A STATUS whose time was over, and whose locks were being looked at, has time
		 * again. */
		if (session->command == COMMAND_STATUS && session->timer.deadline == NODE_NEVER)
			timer_set(&node->sessions.timers, &session->timer,
			          node->now + NODE_SILENCE_NS);
		ask_all(node, session);
	}
}

void ask_settle(struct node *node)
{
	struct session *session = node->sessions.answered;

	if (session == NULL)
		return;
	node->sessions.answered = NULL;
	if (session->question.missing_count == 0 || session->question.done)
		ask_finish(node, session);
}

int on_answer(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t number = in_uint(&in);
	uint64_t answer = in_range(&in, 0, 1);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	struct session *session = session_answered(node, number, frame->origin, true);
	if (session == NULL)
		return 0;
	if (session->waits != NULL) { /* the question was a PROBE */
		if (answer == 1) {
			wait_withdraw(node, session);
			session_refuse(node, session);
		}
		return 0;
	}
	if (answer == 1)
		session->question.done = true;
	node->sessions.answered = session;
	return 0;
}

int on_probe(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	const struct lock *lock = table_find(node, name);
	struct live *live = lock != NULL ? lock->live : NULL;
	bool busy = live != NULL && (live->holder != NULL || live->firm_count != 0);
	control_answer(node, question, frame->origin, busy);
	if (!busy && live != NULL && !TAILQ_EMPTY(&live->queue))
		live_add_probe(live, question, frame->origin);
	return 0;
}

bool ask_break_here(struct node *node, struct slice name, uint64_t fence, const char *why)
{
	const struct lock *lock = table_find(node, name);

	if (lock == NULL || lock->live == NULL || lock->live->holder == NULL ||
	    lock->live->fence != fence || lock->live->lost)
		return false;
	hold_break(node, lock->live, why);
	return true;
}

int on_break(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);
	uint64_t fence = in_uint(&in);
	struct slice text = in_text(&in, ASK_WHY_MAX);
	char why[ASK_WHY_MAX + 1];

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	if (text.size != 0)
		memcpy(why, text.bytes, text.size);
	why[text.size] = '\0';
	tame_text(why, text.size);
	control_answer(node, question, frame->origin, ask_break_here(node, name, fence, why));
	return 0;
}
