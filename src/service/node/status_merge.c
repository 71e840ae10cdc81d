/*
 * The merge works in steps of a few hundred microseconds (node_status_step), because there may be a
 * million rows and the driver has other work. First each part of an answer is read and sorted. Then
 * the sorted parts, called runs, are merged. A heap of the runs, with the smallest first row on
 * top, tells which run has the next row.
 */
#include "status_merge.h"

#include "memory.h"
#include "must.h"
#include "pace.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_A_STEP = 1024 };

/* The rows of one part that are not merged yet. */
struct sorted_run {
	size_t next, end;
};

struct status {
	/* Must be first: node_status_keep and others get a pointer to it. */
	struct node_status status;
	/* How many owners this status has: the outbox is one, and a driver that keeps it is
	 * another. */
	uint32_t owners_count;
	struct answers answers; /* the texts of the status point into these */
	size_t answers_size;
	const struct answer *unread; /* the next part of an answer to be read */
	struct row *rows;
	size_t rows_count, rows_read, rows_merged;
	const struct row *last;  /* the row that was merged last; NULL: none yet */
	struct sorted_run *runs; /* the rows that were not merged yet; a heap, indexed from 0 */
	size_t runs_count;
	struct node_status_member *members;
	struct node_status_lock *locks;
	struct node_status_client *clients;
	uint64_t *types;
	size_t types_count; /* the number of message types of each member */
	bool silent;        /* some member has not answered */
	char **texts;       /* names and addresses of members, and the text of waiting_for */
	uint32_t texts_count;
};

_Static_assert(offsetof(struct status, status) == 0, "one pointer is good for both");

/* --- ownership --- */

void status_free(struct status *status)
{
	if (status == NULL || --status->owners_count > 0)
		return;
	answers_free(&status->answers);
	for (uint32_t i = 0; i < status->texts_count; i++)
		free(status->texts[i]);
	free(status->texts);
	free(status->members);
	free(status->locks);
	free(status->clients);
	free(status->types);
	free(status->rows);
	free(status->runs);
	free(status);
}

struct node_status *status_view(struct status *status)
{
	return &status->status;
}

size_t node_status_room(const struct node_status *of)
{
	const struct status *status = (const struct status *)of;

	return status->answers_size +
	       status->rows_count *
	               (sizeof(*status->rows) + sizeof(*status->locks) + sizeof(*status->clients));
}

void node_status_keep(struct node_status *status)
{
	((struct status *)status)->owners_count++;
}

void node_status_free(struct node_status *status)
{
	status_free((struct status *)status);
}

/* --- reading --- */

bool row_read(struct in *in, uint32_t member, struct row *ret_row)
{
	uint8_t kind = in_byte(in, ROW_LOSES);
	struct row row = {.holds = kind >= ROW_HOLDS};

	row.name = in_name(in);
	row.fence = in_uint(in);
	row.client.member = member - 1;
	row.client.losing = kind == ROW_LOSES;
	row.client.turn = kind == ROW_WAITS_NOW     ? STATUS_TURN_NOW
	                  : kind == ROW_WAITS_LATER ? STATUS_TURN_LATER
	                                            : STATUS_TURN_NEXT;
	row.client.pid = (uint32_t)in_range(in, 0, UINT32_MAX);
	row.client.uid = (uint32_t)in_range(in, 0, UINT32_MAX);
	row.client.since_ms = in_uint(in);
	struct slice command = in_text(in, NODE_COMMAND_MAX);
	row.client.command = (struct node_bytes){(const char *)command.bytes, command.size};
	*ret_row = row;
	return !in->bad;
}

bool figures_read(struct in *in, size_t types_count, struct node_status_member *member,
                  uint64_t *types, uint32_t *steps)
{
	uint8_t flags = in_byte(in, FIGURES_ACTIVE | FIGURES_LEASED);

	member->active = (flags & FIGURES_ACTIVE) != 0;
	member->leased = (flags & FIGURES_LEASED) != 0;
	member->lease_ms = member->leased ? in_uint(in) : 0;
	member->grants = in_uint(in);
	member->received = in_uint(in);
	member->control_sent = in_uint(in);
	member->sent = 0;
	if (in_uint(in) != types_count)
		in->bad = true;
	for (size_t i = 0; i < types_count; i++) {
		uint64_t sent = in_uint(in);
		member->sent += sent;
		if (types != NULL)
			types[i] = sent;
	}
	for (uint32_t i = 0; i < PACES_COUNT; i++) {
		uint32_t count = (uint32_t)in_range(in, 0, UINT32_MAX);
		if (steps != NULL)
			steps[i] = count;
	}
	return !in->bad;
}

