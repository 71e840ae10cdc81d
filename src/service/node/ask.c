/*
 * Questions to all members: who leads, what there is, is it busy, have you heard. A session asks at
 * most one at a time. Each has a number of its own, so that an answer to an old one is known as such;
 * in a new view it is asked again, under a new number, of the new members.
 */
#include "frame.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of a question names the session's slot, so that an answer finds it. */
enum { SLOT_BITS = 24 };

/* Bytes of the reason of a BREAK: a member's name and two numbers. */
enum { WHY_MAX = NODE_NAME_MAX + 64 };

static uint64_t next_number(struct node *node, const struct session *session)
{
	return ++node->question_serial << SLOT_BITS | ((uint32_t)session->id - 1);
}

static void forget_answers(struct question *question)
{
	free(question->own.value);
	free(question->stored.value);
	question->own = question->stored = (struct claim){.fence = 0};
	question->done = false;
	status_forget(question);
}

void ask_forget(struct session *session)
{
	struct question *question = &session->question;

	/* Most commands ask nobody. */
	if (question->number == 0)
		return;
	forget_answers(question);
	free(question->missing);
	*question = (struct question){.number = 0};
}

/* Nobody has answered yet. */
static void begin(struct node *node, struct session *session)
{
	struct question *question = &session->question;
	uint32_t count = node->view.count;

	question->number = next_number(node, session);
	question->missing_count = count == 0 ? 0 : count - 1;
	free(question->missing);
	question->missing = calloc((count + 63) / 64 + 1, sizeof(uint64_t));
	memory_must(question->missing != NULL);
	for (uint32_t i = 1; i <= count; i++) {
		if (i != node->view.self)
			question->missing[i / 64] |= UINT64_C(1) << i % 64;
	}
}

/* Who breaks a lock: its user and process, and where. */
static void describe_breaker(const struct node *node, const struct session *session,
                             char why[WHY_MAX + 1])
{
	if (session->pid == UINT32_MAX)
		snprintf(why, WHY_MAX + 1, NODE_LOST_BROKEN " at %s", node->name);
	else
		snprintf(why, WHY_MAX + 1, NODE_LOST_BROKEN " uid %u pid %u at %s", session->uid,
		         session->pid, node->name);
}

static void send_question(struct node *node, const struct session *session)
{
	const struct question *question = &session->question;
	char why[WHY_MAX + 1];

	switch (session->command) {
	case COMMAND_LEADER:
		control_begin(node, FRAME_ASK_LEADER, 0);
		put_uint(node, question->number);
		put_name(node, question->name, question->name_size);
		break;
	case COMMAND_BREAK:
		control_begin(node, FRAME_BREAK, 0);
		put_uint(node, question->number);
		put_name(node, question->name, question->name_size);
		put_uint(node, question->fence);
		describe_breaker(node, session, why);
		put_text(node, why, strlen(why));
		break;
	case COMMAND_STATUS:
		control_begin(node, FRAME_ASK_STATUS, 0);
		put_uint(node, question->number);
		put_uint(node, question->count);
		put_text(node, question->name, question->name_size);
		break;
	case COMMAND_SUBSCRIBE:
		control_begin(node, FRAME_INTEREST, 0);
		put_uint(node, question->number);
		put_byte(node, true);
		put_byte(node, question->pattern);
		put_name(node, question->name, question->name_size);
		break;
	case COMMAND_ELECT:
		leader_publish(node, session->holds, question->number);
		return;
	case COMMAND_NONE:
	case COMMAND_LOCK:
		must(false);
		return;
	}
	control_end(node, 0);
}

void ask(struct node *node, struct session *session)
{
	begin(node, session);
	if (session->question.missing_count == 0)
		ask_finish(node, session);
	else
		send_question(node, session);
}

void ask_probe(struct node *node, struct session *session)
{
	struct slice name = lock_name(node, session->waits->lock);

	if (!node->view.active || node->view.count == 1)
		return;
	begin(node, session);
	control_begin(node, FRAME_PROBE, 0);
	put_uint(node, session->question.number);
	put_name(node, name.bytes, name.size);
	control_end(node, 0);
}

