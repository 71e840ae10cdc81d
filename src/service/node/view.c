/*
 * Views: what is thrown away, what is carried over, and when the node serves again.
 *
 * Within an epoch the members are fixed and nothing is lost; a new epoch begins on a clean table. A
 * node that learns of it stops at once, tells all members which locks its clients are inside, and
 * serves when it knows that of all members. A lock that somebody is inside is closed: nobody asks for
 * it, until the member that reported it returns it. So no token can be made for a lock that a
 * client holds by an older one.
 */
#include "frame.h"

#include "memory.h"
#include "outbuffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT_SIZE = 1 << 15 };

uint64_t view_fence(const struct node *node, uint64_t counter)
{
	return (node->epoch << NODE_COUNTER_BITS) + node->floor + counter;
}

static void free_returned(struct view *view)
{
	while (view->returned != NULL) {
		struct returned *next = view->returned->next;
		free(view->returned);
		view->returned = next;
	}
}

void view_free(struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		free(view->members[i].name);
		free(view->members[i].address);
	}
	free(view->members);
	free(view->memory);
	free(view->shared);
	free(view->unsuitable);
	free_returned(view);
}

static int compare_members(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static char *copy_text(const char *text)
{
	if (text == NULL)
		return NULL;
	char *copy = strdup(text);
	memory_must(copy != NULL);
	return copy;
}

static bool is_well_formed(uint64_t epoch, const struct node_member *members, uint32_t count)
{
	if (epoch == 0 || epoch > NODE_EPOCH_MAX || count == 0 || count > NODE_MEMBERS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (members[i].name == NULL ||
		    !name_is_good(members[i].name, strlen(members[i].name)))
			return false;
	}
	return true;
}

/* The members in order; false if a name is there twice. */
static bool sort_members(struct view *view, const struct node_member *members, uint32_t count)
{
	view->members = calloc(count, sizeof(*view->members));
	memory_must(view->members != NULL);
	view->count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct member *member = &view->members[i];
		member->name = copy_text(members[i].name);
		member->address = copy_text(members[i].address);
		member->incarnation = members[i].incarnation;
		member->hash = name_hash(member->name, strlen(member->name));
	}
	qsort(view->members, count, sizeof(*view->members), compare_members);
	for (uint32_t i = 1; i < count; i++) {
		if (strcmp(view->members[i - 1].name, view->members[i].name) == 0)
			return false;
	}
	return true;
}

__attribute__((format(printf, 2, 3))) static bool unsuitable(struct view *view, const char *format,
                                                             ...)
{
	va_list arguments;

	va_start(arguments, format);
	memory_must(vasprintf(&view->unsuitable, format, arguments) > 0);
	va_end(arguments);
	return false;
}

/* By which neighbour each member is reached along the graph; `parent` is toward this node. */
static void find_routes(const struct view *view, const uint32_t *parent, uint32_t *ret_route)
{
	for (uint32_t i = 1; i <= view->count; i++) {
		uint32_t at = i;
		while (at != view->self && parent[at - 1] != view->self)
			at = parent[at - 1];
		ret_route[i - 1] = i == view->self ? 0 : at;
	}
}

/* What the algorithm asks of the graph, and the graph's own. */
static bool fit_graph(const struct node *node, struct view *view, uint32_t *arrays)
{
	const struct algorithm *algorithm = node->algorithm;
	struct network *network = &view->network;
	uint32_t count = view->count;
	uint32_t *scratch = arrays, *route = arrays + count, *left = arrays + 2UL * count,
	         *right = arrays + 3UL * count;
	enum graph_class needed =
	        algorithm->shape != GRAPH_NONE ? algorithm->shape : algorithm->links;

	if (!graph_is(&network->graph, GRAPH_CONNECTED, scratch) ||
	    !graph_is(&network->graph, needed, scratch))
		return unsuitable(view, "topology %s of %u members does not suit %s",
		                  node->topology_text, count, algorithm->name);
	view->complete = algorithm->links == GRAPH_COMPLETE ||
	                 graph_is(&network->graph, GRAPH_COMPLETE, scratch);
	graph_toward(&network->graph, view->self, left, scratch);
	find_routes(view, left, route);
	if (needed == GRAPH_TREE)
		view->toward = route;
	if (needed == GRAPH_RING) {
		graph_ring(&network->graph, left, right);
		network->left = left;
		network->right = right;
	}
	for (uint32_t i = 1; i <= count; i++) {
		struct member *member = &view->members[i - 1];
		member->linked = i != view->self &&
		                 (view->complete || graph_adjacent(&network->graph, view->self, i));
		member->route = view->complete ? i : route[i - 1];
	}
	return true;
}

