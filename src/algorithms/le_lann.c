/*
 * Le Lann's ring: a token that goes round forever.
 *
 * Gérard Le Lann, "Distributed Systems: Towards a Formal Approach", IFIP Congress, Toronto, August
 * 1977, pages 155-160; as described by Michel Raynal, chapter 2, "Election and Mutual Exclusion
 * Algorithms", section 4.1, "A token circulating on a logical ring".
 *
 * The node that has the token may enter. When it is done, or if it does not want to enter, it
 * passes the token to its successor. Nodes never ask, so an entry costs one message when all want
 * to enter, and any number of messages when nobody does.
 *
 * Network: a ring with one direction, no loss. There is only one message, so order does not matter.
 * If the token is lost, everybody waits forever; Misra's algorithm mends that.
 *
 * Departures. Raynal's protocol, "wait (token); <critical section>; send (token)", describes only
 * processes that want to enter. A process that does not must pass the token on, and does so in the
 * same step. At the start the token is on its way from the holder to its successor.
 */
#include "algorithm.h"

enum { TOKEN, MESSAGES_COUNT };

enum { USING_NOT, USING_WAITS, USING_INSIDE };

struct state {
	/* Whether the process waits or is inside; inside means that the token is here. */
	uint8_t using;
	uint8_t padding[7];
};

static size_t state_size(const struct site *site)
{
	(void)site;
	return sizeof(struct state);
}

static void send_token(const struct site *site, struct out *out)
{
	out_message(out, TOKEN);
	out_send_side(out, site, SIDE_RIGHT);
}

static void init(const struct site *site, void *state, struct out *out)
{
	(void)state;
	if (site->self == site->holder)
		send_token(site, out);
}

static void request(const struct site *site, void *state, struct out *out)
{
	(void)site;
	(void)out;
	((struct state *)state)->using = USING_WAITS;
}

static void release(const struct site *site, void *state, struct out *out)
{
	((struct state *)state)->using = USING_NOT;
	send_token(site, out);
}

static void on_token(const struct site *site, struct state *node, struct out *out)
{
	if (node->using == USING_WAITS) {
		node->using = USING_INSIDE;
		out_enter(out);
	} else {
		send_token(site, out);
	}
}

static int receive(const struct site *site, void *state, const struct message *message,
                   struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);

	if (!in_end(&in) || message->body[0] != TOKEN || message->side != SIDE_LEFT)
		return BATON_EMESSAGE;
	if (node->using == USING_INSIDE) /* the token is here already, so this is a second one */
		return BATON_EMESSAGE;
	on_token(site, node, out);
	return 0;
}

static bool has_privilege(const struct site *site, const void *state)
{
	(void)site;
	return ((const struct state *)state)->using == USING_INSIDE;
}

static void describe(const struct site *site, const void *state, struct writer *writer)
{
	writer_key(writer, "token");
	writer_bool(writer, has_privilege(site, state));
}

static void show(const struct message *message, struct writer *writer)
{
	(void)message;
	(void)writer;
}

const struct algorithm le_lann = {
        .name = "le-lann",
        .title = "Le Lann: a token that goes round for ever",
        .year = 1977,
        .source = SOURCE_ACCOUNT,
        .rules = "Raynal 4.1",
        .nodes_checked = 5,
        .kind = KIND_MUTEX,
        .links = GRAPH_RING,
        .one_way = true,
        .topology = "ring",
        .has_token = true,
        .circulates = true,
        .claim_messages = "1 to N",
        .claim_delay = "1 to N-1",
        .messages =
                (const struct message_type[MESSAGES_COUNT]){
                        [TOKEN] = {.name = "TOKEN", .role = ROLE_PERMITS, .token = true},
                },
        .messages_count = MESSAGES_COUNT,
        .variables =
                (const struct variable[]){
                        {"token", VARIABLE_PLAIN},
                        {NULL, VARIABLE_PLAIN},
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
