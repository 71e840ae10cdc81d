/*
 * A central coordinator, to compare the other algorithms with.
 *
 * Node 1 keeps a queue. A node that wants to enter asks node 1, is told when it may enter, and
 * tells node 1 when it has left. This is the "centralized scheme" with which Neilsen's thesis
 * compares itself (1989, chapter 6: three messages for an entry, none for the coordinator's own, a
 * synchronization delay of two). The coordinator's own requests and grants are part of the same
 * step and cost no message.
 *
 * Network: a link between node 1 and every other, no loss, any order.
 *
 * Departures. There is no printed text to depart from: the thesis names the three messages and
 * counts them. Requests are served in the order in which they arrive at node 1, and the
 * coordinator is always node 1.
 */
#include "algorithm.h"
#include "network.h"

#include <string.h>

enum { REQUEST, GRANT, RELEASE, MESSAGES_COUNT };

enum { COORDINATOR = 1 };

/* The coordinator uses all fields. The others only use `waits`. */
struct state {
	uint32_t waits;  /* this node has asked and is not inside yet */
	uint32_t inside; /* the node that may be inside; 0: none */
	uint32_t queue_count;
	uint32_t queue[]; /* the nodes that wait for a grant, with room for all */
};

static size_t state_size(const struct site *site)
{
	return site->self == COORDINATOR ? sizeof(struct state) + site->nodes * sizeof(uint32_t)
	                                 : sizeof(uint32_t);
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

/* The coordinator lets a node in, which may be itself. */
static void grant(const struct site *site, struct state *node, uint32_t to, struct out *out)
{
	node->inside = to;
	if (to == site->self) {
		node->waits = false;
		out_enter(out);
	} else {
		out_message(out, GRANT);
		out_send(out, to);
	}
}

static void on_request(const struct site *site, struct state *node, uint32_t from, struct out *out)
{
	if (node->inside == 0)
		grant(site, node, from, out);
	else
		node->queue[node->queue_count++] = from;
}

static void on_release(const struct site *site, struct state *node, struct out *out)
{
	node->inside = 0;
	if (node->queue_count == 0)
		return;
	uint32_t next = node->queue[0];
	node->queue_count--;
	memmove(node->queue, node->queue + 1, node->queue_count * sizeof(*node->queue));
	node->queue[node->queue_count] = 0;
	grant(site, node, next, out);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->waits = true;
	if (site->self == COORDINATOR) {
		on_request(site, node, COORDINATOR, out);
		return;
	}
	out_message(out, REQUEST);
	out_uint(out, site->self);
	out_send(out, COORDINATOR);
}

static void release(const struct site *site, void *state, struct out *out)
{
	if (site->self == COORDINATOR) {
		on_release(site, state, out);
		return;
	}
	out_message(out, RELEASE);
	out_send(out, COORDINATOR);
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint32_t from = type == REQUEST ? (uint32_t)in_range(&in, 1, site->nodes) : 0;
	bool coordinates = site->self == COORDINATOR;

	if (!in_end(&in) || from == site->self || coordinates != (type != GRANT))
		return BATON_EMESSAGE;
	switch (type) {
	case REQUEST:
		if (node->queue_count == site->nodes)
			return BATON_EMESSAGE;
		on_request(site, node, from, out);
		return 0;
	case GRANT:
		if (!node->waits)
			return BATON_EMESSAGE;
		node->waits = false;
		out_enter(out);
		return 0;
	case RELEASE:
		if (node->inside == 0 || node->inside == COORDINATOR)
			return BATON_EMESSAGE;
		on_release(site, node, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "waits");
	writer_bool(writer, node->waits != 0);
	if (site->self != COORDINATOR)
		return;
	writer_key(writer, "inside");
	writer_uint(writer, node->inside);
	writer_key(writer, "queue");
	writer_open(writer, '[');
	for (uint32_t k = 0; k < node->queue_count; k++)
		writer_uint(writer, node->queue[k]);
	writer_close(writer, ']');
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	if (message->body[0] != REQUEST)
		return;
	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

static uint32_t origin(const struct message *message)
{
	struct in in = in_message(message);
	return message->body[0] == REQUEST ? (uint32_t)in_uint(&in) : 0;
}

/* While nobody is inside, nobody waits in the coordinator's queue. */
static bool nobody_waits_in_vain(const struct site *site, const void *state)
{
	const struct state *node = state;
	return site->self != COORDINATOR || node->inside != 0 || node->queue_count == 0;
}

/* Nodes are served in the order in which the coordinator has received their requests. */
static uint32_t queue(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	const struct state *coordinator = snapshot->states[COORDINATOR - 1];
	uint32_t nodes = snapshot->network->graph.nodes, count = 0;

	for (size_t k = 0; k < snapshot->flights_count; k++) {
		if (snapshot->flights[k].message.body[0] == GRANT)
			ret_queue[count++] = snapshot->flights[k].to;
	}
	for (uint32_t k = 0; k < coordinator->queue_count && k < nodes; k++) {
		if (!queue_append(snapshot, ret_queue, &count, coordinator->queue[k]))
			break;
	}
	return count;
}

const struct algorithm central = {
        .name = "central",
        .title = "A central coordinator: it keeps the queue; for comparison",
        .year = 1989,
        .source = SOURCE_RECONSTRUCTED,
        .rules = "Neilsen 6",
        .nodes_checked = 5,
        .kind = KIND_MUTEX,
        .links = GRAPH_STAR,
        .topology = "star",
        .claim_messages = "0 or 3",
        .claim_delay = "2",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [GRANT] = {.name = "GRANT", .role = ROLE_PERMITS},
                        [RELEASE] = {.name = "RELEASE", .role = ROLE_GIVES_BACK},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"waits", VARIABLE_PLAIN},
                        {"inside", VARIABLE_NODE},
                        {"queue", VARIABLE_QUEUE},
                        {NULL, VARIABLE_PLAIN},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "nobody_waits_in_vain",
                         .meaning = "nobody is in the coordinator's queue while nobody is inside",
                         .local = nobody_waits_in_vain},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .describe = describe,
        .show = show,
        .origin = origin,
        .queue = queue,
        .queue_at_rest = queue,
};
