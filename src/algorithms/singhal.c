/*
 * Singhal's heuristically aided algorithm.
 *
 * Mukesh Singhal, "A Heuristically-Aided Algorithm for Mutual Exclusion in Distributed Systems",
 * IEEE Transactions on Computers 38(5), May 1989, pages 651-662. Our document, Mitchell L.
 * Neilsen's "A DAG-Based Algorithm for Distributed Mutual Exclusion", thesis, Kansas State
 * University, 1989, section 2.5, gives the idea and the four states but no rules; the rules here
 * are those of the textbooks.
 *
 * Each site keeps a guess at the state of every other site: requesting (R), executing (E), holding
 * the idle token (H), or none of these (N). It also keeps the number of the last request that it
 * knows of. A site that wants to enter asks only those sites that it believes to be requesting: one
 * of them has the token or will soon have it. The token has such vectors of its own, TSV and TSN. A
 * site that leaves merges them with its own.
 *
 * Network: every pair of sites is linked, no loss, any order.
 *
 * Departures:
 * - The staircase of the initial guesses begins at the holder and not at site 1. Each site believes
 *   those before it to be requesting, in the order holder, holder + 1, …, N, 1, …, holder - 1.
 *   Otherwise site 1 would ask nobody.
 * - An outdated REQUEST is not ignored: see on_outdated_request. Ignoring it, as the textbooks say
 *   (`--param text=printed:outdated`), leads to deadlock.
 * - A site that has the token also uses TSN to see whether a REQUEST is outdated. SN alone is not
 *   enough, because it is older than TSN until the two are merged.
 * - Section 2.5 does not say who gets the token next. A site that leaves looks from its successor
 *   on, round robin, for the first site that it believes to be requesting.
 */
#include "algorithm.h"
#include "network.h"

enum { REQUEST, PRIVILEGE, MESSAGES_COUNT };

enum { PRINTED_OUTDATED = 1 };

#define NUMBER_MAX (UINT64_MAX >> 1)

/*
 * The knowledge of one site about another. A state is an array with an element for each site. In
 * the element of the site itself, SV is its true state; in all others, SV is 'R' or 'N'. TSV and
 * TSN belong to the token and are 0 while it is elsewhere; TSV is 'R' or 'N'.
 */
struct state {
	uint64_t SN, TSN;
	uint8_t SV, TSV;
	uint8_t padding[6];
};

static size_t state_size(const struct site *site)
{
	return site->nodes * sizeof(struct state);
}

/* Returns how many sites come before site j in the order of the staircase. */
static uint32_t step_of(const struct site *site, uint32_t j)
{
	return j >= site->holder ? j - site->holder : site->nodes - site->holder + j;
}

static void init(const struct site *site, void *state, struct out *out)
{
	struct state *of = state;

	(void)out;
	for (uint32_t j = 1; j <= site->nodes; j++) {
		of[j - 1].SV = step_of(site, j) < step_of(site, site->self) ? 'R' : 'N';
		if (site->self == site->holder)
			of[j - 1].TSV = 'N';
	}
	if (site->self == site->holder)
		of[site->self - 1].SV = 'H';
}

static void write_request(const struct site *site, const struct state *of, struct out *out)
{
	out_message(out, REQUEST);
	out_uint(out, site->self);
	out_uint(out, of[site->self - 1].SN);
}

static void enter(struct state *self, struct out *out)
{
	self->SV = 'E';
	out_enter(out);
}

static void request(const struct site *site, void *state, struct out *out)
{
	struct state *of = state, *self = &of[site->self - 1];

	if (self->SV == 'H') {
		enter(self, out);
		return;
	}
	self->SV = 'R';
	self->SN++;
	write_request(site, of, out);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		if (j != site->self && of[j - 1].SV == 'R')
			out_send(out, j);
	}
}

/* In the message each site is one number: twice its TSN, plus one if it waits. */
static void send_privilege(const struct site *site, struct state *of, uint32_t to, struct out *out)
{
	out_message(out, PRIVILEGE);
	for (uint32_t j = 1; j <= site->nodes; j++) {
		out_uint(out, of[j - 1].TSN << 1 | (of[j - 1].TSV == 'R'));
		of[j - 1].TSN = 0;
		of[j - 1].TSV = 0;
	}
	out_send(out, to);
	of[site->self - 1].SV = 'N';
}