static bool prepare(const struct node *node, struct view *view)
{
	const struct algorithm *algorithm = node->algorithm;

	if (algorithm->prepare == NULL)
		return true;
	view->shared = calloc(1, algorithm->shared_size(&view->network));
	memory_must(view->shared != NULL);
	const char *wrong = algorithm->prepare(&view->network, view->shared);
	if (wrong != NULL)
		return unsuitable(view, "%s with %u members: %s", algorithm->name, view->count,
		                  wrong);
	view->network.shared = view->shared;
	return true;
}

/* Does a lock do anything before somebody asks? Then its home must be told that there is one. */
static bool starts_by_itself(const struct view *view)
{
	const struct algorithm *algorithm = view->network.algorithm;
	struct site site = view->site;
	struct out out;
	void *state = calloc(1, view->state_size + 1);

	memory_must(state != NULL);
	out_init(&out);
	site.holder = site.self;
	algorithm->init(&site, state, &out);
	bool starts = out.effects_count != 0;
	out_free(&out);
	free(state);
	return starts;
}

/* False, and the reason, if the algorithm cannot run with so many members. */
static bool make_network(const struct node *node, struct view *view)
{
	uint32_t fixed = topology_nodes(&node->topology);

	if (fixed != 0 && fixed != view->count)
		return unsuitable(view, "topology %s is for %u members, and there are %u",
		                  node->topology_text, fixed, view->count);
	size_t size = topology_memory(&node->topology, view->count);
	must(size != 0);
	view->memory = malloc(size + 4UL * view->count * sizeof(uint32_t));
	memory_must(view->memory != NULL);
	view->network.algorithm = node->algorithm;
	view->network.holder = view->self;
	memcpy(view->network.parameters, node->parameters, sizeof(node->parameters));
	for (size_t i = 0; i < PARAMETERS_MAX; i++)
		view->network.texts[i] = node->texts[i];
	topology_build(&node->topology, view->count, node->seed, view->memory,
	               &view->network.graph);
	if (!fit_graph(node, view, (uint32_t *)(void *)((char *)view->memory + size)) ||
	    !prepare(node, view))
		return false;
	view->site = network_site(&view->network, view->self);
	view->state_size = node->algorithm->state_size(&view->site);
	view->starts = starts_by_itself(view);
	return true;
}

static void free_pending(struct node *node, struct live *live)
{
	while (live->pending != NULL) {
		struct parcel *next = live->pending->next;
		node->backlog.bytes -= sizeof(*live->pending) + live->pending->size;
		free(live->pending);
		live->pending = next;
	}
	live->end = &live->pending;
}

/* Nothing is left of the old epoch but clients that wait and clients that hold. */
static void throw_away(struct node *node)
{
	struct live *next;

	for (struct live *live = node->lives; live != NULL; live = next) {
		next = live->next;
		free_pending(node, live);
		probes_forget(live);
		live->closed_by = 0;
		live->touched = false;
		live->turns = 0;
		live->carried = live->holder != NULL;
		if (live->holder == NULL && live->first == NULL)
			live_drop(node, live);
	}
	node->due_count = 0;
	node->hop_deadline = node->bump_deadline = NODE_NEVER;
	publications_clear(&node->publications);
	interests_clear_remote(node);
	streams_flush(node);
}

static void close_lock(struct node *node, struct live *live, uint32_t member)
{
	live->closed_by = member;
	node->view.closed_count++;
}

