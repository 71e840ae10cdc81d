/*
 * Misra's algorithm with any number of tokens.
 *
 * Michel Raynal, chapter 2, section 4.2: "the algorithm can be generalized to use any number of
 * tokens, when it will work so long as one remains on the ring". The chapter says no more, so the
 * rules below are a reconstruction. They keep its principle: a token can tell that another is lost
 * if neither it nor the process where it arrives has encountered the other since its last passage
 * there.
 *
 * The tokens are 1..K. Token 1 is PING, the privilege; the others are PONGs.
 *
 * - m of a process lists the tokens in the order in which they last left it, the latest first. When
 *   token a arrives, the tokens before a in m have passed here since a's last passage; the others
 *   are missing.
 * - PING stays in a critical section, and a PONG that comes there meets it and overtakes it. From
 *   then on PING may be missing in m of the processes ahead although it is not lost. So a token
 *   counts its hops since such a meeting, and draws no conclusion before it has gone once round.
 *   The same holds for a token that was just made, because m still lists the passages of the lost
 *   one. It also holds for the token that made the new one, because it overtakes PING if PING stays
 *   where it was made.
 * - Several tokens may notice the same loss at the same time, but only one may make the lost token
 *   again: the one with the lowest number among those that are not missing. It makes all tokens
 *   that are missing. A token that was not lost during another token's last round was seen by that
 *   token. So no two tokens both believe that they are the lowest.
 */
#include "misra_tokens.h"

#include "network.h"

#include <string.h>

enum { TOKEN_PING = 1 };

enum { USING_NOT, USING_WAITS, USING_INSIDE };

struct state {
	/* The hops of PING while this process holds it, that is, while it is inside; else 0. */
	uint32_t hops;
	uint8_t using;
	/* The tokens in the order in which they last left, the latest first; 0 after the last. */
	uint8_t m[];
};

size_t misra_tokens_state_size(uint32_t tokens)
{
	return sizeof(struct state) + tokens;
}

/* Puts a token that leaves to the front of m. */
static void remember(uint32_t tokens, struct state *node, uint8_t token)
{
	uint32_t place = 0;

	while (place < tokens - 1 && node->m[place] != 0 && node->m[place] != token)
		place++;
	memmove(node->m + 1, node->m, place);
	node->m[0] = token;
}

/* Reads a number from `least` to `most` that is encoded as a signed number. */
static uint32_t read_number(struct in *in, uint32_t least, uint32_t most)
{
	int64_t value = in_int(in);

	if (value < least || value > most)
		in->bad = true;
	return in->bad ? 0 : (uint32_t)value;
}

/* Sends a token. `hops` is how many hops it has made so far since it was made or met PING. */
static void send_token(const struct site *site, uint32_t tokens, struct state *node, uint8_t token,
                       uint32_t hops, struct out *out)
{
	out_message(out, token == TOKEN_PING ? MISRA_PING : MISRA_PONG);
	if (token != TOKEN_PING)
		out_int(out, token);
	out_int(out, hops < site->nodes ? hops + 1 : hops);
	out_send_side(out, site, SIDE_RIGHT);
	remember(tokens, node, token);
}

/* "Initially the two tokens are both in an arbitrarily chosen process". */
void misra_tokens_init(const struct site *site, uint32_t tokens, void *state, struct out *out)
{
	for (uint8_t token = 1; token <= tokens && site->self == site->holder; token++)
		send_token(site, tokens, state, token, 0, out);
}

void misra_tokens_request(void *state)
{
	((struct state *)state)->using = USING_WAITS;
}

void misra_tokens_release(const struct site *site, uint32_t tokens, void *state, struct out *out)
{
	struct state *node = state;

	node->using = USING_NOT;
	send_token(site, tokens, node, TOKEN_PING, node->hops, out);
	node->hops = 0;
}

/* PING has arrived. It stays if the process waits for it. */
static void take_ping(const struct site *site, uint32_t tokens, struct state *node, uint32_t hops,
                      struct out *out)
{
	if (node->using == USING_WAITS) {
		node->using = USING_INSIDE;
		node->hops = hops;
		out_enter(out);
	} else {
		send_token(site, tokens, node, TOKEN_PING, hops, out);
	}
}

