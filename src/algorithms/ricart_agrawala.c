/*
 * Ricart and Agrawala's algorithm of 1981.
 *
 * Glenn Ricart and Ashok K. Agrawala, "An Optimal Algorithm for Mutual Exclusion in Computer
 * Networks", Communications of the ACM 24(1), January 1981, pages 9-17; here after Mitchell L.
 * Neilsen, "A DAG-Based Algorithm for Distributed Mutual Exclusion", thesis, Kansas State
 * University, 1989, section 2.2, with the names of the paper.
 *
 * A node that wants to enter takes a number, sends it to all others, and enters when all have
 * replied. A node that wants to enter too and has the lower number replies only when it has left.
 * So a single REPLY serves as both Lamport's ACKNOWLEDGE and his RELEASE.
 *
 * Network: every pair of nodes is linked, no loss, any order.
 *
 * Departures. 2.2 does not say what happens when two numbers are equal, which is possible: the
 * lower node comes first. The number is one more than the highest number *received*, so a node that
 * receives no other REQUEST takes the same number again. Choosing the number and sending the
 * REQUESTs is one step, and so is an exit. 2.2 does not say so, and with `--param
 * text=printed:steps` a node that has chosen its number may handle REQUESTs before it sends its
 * own. A timer stands for the time in between, and expires after all messages in flight have
 * arrived. Our_Sequence_Number is 0 while the node requests nothing.
 */
#include "algorithm.h"
#include "network.h"

enum { REQUEST, REPLY, MESSAGES_COUNT };

enum { TEXT };

enum { TEXT_MENDED, TEXT_STEPS };

enum { TIMER_CHOSEN };

struct state {
	uint64_t Our_Sequence_Number;     /* the number of the current request; 0: there is none */
	uint64_t Highest_Sequence_Number; /* the highest number of all REQUESTs received */
	/* How many REPLYs are missing; a node with a request is inside when this is 0. */
	uint32_t Outstanding_Reply_Count;
	uint8_t Requesting_Critical_Section;
	uint8_t padding[3];
	uint8_t Reply_Deferred[]; /* [node - 1]: the REQUEST of a node was not answered yet */
};

static size_t state_size(const struct site *site)
{
	return sizeof(struct state) + ((size_t)site->nodes + 7) / 8 * 8;
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

static void enter_if_all_replied(const struct state *node, struct out *out)
{
	if (node->Outstanding_Reply_Count == 0)
		out_enter(out);
}

/* The node has chosen its number and asks all others. */
static void send_requests(const struct site *site, struct state *node, struct out *out)
{
	uint32_t me = site->self;

	node->Requesting_Critical_Section = true;
	node->Outstanding_Reply_Count = site->nodes - 1;
	out_message(out, REQUEST);
	out_uint(out, node->Our_Sequence_Number);
	out_uint(out, me);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != me)
			out_send(out, j);
	}
	enter_if_all_replied(node, out); /* if this is the only node, it enters at once */
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->Our_Sequence_Number = node->Highest_Sequence_Number + 1;
	if (site->parameters[TEXT] == TEXT_STEPS)
		out_arm(out, TIMER_CHOSEN, 1);
	else
		send_requests(site, node, out);
}

/* Only with text=printed:steps: the pause between choosing the number and sending the REQUESTs is
 * over. */
static void expire(const struct site *site, void *state, uint32_t timer, struct out *out)
{
	(void)timer;
	send_requests(site, state, out);
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->Requesting_Critical_Section = false;
	node->Our_Sequence_Number = 0;
	out_message(out, REPLY);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (node->Reply_Deferred[j - 1]) {
			node->Reply_Deferred[j - 1] = false;
			out_send(out, j);
		}
	}
}

static void on_request(const struct site *site, struct state *node, uint64_t k, uint32_t j,
                       struct out *out)
{
	uint64_t ours = node->Our_Sequence_Number;
	bool Our_Priority = k > ours || (k == ours && j > site->self);

	if (k > node->Highest_Sequence_Number)
		node->Highest_Sequence_Number = k;
	if (node->Requesting_Critical_Section && Our_Priority) {
		node->Reply_Deferred[j - 1] = true;
	} else {
		out_message(out, REPLY);
		out_send(out, j);
	}
}

