/*
 * The birth of a cluster from a list of nodes. All nodes of the list meet once, and agree on one
 * identity and one first log. Nobody votes before that.
 *
 * A data directory has nothing, or a birth record (the cluster's identity and the data directories
 * of all nodes), or a life (the first log). The node with the smallest name is the founder:
 *
 * 	1. Each node tells the others what it has. If nobody has a life, the founder writes a birth
 * 	   record and sends it to the others. Each of them writes the same record and confirms it.
 * 	2. When all have the record, the founder makes the first log. Each other node makes the
 * 	   same log when it hears that somebody has the life that belongs to its birth record.
 *
 * A record alone is not a life: if a node comes back with an empty disk, all nodes meet again and
 * the founder writes another record. If a node hears of a life and does not have the record that
 * belongs to it, the node joins that cluster instead: an empty directory never votes in a cluster
 * that already has a log.
 *
 * Only the founder makes a life that nobody has yet. So while the founder's disk has no life,
 * nobody has one, unless the founder has lost its disk. In that case it runs as a new process,
 * which asks everybody again.
 *
 * Messages may be lost, late, duplicated and out of order. What a node said before it was killed
 * must not count afterwards. So each node draws a nonce when it begins, and another whenever it
 * hears of a new process of the founder. Only messages that repeat its present nonce count.
 *
 * No I/O, no clock. The caller tells what is durable.
 */
#ifndef ENGINE_BIRTH_H
#define ENGINE_BIRTH_H

#include "electors.h"
#include "state.h"

enum birth_stage {
	BIRTH_NOTHING,
	BIRTH_RECORD, /* a birth record is on the disk */
	BIRTH_LIFE,   /* the first log is on the disk */
};

/* The stage of a cluster's birth, as a data directory stores it. */
struct birth_record {
	enum birth_stage stage;
	struct cluster_id cluster;
	uint64_t base; /* RECORD: where the cluster's fences begin */
	/* RECORD: all nodes of the list, sorted by name, with their data directories. */
	struct electors founders;
};

struct birth_options {
	const char *const *names, *const *addresses; /* the nodes of the list, sorted by name */
	uint32_t count;
	uint32_t self;   /* the index of this node in the list */
	uint64_t server; /* the id of this node's data directory; not 0 */
	/* This node proposes that the cluster's fences begin here. The greatest proposal counts. */
	uint64_t base;
	const char *agreement;             /* lines that must be the same at all nodes; copied */
	const struct birth_record *record; /* the record that is on this node's disk; copied */
	uint64_t (*draw)(void *context);   /* returns a random number */
	void *context;
};

struct birth;

struct birth *birth_create(const struct birth_options *options);
void birth_destroy(struct birth *birth);

/* Returns the message for the node at this index, to be sent now and repeated from time to time.
 * Valid until the next call. */
size_t birth_say(struct birth *birth, uint32_t place, const uint8_t **ret_bytes);
/* Takes a message from the node at this index. Returns false if it is malformed. */
bool birth_hear(struct birth *birth, uint32_t place, const uint8_t *bytes, size_t size);

/*
 * For a node that already belongs to a cluster: answers a message of birth_say with "there is a
 * life". `nonce` is a random number of this process. Returns false if the message is malformed;
 * otherwise the answer replaces what `out` had.
 */
bool birth_answer(const uint8_t *bytes, size_t size, struct cluster_id cluster, uint64_t nonce,
                  uint64_t server, struct out *out);

enum birth_wish_kind {
	BIRTH_WAITS, /* nothing to do: this node waits for others */
	BIRTH_WRITE, /* make this record durable, then call birth_written */
	/* Make the first log of this record durable; the first of its `founders` vote. */
	BIRTH_FOUND,
	/* A cluster exists: this node must join it, like a node with an empty directory. */
	BIRTH_JOIN,
	BIRTH_STOP, /* this node cannot go on: birth_text says why */
};

/* Returns what the caller must do next. FOUND, JOIN and STOP are final, but the messages of
 * birth_say must still be sent, for the others. */
enum birth_wish_kind birth_wish(const struct birth *birth);
/* Returns the record to write, the record of the cluster to found, or one that names the cluster to
 * join. */
const struct birth_record *birth_wished(const struct birth *birth);
void birth_written(struct birth *birth);
/* Call it when the first log is durable. */
void birth_lives(struct birth *birth);
/* Returns which nodes are waited for, or why this node stops. Valid until the next call. */
const char *birth_text(struct birth *birth);

/*
 * Call it when this node, which belongs to a cluster, hears from a node of another cluster. Must
 * this node give up its own cluster? Yes, if it founded its cluster alone, without a list, and the
 * other cluster knows its name: then it was a founder there and has lost its disk. Otherwise the
 * other node is refused.
 */
bool birth_must_end(struct cluster_id own, bool born_alone, struct cluster_id other,
                    bool other_knows_name);

#endif
