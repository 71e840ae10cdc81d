#include "outcome.h"

#include "member_state.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct outcome *outcome_add(struct member *member, enum member_effect_kind kind, size_t text_size)
{
	struct outcome *outcome = calloc(1, sizeof(*outcome) + text_size);

	memory_must(outcome != NULL);
	outcome->effect.kind = kind;
	STAILQ_INSERT_TAIL(&member->outcomes, outcome, entry);
	return outcome;
}

void member_log(struct member *member, enum member_level level, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	struct outcome *outcome = outcome_add(member, MEMBER_LOG, strlen(text) + 1);
	memcpy(outcome->text, text, strlen(text) + 1);
	outcome->effect.log.level = level;
	outcome->effect.log.text = outcome->text;
}

void outcomes_drop(struct member *member, const struct connection *connection)
{
	struct outcome *outcome, *next;

	for (outcome = STAILQ_FIRST(&member->outcomes); outcome != NULL; outcome = next) {
		next = STAILQ_NEXT(outcome, entry);
		if ((outcome->effect.kind == MEMBER_CLOSE && outcome->effect.close == connection) ||
		    (outcome->effect.kind == MEMBER_DIAL &&
		     outcome->effect.dial.connection == connection)) {
			STAILQ_REMOVE(&member->outcomes, outcome, outcome, entry);
			free(outcome);
		}
	}
}
