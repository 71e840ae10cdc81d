/*
 * Raymond's tree algorithm.
 *
 * Kerry Raymond, "A Tree-Based Algorithm for Distributed Mutual Exclusion", ACM Transactions on
 * Computer Systems 7(1), February 1989, pages 61-77; here as Mitchell L. Neilsen describes it in "A
 * DAG-Based Algorithm for Distributed Mutual Exclusion", thesis, Kansas State University, 1989,
 * section 2.7, and by his names.
 *
 * The nodes form a tree, and NEXT points along it to the token. A node asks its neighbour NEXT, on
 * behalf of the first node in its own queue, which is itself or another neighbour. The token comes
 * back along the same path, and turns the edges as it goes.
 *
 * Network: the edges of the tree and no others, no loss. Order is not needed: a REQUEST that
 * overtakes the PRIVILEGE from the same neighbour finds a node that has asked already, and only
 * joins its queue.
 *
 * Departures, all of them where 2.7 says too little:
 * - A node that passes PRIVILEGE on and still has nodes in its queue asks the new holder at once.
 *   The text stops at "sets its ASKED variable to false"; then nobody asks for the nodes that are
 *   left (`--param text=printed:reask`).
 * - "Otherwise, a REQUEST message is forwarded": but a node that has the token, or has ASKED
 *   already, does not forward it.
 * - A node that receives PRIVILEGE and finds another node's request first in its queue passes the
 *   token on, as it does when it leaves.
 */
#include "algorithm.h"
#include "network.h"

enum { REQUEST, PRIVILEGE, MESSAGES_COUNT };

enum { PRINTED_REASK = 1 };

/*
 * The queue is a linked list in an array. The array has a place for each neighbour, in order, and a
 * last one for the node itself. So it takes constant time to see whether a neighbour is in the
 * queue and to remove the first one, even at the centre of a star with a million nodes; and equal
 * queues have equal bytes.
 */
struct state {
	/* The neighbour on the path to the token; this node itself if the token is here. */
	uint32_t NEXT;
	uint8_t USING; /* this node is in its critical section */
	uint8_t ASKED; /* this node has sent a REQUEST to NEXT */
	uint8_t padding[2];
	/* The places of the first and the last node of the queue; 0: it is empty. */
	uint32_t first, last;
	/* For each place: the next place in the queue; the place itself if it is the last; 0 if
	 * it is not in the queue. */
	uint32_t after[];
};

static size_t state_size(const struct site *site)
{
	return sizeof(struct state) + (site->neighbours_count + (size_t)1) * sizeof(uint32_t);
}

/* Returns X's place in `after`, counted from 1; 0 if X is neither a neighbour nor the node
 * itself. */
static uint32_t place_of(const struct site *site, uint32_t X)
{
	uint32_t low = 0, high = site->neighbours_count;

	if (X == site->self)
		return site->neighbours_count + 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (site_neighbour(site, middle) < X)
			low = middle + 1;
		else
			high = middle;
	}
	return low < site->neighbours_count && site_neighbour(site, low) == X ? low + 1 : 0;
}

static uint32_t node_at(const struct site *site, uint32_t place)
{
	return place <= site->neighbours_count ? site_neighbour(site, place - 1) : site->self;
}

static void enqueue(const struct site *site, struct state *node, uint32_t X)
{
	uint32_t place = place_of(site, X);

	if (node->first == 0)
		node->first = place;
	else
		node->after[node->last - 1] = place;
	node->after[place - 1] = place;
	node->last = place;
}

static uint32_t dequeue(const struct site *site, struct state *node)
{
	uint32_t place = node->first;

	node->first = node->after[place - 1];
	if (node->first == place)
		node->first = node->last = 0;
	node->after[place - 1] = 0;
	return node_at(site, place);
}

static void init(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	(void)out;
	node->NEXT = site->self == site->holder ? site->self : site->toward;
}

/* Asks NEXT for the token. One REQUEST is enough for the whole queue. */
static void ask(const struct site *site, struct state *node, struct out *out)
{
	if (node->first == 0 || node->ASKED)
		return;
	out_message(out, REQUEST);
	out_uint(out, site->self);
	out_send(out, node->NEXT);
	node->ASKED = true;
}

