/*
 * Neilsen's DAG-based algorithm.
 *
 * Mitchell L. Neilsen, "A DAG-Based Algorithm for Distributed Mutual Exclusion", thesis, Kansas
 * State University, 1989; Figure 3 (the algorithm) and Figure 5 (the initialization).
 *
 * Requests follow a logical tree whose edges all point to its sink, the node that will be served
 * last. Each request turns the edges on its way towards its origin, which becomes the new sink. The
 * FOLLOW variable of a node says which node is served after it. So neither a node nor the token
 * keeps a queue, and the token goes straight to the next node.
 *
 * Network: every pair of nodes is linked, no loss. Order is not needed, though chapter 2 assumes
 * it: an edge of the tree carries at most one REQUEST, and if a REQUEST overtakes the PRIVILEGE
 * from the same node, FOLLOW is only set earlier.
 *
 * Departures: none in Figures 3 and 5. `--param init=computed` (the default) starts from the state
 * that Figure 5 ends in.
 */
#include "algorithm.h"
#include "network.h"

enum { REQUEST, PRIVILEGE, INITIALIZE, MESSAGES_COUNT };

enum { INIT_COMPUTED, INIT_WAVE };

struct state {
	uint32_t NEXT;   /* the node that requests are passed on to; 0: this node is a sink */
	uint32_t FOLLOW; /* the node that is served after this one; 0: none yet */
	uint8_t HOLDING; /* this node has the token and is not in its critical section */
	/* An enum that stands for the program counter of Figure 3: P1 waits for PRIVILEGE, or is in
	 * its critical section, or neither. */
	uint8_t using;
	uint8_t initialized;
	uint8_t padding;
};

enum { USING_NOT, USING_WAITS, USING_INSIDE };

static size_t state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct state);
}

static void send_initialize(const struct site *site, uint32_t except, struct out *out)
{
	out_message(out, INITIALIZE);
	out_uint(out, site->self);
	for (uint32_t k = 0; k < site->neighbours_count; k++) {
		if (site_neighbour(site, k) != except)
			out_send(out, site_neighbour(site, k));
	}
}

/* The initialization of Figure 5. */
static void init(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;
	bool wave = site->parameters[0] == INIT_WAVE;

	if (site->self == site->holder) {
		node->HOLDING = true;
		node->initialized = true;
		if (wave)
			send_initialize(site, 0, out);
	} else if (!wave) {
		node->NEXT = site->toward;
		node->initialized = true;
	}
}

static bool ready(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->initialized;
}

static void enter(struct state *node, struct out *out)
{
	node->HOLDING = false;
	node->using = USING_INSIDE;
	out_enter(out);
}

/* P1 of Figure 3, up to the critical section. */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	if (node->HOLDING) {
		enter(node, out);
		return;
	}
	out_message(out, REQUEST);
	out_uint(out, site->self);
	out_uint(out, site->self);
	out_send(out, node->NEXT);
	node->NEXT = 0;
	node->using = USING_WAITS;
}

static void send_privilege(uint32_t to, struct out *out)
{
	out_message(out, PRIVILEGE);
	out_send(out, to);
}

/* P1 of Figure 3, after the critical section. */
static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	(void)site;
	node->using = USING_NOT;
	if (node->FOLLOW != 0) {
		send_privilege(node->FOLLOW, out);
		node->FOLLOW = 0;
	} else {
		node->HOLDING = true;
	}
}

/* P2 of Figure 3. */
static void on_request(const struct site *site, struct state *node, uint32_t X, uint32_t Y,
                       struct out *out)
{
	if (node->NEXT == 0) { /* this node is a sink */
		if (node->HOLDING) {
			send_privilege(Y, out);
			node->HOLDING = false;
		} else {
			node->FOLLOW = Y;
		}
	} else {
		out_message(out, REQUEST);
		out_uint(out, site->self);
		out_uint(out, Y);
		out_send(out, node->NEXT);
	}
	node->NEXT = X;
}