/* Nobody can be told who leads, and no lock can be passed on: what is held is lost for good. */
static void lose_holds(struct node *node)
{
	struct live *next;

	for (struct live *live = node->lives; live != NULL; live = next) {
		next = live->next;
		if (live->holder != NULL)
			live_lose(node, live, NODE_LOST_VIEW);
	}
}

static void report(struct node *node)
{
	const struct live *live = node->lives;

	do {
		control_begin(node, FRAME_REPORT, 0);
		size_t last = node->outbox.bytes_count;
		put_byte(node, true);
		for (; live != NULL && control_size(node) < REPORT_SIZE; live = live->next) {
			struct slice name = lock_name(node, live->lock);
			if (live->holder == NULL)
				continue;
			put_name(node, name.bytes, name.size);
			put_uint(node, live->fence);
		}
		node->outbox.bytes[last] = live == NULL;
		control_end(node, 0);
	} while (live != NULL);
}

/* Whoever waits and wants to know whether the lock is busy: it is, or all are asked. */
static void settle_impatient(struct node *node, struct live *live)
{
	struct session *next;

	for (struct session *session = live->first; session != NULL; session = next) {
		next = session->queue_next;
		if (session->patience != NODE_NOWAIT && !session->asks_last)
			continue;
		if (live->closed_by == 0) {
			ask_probe(node, session);
			continue;
		}
		live_withdraw(node, session);
		session_reply(node, session, REPLY_NIL, 0);
	}
}

static void activate_if_reported(struct node *node)
{
	struct live *next;

	if (node->view.reported_count < node->view.count || node->stopped)
		return;
	node->view.active = true;
	node->backlog.again = true;
	for (struct live *live = node->lives; live != NULL; live = next) {
		next = live->next;
		if (live->closed_by == 0)
			lock_settle(node, live->lock);
		settle_impatient(node, live);
	}
}

static void begin(struct node *node)
{
	struct view *view = &node->view;

	for (struct live *live = node->lives; live != NULL; live = live->next) {
		if (live->holder != NULL)
			close_lock(node, live, view->self);
	}
	/* First: who has all reports may grant, and is to tell those who want to know; and it knows
	 * who leads. */
	interests_send(node);
	for (const struct live *live = node->lives; live != NULL; live = live->next) {
		if (live->holder != NULL && live->value != NULL)
			leader_publish(node, live, 0);
	}
	report(node);
	ask_again(node);
	view->members[view->self - 1].reported = true;
	view->reported_count = 1;
	activate_if_reported(node);
}

static uint32_t find_self(const struct node *node, const struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		if (strcmp(view->members[i].name, node->name) == 0 &&
		    view->members[i].incarnation == node->incarnation)
			return i + 1;
	}
	return 0;
}

static int change(struct node *node, struct view *next)
{
	struct view old = node->view;
	bool suits = next->self != 0 && make_network(node, next);

	throw_away(node);
	if (next->self == 0) {
		view_free(next);
		*next = (struct view){0};
	}
	node->view = *next;
	node->view.site.parameters = node->view.network.parameters; /* they moved */
	table_renew(node);
	view_free(&old);
	node->backlog.again = true;
	if (next->self == 0)
		lose_holds(node);
	if (suits)
		begin(node);
	else
		ask_again(node);
	return suits || next->self == 0 ? 0 : BATON_EVIEW;
}

void node_floor(struct node *node, uint64_t floor)
{
	node->floor_next = floor < NODE_COUNTER_MAX ? floor : NODE_COUNTER_MAX;
}

int node_view(struct node *node, uint64_t epoch, const struct node_member *members,
              uint32_t members_count, uint64_t now)
{
	struct view view = {0};

	advance(node, now);
	if (node->stopped)
		return BATON_ESTOPPED;
	if (!is_well_formed(epoch, members, members_count))
		return BATON_EVIEW;
	if (!sort_members(&view, members, members_count)) {
		view_free(&view);
		return BATON_EVIEW;
	}
	if (epoch <= node->epoch) {
		view_free(&view);
		return 0;
	}
	view.self = find_self(node, &view);
	node->epoch = epoch;
	node->floor = node->floor_next;
	int error = change(node, &view);
	finish(node);
	return error;
}

