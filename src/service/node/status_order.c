#include "status_order.h"

#include "control.h"
#include "memory.h"
#include "name.h"
#include "status_merge.h"
#include "step.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* The waiters of a status with more rows than ROWS_MAX are not sorted, because that would keep the
 * node busy for too long. A member sends at most STATES_BYTES_MAX of states. */
enum { ROWS_MAX = 2048, STATES_BYTES_MAX = 1 << 16 };

/* One member's answer about one lock. */
struct told {
	uint32_t steps, balance;
	const uint8_t *state; /* the state of the lock at a member; NULL: it is not known */
};

static size_t locks_count_max(const struct node *node)
{
	size_t most = STATES_BYTES_MAX / (node->view.state_size + 1) + 1;

	return most < ROWS_MAX ? most : ROWS_MAX;
}

/* --- answering other members --- */

/* Writes the state of the lock. If this node has none, writes the state that it would begin with;
 * but not if beginning would also send a message. */
static void put_state(struct node *node, struct slice name, uint64_t hash)
{
	struct lock *lock = table_find(node, name);
	uint32_t size = (uint32_t)node->view.state_size;

	if (lock != NULL && lock->phase != PHASE_NONE) {
		control_text(node, (struct slice){step_state(node, lock), size});
		return;
	}
	struct lock untouched = {.home = (uint16_t)view_home(&node->view, hash)};
	uint64_t *initial = calloc(1, size);
	memory_must(initial != NULL);
	out_clear(&node->out);
	node->algorithm->init(step_site(node, &untouched), initial, &node->out);
	if (node->out.effects_count != 0)
		size = 0;
	control_text(node, (struct slice){(const uint8_t *)initial, size});
	free(initial);
}

static void put_lock(struct node *node, struct slice name)
{
	uint64_t hash = name_hash(name.bytes, name.size);
	const struct pace *pace = &node->paces[pace_index(hash)];

	control_uint(node, pace->steps);
	control_uint(node, pace->balance);
	put_state(node, name, hash);
}

/* A node that does not serve yet answers without any lock. */
int on_ask_states(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct in names = in;
	size_t count = 0;

	for (; in.next < in.end && !in.bad; count++)
		in_name(&in);
	if (!in_end(&in) || count > locks_count_max(node))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	control_begin(node, FRAME_TELL_STATES, frame->origin);
	control_uint(node, question);
	while (names.next < names.end && node->view.active)
		put_lock(node, in_name(&names));
	control_end(node, frame->origin);
	return 0;
}

/* --- collecting their answers --- */

/* Reads the answer for one lock. Returns false if it is malformed. */
static bool read_told(struct in *in, size_t state_size, struct told *ret_told)
{
	ret_told->steps = (uint32_t)in_range(in, 0, UINT32_MAX);
	ret_told->balance = (uint32_t)in_range(in, 0, UINT32_MAX);
	struct slice state = in_text(in, NODE_FRAME_MAX);
	if (state.size != 0 && state.size != state_size)
		in->bad = true;
	ret_told->state = state.size != 0 ? state.bytes : NULL;
	return !in->bad;
}

static size_t state_size_of(const struct node *node, uint32_t member)
{
	struct site site = network_site(&node->view.network, member);

	return node->algorithm->state_size(&site);
}

int on_tell_states(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t number = in_uint(&in);
	struct in told = in;
	uint32_t count = 0;
	struct told one;

	if (!node->view.active)
		return 0;
	size_t state_size = state_size_of(node, frame->origin);
	for (; in.next < in.end; count++) {
		if (!read_told(&in, state_size, &one))
			return BATON_EMESSAGE;
	}
	if (in.bad)
		return BATON_EMESSAGE;
	struct session *session = session_answered(node, number, frame->origin, true);
	if (session == NULL || session->question.unordered.status == NULL)
		return 0;
	answers_add(&session->question.answers, frame->origin, count, told.next,
	            (size_t)(told.end - told.next));
	node->sessions.answered = session;
	return 0;
}

/* --- asking --- */

static bool is_undecided(const struct node_status_lock *lock)
{
	return !lock->in_order && lock->waiters_count > 0;
}

/* Lists the locks for which clients of several members wait. */
static struct unordered find_unordered(const struct node *node, struct status *status)
{
	struct node_status *told = status_view(status);
	struct unordered found = {.status = status};

	while (node_status_step(told))
		;
	found.locks = calloc(told->locks_count + (size_t)1, sizeof(*found.locks));
	memory_must(found.locks != NULL);
	for (uint32_t i = 0; i < told->locks_count; i++) {
		if (is_undecided(&told->locks[i]) && found.locks_count < locks_count_max(node))
			found.locks[found.locks_count++] = i;
	}
	return found;
}

/* Adds this node's own answer, as of this moment. The end of the outbox serves as scratch space:
 * the answer is written there, copied and removed. */
static void tell_oneself(struct node *node, struct question *question)
{
	const struct unordered *unordered = &question->unordered;
	const struct node_status *told = status_view(unordered->status);
	size_t start = node->outbox.bytes_count;

	for (uint32_t k = 0; k < unordered->locks_count; k++) {
		struct node_bytes name = told->locks[unordered->locks[k]].name;
		put_lock(node, (struct slice){(const uint8_t *)name.bytes, (uint32_t)name.size});
	}
	answers_add(&question->answers, node->view.self, unordered->locks_count,
	            node->outbox.bytes + start, node->outbox.bytes_count - start);
	node->outbox.bytes_count = start;
}

