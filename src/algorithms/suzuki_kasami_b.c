/*
 * Suzuki and Kasami's algorithm B: sequence numbers that are bounded.
 *
 * Ichiro Suzuki and Tadao Kasami, "A Distributed Mutual Exclusion Algorithm", ACM Transactions on
 * Computer Systems 3(4), November 1985, pages 344-349; section 3 and Figure 2.
 *
 * This is algorithm A (suzuki_kasami.c), except that the requests of a node come in rounds of L,
 * and their numbers are used again. A node that has received all L REQUESTs of a round sends a
 * REPLY. A node that has left the critical section which ends its round waits for all REPLYs before
 * it passes the privilege on. So no REQUEST of this round is on its way when the next round begins.
 *
 * Network: every pair of nodes is linked, no loss, any order.
 *
 * Departures. A node waits once in each round. In Figure 2 it waits for REPLYs after every critical
 * section while RN[I] = L-1. But a node that has kept the privilege and enters again has not asked;
 * nobody replies again, and it waits forever. Here it waits only if it asked for this entry, which
 * LN[I] tells.
 *
 * Numbers are modulo 2L, with rounds of L. The wait ensures that no message of the old round is
 * left, but nodes still remember its numbers. RN[j] = L-1 of the last round looks like number L-1
 * of this one, and with numbers modulo L the privilege goes to a node that did not ask.
 *
 * The epilogue of P1 after the wait, from the scan of RN to Requesting := false, is one step, and
 * so are its prologue and the part before the wait; the paper says this only of P2. "To node i"
 * must be "to node j" (twice), and "x + 1 mod L" means (x + 1) mod L. The text counts requests from
 * n = 1. In the figure RN is -1 at first, so the first number is 0. Q and LN are empty while the
 * privilege is elsewhere.
 *
 * `--param replies=off` is what section 3 begins with: numbers modulo L and no REPLYs, so that "a
 * nonrequesting node may erroneously be regarded as requesting". The number of a REQUEST always
 * replaces the last one, because one cannot tell which of two numbers modulo L is greater.
 */
#include "algorithm.h"

#include "network.h"

#include <string.h>

enum { REQUEST, PRIVILEGE, REPLY, MESSAGES_COUNT };

enum { PARAM_TEXT, PARAM_L, PARAM_REPLIES };
enum { REPLIES_ON, REPLIES_OFF };

/* The errors of the published text, as bits. */
enum { PRINTED_WAIT = 1, PRINTED_MODULO = 2 };

struct state {
	uint8_t HavePrivilege, Requesting;
	/* This node is at "Wait until ReplyCount = N-1" of P1, after its critical section. */
	uint8_t leaving;
	uint8_t padding;
	uint32_t ReplyCount;
	uint32_t Q_count;
	/* RN[nodes], followed by RequestCount[nodes], LN[nodes] and uint32_t Q[nodes]. LN and Q
	 * are all zeros without the privilege. */
	int32_t RN[];
};

static int32_t *RequestCount(const struct site *site, struct state *node)
{
	return node->RN + site->nodes;
}

static int32_t *LN(const struct site *site, struct state *node)
{
	return node->RN + 2 * (size_t)site->nodes;
}

static uint32_t *Q(const struct site *site, struct state *node)
{
	return (uint32_t *)(node->RN + 3 * (size_t)site->nodes);
}

static size_t state_size(const struct site *site)
{
	return sizeof(struct state) + 4 * (size_t)site->nodes * sizeof(int32_t);
}

static bool printed(const struct site *site, uint64_t error)
{
	return (site->parameters[PARAM_TEXT] & error) != 0;
}

static bool without_replies(const struct site *site)
{
	return site->parameters[PARAM_REPLIES] == REPLIES_OFF;
}

/* Are numbers counted modulo L? If so, the privilege may come to a node that did not ask, and a
 * node may get a Q that contains the node itself. */
static bool is_modulo_L(const struct site *site)
{
	return printed(site, PRINTED_MODULO) || without_replies(site);
}

