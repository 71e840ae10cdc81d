/*
 * The bully algorithm.
 *
 * Hector Garcia-Molina, "Elections in a Distributed Computing System", IEEE Transactions on
 * Computers C-31(1), January 1982, pages 48-59. M. Raynal's chapter 2 names it in section 5.1,
 * after J. L. Peterson and A. Silberschatz, "Operating System Concepts", Addison-Wesley, 1983, and
 * does not describe it.
 *
 * A process that begins asks all processes with greater identifiers. If one of them answers, the
 * asker gives up and waits to hear who leads. If none answers in time, none of them is alive, and
 * the asker tells all processes with lower identifiers that it leads itself. A process that is
 * asked answers, and then asks those with greater identifiers in turn.
 *
 * Network: every pair of processes is linked, and all know all identifiers. Some processes may be
 * dead from the start; messages to them are lost. No other message is lost, and every message
 * arrives within a known bound. A step takes no time. Order is not needed. Everything depends on
 * the bound: if a message takes longer, there may be two leaders.
 *
 * Departures. There is no printed text to depart from; these are the rules of the textbook, for one
 * election. So a process that knows the coordinator answers an ELECTION but does not begin another:
 * COORDINATOR went to all lower processes, so it is already on its way to the asker. (A process
 * that suspects the coordinator to be dead would begin another election here.) COORDINATOR goes to
 * the lower processes only: the greater ones are believed dead.
 */
#include "algorithm.h"

enum { ELECTION, ANSWER, COORDINATOR, MESSAGES_COUNT };

enum { PATIENCE }; /* the only timer */

/*
 * The times to wait, in multiples of the bound on message delays. An ELECTION and its ANSWER take
 * one bound each. The greatest process that is alive is asked within one bound of the beginning,
 * because everybody asks all processes above itself. It waits two bounds for ANSWERs that cannot
 * come, and its COORDINATOR takes one more: 1 + 2 + 1. No chain is longer, no matter how many
 * processes there are. The wait for COORDINATOR begins with the first ANSWER, which may have come
 * at once.
 */
enum { ANSWER_DELAYS = 2, COORDINATOR_DELAYS = 1 + ANSWER_DELAYS + 1 };

enum { AWAITS_NOTHING, AWAITS_ANSWER, AWAITS_COORDINATOR };

struct state {
	uint32_t coordinator; /* the identifier of the process that leads; 0: unknown */
	/* The message that the process waits for; a participant always waits for one. */
	uint8_t awaits;
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

static bool is_participant(const struct state *node)
{
	return node->awaits != AWAITS_NOTHING;
}

static bool ready(const struct site *site, const void *state)
{
	(void)site;
	return !is_participant(state);
}

/* Returns the place of the process with that identifier, or 0 if there is none. */
static uint32_t place_of(const struct site *site, uint64_t identifier)
{
	uint32_t place = site->nodes;

	while (place > 0 && site->identifiers[place - 1] != identifier)
		place--;
	return place;
}

static bool is_greatest(const struct site *site)
{
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (site->identifiers[j - 1] > site->identifier)
			return false;
	}
	return true;
}

static void declare(const struct site *site, struct state *node, struct out *out)
{
	node->awaits = AWAITS_NOTHING;
	node->coordinator = site->identifier;
	out_message(out, COORDINATOR);
	out_uint(out, site->identifier);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (site->identifiers[j - 1] < site->identifier)
			out_send(out, j);
	}
	out_elected(out, site->identifier);
}

static void begin(const struct site *site, struct state *node, struct out *out)
{
	if (is_greatest(site)) {
		declare(site, node, out);
		return;
	}
	out_message(out, ELECTION);
	out_uint(out, site->identifier);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (site->identifiers[j - 1] > site->identifier)
			out_send(out, j);
	}
	node->awaits = AWAITS_ANSWER;
	out_arm(out, PATIENCE, ANSWER_DELAYS);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	/* There is only one election, which may be over already. */
	if (node->coordinator == 0)
		begin(site, node, out);
}

