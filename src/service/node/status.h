/*
 * What status.c and status_merge.c share: the answers of members and the rows in them.
 */
#ifndef NODE_STATUS_H
#define NODE_STATUS_H

#include "frame.h"

/* The first byte of a row. */
enum { ROW_WAITS, ROW_HOLDS, ROW_LOSES };

/* What a member has told, one part of it, as it came. */
struct answer {
	struct answer *next;
	uint32_t member;
	uint32_t rows_count;
	uint32_t size;
	uint8_t bytes[];
};

/* One client of one lock. Texts point into the answer. */
struct row {
	struct slice name;
	uint64_t fence;
	bool holds;
	uint32_t order;
	struct node_status_client client;
};

void answers_free(struct answer *answer);
/* The part of an answer before the rows; `types` has room for all, or is NULL. False: malformed. */
bool figures_read(struct in *in, size_t types_count, struct node_status_member *member,
                  uint64_t *types);
/* The next row; false: malformed. */
bool row_read(struct in *in, uint32_t member, struct row *ret_row);
/* Adds what this node itself has to tell. */
void status_tell_oneself(struct node *node, struct question *question);

#endif
