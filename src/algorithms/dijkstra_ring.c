/*
 * Dijkstra's ring of black and white processes.
 *
 * Edsger W. Dijkstra, "Reducing control traffic in a distributed implementation of mutual
 * exclusion", a note dated 12 March 1983, prompted by a private communication of K. Mani Chandy of
 * 1 March 1983.
 *
 * The token goes to the left, and only when it is called: a white process that wants to enter sends
 * a signal to the right. The signal colours the processes that it passes black ("the breadcrumbs of
 * Tom Thumb"), until it meets the token or a process that wants to enter itself. The token goes
 * back along the black processes, which become white again, and serves those that wait on its way.
 *
 * Network: a ring with both directions, no loss. Order is not needed: a connection carries at most
 * one message at a time, a signal to the right or the token to the left. Two processes have two
 * connections, and a receiver knows by which one a message came.
 *
 * Departures: none. In our scan of the note all negations (overbars) are lost. We have put them
 * back wherever the scan has the same guard twice. `--param text=printed:overbars` follows the scan
 * as far as possible: a process in its noncritical section that receives a signal takes the last of
 * the guards that look the same, and only becomes black. The note has no invariant P2. "Enter
 * critical section" upon receipt of the token also means that the token stays here. The process
 * keeps its colour, because a black process has to send the token on to the left when it leaves.
 */
#include "algorithm.h"

#include "dijkstra_ring_words.h"
#include "network.h"

enum { SIGNAL, TOKEN, MESSAGES_COUNT };

enum { TEXT };

enum { TEXT_MENDED, TEXT_OVERBARS };

enum { NONCRITICAL, WAITING, CRITICAL };

struct state {
	uint8_t state; /* which section of its program the process is in */
	uint8_t black;
	uint8_t token;
	uint8_t padding[5];
};

static size_t state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct state);
}

/* "The token resides at an arbitrary process, … and all processes are white." */
static void init(const struct site *site, void *state, struct out *out)
{
	struct state *process = state;

	(void)out;
	process->token = site->self == site->holder;
}

static void send_signal(const struct site *site, struct out *out)
{
	out_message(out, SIGNAL);
	out_send_side(out, site, SIDE_RIGHT);
}

static void send_token(const struct site *site, struct state *process, struct out *out)
{
	process->token = false;
	out_message(out, TOKEN);
	out_send_side(out, site, SIDE_LEFT);
}

static void enter(struct state *process, struct out *out)
{
	process->state = CRITICAL;
	out_enter(out);
}

/* "Upon completion of the noncritical section". */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *process = state;

	if (process->token) {
		enter(process, out);
		return;
	}
	if (!process->black) /* a black process has relayed a signal, so the token will come */
		send_signal(site, out);
	process->state = WAITING;
}

/* "Upon completion of critical section". */
static void release(const struct site *site, void *state, struct out *out)
{
	struct state *process = state;

	if (process->black) {
		process->black = false;
		send_token(site, process, out);
	}
	process->state = NONCRITICAL;
}

/* "Upon receipt of a signal". */
static void on_signal(const struct site *site, struct state *process, struct out *out)
{
	/* overbars: "in noncritical section → become black". */
	if (process->state != NONCRITICAL || site->parameters[TEXT] == TEXT_OVERBARS) {
		process->black = true;
	} else if (process->token) {
		send_token(site, process, out);
	} else {
		process->black = true;
		send_signal(site, out);
	}
}

