/*
 * The entry points of a node. Only this file advances the node's clock (`advance`), and does the
 * work with which every call ends (`finish`).
 */
#include "node.h"

#include "ask.h"
#include "event.h"
#include "fencing.h"
#include "hold.h"
#include "memory.h"
#include "name.h"
#include "outbuffer.h"
#include "receive.h"
#include "recovery.h"
#include "status.h"
#include "step.h"
#include "trouble.h"
#include "wait.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* How many locks of one client are released or taken away in one call. Each of these is an event,
 * which is matched with all patterns; others must be served in between. */
enum { RELEASES_MAX = 16 };

static uint32_t limit_of(uint32_t given, uint32_t initial)
{
	return given != 0 ? given : initial;
}

static struct node_limits fill_limits(const struct node_limits *given)
{
	struct node_limits limits = {
	        .sessions = limit_of(given->sessions, 1 << 16),
	        .waiters = limit_of(given->waiters, 1 << 16),
	        .locks = limit_of(given->locks, 1 << 24),
	        .user_locks = limit_of(given->user_locks, 1 << 16),
	        .subscriptions = limit_of(given->subscriptions, 1 << 10),
	        .all_subscriptions = limit_of(given->all_subscriptions, 1 << 17),
	        .patterns = limit_of(given->patterns, 1 << 8),
	        .leaders = limit_of(given->leaders, 1 << 16),
	        .backlog_bytes = limit_of(given->backlog_bytes, 1 << 24),
	};

	if (limits.user_locks > node_share(limits.locks))
		limits.user_locks = node_share(limits.locks);
	return limits;
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
	/* Parse a copy of the text, because a topology that lists its edges points into it. */
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
	node->secret = options->secret;
	node->interests.secret = options->secret;
	node->publications.secret = options->secret;
	node->algorithm = options->algorithm;
	node->topology_text = text;
	node->topology = topology;
	node->links = options->links;
	copy_parameters(node, options);
	node->turns = options->turns != 0 ? options->turns : 1;
	node->limits = fill_limits(&options->limits);
	node->bump_deadline = node->missed_deadline = NODE_NEVER;
	lease_init(&node->lease, options->lease_ns);
	roads_init(&node->roads, options->idle_hop_ns);
	lives_init(&node->lives);
	scans_init(&node->scans);
	sessions_init(&node->sessions);
	streams_init(&node->streams);
	backlog_init(&node->backlog, node->limits.backlog_bytes);
	node->name_offset =
	        sizeof(struct lock) + (options->algorithm->circulates ? sizeof(struct road *) : 0);
	packed_renew(&node->opened, 0);
	out_init(&node->out);
	return node;
}

void node_destroy(struct node *node)
{
	scans_forget(&node->scans);
	lives_free(&node->lives);
	sessions_free(&node->sessions);
	interests_free(&node->interests);
	streams_clear(&node->streams);
	publications_free(&node->publications);
	backlog_free(&node->backlog);
	table_free(node);
	packed_free(&node->opened);
	roads_free(&node->roads);
	view_free(&node->view);
	outbox_free(&node->outbox);
	out_free(&node->out);
	for (size_t i = 0; i < PARAMETERS_MAX; i++)
		free(node->texts[i]);
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
	const struct timer *timer = timers_first(&node->sessions.timers);
	uint64_t deadline = earlier(node->roads.hop_deadline, streams_deadline(&node->streams));

	if (node->stopped)
		return NODE_NEVER;
	deadline = earlier(deadline, earlier(node->lease.next, node->bump_deadline));
	deadline = earlier(deadline, node->missed_deadline);
	deadline = earlier(deadline, node->sessions.release_at);
	deadline = earlier(deadline, node->scans.due);
	return timer != NULL ? earlier(deadline, timer->deadline) : deadline;
}

/* Releases the newest lock of a retired session. Frees the session, and returns false, if that was
 * the last one. */
static bool release_newest(struct node *node, struct session *session)
{
	struct live *live = session_any_hold(session);

	if (live != NULL)
		hold_release(node, live);
	if (session_any_hold(session) != NULL)
		return true;
	session_free(&node->sessions, session);
	return false;
}

