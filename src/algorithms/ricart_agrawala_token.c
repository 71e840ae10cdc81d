/*
 * Ricart and Agrawala's token algorithm.
 *
 * Glenn Ricart and Ashok K. Agrawala, "Author's response to 'On Mutual Exclusion in Computer
 * Networks' by Carvalho and Roucairol", Communications of the ACM 26(2), February 1983, pages
 * 147-148; as Michel Raynal gives it, chapter 2, section 3, with his names.
 *
 * A node that wants to enter and does not have the token tells all others, with a number that
 * counts its requests. The token is an array: token(j) is the number of the last request of j that
 * was served. A node that has the token and does not need it looks for a node that has asked since,
 * beginning with its successor.
 *
 * `--param choose=oldest` is Hélary, Plouzeau and Raynal's algorithm for a network that is known to
 * be complete, as section 6 of their report (1986) gets it from this one: "We use logical clocks
 * instead of request counters and we send the token to the creator of the oldest request known
 * instead of using a logical ring". token(i) is then their lud[i], the clock of P_i when it last
 * gave the token away, and requests are ordered by time and, where times are equal, by process.
 *
 * `--param retry=on` is the "recovery procedure based on a time-out mechanism" that section 3.6
 * asks for if requests can be lost, and does not describe. A process that has waited so long that a
 * request and the token would have arrived sends its request again, to all and with the same
 * number. A copy that comes too late does nothing, because its number is not greater than that of
 * the token. A lost token stays lost.
 *
 * Network: every pair of nodes linked, no loss (retry=on: no loss of the token), any order.
 *
 * Departures. The prose of section 3.3 compares a request of P_l with the time when P_j, the
 * process that searches, last held the token. The algorithm of 3.4 compares it with the time when
 * P_l did: request(l) > token(l). That must be right: each process counts its own requests, so that
 * numbers of different processes cannot be compared, and the rule of 3.3 loses requests.
 *
 * The prelude is one step up to its wait, or up to token_held <- T if the token is here. The
 * reception of the token is also one step, up to token_held <- T. Otherwise a request that is
 * handled in between would take the token away from a process that is about to enter. `--param
 * text=printed:steps` allows that, for a process that has the token: a timer stands for the time in
 * between, and expires after all messages in flight have arrived. The array is declared `requests`
 * and used as `request`. The array `token` is empty while the token is elsewhere.
 */
#include "algorithm.h"

#include "network.h"

#include <string.h>

enum { REQUEST, TOKEN, MESSAGES_COUNT };

enum { PARAM_TEXT, PARAM_CHOOSE, PARAM_RETRY };

enum { CHOOSE_ROUND, CHOOSE_OLDEST };

/* retry=on: how long a process waits, in multiples of the longest message delay, before it repeats
 * its request. If nobody else wants to enter, the request and the token take one such delay
 * each. */
enum { RETRY_DELAYS = 2 };

/* The errors of the published text, as bits. */
enum { PRINTED_HOLDER = 1, PRINTED_STEPS = 2 };

enum { TIMER_PRELUDE, TIMER_RETRY };

struct state {
	uint64_t clock; /* counts this node's requests; choose=oldest: a logical clock */
	uint8_t token_present, token_held;
	uint8_t waits; /* this node is at "wait (access, token)" of the prelude */
	uint8_t padding[5];
	/* requests[nodes], followed by token[nodes], which is all 0 without the token. The element
	 * for the node itself is 0, or, with retry=on while it waits, the number of its request. */
	uint64_t requests[];
};

static uint64_t *token(const struct site *site, struct state *node)
{
	return node->requests + site->nodes;
}

static size_t state_size(const struct site *site)
{
	return sizeof(struct state) + 2 * (size_t)site->nodes * sizeof(uint64_t);
}

static void init(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	(void)out;
	node->token_present = site->self == site->holder;
}

static void enter(struct state *node, struct out *out)
{
	node->token_held = true;
	out_enter(out);
}

static void broadcast_request(const struct site *site, uint64_t number, struct out *out)
{
	out_message(out, REQUEST);
	out_uint(out, number);
	out_uint(out, site->self);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != site->self)
			out_send(out, j);
	}
	if (site->parameters[PARAM_RETRY] != 0)
		out_arm(out, TIMER_RETRY, RETRY_DELAYS);
}