/* "Upon receipt of the token". */
static void on_token(const struct site *site, struct state *process, struct out *out)
{
	process->token = true;
	if (process->state == WAITING) {
		enter(process, out);
	} else {
		process->black = false;
		send_token(site, process, out);
	}
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *process = state;
	struct in in = in_message(message);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	switch (message->body[0]) {
	case SIGNAL:
		if (message->side != SIDE_LEFT || process->black) /* this would break P4 */
			return BATON_EMESSAGE;
		on_signal(site, process, out);
		return 0;
	case TOKEN:
		if (message->side != SIDE_RIGHT || process->token || process->state == CRITICAL ||
		    (process->state == NONCRITICAL && !process->black)) /* this would break P5 */
			return BATON_EMESSAGE;
		on_token(site, process, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->token;
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	static const char *const names[] = {"noncritical", "waiting", "critical"};
	const struct state *process = state;

	(void)site;
	writer_key(writer, "state");
	writer_string(writer, names[process->state]);
	writer_key(writer, "black");
	writer_bool(writer, process->black);
	writer_key(writer, "token");
	writer_bool(writer, process->token);
}

static void show(const struct message *message, struct writer *writer)
{
	(void)message;
	(void)writer;
}

/* P0: a process engaged in its critical section holds the token. */
static bool P0(const struct site *site, const void *state)
{
	const struct state *process = state;

	(void)site;
	return process->state != CRITICAL || process->token;
}

/* P1: the process holding the token is not waiting to enter its critical section. */
static bool P1(const struct site *site, const void *state)
{
	const struct state *process = state;

	(void)site;
	return !process->token || process->state != WAITING;
}

/* P3: the white left-hand neighbour of a black process is waiting. */
static bool P3(const struct snapshot *snapshot)
{
	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		const struct state *process = snapshot->states[i - 1];
		struct site site = network_site(snapshot->network, i);
		const struct state *left = snapshot->states[site.left - 1];

		if (process->black && !left->black && left->state != WAITING)
			return false;
	}
	return true;
}

/* P4: the recipient of a signal is white. */
static bool P4(const struct snapshot *snapshot)
{
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		const struct state *recipient = snapshot->states[flight->to - 1];

		if (flight->message.body[0] == SIGNAL && recipient->black)
			return false;
	}
	return true;
}

/* P5: the recipient of the token is black or is waiting. */
static bool P5(const struct snapshot *snapshot)
{
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		const struct state *recipient = snapshot->states[flight->to - 1];

		if (flight->message.body[0] == TOKEN && !recipient->black &&
		    recipient->state != WAITING)
			return false;
	}
	return true;
}

/* P6: a process holding the token while in its noncritical section is white. */
static bool P6(const struct site *site, const void *state)
{
	const struct state *process = state;

	(void)site;
	return !process->token || process->state != NONCRITICAL || !process->black;
}

/* Returns the connection of a message, named by the process at its right end, to which signals go
 * and from which the token comes. */
static uint32_t connection_of(const struct network *network, const struct flight *flight)
{
	if (flight->message.body[0] == SIGNAL)
		return flight->to;
	return network_site(network, flight->to).right;
}

/* "A connection … will be treated as a three-valued variable": unused, a signal, the token. */
static bool one_message(const struct snapshot *snapshot)
{
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		uint32_t connection = connection_of(snapshot->network, &snapshot->flights[k]);
		for (size_t l = 0; l < k; l++) {
			if (connection_of(snapshot->network, &snapshot->flights[l]) == connection)
				return false;
		}
	}
	return true;
}

/* These return the letters that stand for a process and for the connection at its left; '\0' if
 * the connection carries two messages. */
static char letter_of_process(const struct snapshot *snapshot, uint32_t i)
{
	const struct state *process = snapshot->states[i - 1];

	return (process->black ? "NWC" : "nwc")[process->state];
}

static char letter_of_connection(const struct snapshot *snapshot, uint32_t i)
{
	char letter = '-';

	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		if (connection_of(snapshot->network, flight) != i)
			continue;
		if (letter != '-')
			return '\0';
		letter = flight->message.body[0] == SIGNAL ? 's' : 't';
	}
	return letter;
}

/* Returns how many tokens there are, and where the last of them is: at a process, or on the
 * connection at the left of one. */
static uint32_t find_tokens(const struct snapshot *snapshot, uint32_t *ret_process,
                            bool *ret_in_flight)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i <= snapshot->network->graph.nodes; i++) {
		if (!((const struct state *)snapshot->states[i - 1])->token)
			continue;
		*ret_process = i;
		*ret_in_flight = false;
		found++;
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		if (snapshot->flights[k].message.body[0] != TOKEN)
			continue;
		*ret_process = connection_of(snapshot->network, &snapshot->flights[k]);
		*ret_in_flight = true;
		found++;
	}
	return found;
}

