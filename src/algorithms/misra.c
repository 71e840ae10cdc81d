/*
 * Misra's regeneration of a lost token, on Le Lann's ring.
 *
 * Jayadev Misra, "Detecting Termination of Distributed Computations Using Markers", 2nd ACM
 * Symposium on Principles of Distributed Computing, Montreal, August 1983, pages 290-294; as
 * described by Michel Raynal, chapter 2, "Election and Mutual Exclusion Algorithms", section 4.2,
 * "Loss of token: Misra's algorithm".
 *
 * Two tokens go round: PING, which is the privilege, and PONG. They carry the numbers nbping and
 * nbpong = -nbping, which change each time the two meet. In each process m remembers the number of
 * the token that passed last. A token that finds its own number in m knows three things: it has
 * been here before, it has not met the other token since, and the other has not been here in
 * between. So the other token is lost, and is made again.
 *
 * Network: a ring with one direction that keeps order. A token that overtakes the other on a link
 * would believe that it is lost. A token may be lost, but the other one must then survive a whole
 * turn.
 *
 * Meetings. PING stays at a process that is in its critical section; PONG is always passed on at
 * once. So the two meet when PONG arrives at the process that holds PING, and at a process that
 * makes one of them again. Two tokens that pass through the same process one after the other do not
 * meet, even at the same instant.
 *
 * Departures.
 * - The numbers are 1..n+1. "Modulo (n+1)" would make nbping 0, which equals nbpong, and which is
 *   also the value of m in a process where no token has been (printed:zero).
 * - The number that a token brings is compared with m and stored there; only then do both numbers
 *   change in a meeting. The order of the printed clauses also allows the opposite, and then PONG
 *   finds its own number when it comes back (printed:order).
 * - "The tokens meet only once in a process" is not true: PONG can come again while PING is held.
 *   This does no harm, because each meeting changes the numbers.
 * - When a token is made again, both tokens are in this process. That is a meeting. If a process
 *   that waits makes PING again, it enters.
 * - A process that does not want PING passes it on at once, in the same step.
 * - At the start both tokens are on their way from the holder to its successor, PING first.
 *
 * If both tokens are lost, nobody notices. With `--param tokens=K` there are K tokens, and only the
 * loss of all K goes unnoticed: see misra_tokens.c. `--param modulus=n` counts with one number less
 * than the chapter asks for.
 */
#include "algorithm.h"

#include "misra_tokens.h"
#include "network.h"

enum { PING = MISRA_PING, PONG = MISRA_PONG, MESSAGES_COUNT = MISRA_MESSAGES_COUNT };

enum { TEXT, BOUNDED, MODULUS, TOKENS, PARAMETERS_COUNT };

enum { TEXT_MENDED = 0, TEXT_ZERO = 1, TEXT_ORDER = 2 };

enum { MODULUS_N_PLUS_1, MODULUS_N };

enum { USING_NOT, USING_WAITS, USING_INSIDE };

struct state {
	int64_t m;
	/* The number of PING while this process holds it, that is, while it is inside; else 0. */
	int64_t nbping;
	uint8_t using;
	uint8_t padding[7];
};

/* Returns the number of tokens if there are more than two, else 0. The rules for more than two
 * tokens are in misra_tokens.c. */
static uint32_t many(const uint64_t *parameters)
{
	return parameters[TOKENS] > 2 ? (uint32_t)parameters[TOKENS] : 0;
}

static size_t state_size(const struct site *site)
{
	if (many(site->parameters))
		return misra_tokens_state_size(many(site->parameters));
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
	if (many(site->parameters)) {
		misra_tokens_init(site, many(site->parameters), state, out);
	} else if (site->self == site->holder) {
		send_ping(site, 1, out);
		send_pong(site, -1, out);
	}
}

static void request(const struct site *site, void *state, struct out *out)
{
	(void)out;
	if (many(site->parameters))
		misra_tokens_request(state);
	else
		((struct state *)state)->using = USING_WAITS;
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	if (many(site->parameters)) {
		misra_tokens_release(site, many(site->parameters), state, out);
		return;
	}
	node->using = USING_NOT;
	send_ping(site, node->nbping, out);
	node->nbping = 0;
}

/* Returns how many different numbers there are if they are bounded: n + 1, or n with modulus=n. */
static int64_t numbers_count(const struct site *site)
{
	return (int64_t)site->nodes + (site->parameters[MODULUS] == MODULUS_N ? 0 : 1);
}

/* Returns what nbping becomes when the tokens meet. nbpong becomes its negative. */
static int64_t next_number(const struct site *site, int64_t nbping)
{
	if (!site->parameters[BOUNDED])
		return nbping + 1;
	/* "It is thus sufficient to increment them modulo (n+1)". */
	if (site->parameters[TEXT] & TEXT_ZERO)
		return (nbping + 1) % numbers_count(site);
	return nbping % numbers_count(site) + 1;
}

/* PING has arrived. It stays if the process waits for it. */
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

/* The token that has just arrived has found the other one lost, and makes it again here. */
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
		/* Printed: the text does not say that "when received" comes before "When meeting
		 * (ping, pong) do". In this variant the meeting comes first. */
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
		return nbping >= 0 && nbping < numbers_count(site);
	return nbping >= 1 && nbping <= numbers_count(site);
}