/* Releases some locks of retired sessions: one of each, in turn, so that a session with many locks
 * does not keep the others waiting. */
static void release_some(struct node *node)
{
	struct sessions *sessions = &node->sessions;
	struct session *session;

	for (int i = 0; i < RELEASES_MAX && (session = TAILQ_FIRST(&sessions->retired)) != NULL;
	     i++) {
		TAILQ_REMOVE(&sessions->retired, session, queue);
		TAILQ_INSERT_TAIL(&sessions->retired, session, queue);
		release_newest(node, session);
	}
}

static void expire(struct node *node, struct session *session)
{
	timer_clear(&node->sessions.timers, &session->timer);
	if (session->orphan) {
		session_retire(&node->sessions, session, node->now);
		return;
	}
	/* In a new view leaders are published again. This node may not know all of them until all
	 * members have reported. */
	if (session->command == COMMAND_LEADER && node->view.count != 0 && !node->view.active)
		timer_set(&node->sessions.timers, &session->timer, node->now + NODE_SILENCE_NS);
	else if (session->waits != NULL)
		wait_expire(node, session);
	else
		ask_finish(node, session);
}

/* Every entry point begins with this: it does everything that is due by `now`. */
static void advance(struct node *node, uint64_t now)
{
	struct timer *timer;

	outbox_clear_taken(&node->outbox);
	if (now > node->now)
		node->now = now;
	if (node->stopped || node_deadline(node) > node->now)
		return;
	if (node->lease.next <= node->now)
		fencing_advance(node);
	if (node->roads.hop_deadline <= node->now)
		lock_hop(node);
	if (streams_deadline(&node->streams) <= node->now)
		streams_expire(node);
	if (node->bump_deadline <= node->now)
		trouble_propose(node);
	if (node->missed_deadline <= node->now)
		event_deliver_dropped(node);
	while ((timer = timers_first(&node->sessions.timers)) != NULL &&
	       timer->deadline <= node->now && !node->stopped)
		expire(node, session_of_timer(timer));
}

/* Every entry point ends with this: it tries waiting frames again, and lets links be read again
 * when there is room. */
static void finish(struct node *node)
{
	while (node->backlog.again && !node->stopped) {
		node->backlog.again = false;
		receive_again(node);
	}
	if (backlog_reopens(&node->backlog))
		outbox_record(&node->outbox, NODE_READ);
	if (node->lease.departing && !node->stopped)
		fencing_settle(node);
}

void node_tick(struct node *node, uint64_t now)
{
	advance(node, now);
	if (node->sessions.release_at <= node->now && !node->stopped)
		release_some(node);
	if (!node->stopped)
		status_look(node);
	finish(node);
}

/* --- views --- */

void node_floor(struct node *node, uint64_t floor)
{
	node->floor_next = floor < NODE_COUNTER_MAX ? floor : NODE_COUNTER_MAX;
}

/* Drops everything except waiting clients, as if a view without this node had begun. */
static void leave_view(struct node *node)
{
	struct view none = {0};

	if (node->view.count != 0)
		recovery_begin(node, &none);
}

/* Begins a view that is well formed and new. */
static int begin_view(struct node *node, const struct node_agreement *agreement, struct view *view)
{
	node->epoch = agreement->epoch;
	node->base = agreement->base;
	node->limit = agreement->limit;
	return recovery_begin(node, view);
}

int node_view(struct node *node, uint64_t epoch, const struct node_member *members,
              uint32_t members_count, uint64_t now)
{
	struct node_agreement agreement = {
	        .epoch = epoch,
	        .base = (epoch << NODE_COUNTER_BITS) + node->floor_next,
	        .limit = (epoch << NODE_COUNTER_BITS) + NODE_COUNTER_MAX,
	};
	struct view view;

	advance(node, now);
	if (node->stopped)
		return BATON_ESTOPPED;
	if (epoch > NODE_EPOCH_MAX)
		return BATON_EVIEW;
	int error = view_make(node, epoch, members, members_count, &view);
	if (error != 0)
		return error;
	if (epoch <= node->epoch) {
		view_free(&view);
		return 0;
	}
	node->extends = false;
	error = begin_view(node, &agreement, &view);
	finish(node);
	return error;
}

