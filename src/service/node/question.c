#include "question.h"

#include "memory.h"
#include "scan.h"
#include "status_merge.h"

#include <stdlib.h>
#include <string.h>

void question_set_sights(struct question *question, struct node_bytes seen)
{
	static const char all[] = "\1*";

	if (seen.bytes == NULL)
		seen = (struct node_bytes){all, sizeof(all) - 1};
	question->sights = malloc(seen.size + 1);
	memory_must(question->sights != NULL);
	memcpy(question->sights, seen.bytes, seen.size);
	question->sights_size = (uint32_t)seen.size;
}

void question_begin(struct question *question, uint64_t number, uint32_t members_count,
                    uint32_t self)
{
	question->number = number;
	question->missing_count = members_count == 0 ? 0 : members_count - 1;
	free(question->missing);
	question->missing = calloc((members_count + 63) / 64 + 1, sizeof(uint64_t));
	memory_must(question->missing != NULL);
	STAILQ_INIT(&question->answers);
	for (uint32_t i = 1; i <= members_count; i++) {
		if (i != self)
			question->missing[i / 64] |= UINT64_C(1) << i % 64;
	}
}

void question_drop_answers(struct question *question)
{
	free(question->own.value);
	free(question->stored.value);
	question->own = question->stored = (struct leadership){.fence = 0};
	question->done = false;
	answers_free(&question->answers);
	question->answers_size = 0;
	scan_free(question->scan);
	question->scan = NULL;
	status_free(question->unordered.status);
	free(question->unordered.locks);
	question->unordered = (struct unordered){.status = NULL};
}

void question_forget(struct question *question)
{
	/* Most commands ask no question. */
	if (question->number == 0)
		return;
	question_drop_answers(question);
	free(question->missing);
	free(question->sights);
	*question = (struct question){.number = 0};
}
