/*
 * Carvalho and Roucairol's algorithm.
 *
 * O. S. F. Carvalho and G. Roucairol, "On Mutual Exclusion in Computer Networks", Communications
 * of the ACM 26(2), February 1983, pages 146-147; here after Mitchell L. Neilsen, "A DAG-Based
 * Algorithm for Distributed Mutual Exclusion", thesis, Kansas State University, 1989, section 2.3,
 * and Michel Raynal, chapter 2, section 3.1.
 *
 * This is Ricart and Agrawala's algorithm of 1981, except that a REPLY is a lasting permission: a
 * node keeps it until the node that gave it sends a REQUEST of its own. There is one such
 * permission between any two nodes. It is at one of the two, or on its way between them, or, before
 * either has asked the other, nowhere. A node that wants to enter asks the nodes whose permission
 * it does not have, and enters when it has all permissions.
 *
 * Network: every pair of nodes is linked, no loss, any order.
 *
 * Departures. Both texts leave out one case. A node waits and has the permission of j, so it has
 * not asked j. Then it gets a REQUEST of j that comes before its own. It must reply; by that it
 * loses the permission, and must now ask j, with the number that it already has. There are three
 * ways to read the texts without this rule, and all of them are wrong; `--param text=` selects one:
 * see on_request. At the start nobody has a permission. The number is one more than the highest
 * number *received*. If two numbers are equal, the lower node comes first. Our_Sequence_Number is 0
 * while the node requests nothing.
 */
#include "algorithm.h"
#include "network.h"

enum { REQUEST, REPLY, MESSAGES_COUNT };

enum { TEXT_MENDED, TEXT_REPLY, TEXT_KEEP, TEXT_DEFER };

struct state {
	uint64_t Our_Sequence_Number;     /* the number of the current request; 0: there is none */
	uint64_t Highest_Sequence_Number; /* the highest number of all REQUESTs received */
	uint8_t Waiting, Using;
	uint8_t padding[6];
	uint8_t Reply_Deferred[]; /* Reply_Deferred[nodes], followed by A[nodes] */
};

/* A[j - 1]: this node has the permission of j. */
static uint8_t *A(const struct site *site, struct state *node)
{
	return node->Reply_Deferred + site->nodes;
}

static size_t state_size(const struct site *site)
{
	return sizeof(struct state) + (2 * (size_t)site->nodes + 7) / 8 * 8;
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

static void enter_if_permitted(const struct site *site, struct state *node, struct out *out)
{
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != site->self && !A(site, node)[j - 1])
			return;
	}
	node->Waiting = false;
	node->Using = true;
	out_enter(out);
}

static void make_request(const struct site *site, const struct state *node, struct out *out)
{
	out_message(out, REQUEST);
	out_uint(out, node->Our_Sequence_Number);
	out_uint(out, site->self);
}

static void send_reply(const struct site *site, uint32_t to, struct out *out)
{
	out_message(out, REPLY);
	out_uint(out, site->self);
	out_send(out, to);
}

/* Sends "REQUEST messages only to the nodes from which it has received a request"; the first time
 * to all. */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->Waiting = true;
	node->Our_Sequence_Number = node->Highest_Sequence_Number + 1;
	make_request(site, node, out);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != site->self && !A(site, node)[j - 1])
			out_send(out, j);
	}
	enter_if_permitted(site, node, out);
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->Using = false;
	node->Our_Sequence_Number = 0;
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (node->Reply_Deferred[j - 1]) {
			node->Reply_Deferred[j - 1] = false;
			A(site, node)[j - 1] = false;
			send_reply(site, j, out);
		}
	}
}

static void on_request(const struct site *site, struct state *node, uint64_t k, uint32_t j,
                       struct out *out)
{
	uint64_t ours = node->Our_Sequence_Number;
	bool Our_Priority = k > ours || (k == ours && j > site->self);
	/* This node has not asked j, because it has j's permission. */
	bool unasked = node->Waiting && A(site, node)[j - 1];
	uint64_t text = unasked ? site->parameters[0] : TEXT_MENDED;

