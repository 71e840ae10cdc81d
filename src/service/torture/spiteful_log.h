/*
 * The voters' log, as bad as a correct one may be. What is committed is in one order that all voters
 * see, and nothing more is promised: a voter may believe that it leads long after another does; of
 * what a leader proposed before it was deposed some survives and is committed under the next; entries
 * are committed and applied late; for long times nobody leads.
 *
 * A commit needs a majority of voters that run and that the leader reaches both ways.
 */
#ifndef TORTURE_SPITEFUL_LOG_H
#define TORTURE_SPITEFUL_LOG_H

#include "log_engine.h"

extern const struct log_engine spiteful_log;

#endif
