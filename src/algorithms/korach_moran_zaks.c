/*
 * The king and the subjects, after Korach, Moran and Zaks.
 *
 * E. Korach, S. Moran and S. Zaks, "Tight Lower and Upper Bounds for Some Distributed Algorithms
 * for a Complete Network of Processors", 3rd ACM Symposium on Principles of Distributed Computing,
 * 1984, from page 199; named in section 5.5.3 of M. Raynal's chapter 2.
 *
 * A process that begins is a king without subjects, and claims one process after the other, along
 * its links. A claim is a pair (level, identifier), where the level is the number of subjects that
 * the king has. The greater pair is stronger. Each process keeps the strongest claim that it has
 * seen, including its own if it is a king, and drops weaker claims. A king whose claim is dropped
 * gets no further. A subject that is claimed by another king appeals to its lord, who must fall
 * before the subject may change sides. A king that has claimed all others is elected, and announces
 * it.
 *
 * Network: every pair of processes linked, no loss, any order. A process knows its links and its
 * own identifier, not those of the others. In the paper an answer goes back by the link by which
 * the message came. Here a message names the place that the answer must go to. Places are used for
 * nothing else.
 *
 * Departures. The chapter gives only the idea: all are kings at first, one is at the end, and it
 * takes O(n log n) messages. The rules here are a reconstruction and not the paper's text, in the
 * manner of Y. Afek and E. Gafni, "Time and Message Bounds for Election in Synchronous and
 * Asynchronous Complete Networks", 1985. A process that is claimed before it has begun becomes a
 * subject at once and never begins: the chapter makes all processes kings at the start. LEADER is
 * added, so that all learn who leads.
 */
#include "algorithm.h"
#include "network.h"
#include "random.h"

enum { CLAIM, APPEAL, YIELD, ACCEPT, LEADER, MESSAGES_COUNT };