	if (k > node->Highest_Sequence_Number)
		node->Highest_Sequence_Number = k;
	if (node->Using || (node->Waiting && Our_Priority)) {
		node->Reply_Deferred[j - 1] = true;
		return;
	}
	/* With text=printed:defer the node keeps its "permanent access" (Raynal 3.1) even against
	 * an earlier request. */
	if (text == TEXT_DEFER) {
		node->Reply_Deferred[j - 1] = true;
		return;
	}
	send_reply(site, j, out);
	/* With text=printed:keep "a REPLY message is sent back" (2.2), and the permission is kept:
	 * 2.3 does not say that it is lost. */
	if (text == TEXT_KEEP)
		return;
	A(site, node)[j - 1] = false;
	/* With text=printed:reply the node does not ask j again: it sends "REQUEST messages only to
	 * the nodes from which it has received a request" (2.3), and only when it begins to want to
	 * enter. */
	if (unasked && text != TEXT_REPLY) {
		make_request(site, node, out);
		out_send(out, j);
	}
}

static void on_reply(const struct site *site, struct state *node, uint32_t j, struct out *out)
{
	A(site, node)[j - 1] = true;
	enter_if_permitted(site, node, out);
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint64_t k = type == REQUEST ? in_range(&in, 1, INT64_MAX) : 0;
	uint32_t j = (uint32_t)in_range(&in, 1, site->nodes);

	if (!in_end(&in) || j == site->self)
		return BATON_EMESSAGE;
	switch (type) {
	case REQUEST:
		/* j cannot have asked again: it waits for the REPLY to its last REQUEST. */
		if (node->Reply_Deferred[j - 1])
			return BATON_EMESSAGE;
		on_request(site, node, k, j, out);
		return 0;
	case REPLY:
		if (!node->Waiting || A(site, node)[j - 1])
			return BATON_EMESSAGE;
		on_reply(site, node, j, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static void write_flags(struct writer *writer, const uint8_t *flags, uint32_t count)
{
	writer_open(writer, '[');
	for (uint32_t j = 0; j < count; j++)
		writer_bool(writer, flags[j]);
	writer_close(writer, ']');
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "Our_Sequence_Number");
	writer_uint(writer, node->Our_Sequence_Number);
	writer_key(writer, "Highest_Sequence_Number");
	writer_uint(writer, node->Highest_Sequence_Number);
	writer_key(writer, "Waiting");
	writer_bool(writer, node->Waiting);
	writer_key(writer, "Using");
	writer_bool(writer, node->Using);
	writer_key(writer, "A");
	write_flags(writer, node->Reply_Deferred + site->nodes, site->nodes);
	writer_key(writer, "Reply_Deferred");
	write_flags(writer, node->Reply_Deferred, site->nodes);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	if (message->body[0] == REQUEST)
		writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

/* Returns the sender, which is the last number in both types of message. */
static uint32_t sender(const struct message *message)
{
	struct in in = in_message(message);

	if (message->body[0] == REQUEST)
		in_uint(&in);
	return (uint32_t)in_uint(&in);
}

static uint32_t origin(const struct message *message)
{
	return message->body[0] == REQUEST ? sender(message) : 0;
}

/* A node that is inside has the permissions of all others. */
static bool inside_has_permissions(const struct site *site, const void *state)
{
	const struct state *node = state;
	const uint8_t *permissions = node->Reply_Deferred + site->nodes;

	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (node->Using && j != site->self && !permissions[j - 1])
			return false;
	}
	return true;
}

/* A node that requests nothing defers no REPLY. */
static bool idle_owes_nothing(const struct site *site, const void *state)
{
	const struct state *node = state;

	for (uint32_t j = 0; j < site->nodes; j++) {
		if (!node->Using && !node->Waiting && node->Reply_Deferred[j])
			return false;
	}
	return true;
}

/* Returns how many messages of a type are on their way from i to j. */
static uint32_t count_flights(const struct snapshot *snapshot, uint8_t type, uint32_t i, uint32_t j)
{
	uint32_t count = 0;

	for (size_t f = 0; f < snapshot->flights_count; f++) {
		const struct flight *flight = &snapshot->flights[f];
		const struct message *message = &flight->message;
		count += message->body[0] == type && flight->to == j && sender(message) == i;
	}
	return count;
}

/* The printed texts break the next two invariants at once. With those texts the invariants are not
 * checked, so that the search goes on and finds the harm that follows. */
static bool is_printed(const struct snapshot *snapshot)
{
	return snapshot->network->parameters[0] != TEXT_MENDED;
}

/* The permission between two nodes is in at most one place. */
static bool permission_in_one_place(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes && !is_printed(snapshot); i++) {
		const struct state *node = snapshot->states[i - 1];
		for (uint32_t j = 1; j < i; j++) {
			const struct state *other = snapshot->states[j - 1];
			uint32_t count = node->Reply_Deferred[nodes + j - 1] +
			                 other->Reply_Deferred[nodes + i - 1] +
			                 count_flights(snapshot, REPLY, i, j) +
			                 count_flights(snapshot, REPLY, j, i);
			if (count > 1)
				return false;
		}
	}
	return true;
}

/* If a waiting node lacks a permission, the permission will come: the node's request is on its way,
 * or the other node has deferred its reply, or the reply is on its way. */
static bool permission_is_to_come(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes && !is_printed(snapshot); i++) {
		const struct state *node = snapshot->states[i - 1];
		for (uint32_t j = 1; j <= nodes; j++) {
			const struct state *other = snapshot->states[j - 1];
			bool lacks =
			        j != i && node->Waiting && !node->Reply_Deferred[nodes + j - 1];
			uint32_t count = other->Reply_Deferred[i - 1] +
			                 count_flights(snapshot, REQUEST, i, j) +
			                 count_flights(snapshot, REPLY, j, i);
			if (count != lacks)
				return false;
		}
	}
	return true;
}

