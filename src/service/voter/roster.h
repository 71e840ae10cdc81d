/*
 * The servers of the log with their names. The log itself has only an id and an address for each
 * server, and allows each address only once. But a member that lost its disk comes back as another
 * server at the same address. So the log's address of a server, called its place, is the text "ID
 * ADDRESS NAME".
 */
#ifndef VOTER_ROSTER_H
#define VOTER_ROSTER_H

#include "electors.h"
#include "replica.h"

enum { ROSTER_PLACE_MAX = 16 + 1 + ENTRY_ADDRESS_MAX + 1 + ENTRY_NAME_MAX };

/* Writes the place of a server. `address` must have no blank. */
void roster_place(uint64_t id, const char *address, const char *name,
                  char ret_place[ROSTER_PLACE_MAX + 1]);
/* Returns the name in a place. The text points into the place. */
const char *roster_name(const char *place);

/* Copies the HOST:PORT in a place. */
void roster_address(const char *place, char ret_address[ENTRY_ADDRESS_MAX + 1]);

/* Lists the voters among the servers in these bytes (voters.h). */
void roster_electors(const uint8_t *bytes, size_t size, uint64_t index,
                     struct electors *ret_electors);

#endif
