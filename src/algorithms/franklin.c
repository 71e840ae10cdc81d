/*
 * Franklin's election on a ring with two directions.
 *
 * W. R. Franklin, "On an Improved Algorithm for Decentralized Extrema-Finding in Circular
 * Configurations of Processors", Communications of the ACM 25(5), May 1982, pages 336-337; as
 * described by Michel Raynal, chapter 2, "Election and Mutual Exclusion Algorithms", section 5.5.1.
 *
 * In each round an active process sends its number both ways and gets those of the nearest active
 * processes on its left and right. If its own number is the greatest of the three, it goes on to
 * the next round. Otherwise it becomes passive and only relays from then on. A process that gets
 * its own number back is the only active one left, and is elected.
 *
 * Network: a ring with two directions, no loss. Without order the election is still correct, but it
 * may take more rounds than the bound allows: see the page.
 *
 * Departures. The section is a paragraph without a program, so this is one reading of it.
 * - A process may get one neighbour's number for the next round before the other neighbour's number
 *   for the current round. It keeps the early number, and relays it if it becomes passive. The
 *   paragraph does not mention this. A process that simply notes "those of its neighbours on both
 *   left and right" overwrites the first number with the second (printed:queue).
 * - By the general remark (a) of section 5.4, a process that receives a number before it has begun
 *   takes part: it first sends its own number both ways, and then handles what it has received.
 * - By remark (b) of that section, the elected process sends ELECTED round the ring, in the
 *   direction in which its number came back. That takes n messages.
 * There is one election: a process that initiates again is only told the leader.
 */
#include "algorithm.h"

#include "network.h"

enum { CANDIDATE, ELECTED, MESSAGES_COUNT };

enum { TEXT };

enum { TEXT_MENDED = 0, TEXT_QUEUE = 1 };

enum { IDENTIFIER_MAX = INT32_MAX };

enum standing { NOT_INVOLVED, ACTIVE, PASSIVE, LEADER };

/* Numbers begin with 1; a 0 means that there is none. */
struct state {
	uint32_t left, right; /* the numbers that have arrived for this round, from either side */
	/* A number for the next round that has arrived early, from a side whose number for this
	 * round has arrived too. */
	uint32_t queued;
	uint32_t leader;
	uint8_t state; /* whether the process takes part, and how: an enum standing */
	uint8_t padding[3];
};

static size_t state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct state);
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)state;
	(void)out;
}

static bool ready(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	return node->state == NOT_INVOLVED || node->leader != 0;
}

static enum side opposite(enum side side)
{
	return side == SIDE_LEFT ? SIDE_RIGHT : SIDE_LEFT;
}

static void send(const struct site *site, enum side side, uint8_t type, uint32_t number,
                 struct out *out)
{
	out_message(out, type);
	out_uint(out, number);
	out_send_side(out, site, side);
}

static void begin_round(const struct site *site, struct state *node, struct out *out)
{
	node->state = ACTIVE;
	node->left = node->right = 0;
	send(site, SIDE_LEFT, CANDIDATE, site->identifier, out);
	send(site, SIDE_RIGHT, CANDIDATE, site->identifier, out);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	if (node->leader != 0)
		out_elected(out, node->leader);
	else
		begin_round(site, node, out);
}

static void become_leader(const struct site *site, struct state *node, enum side from,
                          struct out *out)
{
	*node = (struct state){.state = LEADER, .leader = site->identifier};
	out_elected(out, site->identifier);
	send(site, opposite(from), ELECTED, site->identifier, out);
}

/* Called when both numbers are here. The later one came from side `last`, so a queued number
 * came from the other side. */
static void end_round(const struct site *site, struct state *node, enum side last, struct out *out)
{
	uint32_t queued = node->queued;

	node->queued = 0;
	if (site->identifier > node->left && site->identifier > node->right) {
		begin_round(site, node, out);
		if (last == SIDE_LEFT)
			node->right = queued;
		else
			node->left = queued;
	} else {
		node->state = PASSIVE;
		node->left = node->right = 0;
		if (queued != 0)
			send(site, last, CANDIDATE, queued, out);
	}
}

/* An active process gets the number of another. */
static void note(const struct site *site, struct state *node, enum side from, uint32_t number,
                 struct out *out)
{
	uint32_t *here = from == SIDE_LEFT ? &node->left : &node->right;

	/* As printed, "an active process tests to see if its identifier is greater than those of
	 * its neighbours on both left and right": a process
	 * keeps one number for each side, and a later number from the same side overwrites it. In
	 * the mended text a second number from the same side is for the next round: the
	 * neighbour has either won this round, or it has lost and relays a number of a process
	 * beyond it. */
	if (*here == 0 || (site->parameters[TEXT] & TEXT_QUEUE) != 0)
		*here = number;
	else
		node->queued = number;
	if (node->left != 0 && node->right != 0)
		end_round(site, node, from, out);
}

