/*
 * A node as a whole: its making, its clock, its sessions.
 */
#include "internal.h"

#include "grow.h"
#include "memory.h"
#include "outbuffer.h"

#include <stdlib.h>
#include <string.h>

bool name_is_good(const void *name, size_t size)
{
	return name != NULL && size >= 1 && size <= NODE_NAME_MAX;
}

static uint32_t limit_of(uint32_t given, uint32_t initial)
{
	return given != 0 ? given : initial;
}

static struct node_limits fill_limits(const struct node_limits *given)
{
	return (struct node_limits){
	        .sessions = limit_of(given->sessions, 1 << 16),
	        .waiters = limit_of(given->waiters, 1 << 16),
	        .locks = limit_of(given->locks, 1 << 24),
	        .subscriptions = limit_of(given->subscriptions, 1 << 10),
	        .leaders = limit_of(given->leaders, 1 << 16),
	        .backlog_bytes = limit_of(given->backlog_bytes, 1 << 24),
	};
}

static char *copy_text(const char *text)
{
	char *copy = strdup(text);

	memory_must(copy != NULL);
	return copy;
}

static void copy_parameters(struct node *node, const struct node_options *options)
{
	const struct parameter *parameters = options->algorithm->parameters;

	for (size_t i = 0; parameters != NULL && parameters[i].name != NULL; i++) {
		must(i < PARAMETERS_MAX);
		const struct parameter *parameter = &parameters[i];
		if (options->parameters != NULL)
			node->parameters[i] = options->parameters[i];
		else
			node->parameters[i] = parameter->choices != NULL
			                              ? parameter->choices[0].value
			                              : parameter->initial;
		if (options->texts != NULL && options->texts[i] != NULL)
			node->texts[i] = copy_text(options->texts[i]);
	}
}

static const char *find_wrong(const struct node_options *options)
{
	if (options->name == NULL || !name_is_good(options->name, strlen(options->name)))
		return "a member's name has 1 to 255 bytes";
	if (options->algorithm == NULL || options->algorithm->kind != KIND_MUTEX)
		return "a node needs an algorithm for mutual exclusion, not an election";
	if (options->algorithm->messages_count > NODE_TYPES_MAX)
		return "the algorithm has more types of messages than a node can count";
	if (options->limits.sessions > 1 << 24)
		return "at most 16,777,216 sessions are possible";
	if (options->limits.locks > UINT32_C(1) << 30)
		return "at most 1,073,741,824 locks are possible";
	return NULL;
}

struct node *node_create(const struct node_options *options, const char **ret_wrong)
{
	const char *wrong = find_wrong(options);
	struct topology topology;

	if (wrong != NULL) {
		*ret_wrong = wrong;
		return NULL;
	}
	/* Parsed from the copy, because a list of edges is not copied. */
	char *text = copy_text(options->topology != NULL ? options->topology
	                                                 : options->algorithm->topology);
	wrong = topology_parse(text, &topology);
	if (wrong != NULL) {
		free(text);
		*ret_wrong = wrong;
		return NULL;
	}
	struct node *node = calloc(1, sizeof(*node));
	memory_must(node != NULL);
	node->name = copy_text(options->name);
	node->incarnation = options->incarnation;
	node->cluster = options->cluster;
	node->seed = options->seed;
	node->idle_hop = options->idle_hop_ns;
	node->algorithm = options->algorithm;
	node->topology_text = text;
	node->topology = topology;
	copy_parameters(node, options);
	node->turns = options->turns != 0 ? options->turns : 1;
	node->limits = fill_limits(&options->limits);
	node->hop_deadline = node->bump_deadline = NODE_NEVER;
	node->slot_free = UINT32_MAX;
	node->backlog.end = &node->backlog.first;
	node->name_offset =
	        sizeof(struct lock) + (options->algorithm->circulates ? sizeof(struct road *) : 0);
	states_renew(node);
	out_init(&node->out);
	return node;
}

static void free_session(struct node *node, struct session *session)
{
	ask_forget(session);
	free(session->command_line);
	free(session->value);
	free(session);
	(void)node;
}

void node_destroy(struct node *node)
{
	for (struct live *live = node->lives; live != NULL; live = live->next) {
		free(live->value);
		probes_forget(live);
		while (live->pending != NULL) {
			struct parcel *next = live->pending->next;
			free(live->pending);
			live->pending = next;
		}
	}
	for (uint32_t i = 0; i < node->slots_count; i++) {
		if (node->slots[i].session != NULL)
			free_session(node, node->slots[i].session);
	}
	interests_free(&node->interests);
	streams_clear(&node->streams);
	publications_clear(&node->publications);
	free(node->publications.buckets);
	backlog_free(&node->backlog);
	table_free(node);
	free(node->opened.state);
	free(node->opened.packed);
	free(node->due);
	free(node->moving);
	view_free(&node->view);
	outbox_free(&node->outbox);
	out_free(&node->out);
	for (size_t i = 0; i < PARAMETERS_MAX; i++)
		free(node->texts[i]);
	free(node->slots);
	free(node->timers);
	free(node->waiting_text);
	free(node->topology_text);
	free(node->name);
	free(node);
}