static void on_reply(struct state *node, struct out *out)
{
	node->Outstanding_Reply_Count--;
	enter_if_all_replied(node, out);
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint64_t k = type == REQUEST ? in_range(&in, 1, INT64_MAX) : 0;
	uint32_t j = type == REQUEST ? (uint32_t)in_range(&in, 1, site->nodes) : 0;

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
		if (node->Outstanding_Reply_Count == 0)
			return BATON_EMESSAGE;
		on_reply(node, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "Our_Sequence_Number");
	writer_uint(writer, node->Our_Sequence_Number);
	writer_key(writer, "Highest_Sequence_Number");
	writer_uint(writer, node->Highest_Sequence_Number);
	writer_key(writer, "Outstanding_Reply_Count");
	writer_uint(writer, node->Outstanding_Reply_Count);
	writer_key(writer, "Requesting_Critical_Section");
	writer_bool(writer, node->Requesting_Critical_Section);
	writer_key(writer, "Reply_Deferred");
	writer_open(writer, '[');
	for (uint32_t j = 0; j < site->nodes; j++)
		writer_bool(writer, node->Reply_Deferred[j]);
	writer_close(writer, ']');
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	if (message->body[0] == REPLY)
		return;
	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
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

/* A node that requests nothing waits for no REPLY and defers none. */
static bool idle_owes_nothing(const struct site *site, const void *state)
{
	const struct state *node = state;

	if (node->Requesting_Critical_Section)
		return true;
	for (uint32_t j = 0; j < site->nodes; j++) {
		if (node->Reply_Deferred[j])
			return false;
	}
	return node->Outstanding_Reply_Count == 0;
}

/* Every REPLY that a node waits for will come: its REQUEST is on its way, or the REPLY is
 * deferred or on its way. */
static bool replies_are_to_come(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes; i++) {
		uint32_t count = 0;
		for (uint32_t j = 1; j <= nodes; j++) {
			const struct state *other = snapshot->states[j - 1];
			count += other->Reply_Deferred[i - 1];
		}
		for (size_t f = 0; f < snapshot->flights_count; f++) {
			const struct flight *flight = &snapshot->flights[f];
			/* The message is a REQUEST, whose REPLY will go to its origin, or it is
			 * that REPLY. */
			count += (flight->origin != 0 ? flight->origin : flight->to) == i;
		}
		const struct state *node = snapshot->states[i - 1];
		if (count != node->Outstanding_Reply_Count)
			return false;
	}
	return true;
}

/* A node that is inside comes before all that wait, by (number, node). With printed:steps that is
 * not true, and the invariant does not apply. */
static bool is_one_step(const struct network *network)
{
	return network->parameters[TEXT] != TEXT_STEPS;
}

static bool inside_comes_first(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes; i++) {
		const struct state *node = snapshot->states[i - 1];
		uint64_t ours = node->Our_Sequence_Number;
		if (!node->Requesting_Critical_Section || node->Outstanding_Reply_Count > 0)
			continue;
		for (uint32_t j = 1; j <= nodes; j++) {
			const struct state *other = snapshot->states[j - 1];
			uint64_t k = other->Our_Sequence_Number;
			if (other->Requesting_Critical_Section &&
			    (k < ours || (k == ours && j < i)))
				return false;
		}
	}
	return true;
}

/* Numbers are only compared, and a new one is the highest plus one. So only their differences
 * matter. */
static uint64_t state_slack(const void *state)
{
	const struct state *node = state;
	uint64_t highest = node->Highest_Sequence_Number, ours = node->Our_Sequence_Number;

	return ours != 0 && ours - 1 < highest ? ours - 1 : highest;
}

static void lower_state(void *state, uint64_t by)
{
	struct state *node = state;

	node->Highest_Sequence_Number -= by;
	if (node->Our_Sequence_Number != 0)
		node->Our_Sequence_Number -= by;
}

static uint64_t message_slack(const struct message *message)
{
	struct in in = in_message(message);

	return message->body[0] == REQUEST ? in_uint(&in) - 1 : UINT64_MAX;
}