/* Merges the vectors of the site and the token. For each site the entry with the higher number
 * wins; if the numbers are equal, the token's entry wins. */
static void merge(const struct site *site, struct state *of)
{
	for (uint32_t j = 0; j < site->nodes; j++) {
		if (of[j].SN > of[j].TSN) {
			of[j].TSV = of[j].SV;
			of[j].TSN = of[j].SN;
		} else {
			of[j].SV = of[j].TSV;
			of[j].SN = of[j].TSN;
		}
	}
}

static void release(const struct site *site, void *state, struct out *out)
{
	struct state *of = state, *self = &of[site->self - 1];

	self->SV = 'N';
	self->TSV = 'N';
	merge(site, of);
	/* The search goes round robin, so that no site that the token knows of is passed over
	 * forever. */
	for (uint32_t k = 1; k < site->nodes; k++) {
		uint32_t j = (site->self - 1 + k) % site->nodes + 1;
		if (of[j - 1].TSV == 'R') {
			send_privilege(site, of, j, out);
			return;
		}
	}
	self->SV = 'H';
}

static bool is_token_here(const struct state *self)
{
	return self->SV == 'E' || self->SV == 'H';
}

/* j asks for the token and was not served yet. */
static void on_new_request(const struct site *site, struct state *of, uint32_t j, uint64_t sn,
                           struct out *out)
{
	struct state *self = &of[site->self - 1];
	bool was_known = of[j - 1].SV == 'R';

	of[j - 1].SN = sn;
	of[j - 1].SV = 'R';
	if (self->SV == 'H') {
		of[j - 1].TSN = sn;
		of[j - 1].TSV = 'R';
		send_privilege(site, of, j, out);
	} else if (self->SV == 'R' && !was_known) {
		/* This site has not asked j, but the token may come to j first. */
		write_request(site, of, out);
		out_send(out, j);
	}
}

/*
 * The REQUEST is outdated: since it was sent, j has asked again or was served. When j sent it, j
 * believed that this site was requesting, but may have dropped that belief when it left. If this
 * site does not believe j to be requesting either, neither of the two would ever ask the other. So
 * from now on this site asks j. And if this site has the token or waits for it, j should ask it, so
 * it sends j a REQUEST of its own.
 */
static void on_outdated_request(const struct site *site, struct state *of, uint32_t j,
                                struct out *out)
{
	/* Printed in the textbooks: "if sn <= SN[j], the REQUEST is outdated and ignored". */
	if (site->parameters[0] & PRINTED_OUTDATED)
		return;
	if (of[j - 1].SV == 'R')
		return;
	of[j - 1].SV = 'R';
	if (of[site->self - 1].SV != 'N') {
		write_request(site, of, out);
		out_send(out, j);
	}
}

static void on_request(const struct site *site, struct state *of, uint32_t j, uint64_t sn,
                       struct out *out)
{
	bool by_site = sn <= of[j - 1].SN;
	bool by_token = is_token_here(&of[site->self - 1]) && sn <= of[j - 1].TSN;

	/* The textbooks compare with SN alone. That is enough for their rule, because a site with
	 * the token has merged its vectors with the token's. */
	if (by_site || (by_token && !(site->parameters[0] & PRINTED_OUTDATED)))
		on_outdated_request(site, of, j, out);
	else
		on_new_request(site, of, j, sn, out);
}

static int receive_request(const struct site *site, struct state *of, struct in *in,
                           struct out *out)
{
	uint32_t j = (uint32_t)in_range(in, 1, site->nodes);
	uint64_t sn = in_range(in, 0, NUMBER_MAX);

	if (!in_end(in) || j == site->self)
		return BATON_EMESSAGE;
	on_request(site, of, j, sn, out);
	return 0;
}

/* Is the token for this site? It must serve the site's last request. */
static bool is_for(const struct site *site, const struct state *self, struct in in)
{
	bool asked = self->SV == 'R';

	for (uint32_t j = 1; j <= site->nodes; j++) {
		uint64_t entry = in_uint(&in);
		if (j == site->self && entry != (self->SN << 1 | 1))
			asked = false;
	}
	return in_end(&in) && asked;
}

