/*
 * What a node tells of itself with INFO: as JSON for the page, and in Prometheus' text format. Pure
 * functions.
 */
#ifndef WEB_FIGURES_H
#define WEB_FIGURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Parses the reply to INFO: "name:value" lines. A number becomes a number, "a=1,b=2" an object, all
 * else a string; lines that are none of this are left out. Never returns NULL. If the algorithm's
 * claim can be computed for so many members, "messages_per_entry_bound" is added.
 */
json_t *figures_parse(const char *text, size_t size);

/* Returns the metrics, which the caller frees; NULL figures: there is no node. */
char *figures_metrics(const json_t *figures);

/* Returns a string for any bytes: those that are not UTF-8 are shown as \xNN. */
json_t *figures_text(const char *bytes, size_t size);

/* True if a status with at most `limit` locks of each member may lack some: a member has as many. */
bool figures_locks_more(const json_t *locks, size_t limit);

/*
 * Returns what is known of waiters, for a status with at most `limit` waiters of each member at each
 * lock: waiters_total, waiters_more (there may be more), waiters_by_member, and waits_longest, the
 * client that has waited longest, or null. A lock that may have more waiters gets "waiters_more".
 */
json_t *figures_waiting(json_t *locks, size_t limit);

#endif
