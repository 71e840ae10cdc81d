#include "status.h"

#include "control.h"
#include "glob.h"
#include "name.h"
#include "sights.h"
#include "status_merge.h"
#include "status_order.h"
#include "step.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

enum {
	PART_SIZE = 1 << 16,
	ANSWERS_SIZE_MAX = 1 << 28, /* the most bytes that are kept of answers to one question */
};

/* --- answering other members --- */

static void put_figures(struct node *node)
{
	const struct node_figures *figures = &node->figures;

	bool leased = node->lease.ttl != 0;

	control_byte(node, (uint8_t)((node->view.active ? FIGURES_ACTIVE : 0) |
	                             (leased ? FIGURES_LEASED : 0)));
	if (leased)
		control_uint(node, lease_left(&node->lease, node->now) / 1000000);
	control_uint(node, figures->grants);
	control_uint(node, figures->received);
	control_uint(node, figures->control_sent);
	control_uint(node, node->algorithm->messages_count);
	for (size_t i = 0; i < node->algorithm->messages_count; i++)
		control_uint(node, figures->sent_by_type[i]);
	for (uint32_t i = 0; i < PACES_COUNT; i++)
		control_uint(node, node->paces[i].steps);
}

static uint8_t *encode_uint(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

static uint8_t *encode_bytes(uint8_t *to, const void *bytes, size_t size)
{
	memcpy(to, bytes, size);
	return to + size;
}

/* Returns when a client will be let in. `before` is how many others are before it in this node's
 * queue. */
static enum row_kind waiting_kind(const struct node *node, const struct live *live, uint32_t before)
{
	bool inside = live->lock->phase == PHASE_INSIDE && !live->carried;

	if (inside && lease_may_grant(&node->lease, node->now) &&
	    (uint64_t)before + live->turns < node->turns)
		return ROW_WAITS_NOW;
	return !inside && before < node->turns ? ROW_WAITS_NEXT : ROW_WAITS_LATER;
}

/* Assembles a row in a local buffer and copies it in one piece. That is fast, and there may be a
 * hundred thousand rows. */
static void put_row(struct node *node, const struct live *live, const struct session *session,
                    enum row_kind kind)
{
	uint8_t row[2 + NODE_NAME_MAX + 5 * 10 + NODE_COMMAND_MAX], *to = row;
	struct slice name = lock_name(node, live->lock);
	const char *command = session->command_line != NULL ? session->command_line : "";
	size_t command_size = strlen(command);
	bool holds = kind >= ROW_HOLDS;
	uint64_t since = holds ? live->since : session->since;

	*to++ = (uint8_t)kind;
	*to++ = (uint8_t)name.size;
	to = encode_bytes(to, name.bytes, name.size);
	to = encode_uint(to, holds ? live->fence : 0);
	to = encode_uint(to, session->pid);
	to = encode_uint(to, session->uid);
	to = encode_uint(to, (node->now - since) / 1000000);
	to = encode_uint(to, command_size);
	to = encode_bytes(to, command, command_size);
	outbox_keep(&node->outbox, row, (size_t)(to - row));
}

/* A position in the rows of this node. */
struct cursor {
	const struct live *live;
	/* The waiter of the next row; NULL: no row of this lock was written yet. */
	const struct session *session;
	uint32_t locks;   /* how many locks were written */
	uint32_t waiters; /* how many waiters of this lock were written */
	uint32_t rows;    /* how many rows were written in all */
};

static void next_lock(struct cursor *cursor)
{
	cursor->live = TAILQ_NEXT(cursor->live, all);
	cursor->session = NULL;
	cursor->waiters = 0;
}

/* The locks that a question asks for. */
struct wanted {
	struct slice pattern; /* a pattern of names; empty: all */
	struct sights sights; /* the patterns of the locks that the asker may see */
	uint32_t count;       /* the most locks that the answer may have */
};

/* A lock that the asker may not see must have no effect on the answer. So it counts for nothing,
 * and its name is not even compared with the asker's pattern: the time that this takes could be
 * measured. */
static bool is_wanted(const struct node *node, const struct live *live, const struct wanted *wanted)
{
	struct slice name = lock_name(node, live->lock);

	return (live->holder != NULL || !TAILQ_EMPTY(&live->queue)) &&
	       sights_match(&wanted->sights, name) &&
	       (wanted->pattern.size == 0 || glob_matches(wanted->pattern, name));
}

/* Writes rows until the part is full. Returns false if all rows are written. */
static bool put_rows(struct node *node, struct cursor *cursor, const struct wanted *wanted)
{
	uint32_t count = wanted->count;
	size_t end = node->outbox.bytes_count + PART_SIZE;

	while (cursor->live != NULL && cursor->locks <= count) {
		const struct live *live = cursor->live;
		if (node->outbox.bytes_count >= end)
			return true;
		if (cursor->session == NULL) {
			if (!is_wanted(node, live, wanted) || ++cursor->locks > count) {
				next_lock(cursor);
				continue;
			}
			if (live->holder != NULL) {
				put_row(node, live, live->holder,
				        live->lost ? ROW_LOSES : ROW_HOLDS);
				cursor->rows++;
			}
			cursor->session = TAILQ_FIRST(&live->queue);
		} else {
			put_row(node, live, cursor->session,
			        waiting_kind(node, live, cursor->waiters));
			cursor->rows++;
			cursor->session = TAILQ_NEXT(cursor->session, queue);
			cursor->waiters++;
		}
		if (cursor->session == NULL || cursor->waiters >= count)
			next_lock(cursor);
	}
	return false;
}

int on_ask_status(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct wanted wanted = {.count = (uint32_t)in_range(&in, 1, UINT32_MAX - 1)};
	struct cursor cursor = {.live = TAILQ_FIRST(&node->lives.all)};
	uint32_t sights_count = 0;
	bool more;

	wanted.pattern = in_text(&in, NODE_NAME_MAX);
	struct slice patterns = {in.next, (uint32_t)(in.end - in.next)};
	for (; in.next < in.end && !in.bad; sights_count++)
		in_name(&in);
	if (!in_end(&in) || sights_count > NODE_SIGHTS_MAX)
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	wanted.sights = sights_read(patterns);
	do {
		control_begin(node, FRAME_TELL_STATUS, frame->origin);
		control_uint(node, question);
		size_t last = node->outbox.bytes_count;
		control_byte(node, true);
		put_figures(node);
		more = put_rows(node, &cursor, &wanted);
		node->outbox.bytes[last] = !more;
		control_end(node, frame->origin);
	} while (more);
	sights_free(&wanted.sights);
	return 0;
}

/* --- collecting their answers --- */

int on_tell_status(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t number = in_uint(&in);
	bool last = in_byte(&in, true);
	struct in told = in;
	struct node_status_member member;
	struct row row;
	uint32_t rows_count = 0;

	if (in.bad || !figures_read(&in, node->algorithm->messages_count, &member, NULL, NULL))
		return BATON_EMESSAGE;
	for (; in.next < in.end; rows_count++) {
		if (!row_read(&in, frame->origin, &row))
			return BATON_EMESSAGE;
	}
	struct session *session = session_answered(node, number, frame->origin, last);
	/* The session may already ask for the states of locks (status_order.c); this is no answer
	 * to that. */
	if (session == NULL || session->command != COMMAND_STATUS ||
	    session->question.unordered.status != NULL)
		return 0;
	struct question *question = &session->question;
	size_t size = (size_t)(told.end - told.next);
	node->sessions.answered = session;
	/* A member that sends rows without end must not exhaust the memory: count it as having
	 * answered. */
	if (question->answers_size + size > ANSWERS_SIZE_MAX) {
		session_answered(node, number, frame->origin, true);
		return 0;
	}
	question->answers_size += size;
	answers_add(&question->answers, frame->origin, rows_count, told.next, size);
	return 0;
}

/* Adds this node's own answer to the question. The end of the outbox serves as scratch space: the
 * answer is written there, copied and removed. */
static void tell_oneself(struct node *node, struct question *question)
{
	struct wanted wanted = {
	        .pattern = {(const uint8_t *)question->name, question->name_size},
	        .sights = sights_read((struct slice){question->sights, question->sights_size}),
	        .count = question->count,
	};
	struct cursor cursor = {.live = TAILQ_FIRST(&node->lives.all)};
	size_t start = node->outbox.bytes_count;
	bool more;

	do {
		uint32_t before = cursor.rows;
		put_figures(node);
		more = put_rows(node, &cursor, &wanted);
		answers_add(&question->answers, node->view.count == 0 ? 1 : node->view.self,
		            cursor.rows - before, node->outbox.bytes + start,
		            node->outbox.bytes_count - start);
		node->outbox.bytes_count = start;
	} while (more);
	sights_free(&wanted.sights);
}

/* Without a view, the status has this node as its only member. A member whose answer is incomplete
 * counts as silent. */
static void describe_members(const struct node *node, const struct question *question,
                             struct status *status, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct view_member *known =
		        node->view.count == 0 ? NULL : &node->view.members[i];
		struct node_status_member *member = status_member(status, i);
		member->name = status_keep_text(status, known != NULL ? known->name : node->name);
		member->address = status_keep_text(status, known != NULL ? known->address : NULL);
		member->incarnation = known != NULL ? known->incarnation : node->incarnation;
		member->silent = question_missing(question, i + 1);
	}
}