/*
 * "I have not given a genuine invariant characterizing all permissible states. The answer is
 * probably … enumerating the possible ring states as strings to be characterized by regular
 * expressions. These strings could begin with the process holding or the connection carrying the
 * token." The regular expression in dijkstra_ring_words.c is such an invariant.
 */
static bool permissible(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes, i = 0;
	bool in_flight = false;
	struct words words;
	uint64_t at = words_start();
	uint32_t tokens = find_tokens(snapshot, &i, &in_flight);

	if (tokens != 1)
		return tokens == 0; /* the expression says nothing about a ring without a token */
	must(words_parse(words_permitted, &words));
	if (in_flight) {
		at = words_read(&words, at, letter_of_connection(snapshot, i));
		i = network_site(snapshot->network, i).left;
	}
	for (uint32_t k = 1; k <= nodes; k++) {
		at = words_read(&words, at, letter_of_process(snapshot, i));
		if (!in_flight || k < nodes)
			at = words_read(&words, at, letter_of_connection(snapshot, i));
		i = network_site(snapshot->network, i).left;
	}
	return words_end(&words, at);
}

/* Counts the states. A word can begin at any process, so each word stands for as many states as
 * there are processes. */
static uint64_t count_permissible(const struct network *network)
{
	uint32_t nodes = network->graph.nodes;
	struct words words;
	uint64_t count;

	must(words_parse(words_permitted, &words));
	count = words_count(&words, 2 * nodes);
	return count <= UINT64_MAX / nodes ? count * nodes : UINT64_MAX;
}

const struct algorithm dijkstra_ring = {
        .name = "dijkstra-ring",
        .title = "Dijkstra: signals to the right call the token to the left",
        .year = 1983,
        .source = SOURCE_PAPER,
        .rules = "Dijkstra",
        .nodes_checked = 5,
        .kind = KIND_MUTEX,
        .links = GRAPH_RING,
        .topology = "ring",
        .has_token = true,
        .claim_messages = "0 to 2(N-1)",
        .claim_delay = "1 to 2(N-1)",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [SIGNAL] = {.name = "SIGNAL", .role = ROLE_ASKS},
                        [TOKEN] = {.name = "TOKEN", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"state", VARIABLE_PLAIN},
                        {"black", VARIABLE_PLAIN},
                        {"token", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [TEXT] =
                                {
                                        .name = "text",
                                        .help = "printed:overbars: as our scan has it, without "
                                                "negations; a process that does not want in takes "
                                                "a signal and does nothing with it",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"mended", TEXT_MENDED},
                                                        {"printed", TEXT_OVERBARS},
                                                        {"printed:overbars", TEXT_OVERBARS},
                                                        {NULL, 0},
                                                },
                                },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "P0_critical_has_the_token",
                         .meaning = "a process in its critical section has the token",
                         .local = P0},
                        {.name = "P1_token_does_not_wait",
                         .meaning = "a process that has the token does not wait",
                         .local = P1},
                        {.name = "P3_white_left_of_black_waits",
                         .meaning = "the left neighbour of a black process waits or is black",
                         .global = P3},
                        {.name = "P4_signal_finds_white",
                         .meaning = "a SIGNAL is on its way to a white process",
                         .global = P4},
                        {.name = "P5_token_finds_black_or_waiting",
                         .meaning = "the TOKEN is on its way to a process that is black or waits",
                         .global = P5},
                        {.name = "P6_idle_token_is_white",
                         .meaning = "a process that has the token and is in its noncritical "
                                    "section is white",
                         .local = P6},
                        {.name = "connection_has_one_message",
                         .meaning = "there is one message at most between two neighbours",
                         .global = one_message},
                        {.name = "permissible",
                         .meaning = "the ring, read from the token on, matches the regular "
                                    "expression of the permissible states",
                         .global = permissible,
                         .permitted = count_permissible},
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
