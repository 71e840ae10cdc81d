/*
 * A configuration of raft: the servers of the log and their roles. As bytes it is what an entry of the
 * type RAFT_CHANGE holds, in libraft's own encoding.
 */
#ifndef CONSENSUS_VOTERS_H
#define CONSENSUS_VOTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <raft.h>

enum { VOTERS_SERVERS_MAX = 64, VOTERS_ADDRESS_MAX = 255 };

/* Are these the bytes that libraft writes for some configuration? It reads them without looking at their
 * size, so nothing else may be given to it. */
bool voters_check(const uint8_t *bytes, size_t size);
/* `bytes` passes voters_check. What is returned must be closed, or given to libraft. */
struct raft_configuration voters_decode(const uint8_t *bytes, size_t size);
/* To be freed by raft_free. */
struct raft_buffer voters_encode(const struct raft_configuration *configuration);

/* NULL: there is no such server. */
const struct raft_server *voters_find(const struct raft_configuration *configuration, uint64_t id);
unsigned voters_count(const struct raft_configuration *configuration);

enum { VOTERS_ROLE_NONE = -1 };
/*
 * The configuration in which this server has this role; VOTERS_ROLE_NONE: in which it is not. The address
 * counts only for a server that is new. False: it is refused (an address twice, too many), and nothing is
 * made.
 */
bool voters_with(const struct raft_configuration *configuration, uint64_t id, const char *address,
                 int role, struct raft_configuration *ret_configuration);

#endif
