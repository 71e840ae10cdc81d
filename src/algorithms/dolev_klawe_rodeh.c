/*
 * Dolev, Klawe and Rodeh's election on a ring with one direction.
 *
 * Danny Dolev, Maria Klawe and Michael Rodeh, "An O(n log n) Unidirectional Distributed Algorithm
 * for Extrema Finding in a Circle", Journal of Algorithms 3 (1982), pages 245-260; as described by
 * Michel Raynal, chapter 2, "Election and Mutual Exclusion Algorithms", section 5.4. The same was
 * found by Gary L. Peterson, "An O(n log n) Unidirectional Algorithm for the Circular Extrema
 * Problem", ACM Transactions on Programming Languages and Systems 4(4), October 1982, pages
 * 758-762.
 *
 * Each active process learns the numbers of the two active processes before it on the ring: the
 * nearer one, neighbourR (FIRST), and the one before that (SECOND). It decides in place of the
 * nearer one: if neighbourR is the greatest of the three numbers, the process goes on with that
 * number; otherwise it becomes passive and only relays. A stage costs 2n messages and leaves at
 * most half of the processes active. A process whose own max comes back is the only active one
 * left, and max is the greatest number of all. The owner of that number has been passive since the
 * first stage, except in a ring of one.
 *
 * `--param variant=peterson2` is one of the refinements that section 5.5.2 only names: Peterson's
 * algorithm with 1.44 n log n messages, where a process sends one message in each stage. In odd
 * stages (FIRST) a number survives if it is greater than the one before it on the ring, in even
 * stages (SECOND) if it is greater than the one after it. It is a reconstruction, because the
 * documents do not describe it; see the page.
 *
 * `--param types=off` leaves out the type of a message, which the chapter calls redundant. Then
 * FIRST and SECOND are both NUMBER, and only n different messages are needed.
 *
 * Network: a ring with one direction that keeps order, no loss. The ring's direction here is the
 * chapter's left: sendL sends to SIDE_RIGHT, and neighbourR is somewhere to the left.
 *
 * Departures.
 * - Remark (a), "a process would decide to participate on first receiving a message", is a rule
 *   here: a process initiates before it handles its first message. By the printed declarations,
 *   which initialize state to passive, it would relay the message and might still initiate later
 *   (printed:late-start).
 * - Remark (b): the process that finds max sends ELECTED(max) once round the ring and removes it.
 *   The owner of that number declares itself when it receives it. Then the election is over, and
 *   another may begin.
 * - A message out of turn is refused: if channels keep order, there is none. (The printed variant
 *   accepts it.)
 */
#include "algorithm.h"

#include "network.h"

enum { FIRST, SECOND, ELECTED, NUMBER, MESSAGES_COUNT };

enum { TEXT, VARIANT, TYPES };

enum { TEXT_MENDED = 0, TEXT_LATE_START = 1 };

enum { VARIANT_PLAIN, VARIANT_PETERSON2 };

enum { TYPES_ON, TYPES_OFF };

enum { PASSIVE, ACTIVE };

struct state {
	uint32_t max; /* the number that the process stands for; at first its own */
	/* The number in the last FIRST; 0: none yet, and always 0 in peterson2. */
	uint32_t neighbourR;
	/* While this process' own ELECTED goes round, the number in it; otherwise 0. */
	uint32_t announced;
	uint8_t state;
	uint8_t participant;   /* the process takes part in an election that is not over for it */
	uint8_t awaits_second; /* an active process expects SECOND next, not FIRST */
	uint8_t padding;
};

static size_t state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct state);
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)out;
	((struct state *)state)->max = site->identifier;
}

static bool ready(const struct site *site, const void *state)
{
	(void)site;
	return !((const struct state *)state)->participant;
}

static void sendL(const struct site *site, uint8_t type, uint32_t number, struct out *out)
{
	out_message(out, type);
	out_uint(out, number);
	out_send_side(out, site, SIDE_RIGHT);
}

/* Sends FIRST or SECOND; with types=off, NUMBER instead of either. */
static void send_number(const struct site *site, uint8_t type, uint32_t number, struct out *out)
{
	sendL(site, site->parameters[TYPES] == TYPES_OFF ? NUMBER : type, number, out);
}

/* decision (initiate_election). */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->participant = true;
	node->max = site->identifier;
	node->neighbourR = 0;
	send_number(site, FIRST, site->identifier, out);
	node->state = ACTIVE;
}