/* Sorts by lock. The holder with the greatest fence comes first, then the waiting clients by
 * member, and those of one member in the order of its queue. */
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

static bool run_before(const struct status *status, const struct sorted_run *a,
                       const struct sorted_run *b)
{
	return compare_rows(&status->rows[a->next], &status->rows[b->next]) < 0;
}

/* Restores the order of the heap, after the run at place i was added or its first row has
 * changed. */
static void sift(struct status *status, size_t i)
{
	struct sorted_run run = status->runs[i], *runs = status->runs;

	for (; i > 0 && run_before(status, &run, &runs[(i - 1) / 2]); i = (i - 1) / 2)
		runs[i] = runs[(i - 1) / 2];
	for (size_t child = 2 * i + 1; child < status->runs_count; child = 2 * i + 1) {
		if (child + 1 < status->runs_count &&
		    run_before(status, &runs[child + 1], &runs[child]))
			child++;
		if (!run_before(status, &runs[child], &run))
			break;
		runs[i] = runs[child];
		i = child;
	}
	runs[i] = run;
}

/* Reads one part: its sorted rows become a run. */
static void read_answer(struct status *status, const struct answer *answer)
{
	struct in in = {.next = answer->bytes, .end = answer->bytes + answer->size};
	struct sorted_run run = {status->rows_read, status->rows_read + answer->rows_count};
	/* status_take_answers has read these figures already. */
	struct node_status_member figures;

	must(figures_read(&in, status->types_count, &figures, NULL, NULL));
	for (; in.next < in.end; status->rows_read++) {
		must(status->rows_read < run.end);
		must(row_read(&in, answer->member, &status->rows[status->rows_read]));
		status->rows[status->rows_read].order = (uint32_t)status->rows_read;
	}
	must(status->rows_read == run.end);
	if (answer->rows_count == 0)
		return;
	qsort(status->rows + run.next, answer->rows_count, sizeof(*status->rows), compare_rows);
	status->runs[status->runs_count++] = run;
	sift(status, status->runs_count - 1);
}

/* --- merging --- */

static void merge_row(struct status *status, const struct row *row, const struct row *before)
{
	struct node_status *result = &status->status;
	struct node_status_client *client = &status->clients[status->rows_merged++];

	*client = row->client;
	if (before == NULL || !same_lock(row, before))
		status->locks[result->locks_count++] = (struct node_status_lock){
		        .name = {(const char *)row->name.bytes, row->name.size},
		        .in_order = !status->silent};
	struct node_status_lock *lock = &status->locks[result->locks_count - 1];
	if (!row->holds) {
		if (lock->waiters_count++ == 0)
			lock->waiters = client;
		/* The waiters of a single member are in order: it lets its clients in one after the
		 * other. */
		if (client->member != lock->waiters[0].member)
			lock->in_order = false;
	} else if (lock->holder == NULL) {
		lock->holder = client;
		lock->fence = row->fence;
	}
}

static void merge_some(struct status *status)
{
	const struct row *before = status->last;

	for (unsigned i = 0; i < ROWS_A_STEP && status->runs_count > 0; i++) {
		struct sorted_run *first = &status->runs[0];
		const struct row *row = &status->rows[first->next++];
		merge_row(status, row, before);
		before = row;
		if (first->next == first->end)
			*first = status->runs[--status->runs_count];
		if (status->runs_count > 0)
			sift(status, 0);
	}
	status->last = before;
}

bool node_status_step(struct node_status *of)
{
	struct status *status = (struct status *)of;

	if (status->unread != NULL) {
		read_answer(status, status->unread);
		status->unread = STAILQ_NEXT(status->unread, answers);
	} else {
		merge_some(status);
	}
	return status->unread != NULL || status->runs_count > 0;
}

/* --- the order of waiters --- */

size_t status_rows_count(const struct status *status)
{
	return status->rows_count;
}

