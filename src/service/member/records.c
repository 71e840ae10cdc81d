#include "records.h"

#include "baton/error.h"
#include "member_state.h"
#include "views.h"

enum {
	ACKNOWLEDGE_MS = 100, /* a frame is acknowledged after this time at the latest */
	/* If more bytes than this wait for a peer, it gets no events. Far below what ends an
	 * epoch. */
	CONGESTED_SIZE = 1 << 20,
};

/* Tells the node whether the link to the peer has become congested, or no longer is. */
static void look_at_congestion(struct peer *peer)
{
	struct member *member = peer->member;
	size_t pending = link_pending(peer->link);
	bool congested = pending > (peer->congested ? CONGESTED_SIZE / 2 : CONGESTED_SIZE);

	if (congested == peer->congested)
		return;
	peer->congested = congested;
	if (congested)
		peer_complain(peer,
		              "does not read fast enough: it is sent no events until it does");
	node_congested(member->node, (uint32_t)(peer - member->peers) + 1, congested, member->now);
}

void records_send(struct peer *peer, uint64_t epoch, const uint8_t *bytes, size_t size)
{
	must(peer->link != NULL);
	if (link_send(peer->link, epoch, bytes, size) != 0) {
		peer_complain(peer,
		              "takes no messages, and too many wait for it: the epoch must end");
		engine_bump(peer->member->engine, epoch);
		views_spread(peer->member);
		views_enter(peer->member);
		return;
	}
	if (peer->connection != NULL)
		connection_changed(peer->connection);
	look_at_congestion(peer);
}

/* --- input --- */

static void acknowledge_later(struct member *member)
{
	if (member->acknowledge_at != NODE_NEVER)
		return;
	member->acknowledge_at = member->now + ACKNOWLEDGE_MS * MS;
	member_due(member, member->acknowledge_at);
}

/* Takes a notice of the peer's engine. */
static void take_notice(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct member *member = connection->member;
	struct peer *peer = connection->peer;
	const char *text;

	if (engine_notice(member->engine, peer->name, bytes, size, &text) == 0) {
		views_spread(member);
		views_enter(member);
		return;
	}
	peer_complain(peer, text);
	link_refuse(peer->link, text);
	connection_end(connection);
}

/* Offers a frame to the node. Returns false if the node does not want it yet. */
static bool take_frame(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct member *member = connection->member;
	struct peer *peer = connection->peer;

	if (!engine_agrees(member->engine, peer->name)) {
		peer_complain(peer, "sent a frame before it agreed on the view");
		connection_close(connection);
		return true;
	}
	int error = node_receive(member->node, peer->name, bytes, size, member->now);
	if (error == BATON_EAGAIN)
		return false;
	link_take(peer->link);
	if (error != 0)
		peer_complain(peer, "sent a frame that is refused: malformed, or not its own");
	acknowledge_later(member);
	return true;
}

/* Takes the records that have arrived, as far as the node wants them. */
static void take_records(struct connection *connection)
{
	struct peer *peer = connection->peer;
	const uint8_t *bytes;
	size_t size;

	while (connection->state == CONNECTION_UP) {
		switch (link_next(peer->link, &bytes, &size)) {
		case LINK_NOTHING:
			return;
		case LINK_BROKEN:
			peer_complain(peer, (const char *)bytes);
			connection_close(connection);
			return;
		case LINK_REFUSED:
			peer_complain_of_refusal(peer, (const char *)bytes);
			connection_close(connection);
			return;
		case LINK_NOTICE:
			take_notice(connection, bytes, size);
			break;
		case LINK_FRAME:
			if (!take_frame(connection, bytes, size)) {
				peer->stalled = true;
				connection_changed(connection);
				return;
			}
			break;
		}
	}
}

void records_input(struct connection *connection, const uint8_t *bytes, size_t size)
{
	struct peer *peer = connection->peer;

	link_input(peer->link, bytes, size);
	take_records(connection);
	if (connection->state != CONNECTION_UP)
		return;
	if (peer->stalled)
		link_keep(peer->link);
	if (peer->congested)
		look_at_congestion(peer);
	if (link_wants_ack(peer->link))
		connection_changed(connection);
}

void records_read_again(struct peer *peer)
{
	if (!peer->stalled)
		return;
	peer->stalled = false;
	connection_changed(peer->connection);
	take_records(peer->connection);
}
