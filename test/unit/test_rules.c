/* Rules: what they allow to whom, which texts are refused, and which rule is reported as
 * missing. */

#include "rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int look_up(bool group, const char *name, uint32_t *ret_id)
{
	if (strcmp(name, group ? "ops" : "alice") != 0)
		return -1;
	*ret_id = group ? 50 : 1000;
	return 0;
}

static struct rules *make(const char *const *texts)
{
	struct rules *rules = rules_create();
	struct problem problem = {""};

	for (; *texts != NULL; texts++) {
		if (rules_add(rules, *texts, look_up, &problem) != 0)
			fail_msg("%s: %s", *texts, problem.text);
	}
	return rules;
}

static const uint32_t groups[] = {100, 50};
static const struct subject root = {.uid = 0};
static const struct subject alice = {.uid = 1000};
static const struct subject bob = {.uid = 1001, .gids = groups, .gids_count = 2};
static const struct subject robot = {.uid = SUBJECT_NOBODY, .certificate = "ci-7"};
static const struct subject stranger = {.uid = SUBJECT_NOBODY};

static unsigned verbs(const struct rules *rules, const struct subject *subject, const char *name)
{
	unsigned all = rules_verbs(rules, subject, name, strlen(name));

	/* Both functions must agree. */
	for (unsigned i = 0; i < VERBS_COUNT; i++)
		assert_int_equal(rules_allow(rules, subject, 1U << i, name, strlen(name)),
		                 all >> i & 1);
	assert_int_equal(all & ~rules_verbs_somewhere(rules, subject), 0);
	return all;
}

static void test_without_rules_everybody_may_do_everything(void **state)
{
	(void)state;
	assert_int_equal(verbs(NULL, &stranger, "x"), VERBS_ALL);
}

static void test_with_a_rule_everything_else_is_refused(void **state)
{
	static const char *const texts[] = {"backup/* lock uid:1000", NULL};
	struct rules *rules = make(texts);

	(void)state;
	assert_int_equal(verbs(rules, &alice, "backup/db"), VERB_LOCK);
	assert_int_equal(verbs(rules, &alice, "backup"), 0);
	assert_int_equal(verbs(rules, &alice, "other"), 0);
	assert_int_equal(verbs(rules, &root, "backup/db"), 0);
	assert_int_equal(verbs(rules, &bob, "backup/db"), 0);
	assert_int_equal(verbs(rules, &robot, "backup/db"), 0);
	assert_int_equal(verbs(rules, &stranger, "backup/db"), 0);
	assert_int_equal(rules_verbs_somewhere(rules, &alice), VERB_LOCK);
	assert_int_equal(rules_verbs_somewhere(rules, &bob), 0);
	rules_destroy(rules);
}

static void test_rules_add_up(void **state)
{
	static const char *const texts[] = {"a/* lock,elect user:alice gid:7",
	                                    "\t* status  anyone ",
	                                    "a/x* break group:ops cert:ci-*",
	                                    "* admin uid:0",
	                                    "b observe gid:100",
	                                    NULL};
	struct rules *rules = make(texts);

	(void)state;
	assert_int_equal(verbs(rules, &alice, "a/x"), VERB_LOCK | VERB_ELECT | VERB_STATUS);
	assert_int_equal(verbs(rules, &alice, "b"), VERB_STATUS);
	assert_int_equal(verbs(rules, &bob, "a/x"), VERB_BREAK | VERB_STATUS);
	assert_int_equal(verbs(rules, &bob, "b"), VERB_OBSERVE | VERB_STATUS);
	assert_int_equal(verbs(rules, &robot, "a/xyz"), VERB_BREAK | VERB_STATUS);
	assert_int_equal(verbs(rules, &stranger, "a/x"), VERB_STATUS);
	assert_int_equal(verbs(rules, &root, "a/x"), VERB_ADMIN | VERB_STATUS);
	assert_int_equal(rules_verbs_somewhere(rules, &bob),
	                 VERB_BREAK | VERB_STATUS | VERB_OBSERVE);
	rules_destroy(rules);
}

/* A certificate is another identity than a uid: a pattern for one does not match the other. */
static void test_a_client_without_a_certificate_matches_no_pattern_for_one(void **state)
{
	static const char *const texts[] = {"* lock cert:*", NULL};
	struct rules *rules = make(texts);

	(void)state;
	assert_int_equal(verbs(rules, &alice, "x"), 0);
	assert_int_equal(verbs(rules, &stranger, "x"), 0);
	assert_int_equal(verbs(rules, &robot, "x"), VERB_LOCK);
	rules_destroy(rules);
}