static void become_passive(struct state *node)
{
	node->state = PASSIVE;
	node->awaits_second = false;
}

static void learn(struct state *node, uint32_t number, struct out *out)
{
	node->participant = false;
	node->awaits_second = false;
	out_elected(out, number);
}

/* "max is greatest number and is sent to all processes". */
static void announce(const struct site *site, struct state *node, struct out *out)
{
	node->announced = node->max;
	sendL(site, ELECTED, node->max, out);
	learn(node, node->max, out);
}

/* variant=plain: received (1, number). */
static void on_first(const struct site *site, struct state *node, uint32_t number, struct out *out)
{
	if (node->state == ACTIVE) {
		if (number != node->max) {
			send_number(site, SECOND, number, out);
			node->neighbourR = number;
			node->awaits_second = true;
		} else {
			announce(site, node, out);
		}
	} else {
		send_number(site, FIRST, number, out);
	}
}

/* variant=plain: received (2, number). */
static void on_second(const struct site *site, struct state *node, uint32_t number, struct out *out)
{
	if (node->state == ACTIVE) {
		if (node->neighbourR > number && node->neighbourR > node->max) {
			node->max = node->neighbourR;
			node->awaits_second = false;
			send_number(site, FIRST, node->neighbourR, out);
		} else {
			become_passive(node);
		}
	} else {
		send_number(site, SECOND, number, out);
	}
}

/* An odd stage of peterson2. The number that arrives is the one before this process's number on the
 * ring. This process's number survives if it is the greater of the two, and stays here. */
static void on_first_peterson2(const struct site *site, struct state *node, uint32_t number,
                               struct out *out)
{
	if (node->state == PASSIVE) {
		send_number(site, FIRST, number, out);
	} else if (number == node->max) {
		announce(site, node, out);
	} else if (node->max > number) {
		node->awaits_second = true;
		send_number(site, SECOND, node->max, out);
	} else {
		become_passive(node);
	}
}

/* An even stage of peterson2. A number survives if it is greater than the next number on the ring:
 * it arrives at that number's process and takes its place. */
static void on_second_peterson2(const struct site *site, struct state *node, uint32_t number,
                                struct out *out)
{
	if (node->state == PASSIVE) {
		send_number(site, SECOND, number, out);
	} else if (number == node->max) {
		announce(site, node, out);
	} else if (number > node->max) {
		node->max = number;
		node->awaits_second = false;
		send_number(site, FIRST, number, out);
	} else {
		become_passive(node);
	}
}

static void on_elected(const struct site *site, struct state *node, uint32_t number,
                       struct out *out)
{
	if (node->announced == number) {
		node->announced = 0;
		return;
	}
	sendL(site, ELECTED, number, out);
	learn(node, number, out);
}

/*
 * Can this message arrive now, if channels keep order? FIRST and SECOND alternate at an active
 * process, and the first message that a process receives is a FIRST. Once there is an ELECTED, no
 * other message is on its way, and all other processes take part and are passive.
 */
static bool is_due(const struct state *node, uint8_t type, uint32_t number)
{
	if (node->announced != 0)
		return type == ELECTED && number == node->announced;
	if (!node->participant)
		return type == FIRST;
	if (node->state == PASSIVE)
		return true;
	return type == (node->awaits_second ? SECOND : FIRST);
}

/* Returns whether a message means FIRST or SECOND. "Since the order is always (1, …) (2, …) (1,
 * …) (2, …) … the identifier 1/2 is redundant": an active process knows which of the two it
 * expects, and others relay both in the same way. */