static bool is_well_formed(const struct node *node, const struct node_agreement *agreement)
{
	if (agreement->base >= agreement->limit || agreement->limit > NODE_FENCE_MAX)
		return false;
	if (agreement->self == NODE_NOT_IN)
		return true;
	return agreement->self < agreement->members_count &&
	       agreement->members[agreement->self].name != NULL &&
	       strcmp(agreement->members[agreement->self].name, node->name) == 0;
}

int node_enter(struct node *node, const struct node_agreement *agreement, uint64_t now)
{
	struct view view;
	bool in = agreement->self != NODE_NOT_IN;

	advance(node, now);
	if (node->stopped)
		return BATON_ESTOPPED;
	if (!is_well_formed(node, agreement))
		return BATON_EVIEW;
	int error = view_make(node, agreement->epoch, agreement->members, agreement->members_count,
	                      &view);
	if (error != 0)
		return error;
	if (agreement->epoch <= node->epoch) {
		view_free(&view);
		return 0;
	}
	view.self = 0;
	if (in) {
		/* The view has another incarnation of this node: it was removed and has joined
		 * again before it learned of the removal. */
		if (agreement->members[agreement->self].incarnation != node->incarnation) {
			leave_view(node);
			node->incarnation = agreement->members[agreement->self].incarnation;
			lease_renew_incarnation(&node->lease);
		}
		view.self = view_find(&view, node->name);
	}
	node->extends = true;
	error = begin_view(node, agreement, &view);
	finish(node);
	return error;
}

void node_extend(struct node *node, uint64_t epoch, uint64_t limit, uint64_t now)
{
	advance(node, now);
	if (node->stopped || epoch != node->epoch || !node->extends || limit <= node->limit ||
	    limit > NODE_FENCE_MAX)
		return;
	node->limit = limit;
	node->lease.extend_at = NODE_NEVER;
	lease_schedule(&node->lease);
	lock_serve_all(node);
	finish(node);
}

int node_rejoin(struct node *node, uint64_t incarnation, uint64_t now)
{
	advance(node, now);
	if (node->stopped)
		return BATON_ESTOPPED;
	if (node->view.count != 0 || incarnation <= node->incarnation)
		return BATON_EVIEW;
	node->incarnation = incarnation;
	lease_renew_incarnation(&node->lease);
	return 0;
}

uint64_t node_epoch(const struct node *node)
{
	return node->epoch;
}

uint32_t node_self(const struct node *node)
{
	return node->view.self;
}

uint32_t node_members_count(const struct node *node)
{
	return node->view.count;
}

bool node_linked(const struct node *node, uint32_t member)
{
	return member >= 1 && member <= node->view.count && node->view.members[member - 1].linked;
}

const char *node_waiting_for(struct node *node)
{
	return view_waiting_for(node);
}

bool node_active(const struct node *node)
{
	return node->view.active;
}

bool node_reported(const struct node *node, uint32_t member)
{
	return member >= 1 && member <= node->view.count && node->view.members[member - 1].reported;
}

uint64_t node_incarnation(const struct node *node)
{
	return node->incarnation;
}

/* --- the lease --- */

void node_lease(struct node *node, uint64_t deadline, uint64_t now)
{
	advance(node, now);
	if (node->stopped)
		return;
	fencing_prolong(node, deadline);
	finish(node);
}

void node_renew(struct node *node, uint64_t now)
{
	advance(node, now);
	if (node->stopped)
		return;
	node->lease.renew_at = node->now;
	fencing_advance(node);
	finish(node);
}

void node_depart(struct node *node, uint64_t now)
{
	advance(node, now);
	if (node->stopped)
		return;
	fencing_depart(node);
	finish(node);
}

uint64_t node_lease_deadline(const struct node *node)
{
	return node->lease.deadline;
}