static void test_what_is_no_rule_is_refused_with_the_word(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
	        {"", "a rule needs PATTERN"},
	        {"  \t ", "a rule needs PATTERN"},
	        {"x", "a rule needs PATTERN"},
	        {"x lock", "nobody is named"},
	        {"x lok uid:1", "'lok' is not a verb: did you mean 'lock'?"},
	        {"x lock,,elect uid:1", "'' is not a verb: lock, elect, observe"},
	        {"x lock, uid:1", "'' is not a verb"},
	        {"allow", "a rule needs PATTERN"},
	        {"allow lock uid:1", "'uid:1' is not a verb"},
	        {"allow allow x lock uid:1", "'x' is not a verb"},
	        {"x\\ lock uid:1", "'uid:1' is not a verb"},
	        {"x lock uuid:1", "did you mean 'uid'?"},
	        {"x lock 1000", "'1000' is not a user, group or certificate: uid:1000"},
	        {"x lock uid", "'uid' needs a value"},
	        {"x lock uid:", "'uid' needs a value"},
	        {"x lock uid:alice",
	         "'uid:alice': a number from 0 to 4294967294 is needed; write a name as user:NAME"},
	        {"x lock uid:4294967295", "a number from 0 to 4294967294"},
	        {"x lock uid:-1", "a number from 0"},
	        {"x lock gid:ops", "write a name as group:NAME"},
	        {"x lock user:carol",
	         "'user:carol': this host has no such user; write a number as uid:NUMBER"},
	        {"x lock group:50",
	         "'group:50': this host has no such group; write a number as gid:NUMBER"},
	        {"x lock anyone:1", "'anyone' takes no value"},
	        {"x/* admin uid:0",
	         "admin is about the whole cluster: its pattern is *, not 'x/*'"},
	        {"x lock,admin uid:0", "its pattern is *"},
	};
	struct rules *rules = rules_create();

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct problem problem = {""};
		assert_int_equal(rules_add(rules, wrong[i].text, look_up, &problem), -1);
		if (strstr(problem.text, wrong[i].says) == NULL)
			fail_msg("%s: %s", wrong[i].text, problem.text);
	}
	/* No part of a rule that was refused counts. */
	assert_int_equal(rules_verbs_somewhere(rules, &alice), 0);
	rules_destroy(rules);
}

static void test_limits(void **state)
{
	char text[RULE_PATTERN_MAX + 32], many[16 * (RULE_WHO_MAX + 2)];
	size_t used = (size_t)snprintf(many, sizeof(many), "x lock");
	struct rules *rules = rules_create();
	struct problem problem;

	(void)state;
	memset(text, 'a', sizeof(text));
	snprintf(text + RULE_PATTERN_MAX, 32, " lock anyone");
	assert_int_equal(rules_add(rules, text, look_up, &problem), 0);
	memset(text, 'a', sizeof(text));
	snprintf(text + RULE_PATTERN_MAX + 1, 31, " lock anyone");
	assert_int_equal(rules_add(rules, text, look_up, &problem), -1);
	for (int i = 0; i < RULE_WHO_MAX; i++)
		used += (size_t)snprintf(many + used, sizeof(many) - used, " uid:1");
	assert_int_equal(rules_add(rules, many, look_up, &problem), 0);
	snprintf(many + used, sizeof(many) - used, " uid:1");
	assert_int_equal(rules_add(rules, many, look_up, &problem), -1);
	for (int i = 2; i < RULES_MAX; i++)
		assert_int_equal(rules_add(rules, "x lock uid:1", look_up, &problem), 0);
	assert_int_equal(rules_add(rules, "x lock uid:1", look_up, &problem), -1);
	assert_string_equal(problem.text, "at most 1024 rules");
	rules_destroy(rules);
}

static bool missing(const struct subject *subject, enum verb verb, const char *name, size_t size,
                    char *ret_text)
{
	struct object object = {.text = name, .size = size};

	return rules_missing(subject, verb, &object, ret_text);
}

/* Each text "allow …" is a rule that allows just that. */
static void test_the_missing_rule_allows_what_was_refused_and_nothing_else(void **state)
{
	static const char *const names[] = {"backup/db", "a b",   "*",  "[x]",  "\\",
	                                    " ",         "a-b",   "^",  "=",    "?",
	                                    "=x y=",     "allow", "#x", "a\\ b"};
	enum { SUBJECTS_COUNT = 8 };
	static const struct subject patterned = {.uid = SUBJECT_NOBODY, .certificate = "ci-*"},
	                            all = {.uid = SUBJECT_NOBODY, .certificate = "*"},
	                            blank = {.uid = SUBJECT_NOBODY, .certificate = "a b\\"};
	static const struct subject *const subjects[SUBJECTS_COUNT] = {
	        &root, &alice, &bob, &robot, &patterned, &all, &blank, &stranger};
	char text[RULES_MISSING_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (size_t k = 0; k < SUBJECTS_COUNT; k++) {
			size_t size = strlen(names[i]);
			assert_true(missing(subjects[k], VERB_BREAK, names[i], size, text));
			assert_memory_equal(text, "allow ", 6);
			const char *const texts[] = {text, NULL};
			struct rules *rules = make(texts);
			assert_int_equal(verbs(rules, subjects[k], names[i]), VERB_BREAK);
			char other[16];
			memcpy(other, names[i], size + 1);
			other[size - 1] ^= 1;
			assert_int_equal(verbs(rules, subjects[k], other), 0);
			for (size_t m = 0; m + 1 < SUBJECTS_COUNT; m++)
				assert_int_equal(verbs(rules, subjects[m], names[i]) != 0,
				                 m == k || subjects[k] == &stranger);
			rules_destroy(rules);
		}
	}
	assert_true(missing(&alice, VERB_LOCK, "backup/db", 9, text));
	assert_string_equal(text, "allow backup/db lock uid:1000");
	assert_true(missing(&robot, VERB_ADMIN, NULL, 0, text));
	assert_string_equal(text, "allow * admin cert:ci-7");
	assert_true(missing(&stranger, VERB_ELECT, "x", 1, text));
	assert_string_equal(text, "allow x elect anyone");
	assert_true(missing(&blank, VERB_ELECT, "= *", 3, text));
	assert_string_equal(text, "allow \\=\\ \\* elect cert:a\\ b\\\\");
}