static void lower_message(const struct message *message, uint64_t by, struct out *out)
{
	struct in in = in_message(message);

	out_message(out, message->body[0]);
	if (message->body[0] != REQUEST)
		return;
	out_uint(out, in_uint(&in) - by);
	out_uint(out, in_uint(&in));
}

static const struct differences differences = {
        .state_slack = state_slack,
        .message_slack = message_slack,
        .lower_state = lower_state,
        .lower_message = lower_message,
};

static bool precedes(uint64_t c, uint32_t I, uint64_t d, uint32_t J)
{
	return c < d || (c == d && I < J);
}

static bool is_waiting(const struct state *node)
{
	return node->Requesting_Critical_Section && node->Outstanding_Reply_Count > 0;
}

/* Does the request of node a come before that of node b? */
static bool is_before(const struct snapshot *snapshot, uint32_t a, uint32_t b)
{
	const struct state *one = snapshot->states[a - 1], *other = snapshot->states[b - 1];

	return precedes(one->Our_Sequence_Number, a, other->Our_Sequence_Number, b);
}

/* Could another node's next request still get a number below that of node i's request? The other
 * node may not be waiting now, or it may be served before i and ask again. */
static bool may_be_overtaken(const struct snapshot *snapshot, uint32_t i)
{
	const struct state *node = snapshot->states[i - 1];

	for (uint32_t j = 1; j <= snapshot->network->graph.nodes; j++) {
		const struct state *other = snapshot->states[j - 1];
		if (j != i &&
		    precedes(other->Highest_Sequence_Number + 1, j, node->Our_Sequence_Number, i))
			return true;
	}
	return false;
}

/* Lists the requests by their numbers, up to the first one that a later request may still
 * precede. */
static uint32_t queue(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	uint32_t count = 0, told = 0;

	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		uint32_t place = count;
		if (!is_waiting(snapshot->states[i - 1]))
			continue;
		for (; place > 0 && is_before(snapshot, i, ret_queue[place - 1]); place--)
			ret_queue[place] = ret_queue[place - 1];
		ret_queue[place] = i;
		count++;
	}
	while (told < count && !may_be_overtaken(snapshot, ret_queue[told]))
		told++;
	return told;
}

const struct algorithm ricart_agrawala = {
        .name = "ricart-agrawala",
        .title = "Ricart and Agrawala: ask everybody, enter when everybody has replied",
        .year = 1981,
        .source = SOURCE_ACCOUNT,
        .rules = "Neilsen 2.2",
        .nodes_checked = 4,
        .nodes_checked_twice = 3,
        .grows = "sequence numbers",
        .differences = &differences,
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .claim_messages = "2(N-1)",
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
                        {"Outstanding_Reply_Count", VARIABLE_PLAIN},
                        {"Requesting_Critical_Section", VARIABLE_PLAIN},
                        {"Reply_Deferred", VARIABLE_ROW},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [TEXT] =
                                {
                                        .name = "text",
                                        .help = "mended: a node chooses its number and asks in one "
                                                "step; printed:steps: a REQUEST may come in "
                                                "between",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"mended", TEXT_MENDED},
                                                        {"printed", TEXT_STEPS},
                                                        {"printed:steps", TEXT_STEPS},
                                                        {NULL, 0},
                                                },
                                },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "idle_owes_nothing",
                         .meaning = "a node that neither waits nor is inside owes nobody a REPLY, "
                                    "and awaits none",
                         .local = idle_owes_nothing},
                        {.name = "replies_are_to_come",
                         .meaning = "every REPLY that a node waits for will come: its REQUEST or "
                                    "the REPLY is in flight, or the REPLY is deferred",
                         .global = replies_are_to_come},
                        {.name = "inside_comes_first",
                         .meaning = "nobody is inside while an earlier request waits",
                         .applies = is_one_step,
                         .global = inside_comes_first},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .pauses = true,
        .expire = expire,
        .describe = describe,
        .show = show,
        .origin = origin,
        .queue = queue,
        .queue_at_rest = queue,
};
