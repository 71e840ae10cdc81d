/*
 * The identity of a data directory: the node and the cluster to which it belongs. It is stored on
 * the disk (disk.h) and read before anything else.
 */
#ifndef MEMBER_IDENTITY_H
#define MEMBER_IDENTITY_H

#include "birth.h"
#include "charter.h"

struct identity {
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1]; /* where others reach this node; "": nowhere */
	uint64_t server; /* a random number: the id of this directory in the log */
	bool witness;
	/* NOTHING: the node belongs to no cluster yet. RECORD: the node founds this cluster with
	 * `founders`; if the disk has a log, the cluster was born. LIFE: the node has joined this
	 * cluster. */
	enum birth_stage stage;
	struct charter charter; /* the charter of the cluster, for a RECORD or a LIFE */
	struct electors founders;
};

void identity_copy(struct identity *identity, const struct identity *from);
void identity_free(struct identity *identity);
/* Appends the identity to out->bytes. */
void identity_write(struct out *out, const struct identity *identity);
/* Returns false if the bytes are malformed. Otherwise the caller frees the identity. */
bool identity_read(const uint8_t *bytes, size_t size, struct identity *ret_identity);

#endif
