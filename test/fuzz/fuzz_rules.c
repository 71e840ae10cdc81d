/*
 * Feeds bytes as rules, one on each line. It must not crash. A rule that is refused changes
 * nothing. All functions that ask the rules agree. The rule that is reported as missing, if there is
 * one, is a valid rule, and it allows what was asked for and nothing else.
 */
#include "glob.h"
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

static bool is_plain(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '!' || text[i] > '~')
			return false;
	}
	return size > 0;
}

static struct slice slice(const char *text, size_t size)
{
	return (struct slice){(const uint8_t *)text, (uint32_t)size};
}

/* The text is a name or a pattern. The rule must allow it, and not the same text with another last
 * byte, unless the pattern matches that too. */
static void check_missing(const struct subject *subject, const char *name, size_t size,
                          bool pattern)
{
	struct object object = {.text = name, .size = size, .pattern = pattern};
	char text[RULES_MISSING_MAX], other[RULE_PATTERN_MAX];
	struct problem problem;

	if (!rules_missing(subject, VERB_BREAK, &object, text)) {
		must(!is_plain(name, size) || size > RULE_PATTERN_MAX / 2 ||
		     (subject->certificate != NULL && !is_plain(subject->certificate, 1)));
		return;
	}
	struct rules *fresh = rules_create();
	must(size <= sizeof(other));
	must(rules_add(fresh, text, look_up, &problem) == 0);
	must(!rules_allow(fresh, subject, VERB_LOCK, name, size));
	for (unsigned change = 0; change < 2; change++) {
		memcpy(other, name, size);
		other[size - 1] = (char)(other[size - 1] ^ (int)change);
		bool meant =
		        pattern ? glob_matches(slice(name, size), slice(other, size)) : change == 0;
		must(rules_allow(fresh, subject, VERB_BREAK, other, size) == meant);
	}
	rules_destroy(fresh);
}

static void check(const struct rules *rules, const struct subject *subject, const char *name,
                  size_t size)
{
	unsigned verbs = rules_verbs(rules, subject, name, size);

	must((verbs & ~rules_verbs_somewhere(rules, subject)) == 0);
	for (unsigned i = 0; i < VERBS_COUNT; i++)
		must(rules_allow(rules, subject, 1U << i, name, size) == ((verbs >> i & 1) != 0));
	check_missing(subject, name, size, false);
	check_missing(subject, name, size, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t gids[] = {100, 50};
	static const struct subject subjects[] = {
	        {.uid = 1000, .gids = gids, .gids_count = 2},
	        {.uid = SUBJECT_NOBODY, .certificate = "ci-7"},
	        {.uid = SUBJECT_NOBODY, .certificate = "c[i] *\\"},
	        {.uid = SUBJECT_NOBODY, .certificate = "\n"},
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
