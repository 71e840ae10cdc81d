/*
 * Lamport's algorithm, in the form that Neilsen gives it.
 *
 * Leslie Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System",
 * Communications of the ACM 21(7), July 1978, pages 558-565; here after Mitchell L. Neilsen,
 * "A DAG-Based Algorithm for Distributed Mutual Exclusion", thesis, Kansas State University, 1989,
 * section 2.1, which leaves out the ACKNOWLEDGEs that would be thrown away.
 *
 * Every message carries its sender's logical clock, and (clock, node) puts all messages into one
 * order. Each node keeps the latest message of every other node. It may enter when all of them come
 * after its own REQUEST, because then nobody can have asked before it.
 *
 * Network: every pair of nodes is linked, no loss, ORDER IS NEEDED. If a RELEASE overtakes its
 * REQUEST, the REQUEST overwrites it, and the request of a node that has left stays first in the
 * queue forever. (Even then two nodes are never inside together: see first_come_first_served.) This
 * file does not refuse messages that are possible only without order, so that the error can be
 * shown.
 *
 * Departures. By 2.1 a node sends no ACKNOWLEDGE if it "has not received the corresponding RELEASE
 * message". But it is the node itself that sends this RELEASE. So here a node sends no ACKNOWLEDGE
 * from its own REQUEST until its own RELEASE. 2.1 does not say when the clock ticks. Here it is
 * incremented at a request and at a release, and becomes max(clock, received) + 1 at every receipt.
 * Sending an ACKNOWLEDGE is not a tick; it carries the clock that the receipt of the REQUEST has
 * just set. At its release a node removes its own REQUEST from its queue (Lamport's rule 3) and
 * puts nothing in its place.
 *
 * A node takes its number and sends its REQUEST in one step. 2.1 does not say so, and with `--param
 * text=printed:steps` it may receive messages in between. A timer ends that pause; it expires after
 * all messages in flight have arrived.
 *
 * `--param acknowledge=always` acknowledges every REQUEST, as Lamport's own text does and as Raynal
 * (3.1) counts: then an entry takes 3(n - 1) messages under any load.
 */
#include "algorithm.h"
#include "network.h"

#include <string.h>

enum { REQUEST, ACKNOWLEDGE, RELEASE, MESSAGES_COUNT };
enum { ACKNOWLEDGES, TEXT }; /* the parameters `acknowledge` and `text` */
enum { NEEDED, ALWAYS };
enum { TEXT_MENDED, TEXT_STEPS };
enum { TIMER_CHOSEN };

/* The latest message kept from a node. The clock of a message is never 0. */
struct entry {
	uint64_t clock; /* the clock in the message; 0: there is no message */
	uint8_t type;
	uint8_t padding[7];
};

struct state {
	uint64_t clock;
	uint8_t inside;
	/* Only with text=printed:steps: this node's REQUEST has a number, but was not sent yet. */
	uint8_t chosen;
	uint8_t padding[6];
	struct entry queue[]; /* [node - 1]: the latest message of each node */
};

