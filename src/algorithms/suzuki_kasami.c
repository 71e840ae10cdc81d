/*
 * Suzuki and Kasami's algorithm A.
 *
 * Ichiro Suzuki and Tadao Kasami, "A Distributed Mutual Exclusion Algorithm", ACM Transactions on
 * Computer Systems 3(4), November 1985, pages 344-349; Figure 1.
 *
 * A node that wants to enter and does not have the privilege tells all others, with a number. The
 * privilege carries the queue Q of nodes that wait and, in LN, the number of the last request of
 * each node that was granted. The holder appends to Q all nodes that it knows to have asked since.
 *
 * Network: every pair of nodes is linked, no loss, any order.
 *
 * Departures. The epilogue of P1, from LN[I] := RN[I] to Requesting := false, is one step, and so
 * is its prologue. The paper says this only of P2. But if a REQUEST is handled between the scan of
 * RN and Requesting := false, neither the scan nor P2 serves it. The text counts requests from
 * n = 1. In the figure RN is -1 at first, so the first number is 0. Q and LN are empty while the
 * privilege is elsewhere. `--param text=printed:steps` runs P1 as the paper has it, so that P2 may
 * run in between: Requesting := false waits for a timer, which expires after all messages in flight
 * have arrived.
 */
#include "algorithm.h"
#include "network.h"

#include <string.h>

enum { REQUEST, PRIVILEGE, MESSAGES_COUNT };

enum { TEXT };

enum { TEXT_MENDED, TEXT_STEPS };

enum { TIMER_EPILOGUE };

struct state {
	uint8_t HavePrivilege, Requesting;
	/* Only with text=printed:steps: P1 has scanned RN, and Requesting is still true. */
	uint8_t epilogue;
	uint8_t padding;
	uint32_t Q_count;
	/* RN[nodes], followed by LN[nodes] and uint32_t Q[nodes], which are 0 without the
	 * privilege. */
	int64_t RN[];
};

static int64_t *LN(const struct site *site, struct state *node)
{
	return node->RN + site->nodes;
}

static uint32_t *Q(const struct site *site, struct state *node)
{
	return (uint32_t *)(void *)(node->RN + 2 * (size_t)site->nodes);
}

static size_t state_size(const struct site *site)
{
	size_t Q_size = ((size_t)site->nodes * sizeof(uint32_t) + 7) / 8 * 8;
	return sizeof(struct state) + 2 * (size_t)site->nodes * sizeof(int64_t) + Q_size;
}

static void init(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	(void)out;
	node->HavePrivilege = site->self == site->holder;
	for (uint32_t j = 0; j < site->nodes; j++) {
		node->RN[j] = -1;
		if (node->HavePrivilege)
			LN(site, node)[j] = -1;
	}
}

/* P1 of Figure 1, up to the critical section. */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;
	uint32_t I = site->self;

	node->Requesting = true;
	if (node->HavePrivilege) {
		out_enter(out);
		return;
	}
	node->RN[I - 1]++;
	out_message(out, REQUEST);
	out_uint(out, I);
	out_uint(out, (uint64_t)node->RN[I - 1]);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != I)
			out_send(out, j);
	}
}

/* Sends PRIVILEGE(Q, LN) to a node; Q is the rest of the queue. */
static void send_privilege(const struct site *site, struct state *node, uint32_t to,
                           struct out *out)
{
	out_message(out, PRIVILEGE);
	out_uint(out, node->Q_count);
	for (uint32_t k = 0; k < node->Q_count; k++)
		out_uint(out, Q(site, node)[k]);
	for (uint32_t j = 0; j < site->nodes; j++)
		out_int(out, LN(site, node)[j]);
	out_send(out, to);

	node->HavePrivilege = false;
	node->Q_count = 0;
	memset(LN(site, node), 0,
	       state_size(site) - sizeof(struct state) - site->nodes * sizeof(int64_t));
}

static bool in_queue(const struct site *site, struct state *node, uint32_t j)
{
	for (uint32_t k = 0; k < node->Q_count; k++) {
		if (Q(site, node)[k] == j)
			return true;
	}
	return false;
}

/* P1 of Figure 1, after the critical section. */
static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;
	uint32_t I = site->self;
	uint32_t *queue = Q(site, node);

	LN(site, node)[I - 1] = node->RN[I - 1];
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != I && node->RN[j - 1] == LN(site, node)[j - 1] + 1 &&
		    !in_queue(site, node, j))
			queue[node->Q_count++] = j;
	}
	if (node->Q_count != 0) {
		uint32_t head = queue[0];
		node->Q_count--;
		memmove(queue, queue + 1, node->Q_count * sizeof(*queue));
		send_privilege(site, node, head, out);
	}
	if (site->parameters[TEXT] == TEXT_STEPS) {
		node->epilogue = true;
		out_arm(out, TIMER_EPILOGUE, 1);
		return;
	}
	node->Requesting = false;
}

