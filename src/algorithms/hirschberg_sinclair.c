/*
 * Hirschberg and Sinclair's election on a ring with two directions.
 *
 * D. S. Hirschberg and J. B. Sinclair, "Decentralized Extrema-Finding in Circular Configurations of
 * Processors", Communications of the ACM 23(11), November 1980, pages 627-628; as described by
 * Michel Raynal, chapter 2, "Election and Mutual Exclusion Algorithms", section 5.3.
 *
 * A candidate asks the processes within a distance of 1, 2, 4, ... on both sides whether its number
 * is greater than theirs, and waits for both answers before it doubles the distance. A process with
 * a greater number answers no, and becomes a candidate if it was not involved before. A process
 * with a smaller number gives up and passes the question on, or answers yes if it is the last on
 * the path. A candidature that comes back to its sender has gone all round the ring: that process
 * is elected, and sends ENDED round.
 *
 * Network: a ring with two directions, no loss. Order is not needed: a candidate has only one
 * question on its way on each side, and a process that knows the winner does not take part any
 * more.
 *
 * Departures.
 * - "if respOK then state <- lost" is "if not respOK" (printed:respok).
 * - "received (candidature, number, lgmax)" carries lg too, as the declaration of the message says.
 * - "wait nresp = 2" also ends when the state is no longer candidate: the elected process gets its
 *   two candidatures back and no response, and a process that has lost need not wait. nresp and
 *   nbresp are the same variable.
 * - winner is 0 (nobody) at first. The elected process does not "pass" ENDED, which it did not
 *   receive, but sends it on in the direction in which its candidature came; ENDED stops there
 *   again, after n messages, because winner = number.
 * - In the printed text ENDED makes a process not_involved. A candidature that arrives later, from
 *   the other direction, then looks like one of a new election, and the process takes part forever
 *   (printed:late). Here a process that knows the winner answers and passes on, but neither becomes
 *   lost nor initiates. So there is one election: a process that initiates again is only told the
 *   leader.
 * - The variables of the loop (lgmax, nbresp, respOK) have their initial values again when the
 *   process is not a candidate.
 */
#include "algorithm.h"

#include "network.h"

enum { CANDIDATURE, RESPONSE, ENDED, MESSAGES_COUNT };

enum { TEXT };

enum { TEXT_MENDED = 0, TEXT_RESPOK = 1, TEXT_LATE = 2 };

enum { IDENTIFIER_MAX = INT32_MAX };

/* A power of two that is at least as large as any number of nodes. */
#define LGMAX_MOST ((uint64_t)1 << 32)

enum position { NOT_INVOLVED, CANDIDATE, LOST, ELECTED };

struct state {
	uint64_t lgmax;  /* how far a candidate asks; 0 if the process is not a candidate */
	uint32_t winner; /* the number of the elected process; 0: not known */
	uint8_t state;   /* how far the process is in the election: an enum position */
	/* The number of responses of this round that have come: 0 or 1, because the second ends the
	 * round. */
	uint8_t nbresp;
	uint8_t respOK;
	uint8_t padding;
};

static size_t state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct state);
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)out;
	((struct state *)state)->respOK = true;
}

/* A process takes part from its own candidature, or from the first candidature that it loses
 * against, until it knows the winner. */
static bool ready(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	return node->state == NOT_INVOLVED || node->state == ELECTED;
}

static enum side opposite(enum side side)
{
	return side == SIDE_LEFT ? SIDE_RIGHT : SIDE_LEFT;
}

/* Runs the body of the paper's loop up to its wait. */
static void ask_both_sides(const struct site *site, struct state *node, struct out *out)
{
	node->nbresp = 0;
	node->respOK = true;
	out_message(out, CANDIDATURE);
	out_uint(out, site->identifier);
	out_uint(out, 0);
	out_uint(out, node->lgmax);
	out_send_side(out, site, SIDE_LEFT);
	out_send_side(out, site, SIDE_RIGHT);
}

static void initiate_election(const struct site *site, struct state *node, struct out *out)
{
	node->state = CANDIDATE;
	node->lgmax = 1;
	ask_both_sides(site, node, out);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	if (node->winner != 0)
		out_elected(out, node->winner);
	else
		initiate_election(site, node, out);
}

/* Leaves the loop and resets its variables. */
static void leave_loop(struct state *node, enum position position)
{
	node->state = (uint8_t)position;
	node->lgmax = 0;
	node->nbresp = 0;
	node->respOK = true;
}

