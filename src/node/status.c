/*
 * STATUS: every member tells what its clients hold and wait for, row by row, and the node that was
 * asked puts the rows together by lock.
 *
 * What a member tells, in each part of its answer: active (a byte), grants, messages received, other
 * frames sent, the number of types of messages, how many of each were sent; then rows: holder (1) or
 * waiter (0), the lock's name, the fence (of a holder; else 0), pid, uid, milliseconds, command.
 */
#include "frame.h"
#include "grow.h"

#include <stdlib.h>
#include <string.h>

enum { PART_SIZE = 1 << 16 };

/* What a member has told, one part of it, as it came. */
struct answer {
	struct answer *next;
	uint32_t member;
	uint32_t size;
	uint8_t bytes[];
};

struct status {
	struct node_status status;
	struct answer *answers; /* texts point into them */
	struct node_status_member *members;
	struct node_status_lock *locks;
	struct node_status_client *clients;
	uint64_t *types;
	char **names, *waiting_for;
	uint32_t names_count;
};

static void free_answers(struct answer *answer)
{
	while (answer != NULL) {
		struct answer *next = answer->next;
		free(answer);
		answer = next;
	}
}

void status_forget(struct question *question)
{
	free_answers(question->answers);
	question->answers = NULL;
}

void status_free(struct status *status)
{
	if (status == NULL)
		return;
	free_answers(status->answers);
	for (uint32_t i = 0; i < status->names_count; i++)
		free(status->names[i]);
	free(status->names);
	free(status->waiting_for);
	free(status->members);
	free(status->locks);
	free(status->clients);
	free(status->types);
	free(status);
}