static int receive_privilege(const struct site *site, struct state *of, struct in *in,
                             struct out *out)
{
	if (!is_for(site, &of[site->self - 1], *in))
		return BATON_EMESSAGE;
	for (uint32_t j = 0; j < site->nodes; j++) {
		uint64_t entry = in_uint(in);
		of[j].TSN = entry >> 1;
		of[j].TSV = entry & 1 ? 'R' : 'N';
	}
	enter(&of[site->self - 1], out);
	return 0;
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct in in = in_message(message);

	switch (message->body[0]) {
	case REQUEST:
		return receive_request(site, state, &in, out);
	case PRIVILEGE:
		return receive_privilege(site, state, &in, out);
	default:
		return BATON_EMESSAGE;
	}
}

static bool has_privilege(const struct site *site, const void *state)
{
	return is_token_here((const struct state *)state + site->self - 1);
}

static void write_letters(struct writer *writer, const struct state *of, uint32_t count, bool token)
{
	writer_open(writer, '[');
	for (uint32_t j = 0; j < count; j++)
		writer_string(writer, (const char[]){(char)(token ? of[j].TSV : of[j].SV), '\0'});
	writer_close(writer, ']');
}

static void write_numbers(struct writer *writer, const struct state *of, uint32_t count, bool token)
{
	writer_open(writer, '[');
	for (uint32_t j = 0; j < count; j++)
		writer_uint(writer, token ? of[j].TSN : of[j].SN);
	writer_close(writer, ']');
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	writer_key(writer, "SV");
	write_letters(writer, state, site->nodes, false);
	writer_key(writer, "SN");
	write_numbers(writer, state, site->nodes, false);
	writer_key(writer, "TSV");
	if (!has_privilege(site, state)) {
		writer_null(writer);
		writer_key(writer, "TSN");
		writer_null(writer);
		return;
	}
	write_letters(writer, state, site->nodes, true);
	writer_key(writer, "TSN");
	write_numbers(writer, state, site->nodes, true);
}

static void show(const struct message *message, struct writer *writer)
{
	struct in in = in_message(message);
	struct in again = in;

	writer_open(writer, '(');
	if (message->body[0] == REQUEST) {
		writer_uint(writer, in_uint(&in));
		writer_uint(writer, in_uint(&in));
	} else {
		while (in.next < in.end)
			writer_text(writer, in_uint(&in) & 1 ? "R" : "N");
		writer->comma = true;
		writer_open(writer, '[');
		while (again.next < again.end)
			writer_uint(writer, in_uint(&again) >> 1);
		writer_close(writer, ']');
	}
	writer_close(writer, ')');
}

static uint32_t origin(const struct message *message)
{
	struct in in = in_message(message);
	return message->body[0] == REQUEST ? (uint32_t)in_uint(&in) : 0;
}

/* SV of another site is R or N, and TSV and TSN are 0 unless the token is here. */
static bool vectors_are_well_formed(const struct site *site, const void *state)
{
	const struct state *of = state;
	bool token = has_privilege(site, state);

	for (uint32_t j = 1; j <= site->nodes; j++) {
		const struct state *entry = &of[j - 1];
		if (j != site->self && entry->SV != 'R' && entry->SV != 'N')
			return false;
		if (token ? entry->TSV != 'R' && entry->TSV != 'N'
		          : entry->TSV != 0 || entry->TSN != 0)
			return false;
	}
	return true;
}

static const struct state *entry_of(const struct snapshot *snapshot, uint32_t i, uint32_t j)
{
	return (const struct state *)snapshot->states[i - 1] + (j - 1);
}

/* A site that waits according to the token does wait, with that number. So the token goes only
 * to sites that wait. */
static bool token_knows_who_waits(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes; i++) {
		if (!is_token_here(entry_of(snapshot, i, i)))
			continue;
		for (uint32_t j = 1; j <= nodes; j++) {
			const struct state *token = entry_of(snapshot, i, j);
			const struct state *self = entry_of(snapshot, j, j);
			if (token->TSN > self->SN)
				return false;
			if (j != i && token->TSV == 'R' &&
			    (self->SV != 'R' || token->TSN != self->SN))
				return false;
		}
	}
	return true;
}

