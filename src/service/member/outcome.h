/*
 * The member's own effects that wait to be taken: what the driver has to dial, close, store or log.
 */
#ifndef MEMBER_OUTCOME_H
#define MEMBER_OUTCOME_H

#include "member.h"

#include <sys/queue.h>

struct outcome {
	STAILQ_ENTRY(outcome) entry;
	struct member_effect effect;
	char text[]; /* room for the texts to which the effect points */
};

STAILQ_HEAD(outcomes, outcome);

/* Adds an effect at the end; the caller fills in the fields of its kind. */
struct outcome *outcome_add(struct member *member, enum member_effect_kind kind, size_t text_size);
__attribute__((format(printf, 3, 4))) void
member_log(struct member *member, enum member_level level, const char *format, ...);
/* Drops the effects that tell the driver to dial or close this connection, which no longer
 * exists. */
void outcomes_drop(struct member *member, const struct connection *connection);

#endif