static void test_the_missing_rule_has_the_pattern_that_was_asked_for(void **state)
{
	static const struct {
		const char *pattern, *rule; /* NULL: there is none */
	} asked[] = {{"backup/*", "allow backup/* status uid:1000"},
	             {"[a-z]?\\*", "allow [a-z]?\\* status uid:1000"},
	             {"a b", "allow a\\ b status uid:1000"},
	             {"a\\ b", "allow a\\ b status uid:1000"},
	             {"a\\", "allow a\\\\ status uid:1000"},
	             {"=*", "allow \\=* status uid:1000"},
	             {"[!- ]", NULL}};
	char text[RULES_MISSING_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
		struct object object = {.text = asked[i].pattern,
		                        .size = strlen(asked[i].pattern),
		                        .pattern = true};
		bool found = rules_missing(&alice, VERB_STATUS, &object, text);
		assert_int_equal(found, asked[i].rule != NULL);
		if (found)
			assert_string_equal(text, asked[i].rule);
	}
}

/* A rule that is printed must be valid; otherwise nothing is printed. */
static void test_no_rule_is_told_that_could_not_be_used(void **state)
{
	char name[RULE_PATTERN_MAX + 1], text[RULES_MISSING_MAX];
	struct subject subject = {.uid = SUBJECT_NOBODY, .certificate = name};

	(void)state;
	memset(name, '*', sizeof(name));
	assert_true(missing(&alice, VERB_LOCK, name, RULE_PATTERN_MAX / 2, text));
	assert_false(missing(&alice, VERB_LOCK, name, RULE_PATTERN_MAX / 2 + 1, text));
	memset(name, 'a', sizeof(name));
	assert_true(missing(&alice, VERB_LOCK, name, RULE_PATTERN_MAX, text));
	assert_false(missing(&alice, VERB_LOCK, name, RULE_PATTERN_MAX + 1, text));
	assert_false(missing(&alice, VERB_LOCK, "a\nb", 3, text));
	assert_false(missing(&alice, VERB_LOCK, "a\0b", 3, text));
	assert_false(missing(&alice, VERB_LOCK, "\xc2\x9b", 2, text));
	/* Take the longest name in a certificate, and a pattern that is as long as possible. */
	memset(name, '*', RULE_PATTERN_MAX);
	name[RULE_PATTERN_MAX] = '\0';
	char lock[RULE_PATTERN_MAX];
	memset(lock, 'a', sizeof(lock));
	assert_true(missing(&subject, VERB_OBSERVE, lock, sizeof(lock), text));
	const char *const texts[] = {text, NULL};
	struct rules *rules = make(texts);
	assert_true(rules_allow(rules, &subject, VERB_OBSERVE, lock, sizeof(lock)));
	assert_int_equal(rules_verbs_somewhere(rules, &robot), 0);
	rules_destroy(rules);
	subject.certificate = "a ";
	assert_false(missing(&subject, VERB_LOCK, "x", 1, text));
	subject.certificate = "a\n";
	assert_false(missing(&subject, VERB_LOCK, "x", 1, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_without_rules_everybody_may_do_everything),
	        cmocka_unit_test(test_with_a_rule_everything_else_is_refused),
	        cmocka_unit_test(test_rules_add_up),
	        cmocka_unit_test(test_a_client_without_a_certificate_matches_no_pattern_for_one),
	        cmocka_unit_test(test_what_is_no_rule_is_refused_with_the_word),
	        cmocka_unit_test(test_limits),
	        cmocka_unit_test(test_the_missing_rule_allows_what_was_refused_and_nothing_else),
	        cmocka_unit_test(test_the_missing_rule_has_the_pattern_that_was_asked_for),
	        cmocka_unit_test(test_no_rule_is_told_that_could_not_be_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
