/*
 * The answers of members to a STATUS: a list of parts in the order of their arrival.
 */
#ifndef NODE_ANSWER_H
#define NODE_ANSWER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct answer {
	STAILQ_ENTRY(answer) answers;
	uint32_t member; /* the number of the member that sent this part */
	uint32_t rows_count;
	uint32_t size;
	uint8_t bytes[];
};

/* Begin with STAILQ_INIT; answers_free also takes a list that is all zeros. */
STAILQ_HEAD(answers, answer);

void answers_add(struct answers *answers, uint32_t member, uint32_t rows_count,
                 const uint8_t *bytes, size_t size);
void answers_free(struct answers *answers);

#endif