static int32_t L(const struct site *site)
{
	return (int32_t)site->parameters[PARAM_L];
}

/* Returns how many different numbers there are. */
static int32_t modulus(const struct site *site)
{
	if (is_modulo_L(site)) /* "RN[I] := RN[I] + 1 mod L" */
		return L(site);
	return 2 * L(site);
}

/* Returns the number after n; 0 comes after -1. */
static int32_t next(const struct site *site, int32_t n)
{
	return (n + 1) % modulus(site);
}

static bool ends_round(const struct site *site, int32_t n)
{
	return n % L(site) == L(site) - 1;
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

/* A node that has left but waits for REPLYs is still in P1, so it is not ready. */
static bool ready(const struct site *site, const void *state)
{
	(void)site;
	return !((const struct state *)state)->leaving;
}

/* P1 of Figure 2, up to the critical section. */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;
	uint32_t I = site->self;

	node->Requesting = true;
	if (node->HavePrivilege) {
		out_enter(out);
		return;
	}
	node->RN[I - 1] = next(site, node->RN[I - 1]);
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
	memset(LN(site, node), 0, 2 * (size_t)site->nodes * sizeof(int32_t));
}

static bool in_queue(const uint32_t *queue, uint32_t count, uint32_t j)
{
	for (uint32_t k = 0; k < count; k++) {
		if (queue[k] == j)
			return true;
	}
	return false;
}

/* P1 of Figure 2, after the wait for REPLYs. */
static void pass_on(const struct site *site, struct state *node, struct out *out)
{
	uint32_t *queue = Q(site, node);

	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != site->self && node->RN[j - 1] == next(site, LN(site, node)[j - 1]) &&
		    !in_queue(queue, node->Q_count, j))
			queue[node->Q_count++] = j;
	}
	node->Requesting = false;
	if (node->Q_count == 0)
		return;
	uint32_t head = queue[0];
	node->Q_count--;
	memmove(queue, queue + 1, node->Q_count * sizeof(*queue));
	queue[node->Q_count] = 0;
	/* With the printed modulus a node can find itself in Q. Then the privilege stays here. */
	if (head != site->self)
		send_privilege(site, node, head, out);
}

/* "Wait until ReplyCount = N-1; ReplyCount := 0." */
static void wait_for_replies(const struct site *site, struct state *node, struct out *out)
{
	node->leaving = node->ReplyCount != site->nodes - 1;
	if (node->leaving)
		return;
	node->ReplyCount = 0;
	pass_on(site, node, out);
}

/* P1 of Figure 2, after the critical section. */
static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;
	int32_t number = node->RN[site->self - 1];
	bool asked = LN(site, node)[site->self - 1] != number;

	/* "if RN[I] = L - 1 then", whether this node asked or not. */
	if (printed(site, PRINTED_WAIT))
		asked = true;
	LN(site, node)[site->self - 1] = number;
	if (asked && ends_round(site, number) && !without_replies(site))
		wait_for_replies(site, node, out);
	else
		pass_on(site, node, out);
}

/* P2 of Figure 2. */
static void on_request(const struct site *site, struct state *node, uint32_t j, int32_t n,
                       struct out *out)
{
	int32_t *count = &RequestCount(site, node)[j - 1];

	if (without_replies(site))
		node->RN[j - 1] = n;
	else
		++*count;
	if (*count == L(site)) {
		out_message(out, REPLY);
		out_send(out, j);
		*count = 0;
	}
	if (*count == 1 || n > node->RN[j - 1]) /* 1: the beginning of a new round of node j */
		node->RN[j - 1] = n;
	if (node->HavePrivilege && !node->Requesting &&
	    node->RN[j - 1] == next(site, LN(site, node)[j - 1]))
		send_privilege(site, node, j, out);
}

/* P1 at "Wait until PRIVILEGE(Q, LN) is received". */
static void on_privilege(struct state *node, struct out *out)
{
	node->HavePrivilege = true;
	/* With the printed modulus the privilege may come although this node did not ask. P1 finds
	 * it at its next request. */
	if (node->Requesting)
		out_enter(out);
}