/* The paper's prelude: a process enters if the token is here, and asks for it otherwise. */
static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	if (node->token_present) {
		if ((site->parameters[PARAM_TEXT] & PRINTED_STEPS) != 0)
			out_arm(out, TIMER_PRELUDE, 1);
		else
			enter(node, out);
		return;
	}
	node->clock++;
	node->waits = true;
	/* choose=oldest: other requests advance the clock while this one waits. Repeated with a
	 * later time it would lose its turn. */
	if (site->parameters[PARAM_RETRY] != 0)
		node->requests[site->self - 1] = node->clock;
	broadcast_request(site, node->clock, out);
}

static void expire(const struct site *site, void *state, uint32_t timer, struct out *out)
{
	struct state *node = state;

	if (timer == TIMER_RETRY)
		broadcast_request(site, node->requests[site->self - 1], out);
	else /* text=printed:steps: the prelude found the token, and goes on to token_held <- T */
		enter(node, out);
}

static void send_token(const struct site *site, struct state *node, uint32_t to, struct out *out)
{
	out_message(out, TOKEN);
	for (uint32_t j = 0; j < site->nodes; j++)
		out_uint(out, token(site, node)[j]);
	out_send(out, to);

	node->token_present = false;
	memset(token(site, node), 0, site->nodes * sizeof(uint64_t));
}

/* Does P_j wait for the token, as far as this node knows? */
static bool wants(const struct site *site, struct state *node, uint32_t j)
{
	uint64_t served = token(site, node)[j - 1];

	/* Printed (3.3): "greater than the value recorded in the token for the time-stamp of
	 * P_j's last holding of the token", where P_j is the process that searches. */
	if ((site->parameters[PARAM_TEXT] & PRINTED_HOLDER) != 0)
		served = token(site, node)[site->self - 1];
	return node->requests[j - 1] > served;
}

static bool chooses_oldest(const uint64_t *parameters)
{
	return parameters[PARAM_CHOOSE] == CHOOSE_OLDEST;
}

/* Returns which process gets the token: in the order i+1 to n, 1 to i-1, the first that wants it;
 * with choose=oldest, the one that asked first. Returns 0 if nobody wants it. */
static uint32_t choose(const struct site *site, struct state *node)
{
	uint32_t chosen = 0;

	for (uint32_t k = 1; k < site->nodes; k++) {
		uint32_t j = (site->self - 1 + k) % site->nodes + 1;
		if (!wants(site, node, j))
			continue;
		if (!chooses_oldest(site->parameters))
			return j;
		uint64_t time = node->requests[j - 1];
		if (chosen == 0 || time < node->requests[chosen - 1] ||
		    (time == node->requests[chosen - 1] && j < chosen))
			chosen = j;
	}
	return chosen;
}

static void postlude(const struct site *site, struct state *node, struct out *out)
{
	token(site, node)[site->self - 1] = node->clock;
	node->token_held = false;
	uint32_t chosen = choose(site, node);
	if (chosen != 0)
		send_token(site, node, chosen, out);
}

static void release(const struct site *site, void *state, struct out *out)
{
	postlude(site, state, out);
}

/* when received (request, k, j). */
static void on_request(const struct site *site, struct state *node, uint64_t k, uint32_t j,
                       struct out *out)
{
	if (k > node->requests[j - 1])
		node->requests[j - 1] = k;
	if (chooses_oldest(site->parameters) && k > node->clock)
		node->clock = k;
	if (node->token_present && !node->token_held)
		postlude(site, node, out);
}

/* The end of the prelude's wait (access, token). */
static void on_token(const struct site *site, struct state *node, struct out *out)
{
	node->token_present = true;
	if (site->parameters[PARAM_RETRY] != 0 && node->waits) {
		node->requests[site->self - 1] = 0;
		out_disarm(out, TIMER_RETRY);
	}
	/* With the printed rule the token may come although this node did not ask. The next prelude
	 * then finds it here. */
	if (node->waits)
		enter(node, out);
	node->waits = false;
}