static uint8_t meaning(const struct site *site, const struct state *node, uint8_t type)
{
	if (site->parameters[TYPES] == TYPES_ON || type == ELECTED)
		return type;
	if (type != NUMBER)
		return MESSAGES_COUNT;
	return node->state == ACTIVE && node->awaits_second ? SECOND : FIRST;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = meaning(site, node, message->body[0]);
	uint32_t number = (uint32_t)in_range(&in, 1, INT32_MAX);
	bool peterson2 = site->parameters[VARIANT] == VARIANT_PETERSON2;

	if (!in_end(&in) || type > ELECTED || message->side != SIDE_LEFT)
		return BATON_EMESSAGE;
	/* late-start: "state: (active, passive) initialized passive". A process that has not
	 * begun relays, and may begin afterwards. */
	if ((site->parameters[TEXT] & TEXT_LATE_START) == 0) {
		if (!is_due(node, type, number))
			return BATON_EMESSAGE;
		if (!node->participant && type != ELECTED)
			request(site, node, out);
	}
	switch (type) {
	case FIRST:
		(peterson2 ? on_first_peterson2 : on_first)(site, node, number, out);
		return 0;
	case SECOND:
		(peterson2 ? on_second_peterson2 : on_second)(site, node, number, out);
		return 0;
	default:
		on_elected(site, node, number, out);
		return 0;
	}
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;
	(void)site;
	writer_key(writer, "state");
	writer_string(writer, node->state == ACTIVE ? "active" : "passive");
	writer_key(writer, "max");
	writer_uint(writer, node->max);
	writer_key(writer, "neighbourR");
	writer_uint(writer, node->neighbourR);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

/* "The maximum value that P_i has found remains in the election": a number is only given up for a
 * greater one. */
static bool max_never_falls(const struct site *site, const void *state)
{
	return ((const struct state *)state)->max >= site->identifier;
}

/* The greatest number of those that take part is at an active process or on its way to one. The
 * printed text breaks this invariant, so it is not checked there. */
static bool nobody_starts_late(const struct network *network)
{
	return (network->parameters[TEXT] & TEXT_LATE_START) == 0;
}

static bool greatest_survives(const struct snapshot *snapshot)
{
	uint32_t greatest = 0;

	for (uint32_t i = 0; i < snapshot->network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i];
		if (node->announced != 0)
			return true;
		if (node->participant && snapshot->network->identifiers[i] > greatest)
			greatest = snapshot->network->identifiers[i];
	}
	for (uint32_t i = 0; i < snapshot->network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i];
		if (node->state == ACTIVE &&
		    (node->max == greatest || node->neighbourR == greatest))
			return true;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		struct in in = in_message(&snapshot->flights[k].message);
		if (in_uint(&in) == greatest)
			return true;
	}
	return greatest == 0;
}

const struct algorithm dolev_klawe_rodeh = {
        .name = "dolev-klawe-rodeh",
        .title = "Dolev, Klawe, Rodeh: decide in place of the neighbour, on a one-way ring",
        .year = 1982,
        .source = SOURCE_ACCOUNT,
        .rules = "Raynal 5.4",
        .nodes_checked = 5,
        .kind = KIND_ELECTION,
        .links = GRAPH_RING,
        .one_way = true,
        .topology = "ring",
        .needs_fifo = true,
        .claim_messages = "2N log N + N",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [FIRST] = {.name = "FIRST", .role = ROLE_ASKS},
                        [SECOND] = {.name = "SECOND", .role = ROLE_ASKS},
                        [ELECTED] = {.name = "ELECTED",
                                     .role = ROLE_ANNOUNCES,
                                     .announcement = true},
                        [NUMBER] = {.name = "NUMBER", .role = ROLE_ASKS, .rare = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"state", VARIABLE_PLAIN},
                        {"max", VARIABLE_PLAIN},
                        {"neighbourR", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [TEXT] =
                                {
                                        .name = "text",
                                        .help = "mended, or as printed: a process that has relayed "
                                                "may still initiate",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"mended", TEXT_MENDED},
                                                        {"printed", TEXT_LATE_START},
                                                        {"printed:late-start", TEXT_LATE_START},
                                                        {NULL, 0},
                                                },
                                },
                        [VARIANT] =
                                {
                                        .name = "variant",
                                        .help = "plain: two messages a stage, 2N log N in all; "
                                                "peterson2: one message a stage, 1.44 N log N in "
                                                "all",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"plain", VARIANT_PLAIN},
                                                        {"peterson2", VARIANT_PETERSON2},
                                                        {NULL, 0},
                                                },
                                },
                        [TYPES] =
                                {
                                        .name = "types",
                                        .help = "off: FIRST and SECOND are one message, NUMBER, "
                                                "and "
                                                "a process tells them apart by their order",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"on", TYPES_ON},
                                                        {"off", TYPES_OFF},
                                                        {NULL, 0},
                                                },
                                },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "max_never_falls",
                         .meaning = "a process gives a number up only for a greater one",
                         .local = max_never_falls},
                        {.name = "greatest_survives",
                         .meaning = "until a leader is announced, an active process or a message "
                                    "has the greatest number of those that take part",
                         .applies = nobody_starts_late,
                         .global = greatest_survives},
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