static void send_response(const struct site *site, enum side side, bool ok, uint32_t number,
                          struct out *out)
{
	out_message(out, RESPONSE);
	out_uint(out, ok);
	out_uint(out, number);
	out_send_side(out, site, side);
}

static void send_ended(const struct site *site, enum side side, uint32_t number, struct out *out)
{
	out_message(out, ENDED);
	out_uint(out, number);
	out_send_side(out, site, side);
}

/* Runs the body of the paper's loop after its wait. */
static void end_round(const struct site *site, struct state *node, struct out *out)
{
	bool loses = !node->respOK;

	/* Printed: "if respOK then state <- lost". So the greatest process withdraws. */
	if (site->parameters[TEXT] & TEXT_RESPOK)
		loses = node->respOK;
	if (loses) {
		leave_loop(node, LOST);
	} else {
		node->lgmax *= 2;
		ask_both_sides(site, node, out);
	}
}

static void on_response(const struct site *site, struct state *node, enum side from, bool ok,
                        uint32_t number, struct out *out)
{
	if (number != site->identifier) {
		send_response(site, opposite(from), ok, number, out);
		return;
	}
	if (node->state != CANDIDATE)
		return;
	node->nbresp++;
	node->respOK = node->respOK && ok;
	if (node->nbresp == 2)
		end_round(site, node, out);
}

/* Does a candidature still concern this process, or is the election over for it? */
static bool is_going_on(const struct site *site, const struct state *node)
{
	/* Printed: "winner <- number; state <- not_involved". So any later message begins a new
	 * election. */
	return node->winner == 0 || site->parameters[TEXT] & TEXT_LATE;
}

static void on_candidature(const struct site *site, struct state *node, enum side from,
                           uint32_t number, uint64_t lg, uint64_t lgmax, struct out *out)
{
	if (number < site->identifier) {
		send_response(site, from, false, number, out);
		if (node->state == NOT_INVOLVED && is_going_on(site, node))
			initiate_election(site, node, out);
	} else if (number > site->identifier) {
		if (is_going_on(site, node))
			leave_loop(node, LOST);
		lg++;
		if (lg < lgmax) {
			out_message(out, CANDIDATURE);
			out_uint(out, number);
			out_uint(out, lg);
			out_uint(out, lgmax);
			out_send_side(out, site, opposite(from));
		} else {
			send_response(site, from, true, number, out);
		}
	} else if (node->state != ELECTED) {
		leave_loop(node, ELECTED);
		node->winner = site->identifier;
		out_elected(out, node->winner);
		send_ended(site, opposite(from), node->winner, out);
	}
}

static void on_ended(const struct site *site, struct state *node, enum side from, uint32_t number,
                     struct out *out)
{
	if (node->winner == number)
		return;
	send_ended(site, opposite(from), number, out);
	node->winner = number;
	leave_loop(node, NOT_INVOLVED);
	out_elected(out, number);
}

/* Has no message arrived here yet? The first one is always a candidature. */
static bool is_untouched(const struct state *node)
{
	return node->state == NOT_INVOLVED && node->winner == 0;
}

static int receive_candidature(const struct site *site, struct state *node, enum side from,
                               struct in *in, struct out *out)
{
	uint32_t number = (uint32_t)in_range(in, 1, IDENTIFIER_MAX);
	uint64_t lg = in_uint(in);
	uint64_t lgmax = in_range(in, 1, LGMAX_MOST);
	bool own = number == site->identifier;

	if (!in_end(in) || lg >= lgmax || (lgmax & (lgmax - 1)) != 0)
		return BATON_EMESSAGE;
	if (own && node->state != CANDIDATE && node->state != ELECTED)
		return BATON_EMESSAGE;
	on_candidature(site, node, from, number, lg, lgmax, out);
	return 0;
}

static int receive_response(const struct site *site, struct state *node, enum side from,
                            struct in *in, struct out *out)
{
	bool ok = in_range(in, 0, 1) != 0;
	uint32_t number = (uint32_t)in_range(in, 1, IDENTIFIER_MAX);

	if (!in_end(in) || is_untouched(node))
		return BATON_EMESSAGE;
	on_response(site, node, from, ok, number, out);
	return 0;
}

static int receive_ended(const struct site *site, struct state *node, enum side from, struct in *in,
                         struct out *out)
{
	uint32_t number = (uint32_t)in_range(in, 1, IDENTIFIER_MAX);