static int receive_request(const struct site *site, struct state *node, struct in *in,
                           struct out *out)
{
	uint64_t k = in_range(in, 1, UINT64_MAX);
	uint32_t j = (uint32_t)in_range(in, 1, site->nodes);

	if (!in_end(in) || j == site->self)
		return BATON_EMESSAGE;
	/* A process asks again only after its last request was served, and the token counts the
	 * requests that were served. */
	if (node->token_present && k - 1 > token(site, node)[j - 1] &&
	    !chooses_oldest(site->parameters))
		return BATON_EMESSAGE;
	on_request(site, node, k, j, out);
	return 0;
}

/* Reads the token, into `ret_token` if that is not NULL, and returns token(i). */
static uint64_t read_token(const struct site *site, struct in *in, uint64_t *ret_token)
{
	uint64_t own = 0;

	for (uint32_t j = 1; j <= site->nodes; j++) {
		uint64_t number = in_uint(in);
		if (j == site->self)
			own = number;
		if (ret_token != NULL)
			ret_token[j - 1] = number;
	}
	return own;
}

static int receive_token(const struct site *site, struct state *node, struct in *in,
                         struct out *out)
{
	struct in again = *in;
	uint64_t own = read_token(site, in, NULL);

	if (!in_end(in) || node->token_present)
		return BATON_EMESSAGE;
	/* The token comes to serve the node's last request. With the printed rule it may come
	 * although the node did not ask. */
	if ((chooses_oldest(site->parameters) ? own >= node->clock
	                                      : own + node->waits != node->clock) ||
	    (!node->waits && (site->parameters[PARAM_TEXT] & PRINTED_HOLDER) == 0))
		return BATON_EMESSAGE;
	read_token(site, &again, token(site, node));
	on_token(site, node, out);
	return 0;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct in in = in_message(message);

	switch (message->body[0]) {
	case REQUEST:
		return receive_request(site, state, &in, out);
	case TOKEN:
		return receive_token(site, state, &in, out);
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->token_present;
}

static void write_array(struct writer *writer, const uint64_t *numbers, uint32_t count)
{
	writer_open(writer, '[');
	for (uint32_t j = 0; j < count; j++)
		writer_uint(writer, numbers[j]);
	writer_close(writer, ']');
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "clock");
	writer_uint(writer, node->clock);
	writer_key(writer, "token_present");
	writer_bool(writer, node->token_present);
	writer_key(writer, "token_held");
	writer_bool(writer, node->token_held);
	writer_key(writer, "token");
	if (node->token_present)
		write_array(writer, node->requests + site->nodes, site->nodes);
	else
		writer_null(writer);
	writer_key(writer, "requests");
	write_array(writer, node->requests, site->nodes);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);

	writer_open(writer, '(');
	while (in.next < in.end)
		writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

static uint32_t origin(const struct message *message)
{
	struct in in = in_message(message);

	if (message->body[0] != REQUEST)
		return 0;
	in_uint(&in);
	return (uint32_t)in_uint(&in);
}

/* A node in its critical section has the token, and a node that waits does not have it.
 * printed:steps breaks this; the invariant does not apply then. */
static bool is_one_step(const struct network *network)
{
	return (network->parameters[PARAM_TEXT] & PRINTED_STEPS) == 0;
}

static bool held_where_present(const struct site *site, const void *state)
{
	const struct state *node = state;
	(void)site;
	return node->token_held ? node->token_present && !node->waits
	                        : !(node->token_present && node->waits);
}

/* Finds token(j), at the holder of the token or in the message that carries it. */
static bool read_served(const struct snapshot *snapshot, uint32_t j, uint64_t *ret_number)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 0; i < nodes; i++) {
		const struct state *node = snapshot->states[i];
		if (node->token_present) {
			*ret_number = node->requests[nodes + j - 1];
			return true;
		}
	}
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct message *message = &snapshot->flights[k].message;
		struct in in = in_message(message);
		if (message->body[0] != TOKEN)
			continue;
		for (uint32_t skip = 1; skip < j; skip++)
			in_uint(&in);
		*ret_number = in_uint(&in);
		return true;
	}
	return false;
}

/* choose=oldest: a process that neither waits nor is inside made all its requests before its clock
 * was last written into the token. So the token shows that they were served. */