/* Has this member not answered? In a view that is not active, not reported. */
static bool is_silent(const struct node *node, const struct question *question, uint32_t member)
{
	if (member == node->view.self)
		return false;
	if (!node->view.active)
		return !node->view.members[member - 1].reported;
	return question_missing(question, member);
}

struct span ask_keep_silent(struct node *node, const struct question *question)
{
	struct outbox *outbox = &node->outbox;
	struct span names = outbox_keep(outbox, NULL, 0);

	for (uint32_t i = 1; i <= node->view.count; i++) {
		const char *name = node->view.members[i - 1].name;
		if (!is_silent(node, question, i))
			continue;
		outbox_keep(outbox, " ", names.size != 0);
		outbox_keep(outbox, name, strlen(name));
		names.size = (uint32_t)outbox->bytes_count - names.offset;
	}
	return names;
}

/* A command fails because of silent members, whose names go with it. */
static void fail_silent(struct node *node, struct session *session)
{
	struct span names = ask_keep_silent(node, &session->question);

	session_fail(node, session, BATON_ESILENT);
	node->outbox.records[node->outbox.records_count - 1].c = names;
}

void ask_give_up(struct node *node, struct session *session)
{
	live_withdraw(node, session);
	fail_silent(node, session);
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
			fail_silent(node, session);
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

/* Without a view there is nobody to ask. */
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
	for (uint32_t i = 0; i < node->slots_count; i++) {
		struct session *session = node->slots[i].session;
		if (session == NULL || session->command == COMMAND_NONE || session->waits != NULL)
			continue;
		/* What members of the old view have told is of no use in this one. */
		forget_answers(&session->question);
		if (node->view.count == 0)
			give_up(node, session);
		else
			ask(node, session);
	}
}

struct session *ask_answered(struct node *node, uint64_t number, uint32_t member, bool last)
{
	uint32_t slot = (uint32_t)(number & ((UINT64_C(1) << SLOT_BITS) - 1));
	struct session *session = slot < node->slots_count ? node->slots[slot].session : NULL;

	if (number == 0 || session == NULL || session->question.number != number)
		return NULL;
	struct question *question = &session->question;
	uint64_t bit = UINT64_C(1) << member % 64;
	if (question->missing != NULL) {
		/* Whoever said that it is not busy may say later that it is. */
		if ((question->missing[member / 64] & bit) == 0)
			return session->waits != NULL ? session : NULL;
		if (last) {
			question->missing[member / 64] &= ~bit;
			question->missing_count--;
		}
	}
	return session;
}

int on_answer(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t number = in_uint(&in);
	uint64_t answer = in_range(&in, 0, 1);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	struct session *session = ask_answered(node, number, frame->origin, true);
	if (session == NULL)
		return 0;
	if (session->waits != NULL) { /* a PROBE */
		if (answer == 1) {
			live_withdraw(node, session);
			session_reply(node, session, REPLY_NIL, 0);
		}
		return 0;
	}
	if (answer == 1)
		session->question.done = true;
	if (session->question.missing_count == 0 || session->question.done)
		ask_finish(node, session);
	return 0;
}

static void send_answer(struct node *node, uint64_t question, uint32_t to, bool done)
{
	control_begin(node, FRAME_ANSWER, to);
	put_uint(node, question);
	put_uint(node, done);
	control_end(node, to);
}

void answer_heard(struct node *node, uint64_t question, uint32_t to)
{
	if (question != 0)
		send_answer(node, question, to, false);
}

void probes_forget(struct live *live)
{
	while (live->probes != NULL) {
		struct probe *next = live->probes->next;
		free(live->probes);
		live->probes = next;
	}
	live->probes_count = 0;
}

void probes_answer(struct node *node, struct live *live)
{
	for (const struct probe *probe = live->probes; probe != NULL; probe = probe->next)
		send_answer(node, probe->question, probe->origin, true);
	probes_forget(live);
}

/* Beyond a limit the other learns it later, when its second is over. */
static void remember_probe(struct live *live, uint64_t question, uint32_t origin)
{
	enum { PROBES_MAX = 64 };

	if (live->probes_count == PROBES_MAX)
		return;
	struct probe *probe = malloc(sizeof(*probe));
	memory_must(probe != NULL);
	*probe = (struct probe){live->probes, question, origin};
	live->probes = probe;
	live->probes_count++;
}