uint64_t node_lapses(const struct node *node)
{
	return node->lease.lapses;
}

uint64_t node_lease_word(const struct node *node)
{
	enum { LAPSE_BITS = 16 };
	uint64_t milliseconds =
	        node->lease.deadline == NODE_NEVER ? UINT64_MAX : node->lease.deadline / 1000000;

	return milliseconds << LAPSE_BITS |
	       (node->lease.lapses & ((UINT64_C(1) << LAPSE_BITS) - 1));
}

/* --- frames and effects --- */

int node_receive(struct node *node, const char *from, const uint8_t *bytes, size_t size,
                 uint64_t now)
{
	advance(node, now);
	if (node->stopped)
		return BATON_ESTOPPED;
	int error = receive_frame(node, from, bytes, size);
	finish(node);
	return error;
}

void node_congested(struct node *node, uint32_t number, bool congested, uint64_t now)
{
	advance(node, now);
	if (number == 0 || number > node->view.count || node->stopped)
		return;
	node->view.members[number - 1].congested = congested;
	if (!congested)
		event_tell_dropped(node, number);
	finish(node);
}

bool node_effect(struct node *node, struct node_effect *ret_effect)
{
	return outbox_take(&node->outbox, ret_effect);
}

/* --- sessions --- */

uint64_t node_session_open(struct node *node, const struct node_client *client, uint64_t now)
{
	advance(node, now);
	finish(node);
	if (node->sessions.count >= node->limits.sessions)
		return 0;
	return session_open(&node->sessions, client)->id;
}

void node_session_user(struct node *node, uint64_t id, struct node_user *user)
{
	struct session *session = session_find(&node->sessions, id);

	if (session != NULL)
		session_set_user(session, user);
}

void node_session_command(struct node *node, uint64_t id, const char *command)
{
	struct session *session = session_find(&node->sessions, id);

	if (session != NULL)
		session_set_command(session, command);
}

void node_session_linger(struct node *node, uint64_t id)
{
	struct session *session = session_find(&node->sessions, id);

	if (session != NULL)
		session->lingers = true;
}

void node_session_stay(struct node *node, uint64_t id)
{
	struct session *session = session_find(&node->sessions, id);

	if (session != NULL)
		session_stay(session);
}

bool node_session_evict(struct node *node, uint64_t id, const char *why, uint64_t now)
{
	advance(node, now);
	const struct session *session = session_find(&node->sessions, id);
	if (session == NULL)
		return false;
	for (int i = 0; i < RELEASES_MAX && !LIST_EMPTY(&session->holds); i++)
		hold_break(node, LIST_FIRST(&session->holds), why);
	finish(node);
	return !LIST_EMPTY(&session->holds);
}

void node_session_withdraw(struct node *node, uint64_t id, uint64_t now)
{
	advance(node, now);
	struct session *session = session_find(&node->sessions, id);
	if (session == NULL || session->waits == NULL)
		return;
	wait_withdraw(node, session);
	session_fail(node, session, BATON_ENOVIEW);
	finish(node);
}

uint32_t node_session_holds(const struct node *node, uint64_t id)
{
	const struct session *session = session_find(&node->sessions, id);
	const struct live *live;
	uint32_t count = 0;

	if (session == NULL)
		return 0;
	LIST_FOREACH (live, &session->holds, held)
		count++;
	LIST_FOREACH (live, &session->lost, held)
		count++;
	return count;
}

bool node_session_losing(const struct node *node, uint64_t id)
{
	const struct session *session = session_find(&node->sessions, id);

	return session != NULL && !LIST_EMPTY(&session->lost);
}

bool node_session_forfeit(struct node *node, uint64_t id, uint64_t now)
{
	advance(node, now);
	const struct session *session = session_find(&node->sessions, id);
	if (session == NULL)
		return false;
	for (int i = 0; i < RELEASES_MAX && !LIST_EMPTY(&session->lost); i++)
		hold_release(node, LIST_FIRST(&session->lost));
	finish(node);
	return !LIST_EMPTY(&session->lost);
}

