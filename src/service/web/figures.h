/*
 * The figures that a node reports about itself with INFO: as JSON for the page, and in Prometheus'
 * text format. Pure functions.
 */
#ifndef WEB_FIGURES_H
#define WEB_FIGURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Parses the reply to INFO: "name:value" lines. A number becomes a number, "a=1,b=2" an object, any
 * other value a string. Other lines are left out. Never returns NULL. Adds
 * "messages_per_entry_bound" if the algorithm's claim can be computed for this number of members.
 */
json_t *figures_parse(const char *text, size_t size);

/* Returns the metrics, which the caller frees. `figures` is NULL if there is no node. */
char *figures_metrics(const json_t *figures);

/* Returns a string for any bytes: those that are not UTF-8 are shown as \xNN. */
json_t *figures_text(const char *bytes, size_t size);

/* Can there be more locks than this status shows? Yes, if a member has `limit` locks in it, the
 * most that a member reports. */
bool figures_locks_more(const json_t *locks, size_t limit);

/*
 * Returns what is known about waiters, from a status in which each member reports at most `limit`
 * waiters of a lock: waiters_total, waiters_more (there may be more), waiters_by_member, and
 * waits_longest, the client that has waited longest, or null. A lock that may have more waiters
 * gets "waiters_more".
 */
json_t *figures_waiting(json_t *locks, size_t limit);

#endif
