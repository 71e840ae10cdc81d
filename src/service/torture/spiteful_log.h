/*
 * The voters' log, as bad as a correct one may be. Entries are committed in one order that all
 * voters see, and nothing more is promised. A voter may believe that it leads long after another
 * does. Of what a leader proposed before it was deposed, some survives and is committed under the
 * next one. Entries are committed and applied late. There may be no leader for a long time.
 *
 * A commit needs a majority of voters that run and that the leader can reach in both directions.
 */
#ifndef TORTURE_SPITEFUL_LOG_H
#define TORTURE_SPITEFUL_LOG_H

#include "log_engine.h"

extern const struct log_engine spiteful_log;

#endif
