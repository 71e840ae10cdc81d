/*
 * The lease of a client that cannot read its node's lease word, because it is on another host. The
 * client asks the node repeatedly how much of the lease is left, and uses its own clock. The rates
 * of the two clocks differ from true time by at most a thousandth each; reading them takes less
 * than 2 ms.
 */
#ifndef BASE_SUBLEASE_H
#define BASE_SUBLEASE_H

#include <stdint.h>

/* Returns when the client must have stopped, by its own clock. `asked` is the time just before the
 * client asked, not that of the answer, which may have taken long; `left_ns` is the answer. */
uint64_t sublease_end(uint64_t asked, uint64_t left_ns);

/* Returns how long after an answer the client asks again. It asks more often when less time than
 * usual is left. */
uint64_t sublease_interval(uint64_t lease_ns, uint64_t left_ns);

#endif