static bool requests_are_served(const struct snapshot *snapshot, uint32_t j, uint64_t served)
{
	const struct state *asker = snapshot->states[j - 1];

	if (asker->waits)
		return asker->clock > served;
	for (uint32_t i = 0; i < snapshot->network->graph.nodes; i++) {
		const struct state *node = snapshot->states[i];
		if (!asker->token_held && node->requests[j - 1] > served)
			return false;
	}
	return asker->clock >= served;
}

/*
 * 3.6: "whether or not the number of times that P_i has been given this access … is less than the
 * number of requests it has made": it is less by one if P_i waits, or is inside after a request;
 * otherwise they are equal.
 */
static bool token_counts_what_was_served(const struct snapshot *snapshot)
{
	for (uint32_t j = 1; j <= snapshot->network->graph.nodes; j++) {
		const struct state *node = snapshot->states[j - 1];
		uint64_t served;

		if (!read_served(snapshot, j, &served))
			return true; /* the token is lost */
		if (chooses_oldest(snapshot->network->parameters)) {
			if (!requests_are_served(snapshot, j, served))
				return false;
			continue;
		}
		if (node->waits ? node->clock != served + 1
		                : node->clock != served &&
		                          !(node->token_held && node->clock == served + 1))
			return false;
	}
	return true;
}

const struct algorithm ricart_agrawala_token = {
        .name = "ricart-agrawala-token",
        .title = "Ricart and Agrawala: ask everybody, the token counts the requests it served",
        .year = 1983,
        .source = SOURCE_ACCOUNT,
        .rules = "Raynal 3",
        .nodes_checked = 4,
        .nodes_checked_twice = 3,
        .grows = "clocks",
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .has_token = true,
        .claim_messages = "0 or N",
        .claim_delay = "1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [TOKEN] = {.name = "TOKEN", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"clock", VARIABLE_PLAIN},
                        {"token_present", VARIABLE_PLAIN},
                        {"token_held", VARIABLE_PLAIN},
                        {"token", VARIABLE_ROW},
                        {"requests", VARIABLE_ROW},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        [PARAM_TEXT] =
                                {
                                        .name = "text",
                                        .help = "printed, printed:holder: a request is compared "
                                                "with the last holding of the node that searches, "
                                                "as section "
                                                "3.3 says; printed:steps: a request may be handled "
                                                "within the prelude",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"mended", 0},
                                                        {"printed", PRINTED_HOLDER},
                                                        {"printed:holder", PRINTED_HOLDER},
                                                        {"printed:steps", PRINTED_STEPS},
                                                        {NULL, 0},
                                                },
                                },
                        [PARAM_CHOOSE] =
                                {
                                        .name = "choose",
                                        .help = "who gets the token: round, the next after the "
                                                "holder that wants it; oldest, the one that asked "
                                                "first by logical clocks, as Hélary, Plouzeau and "
                                                "Raynal say",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"round", CHOOSE_ROUND},
                                                        {"oldest", CHOOSE_OLDEST},
                                                        {NULL, 0},
                                                },
                                },
                        [PARAM_RETRY] =
                                {
                                        .name = "retry",
                                        .help = "on: a node that waits longer than a request and "
                                                "the token take repeats its request, so that a "
                                                "lost one does no harm",
                                        .choices =
                                                (const struct parameter_choice[]){
                                                        {"off", 0},
                                                        {"on", 1},
                                                        {NULL, 0},
                                                },
                                        /* For study only: a lock node has no timers for algorithms,
                                         * and its links lose nothing. */
                                        .breaks = true,
                                },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "held_where_present",
                         .meaning = "only the node where the token is holds it, and that node does "
                                    "not wait",
                         .applies = is_one_step,
                         .local = held_where_present},
                        {.name = "token_counts_what_was_served",
                         .meaning = "the token's number for a node is less than that of the node's "
                                    "last request while it waits, and the same when the request is "
                                    "over",
                         .global = token_counts_what_was_served},
                        {.name = NULL},
                },
        .state_size = state_size,
        .init = init,
        .request = request,
        .release = release,
        .receive = receive,
        .pauses = true,
        .expire = expire,
        .has_privilege = has_privilege,
        .describe = describe,
        .show = show,
        .origin = origin,
};
