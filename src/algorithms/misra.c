/*
 * Misra's regeneration of a lost token, on Le Lann's ring.
 *
 * Jayadev Misra, "Detecting Termination of Distributed Computations Using Markers", 2nd ACM
 * Symposium on Principles of Distributed Computing, Montreal, August 1983, pages 290-294; as told
 * by Michel Raynal, chapter 2, "Election and Mutual Exclusion Algorithms", section 4.2, "Loss of
 * token: Misra's algorithm".
 *
 * Two tokens go round, PING, which is the privilege, and PONG. They carry nbping and nbpong =
 * -nbping, which change each time the two meet; m remembers the number of the token that passed
 * last. A token that finds its own number in m has been here before, has not met the other since,
 * and the other has not been here: the other is lost, and is made anew.
 *
 * Network: a ring with one direction that keeps order: a token that overtakes the other on a link
 * would believe it lost. Tokens may be lost, but the other must then survive a whole turn.
 *
 * What a meeting is. PING stays where somebody is in the critical section, and PONG passes on at
 * once everywhere. So they meet when PONG arrives where PING is held, and where one of them is made
 * anew; two that pass through the same process one after the other do not meet, even at the same
 * instant.
 *
 * Departures.
 * - The numbers are 1..n+1: "modulo (n+1)" would make nbping 0, which is nbpong, and which is m in
 *   a process where no token has been (printed:zero).
 * - What arrives is compared with m, and stored there, with the number that it brings; only then do
 *   both numbers change. By the order of the printed clauses a reader may do it the other way
 *   round, and then PONG finds its number when it comes back (printed:order).
 * - "The tokens meet only once in a process" is not so: PONG comes again while PING is held. It
 *   does no harm, because each meeting changes the numbers.
 * - A token that is made anew is in this process, and so is the other: that is a meeting, and a
 *   process that waits when it makes PING anew enters.
 * - A process that does not want PING passes it on at once, in the same step.
 * - At the start both are on their way from the holder to its successor, PING first.
 * The loss of both is not noticed.
 */
#include "algorithm.h"

#include "network.h"

enum { PING, PONG, MESSAGES_COUNT };

enum { TEXT, BOUNDED, PARAMETERS_COUNT };

enum { TEXT_MENDED = 0, TEXT_ZERO = 1, TEXT_ORDER = 2 };

enum { USING_NOT, USING_WAITS, USING_INSIDE };

struct state {
	int64_t m;
	int64_t nbping; /* of PING if it is held here, that is inside; else 0. nbpong is -nbping */
	uint8_t using;
	uint8_t padding[7];
};

static size_t state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct state);
}

static void send_ping(const struct site *site, int64_t nbping, struct out *out)
{
	out_message(out, PING);
	out_int(out, nbping);
	out_send_side(out, site, SIDE_RIGHT);
}

static void send_pong(const struct site *site, int64_t nbpong, struct out *out)
{
	out_message(out, PONG);
	out_int(out, nbpong);
	out_send_side(out, site, SIDE_RIGHT);
}

/* "Initially the two tokens are both in an arbitrarily chosen process". */
static void init(const struct site *site, void *state, struct out *out)
{
	(void)state;
	if (site->self == site->holder) {
		send_ping(site, 1, out);
		send_pong(site, -1, out);
	}
}

static void request(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)out;
	((struct state *)state)->using = USING_WAITS;
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	node->using = USING_NOT;
	send_ping(site, node->nbping, out);
	node->nbping = 0;
}

/* What nbping becomes when the tokens meet; nbpong is its opposite. */
static int64_t next_number(const struct site *site, int64_t nbping)
{
	if (!site->parameters[BOUNDED])
		return nbping + 1;
	/* "It is thus sufficient to increment them modulo (n+1)". */
	if (site->parameters[TEXT] & TEXT_ZERO)
		return (nbping + 1) % ((int64_t)site->nodes + 1);
	return nbping % ((int64_t)site->nodes + 1) + 1;
}

/* PING is here: to stay, if it was waited for. */
static void take_ping(const struct site *site, struct state *node, int64_t nbping, struct out *out)
{
	if (node->using == USING_WAITS) {
		node->using = USING_INSIDE;
		node->nbping = nbping;
		out_enter(out);
	} else {
		send_ping(site, nbping, out);
	}
}

/* The other token than the one that has just come is lost: both are here from now on. */
static void regenerate(const struct site *site, struct state *node, int64_t nbping, struct out *out)
{
	nbping = next_number(site, nbping);
	out_regenerated(out);
	take_ping(site, node, nbping, out);
	send_pong(site, -nbping, out);
}

/* "When received (ping, nbping)". */
static void on_ping(const struct site *site, struct state *node, int64_t nbping, struct out *out)
{
	if (node->m == nbping) {
		regenerate(site, node, nbping, out);
	} else {
		node->m = nbping;
		take_ping(site, node, nbping, out);
	}
}

/* "When received (pong, nbpong)", and "when meeting (ping, pong)" where PING is held. */
static void on_pong(const struct site *site, struct state *node, int64_t nbpong, struct out *out)
{
	int64_t nbpong_new = nbpong;

	if (node->using == USING_INSIDE) {
		node->nbping = next_number(site, node->nbping);
		nbpong_new = -node->nbping;
		/* "When meeting (ping, pong) do": nothing says that "when received" comes first. */
		if (site->parameters[TEXT] & TEXT_ORDER)
			nbpong = nbpong_new;
	}
	if (node->m == nbpong) {
		regenerate(site, node, -nbpong, out);
	} else {
		node->m = nbpong;
		send_pong(site, nbpong_new, out);
	}
}