static size_t state_size(const struct site *site)
{
	return sizeof(struct state) + site->nodes * sizeof(struct entry);
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

/* Does (msg, c, I) come before (msg, d, J) in the order of all messages? */
static bool precedes(uint64_t c, uint32_t I, uint64_t d, uint32_t J)
{
	return c < d || (c == d && I < J);
}

/* Has the node I sent a REQUEST and not yet a RELEASE? */
static bool is_pending(const struct state *node, uint32_t I)
{
	return node->queue[I - 1].clock != 0 && !node->chosen;
}

static void keep(struct state *node, uint8_t type, uint64_t c, uint32_t J)
{
	node->queue[J - 1].type = type;
	node->queue[J - 1].clock = c;
}

/*
 * "A node can enter its critical section when its request has the lowest sequence number of any
 * request in its queue and has received messages, with higher sequence numbers, from all other
 * nodes". Only one message of each node is kept, so that both conditions are one: all messages that
 * are kept come after the request.
 */
static void enter_if_first(const struct site *site, struct state *node, struct out *out)
{
	uint32_t I = site->self;

	if (!is_pending(node, I) || node->inside)
		return;
	for (uint32_t J = 1; J <= site->nodes; J++) {
		if (J != I && !precedes(node->queue[I - 1].clock, I, node->queue[J - 1].clock, J))
			return;
	}
	node->inside = true;
	out_enter(out);
}

/* Makes the message (type, c, I), where I is this node. */
static void make_message(const struct site *site, uint64_t c, uint8_t type, struct out *out)
{
	out_message(out, type);
	out_uint(out, c);
	out_uint(out, site->self);
}

static void send_to_all(const struct site *site, uint64_t c, uint8_t type, struct out *out)
{
	make_message(site, c, type, out);
	for (uint32_t J = 1; J <= site->nodes; J++) {
		if (J != site->self)
			out_send(out, J);
	}
}

/* Sends the REQUEST whose number is in the queue. */
static void send_request(const struct site *site, struct state *node, struct out *out)
{
	node->chosen = false;
	send_to_all(site, node->queue[site->self - 1].clock, REQUEST, out);
	enter_if_first(site, node, out); /* if this is the only node, it enters at once */
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->clock++;
	keep(node, REQUEST, node->clock, site->self);
	if (site->parameters[TEXT] == TEXT_STEPS) {
		node->chosen = true;
		out_arm(out, TIMER_CHOSEN, 1);
	} else {
		send_request(site, node, out);
	}
}

/* Only with text=printed:steps: the pause between taking the number and sending the REQUEST is
 * over. */
static void expire(const struct site *site, void *state, uint32_t timer, struct out *out)
{
	(void)timer;
	send_request(site, state, out);
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->clock++;
	node->inside = false;
	memset(&node->queue[site->self - 1], 0, sizeof(struct entry));
	send_to_all(site, node->clock, RELEASE, out);
}

static void on_request(const struct site *site, struct state *node, uint64_t c, uint32_t J,
                       struct out *out)
{
	keep(node, REQUEST, c, J);
	/* If this node has a REQUEST of its own, J has it or will get it, and would ignore the
	 * ACKNOWLEDGE. */
	if (!is_pending(node, site->self) || site->parameters[ACKNOWLEDGES] == ALWAYS) {
		make_message(site, node->clock, ACKNOWLEDGE, out);
		out_send(out, J);
	}
}

static void on_acknowledge(struct state *node, uint64_t c, uint32_t J)
{
	if (node->queue[J - 1].clock == 0 || node->queue[J - 1].type != REQUEST)
		keep(node, ACKNOWLEDGE, c, J);
}

static void on_release(struct state *node, uint64_t c, uint32_t J)
{
	keep(node, RELEASE, c, J);
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint64_t c = in_range(&in, 1, INT64_MAX);
	uint32_t J = (uint32_t)in_range(&in, 1, site->nodes);

	if (!in_end(&in) || J == site->self || type >= MESSAGES_COUNT)
		return BATON_EMESSAGE;
	node->clock = (c > node->clock ? c : node->clock) + 1;
	switch (type) {
	case REQUEST:
		on_request(site, node, c, J, out);
		break;
	case ACKNOWLEDGE:
		on_acknowledge(node, c, J);
		break;
	default:
		on_release(node, c, J);
		break;
	}
	enter_if_first(site, node, out);
	return 0;
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	static const char *const names[MESSAGES_COUNT] = {"REQUEST", "ACKNOWLEDGE", "RELEASE"};
	const struct state *node = state;

	writer_key(writer, "clock");
	writer_uint(writer, node->clock);
	writer_key(writer, "queue");
	writer_open(writer, '[');
	for (uint32_t j = 0; j < site->nodes; j++) {
		if (node->queue[j].clock == 0) {
			writer_null(writer);
			continue;
		}
		writer_open(writer, '[');
		writer_string(writer, names[node->queue[j].type]);
		writer_uint(writer, node->queue[j].clock);
		writer_close(writer, ']');
	}
	writer_close(writer, ']');
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

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

/* "The receipt of a message always (logically) comes after when it was sent." */
static bool receipt_comes_after(const struct site *site, const void *state)
{
	const struct state *node = state;

	for (uint32_t J = 1; J <= site->nodes; J++) {
		uint64_t c = node->queue[J - 1].clock;
		if (c > node->clock || (c != 0 && c == node->clock && J != site->self))
			return false;
	}
	return true;
}

/*
 * A node that is inside asked before all nodes that wait. This does not need ordered channels:
 * messages that J sent before its REQUEST have lower clocks, and J sends nothing more until its
 * RELEASE. So while J waits, no message of J looks later than its REQUEST. With printed:steps J may
 * send something in between, and the invariant does not apply.
 */
static bool is_one_step(const struct network *network)
{
	return network->parameters[TEXT] != TEXT_STEPS;
}

static bool first_come_first_served(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t I = 1; I <= nodes; I++) {
		const struct state *inside = snapshot->states[I - 1];
		if (!inside->inside)
			continue;
		for (uint32_t J = 1; J <= nodes; J++) {
			const struct state *other = snapshot->states[J - 1];
			if (J != I && is_pending(other, J) &&
			    precedes(other->queue[J - 1].clock, J, inside->queue[I - 1].clock, I))
				return false;
		}
	}
	return true;
}

static const struct parameter parameters[] = {
        [ACKNOWLEDGES] =
                {
                        .name = "acknowledge",
                        .help = "needed: a node whose own request is pending sends no "
                                "ACKNOWLEDGE; always: every REQUEST is acknowledged",
                        .choices =
                                (const struct parameter_choice[]){
                                        {"needed", NEEDED},
                                        {"always", ALWAYS},
                                        {NULL, 0},
                                },
                },
        [TEXT] =
                {
                        .name = "text",
                        .help = "mended: a node takes its number and sends its REQUEST in one "
                                "step; "
                                "printed:steps: messages may come in between",
                        .choices =
                                (const struct parameter_choice[]){
                                        {"mended", TEXT_MENDED},
                                        {"printed", TEXT_STEPS},
                                        {"printed:steps", TEXT_STEPS},
                                        {NULL, 0},
                                },
                },
        {.name = NULL},
};

static bool is_waiting(const struct state *node, uint32_t I)
{
	return is_pending(node, I) && !node->inside;
}

/* Does the request of node a come before that of node b? */
static bool is_before(const struct snapshot *snapshot, uint32_t a, uint32_t b)
{
	const struct state *one = snapshot->states[a - 1], *other = snapshot->states[b - 1];

	return precedes(one->queue[a - 1].clock, a, other->queue[b - 1].clock, b);
}

/* Could another node's next request still get a number below that of node i's request? The other
 * node may not be waiting now, or it may be served before i and ask again. */
static bool may_be_overtaken(const struct snapshot *snapshot, uint32_t i)
{
	const struct state *node = snapshot->states[i - 1];

	for (uint32_t j = 1; j <= snapshot->network->graph.nodes; j++) {
		const struct state *other = snapshot->states[j - 1];
		if (j != i && precedes(other->clock + 1, j, node->queue[i - 1].clock, i))
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
		if (!is_waiting(snapshot->states[i - 1], i))
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

const struct algorithm lamport = {
        .name = "lamport",
        .title = "Lamport: a queue of requests at every node, in the order of logical clocks",
        .year = 1978,
        .source = SOURCE_ACCOUNT,
        .rules = "Neilsen 2.1",
        .nodes_checked = 3,
        .nodes_checked_twice = 2,
        .grows = "clocks",
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .needs_fifo = true,
        .claim_messages = "2(N-1) to 3(N-1)",
        .claim_delay = "1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [ACKNOWLEDGE] = {.name = "ACKNOWLEDGE", .role = ROLE_PERMITS},
                        [RELEASE] = {.name = "RELEASE", .role = ROLE_GIVES_BACK},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"clock", VARIABLE_PLAIN},
                        {"queue", VARIABLE_ROW},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters = parameters,
        .invariants =
                (const struct invariant[]){
                        {.name = "receipt_comes_after",
                         .meaning = "a node's clock is ahead of all requests of others that it has "
                                    "received",
                         .local = receipt_comes_after},
                        {.name = "first_come_first_served",
                         .meaning = "nobody is inside while an earlier request waits",
                         .applies = is_one_step,
                         .global = first_come_first_served},
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
