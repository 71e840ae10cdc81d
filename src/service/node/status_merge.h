/*
 * Merges the answers to a STATUS by lock. Knows nothing about the node.
 *
 * Each part of a member's answer begins with: a byte (1: active, 2: it has a lease), what is left
 * of the lease in milliseconds (only if it has one), grants, messages received, other frames sent,
 * the number of types of messages, how many of each were sent, and the steps of each counter of
 * pace.h. Then come rows: a byte (enum row_kind), the lock's name, the fence (of a holder; else 0),
 * pid, uid, milliseconds, command.
 */
#ifndef NODE_STATUS_MERGE_H
#define NODE_STATUS_MERGE_H

#include "answer.h"
#include "frame.h"
#include "node.h"

/* The first byte of an answer is a sum of these. */
enum { FIGURES_ACTIVE = 1, FIGURES_LEASED = 2 };

/* The first byte of a row: a waiter and when it is let in, a holder, or a holder that was told that
 * it lost the lock and has not stopped yet. */
enum row_kind { ROW_WAITS_NEXT, ROW_WAITS_NOW, ROW_WAITS_LATER, ROW_HOLDS, ROW_LOSES };

/* One client of one lock. Texts point into the answer. */
struct row {
	struct slice name;
	uint64_t fence;
	bool holds;
	uint32_t order; /* the position of the row in the answer */
	struct node_status_client client;
};

/* Reads what comes before the rows of an answer. `types` has room for all types, and `steps` for
 * PACES_COUNT; either may be NULL. Returns false if it is malformed. */
bool figures_read(struct in *in, size_t types_count, struct node_status_member *member,
                  uint64_t *types, uint32_t *steps);
/* Reads the next row. Returns false if it is malformed. */
bool row_read(struct in *in, uint32_t member, struct row *ret_row);

struct status;

/* Makes a status for this number of members, without any answers yet. The caller is its first
 * owner. */
struct status *status_make(uint32_t members_count, size_t types_count);
/* Returns the member with this index, to be filled in; texts must come from status_keep_text. */
struct node_status_member *status_member(struct status *status, uint32_t index);
/* Returns a copy that lives as long as the status; NULL for NULL. */
char *status_keep_text(struct status *status, const char *text);
/* Takes over all the answers, and fills in what they say about the members. */
void status_take_answers(struct status *status, struct answers *answers);
/* Returns the number of all rows. */
size_t status_rows_count(const struct status *status);
/* Reads from a member's answer how many steps it had taken, for each counter of pace.h. Returns
 * false if the member has not answered. */
bool status_read_steps(const struct status *status, uint32_t member, uint32_t *ret_steps);
/* Sorts the waiters of a lock by the order in which their members will be let in: places[i] is the
 * place of member i + 1. `certain` says that a member that asks again comes after all members that
 * have a place. The status must be complete. The order cannot be known if clients of several
 * members must wait until their member has asked again, or if such clients of one member wait and
 * `certain` is false. Then nothing is sorted. */
void status_sort_waiters(struct status *status, uint32_t lock, const uint32_t *places,
                         bool certain);
/* Returns the part that users of the node see. */
struct node_status *status_view(struct status *status);
/* Gives up one ownership; the last owner frees the status. */
void status_free(struct status *status);

#endif