const struct algorithm carvalho_roucairol = {
        .name = "carvalho-roucairol",
        .title = "Carvalho and Roucairol: a reply is a permission until it is asked back",
        .year = 1983,
        .source = SOURCE_ACCOUNT,
        .rules = "Neilsen 2.3",
        .nodes_checked = 3,
        .grows = "sequence numbers",
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .claim_messages = "0 to 2(N-1)",
        .claim_delay = "1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [REPLY] = {.name = "REPLY", .role = ROLE_PERMITS},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"Our_Sequence_Number", VARIABLE_PLAIN},
                        {"Highest_Sequence_Number", VARIABLE_PLAIN},
                        {"Waiting", VARIABLE_PLAIN},
                        {"Using", VARIABLE_PLAIN},
                        {"A", VARIABLE_ROW},
                        {"Reply_Deferred", VARIABLE_ROW},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        {
                                .name = "text",
                                .help = "what a waiting node does with an earlier request of a "
                                        "node whose permission it has. mended: reply and ask; "
                                        "printed, printed:reply: reply only; printed:keep: reply "
                                        "and keep the permission; printed:defer: defer the reply",
                                .choices =
                                        (const struct parameter_choice[]){
                                                {"mended", TEXT_MENDED},
                                                {"printed", TEXT_REPLY},
                                                {"printed:reply", TEXT_REPLY},
                                                {"printed:keep", TEXT_KEEP},
                                                {"printed:defer", TEXT_DEFER},
                                                {NULL, 0},
                                        },
                        },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "inside_has_permissions",
                         .meaning = "a node that is inside has the permissions of all others",
                         .local = inside_has_permissions},
                        {.name = "idle_owes_nothing",
                         .meaning = "a node that neither waits nor is inside owes nobody a REPLY",
                         .local = idle_owes_nothing},
                        {.name = "permission_in_one_place",
                         .meaning = "the permission between two nodes is in one place at most: at "
                                    "one of them, or in a REPLY",
                         .global = permission_in_one_place},
                        {.name = "permission_is_to_come",
                         .meaning = "a permission that a waiting node lacks will come: its REQUEST "
                                    "or REPLY is in flight, or the REPLY is deferred",
                         .global = permission_is_to_come},
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
};
