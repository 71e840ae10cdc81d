/*
 * A member of the cluster, without I/O: the lock node with its links and its lease (resident.h), a
 * server of the voters' log if there is a data directory (voter.h), and the engine's connections
 * (post.h). The member decides on handshakes, on redialling, and on what it accepts from whom. A
 * driver only carries bytes and stores what must survive the process.
 *
 * A member begins in one of three ways. If its data directory belongs to a cluster, it goes on
 * there. If it is given a list of founders, perhaps only itself, all of them meet once and the
 * cluster is born (birth.h). If it is given addresses of a cluster, it asks there for the cluster's
 * charter. Before the member belongs to a cluster, it has a node that serves nobody. Then comes
 * MEMBER_SETTLE: the driver drops its clients and calls member_settle with the settings of the
 * cluster.
 *
 * Time is the lease clock in nanoseconds and never goes back. The driver calls member_tick at
 * member_deadline at the latest. It takes effects after each call until there is none, and carries
 * them out in order, before output is written. An effect's pointers are valid until the next call
 * to this member or its node. The same calls give the same bytes and effects.
 */
#ifndef MEMBER_MEMBER_H
#define MEMBER_MEMBER_H

#include "credentials.h"
#include "durable.h"
#include "identity.h"
#include "node.h"
#include "token.h"
#include "voter.h"
#include "wiring.h"

struct member;

/* A connection with a peer, or with a stranger that has not identified itself yet. */
struct connection;

struct member_peer {
	const char *name, *address;
};

/* Everything is copied, but the texts in the node's options must stay valid. */
struct member_options {
	uint64_t process; /* the random number of this process; not 0 */
	/* The identity in the data directory. Without a data directory: the name, the address, a
	 * server id that is not 0 if the member votes, and stage BIRTH_NOTHING. */
	const struct identity *identity;
	/* The voter's part of the data directory; NULL: this member never votes. */
	const struct durable_content *content;
	/* The founders, sorted by name, this member among them; none: the member joins a cluster,
	 * or belongs to one. */
	const struct member_peer *peers;
	uint32_t peers_count;
	const struct electors *addresses; /* other addresses of the cluster to try; may be NULL */
	const char *settings;             /* the settings of a cluster that is born now */
	uint64_t base;                    /* where the fences of a cluster that is born now begin */
	uint64_t begin_at;                /* a cluster is not born before this time */
	/* Options of the node that serves nobody, which exists until the member belongs to a
	 * cluster. */
	struct node_options node;
	struct electorate_options electorate;
	/* The keys with which this member proves who it is. They are not copied. NULL: there is no
	 * TLS. */
	const struct credentials *credentials;
	uint64_t (*draw)(void *context); /* returns a random number */
	/* Returns the wall clock in seconds since 1970. NULL: there is no TLS. */
	uint64_t (*real_s)(void *context);
	void *context;
};

/* Creates a member. On failure returns NULL and a sentence that says which option is wrong. */
struct member *member_create(const struct member_options *options, uint64_t now,
                             const char **ret_wrong);
/* Frees a member. All connections must have been closed (member_closed). */
void member_destroy(struct member *member);

/* The part of the cluster's settings that the member uses. */
struct member_settlement {
	/* The options of the node; name, cluster and lease need not be set. */
	struct node_options node;
	struct wiring wiring;
	uint64_t lease_ns;
};

/* Call it after MEMBER_SETTLE; it replaces the node, so that member_node returns another one.
 * Returns NULL, or a sentence that says what is wrong with the settings. */
const char *member_settle(struct member *member, const struct member_settlement *settlement,
                          uint64_t now);

/* Uses these credentials for all connections from now on; open connections stay. The member must
 * have had credentials since it was created. */
void member_renew_credentials(struct member *member, const struct credentials *credentials);

