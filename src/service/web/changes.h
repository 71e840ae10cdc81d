/*
 * Changes of locks, bundled for viewers. In any second viewers are told of at most CHANGES_A_SECOND
 * changes; of the others they are only told how many there were.
 */
#ifndef WEB_CHANGES_H
#define WEB_CHANGES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHANGES_A_SECOND = 50 };

/* A struct of zeros has no changes. */
struct changes {
	json_t *events; /* the events of the next bundle, or NULL */
	uint64_t more;  /* how many events were left out of the next bundle */
	/* When the last CHANGES_A_SECOND events were told, as a ring. */
	int64_t told_ms[CHANGES_A_SECOND];
	uint64_t told_count;
};

/* Adds an event about a name, in the form in which the node sends it to subscribers: "granted FENCE
 * NODE", "lost FENCE NODE REASON" … Any other text is ignored. */
void changes_add(struct changes *changes, int64_t now_ms, const char *name, size_t name_size,
                 const char *message, size_t message_size);
bool changes_waiting(const struct changes *changes);
/* Returns {"events", "more"}, or NULL if there is nothing to tell. */
json_t *changes_take(struct changes *changes);
void changes_clear(struct changes *changes);

#endif