/* --- time --- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t node_deadline(const struct node *node)
{
	uint64_t deadline = earlier(node->hop_deadline, stream_deadline(node));

	if (node->stopped)
		return NODE_NEVER;
	deadline = earlier(deadline, node->bump_deadline);
	if (node->timers_count != 0)
		deadline = earlier(deadline, node->timers[1]->deadline);
	return deadline;
}

static void expire(struct node *node, struct session *session)
{
	timer_clear(node, session);
	/* Who leads is published anew in a new view: until all have reported it may not be known
	 * here. */
	if (session->command == COMMAND_LEADER && node->view.count != 0 && !node->view.active) {
		timer_set(node, session, node->now + NODE_SILENCE_NS);
		return;
	}
	if (session->command != COMMAND_LOCK) {
		ask_finish(node, session);
		return;
	}
	live_expire(node, session);
}

static void propose_bump(struct node *node)
{
	node->bump_earliest = node->bump_deadline = node->now + NODE_BUMP_NS;
	outbox_record(&node->outbox, NODE_BUMP)->session = node->epoch;
}

/* A table that stays full, because all its locks are in use, must not end epoch after epoch. */
void bump(struct node *node)
{
	if (node->bump_deadline != NODE_NEVER)
		return;
	node->bump_deadline = node->bump_earliest;
	if (node->bump_deadline <= node->now)
		propose_bump(node);
}

void advance(struct node *node, uint64_t now)
{
	outbox_clear_taken(&node->outbox);
	if (now > node->now)
		node->now = now;
	if (node->stopped || node_deadline(node) > node->now)
		return;
	if (node->hop_deadline <= node->now)
		road_hop(node);
	if (stream_deadline(node) <= node->now)
		stream_expire(node);
	if (node->bump_deadline <= node->now)
		propose_bump(node);
	while (node->timers_count != 0 && node->timers[1]->deadline <= node->now && !node->stopped)
		expire(node, node->timers[1]);
}

void finish(struct node *node)
{
	while (node->backlog.again && !node->stopped) {
		node->backlog.again = false;
		backlog_replay(node);
	}
	/* Half is room enough, but not for a frame that is larger: something must have gone. */
	if (node->backlog.refused && node->backlog.bytes < node->backlog.refused_at &&
	    node->backlog.bytes <= node->limits.backlog_bytes / 2) {
		node->backlog.refused = false;
		outbox_record(&node->outbox, NODE_READ);
	}
}

void node_tick(struct node *node, uint64_t now)
{
	advance(node, now);
	finish(node);
}

void stop(struct node *node, const char *why)
{
	if (node->stopped)
		return;
	node->stopped = true;
	struct span text = outbox_keep(&node->outbox, why, strlen(why) + 1);
	outbox_record(&node->outbox, NODE_STOP)->a = text;
}

/* --- sessions --- */

uint64_t node_session_open(struct node *node, const struct node_client *client, uint64_t now)
{
	struct session *session;
	uint32_t slot = node->slot_free;

	advance(node, now);
	finish(node);
	if (node->sessions_count >= node->limits.sessions)
		return 0;
	if (slot != UINT32_MAX) {
		node->slot_free = node->slots[slot].free_next;
	} else {
		slot = node->slots_count++;
		node->slots = grow(node->slots, &node->slots_size, node->slots_count,
		                   sizeof(*node->slots));
		node->slots[slot] = (struct session_slot){0};
	}
	session = calloc(1, sizeof(*session));
	memory_must(session != NULL);
	session->id = (uint64_t)++node->slots[slot].generation << 32 | (slot + 1);
	session->pid = client->pid;
	session->uid = client->uid;
	session->deadline = NODE_NEVER;
	if (client->command != NULL) {
		session->command_line = strndup(client->command, NODE_COMMAND_MAX);
		memory_must(session->command_line != NULL);
	}
	node->slots[slot].session = session;
	node->sessions_count++;
	return session->id;
}

static struct session *find_session(const struct node *node, uint64_t id)
{
	uint32_t slot = (uint32_t)id - 1;

	if (slot >= node->slots_count || node->slots[slot].session == NULL ||
	    node->slots[slot].session->id != id)
		return NULL;
	return node->slots[slot].session;
}

