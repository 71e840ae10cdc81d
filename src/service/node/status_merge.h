/*
 * The answers to a STATUS, put together by lock. Knows nothing of the node.
 *
 * Each part of a member's answer has: a byte (1: active, 2: it has a lease), what is left
 * of the lease in milliseconds (only if it has one), grants, messages received, other
 * frames sent, the number of types of messages, how many of each were sent; then rows: waiter (0),
 * holder (1) or holder that was told that it lost the lock and has not stopped yet (2), the lock's
 * name, the fence (of a holder; else 0), pid, uid, milliseconds, command.
 */
#ifndef NODE_STATUS_MERGE_H
#define NODE_STATUS_MERGE_H

#include "answer.h"
#include "frame.h"
#include "node.h"

/* The first byte of an answer, a sum. */
enum { FIGURES_ACTIVE = 1, FIGURES_LEASED = 2 };

/* The first byte of a row. */
enum { ROW_WAITS, ROW_HOLDS, ROW_LOSES };

/* One client of one lock. Texts point into the answer. */
struct row {
	struct slice name;
	uint64_t fence;
	bool holds;
	uint32_t order; /* in which it came */
	struct node_status_client client;
};

/* The part of an answer before the rows; `types` has room for all, or is NULL. False: malformed. */
bool figures_read(struct in *in, size_t types_count, struct node_status_member *member,
                  uint64_t *types);
/* The next row; false: malformed. */
bool row_read(struct in *in, uint32_t member, struct row *ret_row);

struct status;

/* A status of so many members, without anything told; the caller is its first owner. */
struct status *status_make(uint32_t members_count, size_t types_count);
/* The member with this index, to be described: texts by status_keep_text. */
struct node_status_member *status_member(struct status *status, uint32_t index);
/* A copy that lives as long as the status; NULL of NULL. */
char *status_keep_text(struct status *status, const char *text);
/* Takes the answers, all of them, and what they say of the members. */
void status_take_answers(struct status *status, struct answers *answers);
/* The part of it that users of the node see. */
struct node_status *status_view(struct status *status);
/* One owner less; the last one frees it. */
void status_free(struct status *status);

#endif