bool status_read_steps(const struct status *status, uint32_t member, uint32_t *ret_steps)
{
	const struct answer *answer;
	struct node_status_member figures; /* read here only to get to the steps that follow */

	STAILQ_FOREACH (answer, &status->answers, answers) {
		struct in in = {.next = answer->bytes, .end = answer->bytes + answer->size};
		if (answer->member != member)
			continue;
		must(figures_read(&in, status->types_count, &figures, NULL, ret_steps));
		return true;
	}
	return false;
}

/* A waiter and the key that it is sorted by. `order` is its index before sorting, so that the
 * waiters of one member keep their order. */
struct placed {
	uint32_t place, order;
	struct node_status_client client;
};

static int compare_placed(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void status_sort_waiters(struct status *status, uint32_t index, const uint32_t *places,
                         bool certain)
{
	struct node_status_lock *lock = &status->locks[index];
	struct node_status_client *waiters = status->clients + (lock->waiters - status->clients);
	struct placed *placed = calloc(lock->waiters_count, sizeof(*placed));
	uint32_t late = UINT32_MAX;
	bool told = true;

	memory_must(placed != NULL);
	for (uint32_t k = 0; k < lock->waiters_count; k++) {
		const struct node_status_client *client = &waiters[k];
		placed[k] = (struct placed){places[client->member], k, *client};
		if (client->turn == STATUS_TURN_NOW)
			placed[k].place = 0;
		if (client->turn != STATUS_TURN_LATER)
			continue;
		placed[k].place = UINT32_MAX;
		told = told && certain && (late == UINT32_MAX || late == client->member);
		late = client->member;
	}
	qsort(placed, lock->waiters_count, sizeof(*placed), compare_placed);
	for (uint32_t k = 0; k < lock->waiters_count && told; k++)
		waiters[k] = placed[k].client;
	lock->in_order = told;
	free(placed);
}

/* --- making a status --- */

struct status *status_make(uint32_t members_count, size_t types_count)
{
	struct status *status = calloc(1, sizeof(*status));

	memory_must(status != NULL);
	status->owners_count = 1;
	STAILQ_INIT(&status->answers);
	status->members = calloc(members_count, sizeof(*status->members));
	status->types = calloc(members_count * types_count + 1, sizeof(*status->types));
	status->texts = calloc(2UL * members_count + 1, sizeof(char *));
	memory_must(status->members != NULL && status->types != NULL && status->texts != NULL);
	status->types_count = types_count;
	for (uint32_t i = 0; i < members_count; i++)
		status->members[i].sent_by_type = status->types + types_count * i;
	status->status.members = status->members;
	status->status.members_count = members_count;
	return status;
}

struct node_status_member *status_member(struct status *status, uint32_t index)
{
	return &status->members[index];
}

char *status_keep_text(struct status *status, const char *text)
{
	if (text == NULL)
		return NULL;
	char *copy = strdup(text);
	memory_must(copy != NULL);
	status->texts[status->texts_count++] = copy;
	return copy;
}

void status_take_answers(struct status *status, struct answers *answers)
{
	const struct answer *answer;
	size_t answers_count = 0;

	STAILQ_CONCAT(&status->answers, answers);
	STAILQ_FOREACH (answer, &status->answers, answers) {
		struct in in = {.next = answer->bytes, .end = answer->bytes + answer->size};
		must(figures_read(&in, status->types_count, &status->members[answer->member - 1],
		                  status->types + status->types_count * (answer->member - 1),
		                  NULL));
		status->rows_count += answer->rows_count;
		answers_count++;
		status->answers_size += answer->size;
	}
	for (uint32_t i = 0; i < status->status.members_count; i++)
		status->silent = status->silent || status->members[i].silent;
	status->rows = malloc((status->rows_count + 1) * sizeof(*status->rows));
	status->locks = malloc((status->rows_count + 1) * sizeof(*status->locks));
	status->clients = malloc((status->rows_count + 1) * sizeof(*status->clients));
	status->runs = malloc((answers_count + 1) * sizeof(*status->runs));
	memory_must(status->rows != NULL && status->locks != NULL && status->clients != NULL &&
	            status->runs != NULL);
	status->unread = STAILQ_FIRST(&status->answers);
	status->status.locks = status->locks;
}
