/*
 * A configuration of raft: the servers of the log and their roles. An entry of the type RAFT_CHANGE
 * holds a configuration in libraft's own encoding.
 */
#ifndef CONSENSUS_VOTERS_H
#define CONSENSUS_VOTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <raft.h>

enum { VOTERS_SERVERS_MAX = 64, VOTERS_ADDRESS_MAX = 1023 };

/* Are these bytes exactly what libraft would write for some configuration? libraft must be given no
 * others, because it reads without looking at the size. */
bool voters_check(const uint8_t *bytes, size_t size);
/* Decodes a configuration. `bytes` must pass voters_check. The caller closes the result, or gives
 * it to libraft. */
struct raft_configuration voters_decode(const uint8_t *bytes, size_t size);
/* Encodes a configuration. The caller frees the result with raft_free. */
struct raft_buffer voters_encode(const struct raft_configuration *configuration);

/* Finds a server. Returns NULL if there is none with that id. */
const struct raft_server *voters_find(const struct raft_configuration *configuration, uint64_t id);
unsigned voters_count(const struct raft_configuration *configuration);

enum { VOTERS_ROLE_NONE = -1 };
/*
 * Makes the configuration in which this server has this role, or is absent if the role is
 * VOTERS_ROLE_NONE. The address is used only if the server is new. Returns false and makes nothing
 * if the change is refused (an address that occurs twice, too many servers).
 */
bool voters_with(const struct raft_configuration *configuration, uint64_t id, const char *address,
                 int role, struct raft_configuration *ret_configuration);

#endif
