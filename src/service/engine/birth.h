/*
 * How a cluster begins that is given as a list of nodes: all of the list meet once, and agree on one
 * identity and one first log. Nobody votes before.
 *
 * A node has nothing, or a birth record (an identity and the data directories of all), or a life (the
 * first log). The node whose name is the smallest founds:
 *
 *	all have said what they have, and nobody has a life
 *	→ it writes a birth record and says so; each of the others writes the same one and says so
 *	→ all have it: the founder makes the first log; each of the others makes the same one when it
 *	  hears that somebody has the life of its own birth record
 *
 * A record alone is no life: if somebody comes back with an empty disk, all meet again and the founder
 * writes another one. If anybody has a life whose record a node does not have, the node joins that: an
 * empty directory never votes in a cluster that has lived.
 *
 * Only the founder makes a life that nobody has. As long as its disk has none there is none, unless the
 * disk is not the one that it had; then it has a new process, which asks everybody again.
 *
 * Messages may be lost, late, doubled and out of order. What somebody said before it was killed must not
 * count afterwards: each draws a nonce when it begins, and another one whenever it hears of another
 * process of the founder, and counts only what was said in answer to its present nonce.
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

/* What a data directory has. */
struct birth_record {
	enum birth_stage stage;
	struct cluster_id cluster;
	struct electors founders; /* sorted by name, with their data directories; of a RECORD */
};

struct birth_options {
	const char *const *names, *const *addresses; /* the list, sorted by name */
	uint32_t count;
	uint32_t self;                     /* the own place in it */
	uint64_t server;                   /* the id of the own data directory; not 0 */
	uint64_t digest;                   /* of the settings, which must be the same at all */
	const struct birth_record *record; /* what the disk has; copied */
	uint64_t (*draw)(void *context);   /* chance */
	void *context;
};

struct birth;

struct birth *birth_create(const struct birth_options *options);
void birth_destroy(struct birth *birth);

/* What to say to the one at that place now, and again every now and then; good until the next call. */
size_t birth_say(struct birth *birth, uint32_t place, const uint8_t **ret_bytes);
/* What the one at that place says. False: malformed. */
bool birth_hear(struct birth *birth, uint32_t place, const uint8_t *bytes, size_t size);

enum birth_wish_kind {
	BIRTH_WAITS, /* for others */
	BIRTH_WRITE, /* make this record durable, then call birth_written */
	BIRTH_FOUND, /* make the first log of this record durable: these founders are its voters */
	BIRTH_JOIN,  /* there is a cluster: ask it to let this node in, as one that has nothing */
	BIRTH_STOP,  /* it cannot go on: birth_text says why */
};

/* What to do next. FOUND, JOIN and STOP are final, and birth_say goes on telling others. */
enum birth_wish_kind birth_wish(const struct birth *birth);
/* The record to write, or to found; the cluster to join. */
const struct birth_record *birth_wished(const struct birth *birth);
void birth_written(struct birth *birth);
/* The first log is durable. */
void birth_lives(struct birth *birth);
/* Whom it waits for, or why it stops; good until the next call. */
const char *birth_text(struct birth *birth);

/*
 * A node that lives in one cluster is spoken to by another. A life that began alone, without a list, and whose
 * name the other cluster knows, is that of a founder with an empty disk: it must end. Otherwise the other
 * is refused.
 */
bool birth_must_end(struct cluster_id own, bool born_alone, struct cluster_id other,
                    bool other_knows_name);

#endif
