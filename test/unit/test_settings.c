/*
 * The settings of a cluster as words and as text: what is refused, what is the same, and what
 * differs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "settings.h"

#include <string.h>

static struct problem problem;

static struct settings *create(struct settings_words words)
{
	struct settings *settings = settings_create(&words, &problem);

	if (settings == NULL)
		print_message("refused: %s\n", problem.text);
	assert_non_null(settings);
	return settings;
}

static void refuses(struct settings_words words, const char *why)
{
	assert_null(settings_create(&words, &problem));
	if (strstr(problem.text, why) == NULL)
		fail_msg("'%s' does not say '%s'", problem.text, why);
}

static void reads(struct settings_words words, const char *text)
{
	struct settings *settings = create(words);

	assert_string_equal(settings_text(settings), text);
	settings_destroy(settings);
}

/* Checks what a node that was given these words says about a cluster with that text. */
static void differs(struct settings_words words, const char *text, const char *why)
{
	struct settings *settings = create(words);
	struct daemon_settings resolved;

	assert_int_equal(settings_resolve(settings, text, &resolved, &problem), -1);
	if (strstr(problem.text, why) == NULL)
		fail_msg("'%s' does not say '%s'", problem.text, why);
	settings_destroy(settings);
}

static void agrees(struct settings_words words, const char *text)
{
	struct settings *settings = create(words);
	struct daemon_settings resolved;

	if (settings_resolve(settings, text, &resolved, &problem) != 0)
		fail_msg("%s", problem.text);
	settings_destroy(settings);
}

static void test_defaults_are_written(void **state)
{
	(void)state;
	reads((struct settings_words){0}, "algorithm = neilsen\n"
	                                  "topology = star\n"
	                                  "param = init=computed\n"
	                                  "lease = 3s\n");
	reads((struct settings_words){.algorithm = "suzuki-kasami-b",
	                              .lease = "2500ms",
	                              .parameters = {"L=4"},
	                              .parameters_count = 1},
	      "algorithm = suzuki-kasami-b\n"
	      "topology = complete\n"
	      "param = L=4\n"
	      "lease = 2500ms\n");
}

static void test_a_default_that_is_given_gives_the_same_text(void **state)
{
	struct settings *one = create((struct settings_words){0});
	struct settings *other = create((struct settings_words){
	        .algorithm = "neilsen", .topology = "star", .lease = "3000ms"});

	(void)state;
	assert_string_equal(settings_text(one), settings_text(other));
	settings_destroy(one);
	settings_destroy(other);
}

static void test_what_was_not_given_never_differs(void **state)
{
	static const char theirs[] = "algorithm = helary\ntopology = ring\nlease = 7s\n";
	struct settings *settings = create((struct settings_words){0});
	struct daemon_settings resolved;

	(void)state;
	assert_int_equal(settings_resolve(settings, theirs, &resolved, &problem), 0);
	assert_string_equal(resolved.algorithm->name, "helary");
	assert_string_equal(resolved.topology, "ring");
	assert_int_equal(resolved.lease_ms, 7000);
	assert_false(resolved.wiring.complete);
	assert_int_equal(resolved.wiring.topology.kind, TOPOLOGY_RING);
	assert_null(resolved.wiring.links.list);
	/* settings_resolve may be called again, and the first result stays valid. */
	struct daemon_settings again;
	assert_int_equal(settings_resolve(settings, settings_text(settings), &again, &problem), 0);
	assert_true(again.wiring.complete);
	assert_string_equal(resolved.topology, "ring");
	settings_destroy(settings);
}

static void test_a_difference_names_both_values(void **state)
{
	static const char usual[] = "algorithm = neilsen\ntopology = star\nlease = 3s\n";
	static const char linked[] = "algorithm = helary\nlinks = a-b,b-c\nlease = 3s\n";
	static const char counted[] =
	        "algorithm = suzuki-kasami-b\ntopology = complete\nparam = L=2\nlease = 3s\n";

	(void)state;
	differs((struct settings_words){.lease = "5s"}, usual,
	        "--lease 5s: this cluster's lease is 3s, which was fixed when it was born");
	differs((struct settings_words){.algorithm = "central"}, usual,
	        "--algorithm central: this cluster's algorithm is neilsen");
	differs((struct settings_words){.topology = "tree:2"}, usual,
	        "--topology tree:2: this cluster's topology is star");
	differs((struct settings_words){.algorithm = "helary", .topology = "ring"}, linked,
	        "--topology ring: this cluster's links are a-b,b-c");
	differs((struct settings_words){.algorithm = "helary", .links = "a-c,b-c"}, linked,
	        "--links a-c,b-c: this cluster's links are a-b,b-c");
	differs((struct settings_words){.algorithm = "suzuki-kasami-b",
	                                .parameters = {"L=3"},
	                                .parameters_count = 1},
	        counted, "--param L=3: this cluster's L is 2");
	agrees((struct settings_words){.lease = "3000ms", .algorithm = "neilsen"}, usual);
	agrees((struct settings_words){.algorithm = "helary", .links = "c-b,a-b,b-a"}, linked);
	agrees((struct settings_words){.algorithm = "suzuki-kasami-b",
	                               .parameters = {"L=2"},
	                               .parameters_count = 1},
	       counted);
}