	/* The winner has the greatest number, and all other processes have lost against it. */
	if (!in_end(in) || number < site->identifier || is_untouched(node) ||
	    node->state == CANDIDATE || (node->state == ELECTED) != (number == site->identifier))
		return BATON_EMESSAGE;
	on_ended(site, node, from, number, out);
	return 0;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct in in = in_message(message);

	if (message->side == SIDE_NONE)
		return BATON_EMESSAGE;
	switch (message->body[0]) {
	case CANDIDATURE:
		return receive_candidature(site, state, message->side, &in, out);
	case RESPONSE:
		return receive_response(site, state, message->side, &in, out);
	case ENDED:
		return receive_ended(site, state, message->side, &in, out);
	default:
		return BATON_EMESSAGE;
	}
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	static const char *const positions[] = {
	        [NOT_INVOLVED] = "not_involved",
	        [CANDIDATE] = "candidate",
	        [LOST] = "lost",
	        [ELECTED] = "elected",
	};
	const struct state *node = state;

	(void)site;
	writer_key(writer, "state");
	writer_string(writer, positions[node->state]);
	writer_key(writer, "lgmax");
	writer_uint(writer, node->lgmax);
	writer_key(writer, "winner");
	writer_uint(writer, node->winner);
	writer_key(writer, "nbresp");
	writer_uint(writer, node->nbresp);
	writer_key(writer, "respOK");
	writer_bool(writer, node->respOK);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	if (message->body[0] == RESPONSE)
		writer_bool(writer, in_uint(&in) != 0);
	while (in.next < in.end)
		writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

/* Only the process with the greatest number is elected. */
static bool greatest_is_elected(const struct snapshot *snapshot)
{
	const struct network *network = snapshot->network;

	for (uint32_t i = 0; i < network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i];
		for (uint32_t j = 0; j < network->graph.nodes && node->state == ELECTED; j++) {
			if (network->identifiers[j] > network->identifiers[i])
				return false;
		}
	}
	return true;
}

/* "In any set of 2^(i-1) + 1 consecutive processes only one can launch a candidature on paths of
 * length 2^i." */
static bool candidates_are_far_apart(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 0; i < nodes; i++) {
		const struct state *one = snapshot->states[i];
		for (uint32_t distance = 1; distance < nodes; distance++) {
			const struct state *two = snapshot->states[(i + distance) % nodes];
			uint64_t lgmax = one->lgmax < two->lgmax ? one->lgmax : two->lgmax;
			if (lgmax >= 2 && distance <= lgmax / 2)
				return false;
		}
	}
	return true;
}

const struct algorithm hirschberg_sinclair = {
        .name = "hirschberg-sinclair",
        .title = "Hirschberg and Sinclair: ask both sides, twice as far each time",
        .year = 1980,
        .source = SOURCE_ACCOUNT,
        .rules = "Raynal 5.3",
        .nodes_checked = 3,
        .kind = KIND_ELECTION,
        .links = GRAPH_RING,
        .topology = "ring",
        .claim_messages = "8n(1 + log n)",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [CANDIDATURE] = {.name = "CANDIDATURE", .role = ROLE_ASKS},
                        [RESPONSE] = {.name = "RESPONSE", .role = ROLE_PERMITS},
                        [ENDED] = {.name = "ENDED", .role = ROLE_ANNOUNCES, .announcement = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"state", VARIABLE_PLAIN},
                        {"lgmax", VARIABLE_PLAIN},
                        {"winner", VARIABLE_PLAIN},
                        {"nbresp", VARIABLE_PLAIN},
                        {"respOK", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [TEXT] = {.name = "text",
                                  .help = "mended, or as printed: a candidate withdraws if all "
                                          "responses are favourable; a candidature that arrives "
                                          "after ENDED begins a new election",
                                  .choices =
                                          (const struct parameter_choice[]){
                                                  {"mended", TEXT_MENDED},
                                                  {"printed", TEXT_RESPOK | TEXT_LATE},
                                                  {"printed:respok", TEXT_RESPOK},
                                                  {"printed:late", TEXT_LATE},
                                                  {NULL, 0},
                                          }},
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "greatest_is_elected",
                         .meaning = "only the process with the greatest identifier is elected",
                         .global = greatest_is_elected},
                        {.name = "candidates_are_far_apart",
                         .meaning = "of 2^(i-1) + 1 neighbouring processes only one is a candidate "
                                    "on paths of length 2^i",
                         .global = candidates_are_far_apart},
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
