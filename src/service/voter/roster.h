/*
 * The servers of the log with their names. The log itself knows of a server its id and an address, and
 * wants every address once; a member that lost its disk comes back as another server at the same one.
 * So what the log has as an address is "ID ADDRESS NAME".
 */
#ifndef VOTER_ROSTER_H
#define VOTER_ROSTER_H

#include "electors.h"
#include "replica.h"

enum { ROSTER_PLACE_MAX = 16 + 1 + ENTRY_ADDRESS_MAX + 1 + ENTRY_NAME_MAX };

/* What the log has as the address of a server. `address` has no blank. */
void roster_place(uint64_t id, const char *address, const char *name,
                  char ret_place[ROSTER_PLACE_MAX + 1]);
/* The name in such a place, which it points into. */
const char *roster_name(const char *place);

/* The voters among the servers that these bytes (voters.h) are. */
void roster_electors(const uint8_t *bytes, size_t size, uint64_t index,
                     struct electors *ret_electors);

#endif
