/*
 * Feeds bytes as rules, one on each line. It must not crash. A rule that is refused changes
 * nothing. All functions that ask the rules agree. The rule that is reported as missing is a valid
 * rule, and it allows what was asked for.
 */
#include "must.h"
#include "rules.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int look_up(bool group, const char *name, uint32_t *ret_id)
{
	if (name[0] != 'a')
		return -1;
	*ret_id = group ? 50 : 1000;
	return 0;
}

static void check(const struct rules *rules, const struct subject *subject, const char *name,
                  size_t size)
{
	unsigned verbs = rules_verbs(rules, subject, name, size);
	char text[RULES_MISSING_MAX];
	struct problem problem;

	must((verbs & ~rules_verbs_somewhere(rules, subject)) == 0);
	for (unsigned i = 0; i < VERBS_COUNT; i++)
		must(rules_allow(rules, subject, 1U << i, name, size) == ((verbs >> i & 1) != 0));
	if (size == 0 || size > RULE_PATTERN_MAX / 2) /* escaped, it may be twice as long */
		return;
	rules_missing(subject, VERB_BREAK, name, size, text);
	struct rules *fresh = rules_create();
	must(rules_add(fresh, text + strlen("allow "), look_up, &problem) == 0);
	must(rules_allow(fresh, subject, VERB_BREAK, name, size));
	must(!rules_allow(fresh, subject, VERB_LOCK, name, size));
	rules_destroy(fresh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t gids[] = {100, 50};
	static const struct subject subjects[] = {
	        {.uid = 1000, .gids = gids, .gids_count = 2},
	        {.uid = SUBJECT_NOBODY, .certificate = "ci-7"},
	        {.uid = SUBJECT_NOBODY},
	};
	struct rules *rules = rules_create();
	char *text = malloc(size + 1), *rest = text, *line;
	struct problem problem;

	must(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		unsigned before = rules_verbs_somewhere(rules, &subjects[0]);
		problem.text[0] = '\0';
		if (rules_add(rules, line, look_up, &problem) != 0) {
			must(problem.text[0] != '\0');
			must(rules_verbs_somewhere(rules, &subjects[0]) == before);
		}
		for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++)
			check(rules, &subjects[i], line, strlen(line));
	}
	rules_destroy(rules);
	free(text);
	return 0;
}