const struct node_status *status_view(const struct status *status)
{
	return &status->status;
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

static void put_row(struct node *node, const struct live *live, const struct session *session,
                    bool holds)
{
	struct slice name = lock_name(node, live->lock);
	const char *command = session->command_line != NULL ? session->command_line : "";
	uint64_t since = holds ? live->since : session->since;

	put_byte(node, holds);
	put_name(node, name.bytes, name.size);
	put_uint(node, holds ? live->fence : 0);
	put_uint(node, session->pid);
	put_uint(node, session->uid);
	put_uint(node, (node->now - since) / 1000000);
	put_text(node, command, strlen(command));
}

/* A place in the rows of this node. */
struct cursor {
	const struct live *live;
	const struct session *session; /* who comes next; NULL: the lock's first */
	uint32_t locks, waiters;       /* told */
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
			if (live->holder != NULL)
				put_row(node, live, live->holder, true);
			cursor->session = live->first;
		} else {
			put_row(node, live, cursor->session, false);
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

struct row {
	struct slice name;
	uint64_t fence;
	bool holds;
	uint32_t order;
	struct node_status_client client;
};

static bool next_row(struct in *in, uint32_t member, struct row *ret_row)
{
	struct row row = {.holds = in_byte(in, true)};

	row.name = in_name(in);
	row.fence = in_uint(in);
	row.client.member = member - 1;
	row.client.pid = (uint32_t)in_range(in, 0, UINT32_MAX);
	row.client.uid = (uint32_t)in_range(in, 0, UINT32_MAX);
	row.client.since_ms = in_uint(in);
	struct slice command = in_text(in, NODE_COMMAND_MAX);
	row.client.command = (struct node_bytes){(const char *)command.bytes, command.size};
	*ret_row = row;
	return !in->bad;
}

/* The part before the rows; `types` has room for all, or is NULL. */
static bool read_figures(const struct node *node, struct in *in, struct node_status_member *member,
                         uint64_t *types)
{
	member->active = in_byte(in, true);
	member->grants = in_uint(in);
	member->received = in_uint(in);
	member->control_sent = in_uint(in);
	member->sent = 0;
	if (in_uint(in) != node->algorithm->messages_count)
		in->bad = true;
	for (size_t i = 0; i < node->algorithm->messages_count; i++) {
		uint64_t sent = in_uint(in);
		member->sent += sent;
		if (types != NULL)
			types[i] = sent;
	}
	return !in->bad;
}

static void add_answer(struct question *question, uint32_t member, const uint8_t *bytes,
                       size_t size)
{
	struct answer *answer = malloc(sizeof(*answer) + size);
	struct answer **end = &question->answers;

	must(answer != NULL);
	while (*end != NULL)
		end = &(*end)->next;
	*answer = (struct answer){.member = member, .size = (uint32_t)size};
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

	if (in.bad || !read_figures(node, &in, &member, NULL))
		return BATON_EMESSAGE;
	while (in.next < in.end) {
		if (!next_row(&in, frame->origin, &row))
			return BATON_EMESSAGE;
	}
	struct session *session = ask_answered(node, number, frame->origin, last);
	if (session == NULL || session->command != COMMAND_STATUS)
		return 0;
	add_answer(&session->question, frame->origin, told.next, (size_t)(told.end - told.next));
	if (session->question.missing_count == 0)
		ask_finish(node, session);
	return 0;
}

/* What this node itself tells, written behind what goes out and taken away again. */
static void tell_oneself(struct node *node, struct question *question)
{
	struct slice pattern = {(const uint8_t *)question->name, question->name_size};
	struct cursor cursor = {.live = node->lives};
	size_t start = node->outbox.bytes_count;
	bool more;

	do {
		put_figures(node);
		more = put_rows(node, &cursor, pattern, question->count);
		add_answer(question, node->view.count == 0 ? 1 : node->view.self,
		           node->outbox.bytes + start, node->outbox.bytes_count - start);
		node->outbox.bytes_count = start;
	} while (more);
}

/* --- putting together --- */

/* By lock; the holder with the greatest fence first, then who waits, by member and in its order. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	uint32_t size = a->name.size < b->name.size ? a->name.size : b->name.size;
	int order = memcmp(a->name.bytes, b->name.bytes, size);

	if (order != 0)
		return order;
	if (a->name.size != b->name.size)
		return a->name.size < b->name.size ? -1 : 1;
	if (a->holds != b->holds)
		return a->holds ? -1 : 1;
	if (a->holds && a->fence != b->fence)
		return a->fence > b->fence ? -1 : 1;
	if (a->client.member != b->client.member)
		return a->client.member < b->client.member ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool same_lock(const struct row *a, const struct row *b)
{
	return a->name.size == b->name.size &&
	       memcmp(a->name.bytes, b->name.bytes, a->name.size) == 0;
}

/* The rows of all answers; the array is to be freed. */
static struct row *read_rows(const struct node *node, struct status *status, size_t *ret_count)
{
	size_t types = node->algorithm->messages_count, count = 0, size = 0;
	struct row *rows = NULL;

	for (const struct answer *answer = status->answers; answer != NULL; answer = answer->next) {
		struct in in = {.next = answer->bytes, .end = answer->bytes + answer->size};
		struct node_status_member *member = &status->members[answer->member - 1];
		member->silent = false;
		must(read_figures(node, &in, member, status->types + types * (answer->member - 1)));
		while (in.next < in.end) {
			rows = grow(rows, &size, count + 1, sizeof(*rows));
			must(next_row(&in, answer->member, &rows[count]));
			rows[count].order = (uint32_t)count;
			count++;
		}
	}
	if (count != 0)
		qsort(rows, count, sizeof(*rows), compare_rows);
	*ret_count = count;
	return rows;
}

static void fill_locks(struct status *status, const struct row *rows, size_t count)
{
	struct node_status *result = &status->status;
	struct node_status_lock *lock = NULL;

	status->locks = calloc(count + 1, sizeof(*status->locks));
	status->clients = calloc(count + 1, sizeof(*status->clients));
	must(status->locks != NULL && status->clients != NULL);
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		struct node_status_client *client = &status->clients[i];
		*client = row->client;
		if (i == 0 || !same_lock(row, &rows[i - 1])) {
			lock = &status->locks[result->locks_count++];
			lock->name =
			        (struct node_bytes){(const char *)row->name.bytes, row->name.size};
		}
		if (!row->holds) {
			if (lock->waiters_count++ == 0)
				lock->waiters = client;
		} else if (lock->holder == NULL) {
			lock->holder = client;
			lock->fence = row->fence;
		}
	}
	result->locks = status->locks;
}

static char *keep_text(struct status *status, const char *text)
{
	if (text == NULL)
		return NULL;
	char *copy = strdup(text);
	must(copy != NULL);
	status->names[status->names_count++] = copy;
	return copy;
}

/* Without a view the node is its only member. */
static void fill_members(struct node *node, struct status *status)
{
	uint32_t count = node->view.count == 0 ? 1 : node->view.count;
	size_t types = node->algorithm->messages_count;

	status->members = calloc(count, sizeof(*status->members));
	status->types = calloc(count * types + 1, sizeof(*status->types));
	status->names = calloc(2UL * count, sizeof(char *));
	must(status->members != NULL && status->types != NULL && status->names != NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct node_status_member *member = &status->members[i];
		const struct member *known = node->view.count == 0 ? NULL : &node->view.members[i];
		member->name = keep_text(status, known != NULL ? known->name : node->name);
		member->address = keep_text(status, known != NULL ? known->address : NULL);
		member->incarnation = known != NULL ? known->incarnation : node->incarnation;
		member->silent = true;
		member->sent_by_type = status->types + types * i;
	}
	status->status.members = status->members;
	status->status.members_count = count;
	status->status.self = node->view.count == 0 ? 0 : node->view.self - 1;
}

void status_reply(struct node *node, struct session *session)
{
	struct status *status = calloc(1, sizeof(*status));
	size_t count;

	must(status != NULL);
	tell_oneself(node, &session->question);
	status->answers = session->question.answers;
	session->question.answers = NULL;
	status->status.epoch = node->epoch;
	fill_members(node, status);
	struct row *rows = read_rows(node, status, &count);
	fill_locks(status, rows, count);
	free(rows);
	const char *waiting_for = node_waiting_for(node);
	if (waiting_for != NULL) {
		status->waiting_for = strdup(waiting_for);
		must(status->waiting_for != NULL);
		status->status.waiting_for = status->waiting_for;
	}
	session_reply(node, session, REPLY_STATUS, 0);
	node->outbox.records[node->outbox.records_count - 1].status = status;
}
