/*
 * A member of the cluster, without I/O. It joins the lock node, the engine that knows who belongs
 * to the cluster, and a link to each peer, and decides what is taken from whom: handshakes,
 * redialling, acknowledgements, views. A driver carries the bytes of connections.
 *
 * In: the bytes of a connection, commands of clients (to member_node), the time. Out: bytes for a
 * connection (connection_output), and effects: which peer to dial, which connection to close, what
 * the node wants, what to log. The same calls give the same bytes and effects.
 *
 * Time is CLOCK_BOOTTIME in nanoseconds and never goes back. The driver calls member_tick at
 * member_deadline at the latest.
 *
 * The driver takes effects after each call until there is none, and carries them out in order,
 * before output is written. An effect's pointers are valid until the next call with this member or
 * its node.
 *
 * Of two members, the one whose name comes first dials. The other one checks who it is, and refuses
 * with a sentence that both sides log.
 */
#ifndef MEMBER_MEMBER_H
#define MEMBER_MEMBER_H

#include "engine.h"
#include "node.h"

struct member;

/* A connection with a peer, or with a stranger that has not identified itself yet. */
struct connection;

struct member_peer {
	const char *name;
	const char *address; /* for STATUS; may be NULL */
	bool linked; /* the topology needs a link to it; always false for this member itself */
};

/* Everything is copied, but the texts in the node's options must stay valid. */
struct member_options {
	const char *cluster;             /* the name of the cluster */
	const struct member_peer *peers; /* sorted by name; this member is among them */
	uint32_t peers_count;
	uint32_t self;        /* the index of this member in `peers` */
	uint64_t incarnation; /* the incarnation of this process */
	struct engine_proposal proposal;
	uint64_t lease_ms;        /* the lease, which is the same at all members */
	struct node_options node; /* name, incarnation and cluster need not be set */
	uint64_t quiet_until;     /* no view is entered before this time */
	size_t kept_max; /* how many bytes may wait for a peer before the epoch ends; 0: 64 MiB */
};

/* Returns NULL and a sentence that says which option is wrong, on failure. Peers are dialled from
 * the first tick on. */
struct member *member_create(const struct member_options *options, const char **ret_wrong);
/* All connections must have been closed (member_closed). */
void member_destroy(struct member *member);

/* Commands of clients go directly to the node. */
struct node *member_node(const struct member *member);

uint64_t member_deadline(const struct member *member);
void member_tick(struct member *member, uint64_t now);

/* --- connections --- */

/* A connection from that address was accepted. `user` belongs to the driver. */
struct connection *member_accepted(struct member *member, const char *from, void *user,
                                   uint64_t now);
/* The connection that was dialled (MEMBER_DIAL) is open. */
void member_dialled(struct member *member, struct connection *connection, uint64_t now);
/* Takes bytes that have arrived. They are not needed after the call. */
void member_input(struct member *member, struct connection *connection, const uint8_t *bytes,
                  size_t size, uint64_t now);
/*
 * The connection is closed: by the other side, by an error (`why`, or NULL), because dialling
 * failed, or because the driver was told to (MEMBER_CLOSE). Must be called exactly once for each
 * connection, which does not exist any more afterwards.
 */
void member_closed(struct member *member, struct connection *connection, const char *why,
                   uint64_t now);

/* connection_output returns the bytes to write, in one piece; 0: there are none. Valid until the
 * next call with this member. Then connection_written tells how many of them were written. */
size_t connection_output(struct connection *connection, const uint8_t **ret_bytes);
void connection_written(struct connection *connection, size_t size);
/* True if the connection should be read now. False while the node does not want the next frame. */
bool connection_reads(const struct connection *connection);
/* True if nothing will follow the output: when it is written, the driver shuts down the sending
 * side. */
bool connection_ends(const struct connection *connection);
void *connection_user(const struct connection *connection);

/* Returns a connection that has output, or for which the two answers above have changed; NULL: none
 * is left. */
struct connection *member_changed(struct member *member);

/* --- the end --- */

/* From now on no peer is dialled and no view entered. */
void member_leave(struct member *member);
/* Tells all peers that this member has left, so that they need not guess. */
void member_say_goodbye(struct member *member);
/* True if everything has arrived at the peers that can be reached. */
bool member_quiet(const struct member *member);

/* --- what operators want to know --- */

/* Returns the peers to which this member wants a connection but has none, as "n2, n3"; NULL:
 * none. */
const char *member_missing(struct member *member);
/* Returns the members that the engine knows nothing about yet; NULL: none. */
const char *member_unknown(struct member *member);
/* Returns why a peer refuses to talk to us, or that it has left; NULL: none does. */
const char *member_refusal(const struct member *member);
/* Called now and then: logs peers that are connected and take nothing. */
void member_watch(struct member *member, uint64_t now);

/* Logs a complaint of the driver about the peer of this connection; an equal one again only now and
 * then. */
void connection_complain(const struct connection *connection, const char *text);

/* --- effects --- */

enum member_effect_kind {
	MEMBER_NODE,  /* what the node wants: NODE_REPLY, NODE_EVENT, NODE_LOST or NODE_STOP */
	MEMBER_DIAL,  /* connect to a peer, then call member_dialled or member_closed */
	MEMBER_CLOSE, /* close it, then call member_closed */
	MEMBER_VIEW,  /* a view was entered: what must survive the process is to be stored now */
	MEMBER_LOG,
};

enum member_level { MEMBER_WARNING, MEMBER_INFO, MEMBER_DEBUG };

struct member_effect {
	enum member_effect_kind kind;
	union {
		struct node_effect node;
		struct {
			struct connection *connection;
			uint32_t peer; /* the index of the peer in the options' peers */
		} dial;
		struct connection *close;
		struct {
			uint64_t epoch, floor;
			const struct engine_member *members; /* sorted by name */
			uint32_t members_count;
			bool served; /* false: the node serves nobody in this view, and says why */
		} view;
		struct {
			enum member_level level;
			const char *text;
		} log;
	};
};

/* Sets the driver's pointer of a connection that was dialled. */
void connection_set_user(struct connection *connection, void *user);

/* Returns the next effect, or false if there is none. */
bool member_effect(struct member *member, struct member_effect *ret_effect);

#endif
