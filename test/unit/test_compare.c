/*
 * The verdicts: real runs agree with the claims, and figures that are slightly wrong are noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare.h"
#include "registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t sizes[] = {4, 64};

/* Runs both sizes. The caller frees the result and the subjects. */
static struct comparison run(const char *name, uint64_t entries, uint64_t seeds, uint32_t threads)
{
	const struct algorithm *algorithm = algorithm_find(name);
	struct comparison comparison;
	struct compare_options options = {
	        .nodes = sizes,
	        .nodes_count = 2,
	        .light = true,
	        .heavy = true,
	        .entries = entries,
	        .seed_first = 1,
	        .seed_last = seeds,
	        .threads = threads,
	};

	options.subjects = compare_subjects(&algorithm, NULL, 1, NULL, &options.subjects_count);
	compare_run(&options, &comparison);
	return comparison;
}

static void free_run(struct comparison *comparison)
{
	free((void *)comparison->options.subjects);
	comparison_free(comparison);
}

/* Returns the verdict on the first claim about that quantity with that formula. */
static enum claim_verdict verdict_on(const struct comparison *comparison, size_t row,
                                     enum quantity quantity, const char *formula)
{
	for (size_t i = 0; i < comparison->rows[row].verdicts_count; i++) {
		const struct compare_verdict *verdict = &comparison->rows[row].verdicts[i];
		if (verdict->claim->quantity == quantity &&
		    strcmp(verdict->claim->formula, formula) == 0)
			return verdict->verdict;
	}
	fail_msg("there is no claim %s", formula);
	return CLAIM_UNMEASURED;
}

static void test_what_is_right_holds(void **state)
{
	struct comparison comparison = run("neilsen", 500, 20, 2);

	(void)state;
	assert_false(comparison.violated);
	assert_int_equal(comparison.rows_count, 2);
	assert_int_equal(comparison.verdict_counts[CLAIM_VIOLATED], 0);
	assert_int_equal(comparison.verdict_counts[CLAIM_UNMEASURED], 0);
	assert_int_equal(comparison.verdict_counts[CLAIM_HELD],
	                 comparison.rows[0].verdicts_count + comparison.rows[1].verdicts_count);
	assert_true(compare_measured(&comparison.rows[0], LIGHT_MAX) == 3);
	assert_true(compare_measured(&comparison.rows[0], HEAVY_SYNC_MAX) == 1);
	assert_true(isnan(compare_measured(&comparison.rows[0], ALL_MEAN)));
	free_run(&comparison);
}

static void test_a_message_too_many_is_noticed(void **state)
{
	struct comparison comparison = run("neilsen", 500, 20, 1);
	struct compare_row *row = &comparison.rows[0];

	(void)state;
	row->light.entry.all.max = 4;
	compare_judge(&comparison);
	assert_true(comparison.violated);
	assert_int_equal(verdict_on(&comparison, 0, LIGHT_MAX, "D + 1"), CLAIM_VIOLATED);
	row->light.entry.all.max = 3;
	compare_judge(&comparison);
	assert_false(comparison.violated);

	/* Set a mean that is two per cent off, which is more than chance allows. */
	double mean = row->light.messages.mean;
	row->light.messages.mean = mean * 1.04;
	compare_judge(&comparison);
	assert_int_equal(verdict_on(&comparison, 0, LIGHT_MEAN, "3 - 5/N + 2/N^2"), CLAIM_VIOLATED);
	row->light.messages.mean = mean * 0.96;
	compare_judge(&comparison);
	assert_int_equal(verdict_on(&comparison, 0, LIGHT_MEAN, "3 - 5/N + 2/N^2"), CLAIM_VIOLATED);
	/* With too few entries there is no verdict. */
	row->light.messages.count = 100;
	compare_judge(&comparison);
	assert_int_equal(verdict_on(&comparison, 0, LIGHT_MEAN, "3 - 5/N + 2/N^2"),
	                 CLAIM_UNMEASURED);
	row->heavy.sync_max = 1.000001;
	compare_judge(&comparison);
	assert_int_equal(verdict_on(&comparison, 0, HEAVY_SYNC_MAX, "1"), CLAIM_VIOLATED);
	row->light.messages.count = 10000;
	row->light.entry.all.min = 1;
	compare_judge(&comparison);
	assert_int_equal(verdict_on(&comparison, 0, LIGHT_MIN, "0"), CLAIM_VIOLATED);
	free_run(&comparison);
}