static bool is_missing(uint32_t tokens, const struct state *node, uint8_t arrived, uint8_t token)
{
	for (uint32_t place = 0; place < tokens && node->m[place] != arrived; place++) {
		if (node->m[place] == token)
			return false;
	}
	return token != arrived;
}

/* May the token that arrived make the missing ones? Only if it is the lowest that is left: all
 * tokens below it must be missing. */
static bool is_least(uint32_t tokens, const struct state *node, uint8_t arrived)
{
	for (uint8_t token = 1; token < arrived; token++) {
		if (!is_missing(tokens, node, arrived, token))
			return false;
	}
	return true;
}

/* Makes every token that is missing, and sends it on. Returns true if there was one. */
static bool regenerate(const struct site *site, uint32_t tokens, struct state *node,
                       uint8_t arrived, struct out *out)
{
	bool missing[MISRA_TOKENS_MAX + 1] = {false};
	bool any = false;

	must(tokens <= MISRA_TOKENS_MAX);
	/* NOLINTBEGIN(bugprone-too-small-loop-variable): MISRA_TOKENS_MAX is small. */
	for (uint8_t token = 1; token <= tokens; token++) {
		missing[token] = is_missing(tokens, node, arrived, token);
		any = any || missing[token];
	}
	for (uint8_t token = 1; token <= tokens; token++) {
		if (!missing[token])
			continue;
		out_regenerated(out);
		if (token == TOKEN_PING)
			take_ping(site, tokens, node, 0, out);
		else
			send_token(site, tokens, node, token, 0, out);
	}
	return any;
	/* NOLINTEND(bugprone-too-small-loop-variable) */
}

static void on_token(const struct site *site, uint32_t tokens, struct state *node, uint8_t token,
                     uint32_t hops, struct out *out)
{
	bool meets = token != TOKEN_PING && node->using == USING_INSIDE;

	if (!meets && hops == site->nodes && is_least(tokens, node, token) &&
	    regenerate(site, tokens, node, token, out))
		hops = 0;
	if (meets)
		hops = 0;
	if (token == TOKEN_PING)
		take_ping(site, tokens, node, hops, out);
	else
		send_token(site, tokens, node, token, hops, out);
}

int misra_tokens_receive(const struct site *site, uint32_t tokens, void *state,
                         const struct message *message, struct out *out)
{
	struct state *node = state;
	struct in in = in_message(message);
	uint8_t type = message->body[0], token = TOKEN_PING;

	if (type >= MISRA_MESSAGES_COUNT || message->side != SIDE_LEFT)
		return BATON_EMESSAGE;
	if (type == MISRA_PONG)
		token = (uint8_t)read_number(&in, TOKEN_PING + 1, tokens);
	uint32_t hops = read_number(&in, 1, site->nodes);
	/* While PING is held here, no second PING can arrive. */
	if (!in_end(&in) || (type == MISRA_PING && node->using == USING_INSIDE))
		return BATON_EMESSAGE;
	on_token(site, tokens, node, token, hops, out);
	return 0;
}

bool misra_tokens_inside(const void *state)
{
	return ((const struct state *)state)->using == USING_INSIDE;
}

void misra_tokens_describe(uint32_t tokens, const void *state, struct writer *writer)
{
	const struct state *node = state;

	writer_key(writer, "m");
	writer_open(writer, '[');
	for (uint32_t place = 0; place < tokens && node->m[place] != 0; place++)
		writer_uint(writer, node->m[place]);
	writer_close(writer, ']');
	writer_key(writer, "hops");
	if (misra_tokens_inside(state))
		writer_uint(writer, node->hops);
	else
		writer_null(writer);
}

bool misra_tokens_one_of_each(const struct snapshot *snapshot, uint32_t tokens, uint8_t type)
{
	uint32_t seen[MISRA_TOKENS_MAX + 1] = {0};

	for (uint32_t i = 0; i < snapshot->network->graph.nodes && type == MISRA_PING; i++)
		seen[TOKEN_PING] += misra_tokens_inside(snapshot->states[i]);
	for (size_t k = 0; k < snapshot->flights_count; k++) {
		const struct message *message = &snapshot->flights[k].message;
		struct in in = in_message(message);
		if (message->body[0] == type)
			seen[type == MISRA_PING ? TOKEN_PING : in_int(&in)]++;
	}
	for (uint32_t token = 1; token <= tokens; token++) {
		if (seen[token] > 1)
			return false;
	}
	return true;
}