static void on_election(const struct site *site, struct state *node, uint32_t lower,
                        struct out *out)
{
	out_message(out, ANSWER);
	out_send(out, lower);
	if (!is_participant(node) && node->coordinator == 0)
		begin(site, node, out);
}

/* A greater process is alive and will go on with the election. Only the first ANSWER counts. */
static void on_answer(struct state *node, struct out *out)
{
	if (node->awaits != AWAITS_ANSWER)
		return;
	node->awaits = AWAITS_COORDINATOR;
	out_arm(out, PATIENCE, COORDINATOR_DELAYS);
}

static void on_coordinator(struct state *node, uint32_t identifier, struct out *out)
{
	if (is_participant(node))
		out_disarm(out, PATIENCE);
	node->awaits = AWAITS_NOTHING;
	node->coordinator = identifier;
	out_elected(out, identifier);
}

static void expire(const struct site *site, void *state, uint32_t timer, struct out *out)
{
	struct state *node = state;

	(void)timer;
	if (node->awaits == AWAITS_ANSWER)
		declare(site, node, out);
	else
		begin(site, node, out); /* the process that answered has died since */
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	uint64_t identifier = type == ANSWER ? 0 : in_uint(&in);
	uint32_t from = type == ANSWER ? 0 : place_of(site, identifier);

	if (!in_end(&in) || (type != ANSWER && from == 0))
		return BATON_EMESSAGE;
	switch (type) {
	case ELECTION:
		if (identifier >= site->identifier)
			return BATON_EMESSAGE;
		on_election(site, node, from, out);
		return 0;
	case ANSWER:
		/* No ANSWER can be on its way: this process has not asked yet, or no process above
		 * it exists. */
		if ((!is_participant(node) && node->coordinator == 0) || is_greatest(site))
			return BATON_EMESSAGE;
		on_answer(node, out);
		return 0;
	case COORDINATOR:
		if (identifier <= site->identifier)
			return BATON_EMESSAGE;
		on_coordinator(node, (uint32_t)identifier, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;
	(void)site;
	writer_key(writer, "participant");
	writer_bool(writer, is_participant(node));
	writer_key(writer, "coordinator");
	if (node->coordinator == 0)
		writer_null(writer);
	else
		writer_uint(writer, node->coordinator);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	if (message->body[0] == ANSWER)
		return;
	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

static bool coordinator_is_not_lower(const struct site *site, const void *state)
{
	const struct state *node = state;
	return node->coordinator == 0 || node->coordinator >= site->identifier;
}

static bool participant_knows_no_coordinator(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	return !is_participant(node) || node->coordinator == 0;
}

const struct algorithm bully = {
        .name = "bully",
        .title = "Garcia-Molina's bully: the greatest process that is alive silences all others",
        .year = 1982,
        .source = SOURCE_RECONSTRUCTED,
        .rules = "Raynal 5.1",
        .nodes_checked = 4,
        .kind = KIND_ELECTION,
        .links = GRAPH_COMPLETE,
        .shape = GRAPH_NONE,
        .topology = "complete",
        .claim_messages = "about N^2",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [ELECTION] = {.name = "ELECTION", .role = ROLE_ASKS},
                        [ANSWER] = {.name = "ANSWER", .role = ROLE_REFUSES},
                        /* COORDINATOR is a part of the election: a process that does not get it
                         * begins another. */
                        [COORDINATOR] = {.name = "COORDINATOR", .role = ROLE_ANNOUNCES},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"participant", VARIABLE_PLAIN},
                        {"coordinator", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "coordinator_is_not_lower",
                         .meaning = "the coordinator that a process knows has no lower identifier "
                                    "than the process itself",
                         .local = coordinator_is_not_lower},
                        {.name = "participant_knows_no_coordinator",
                         .meaning = "a process that takes part in an election knows no coordinator",
                         .local = participant_knows_no_coordinator},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .receive = receive,
        .expire = expire,
        .ready = ready,
        .describe = describe,
        .show = show,
};
