/*
 * The voters' log, as bad as a correct log may be. It promises only that all voters see the
 * committed entries in the same order. A voter may believe that it leads long after another one
 * does. When a leader is deposed, some of its proposals survive and are committed under the next
 * leader. Entries are committed and applied late. There may be no leader for a long time.
 *
 * A commit needs a majority of voters that run and that the leader can reach in both directions.
 */
#ifndef TORTURE_SPITEFUL_LOG_H
#define TORTURE_SPITEFUL_LOG_H

#include "log_engine.h"

extern const struct log_engine spiteful_log;

#endif