/* Returns the node. Commands of clients go directly to it. */
struct node *member_node(const struct member *member);
/* Returns the tenant, or NULL before the member belongs to a cluster. */
const struct tenant *member_tenant(const struct member *member);
/* Returns the voter, or NULL if this member never votes or does not belong to a cluster yet. */
const struct voter *member_voter(const struct member *member);
const struct identity *member_identity(const struct member *member);

uint64_t member_deadline(const struct member *member);
void member_tick(struct member *member, uint64_t now);

/* Tells the member that a MEMBER_WRITE, or a MEMBER_IDENTITY, is durable. Writes become durable in
 * order. */
void member_written(struct member *member, uint64_t number, uint64_t now);
void member_identity_written(struct member *member, uint64_t now);

/* The orders that an operator may give about a name. */
enum member_order {
	ORDER_INVITE,  /* the node may be a member again */
	ORDER_FORBID,  /* the node must leave, and may not come back */
	ORDER_PROMOTE, /* the node should vote, in preference to others */
	ORDER_DEMOTE,  /* another node should vote in place of this one */
};

/* Gives an operator's order to the voters. The member must belong to a cluster. Returns the number
 * that a MEMBER_ANSWERED will have. */
uint64_t member_order(struct member *member, enum member_order order, const char *name,
                      uint64_t now);

/* Makes an invitation: its secret has this digest (token.h), and it ends at `expiry_s`; `real_s` is
 * the wall clock. Returns the number that a MEMBER_ANSWERED will have. */
uint64_t member_invite(struct member *member, const uint8_t secret[TOKEN_DIGEST_SIZE],
                       uint64_t real_s, uint64_t expiry_s, uint64_t now);

/* --- connections --- */

/* Call it when a connection from that address was accepted. `user` belongs to the driver. */
struct connection *member_accepted(struct member *member, const char *from, void *user,
                                   uint64_t now);
/* Call it when the connection that was dialled (MEMBER_DIAL) is open. */
void member_dialled(struct member *member, struct connection *connection, uint64_t now);
/* Takes bytes that have arrived. The member does not need them after the call. */
void member_input(struct member *member, struct connection *connection, const uint8_t *bytes,
                  size_t size, uint64_t now);
/* Call it exactly once for each connection, when it is closed: by the other side, by an error
 * (`why`, or NULL), because dialling failed, or because of MEMBER_CLOSE. It frees the
 * connection. */
void member_closed(struct member *member, struct connection *connection, const char *why,
                   uint64_t now);

/* connection_output sets *ret_bytes to the bytes to write, in one piece, and returns how many there
 * are. They are valid until the next call with this member. connection_written tells how many of
 * them were written. */
size_t connection_output(struct connection *connection, const uint8_t **ret_bytes);
void connection_written(struct connection *connection, size_t size);
/* Should the connection be read now? Not while the node has no room for the next frame. */
bool connection_reads(const struct connection *connection);
/* Is the present output the last? Then the driver shuts down the sending side once it is
 * written. */
bool connection_ends(const struct connection *connection);
/* Is this an accepted connection whose other side has not yet shown who it is? */
bool connection_is_stranger(const struct connection *connection);
/* Returns the name of the node at the other side; NULL: it has not shown it yet. */
const char *connection_peer(const struct connection *connection);
void *connection_user(const struct connection *connection);
/* Sets the driver's pointer of a connection that was dialled. */
void connection_set_user(struct connection *connection, void *user);
/* Logs a complaint of the driver about the node at the other end. An equal complaint is logged
 * again only now and then. */
void connection_complain(const struct connection *connection, const char *text);

/* Returns a connection that has output, or for which connection_reads or connection_ends has
 * changed; NULL: none is left. */
struct connection *member_changed(struct member *member);

/* --- leaving --- */

/* From now on the member grants nothing, and it leaves the view when no client here holds
 * anything. */
void member_leave(struct member *member, uint64_t now);
/* True if this member is in no view. */
bool member_left(const struct member *member);
/* If this voter leads, hands the lead to another, so that the voters need not first notice that
 * this one is gone. Returns false if it does not lead or cannot hand over. */
