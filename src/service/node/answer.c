#include "answer.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

void answers_add(struct answers *answers, uint32_t member, uint32_t rows_count,
                 const uint8_t *bytes, size_t size)
{
	struct answer *answer = malloc(sizeof(*answer) + size);

	memory_must(answer != NULL);
	*answer =
	        (struct answer){.member = member, .rows_count = rows_count, .size = (uint32_t)size};
	memcpy(answer->bytes, bytes, size);
	STAILQ_INSERT_TAIL(answers, answer, answers);
}

void answers_free(struct answers *answers)
{
	while (!STAILQ_EMPTY(answers)) {
		struct answer *answer = STAILQ_FIRST(answers);
		STAILQ_REMOVE_HEAD(answers, answers);
		free(answer);
	}
}