static void close_session(struct node *node, uint64_t id, bool quits, uint64_t now)
{
	advance(node, now);
	struct session *session = session_find(&node->sessions, id);
	if (session == NULL)
		return;
	session_end_command(&node->sessions, session);
	/* Unsubscribe first, so that the session is not told of its own end. */
	event_unsubscribe_all(node, session);
	if (session->waits != NULL)
		wait_withdraw(node, session);
	wait_drop_value(node, session);
	if (quits || session->told <= node->now || session_any_hold(session) == NULL) {
		session_retire(&node->sessions, session, node->now);
		for (int i = 0; i < RELEASES_MAX && release_newest(node, session); i++)
			;
	} else {
		session->orphan = session->lingers = true;
		timer_set(&node->sessions.timers, &session->timer, session->told);
	}
	finish(node);
}

void node_session_close(struct node *node, uint64_t id, uint64_t now)
{
	close_session(node, id, false, now);
}

void node_session_quit(struct node *node, uint64_t id, uint64_t now)
{
	close_session(node, id, true, now);
}

int node_session_lease(struct node *node, uint64_t id, uint64_t now, uint64_t *ret_left_ns,
                       uint64_t *ret_lapses)
{
	advance(node, now);
	struct session *session = session_find(&node->sessions, id);
	finish(node);
	if (node->stopped)
		return BATON_ESTOPPED;
	if (session == NULL)
		return BATON_ESESSION;
	session->asks_lease = node->lease.ttl != 0;
	if (session->asks_lease && session->told < node->lease.deadline)
		session->told = node->lease.deadline;
	*ret_left_ns = lease_left(&node->lease, node->now);
	*ret_lapses = node->lease.lapses;
	return 0;
}

void node_session_grace(struct node *node, uint64_t id, uint64_t grace_ns)
{
	struct session *session = session_find(&node->sessions, id);

	if (session != NULL)
		session->grace = grace_ns;
}

/* --- commands --- */

/* Returns the session if it may give a command now, or NULL and the error. */
static struct session *begin_command(struct node *node, uint64_t id, uint64_t now, int *ret_error)
{
	advance(node, now);
	struct session *session = session_find(&node->sessions, id);

	*ret_error = 0;
	if (node->stopped)
		*ret_error = BATON_ESTOPPED;
	else if (session == NULL)
		*ret_error = BATON_ESESSION;
	else if (session->command != COMMAND_NONE)
		*ret_error = BATON_EBUSY;
	return *ret_error == 0 ? session : NULL;
}

/* Begins a command that needs the name of a lock. */
static struct session *begin_named(struct node *node, uint64_t id, const char *name,
                                   size_t name_size, uint64_t now, int *ret_error)
{
	struct session *session = begin_command(node, id, now, ret_error);

	if (session == NULL || name_is_good(name, name_size))
		return session;
	*ret_error = BATON_ENAME;
	return NULL;
}

int node_lock(struct node *node, uint64_t session_id, const char *name, size_t name_size,
              enum node_patience patience, uint64_t timeout_ns, uint64_t now)
{
	int error;
	struct session *session = begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	error = wait_begin(node, session, slice_of(name, name_size), COMMAND_LOCK, patience,
	                   timeout_ns);
	finish(node);
	return error;
}

int node_elect(struct node *node, uint64_t session_id, const char *name, size_t name_size,
               const void *value, size_t value_size, enum node_patience patience,
               uint64_t timeout_ns, uint64_t now)
{
	int error;
	struct session *session = begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	if (value_size > NODE_VALUE_MAX)
		return BATON_EVALUE;
	if (session->user != NULL && session->user->leaders >= node_share(node->limits.leaders))
		return BATON_EUSERLEADERS;
	if (node->sessions.leaders_count >= node->limits.leaders)
		return BATON_ELEADERS;
	/* Allocate one byte more, because malloc(0) may return NULL, and NULL means no value. */
	session->value = malloc(value_size + 1);
	memory_must(session->value != NULL);
	if (value_size != 0)
		memcpy(session->value, value, value_size);
	session->value_size = (uint32_t)value_size;
	session_count_leader(&node->sessions, session, 1);
	error = wait_begin(node, session, slice_of(name, name_size), COMMAND_ELECT, patience,
	                   timeout_ns);
	if (error != 0 || (session->waits == NULL && session->value != NULL))
		wait_drop_value(node, session); /* refused, or the lock is known to be taken */
	finish(node);
	return error;
}