/* P3 of Figure 2. */
static void on_reply(const struct site *site, struct state *node, struct out *out)
{
	node->ReplyCount++;
	if (node->leaving)
		wait_for_replies(site, node, out);
}

/*
 * Can this REQUEST of node j arrive now? The REQUESTs of a node belong to one round until all L of
 * them are here, and then to the next round. The wait for REPLYs makes sure of that.
 */
static bool is_of_right_round(const struct site *site, const struct state *node, uint32_t j,
                              int32_t n)
{
	int32_t last = node->RN[j - 1];
	bool begun = node->RN[site->nodes + j - 1] != 0; /* RequestCount[j] */

	if (last < 0)
		return n < L(site);
	return (n / L(site) == last / L(site)) == begun;
}

static int receive_request(const struct site *site, struct state *node, struct in *in,
                           struct out *out)
{
	uint32_t j = (uint32_t)in_range(in, 1, site->nodes);
	int32_t n = (int32_t)in_range(in, 0, (uint64_t)modulus(site) - 1);

	if (!in_end(in) || j == site->self)
		return BATON_EMESSAGE;
	if (!is_modulo_L(site) && !is_of_right_round(site, node, j, n))
		return BATON_EMESSAGE;
	on_request(site, node, j, n, out);
	return 0;
}

/* Reads PRIVILEGE(Q, LN), stores it if `node` is not NULL, and returns LN[I]. */
static int32_t read_privilege(const struct site *site, struct in *in, struct state *node)
{
	uint32_t count = (uint32_t)in_range(in, 0, site->nodes);
	int32_t own = -1;

	in->bad = in->bad || !in_distinct(in, count, site->nodes);
	if (node != NULL)
		node->Q_count = count;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t j = (uint32_t)in_range(in, 1, site->nodes);
		/* With the printed modulus, P2 may send a node a Q that contains this very node. */
		if (j == site->self && !is_modulo_L(site))
			in->bad = true;
		if (node != NULL)
			Q(site, node)[k] = j;
	}
	for (uint32_t j = 1; j <= site->nodes; j++) {
		int64_t n = in_int(in);
		if (n < -1 || n >= modulus(site))
			in->bad = true;
		if (j == site->self)
			own = (int32_t)n;
		if (node != NULL)
			LN(site, node)[j - 1] = (int32_t)n;
	}
	return own;
}

static int receive_privilege(const struct site *site, struct state *node, struct in *in,
                             struct out *out)
{
	struct in again = *in;
	int32_t own = read_privilege(site, in, NULL);

	if (!in_end(in) || node->HavePrivilege)
		return BATON_EMESSAGE;
	/* The privilege comes to grant the last request. With the printed modulus it may come
	 * without a request. */
	bool asked = node->Requesting && node->RN[site->self - 1] == next(site, own);
	if (!asked && !is_modulo_L(site))
		return BATON_EMESSAGE;
	read_privilege(site, &again, node);
	on_privilege(node, out);
	return 0;
}

static int receive_reply(const struct site *site, struct state *node, struct in *in,
                         struct out *out)
{
	if (!in_end(in) || !ends_round(site, node->RN[site->self - 1]) ||
	    node->ReplyCount == site->nodes - 1)
		return BATON_EMESSAGE;
	on_reply(site, node, out);
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
	case REPLY:
		return receive_reply(site, state, &in, out);
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->HavePrivilege;
}