/* The token is here and not in use. The first node in the queue gets it, if there is one. */
static void assign_privilege(const struct site *site, struct state *node, struct out *out)
{
	if (node->first == 0)
		return;
	node->NEXT = dequeue(site, node);
	node->ASKED = false;
	if (node->NEXT == site->self) {
		node->USING = true;
		out_enter(out);
		return;
	}
	out_message(out, PRIVILEGE);
	out_send(out, node->NEXT);
	/* Printed (2.7): "… and sets its ASKED variable to false". The text ends there. */
	if (site->parameters[0] & PRINTED_REASK)
		return;
	ask(site, node, out);
}

/* X, which may be the node itself, wants the token. */
static void on_request(const struct site *site, struct state *node, uint32_t X, struct out *out)
{
	enqueue(site, node, X);
	if (node->NEXT != site->self)
		ask(site, node, out);
	else if (!node->USING)
		assign_privilege(site, node, out);
}

static void request(const struct site *site, void *state, struct out *out)
{
	on_request(site, state, site->self, out);
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->USING = false;
	assign_privilege(site, node, out);
}

static void on_privilege(const struct site *site, struct state *node, struct out *out)
{
	node->NEXT = site->self;
	assign_privilege(site, node, out);
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint32_t X = type == REQUEST ? (uint32_t)in_range(&in, 1, site->nodes) : 0;

	if (!in_end(&in))
		return BATON_EMESSAGE;
	switch (type) {
	case REQUEST: {
		uint32_t place = place_of(site, X);
		/* A neighbour asks only once. NEXT asks this node only after it has sent the
		 * token here, which this node has ASKED for. */
		if (X == site->self || place == 0 || node->after[place - 1] != 0 ||
		    (X == node->NEXT && !node->ASKED))
			return BATON_EMESSAGE;
		on_request(site, node, X, out);
		return 0;
	}
	case PRIVILEGE:
		if (!node->ASKED)
			return BATON_EMESSAGE;
		on_privilege(site, node, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	return ((const struct state *)state)->NEXT == site->self;
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "NEXT");
	writer_uint(writer, node->NEXT);
	writer_key(writer, "USING");
	writer_bool(writer, node->USING);
	writer_key(writer, "ASKED");
	writer_bool(writer, node->ASKED);
	writer_key(writer, "queue");
	writer_open(writer, '[');
	for (uint32_t place = node->first; place != 0;) {
		writer_uint(writer, node_at(site, place));
		place = place == node->last ? 0 : node->after[place - 1];
	}
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

/* A node that has the token and does not use it has an empty queue. */
static bool token_is_not_kept_from_the_queue(const struct site *site, const void *state)
{
	const struct state *node = state;

	if (node->NEXT != site->self)
		return !node->USING;
	return !node->ASKED && (node->USING || node->first == 0);
}

/* While the token is elsewhere, ASKED is true if and only if the queue is not empty. With the
 * printed text ASKED may be false although nodes wait. That direction is then not checked, so that
 * the search goes on and finds the harm that follows. */
static bool asks_while_somebody_waits(const struct site *site, const void *state)
{
	const struct state *node = state;

	if (node->NEXT == site->self)
		return true;
	if (site->parameters[0] & PRINTED_REASK)
		return !node->ASKED || node->first != 0;
	return node->ASKED == (node->first != 0);
}

static uint32_t next_of(const struct snapshot *snapshot, uint32_t node)
{
	return ((const struct state *)snapshot->states[node - 1])->NEXT;
}

/*
 * "The NEXT variables always indicate the direction in which the token is located": no two
 * neighbours point to each other, unless the token is on its way between them. A walk in a tree
 * that never turns back must end. So the NEXT variables lead from every node to the token.
 */
static bool next_leads_to_the_token(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes, turned_count = 0, flying_count = 0;
	bool held = false;

	for (uint32_t i = 1; i <= nodes; i++) {
		uint32_t j = next_of(snapshot, i);
		held = held || j == i;
		if (j < i && next_of(snapshot, j) == i)
			turned_count++;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		if (flight->message.body[0] != PRIVILEGE)
			continue;
		uint32_t j = next_of(snapshot, flight->to);
		if (j == flight->to || next_of(snapshot, j) != flight->to)
			return false;
		flying_count++;
	}
	/* If the token was lost, there is nothing to lead to. */
	return turned_count == flying_count || (!held && flying_count == 0);
}

/*
 * Follows the queues: starts at the node that has the token or is about to get it, goes to the
 * first node in its queue, from there to the first in that node's queue, and so on. Nodes that come
 * after a neighbour in a queue are not listed: they are served only when the token comes back, and
 * by then other requests may have come before them.
 */
static uint32_t queue(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	uint32_t count = 0, at = 0;

	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		if (((const struct state *)snapshot->states[i - 1])->NEXT == i)
			at = i;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		if (snapshot->flights[k].message.body[0] == PRIVILEGE)
			at = snapshot->flights[k].to;
	}
	for (uint32_t k = 0; k < snapshot->network->graph.nodes && at != 0; k++) {
		struct site site = network_site(snapshot->network, at);
		const struct state *node = snapshot->states[at - 1];
		uint32_t place = node->first;
		if (place != 0 && node_at(&site, place) == at) {
			ret_queue[count++] = at;
			place = node->after[place - 1] != place ? node->after[place - 1] : 0;
		}
		at = place != 0 ? node_at(&site, place) : 0;
	}
	return count;
}

/* Returns the place after this one in the queue of a node; 0: none, or the state makes no sense. */
static uint32_t place_after(const struct site *site, const struct state *node, uint32_t place)
{
	uint32_t next = node->after[place - 1];

	return next == place || next > site->neighbours_count + 1 ? 0 : next;
}

static uint32_t first_place(const struct site *site, const struct state *node)
{
	return node->first > site->neighbours_count + 1 ? 0 : node->first;
}

/*
 * At rest the queues make a tree. The token visits this tree in order. When a queue names a
 * neighbour, the token goes there, serves everybody who waits on that side, and comes back, because
 * the node that passed the token on has asked for it again. A node's NEXT is the way back.
 */
static uint32_t queue_at_rest(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	uint32_t nodes = snapshot->network->graph.nodes, count = 0, at = 1;

	while (at < nodes && next_of(snapshot, at) != at)
		at++;
	struct site site = network_site(snapshot->network, at);
	uint32_t place = first_place(&site, snapshot->states[at - 1]);
	/* Each edge is passed at most once in each direction, and each node is listed once. */
	for (uint64_t steps = 0; steps <= UINT64_C(3) * nodes; steps++) {
		const struct state *node = snapshot->states[at - 1];
		uint32_t from = at;
		if (place != 0 && node_at(&site, place) == at) {
			if (!queue_append(snapshot, ret_queue, &count, at))
				return 0;
			place = place_after(&site, node, place);
			continue;
		}
		at = place != 0 ? node_at(&site, place) : node->NEXT;
		if (at == from)
			return count;
		if (at == 0 || at > nodes)
			return 0;
		site = network_site(snapshot->network, at);
		node = snapshot->states[at - 1];
		if (place != 0) {
			place = first_place(&site, node);
			continue;
		}
		uint32_t back = place_of(&site, from);
		if (back == 0)
			return 0;
		place = place_after(&site, node, back);
	}
	return 0;
}

const struct algorithm raymond = {
        .name = "raymond",
        .title = "Raymond: requests and token along a tree that points to the token",
        .year = 1989,
        .source = SOURCE_ACCOUNT,
        .rules = "Neilsen 2.7",
        .nodes_checked = 5,
        .kind = KIND_MUTEX,
        .links = GRAPH_TREE,
        .topology = "star",
        .has_token = true,
        .claim_messages = "0 to 2D",
        .claim_delay = "D",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [PRIVILEGE] = {.name = "PRIVILEGE", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"NEXT", VARIABLE_NODE},
                        {"USING", VARIABLE_PLAIN},
                        {"ASKED", VARIABLE_PLAIN},
                        {"queue", VARIABLE_QUEUE},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        {
                                .name = "text",
                                .help = "printed: a node that passes the token on does not ask for "
                                        "the nodes left in its queue",
                                .choices =
                                        (const struct parameter_choice[]){
                                                {"mended", 0},
                                                {"printed", PRINTED_REASK},
                                                {"printed:reask", PRINTED_REASK},
                                                {NULL, 0},
                                        },
                        },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "token_is_not_kept_from_the_queue",
                         .meaning =
                                 "a node that has the token and does not use it has an empty queue",
                         .local = token_is_not_kept_from_the_queue},
                        {.name = "asks_while_somebody_waits",
                         .meaning = "a node without the token has asked for it if and only if its "
                                    "queue is not empty",
                         .local = asks_while_somebody_waits},
                        {.name = "next_leads_to_the_token",
                         .meaning = "from every node NEXT leads to the token",
                         .global = next_leads_to_the_token},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .has_privilege = has_privilege,
        .describe = describe,
        .show = show,
        .origin = origin,
        .queue = queue,
        .queue_at_rest = queue_at_rest,
};