int node_unlock(struct node *node, uint64_t session_id, const char *name, size_t name_size,
                uint64_t fence, uint64_t now)
{
	int error;
	struct session *session = begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	const struct lock *lock = table_find(node, slice_of(name, name_size));
	struct live *live = lock != NULL ? lock->live : NULL;
	if (live == NULL || live->holder != session || (fence != 0 && fence != live->fence))
		return 0;
	bool lost = live->lost;
	hold_release(node, live);
	finish(node);
	return lost ? 0 : 1;
}

static void set_name(struct question *question, const char *name, size_t size)
{
	question->name_size = (uint8_t)size;
	if (size != 0)
		memcpy(question->name, name, size);
}

/* Begins a session's question, which ends when every member has answered or counts as silent. */
static void ask_for(struct node *node, struct session *session, enum command command)
{
	session->command = command;
	timer_set(&node->sessions.timers, &session->timer, node->now + NODE_SILENCE_NS);
	ask_all(node, session);
	finish(node);
}

int node_leader(struct node *node, uint64_t session_id, const char *name, size_t name_size,
                uint64_t now)
{
	int error;
	struct session *session = begin_named(node, session_id, name, name_size, now, &error);
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
	struct session *session = begin_named(node, session_id, name, name_size, now, &error);
	if (session == NULL)
		return error;
	if (fence == 0 || fence > NODE_FENCE_MAX)
		return BATON_EFENCE;
	if (node->view.count == 0)
		return BATON_ENOVIEW;
	char why[ASK_WHY_MAX + 1];
	ask_describe_breaker(node, session, why);
	if (ask_break_here(node, slice_of(name, name_size), fence, why)) {
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
                struct node_bytes seen, uint32_t count, uint64_t now)
{
	enum { COUNT_DEFAULT = 1000 };
	int error;
	struct session *session = begin_command(node, session_id, now, &error);

	if (session == NULL)
		return error;
	if (pattern != NULL && !name_is_good(pattern, pattern_size))
		return BATON_ENAME;
	set_name(&session->question, pattern, pattern != NULL ? pattern_size : 0);
	question_set_sights(&session->question, seen);
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
	struct session *session = begin_named(node, session_id, text, text_size, now, &error);
	if (session == NULL)
		return error;
	error = event_subscribe(node, session, pattern, slice_of(text, text_size));
	if (error != 0)
		return error;
	set_name(&session->question, text, text_size);
	session->question.pattern = pattern;
	ask_for(node, session, COMMAND_SUBSCRIBE);
	return 0;
}

int node_unsubscribe(struct node *node, uint64_t session_id, bool pattern, const char *text,
                     size_t text_size, uint64_t now)
{
	int error;
	struct session *session = begin_command(node, session_id, now, &error);

	if (session == NULL)
		return error;
	if (text != NULL && !name_is_good(text, text_size))
		return BATON_ENAME;
	event_unsubscribe(node, session, pattern, slice_of(text, text_size));
	finish(node);
	return (int)session->subscriptions_count;
}

/* --- for tests and measurement --- */

uint32_t node_home(const struct node *node, const char *name, size_t name_size)
{
	return node->view.count == 0 ? 0 : view_home(&node->view, name_hash(name, name_size));
}

void node_figures(const struct node *node, struct node_figures *ret_figures)
{
	*ret_figures = node->figures;
	ret_figures->locks = node->table.count;
	ret_figures->sessions = node->sessions.count;
	ret_figures->locks_held = node->lives.held_count;
	ret_figures->locks_waited = node->lives.waited_count;
	ret_figures->waiters = node->lives.waiters_count;
	ret_figures->lock_bytes = table_bytes(node);
	ret_figures->backlog_bytes = node->backlog.bytes;
}
