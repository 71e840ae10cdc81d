/*
 * The first record in each direction on an engine's connection: who speaks, and of which cluster.
 * It begins as a link's HELLO does (link.h), so that programs that do not understand each other can
 * still say so.
 */
#ifndef MEMBER_CALL_H
#define MEMBER_CALL_H

#include "charter.h"
#include "link.h"

enum { CALL_SIZE_MAX = 8192 };

struct call {
	struct charter charter; /* empty: the speaker belongs to no cluster yet */
	uint64_t process;       /* a random number drawn when the speaker started */
	uint64_t server;        /* the id of the speaker's data directory; 0: it has none */
	bool witness;           /* the speaker may vote, and never wants to be a member */
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1]; /* where others reach the speaker; "": nowhere */
	/* The name of the node that the speaker believes it is addressing; "": any. */
	char peer[ENTRY_NAME_MAX + 1];
};

enum call_kind {
	CALL_MORE,     /* the CALL is not complete yet */
	CALL_WHOLE,    /* the CALL is complete; the caller must free its charter */
	CALL_REFUSED,  /* the other side refuses; ret_text says why */
	CALL_VERSION,  /* the other side speaks another version; ret_text says which */
	CALL_LINK,     /* this is the first record of a link, not a CALL */
	CALL_NONSENSE, /* this is not the protocol */
};

/* Reads the first record of a connection; *ret_size is how many bytes it took. */
enum call_kind call_read(const uint8_t *bytes, size_t size, struct call *ret_call, size_t *ret_size,
                         char ret_text[LINK_TEXT_MAX + 1]);
/* Appends the record to out->bytes. */
void call_write(struct out *out, const struct call *call);

#endif