static void on_initialize(const struct site *site, struct state *node, uint32_t J, struct out *out)
{
	node->NEXT = J;
	node->initialized = true;
	send_initialize(site, J, out);
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint32_t X = type == PRIVILEGE ? 0 : (uint32_t)in_range(&in, 1, site->nodes);
	uint32_t Y = type == REQUEST ? (uint32_t)in_range(&in, 1, site->nodes) : 0;

	if (!in_end(&in) || X == site->self || Y == site->self)
		return BATON_EMESSAGE;
	switch (type) {
	case REQUEST:
		if (!node->initialized)
			return BATON_EMESSAGE;
		on_request(site, node, X, Y, out);
		return 0;
	case PRIVILEGE:
		if (node->using != USING_WAITS)
			return BATON_EMESSAGE;
		enter(node, out);
		return 0;
	case INITIALIZE:
		if (node->initialized)
			return BATON_EMESSAGE;
		on_initialize(site, node, X, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	return node->HOLDING || node->using == USING_INSIDE;
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;
	(void)site;
	writer_key(writer, "HOLDING");
	writer_bool(writer, node->HOLDING);
	writer_key(writer, "NEXT");
	writer_uint(writer, node->NEXT);
	writer_key(writer, "FOLLOW");
	writer_uint(writer, node->FOLLOW);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	if (message->body[0] == PRIVILEGE)
		return;
	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	if (message->body[0] == REQUEST)
		writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

static uint32_t origin(const struct message *message)
{
	struct in in = in_message(message);

	if (message->body[0] != REQUEST)
		return 0;
	in_uint(&in);
	return (uint32_t)in_uint(&in);
}

/* Lemma 1: a sink has the token or waits for it, and no request has reached it since. */
static bool sink_has_or_awaits_the_token(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	if (!node->initialized || node->NEXT != 0)
		return true;
	return (node->HOLDING || node->using != USING_NOT) && node->FOLLOW == 0;
}

/* In Figure 4 a node that is HOLDING is always a sink, and no node follows it. */
static bool holding_is_a_sink(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	return !node->HOLDING || (node->NEXT == 0 && node->FOLLOW == 0 && node->using == USING_NOT);
}

/* "The global waiting queue … is easily known by following the FOLLOW values starting from the
 * current token holder" (4.2). A REQUEST that is still on its way is not listed, because a later
 * one may overtake it. */
static uint32_t queue(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	uint32_t nodes = snapshot->network->graph.nodes, count = 0, last = 0;
	const struct state *node;

	for (uint32_t i = 1; i <= nodes; i++) {
		node = snapshot->states[i - 1];
		if (node->HOLDING || node->using == USING_INSIDE)
			last = i;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		if (snapshot->flights[k].message.body[0] == PRIVILEGE)
			ret_queue[count++] = last = snapshot->flights[k].to;
	}
	while (last != 0) {
		node = snapshot->states[last - 1];
		last = node->FOLLOW;
		if (!queue_append(snapshot, ret_queue, &count, last))
			break;
	}
	return count;
}

/* Lemma 2: every node is on a path, of length less than N, to a sink. */
static bool every_path_ends_at_a_sink(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t I = 1; I <= nodes; I++) {
		uint32_t at = I;
		for (uint32_t m = 1; m <= nodes && at != 0; m++)
			at = ((const struct state *)snapshot->states[at - 1])->NEXT;
		if (at != 0)
			return false;
	}
	return true;
}

static bool is_edge(const struct site *site, uint32_t to)
{
	uint32_t k = 0;

	while (k < site->neighbours_count && site_neighbour(site, k) != to)
		k++;
	return k < site->neighbours_count;
}

/* Counts how often the edge is in use: as a NEXT variable, or by a REQUEST. */
static uint32_t count_uses(const struct snapshot *snapshot, uint32_t a, uint32_t b)
{
	const struct state *one = snapshot->states[a - 1], *other = snapshot->states[b - 1];
	uint32_t count = (uint32_t)(one->NEXT == b) + (uint32_t)(other->NEXT == a);

	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		struct in in = in_message(&flight->message);
		uint32_t X = flight->message.body[0] == REQUEST ? (uint32_t)in_uint(&in) : 0;
		count += (X == a && flight->to == b) || (X == b && flight->to == a);
	}
	return count;
}

/* 5.2: "forwarding a REQUEST message simply changes the direction of an edge, it does not change
 * the acyclic shape of the graph": each edge of the tree points one way or has a REQUEST on it,
 * and NEXT is always an edge of the tree. */
static bool shape_is_unchanged(const struct snapshot *snapshot)
{
	for (uint32_t a = 1; a <= snapshot->network->graph.nodes; a++) {
		struct site site = network_site(snapshot->network, a);
		const struct state *node = snapshot->states[a - 1];
		if (node->NEXT != 0 && !is_edge(&site, node->NEXT))
			return false;
		for (uint32_t k = 0; k < site.neighbours_count && node->initialized; k++) {
			uint32_t b = site_neighbour(&site, k);
			const struct state *other = snapshot->states[b - 1];
			if (b > a && other->initialized && count_uses(snapshot, a, b) != 1)
				return false;
		}
	}
	return true;
}

/* 3.2: "there may be more than one sink node in the system while some requests are in transit":
 * there is one, and one more for each REQUEST in transit. */
static bool sinks_are_one_and_requests(const struct snapshot *snapshot)
{
	size_t sinks = 0, requests = 0;

	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i - 1];
		sinks += node->initialized && node->NEXT == 0;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++)
		requests += snapshot->flights[k].message.body[0] == REQUEST;
	return sinks == 1 + requests;
}