struct state {
	/* The strongest claim that this process has seen; king is 0 if it has seen none. The
	 * claim is its own if and only if the process is a king. */
	uint32_t level, king;
	uint32_t lord; /* the place of the king whose subject this process is; 0: none */
	/* The place of the king whose claim the lord is being asked about; else 0. */
	uint32_t claimant;
	uint8_t claiming; /* this process has sent a CLAIM that was not accepted yet */
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

static bool is_king(const struct site *site, const struct state *node)
{
	return node->king == site->identifier;
}

/* The level N - 1 means that the election is decided. The king that reaches it is elected, and
 * LEADER passes the level on. */
static bool knows_leader(const struct site *site, const struct state *node)
{
	return node->king != 0 && node->level == site->nodes - 1;
}

static bool ready(const struct site *site, const void *state)
{
	const struct state *node = state;
	return node->king == 0 || knows_leader(site, node);
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/*
 * Returns where the k-th link of a process leads; k counts from 0. A process does not know where
 * its links lead, so any order must work, even a different one in each process. Without a seed the
 * nearest place comes first, to the right and to the left in turn, so that all places are alike
 * (the checker treats arrangements that differ by a rotation as one). With a seed each process has
 * an order of its own: it begins at a random link and goes on by a random distance. With up to four
 * processes, every order is possible.
 */
static uint32_t link_of(const struct site *site, uint32_t k)
{
	uint64_t seed = site->parameters[0];
	uint32_t count = site->neighbours_count, distance = k / 2 + 1;
	struct random random;

	if (seed == 0) {
		uint32_t steps = k % 2 == 0 ? distance : site->nodes - distance;
		return (site->self - 1 + steps) % site->nodes + 1;
	}
	random_seed(&random, seed << 32 | site->self);
	uint64_t first = random_below(&random, count);
	uint32_t stride = 1 + (uint32_t)random_below(&random, count);
	while (common_divisor(stride, count) != 1)
		stride++;
	return site_neighbour(site, (uint32_t)((first + (uint64_t)k * stride) % count));
}

/* The king claims the next process, if any is left. */
static void advance(const struct site *site, struct state *node, struct out *out)
{
	if (node->level < site->nodes - 1) {
		node->claiming = true;
		out_message(out, CLAIM);
		out_uint(out, node->level);
		out_uint(out, site->identifier);
		out_uint(out, site->self);
		out_send(out, link_of(site, node->level));
		return;
	}
	out_message(out, LEADER);
	out_uint(out, site->identifier);
	for (uint32_t k = 0; k < site->neighbours_count; k++)
		out_send(out, site_neighbour(site, k));
	out_elected(out, site->identifier);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *node = state;

	/* The process takes part already, or the election is over. There is no second election. */
	if (node->king != 0)
		return;
	node->king = site->identifier;
	advance(site, node, out);
}

struct claim {
	uint32_t level, king;
	uint32_t from; /* the place of the king, or of the subject that appeals */
};

static bool is_stronger(const struct claim *claim, const struct state *node)
{
	return claim->level > node->level ||
	       (claim->level == node->level && claim->king > node->king);
}

static void accept(struct state *node, uint32_t lord, struct out *out)
{
	node->lord = lord;
	node->claimant = 0;
	out_message(out, ACCEPT);
	out_send(out, lord);
}

static void on_claim(const struct site *site, struct state *node, const struct claim *claim,
                     struct out *out)
{
	if (!is_stronger(claim, node))
		return;
	node->level = claim->level;
	node->king = claim->king;
	/* This process is asleep, a king that falls now, or a king that has fallen before. */
	if (node->lord == 0) {
		accept(node, claim->from, out);
		return;
	}
	node->claimant = claim->from;
	out_message(out, APPEAL);
	out_uint(out, claim->level);
	out_uint(out, claim->king);
	out_uint(out, site->self);
	out_send(out, node->lord);
}

/* A lord that is weaker than the claim falls, if it has not fallen yet. If the lord itself is
 * being claimed by a king that is weaker than this one, that claim is dropped too. */
static void on_appeal(struct state *node, const struct claim *claim, struct out *out)
{
	if (!is_stronger(claim, node))
		return;
	node->level = claim->level;
	node->king = claim->king;
	node->claimant = 0;
	out_message(out, YIELD);
	out_uint(out, claim->level);
	out_uint(out, claim->king);
	out_send(out, claim->from);
}

/* The lord has fallen. This does not matter if a stronger claim has arrived since the appeal. */
static void on_yield(struct state *node, const struct claim *claim, struct out *out)
{
	if (node->claimant != 0 && claim->level == node->level && claim->king == node->king)
		accept(node, node->claimant, out);
}

static void on_accept(const struct site *site, struct state *node, struct out *out)
{
	node->claiming = false;
	if (!is_king(site, node))
		return;
	node->level++;
	advance(site, node, out);
}

static void on_leader(const struct site *site, struct state *node, uint32_t identifier,
                      struct out *out)
{
	node->level = site->nodes - 1;
	node->king = identifier;
	node->claimant = 0;
	out_elected(out, identifier);
}

/* Reads what a message carries. Returns false if the bytes are bad. */
static bool read_claim(const struct site *site, const struct message *message,
                       struct claim *ret_claim)
{
	struct in in = in_message(message);
	uint8_t type = message->body[0];
	bool leveled = type == CLAIM || type == APPEAL || type == YIELD;

	*ret_claim = (struct claim){.level = 0};
	if (site->nodes == 1)
		return false;
	if (leveled)
		ret_claim->level = (uint32_t)in_range(&in, 0, site->nodes - 2);
	if (leveled || type == LEADER)
		ret_claim->king = (uint32_t)in_range(&in, 1, INT32_MAX);
	if (type == CLAIM || type == APPEAL)
		ret_claim->from = (uint32_t)in_range(&in, 1, site->nodes);
	return in_end(&in) && ret_claim->king != site->identifier && ret_claim->from != site->self;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct claim claim;

	if (!read_claim(site, message, &claim))
		return BATON_EMESSAGE;
	switch (message->body[0]) {
	case CLAIM:
		on_claim(site, node, &claim, out);
		return 0;
	case APPEAL:
		if (node->king == 0) /* this process has never been a king */
			return BATON_EMESSAGE;
		on_appeal(node, &claim, out);
		return 0;
	case YIELD:
		if (node->lord == 0)
			return BATON_EMESSAGE;
		on_yield(node, &claim, out);
		return 0;
	case ACCEPT:
		if (!node->claiming)
			return BATON_EMESSAGE;
		on_accept(site, node, out);
		return 0;
	case LEADER:
		/* A process has sent an ACCEPT to the leader before it hears of the leader, so it
		 * has a lord. */
		if (node->lord == 0 || knows_leader(site, node))
			return BATON_EMESSAGE;
		on_leader(site, node, claim.king, out);
		return 0;
	default:
		return BATON_EMESSAGE;
	}
}

static const char *name_of_state(const struct site *site, const struct state *node)
{
	if (node->king == 0)
		return "asleep";
	if (is_king(site, node))
		return "king";
	return node->lord != 0 ? "subject" : "fallen";
}

static void write_number(struct writer *writer, const char *key, uint32_t number)
{
	writer_key(writer, key);
	if (number != 0)
		writer_uint(writer, number);
	else
		writer_null(writer);
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "state");
	writer_string(writer, name_of_state(site, node));
	writer_key(writer, "level");
	writer_uint(writer, node->level);
	write_number(writer, "king", node->king);
	write_number(writer, "lord", node->lord);
	write_number(writer, "claimant", node->claimant);
	write_number(writer, "leader", knows_leader(site, node) ? node->king : 0);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);
	uint8_t type = message->body[0];