bool member_hand_over(struct member *member, uint64_t now);

/* --- for operators --- */

/* Returns the founders or addresses that the member waits for; NULL: it belongs to a cluster. */
const char *member_unborn(struct member *member);
/* Returns the name of the voter that leads, as far as this member knows; NULL: it knows of none. */
const char *member_leader(const struct member *member);
/* A member's knowledge of a voter. */
struct member_acquaintance {
	bool connected; /* a connection to the voter is up, or the voter is this node */
	bool witness;   /* the voter is a witness, as it said on its last connection */
	/* when the last connection to the voter ended; 0: one is up, or there was none */
	uint64_t lost;
};

/* Finds the voter by the id of its data directory. */
struct member_acquaintance member_acquaintance(const struct member *member, uint64_t server);
/* Returns the voters, as "n2, n3", if no leader among them has answered for a lease or, if a lease
 * is long, for some seconds (tenant_unanswered); otherwise NULL. */
const char *member_silent_voters(struct member *member);
/* Returns the peers to which this member needs a link but has none, as "n2, n3"; NULL: none. */
const char *member_missing(struct member *member);
/* Tells how many bytes were exchanged with a process; 0 and 0 if there is no link to it. */
void member_traffic(const struct member *member, uint64_t process, uint64_t *ret_sent,
                    uint64_t *ret_received);
/* Returns how often a member was cut off for sending something that no correct member sends. */
uint64_t member_offences(const struct member *member);
/* Returns why a node refuses to talk to this one, or why this process can never join; NULL if
 * neither is the case. */
const char *member_refusal(const struct member *member);

/* --- effects --- */

enum member_effect_kind {
	MEMBER_NODE,     /* NODE_REPLY, NODE_EVENT, NODE_LOST, NODE_STOP, NODE_WARN or NODE_SHOUT */
	MEMBER_DIAL,     /* connect, then call member_dialled or member_closed */
	MEMBER_CLOSE,    /* close a connection, then call member_closed */
	MEMBER_VIEW,     /* there is a new view: see member_tenant */
	MEMBER_REMOVED,  /* an operator removed this node, or invited it again (tenant_removed) */
	MEMBER_SETTLE,   /* drop all clients, then call member_settle */
	MEMBER_WRITE,    /* make the write durable, then call member_written */
	MEMBER_IDENTITY, /* store member_identity, then call member_identity_written */
	MEMBER_ADDRESS,  /* store the new address of a voter or member; NULL: forget it */
	MEMBER_ANSWERED, /* the voters have answered an operator, or have not answered in time */
	MEMBER_STOP,     /* this process must end: it could do harm, or can never join */
	MEMBER_LOG,
};

enum member_level { MEMBER_WARNING, MEMBER_INFO, MEMBER_DEBUG };

struct member_effect {
	enum member_effect_kind kind;
	union {
		struct node_effect node;
		struct {
			struct connection *connection;
			const char *address; /* the address to dial, as HOST:PORT */
		} dial;
		struct connection *close;
		struct {
			uint64_t epoch;
			uint32_t members_count;
			bool in; /* this member is in the view */
		} view;
		/* The charter of the cluster that the member belongs to now. */
		const struct charter *charter;
		const struct durable_write *write;
		struct {
			const char *name, *address;
		} address;
		struct {
			/* The number that member_order or member_invite returned. */
			uint64_t number;
			bool done; /* the order was obeyed, or the invitation is made */
			/* If not `done`: why not; REFUSAL_NONE: the voters did not answer in time,
			 * and may yet obey. */
			enum refusal refusal;
		} answered;
		const char *stop; /* why the process must stop */
		struct {
			enum member_level level;
			const char *text;
		} log;
	};
};

/* Returns the next effect, or false if there is none. */
bool member_effect(struct member *member, struct member_effect *ret_effect);

#endif
