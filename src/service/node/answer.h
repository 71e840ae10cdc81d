/*
 * The answers of members to a STATUS: a list of parts, each as it came.
 */
#ifndef NODE_ANSWER_H
#define NODE_ANSWER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct answer {
	STAILQ_ENTRY(answer) answers;
	uint32_t member; /* that told it, by its number */
	uint32_t rows_count;
	uint32_t size;
	uint8_t bytes[];
};

/* Begun with STAILQ_INIT; all zeros is an empty list too, for answers_free only. */
STAILQ_HEAD(answers, answer);

void answers_add(struct answers *answers, uint32_t member, uint32_t rows_count,
                 const uint8_t *bytes, size_t size);
void answers_free(struct answers *answers);

#endif