	if (type == ACCEPT)
		return;
	writer_open(writer, '(');
	writer_uint(writer, in_uint(&in));
	if (type != LEADER)
		writer_uint(writer, in_uint(&in));
	if (type == CLAIM || type == APPEAL)
		writer_uint(writer, in_uint(&in));
	writer_close(writer, ')');
}

static bool king_has_no_lord(const struct site *site, const void *state)
{
	const struct state *node = state;
	return !is_king(site, node) || (node->lord == 0 && node->claimant == 0);
}

/* Processes that have accepted a king stay with it as long as it is a king. So kingdoms do not
 * overlap, and at most N / (L + 1) kings ever reach level L. */
static bool king_keeps_its_subjects(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes; i++) {
		struct site site = network_site(snapshot->network, i);
		const struct state *node = snapshot->states[i - 1];
		if (!is_king(&site, node))
			continue;
		for (uint32_t k = 0; k < node->level; k++) {
			const struct state *subject = snapshot->states[link_of(&site, k) - 1];
			if (subject->lord != i)
				return false;
		}
	}
	return true;
}

const struct algorithm korach_moran_zaks = {
        .name = "korach-moran-zaks",
        .title = "Korach, Moran and Zaks: a king takes the subjects of weaker kings, one by one",
        .year = 1984,
        .source = SOURCE_RECONSTRUCTED,
        .rules = "Raynal 5.5.3",
        .nodes_checked = 5,
        .kind = KIND_ELECTION,
        .links = GRAPH_COMPLETE,
        .shape = GRAPH_NONE,
        .topology = "complete",
        .claim_messages = "O(N log N)",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [CLAIM] = {.name = "CLAIM", .role = ROLE_ASKS},
                        [APPEAL] = {.name = "APPEAL", .role = ROLE_ASKS},
                        [YIELD] = {.name = "YIELD", .role = ROLE_REFUSES},
                        [ACCEPT] = {.name = "ACCEPT", .role = ROLE_PERMITS},
                        [LEADER] = {.name = "LEADER", .role = ROLE_ANNOUNCES, .announcement = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"state", VARIABLE_PLAIN},
                        {"level", VARIABLE_PLAIN},
                        {"king", VARIABLE_PLAIN},
                        {"lord", VARIABLE_NODE},
                        {"claimant", VARIABLE_NODE},
                        {"leader", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        {
                                .name = "links",
                                .help = "0: each process tries its links to the right and to the "
                                        "left in turn; otherwise the seed of a random order in "
                                        "each process",
                                .least = 0,
                                .most = UINT32_MAX,
                                .initial = 0,
                        },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "king_has_no_lord",
                         .meaning = "a king has no lord, and no claim against it is open",
                         .local = king_has_no_lord},
                        {.name = "king_keeps_its_subjects",
                         .meaning = "a process that has accepted a king stays with it as long as "
                                    "it is a king",
                         .global = king_keeps_its_subjects},
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