static void on_candidate(const struct site *site, struct state *node, enum side from,
                         uint32_t number, struct out *out)
{
	/* "a process would decide to participate on first receiving a message" */
	if (node->state == NOT_INVOLVED)
		begin_round(site, node, out);
	switch ((enum standing)node->state) {
	case ACTIVE:
		if (number == site->identifier)
			become_leader(site, node, from, out);
		else
			note(site, node, from, number, out);
		break;
	case PASSIVE:
		send(site, opposite(from), CANDIDATE, number, out);
		break;
	/* A leader's own number comes back from the other side too. If channels do not keep order,
	 * older numbers may come back too. */
	case LEADER:
	case NOT_INVOLVED:
		break;
	}
}

static void on_elected(const struct site *site, struct state *node, enum side from, uint32_t number,
                       struct out *out)
{
	if (number == site->identifier)
		return;
	node->leader = number;
	out_elected(out, number);
	send(site, opposite(from), ELECTED, number, out);
}

static int receive_candidate(const struct site *site, struct state *node, enum side from,
                             uint32_t number, struct out *out)
{
	bool own = number == site->identifier;
	uint32_t here = from == SIDE_LEFT ? node->left : node->right;

	/* A number comes back to its owner only while the owner is active or elected. A neighbour
	 * is never two rounds ahead, because it needs a number from here for each round. */
	if ((own && node->state != ACTIVE && node->state != LEADER) ||
	    (node->state == LEADER && number > site->identifier) ||
	    (node->state == ACTIVE && here != 0 && node->queued != 0))
		return BATON_EMESSAGE;
	on_candidate(site, node, from, number, out);
	return 0;
}

static int receive_elected(const struct site *site, struct state *node, enum side from,
                           uint32_t number, struct out *out)
{
	bool own = number == site->identifier;

	/* The leader has the greatest number, and all others are passive. Each is told once. */
	if (number < site->identifier || node->state != (own ? LEADER : PASSIVE) ||
	    (node->leader != 0) != own)
		return BATON_EMESSAGE;
	on_elected(site, node, from, number, out);
	return 0;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct in in = in_message(message);
	uint32_t number = (uint32_t)in_range(&in, 1, IDENTIFIER_MAX);

	if (!in_end(&in) || message->side == SIDE_NONE)
		return BATON_EMESSAGE;
	switch (message->body[0]) {
	case CANDIDATE:
		return receive_candidate(site, state, message->side, number, out);
	case ELECTED:
		return receive_elected(site, state, message->side, number, out);
	default:
		return BATON_EMESSAGE;
	}
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	static const char *const standings[] = {
	        [NOT_INVOLVED] = "not_involved",
	        [ACTIVE] = "active",
	        [PASSIVE] = "passive",
	        [LEADER] = "elected",
	};
	const struct state *node = state;

	(void)site;
	writer_key(writer, "state");
	writer_string(writer, standings[node->state]);
	writer_key(writer, "left");
	writer_uint(writer, node->left);
	writer_key(writer, "right");
	writer_uint(writer, node->right);
	writer_key(writer, "queued");
	writer_uint(writer, node->queued);
	writer_key(writer, "leader");
	writer_uint(writer, node->leader);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

/* Only the process with the greatest number is elected. */
static bool greatest_is_elected(const struct snapshot *snapshot)
{
	const struct network *network = snapshot->network;

	for (uint32_t i = 0; i < network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i];
		for (uint32_t j = 0; j < network->graph.nodes && node->state == LEADER; j++) {
			if (network->identifiers[j] > network->identifiers[i])
				return false;
		}
	}
	return true;
}

const struct algorithm franklin = {
        .name = "franklin",
        .title = "Franklin: only a process greater than both neighbours stays active",
        .year = 1982,
        .source = SOURCE_RECONSTRUCTED,
        .rules = "Raynal 5.5.1",
        .nodes_checked = 4,
        .kind = KIND_ELECTION,
        .links = GRAPH_RING,
        .topology = "ring",
        .claim_messages = "2n(1 + log n)",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [CANDIDATE] = {.name = "CANDIDATE", .role = ROLE_ASKS},
                        [ELECTED] = {.name = "ELECTED",
                                     .role = ROLE_ANNOUNCES,
                                     .announcement = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"state", VARIABLE_PLAIN},
                        {"left", VARIABLE_PLAIN},
                        {"right", VARIABLE_PLAIN},
                        {"queued", VARIABLE_PLAIN},
                        {"leader", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [TEXT] = {.name = "text",
                                  .help = "mended, or as printed: a number for the next round that "
                                          "arrives early is not kept",
                                  .choices =
                                          (const struct parameter_choice[]){
                                                  {"mended", TEXT_MENDED},
                                                  {"printed", TEXT_QUEUE},
                                                  {"printed:queue", TEXT_QUEUE},
                                                  {NULL, 0},
                                          }},
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "greatest_is_elected",
                         .meaning = "only the process with the greatest identifier is elected",
                         .global = greatest_is_elected},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .receive = receive,
        .ready = ready,
        .describe = describe,
        .show = show,
};
