/*
 * The voters as members know them: their names and addresses, and the index of the log entry that
 * made them voters. Of two lists, the one with the greater index is newer, no matter who sent it.
 */
#ifndef ENGINE_ELECTORS_H
#define ENGINE_ELECTORS_H

#include "entries.h"

enum { ELECTORS_MAX = 64 };

struct elector {
	uint64_t server; /* the id of the voter's data directory; 0: not known */
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
};

/* A struct of zeros is an empty list. */
struct electors {
	/* The index of the log entry with this list; 0: the list has only addresses to try. */
	uint64_t index;
	struct elector *list;
	uint32_t count;
	size_t size;
};

void electors_free(struct electors *electors);
void electors_copy(struct electors *electors, const struct electors *from);
void electors_clear(struct electors *electors, uint64_t index);
void electors_add(struct electors *electors, uint64_t server, struct entry_text name,
                  struct entry_text address);
/* Finds a voter by its name. Returns NULL if there is none. */
const struct elector *electors_find(const struct electors *electors, const char *name);

/* Appends the list to out->bytes. */
void electors_write(struct out *out, const struct electors *electors);
/* Checks the list and skips it; electors_read then reads it. */
void electors_skip(struct in *in);
void electors_read(struct electors *electors, struct in in);

#endif