static void reply(struct node *node, struct session *session, struct status *status)
{
	struct record *record = session_reply(node, session, REPLY_STATUS, 0);

	outbox_own_status(&node->outbox, record, status);
}

void status_reply(struct node *node, struct session *session)
{
	if (session->question.unordered.status != NULL) {
		reply(node, session, order_finish(node, &session->question));
		return;
	}
	uint32_t count = node->view.count == 0 ? 1 : node->view.count;
	struct status *status = status_make(count, node->algorithm->messages_count);
	struct node_status *told = status_view(status);

	tell_oneself(node, &session->question);
	told->epoch = node->epoch;
	told->self = node->view.count == 0 ? 0 : node->view.self - 1;
	told->takeover_ms = lease_takeover(&node->lease) / 1000000;
	told->waiting_for = status_keep_text(status, view_waiting_for(node));
	describe_members(node, &session->question, status, count);
	status_take_answers(status, &session->question.answers);
	if (!order_ask(node, session, status))
		reply(node, session, status);
}

/* --- for tests --- */

bool node_has_token(struct node *node, const char *name, size_t name_size)
{
	const struct algorithm *algorithm = node->algorithm;
	struct lock *lock = table_find(node, slice_of(name, name_size));

	if (!algorithm->has_token || lock == NULL || lock->phase == PHASE_NONE)
		return false;
	return algorithm->has_privilege(step_site(node, lock), step_state(node, lock)) ||
	       road_rests(node, lock);
}

bool node_is_inside(struct node *node, const char *name, size_t name_size)
{
	const struct lock *lock = table_find(node, slice_of(name, name_size));

	return lock != NULL && lock->phase == PHASE_INSIDE;
}