/* Only with text=printed:steps: runs the last statement of P1. */
static void expire(const struct site *site, void *state, uint32_t timer, struct out *out)
{
	struct state *node = state;

	(void)site;
	(void)timer;
	(void)out;
	node->epilogue = false;
	node->Requesting = false;
}

static bool ready(const struct site *site, const void *state)
{
	(void)site;
	return !((const struct state *)state)->epilogue;
}

/* P2 of Figure 1. */
static void on_request(const struct site *site, struct state *node, uint32_t j, int64_t n,
                       struct out *out)
{
	if (n > node->RN[j - 1])
		node->RN[j - 1] = n;
	if (node->HavePrivilege && !node->Requesting &&
	    node->RN[j - 1] == LN(site, node)[j - 1] + 1)
		send_privilege(site, node, j, out);
}

static int receive_request(const struct site *site, struct state *node, struct in *in,
                           struct out *out)
{
	uint32_t j = (uint32_t)in_range(in, 1, site->nodes);
	uint64_t n = in_range(in, 0, INT64_MAX - 1);

	if (!in_end(in) || j == site->self)
		return BATON_EMESSAGE;
	on_request(site, node, j, (int64_t)n, out);
	return 0;
}

/* Reads PRIVILEGE(Q, LN), and stores it if `node` is not NULL. */
static bool read_privilege(const struct site *site, struct in *in, struct state *node)
{
	uint64_t count = in_range(in, 0, site->nodes - 1);

	in->bad = in->bad || !in_distinct(in, (uint32_t)count, site->nodes);
	if (node != NULL)
		node->Q_count = (uint32_t)count;
	for (uint64_t k = 0; k < count; k++) {
		uint64_t j = in_range(in, 1, site->nodes);
		if (j == site->self)
			in->bad = true;
		if (node != NULL)
			Q(site, node)[k] = (uint32_t)j;
	}
	for (uint32_t j = 0; j < site->nodes; j++) {
		int64_t n = in_int(in);
		if (n < -1 || n == INT64_MAX)
			in->bad = true;
		if (node != NULL)
			LN(site, node)[j] = n;
	}
	return in_end(in);
}

static int receive_privilege(const struct site *site, struct state *node, struct in *in,
                             struct out *out)
{
	struct in again = *in;

	if (node->HavePrivilege || !node->Requesting || node->epilogue ||
	    !read_privilege(site, in, NULL))
		return BATON_EMESSAGE;
	read_privilege(site, &again, node);
	node->HavePrivilege = true;
	out_enter(out);
	return 0;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct in in = in_message(message);