static void test_a_claim_that_is_refuted_violates_nothing(void **state)
{
	struct comparison comparison = run("misra", 50, 1, 1);

	(void)state;
	assert_int_equal(verdict_on(&comparison, 0, REGENERATED_MAX, "N"), CLAIM_REFUTED);
	assert_int_equal(verdict_on(&comparison, 0, REGENERATED_MAX, "N + 1"), CLAIM_HELD);
	assert_int_equal(comparison.verdict_counts[CLAIM_OTHER], 0);
	assert_false(comparison.violated);
	free_run(&comparison);
}

static void test_a_run_that_goes_wrong_violates(void **state)
{
	struct comparison comparison = run("central", 50, 1, 1);

	(void)state;
	comparison.rows[1].violation = "two nodes are inside at once";
	compare_judge(&comparison);
	assert_true(comparison.violated);
	free_run(&comparison);
}

static void test_growth_is_judged_by_sizes_that_are_far_apart(void **state)
{
	struct comparison comparison = run("korach-moran-zaks", 1, 20, 1);

	(void)state;
	assert_int_equal(verdict_on(&comparison, 0, ALL_MEAN, "N log(N)"), CLAIM_UNMEASURED);
	assert_int_equal(verdict_on(&comparison, 1, ALL_MEAN, "N log(N)"), CLAIM_HELD);
	comparison.rows[1].all.messages.mean = 64 * 64; /* set a mean as if it grew with n^2 */
	comparison.rows[0].all.messages.mean = 4 * 4;
	compare_judge(&comparison);
	assert_int_equal(verdict_on(&comparison, 1, ALL_MEAN, "N log(N)"), CLAIM_VIOLATED);
	free_run(&comparison);
}

static void test_threads_make_no_difference(void **state)
{
	static const char *const names[] = {"helary", "misra", "suzuki-kasami-b",
	                                    "dolev-klawe-rodeh"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct comparison one = run(names[i], 50, 3, 1), many = run(names[i], 50, 3, 7);
		json_t *first = compare_report(&one), *second = compare_report(&many);
		assert_true(json_equal(first, second));
		json_decref(first);
		json_decref(second);
		free_run(&one);
		free_run(&many);
	}
}

static void test_parameters_that_are_claimed_about_are_subjects_of_their_own(void **state)
{
	const struct algorithm *const list[] = {algorithm_find("suzuki-kasami-b"),
	                                        algorithm_find("neilsen")};
	size_t count;
	struct compare_subject *subjects = compare_subjects(list, NULL, 2, "complete", &count);

	(void)state;
	assert_int_equal(count, 3);
	assert_null(subjects[0].parameter);
	assert_string_equal(subjects[1].parameter, "L=10");
	assert_ptr_equal(subjects[2].algorithm, list[1]);
	assert_string_equal(subjects[2].topology, "complete");
	free(subjects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_what_is_right_holds),
	        cmocka_unit_test(test_a_message_too_many_is_noticed),
	        cmocka_unit_test(test_a_claim_that_is_refuted_violates_nothing),
	        cmocka_unit_test(test_a_run_that_goes_wrong_violates),
	        cmocka_unit_test(test_growth_is_judged_by_sizes_that_are_far_apart),
	        cmocka_unit_test(test_threads_make_no_difference),
	        cmocka_unit_test(test_parameters_that_are_claimed_about_are_subjects_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