bool order_ask(struct node *node, struct session *session, struct status *status)
{
	if (node->algorithm->queue_at_rest == NULL || !node->view.active ||
	    session->question.missing_count != 0 || status_rows_count(status) > ROWS_MAX)
		return false;
	struct unordered found = find_unordered(node, status);
	if (found.locks_count == 0) {
		free(found.locks);
		return false;
	}
	session_ask(node, session);
	session->question.unordered = found;
	tell_oneself(node, &session->question);
	control_begin(node, FRAME_ASK_STATES, 0);
	control_uint(node, session->question.number);
	for (uint32_t k = 0; k < found.locks_count; k++) {
		struct node_bytes name = status_view(status)->locks[found.locks[k]].name;
		control_name(node,
		             (struct slice){(const uint8_t *)name.bytes, (uint32_t)name.size});
	}
	control_end(node, 0);
	return true;
}

/* --- finding the order --- */

/* Returns what all members have answered, as an array [lock][member]. The states of members that
 * have not answered are NULL. */
static struct told *collect(const struct node *node, const struct question *question)
{
	const struct unordered *unordered = &question->unordered;
	uint32_t members_count = node->view.count;
	struct told *all = calloc((size_t)unordered->locks_count * members_count, sizeof(*all));
	const struct answer *answer;

	memory_must(all != NULL);
	STAILQ_FOREACH (answer, &question->answers, answers) {
		struct in in = {.next = answer->bytes, .end = answer->bytes + answer->size};
		size_t state_size = state_size_of(node, answer->member);
		if (answer->rows_count != unordered->locks_count)
			continue; /* the member's states stay unknown */
		for (uint32_t k = 0; k < unordered->locks_count; k++)
			must(read_told(&in, state_size,
			               &all[(size_t)k * members_count + answer->member - 1]));
	}
	return all;
}

/* Forgets the states of members that have taken a step since they first answered. */
static void forget_changed(const struct node *node, const struct unordered *unordered,
                           struct told *all)
{
	const struct node_status *told = status_view(unordered->status);
	uint32_t steps[PACES_COUNT];

	for (uint32_t i = 1; i <= node->view.count; i++) {
		bool known = status_read_steps(unordered->status, i, steps);
		for (uint32_t k = 0; k < unordered->locks_count; k++) {
			struct node_bytes name = told->locks[unordered->locks[k]].name;
			struct told *one = &all[(size_t)k * node->view.count + i - 1];
			uint64_t hash = name_hash(name.bytes, name.size);
			if (!known || one->steps != steps[pace_index(hash)])
				one->state = NULL;
		}
	}
}

/* Fills in the members' places in the queue. Returns false if the states do not tell the queue. */
static bool find_places(const struct node *node, const struct told *lock, const void **states,
                        uint32_t *queue, uint32_t *ret_places)
{
	uint32_t members_count = node->view.count, in_flight = 0;

	for (uint32_t i = 0; i < members_count; i++) {
		in_flight += lock[i].balance;
		if (lock[i].state == NULL)
			return false;
		memcpy((void *)states[i], lock[i].state, state_size_of(node, i + 1));
	}
	if (in_flight != 0)
		return false;
	struct snapshot snapshot = {.network = &node->view.network, .states = states};
	uint32_t count = node->algorithm->queue_at_rest(&snapshot, queue);
	must(count <= members_count);
	memset(ret_places, 0, members_count * sizeof(*ret_places));
	for (uint32_t k = 0; k < count; k++) {
		uint32_t *place = &ret_places[queue[k] - 1];
		if (*place != 0)
			return false;
		*place = k + 1;
	}
	return true;
}

/* Does every client that will be let in at its member's next turn belong to a member in the
 * queue? */
static bool has_all(const struct node_status_lock *lock, const uint32_t *places)
{
	for (uint32_t k = 0; k < lock->waiters_count; k++) {
		const struct node_status_client *client = &lock->waiters[k];
		if (client->turn == STATUS_TURN_NEXT && places[client->member] == 0)
			return false;
	}
	return true;
}

/* Returns aligned room for the state of each member, because a state in a frame may begin at any
 * address. */
static const void **make_room(const struct node *node, uint64_t **ret_bytes)
{
	size_t words = 0;

	for (uint32_t i = 1; i <= node->view.count; i++)
		words += words_of(state_size_of(node, i));
	uint64_t *room = calloc(words + 1, sizeof(*room));
	const void **states = calloc(node->view.count + (size_t)1, sizeof(*states));
	memory_must(room != NULL && states != NULL);
	*ret_bytes = room;
	for (uint32_t i = 0; i < node->view.count; i++) {
		states[i] = room;
		room += words_of(state_size_of(node, i + 1));
	}
	return states;
}

static void sort_all(const struct node *node, const struct unordered *unordered, struct told *all)
{
	const struct node_status *status = status_view(unordered->status);
	uint32_t members_count = node->view.count;
	uint64_t *room;
	const void **states = make_room(node, &room);
	uint32_t *numbers = calloc(2 * (size_t)members_count + 1, sizeof(*numbers));

	/* If queue_at_rest is the same function as `queue`, the order is final: a member that asks
	 * later comes after all that wait now. */
	bool certain = node->algorithm->queue_at_rest == node->algorithm->queue;

	memory_must(numbers != NULL);
	uint32_t *places = numbers + members_count;
	forget_changed(node, unordered, all);
	for (uint32_t k = 0; k < unordered->locks_count; k++) {
		const struct told *lock = &all[(size_t)k * members_count];
		if (find_places(node, lock, states, numbers, places) &&
		    has_all(&status->locks[unordered->locks[k]], places))
			status_sort_waiters(unordered->status, unordered->locks[k], places,
			                    certain);
	}
	free(numbers);
	free(states);
	free(room);
}

struct status *order_finish(struct node *node, struct question *question)
{
	struct status *status = question->unordered.status;
	struct told *all = collect(node, question);

	sort_all(node, &question->unordered, all);
	free(all);
	question->unordered.status = NULL;
	return status;
}
