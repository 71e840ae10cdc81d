#include "status.h"

#include "control.h"
#include "glob.h"
#include "memory.h"
#include "name.h"
#include "scan.h"
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
	SEEN_LEAST = 8,             /* a slice costs as much as this many locks, at least */
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

/* --- looking at the locks --- */

/* A part of an answer that is being written, at the end of the outbox. */
struct part {
	struct scan *scan;
	bool open;
	size_t start; /* where the part begins; in a frame, where it says whether it is the last */
	uint32_t rows;
};

static void begin_part(struct node *node, struct part *part)
{
	const struct scan *scan = part->scan;

	part->open = true;
	part->rows = 0;
	if (scan->session == NULL) {
		control_begin(node, FRAME_TELL_STATUS, scan->origin);
		control_uint(node, scan->question);
	}
	part->start = node->outbox.bytes_count;
	if (scan->session == NULL)
		control_byte(node, false);
	put_figures(node);
}

/* Sends the part to the member that asks, or adds it to the answers of this node's own question.
 * For that, the end of the outbox serves as scratch space: the part is copied and removed. */
static void end_part(struct node *node, struct part *part, bool last)
{
	const struct scan *scan = part->scan;

	part->open = false;
	if (scan->session == NULL) {
		node->outbox.bytes[part->start] = last;
		control_end(node, scan->origin);
		return;
	}
	answers_add(&scan->session->question.answers, node->view.count == 0 ? 1 : node->view.self,
	            part->rows, node->outbox.bytes + part->start,
	            node->outbox.bytes_count - part->start);
	node->outbox.bytes_count = part->start;
}

static void add_row(struct node *node, struct part *part, const struct live *live,
                    const struct session *session, enum row_kind kind)
{
	if (part->open && node->outbox.bytes_count >= part->start + PART_SIZE)
		end_part(node, part, false);
	if (!part->open)
		begin_part(node, part);
	put_row(node, live, session, kind);
	part->rows++;
}

/* Returns the number of rows. */
static uint32_t add_lock(struct node *node, struct part *part, const struct live *live)
{
	const struct session *session;
	uint32_t waiters = 0;

	if (live->holder != NULL)
		add_row(node, part, live, live->holder, live->lost ? ROW_LOSES : ROW_HOLDS);
	TAILQ_FOREACH (session, &live->queue, queue) {
		if (waiters >= part->scan->wanted.count)
			break;
		add_row(node, part, live, session, waiting_kind(node, live, waiters));
		waiters++;
	}
	return waiters + (live->holder != NULL);
}

/* Looks at the next locks of a scan, and writes the rows of those that are wanted. Returns true if
 * the scan is complete. */
static bool look_on(struct node *node, struct scan *scan)
{
	struct part part = {.scan = scan};
	uint32_t seen = 0; /* locks and rows */

	while (!scan_is_over(scan) && seen < SCAN_SLICE) {
		const struct live *live = scan->place.next;
		scan->place.next = TAILQ_NEXT(live, all);
		scan->left--;
		seen++;
		if (!is_wanted(node, live, &scan->wanted))
			continue;
		scan->found++;
		seen += add_lock(node, &part, live);
	}
	bool complete = scan_is_over(scan);
	seen = seen > SEEN_LEAST ? seen : SEEN_LEAST;
	node->scans.room -= seen < node->scans.room ? seen : node->scans.room;
	if (complete && !part.open)
		begin_part(node, &part); /* the figures, at least */
	if (part.open)
		end_part(node, &part, complete);
	return complete;
}

static void finish(struct node *node, struct session *session);

static void look(struct node *node, struct scan *scan)
{
	struct session *session = scan->session;

	if (!look_on(node, scan))
		return;
	if (session != NULL)
		session->question.scan = NULL;
	scan_free(scan);
	if (session != NULL)
		finish(node, session);
}

/* A scan begins at once unless others wait for their turn, so that a few locks are told at once. */
static void look_first(struct node *node, struct scan *scan)
{
	if (scans_is_single(&node->scans, scan) && node->scans.room > 0)
		look(node, scan);
}

void status_look(struct node *node)
{
	struct scan *scan;

	node->scans.room = SCAN_TICK;
	while (node->scans.room > 0 && (scan = scans_next(&node->scans)) != NULL) {
		/* After this time, this node counts as silent, and the question is over. */
		if (scan->session == NULL && node->now - scan->since >= NODE_SILENCE_NS)
			scan_free(scan);
		else
			look(node, scan);
	}
}

int on_ask_status(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	uint32_t count = (uint32_t)in_range(&in, 1, UINT32_MAX - 1);
	struct slice pattern = in_text(&in, NODE_NAME_MAX);
	struct slice patterns = {in.next, (uint32_t)(in.end - in.next)};
	struct node_scans *asker = &node->view.members[frame->origin - 1].scans;
	uint32_t sights_count = 0;

	for (; in.next < in.end && !in.bad; sights_count++)
		in_name(&in);
	if (!in_end(&in) || sights_count > NODE_SIGHTS_MAX)
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	if (asker->bytes > SCANS_BYTES_MAX) /* then this node counts as silent */
		return 0;
	struct scan *scan = scan_make(&node->scans, &node->lives, asker,
	                              (size_t)pattern.size + patterns.size, node->now);
	scan->origin = frame->origin;
	scan->question = question;
	if (pattern.size != 0)
		memcpy(scan->text, pattern.bytes, pattern.size);
	if (patterns.size != 0)
		memcpy(scan->text + pattern.size, patterns.bytes, patterns.size);
	scan->wanted = (struct wanted){
	        .pattern = {scan->text, pattern.size},
	        .sights = sights_read((struct slice){scan->text + pattern.size, patterns.size}),
	        .count = count,
	};
	look_first(node, scan);
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

/* All answers are there, or count as silent. */
static void finish(struct node *node, struct session *session)
{
	uint32_t count = node->view.count == 0 ? 1 : node->view.count;
	struct status *status = status_make(count, node->algorithm->messages_count);
	struct node_status *told = status_view(status);

	told->epoch = node->epoch;
	told->self = node->view.count == 0 ? 0 : node->view.self - 1;
	told->takeover_ms = lease_takeover(&node->lease) / 1000000;
	told->waiting_for = status_keep_text(status, view_waiting_for(node));
	describe_members(node, &session->question, status, count);
	status_take_answers(status, &session->question.answers);
	/* The time for the first answers may have passed. */
	if (session->timer.deadline == NODE_NEVER)
		timer_set(&node->sessions.timers, &session->timer, node->now + NODE_SILENCE_NS);
	if (!order_ask(node, session, status))
		reply(node, session, status);
}

void status_reply(struct node *node, struct session *session)
{
	struct question *question = &session->question;

	if (question->unordered.status != NULL) {
		reply(node, session, order_finish(node, question));
		return;
	}
	if (question->scan != NULL) /* the reply comes when the scan is complete */
		return;
	question->scan = scan_make(
	        &node->scans, &node->lives,
	        session->user != NULL ? &session->user->scans : &node->scans.nobody, 0, node->now);
	question->scan->session = session;
	question->scan->wanted = (struct wanted){
	        .pattern = {(const uint8_t *)question->name, question->name_size},
	        .sights = sights_read((struct slice){question->sights, question->sights_size}),
	        .count = question->count,
	};
	look_first(node, question->scan);
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