	switch (message->body[0]) {
	case REQUEST:
		return receive_request(site, state, &in, out);
	case PRIVILEGE:
		return receive_privilege(site, state, &in, out);
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->HavePrivilege;
}

static void write_numbers(struct writer *writer, const int64_t *numbers, uint32_t count)
{
	writer_open(writer, '[');
	for (uint32_t j = 0; j < count; j++)
		writer_int(writer, numbers[j]);
	writer_close(writer, ']');
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;
	const int64_t *numbers = node->RN + site->nodes;
	const uint32_t *queue = (const uint32_t *)(const void *)(numbers + site->nodes);

	writer_key(writer, "HavePrivilege");
	writer_bool(writer, node->HavePrivilege);
	writer_key(writer, "Requesting");
	writer_bool(writer, node->Requesting);
	writer_key(writer, "RN");
	write_numbers(writer, node->RN, site->nodes);
	writer_key(writer, "LN");
	if (!node->HavePrivilege) {
		writer_null(writer);
		writer_key(writer, "Q");
		writer_null(writer);
		return;
	}
	write_numbers(writer, numbers, site->nodes);
	writer_key(writer, "Q");
	writer_open(writer, '[');
	for (uint32_t k = 0; k < node->Q_count; k++)
		writer_uint(writer, queue[k]);
	writer_close(writer, ']');
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	if (message->body[0] == REQUEST) {
		writer_uint(writer, in_uint(&in));
		writer_uint(writer, in_uint(&in));
	} else {
		writer_open(writer, '[');
		for (uint64_t k = in_uint(&in); k > 0; k--)
			writer_uint(writer, in_uint(&in));
		writer_close(writer, ']');
		writer_open(writer, '[');
		while (in.next < in.end)
			writer_int(writer, in_int(&in));
		writer_close(writer, ']');
	}
	writer_close(writer, ')');
}

static uint32_t origin(const struct message *message)
{
	struct in in = in_message(message);
	return message->body[0] == REQUEST ? (uint32_t)in_uint(&in) : 0;
}

/* No node is in Q twice, and the holder is not in Q. */
static bool queue_has_each_once(const struct site *site, const void *state)
{
	const struct state *node = state;
	const uint32_t *queue =
	        (const uint32_t *)(const void *)(node->RN + 2 * (size_t)site->nodes);

	for (uint32_t k = 0; k < node->Q_count; k++) {
		if (queue[k] == site->self)
			return false;
		for (uint32_t l = 0; l < k; l++) {
			if (queue[k] == queue[l])
				return false;
		}
	}
	return true;
}

/* Lists Q, which is at the node that has the privilege or in the PRIVILEGE that is on its way.
 * Other requests that the holder knows of come after Q, in an order that is decided when the holder
 * leaves. */
static uint32_t queue(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	uint32_t count = 0;

	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		struct in in = in_message(&flight->message);
		if (flight->message.body[0] != PRIVILEGE)
			continue;
		ret_queue[count++] = flight->to;
		for (uint64_t left = in_uint(&in); left > 0; left--)
			ret_queue[count++] = (uint32_t)in_uint(&in);
		return count;
	}
	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		struct site site = network_site(snapshot->network, i);
		const struct state *node = snapshot->states[i - 1];
		const uint32_t *waiting = Q(&site, (struct state *)node);
		for (uint32_t k = 0; k < node->Q_count; k++)
			ret_queue[count++] = waiting[k];
	}
	return count;
}

static const struct state *find_holder(const struct snapshot *snapshot, uint32_t *ret_holder)
{
	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i - 1];
		*ret_holder = i;
		if (node->HavePrivilege)
			return node;
	}
	return NULL;
}

/* At rest the holder knows every request. When it leaves, it appends those that are not in Q yet,
 * by their numbers. */
static uint32_t queue_at_rest(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	uint32_t nodes = snapshot->network->graph.nodes, count = 0, I;
	const struct state *holder = find_holder(snapshot, &I);

	if (holder == NULL || holder->Q_count > nodes)
		return 0;
	struct site site = network_site(snapshot->network, I);
	const int64_t *granted = LN(&site, (struct state *)holder);
	for (uint32_t k = 0; k < holder->Q_count; k++) {
		uint32_t j = Q(&site, (struct state *)holder)[k];
		if (!queue_append(snapshot, ret_queue, &count, j))
			return 0;
	}
	for (uint32_t j = 1, queued = count; j <= nodes; j++) {
		uint64_t next = (uint64_t)granted[j - 1] + 1;
		bool listed = j == I || (uint64_t)holder->RN[j - 1] != next;
		for (uint32_t k = 0; k < queued && !listed; k++)
			listed = ret_queue[k] == j;
		if (!listed && !queue_append(snapshot, ret_queue, &count, j))
			return 0;
	}
	return count;
}

const struct algorithm suzuki_kasami = {
        .name = "suzuki-kasami",
        .title = "Suzuki and Kasami, A: ask everybody, the privilege carries the queue",
        .year = 1985,
        .source = SOURCE_PAPER,
        .rules = "Suzuki-Kasami 2",
        .nodes_checked = 4,
        .nodes_checked_twice = 3,
        .grows = "sequence numbers",
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .has_token = true,
        .claim_messages = "0 or N",
        .claim_delay = "1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [PRIVILEGE] = {.name = "PRIVILEGE", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"HavePrivilege", VARIABLE_PLAIN},
                        {"Requesting", VARIABLE_PLAIN},
                        {"RN", VARIABLE_ROW},
                        {"LN", VARIABLE_ROW},
                        {"Q", VARIABLE_QUEUE},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [TEXT] =
                                {
                                        .name = "text",
                                        .help = "mended: P1 is one step up to its wait, and one "
                                                "after the critical section; printed:steps: a "
                                                "REQUEST may come before its last statement",
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
                        {.name = "queue_has_each_once",
                         .meaning = "no node is in Q twice, and the node that has the privilege is "
                                    "not in it",
                         .local = queue_has_each_once},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .pauses = true,
        .expire = expire,
        .ready = ready,
        .has_privilege = has_privilege,
        .describe = describe,
        .show = show,
        .origin = origin,
        .queue = queue,
        .queue_at_rest = queue_at_rest,
};