/* Can PING have this number? */
static bool is_number(const struct site *site, int64_t nbping)
{
	if (!site->parameters[BOUNDED])
		return nbping >= 1 && nbping < INT64_MAX;
	if (site->parameters[TEXT] & TEXT_ZERO)
		return nbping >= 0 && nbping <= site->nodes;
	return nbping >= 1 && nbping <= (int64_t)site->nodes + 1;
}

/*
 * Where PING is held a second one cannot come, nor a PONG with another number than its opposite.
 * The printed texts let them come; there what is not waited for is passed on.
 */
static bool is_strange(const struct site *site, const struct state *node, uint8_t type,
                       int64_t number)
{
	if (node->using != USING_INSIDE || site->parameters[TEXT] != TEXT_MENDED)
		return false;
	return type == PING || number != -node->nbping;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	int64_t number = in_int(&in);

	if (!in_end(&in) || message->side != SIDE_LEFT || is_strange(site, node, type, number))
		return BATON_EMESSAGE;
	switch (type) {
	case PING:
		if (!is_number(site, number))
			return BATON_EMESSAGE;
		on_ping(site, node, number, out);
		return 0;
	case PONG:
		if (number == INT64_MIN || !is_number(site, -number))
			return BATON_EMESSAGE;
		on_pong(site, node, number, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->using == USING_INSIDE;
}

/* The numbers of both tokens where PING is: nbping + nbpong = 0. */
static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "m");
	writer_int(writer, node->m);
	writer_key(writer, "nbping");
	if (!has_privilege(site, state)) {
		writer_null(writer);
		writer_key(writer, "nbpong");
		writer_null(writer);
		return;
	}
	writer_int(writer, node->nbping);
	writer_key(writer, "nbpong");
	writer_int(writer, -node->nbping);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	writer_int(writer, in_int(&in));
	writer_close(writer, ')');
}

/* How many of a token there are, in flight or held; *ret_number: the number of one of them. */
static size_t count_tokens(const struct snapshot *snapshot, uint8_t type, int64_t *ret_number)
{
	size_t count = 0;

	for (uint32_t i = 0; i < snapshot->network->graph.nodes && type == PING; i++) {
		const struct state *node = snapshot->states[i];
		if (node->using != USING_INSIDE)
			continue;
		*ret_number = node->nbping;
		count++;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct message *message = &snapshot->flights[k].message;
		struct in in = in_message(message);
		if (message->body[0] != type)
			continue;
		*ret_number = in_int(&in);
		count++;
	}
	return count;
}

/* A token that lives is not made anew; and so for PONG. */
static bool one_ping_at_most(const struct snapshot *snapshot)
{
	int64_t nbping;
	return count_tokens(snapshot, PING, &nbping) <= 1;
}

static bool one_pong_at_most(const struct snapshot *snapshot)
{
	int64_t nbpong;
	return count_tokens(snapshot, PONG, &nbpong) <= 1;
}

/* "The algorithm conserves the relation nbping + nbpong = 0", while there are both. */
static bool numbers_are_opposite(const struct snapshot *snapshot)
{
	int64_t nbping, nbpong;

	if (count_tokens(snapshot, PING, &nbping) == 0 ||
	    count_tokens(snapshot, PONG, &nbpong) == 0)
		return true;
	return nbping + nbpong == 0;
}

const struct algorithm misra = {
        .name = "misra",
        .title = "Misra: two tokens go round, and each makes the other anew if it is lost",
        .year = 1983,
        .source = SOURCE_ACCOUNT,
        .rules = "Raynal 4.2",
        .nodes_checked = 5,
        .nodes_checked_twice = 4,
        .grows = "numbers of the tokens",
        .grows_unless = "bounded",
        .kind = KIND_MUTEX,
        .links = GRAPH_RING,
        .one_way = true,
        .topology = "ring",
        .needs_fifo = true,
        .has_token = true,
        .circulates = true,
        .regenerates = true,
        .claim_messages = "1 to N of PING",
        .claim_delay = "1 to N-1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [PING] = {.name = "PING", .role = ROLE_PERMITS, .token = true},
                        [PONG] = {.name = "PONG", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"m", VARIABLE_PLAIN},
                        {"nbping", VARIABLE_PLAIN},
                        {"nbpong", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[PARAMETERS_COUNT + 1]){
                        [TEXT] =
                                {
                                        .name = "text",
                                        .help = "mended, or as printed: zero counts modulo (n+1), "
                                                "so that a number can be 0; order changes the "
                                                "numbers before it looks at them",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"mended", TEXT_MENDED},
                                                        {"printed", TEXT_ZERO | TEXT_ORDER},
                                                        {"printed:zero", TEXT_ZERO},
                                                        {"printed:order", TEXT_ORDER},
                                                        {NULL, 0},
                                                },
                                },
                        [BOUNDED] =
                                {
                                        .name = "bounded",
                                        .help = "on: the numbers are 1..n+1; off: they grow with "
                                                "every meeting",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"on", true},
                                                        {"off", false},
                                                        {NULL, 0},
                                                },
                                },
                        [PARAMETERS_COUNT] = {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "one_ping_at_most", .global = one_ping_at_most},
                        {.name = "one_pong_at_most", .global = one_pong_at_most},
                        {.name = "numbers_are_opposite", .global = numbers_are_opposite},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .has_privilege = has_privilege,
        .describe = describe,
        .show = show,
};
