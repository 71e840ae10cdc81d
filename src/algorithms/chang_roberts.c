/*
 * Chang and Roberts' election: selective extinction.
 *
 * Ernest Chang and Rosemary Roberts, "An Improved Algorithm for Decentralized Extrema-Finding in
 * Circular Configurations of Processes", Communications of the ACM 22(5), May 1979, pages 281-283;
 * as described by Michel Raynal, chapter 2, "Election and Mutual Exclusion Algorithms", section
 * 5.2.
 *
 * A process that initiates the election sends its number round the ring. A process that receives a
 * greater number passes it on. It replaces a smaller number by its own if it does not take part
 * yet, and drops a smaller number if it does. Only the greatest number comes back to its owner,
 * which is elected and announces this in a second turn.
 *
 * Section 5.1 leaves the choice between "the largest identifier (or alternatively, the smallest)".
 * With `--param elect=least` the smallest wins, and every comparison is the other way round.
 *
 * Network: a ring with one direction that keeps order, no loss. A smaller number that arrives after
 * the announcement, which has reset `participant`, would begin a second election.
 *
 * Departures.
 * - The guard is printed "case j < my_number and participant" (printed:participant). It must be
 *   "and not participant". With the printed guard, a greater process that does not take part
 *   swallows the only number, and one that takes part sends its own number again and is elected
 *   twice. Somebody has noticed this: in our copy "only participant" is written by hand at the
 *   guard.
 * - The chapter sends "to the left"; its left is the direction of the ring here.
 * - The chapter announces only where "it is necessary for all the processes to know". Here it
 *   always is necessary: ELECTED is always sent, and is counted separately.
 * - The elected process declares itself when its number has come back. It sets the variable
 *   `coordinator`, like all others, when ELECTED arrives.
 */
#include "algorithm.h"

enum { ELECTION, ELECTED, MESSAGES_COUNT };

enum { TEXT, ELECT, PARAMETERS_COUNT };

enum { TEXT_MENDED = 0, TEXT_PARTICIPANT = 1 };

enum { ELECT_GREATEST, ELECT_LEAST };

enum { NUMBER_MAX = INT32_MAX };

struct state {
	uint32_t coordinator; /* the number of the elected process; 0: unknown */
	uint8_t participant;
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

static void sendL(const struct site *site, uint8_t type, uint32_t number, struct out *out)
{
	out_message(out, type);
	out_uint(out, number);
	out_send_side(out, site, SIDE_RIGHT);
}

/* "when decision (initiate_election)". */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->participant = true;
	sendL(site, ELECTION, site->identifier, out);
}

/* Does a process answer a smaller number with its own? */
static bool answers(const struct site *site, const struct state *node)
{
	/* "case j < my_number and participant". */
	if (site->parameters[TEXT] & TEXT_PARTICIPANT)
		return node->participant;
	return !node->participant;
}

/* Does a number win against another? */
static bool beats(const struct site *site, uint32_t number, uint32_t other)
{
	return site->parameters[ELECT] == ELECT_LEAST ? number < other : number > other;
}

static void on_election(const struct site *site, struct state *node, uint32_t j, struct out *out)
{
	uint32_t my_number = site->identifier;

	if (beats(site, j, my_number)) {
		sendL(site, ELECTION, j, out);
		node->participant = true;
	} else if (j != my_number && answers(site, node)) {
		sendL(site, ELECTION, my_number, out);
		node->participant = true;
	} else if (j == my_number) {
		sendL(site, ELECTED, my_number, out);
		out_elected(out, my_number);
	}
}

static void on_elected(const struct site *site, struct state *node, uint32_t j, struct out *out)
{
	node->coordinator = j;
	node->participant = false;
	if (j != site->identifier) {
		sendL(site, ELECTED, j, out);
		out_elected(out, j);
	}
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint32_t j = (uint32_t)in_range(&in, 1, NUMBER_MAX);
	/* When the election is over for a process, neither its own number nor an announcement
	 * can arrive. With the printed guard both arrive a second time. */
	bool over = !node->participant && site->parameters[TEXT] == TEXT_MENDED;

	if (!in_end(&in) || message->side != SIDE_LEFT)
		return BATON_EMESSAGE;
	switch (message->body[0]) {
	case ELECTION:
		if (over && j == site->identifier)
			return BATON_EMESSAGE;
		on_election(site, node, j, out);
		return 0;
	case ELECTED:
		if (over || beats(site, site->identifier, j))
			return BATON_EMESSAGE;
		on_elected(site, node, j, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

/* A process that takes part already cannot initiate. */
static bool ready(const struct site *site, const void *state)
{
	(void)site;
	return !((const struct state *)state)->participant;
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	(void)site;
	writer_key(writer, "participant");
	writer_bool(writer, node->participant);
	writer_key(writer, "coordinator");
	if (node->coordinator != 0)
		writer_uint(writer, node->coordinator);
	else
		writer_null(writer);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

/* "The algorithm picks out one and only one number, the maximum." (elect=least: the minimum.) */
static bool coordinator_is_the_maximum(const struct site *site, const void *state)
{
	uint32_t coordinator = ((const struct state *)state)->coordinator;

	for (uint32_t i = 0; i < site->nodes; i++) {
		if (coordinator != 0 && beats(site, site->identifiers[i], coordinator))
			return false;
	}
	return true;
}

const struct algorithm chang_roberts = {
        .name = "chang-roberts",
        .title = "Chang and Roberts: a process drops numbers that are smaller than its own",
        .year = 1979,
        .source = SOURCE_ACCOUNT,
        .rules = "Raynal 5.2",
        .nodes_checked = 5,
        .kind = KIND_ELECTION,
        .links = GRAPH_RING,
        .one_way = true,
        .topology = "ring",
        .needs_fifo = true,
        .claim_messages = "N to N(N+1)/2",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [ELECTION] = {.name = "ELECTION", .role = ROLE_ASKS},
                        [ELECTED] = {.name = "ELECTED",
                                     .role = ROLE_ANNOUNCES,
                                     .announcement = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"participant", VARIABLE_PLAIN},
                        {"coordinator", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[PARAMETERS_COUNT + 1]){
                        [TEXT] =
                                {
                                        .name = "text",
                                        .help = "the chapter's text: mended, or as printed",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"mended", TEXT_MENDED},
                                                        {"printed", TEXT_PARTICIPANT},
                                                        {"printed:participant", TEXT_PARTICIPANT},
                                                        {NULL, 0},
                                                },
                                },
                        [ELECT] =
                                {
                                        .name = "elect",
                                        .help = "whose number wins: the greatest, or the least",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"greatest", ELECT_GREATEST},
                                                        {"least", ELECT_LEAST},
                                                        {NULL, 0},
                                                },
                                },
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "coordinator_is_the_maximum",
                         .meaning = "the coordinator that a process knows has the greatest "
                                    "identifier of all (with elect=least, the least)",
                         .local = coordinator_is_the_maximum},
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