/*
 * Is this message impossible? While PING is held here, no second PING can arrive, and a PONG that
 * arrives has the negative of PING's number. With the printed texts such messages do arrive; then a
 * PING that nobody waits for is passed on.
 */
static bool is_strange(const struct site *site, const struct state *node, uint8_t type,
                       int64_t number)
{
	if (node->using != USING_INSIDE || site->parameters[TEXT] != TEXT_MENDED ||
	    site->parameters[MODULUS] == MODULUS_N)
		return false;
	return type == PING || number != -node->nbping;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	int64_t number;

	if (many(site->parameters))
		return misra_tokens_receive(site, many(site->parameters), state, message, out);
	number = in_int(&in);
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
	if (many(site->parameters))
		return misra_tokens_inside(state);
	return ((const struct state *)state)->using == USING_INSIDE;
}

/* Writes the numbers of both tokens at the process that holds PING: nbping + nbpong = 0. */
static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	if (many(site->parameters)) {
		misra_tokens_describe(many(site->parameters), state, writer);
		return;
	}
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
	while (in.next < in.end)
		writer_int(writer, in_int(&in));
	writer_close(writer, ')');
}

/* Returns how many tokens of a type there are, in flight or held; *ret_number is the number of
 * one of them. */
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

/* A token that is not lost is never made again, so there is at most one PING. The same holds for
 * PONG. */
static bool one_ping_at_most(const struct snapshot *snapshot)
{
	uint32_t tokens = many(snapshot->network->parameters);
	int64_t nbping;

	if (tokens)
		return misra_tokens_one_of_each(snapshot, tokens, PING);
	return count_tokens(snapshot, PING, &nbping) <= 1;
}

static bool one_pong_at_most(const struct snapshot *snapshot)
{
	uint32_t tokens = many(snapshot->network->parameters);
	int64_t nbpong;

	if (tokens)
		return misra_tokens_one_of_each(snapshot, tokens, PONG);
	return count_tokens(snapshot, PONG, &nbpong) <= 1;
}

/* "The algorithm conserves the relation nbping + nbpong = 0", as long as both tokens exist. */
static bool are_two(const struct network *network)
{
	return many(network->parameters) == 0;
}

static bool numbers_are_opposite(const struct snapshot *snapshot)
{
	int64_t nbping, nbpong;

	if (count_tokens(snapshot, PING, &nbping) == 0 ||
	    count_tokens(snapshot, PONG, &nbpong) == 0)
		return true;
	return nbping + nbpong == 0;
}

/* With more than two tokens other rules apply, which have neither the errors of the text nor a
 * modulus: refuse those parameters. */
static const char *prepare(const struct network *network, void *shared)
{
	const uint64_t *parameters = network->parameters;

	(void)shared;
	if (many(parameters) && parameters[TEXT] != TEXT_MENDED)
		return "text=printed is about two tokens: the rules for tokens=3 and more are "
		       "others";
	if (many(parameters) && parameters[MODULUS] != MODULUS_N_PLUS_1)
		return "modulus=n is about two tokens: those of tokens=3 and more count hops "
		       "instead";
	if (many(parameters) && !parameters[BOUNDED])
		return "bounded=off is about two tokens: those of tokens=3 and more count hops "
		       "instead";
	return NULL;
}

const struct algorithm misra = {
        .name = "misra",
        .title = "Misra: two tokens go round, and each replaces the other if it is lost",
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
                        {"hops", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[PARAMETERS_COUNT + 1]){
                        [TEXT] =
                                {
                                        .name = "text",
                                        .help = "mended, or as printed: zero counts modulo (n+1), "
                                                "so that a number can be 0; order changes the "
                                                "numbers before it compares them",
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
                        [MODULUS] =
                                {
                                        .name = "modulus",
                                        .help = "how many numbers there are where they are "
                                                "bounded; with n a token that lives is made "
                                                "again",
                                        .breaks = true,
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"n+1", MODULUS_N_PLUS_1},
                                                        {"n", MODULUS_N},
                                                        {NULL, 0},
                                                },
                                },
                        [TOKENS] =
                                {
                                        .name = "tokens",
                                        .help = "PING and K - 1 PONGs; with more than two it works "
                                                "as long as one is left",
                                        .breaks = true,
                                        .least = 2,
                                        .most = MISRA_TOKENS_MAX,
                                        .initial = 2,
                                },
                        [PARAMETERS_COUNT] = {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "one_ping_at_most",
                         .meaning = "there is one PING at most",
                         .global = one_ping_at_most},
                        {.name = "one_pong_at_most",
                         .meaning = "there is one PONG at most",
                         .global = one_pong_at_most},
                        {.name = "numbers_are_opposite",
                         .meaning = "the numbers of PING and PONG add up to 0",
                         .applies = are_two,
                         .global = numbers_are_opposite},
                        {.name = NULL},
                },
        .prepare = prepare,
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .has_privilege = has_privilege,
        .describe = describe,
        .show = show,
};
