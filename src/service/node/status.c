/*
 * STATUS: every member tells what its clients hold and wait for, row by row; status_merge.c puts the
 * rows together by lock.
 *
 * A member tells all its rows in one step, so that they are how things were at one moment. That is quick: a row
 * is copied, no more. What takes long, sorting and writing it down for people, is the asker's work and can be done
 * in small pieces.
 *
 * What a member tells, in each part of its answer: active (a byte), grants, messages received, other
 * frames sent, the number of types of messages, how many of each were sent; then rows: waiter (0), holder (1) or
 * holder that was told that it lost the lock and has not stopped yet (2), the lock's name, the fence (of a holder;
 * else 0), pid, uid, milliseconds, command.
 */
#include "status.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { PART_SIZE = 1 << 16 };

void answers_free(struct answer *answer)
{
	while (answer != NULL) {
		struct answer *next = answer->next;
		free(answer);
		answer = next;
	}
}

void status_forget(struct question *question)
{
	answers_free(question->answers);
	question->answers = NULL;
}

/* --- telling --- */

static void put_figures(struct node *node)
{
	const struct node_figures *figures = &node->figures;

	put_byte(node, node->view.active);
	put_uint(node, figures->grants);
	put_uint(node, figures->received);
	put_uint(node, figures->control_sent);
	put_uint(node, node->algorithm->messages_count);
	for (size_t i = 0; i < node->algorithm->messages_count; i++)
		put_uint(node, figures->sent_by_type[i]);
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

/* Written here and copied at once: there may be a hundred thousand. */
static void put_row(struct node *node, const struct live *live, const struct session *session,
                    bool holds)
{
	uint8_t row[2 + NODE_NAME_MAX + 5 * 10 + NODE_COMMAND_MAX], *to = row;
	struct slice name = lock_name(node, live->lock);
	const char *command = session->command_line != NULL ? session->command_line : "";
	size_t command_size = strlen(command);
	uint64_t since = holds ? live->since : session->since;

	*to++ = !holds ? ROW_WAITS : live->lost ? ROW_LOSES : ROW_HOLDS;
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

/* A place in the rows of this node. */
struct cursor {
	const struct live *live;
	const struct session *session; /* who comes next; NULL: the lock's first */
	uint32_t locks;                /* told */
	uint32_t waiters;              /* of this lock; told */
	uint32_t rows;                 /* all that were told */
};

static void next_lock(struct cursor *cursor)
{
	cursor->live = cursor->live->next;
	cursor->session = NULL;
	cursor->waiters = 0;
}

/* Rows, until there are no more or the part is full; false when there are no more. */
static bool put_rows(struct node *node, struct cursor *cursor, struct slice pattern, uint32_t count)
{
	size_t end = node->outbox.bytes_count + PART_SIZE;

	while (cursor->live != NULL && cursor->locks <= count) {
		const struct live *live = cursor->live;
		if (node->outbox.bytes_count >= end)
			return true;
		if (cursor->session == NULL) {
			bool told = (live->holder != NULL || live->first != NULL) &&
			            (pattern.size == 0 ||
			             glob_matches(pattern, lock_name(node, live->lock)));
			if (!told || ++cursor->locks > count) {
				next_lock(cursor);
				continue;
			}
			if (live->holder != NULL) {
				put_row(node, live, live->holder, true);
				cursor->rows++;
			}
			cursor->session = live->first;
		} else {
			put_row(node, live, cursor->session, false);
			cursor->rows++;
			cursor->session = cursor->session->queue_next;
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
	uint32_t count = (uint32_t)in_range(&in, 1, UINT32_MAX - 1);
	struct slice pattern = in_text(&in, NODE_NAME_MAX);
	struct cursor cursor = {.live = node->lives};
	bool more;

	if (!in_end(&in))
		return BATON_EMESSAGE;
	do {
		control_begin(node, FRAME_TELL_STATUS, frame->origin);
		put_uint(node, question);
		size_t last = node->outbox.bytes_count;
		put_byte(node, true);
		put_figures(node);
		more = put_rows(node, &cursor, pattern, count);
		node->outbox.bytes[last] = !more;
		control_end(node, frame->origin);
	} while (more);
	return 0;
}

/* --- hearing --- */

static void add_answer(struct question *question, uint32_t member, uint32_t rows_count,
                       const uint8_t *bytes, size_t size)
{
	struct answer *answer = malloc(sizeof(*answer) + size);
	struct answer **end = &question->answers;

	memory_must(answer != NULL);
	while (*end != NULL)
		end = &(*end)->next;
	*answer =
	        (struct answer){.member = member, .rows_count = rows_count, .size = (uint32_t)size};
	memcpy(answer->bytes, bytes, size);
	*end = answer;
}

int on_tell_status(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t number = in_uint(&in);
	bool last = in_byte(&in, true);
	struct in told = in;
	struct node_status_member member;
	struct row row;
	uint32_t rows_count = 0;

	if (in.bad || !figures_read(&in, node->algorithm->messages_count, &member, NULL))
		return BATON_EMESSAGE;
	for (; in.next < in.end; rows_count++) {
		if (!row_read(&in, frame->origin, &row))
			return BATON_EMESSAGE;
	}
	struct session *session = ask_answered(node, number, frame->origin, last);
	if (session == NULL || session->command != COMMAND_STATUS)
		return 0;
	add_answer(&session->question, frame->origin, rows_count, told.next,
	           (size_t)(told.end - told.next));
	if (session->question.missing_count == 0)
		ask_finish(node, session);
	return 0;
}

/* What this node itself tells, written behind what goes out and taken away again. */
void status_tell_oneself(struct node *node, struct question *question)
{
	struct slice pattern = {(const uint8_t *)question->name, question->name_size};
	struct cursor cursor = {.live = node->lives};
	size_t start = node->outbox.bytes_count;
	bool more;

	do {
		uint32_t before = cursor.rows;
		put_figures(node);
		more = put_rows(node, &cursor, pattern, question->count);
		add_answer(question, node->view.count == 0 ? 1 : node->view.self,
		           cursor.rows - before, node->outbox.bytes + start,
		           node->outbox.bytes_count - start);
		node->outbox.bytes_count = start;
	} while (more);
}
