/*
 * A member of the cluster, without I/O: the lock node, the engine that knows who belongs to the
 * cluster, and a link to each peer, with everything that decides what is taken from whom: handshakes,
 * redialling, acknowledgements, views. A driver carries bytes between connections and this.
 *
 * In: the bytes of a connection, commands of clients (to member_node), the time. Out: bytes for a
 * connection (connection_output), and effects: whom to dial, which connection to close, what the node
 * wants, what the log should say. The same calls give the same bytes and effects.
 *
 * Time is CLOCK_BOOTTIME in nanoseconds and never goes back. Whoever drives a member calls
 * member_tick at member_deadline at the latest.
 *
 * Effects are taken after each call, until there is none; they are done in their order, and before
 * output is written. An effect's pointers are good until the next call with this member or its node.
 *
 * Of two members the one whose name comes first dials. Whoever is dialled checks who it is, and
 * refuses with a sentence that both sides log.
 */
#ifndef MEMBER_MEMBER_H
#define MEMBER_MEMBER_H

#include "engine.h"
#include "node.h"

struct member;

/* A connection with a peer, or with somebody who has not said yet who it is. */
struct connection;

struct member_peer {
	const char *name;
	const char *address; /* for STATUS; may be NULL */
	bool linked;         /* does the topology want a link to it? Not to oneself */
};

/* All is copied, except that texts of the node's options must stay. */
struct member_options {
	const char *cluster;             /* its name */
	const struct member_peer *peers; /* sorted by name, this member among them */
	uint32_t peers_count;
	uint32_t self;        /* its index */
	uint64_t incarnation; /* of this process */
	struct engine_proposal proposal;
	uint64_t lease_ms;        /* the same at all members */
	struct node_options node; /* name, incarnation and cluster are filled in */
	uint64_t quiet_until;     /* no view is entered before this time */
	size_t kept_max; /* bytes kept for a peer that does not take them, before the epoch ends; 0: 64 MiB */
};

/* NULL, and a sentence that says which option is wrong. Peers are dialled from the first tick on. */
struct member *member_create(const struct member_options *options, const char **ret_wrong);
/* All connections have been closed (member_closed). */
void member_destroy(struct member *member);

/* Commands of clients go to the node itself. */
struct node *member_node(const struct member *member);

uint64_t member_deadline(const struct member *member);
void member_tick(struct member *member, uint64_t now);

/* --- connections --- */

/* Somebody has connected, from that address. `user` is the driver's. */
struct connection *member_accepted(struct member *member, const char *from, void *user,
                                   uint64_t now);
/* What was dialled (MEMBER_DIAL) stands. */
void member_dialled(struct member *member, struct connection *connection, uint64_t now);
/* Bytes that have come. They are not needed after the call. */
void member_input(struct member *member, struct connection *connection, const uint8_t *bytes,
                  size_t size, uint64_t now);
/*
 * The connection is closed: by the other side, by an error (`why`, or NULL), because it could not be
 * dialled, or because the driver was told to (MEMBER_CLOSE). To be called exactly once for each; after
 * it the connection does not exist any more.
 */
void member_closed(struct member *member, struct connection *connection, const char *why,
                   uint64_t now);

/* The bytes to write, in one piece, 0: none; good until the next call with this member. Then how many
 * of them were written. */
size_t connection_output(struct connection *connection, const uint8_t **ret_bytes);
void connection_written(struct connection *connection, size_t size);
/* Should it be read now? Not while the node does not want the next frame. */
bool connection_reads(const struct connection *connection);
/* Nothing will follow the output: when it is written, the sending side is shut down. */
bool connection_ends(const struct connection *connection);
void *connection_user(const struct connection *connection);

/* One that has output or whose answers to the two questions above have changed; NULL: none is left. */
struct connection *member_changed(struct member *member);

/* --- the end --- */

/* No peer is dialled, no view entered any more. */
void member_leave(struct member *member);
/* Tells all peers that this member has left, so that they need not guess. */
void member_say_goodbye(struct member *member);
/* Has everything arrived at those who can be reached? */
bool member_quiet(const struct member *member);

/* --- what operators want to know --- */

/* Peers that this member wants a connection to and has none: "n2, n3"; NULL: none. */
const char *member_missing(struct member *member);
/* Members that the engine knows nothing of yet; NULL: none. */
const char *member_unknown(struct member *member);
/* Why a peer refuses to talk to us, or has left; NULL: none does. */
const char *member_refusal(const struct member *member);
/* Now and then: complains of peers that are connected and take nothing. */
void member_watch(struct member *member, uint64_t now);

/* A complaint of the driver's about whom it should connect to; the same again only now and then. */
void connection_complain(const struct connection *connection, const char *text);

/* --- effects --- */

enum member_effect_kind {
	MEMBER_NODE,  /* what the node wants: NODE_REPLY, NODE_EVENT, NODE_LOST or NODE_STOP */
	MEMBER_DIAL,  /* connect to a peer, then member_dialled or member_closed */
	MEMBER_CLOSE, /* close it, then member_closed */
	MEMBER_VIEW,  /* a view has been entered: what must outlive the process is to be kept now */
	MEMBER_LOG,
};

enum member_level { MEMBER_WARNING, MEMBER_INFO, MEMBER_DEBUG };

struct member_effect {
	enum member_effect_kind kind;
	union {
		struct node_effect node;
		struct {
			struct connection *connection;
			uint32_t peer; /* an index into the options' peers */
		} dial;
		struct connection *close;
		struct {
			uint64_t epoch, floor;
			const struct engine_member *members; /* sorted by name */
			uint32_t members_count;
			bool served; /* false: the node says why it serves nobody in it */
		} view;
		struct {
			enum member_level level;
			const char *text;
		} log;
	};
};

/* The driver's part of a connection that was dialled. */
void connection_set_user(struct connection *connection, void *user);

/* The next effect; false: there is none. */
bool member_effect(struct member *member, struct member_effect *ret_effect);

#endif
