#include "session.h"

#include "grow.h"
#include "interest.h"
#include "live.h"
#include "memory.h"
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of a question contains the session's slot in this many bits, so that an answer finds
 * its session. */
enum { SLOT_BITS = 24 };

void sessions_init(struct sessions *sessions)
{
	sessions->slot_free = UINT32_MAX;
	TAILQ_INIT(&sessions->retired);
	sessions->release_at = NODE_NEVER;
}

void session_set_user(struct session *session, struct node_user *user)
{
	if (session->user != NULL)
		session->user->sessions--;
	session->user = user;
	if (user != NULL)
		user->sessions++;
}

static void free_memory(struct session *session)
{
	session_set_user(session, NULL);
	question_forget(&session->question);
	free(session->command_line);
	free(session->value);
	free(session);
}

void sessions_free(struct sessions *sessions)
{
	for (uint32_t i = 0; i < sessions->slots_count; i++) {
		if (sessions->slots[i].session != NULL)
			free_memory(sessions->slots[i].session);
	}
	free(sessions->slots);
	timers_free(&sessions->timers);
}

static uint32_t take_slot(struct sessions *sessions)
{
	uint32_t slot = sessions->slot_free;

	if (slot != UINT32_MAX) {
		sessions->slot_free = sessions->slots[slot].free_next;
		return slot;
	}
	slot = sessions->slots_count++;
	sessions->slots = grow(sessions->slots, &sessions->slots_size, sessions->slots_count,
	                       sizeof(*sessions->slots));
	sessions->slots[slot] = (struct session_slot){0};
	return slot;
}

struct session *session_open(struct sessions *sessions, const struct node_client *client)
{
	uint32_t slot = take_slot(sessions);
	struct session *session = calloc(1, sizeof(*session));

	memory_must(session != NULL);
	session->id = (uint64_t)++sessions->slots[slot].generation << 32 | (slot + 1);
	session->pid = client->pid;
	session->uid = client->uid;
	TAILQ_INIT(&session->subscriptions);
	session->timer = (struct timer){.deadline = NODE_NEVER, .id = session->id};
	if (client->command != NULL) {
		session->command_line = strndup(client->command, NODE_COMMAND_MAX);
		memory_must(session->command_line != NULL);
	}
	sessions->slots[slot].session = session;
	sessions->count++;
	return session;
}

void session_stay(struct session *session)
{
	char *command = session->command_line;
	char text[NODE_COMMAND_MAX + 1];

	session->lingers = true;
	snprintf(text, sizeof(text), NODE_CANNOT_STOP "%s", command != NULL ? command : "");
	session->command_line = strdup(text);
	memory_must(session->command_line != NULL);
	free(command);
}

void session_set_command(struct session *session, const char *command)
{
	bool stays =
	        session->command_line != NULL &&
	        strncmp(session->command_line, NODE_CANNOT_STOP, sizeof(NODE_CANNOT_STOP) - 1) == 0;

	free(session->command_line);
	session->command_line = strndup(command, NODE_COMMAND_MAX);
	memory_must(session->command_line != NULL);
	if (stays)
		session_stay(session);
}

void session_retire(struct sessions *sessions, struct session *session, uint64_t now)
{
	must(session->waits == NULL && TAILQ_EMPTY(&session->subscriptions));
	session->orphan = true;
	sessions->count--;
	if (TAILQ_EMPTY(&sessions->retired))
		sessions->release_at = now;
	TAILQ_INSERT_TAIL(&sessions->retired, session, queue);
}

void session_free(struct sessions *sessions, struct session *session)
{
	uint32_t number = (uint32_t)session->id - 1;
	struct session_slot *slot = &sessions->slots[number];

	must(session_any_hold(session) == NULL);
	TAILQ_REMOVE(&sessions->retired, session, queue);
	if (TAILQ_EMPTY(&sessions->retired))
		sessions->release_at = NODE_NEVER;
	slot->session = NULL;
	slot->free_next = sessions->slot_free;
	sessions->slot_free = number;
	if (sessions->answered == session)
		sessions->answered = NULL;
	free_memory(session);
}

/* --- replies --- */

void session_end_command(struct sessions *sessions, struct session *session)
{
	session->command = COMMAND_NONE;
	timer_clear(&sessions->timers, &session->timer);
	question_forget(&session->question);
}

struct record *session_reply(struct node *node, struct session *session, enum node_reply_kind kind,
                             uint64_t number)
{
	struct record *record = outbox_record(&node->outbox, NODE_REPLY);

	record->reply.session = session->id;
	record->reply.kind = kind;
	record->reply.number = number;
	if (kind == REPLY_FENCE) {
		if (session->asks_lease && session->told < node->lease.deadline)
			session->told = node->lease.deadline;
		record->reply.lapses = node->lease.lapses;
		record->reply.left = lease_left(&node->lease, node->now);
	}
	session_end_command(&node->sessions, session);
	return record;
}

struct record *session_fail(struct node *node, struct session *session, int error)
{
	struct record *record = session_reply(node, session, REPLY_ERROR, 0);

	record->reply.error = error;
	return record;
}

void session_refuse(struct node *node, struct session *session)
{
	if (session->patience == NODE_NOWAIT)
		node->figures.refused_busy++;
	else
		node->figures.refused_timeout++;
	session_reply(node, session, REPLY_NIL, 0);
}

/* --- questions --- */

/* Has this member not answered? In a view that is not active: has it not reported? */
static bool is_silent(const struct view *view, const struct question *question, uint32_t member)
{
	if (member == view->self)
		return false;
	if (!view->active)
		return !view->members[member - 1].reported;
	return question_missing(question, member);
}

struct span session_keep_silent(struct node *node, const struct question *question)
{
	struct outbox *outbox = &node->outbox;
	struct span names = outbox_keep(outbox, NULL, 0);

	for (uint32_t i = 1; i <= node->view.count; i++) {
		const char *name = node->view.members[i - 1].name;
		if (!is_silent(&node->view, question, i))
			continue;
		outbox_keep(outbox, " ", names.size != 0);
		outbox_keep(outbox, name, strlen(name));
		names.size = (uint32_t)outbox->bytes_count - names.offset;
	}
	return names;
}

void session_fail_silent(struct node *node, struct session *session)
{
	struct span names = session_keep_silent(node, &session->question);

	session_fail(node, session, BATON_ESILENT)->reply.silent = names;
}

void session_ask(struct node *node, struct session *session)
{
	uint64_t number =
	        ++node->sessions.question_serial << SLOT_BITS | ((uint32_t)session->id - 1);

	question_begin(&session->question, number, node->view.count, node->view.self);
}

struct session *session_answered(struct node *node, uint64_t number, uint32_t member, bool last)
{
	const struct sessions *sessions = &node->sessions;
	uint32_t slot = (uint32_t)(number & ((UINT64_C(1) << SLOT_BITS) - 1));
	struct session *session =
	        slot < sessions->slots_count ? sessions->slots[slot].session : NULL;

	if (number == 0 || session == NULL || session->question.number != number)
		return NULL;
	struct question *question = &session->question;
	uint64_t bit = UINT64_C(1) << member % 64;
	if (question->missing != NULL) {
		/* A member that answered "not busy" to a PROBE may correct that to "busy" later. */
		if ((question->missing[member / 64] & bit) == 0)
			return session->waits != NULL ? session : NULL;
		if (last) {
			question->missing[member / 64] &= ~bit;
			question->missing_count--;
		}
	}
	return session;
}
