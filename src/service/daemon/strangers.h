/*
 * Strangers are accepted connections whose other side has not shown yet who it is. They must not
 * keep anybody out: if there are too many at a port, one of them is closed.
 */
#ifndef DAEMON_STRANGERS_H
#define DAEMON_STRANGERS_H

#include <stdint.h>

struct sockaddr;

/* Returns a number for the network of an address: an IPv4 address, or the first half of an IPv6
 * address, because one host may have all addresses with that half. */
uint64_t strangers_network(const struct sockaddr *address);
/*
 * Chooses the stranger to close: the oldest one of the network with the most strangers. So a flood
 * from one host displaces only itself. Even a flood from a genuine peer's own host would have to be
 * faster than that peer's handshake. `networks` has the network of each stranger, and begins with
 * the newest. Returns an index.
 */
uint32_t strangers_choose(const uint64_t *networks, uint32_t count);

#endif