static void test_what_fixes_the_number_of_members_is_refused(void **state)
{
	(void)state;
	refuses((struct settings_words){.topology = "edges:1-2,2-3"},
	        "fixes the number of members");
	refuses((struct settings_words){.algorithm = "helary", .topology = "grid:2x3"},
	        "fixes the number of members");
	refuses((struct settings_words){.topology = "file:/etc/edges"},
	        "fixes the number of members");
	refuses((struct settings_words){.algorithm = "maekawa",
	                                .parameters = {"committees=1.2/2.3/3.1"},
	                                .parameters_count = 1},
	        "--param committees=1.2/2.3/3.1: it fixes the number of members");
	refuses((struct settings_words){.algorithm = "maekawa",
	                                .parameters = {"committees=plane"},
	                                .parameters_count = 1},
	        "must work with any number of them");
	refuses((struct settings_words){.topology = "ring"}, "does not suit neilsen");
}

static void test_what_is_for_study_is_refused(void **state)
{
	(void)state;
	refuses((struct settings_words){.algorithm = "chang-roberts"}, "this is an election");
	refuses((struct settings_words){.algorithm = "maekawa",
	                                .parameters = {"text=printed"},
	                                .parameters_count = 1},
	        "laboratory");
	refuses((struct settings_words){.algorithm = "suzuki-kasami-b",
	                                .parameters = {"replies=off"},
	                                .parameters_count = 1},
	        "laboratory");
	refuses((struct settings_words){.lease = "499ms"}, "from 500ms to 24h");
	refuses((struct settings_words){.algorithm = "nielsen"}, "did you mean 'neilsen'");
}

static void test_links_by_name(void **state)
{
	struct settings *settings = create((struct settings_words){
	        .algorithm = "helary", .links = "web-2--web-1,web-3--web-1,web-1--web-2"});
	struct daemon_settings resolved;

	(void)state;
	assert_string_equal(settings_text(settings), "algorithm = helary\n"
	                                             "links = web-1--web-2,web-1--web-3\n"
	                                             "param = broadcast=controlled\n"
	                                             "lease = 3s\n");
	assert_int_equal(settings_resolve(settings, settings_text(settings), &resolved, &problem),
	                 0);
	assert_null(resolved.topology);
	assert_int_equal(resolved.wiring.links.count, 2);
	assert_string_equal(resolved.wiring.links.list[1].a, "web-1");
	assert_string_equal(resolved.wiring.links.list[1].b, "web-3");
	settings_destroy(settings);
	refuses((struct settings_words){.links = "a-b"}, "helary does");
	refuses((struct settings_words){.algorithm = "helary", .links = "a-b", .topology = "ring"},
	        "--links and --topology");
	refuses((struct settings_words){.algorithm = "helary", .links = "a-b,c-d"},
	        "not connected");
	refuses((struct settings_words){.algorithm = "helary", .links = "a-a"}, "two nodes");
	refuses((struct settings_words){.algorithm = "helary", .links = "web-1-web-2"},
	        "NAME-NAME is needed");
	refuses((struct settings_words){.algorithm = "helary", .links = "a-b,"},
	        "NAME-NAME is needed");
}

static void test_a_text_that_is_malformed_is_refused(void **state)
{
	static const char *const texts[] = {
	        "",
	        "algorithm = neilsen\nlease = 3s\n",
	        "algorithm = neilsen\ntopology = star\nlease = 3s\ncolour = red\n",
	        "algorithm neilsen\n",
	        "algorithm = neilsen\ntopology = star\nlease = soon\n",
	        "algorithm = none\ntopology = star\nlease = 3s\n",
	};
	struct settings *settings = create((struct settings_words){0});
	struct daemon_settings resolved;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(settings_resolve(settings, texts[i], &resolved, &problem), -1);
	settings_destroy(settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_defaults_are_written),
	        cmocka_unit_test(test_a_default_that_is_given_gives_the_same_text),
	        cmocka_unit_test(test_what_was_not_given_never_differs),
	        cmocka_unit_test(test_a_difference_names_both_values),
	        cmocka_unit_test(test_what_fixes_the_number_of_members_is_refused),
	        cmocka_unit_test(test_what_is_for_study_is_refused),
	        cmocka_unit_test(test_links_by_name),
	        cmocka_unit_test(test_a_text_that_is_malformed_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
