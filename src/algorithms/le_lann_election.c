/*
 * Le Lann's election: every number goes all the way round.
 *
 * Gérard Le Lann, "Distributed Systems: Towards a Formal Approach", IFIP Congress, Toronto, August
 * 1977, pages 155-160; named by Michel Raynal, chapter 2, "Election and Mutual Exclusion
 * Algorithms", section 5.1, which says only that n processes need n² messages.
 *
 * Each initiator sends its number round the ring, and every process passes every number on. When
 * its own number has come back, an initiator has seen the numbers of all other initiators and knows
 * the greatest, which leads. So k initiators need kn messages. A process that receives a number
 * before it has initiated does not initiate any more.
 *
 * Network: a ring with one direction that keeps order, no loss. The rule depends on order: an
 * initiator sends its own number before it passes yours on, so its number arrives at you before
 * yours comes back.
 *
 * Departures.
 * - A process that has not initiated, a bystander, passes numbers on and cannot tell which one is
 *   the last. With kn ELECTION messages alone it never can (the proof is on the algorithm's page).
 *   So ELECTION carries, beside the number, whether it has passed a bystander. If there was one,
 *   every initiator learns it. The leader then sends its number round once more, as ELECTED, and
 *   the election is over for a process when that has passed. ELECTED is counted separately. If all
 *   processes initiate, nobody has to be told, and there are just n² messages.
 * - The chapter's processes send "to the left"; its left is the direction of the ring here.
 */
#include "algorithm.h"

enum { ELECTION, ELECTED, MESSAGES_COUNT };

enum { NUMBER_MAX = INT32_MAX };

/* About the election that is going on or, if there is none, about the last one. */
struct state {
	/* The greatest number seen, including the process's own if it has initiated. */
	uint32_t max;
	uint32_t coordinator; /* the number of the leader; 0: unknown */
	uint8_t participant;  /* the election is not over for this process */
	uint8_t initiator;
	uint8_t padding[6];
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

static void send_election(const struct site *site, uint32_t number, bool bystander, struct out *out)
{
	out_message(out, ELECTION);
	out_uint(out, number);
	out_uint(out, bystander);
	out_send_side(out, site, SIDE_RIGHT);
}

static void send_elected(const struct site *site, uint32_t number, struct out *out)
{
	out_message(out, ELECTED);
	out_uint(out, number);
	out_send_side(out, site, SIDE_RIGHT);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	*node = (struct state){.participant = true, .initiator = true, .max = site->identifier};
	send_election(site, site->identifier, false, out);
}

/* Notes the number of another process and passes it on. */
static void on_election(const struct site *site, struct state *node, uint32_t j, bool bystander,
                        struct out *out)
{
	if (!node->participant)
		*node = (struct state){.participant = true};
	if (j > node->max)
		node->max = j;
	send_election(site, j, bystander || !node->initiator, out);
}

/* The process's own number is back. All other numbers have passed before it. */
static void on_own_election(const struct site *site, struct state *node, bool bystander,
                            struct out *out)
{
	node->coordinator = node->max;
	out_elected(out, node->coordinator);
	if (!bystander)
		node->participant = false;
	else if (node->coordinator == site->identifier)
		send_elected(site, site->identifier, out);
}

static void on_elected(const struct site *site, struct state *node, uint32_t j, struct out *out)
{
	if (!node->initiator) {
		node->coordinator = j;
		out_elected(out, j);
	}
	node->participant = false;
	if (j != site->identifier)
		send_elected(site, j, out);
}

static int receive_election(const struct site *site, struct state *node, struct in *in,
                            struct out *out)
{
	uint32_t j = (uint32_t)in_range(in, 1, NUMBER_MAX);
	bool bystander = in_range(in, 0, 1) != 0;

	if (!in_end(in))
		return BATON_EMESSAGE;
	if (j != site->identifier) {
		on_election(site, node, j, bystander, out);
		return 0;
	}
	/* This process's number cannot be on its way. */
	if (!node->initiator || node->coordinator != 0)
		return BATON_EMESSAGE;
	on_own_election(site, node, bystander, out);
	return 0;
}

static int receive_elected(const struct site *site, struct state *node, struct in *in,
                           struct out *out)
{
	uint32_t j = (uint32_t)in_range(in, 1, NUMBER_MAX);

	/* All numbers have passed before ELECTED, so j is `max` if channels keep order. If they do
	 * not, another j is not refused, so that the error (two leaders) can be shown. */
	if (!in_end(in) || !node->participant)
		return BATON_EMESSAGE;
	on_elected(site, node, j, out);
	return 0;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct in in = in_message(message);

	if (message->side != SIDE_LEFT)
		return BATON_EMESSAGE;
	switch (message->body[0]) {
	case ELECTION:
		return receive_election(site, state, &in, out);
	case ELECTED:
		return receive_elected(site, state, &in, out);
	default:
		return BATON_EMESSAGE;
	}
}

/* A process that has received a number before it has initiated is a bystander. */
static bool ready(const struct site *site, const void *state)
{
	(void)site;
	return !((const struct state *)state)->participant;
}

static void write_number(struct writer *writer, const char *name, uint32_t number)
{
	writer_key(writer, name);
	if (number != 0)
		writer_uint(writer, number);
	else
		writer_null(writer);
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	(void)site;
	writer_key(writer, "participant");
	writer_bool(writer, node->participant);
	writer_key(writer, "initiator");
	writer_bool(writer, node->initiator);
	write_number(writer, "max", node->max);
	write_number(writer, "coordinator", node->coordinator);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	if (message->body[0] == ELECTION)
		writer_bool(writer, in_uint(&in) != 0);
	writer_close(writer, ')');
}

/* No initiator's number is greater than the leader's. Together with agreement this means that the
 * leader is the greatest of the initiators. */
static bool leader_is_no_less_than_an_initiator(const struct site *site, const void *state)
{
	const struct state *node = state;
	return node->coordinator == 0 || !node->initiator || node->coordinator >= site->identifier;
}

/* A bystander cannot lead, because it has not sent its number. */
static bool leader_has_initiated(const struct site *site, const void *state)
{
	const struct state *node = state;
	return node->initiator || node->coordinator != site->identifier;
}

const struct algorithm le_lann_election = {
        .name = "le-lann-election",
        .title = "Le Lann: every initiator's number goes all the way round",
        .year = 1977,
        .source = SOURCE_RECONSTRUCTED,
        .rules = "Raynal 5.1",
        .nodes_checked = 5,
        .kind = KIND_ELECTION,
        .links = GRAPH_RING,
        .one_way = true,
        .topology = "ring",
        .needs_fifo = true,
        .claim_messages = "kN, k initiators",
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
                        {"initiator", VARIABLE_PLAIN},
                        {"max", VARIABLE_PLAIN},
                        {"coordinator", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "leader_is_no_less_than_an_initiator",
                         .meaning = "the leader that an initiator knows has no lower identifier "
                                    "than the initiator itself",
                         .local = leader_is_no_less_than_an_initiator},
                        {.name = "leader_has_initiated",
                         .meaning = "a process that leads has initiated",
                         .local = leader_has_initiated},
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