int node_rejoin(struct node *node, uint64_t incarnation, uint64_t now)
{
	advance(node, now);
	if (node->stopped)
		return BATON_ESTOPPED;
	if (node->view.count != 0 || incarnation <= node->incarnation)
		return BATON_EVIEW;
	node->incarnation = incarnation;
	return 0;
}

/* --- reports and returns --- */

static struct returned **find_returned(struct view *view, uint32_t member, struct slice name)
{
	struct returned **at = &view->returned;

	while (*at != NULL && ((*at)->member != member || (*at)->name_size != name.size ||
	                       memcmp((*at)->name, name.bytes, name.size) != 0))
		at = &(*at)->next;
	return at;
}

static void close_reported(struct node *node, uint32_t member, struct slice name)
{
	struct returned **returned = find_returned(&node->view, member, name);
	uint64_t hash = name_hash(name.bytes, name.size);

	if (*returned != NULL) {
		struct returned *next = (*returned)->next;
		free(*returned);
		*returned = next;
		return;
	}
	struct live *live = lock_live(node, lock_get(node, name.bytes, name.size, hash));
	if (live->closed_by == member)
		return;
	if (live->closed_by != 0) {
		stop(node, "two members report that they hold one lock");
		return;
	}
	close_lock(node, live, member);
}

int on_report(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct member *member = &node->view.members[frame->origin - 1];
	bool last = in_byte(&in, true);
	struct in holds = in;

	while (!in.bad && in.next < in.end) {
		in_name(&in);
		in_range(&in, 1, (UINT64_C(1) << 53) - 1);
	}
	if (in.bad || member->reported)
		return BATON_EMESSAGE;
	while (holds.next < holds.end && !node->stopped) {
		close_reported(node, frame->origin, in_name(&holds));
		in_uint(&holds);
	}
	if (!last)
		return 0;
	member->reported = true;
	node->view.reported_count++;
	activate_if_reported(node);
	return 0;
}

static void remember_return(struct view *view, uint32_t member, struct slice name)
{
	struct returned *returned = malloc(sizeof(*returned) + name.size);

	memory_must(returned != NULL);
	*returned = (struct returned){
	        .next = view->returned, .member = member, .name_size = (uint8_t)name.size};
	memcpy(returned->name, name.bytes, name.size);
	view->returned = returned;
}

int on_return(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct slice name = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	const struct lock *lock =
	        lock_find(node, name.bytes, name.size, name_hash(name.bytes, name.size));
	if (lock != NULL && lock->live != NULL && lock->live->closed_by == frame->origin) {
		lock_open(node, lock->live);
		stream_opened(node, name);
	} else if (!node->view.members[frame->origin - 1].reported &&
	           *find_returned(&node->view, frame->origin, name) == NULL) {
		remember_return(&node->view, frame->origin, name);
	}
	return 0;
}

void send_return(struct node *node, const struct live *live)
{
	struct slice name = lock_name(node, live->lock);

	control_begin(node, FRAME_RETURN, 0);
	put_name(node, name.bytes, name.size);
	control_end(node, 0);
}

/* --- what is asked of a view --- */

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

uint32_t node_home(const struct node *node, const char *name, size_t name_size)
{
	return node->view.count == 0 ? 0 : name_home(&node->view, name_hash(name, name_size));
}

const char *node_waiting_for(struct node *node)
{
	const struct view *view = &node->view;
	size_t used, size = 0;

	if (node->stopped)
		return "nothing: it has stopped";
	if (view->count == 0)
		return "a view that has this node in it";
	if (view->unsuitable != NULL)
		return view->unsuitable;
	if (view->active)
		return NULL;
	free(node->waiting_text);
	node->waiting_text = NULL;
	FILE *text = open_memstream(&node->waiting_text, &size);
	memory_must(text != NULL);
	fputs("the reports of", text);
	used = 0;
	for (uint32_t i = 0; i < view->count; i++) {
		if (!view->members[i].reported)
			fprintf(text, "%s %s", used++ == 0 ? "" : ",", view->members[i].name);
	}
	must(fclose(text) == 0);
	return node->waiting_text;
}