static void write_array(struct writer *writer, const char *key, const int32_t *numbers,
                        uint32_t count)
{
	writer_key(writer, key);
	writer_open(writer, '[');
	for (uint32_t j = 0; j < count; j++)
		writer_int(writer, numbers[j]);
	writer_close(writer, ']');
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;
	size_t nodes = site->nodes;

	writer_key(writer, "HavePrivilege");
	writer_bool(writer, node->HavePrivilege);
	writer_key(writer, "Requesting");
	writer_bool(writer, node->Requesting);
	write_array(writer, "RN", node->RN, site->nodes);
	if (node->HavePrivilege) {
		write_array(writer, "LN", node->RN + 2 * nodes, site->nodes);
		write_array(writer, "Q", node->RN + 3 * nodes, node->Q_count);
	} else {
		writer_key(writer, "LN");
		writer_null(writer);
		writer_key(writer, "Q");
		writer_null(writer);
	}
	write_array(writer, "RequestCount", node->RN + nodes, site->nodes);
	writer_key(writer, "ReplyCount");
	writer_uint(writer, node->ReplyCount);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	if (message->body[0] == REPLY)
		return;
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

/* REPLYs come only at the end of a round, and before the node has passed the privilege on. */
static bool counts_are_within_a_round(const struct site *site, const void *state)
{
	const struct state *node = state;

	for (uint32_t j = 0; j < site->nodes; j++) {
		int32_t count = node->RN[site->nodes + j];
		if (count < 0 || count >= L(site))
			return false;
	}
	if (node->leaving && (!node->HavePrivilege || !node->Requesting))
		return false;
	return node->ReplyCount < site->nodes &&
	       (node->ReplyCount == 0 || ends_round(site, node->RN[site->self - 1]));
}

/* The place of the privilege: at its holder, or on its way to a node. Neither is set if the
 * privilege was lost. */
struct privilege {
	const struct state *holder;
	uint32_t to;
	struct in in; /* Q and LN, if the privilege is on its way */
};

static struct privilege find_privilege(const struct snapshot *snapshot)
{
	struct privilege privilege = {0};

	for (uint32_t i = 0; i < snapshot->network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i];
		if (node->HavePrivilege)
			privilege.holder = node;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		if (snapshot->flights[k].message.body[0] == PRIVILEGE) {
			privilege.to = snapshot->flights[k].to;
			privilege.in = in_message(&snapshot->flights[k].message);
		}
	}
	return privilege;
}

static bool waits(const struct snapshot *snapshot, uint64_t j)
{
	const struct state *node = snapshot->states[j - 1];
	return node->Requesting && !node->HavePrivilege;
}

/* The paper warns that "a nonrequesting node may erroneously be regarded as requesting". That does
 * not happen here. */
static bool privilege_goes_to_who_waits(const struct snapshot *snapshot)
{
	struct privilege privilege = find_privilege(snapshot);
	uint32_t nodes = snapshot->network->graph.nodes;

	if (privilege.to != 0) {
		bool all_wait = waits(snapshot, privilege.to);
		for (uint64_t k = in_uint(&privilege.in); k > 0; k--)
			all_wait = waits(snapshot, in_uint(&privilege.in)) && all_wait;
		return all_wait;
	}
	for (uint32_t k = 0; privilege.holder != NULL && k < privilege.holder->Q_count; k++) {
		if (!waits(snapshot, (uint32_t)privilege.holder->RN[3 * (size_t)nodes + k]))
			return false;
	}
	return true;
}

