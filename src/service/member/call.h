/*
 * CALL, the first record in each direction on a connection of the engine: who the sender is, and to
 * which cluster it belongs. It begins like a link's HELLO (link.h), so that programs of different
 * versions can still tell each other that they differ.
 */
#ifndef MEMBER_CALL_H
#define MEMBER_CALL_H

#include "charter.h"
#include "link.h"

enum { CALL_SIZE_MAX = 8192 };

struct call {
	struct charter charter; /* the sender's charter; empty: it belongs to no cluster yet */
	uint64_t process;       /* a random number, drawn when the sender's process started */
	uint64_t server;        /* the id of the sender's data directory; 0: it has none */
	/* the sender is a witness: it may vote, and never becomes a member */
	bool witness;
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1]; /* where others reach the sender; "": nowhere */
	/* The name of the node that the sender wants to reach; "": any. */
	char peer[ENTRY_NAME_MAX + 1];
};

enum call_kind {
	CALL_MORE,     /* the CALL is not complete yet */
	CALL_WHOLE,    /* the CALL is complete; the caller must free its charter */
	CALL_REFUSED,  /* the other side refuses; ret_text says why */
	CALL_VERSION,  /* the other side speaks another version; ret_text says which */
	CALL_LINK,     /* this is the first record of a link, not a CALL */
	CALL_NONSENSE, /* the bytes are not of this protocol */
};

/* Reads the first record of a connection; *ret_size is how many bytes it took. */
enum call_kind call_read(const uint8_t *bytes, size_t size, struct call *ret_call, size_t *ret_size,
                         char ret_text[LINK_TEXT_MAX + 1]);
/* Appends the record to out->bytes. */
void call_write(struct out *out, const struct call *call);

#endif