/* Figure 4. */
static const char state_N[] = "N", state_R[] = "R", state_RF[] = "RF", state_E[] = "E",
                  state_EF[] = "EF", state_H[] = "H";

static const char *figure_state(const struct site *site, const void *state)
{
	const struct state *node = state;

	(void)site;
	if (!node->initialized)
		return NULL;
	if (node->HOLDING)
		return state_H;
	if (node->using == USING_INSIDE)
		return node->FOLLOW != 0 ? state_EF : state_E;
	if (node->using == USING_WAITS)
		return node->FOLLOW != 0 ? state_RF : state_R;
	return state_N;
}

static const struct state_figure figure_4 = {
        .name = "Figure 4",
        .state = figure_state,
        .states =
                (const struct state_meaning[]){
                        {state_N, "neither waits nor has the token"},
                        {state_R, "waits"},
                        {state_RF, "waits, and knows who follows"},
                        {state_E, "inside"},
                        {state_EF, "inside, and knows who follows"},
                        {state_H, "has the token, and is not inside"},
                        {NULL, NULL},
                },
        .arrows =
                (const struct state_arrow[]){
                        {"1", state_N, state_R, STATE_ON_REQUEST, 0},
                        {"2", state_R, state_RF, STATE_ON_RECEIPT, REQUEST},
                        {"2", state_E, state_EF, STATE_ON_RECEIPT, REQUEST},
                        {"3", state_N, state_N, STATE_ON_RECEIPT, REQUEST},
                        {"3", state_RF, state_RF, STATE_ON_RECEIPT, REQUEST},
                        {"3", state_EF, state_EF, STATE_ON_RECEIPT, REQUEST},
                        {"4", state_R, state_E, STATE_ON_RECEIPT, PRIVILEGE},
                        {"4", state_RF, state_EF, STATE_ON_RECEIPT, PRIVILEGE},
                        {"5", state_E, state_H, STATE_ON_RELEASE, 0},
                        {"6", state_H, state_E, STATE_ON_REQUEST, 0},
                        {"7", state_EF, state_N, STATE_ON_RELEASE, 0},
                        {"8", state_H, state_N, STATE_ON_RECEIPT, REQUEST},
                        {NULL, NULL, NULL, STATE_ON_REQUEST, 0},
                },
};

const struct algorithm neilsen = {
        .name = "neilsen",
        .title = "Neilsen: requests along a tree that turns towards the last in line",
        .year = 1989,
        .source = SOURCE_PAPER,
        .rules = "Neilsen 3",
        .nodes_checked = 5,
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .shape = GRAPH_TREE,
        .topology = "star",
        .has_token = true,
        .claim_messages = "0 to D+1",
        .claim_delay = "1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [PRIVILEGE] = {.name = "PRIVILEGE", .role = ROLE_PERMITS, .token = true},
                        [INITIALIZE] = {.name = "INITIALIZE", .role = ROLE_PREPARES, .init = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"HOLDING", VARIABLE_PLAIN},
                        {"NEXT", VARIABLE_NODE},
                        {"FOLLOW", VARIABLE_NODE},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        {
                                .name = "init",
                                .help = "computed: the tree points to the holder from the start; "
                                        "wave: INITIALIZE messages turn it towards the holder",
                                .choices =
                                        (const struct parameter_choice[]){
                                                {"computed", INIT_COMPUTED},
                                                {"wave", INIT_WAVE},
                                                {NULL, 0},
                                        },
                        },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "sink_has_or_awaits_the_token",
                         .meaning = "a node without NEXT has the token or waits for it, and has no "
                                    "FOLLOW",
                         .local = sink_has_or_awaits_the_token},
                        {.name = "holding_is_a_sink",
                         .meaning = "a node that is HOLDING has neither NEXT nor FOLLOW",
                         .local = holding_is_a_sink},
                        {.name = "every_path_ends_at_a_sink",
                         .meaning = "from every node NEXT leads to a node without NEXT",
                         .global = every_path_ends_at_a_sink},
                        {.name = "shape_is_unchanged",
                         .meaning = "each edge of the tree is in use once: by NEXT of one of its "
                                    "ends, or by a REQUEST in flight",
                         .global = shape_is_unchanged},
                        {.name = "sinks_are_one_and_requests",
                         .meaning = "there is one node without NEXT, and one more for each REQUEST "
                                    "in flight",
                         .global = sinks_are_one_and_requests},
                        {.name = NULL},
                },
        .figure = &figure_4,
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .ready = ready,
        .has_privilege = has_privilege,
        .describe = describe,
        .show = show,
        .origin = origin,
        .queue = queue,
        .queue_at_rest = queue,
};
