#include "peer.h"

#include "member_state.h"
#include "outcome.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { SAME_LINE_MS = 10000 /* the least time between equal log lines about a peer */ };

void peer_complain(struct peer *peer, const char *text)
{
	struct member *member = peer->member;
	uint64_t hash = XXH3_64bits(text, strlen(text));

	if (hash == peer->line_hash && member->now < peer->line_at + SAME_LINE_MS * MS)
		return;
	peer->line_hash = hash;
	peer->line_at = member->now;
	member_log(member, MEMBER_WARNING, "%s: %s", peer->name, text);
}

void peer_complain_of_refusal(struct peer *peer, const char *why)
{
	char text[LINK_TEXT_MAX + 64];

	snprintf(text, sizeof(text), "it ends the connection: %s", why);
	snprintf(peer->refusal, sizeof(peer->refusal), "%.255s", why);
	peer_complain(peer, text);
}