int on_probe(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	const struct lock *lock =
	        lock_find(node, name.bytes, name.size, name_hash(name.bytes, name.size));
	struct live *live = lock != NULL ? lock->live : NULL;
	bool busy = live != NULL && (live->holder != NULL || live->firm_count != 0);
	send_answer(node, question, frame->origin, busy);
	if (!busy && live != NULL && live->first != NULL)
		remember_probe(live, question, frame->origin);
	return 0;
}

/* Takes a lock from the client here that has it with this fence; false if none does. */
static bool break_here(struct node *node, struct slice name, uint64_t fence, const char *why)
{
	const struct lock *lock =
	        lock_find(node, name.bytes, name.size, name_hash(name.bytes, name.size));

	if (lock == NULL || lock->live == NULL || lock->live->holder == NULL ||
	    lock->live->fence != fence || lock->live->lost)
		return false;
	live_break(node, lock->live, why);
	return true;
}

int on_break(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);
	uint64_t fence = in_uint(&in);
	struct slice text = in_text(&in, WHY_MAX);
	char why[WHY_MAX + 1];

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (text.size != 0)
		memcpy(why, text.bytes, text.size);
	why[text.size] = '\0';
	send_answer(node, question, frame->origin, break_here(node, name, fence, why));
	return 0;
}

static void set_name(struct question *question, const char *name, size_t size)
{
	question->name_size = (uint8_t)size;
	if (size != 0)
		memcpy(question->name, name, size);
}

/* A session's question begins; silence ends it. */
static void ask_for(struct node *node, struct session *session, enum command command)
{
	session->command = command;
	timer_set(node, session, node->now + NODE_SILENCE_NS);
	ask(node, session);
	finish(node);
}

int node_leader(struct node *node, uint64_t session_id, const char *name, size_t name_size,
                uint64_t now)
{
	int error;
	struct session *session =
	        command_begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	if (node->view.count == 0)
		return BATON_ENOVIEW;
	set_name(&session->question, name, name_size);
	ask_for(node, session, COMMAND_LEADER);
	return 0;
}

int node_break(struct node *node, uint64_t session_id, const char *name, size_t name_size,
               uint64_t fence, uint64_t now)
{
	int error;
	struct session *session =
	        command_begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	if (fence == 0 || fence >= UINT64_C(1) << 53)
		return BATON_EFENCE;
	if (node->view.count == 0)
		return BATON_ENOVIEW;
	char why[WHY_MAX + 1];
	describe_breaker(node, session, why);
	if (break_here(node, (struct slice){(const uint8_t *)name, (uint32_t)name_size}, fence,
	               why)) {
		session_reply(node, session, REPLY_NUMBER, 1);
		finish(node);
		return 0;
	}
	set_name(&session->question, name, name_size);
	session->question.fence = fence;
	ask_for(node, session, COMMAND_BREAK);
	return 0;
}

int node_status(struct node *node, uint64_t session_id, const char *pattern, size_t pattern_size,
                uint32_t count, uint64_t now)
{
	enum { COUNT_DEFAULT = 1000 };
	int error;
	struct session *session = command_begin(node, session_id, now, &error);

	if (session == NULL)
		return error;
	if (pattern != NULL && !name_is_good(pattern, pattern_size))
		return BATON_ENAME;
	set_name(&session->question, pattern, pattern != NULL ? pattern_size : 0);
	session->question.count = count == 0            ? COUNT_DEFAULT
	                          : count == UINT32_MAX ? UINT32_MAX - 1
	                                                : count;
	ask_for(node, session, COMMAND_STATUS);
	return 0;
}

int node_subscribe(struct node *node, uint64_t session_id, bool pattern, const char *text,
                   size_t text_size, uint64_t now)
{
	int error;
	struct session *session =
	        command_begin_named(node, session_id, text, text_size, now, &error);
	if (session == NULL)
		return error;
	if (!interest_add(node, session, pattern,
	                  (struct slice){(const uint8_t *)text, (uint32_t)text_size}))
		return BATON_ESUBSCRIPTIONS;
	set_name(&session->question, text, text_size);
	session->question.pattern = pattern;
	ask_for(node, session, COMMAND_SUBSCRIBE);
	return 0;
}