/* LN[j] is the number of j's last request if that was granted, and the one before if j waits. */
static bool LN_tells_who_waits(const struct snapshot *snapshot)
{
	struct privilege privilege = find_privilege(snapshot);
	uint32_t nodes = snapshot->network->graph.nodes;

	if (privilege.to == 0 && privilege.holder == NULL)
		return true;
	for (uint64_t k = privilege.to != 0 ? in_uint(&privilege.in) : 0; k > 0; k--)
		in_uint(&privilege.in);
	for (uint32_t j = 1; j <= nodes; j++) {
		const struct state *node = snapshot->states[j - 1];
		struct site site = network_site(snapshot->network, j);
		int32_t last = privilege.to != 0 ? (int32_t)in_int(&privilege.in)
		                                 : privilege.holder->RN[2 * (size_t)nodes + j - 1];
		bool served = node->RN[j - 1] == last;
		bool pending = node->RN[j - 1] == next(&site, last);

		if (waits(snapshot, j) ? !pending : !served && !(node->Requesting && pending))
			return false;
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

/* At rest the holder knows every request. When it leaves, it appends those that are not in Q yet,
 * by their numbers. */
static uint32_t queue_at_rest(const struct snapshot *snapshot, uint32_t *ret_queue)
{
	uint32_t nodes = snapshot->network->graph.nodes, count = 0, I = 1;
	struct site site = network_site(snapshot->network, I);

	while (I < nodes && !((const struct state *)snapshot->states[I - 1])->HavePrivilege)
		I++;
	struct state *holder = (struct state *)snapshot->states[I - 1];
	if (!holder->HavePrivilege || holder->Q_count > nodes)
		return 0;
	for (uint32_t k = 0; k < holder->Q_count; k++) {
		if (!queue_append(snapshot, ret_queue, &count, Q(&site, holder)[k]))
			return 0;
	}
	for (uint32_t j = 1, queued = count; j <= nodes; j++) {
		int32_t granted = LN(&site, holder)[j - 1];
		if (granted < -1 || granted >= modulus(&site))
			return 0;
		if (j != I && holder->RN[j - 1] == next(&site, granted) &&
		    !in_queue(ret_queue, queued, j) &&
		    !queue_append(snapshot, ret_queue, &count, j))
			return 0;
	}
	return count;
}

const struct algorithm suzuki_kasami_b = {
        .name = "suzuki-kasami-b",
        .title = "Suzuki and Kasami, B: as A, but with bounded numbers and REPLYs once a round",
        .year = 1985,
        .source = SOURCE_PAPER,
        .rules = "Suzuki-Kasami 3",
        .nodes_checked = 4,
        .nodes_checked_twice = 3,
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .has_token = true,
        .claim_messages = "0 or N+(N-1)/L",
        .claim_delay = "1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [PRIVILEGE] = {.name = "PRIVILEGE", .role = ROLE_PERMITS, .token = true},
                        [REPLY] = {.name = "REPLY", .role = ROLE_GIVES_BACK},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"HavePrivilege", VARIABLE_PLAIN},
                        {"Requesting", VARIABLE_PLAIN},
                        {"RN", VARIABLE_ROW},
                        {"LN", VARIABLE_ROW},
                        {"Q", VARIABLE_QUEUE},
                        {"RequestCount", VARIABLE_ROW},
                        {"ReplyCount", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [PARAM_TEXT] =
                                {
                                        .name = "text",
                                        .help = "printed: Figure 2 as it stands; printed:wait: "
                                                "wait for REPLYs even after an entry without a "
                                                "request; printed:modulo: numbers modulo L",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"mended", 0},
                                                        {"printed", PRINTED_WAIT | PRINTED_MODULO},
                                                        {"printed:wait", PRINTED_WAIT},
                                                        {"printed:modulo", PRINTED_MODULO},
                                                        {NULL, 0},
                                                },
                                },
                        [PARAM_L] =
                                {
                                        .name = "L",
                                        .help = "how many requests make a round",
                                        .least = 2,
                                        .most = 1000000,
                                        .initial = 2,
                                },
                        [PARAM_REPLIES] =
                                {
                                        .name = "replies",
                                        .breaks = true,
                                        .help = "off: numbers modulo L and no REPLYs, to show the "
                                                "error that REPLYs avoid",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"on", REPLIES_ON},
                                                        {"off", REPLIES_OFF},
                                                        {NULL, 0},
                                                },
                                },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "counts_are_within_a_round",
                         .meaning = "counts are less than L, and REPLYs are counted only at the "
                                    "end of a round",
                         .local = counts_are_within_a_round},
                        {.name = "privilege_goes_to_who_waits",
                         .meaning = "the privilege goes to a node that waits, and every node in Q "
                                    "waits",
                         .global = privilege_goes_to_who_waits},
                        {.name = "LN_tells_who_waits",
                         .meaning = "LN of a node is the number of its last request if this was "
                                    "granted, and the one before if it waits",
                         .global = LN_tells_who_waits},
                        {.name = NULL},
                },
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
        .queue_at_rest = queue_at_rest,
};