static bool is_asking(const struct snapshot *snapshot, uint32_t from, uint32_t to)
{
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct flight *flight = &snapshot->flights[k];
		if (flight->to == to && flight->origin == from)
			return true;
	}
	return false;
}

/*
 * The staircase ensures this: of any two sites, at least one asks the other when it wants to enter.
 * The printed text breaks this invariant and the next, so they do not apply to it.
 */
static bool is_mended(const struct network *network)
{
	return (network->parameters[0] & PRINTED_OUTDATED) == 0;
}

static bool of_two_one_asks_the_other(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes; i++) {
		for (uint32_t j = 1; j < i; j++) {
			if (entry_of(snapshot, i, j)->SV != 'R' &&
			    entry_of(snapshot, j, i)->SV != 'R' && !is_asking(snapshot, i, j) &&
			    !is_asking(snapshot, j, i))
				return false;
		}
	}
	return true;
}

/*
 * Each site will ask the site that has the token: it believes that site to be requesting, or will
 * soon. In the second case a REQUEST of that site is on its way to it, or its own REQUEST is on its
 * way there and will be answered with one.
 */
static bool who_has_the_token_is_asked(const struct snapshot *snapshot)
{
	uint32_t nodes = snapshot->network->graph.nodes;

	for (uint32_t i = 1; i <= nodes; i++) {
		if (!is_token_here(entry_of(snapshot, i, i)))
			continue;
		for (uint32_t j = 1; j <= nodes; j++) {
			if (j != i && entry_of(snapshot, j, i)->SV != 'R' &&
			    !is_asking(snapshot, i, j) &&
			    (entry_of(snapshot, i, j)->SV == 'R' || !is_asking(snapshot, j, i)))
				return false;
		}
	}
	return true;
}

const struct algorithm singhal = {
        .name = "singhal",
        .title =
                "Singhal: ask the sites that seem to be asking; the token carries what it has seen",
        .year = 1989,
        .source = SOURCE_RECONSTRUCTED,
        .rules = "Neilsen 2.5",
        .nodes_checked = 4,
        .nodes_checked_twice = 3,
        .grows = "sequence numbers",
        .kind = KIND_MUTEX,
        .links = GRAPH_COMPLETE,
        .topology = "complete",
        .has_token = true,
        .claim_messages = "0 to N",
        .claim_delay = "1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [REQUEST] = {.name = "REQUEST", .role = ROLE_ASKS},
                        [PRIVILEGE] = {.name = "PRIVILEGE", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"SV", VARIABLE_ROW},
                        {"SN", VARIABLE_ROW},
                        {"TSV", VARIABLE_ROW},
                        {"TSN", VARIABLE_ROW},
                        {NULL, VARIABLE_PLAIN},
                },
        .parameters =
                (const struct parameter[]){
                        {
                                .name = "text",
                                .help = "printed: an outdated REQUEST is ignored",
                                .choices =
                                        (const struct parameter_choice[]){
                                                {"mended", 0},
                                                {"printed", PRINTED_OUTDATED},
                                                {"printed:outdated", PRINTED_OUTDATED},
                                                {NULL, 0},
                                        },
                        },
                        {.name = NULL},
                },
        .invariants =
                (const struct invariant[]){
                        {.name = "vectors_are_well_formed",
                         .meaning = "SV of another node is R or N, and TSV and TSN are empty where "
                                    "the token is not",
                         .local = vectors_are_well_formed},
                        {.name = "token_knows_who_waits",
                         .meaning = "a node that waits according to the token does wait, with that "
                                    "number",
                         .global = token_knows_who_waits},
                        {.name = "of_two_one_asks_the_other",
                         .meaning = "of two nodes one takes the other to be requesting, or soon "
                                    "will: its REQUEST is in flight",
                         .applies = is_mended,
                         .global = of_two_one_asks_the_other},
                        {.name = "who_has_the_token_is_asked",
                         .meaning = "a node that wants in asks the node that has the token, or "
                                    "will be told to",
                         .applies = is_mended,
                         .global = who_has_the_token_is_asked},
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
        .origin = origin,
};