struct session *command_begin(struct node *node, uint64_t id, uint64_t now, int *ret_error)
{
	advance(node, now);
	struct session *session = find_session(node, id);

	*ret_error = 0;
	if (node->stopped)
		*ret_error = BATON_ESTOPPED;
	else if (session == NULL)
		*ret_error = BATON_ESESSION;
	else if (session->command != COMMAND_NONE)
		*ret_error = BATON_EBUSY;
	return *ret_error == 0 ? session : NULL;
}

struct session *command_begin_named(struct node *node, uint64_t id, const char *name,
                                    size_t name_size, uint64_t now, int *ret_error)
{
	struct session *session = command_begin(node, id, now, ret_error);

	if (session == NULL || name_is_good(name, name_size))
		return session;
	*ret_error = BATON_ENAME;
	return NULL;
}

static void end_command(struct node *node, struct session *session)
{
	session->command = COMMAND_NONE;
	timer_clear(node, session);
	ask_forget(session);
}

void session_reply(struct node *node, struct session *session, enum node_reply_kind kind,
                   uint64_t number)
{
	struct record *record = outbox_record(&node->outbox, NODE_REPLY);

	record->session = session->id;
	record->reply = kind;
	record->number = number;
	end_command(node, session);
}

void session_fail(struct node *node, struct session *session, int error)
{
	session_reply(node, session, REPLY_ERROR, 0);
	node->outbox.records[node->outbox.records_count - 1].error = error;
}

void node_session_linger(struct node *node, uint64_t id)
{
	struct session *session = find_session(node, id);

	if (session != NULL)
		session->lingers = true;
}

bool node_session_evict(struct node *node, uint64_t id, const char *why, uint64_t now)
{
	advance(node, now);
	struct session *session = find_session(node, id);
	if (session == NULL)
		return false;
	for (struct live *live = session->holds, *next; live != NULL; live = next) {
		next = live->hold_next;
		if (!live->lost)
			live_break(node, live, why);
	}
	return session->holds != NULL;
}

void node_session_withdraw(struct node *node, uint64_t id, uint64_t now)
{
	advance(node, now);
	struct session *session = find_session(node, id);
	if (session == NULL || session->waits == NULL)
		return;
	live_withdraw(node, session);
	if (session->value != NULL) { /* it campaigned */
		free(session->value);
		session->value = NULL;
		node->leaders_count--;
	}
	session_fail(node, session, BATON_ENOVIEW);
	finish(node);
}

bool node_session_losing(const struct node *node, uint64_t id)
{
	const struct session *session = find_session(node, id);
	const struct live *live = session != NULL ? session->holds : NULL;

	while (live != NULL && !live->lost)
		live = live->hold_next;
	return live != NULL;
}

bool node_session_forfeit(struct node *node, uint64_t id, uint64_t now)
{
	advance(node, now);
	const struct session *session = find_session(node, id);
	if (session == NULL)
		return false;
	for (struct live *live = session->holds, *next; live != NULL; live = next) {
		next = live->hold_next;
		if (live->lost)
			live_release(node, live);
	}
	finish(node);
	return session->holds != NULL;
}

void node_session_close(struct node *node, uint64_t id, uint64_t now)
{
	advance(node, now);
	struct session *session = find_session(node, id);
	if (session == NULL)
		return;
	end_command(node, session);
	interests_forget(node, session); /* first: it is told nothing any more */
	if (session->waits != NULL)
		live_withdraw(node, session);
	if (session->value != NULL)
		node->leaders_count--;
	while (session->holds != NULL)
		live_release(node, session->holds);
	struct session_slot *slot = &node->slots[(uint32_t)id - 1];
	slot->session = NULL;
	slot->free_next = node->slot_free;
	node->slot_free = (uint32_t)id - 1;
	node->sessions_count--;
	free_session(node, session);
	finish(node);
}

/* --- for tests and measurement --- */

bool node_has_token(struct node *node, const char *name, size_t name_size)
{
	const struct algorithm *algorithm = node->algorithm;
	struct lock *lock = lock_find(node, name, (uint32_t)name_size, name_hash(name, name_size));

	if (!algorithm->has_token || lock == NULL || lock->phase == PHASE_NONE)
		return false;
	return algorithm->has_privilege(lock_site(node, lock), lock_state(node, lock)) ||
	       road_rests(node, lock);
}

void node_figures(const struct node *node, struct node_figures *ret_figures)
{
	*ret_figures = node->figures;
	ret_figures->locks = node->table.count;
	ret_figures->lock_bytes = table_bytes(node);
	ret_figures->backlog_bytes = node->backlog.bytes;
}
