#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "claims.h"
#include "formula.h"
#include "registry.h"

#include <math.h>
#include <string.h>

static double value_of(const char *text, double n)
{
	const struct formula_variable variables[] = {{'N', n}, {'D', 3}, {'E', 12}, {'L', 4}};
	double value = NAN;

	assert_int_equal(formula_evaluate(text, variables, 4, &value), 0);
	return value;
}

static void test_formulas_have_the_values_that_a_hand_computes(void **state)
{
	static const struct {
		const char *text;
		double n, value;
	} cases[] = {
	        {"3", 7, 3},
	        {"3(N - 1)", 5, 12},
	        {"3 - 5/N + 2/N^2", 10, 2.52},
	        {"3 - 5/N + 2/N^2", 2, 1},
	        {"2(N^2 - 1)/(3N)", 4, 2.5},
	        {"(1 - 1/N)(N + (N - 1)/L)", 5, 4.8},
	        {"N - 1 + D", 6, 8},
	        {"2E + N - 1", 6, 29},
	        {"7 sqrt(N)", 16, 28},
	        {"N(N + 1)/2", 8, 36},
	        {"2N log(N) + N", 8, 56},
	        {"2N floor(log(N)) + N", 7, 35},
	        {"8N(1 + log(N))", 4, 96},
	        {"N H(N)", 4, 25.0 / 3},
	        {"1.44N log(N)", 4, 11.52},
	        /* 5 + 2 * 2 + 4 * 1 + 8 * 1: floor(5/2), floor(5/3), floor(5/5) */
	        {"S(N)", 5, 21},
	        {"S(N)", 1, 1},
	        {"4 S(N)", 2, 16},
	        /* The Fibonacci numbers are 1 1 2 3 5 8; F(N) is the greatest k with the (k+2)-nd
	         * at most N. */
	        {"F(N)", 1, 0},
	        {"F(N)", 2, 1},
	        {"F(N)", 4, 2},
	        {"F(N)", 8, 4},
	        {"1 + 2B(N)", 127, 3},
	        {"1 + 2B(N)", 128, 5},
	        {"2^3^2", 1, 512},
	        {"12/3/2", 1, 2},
	        {"10 - 3 - 2", 1, 5},
	        {" ( N ) ", 4, 4},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double value = value_of(cases[i].text, cases[i].n);
		if (fabs(value - cases[i].value) > 1e-9)
			fail_msg("%s of %g is %g, not %g", cases[i].text, cases[i].n, value,
			         cases[i].value);
	}
}

static void test_what_is_no_formula_is_refused(void **state)
{
	static const char *const texts[] = {"",      "N -",   "(N",     "N)", "2 * N",
	                                    "X",     "log N", "sin(N)", "N,", "N - - 1",
	                                    "log()", "^2",    "/N",     "N^"};
	const struct formula_variable n = {'N', 4};
	double value = 17;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (formula_evaluate(texts[i], &n, 1, &value) != -1)
			fail_msg("'%s' is no formula", texts[i]);
	}
	assert_true(value == 17);
}

static struct setup make(const char *algorithm, const char *topology, uint32_t nodes,
                         const char *parameter)
{
	const struct setup_words words = {
	        .algorithm = algorithm,
	        .topology = topology,
	        .nodes = nodes,
	        .seed = 1,
	        .parameters = {parameter},
	        .parameters_count = parameter != NULL,
	};
	struct problem problem;
	struct setup setup;

	if (setup_make(&words, &setup, &problem) != 0)
		fail_msg("%s", problem.text);
	return setup;
}

/* Every claim can be evaluated on its algorithm's own topology, or on the one that the claim
 * names. */
static void test_every_claim_has_a_value(void **state)
{
	static const char *const topologies[CLAIM_GRAPHS] = {
	        [ON_TREE] = "tree:2",      [ON_STAR] = "star", [ON_LINE] = "line",
	        [ON_BRANCHING] = "tree:3", [ON_RING] = "ring", [ON_COMPLETE] = "complete",
	};

	(void)state;
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
		struct setup setup =
		        make(claim->algorithm, topologies[claim->graph], 16, claim->parameter);
		struct claim_facts facts;
		claim_facts_make(&setup, &facts);
		double value = claim_value(claim, &facts);
		if (isnan(value) || value < 0)
			fail_msg("%s: %s is %g", claim->algorithm, claim->formula, value);
		assert_true(claim_concerns(claim, setup.network.algorithm, claim->parameter));
		assert_false(claim->where != NULL && *claim->where == '\0');
		setup_free(&setup);
	}
}

static bool is_branching(const char *topology, uint32_t nodes)
{
	struct setup setup = make("raymond", topology, nodes, NULL);
	struct claim_facts facts;

	claim_facts_make(&setup, &facts);
	setup_free(&setup);
	return facts.is[ON_BRANCHING];
}

/* A short tree is not enough: the arms of a star and of a plain radiating star do not branch. */
static void test_a_radiating_star_has_arms_that_branch(void **state)
{
	(void)state;
	assert_true(is_branching("tree:2", 10));
	assert_true(is_branching("tree:3", 64));
	assert_false(is_branching("star", 16));
	assert_false(is_branching("radiating:32", 64));
	assert_false(is_branching("line", 4));
	assert_false(is_branching("tree:2", 4));
}

static void test_every_algorithm_has_claims_and_each_claim_an_algorithm(void **state)
{
	(void)state;
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		size_t count = 0;
		for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++)
			count += claim_concerns(claim, algorithms[i], NULL);
		if (count == 0)
			fail_msg("nothing is claimed of %s", algorithms[i]->name);
	}
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++)
		assert_non_null(algorithm_find(claim->algorithm));
}

static bool counts_messages(enum quantity quantity)
{
	switch ((int)quantity) {
	case LIGHT_MEAN:
	case LIGHT_MIN:
	case LIGHT_MAX:
	case HEAVY_MEAN:
	case ALL_MEAN:
	case ALL_MIN:
	case ALL_MAX:
		return true;
	default:
		return false;
	}
}

/* The headline is taken from a document that has a claim about messages; where there is none, there
 * is no headline. */
static void test_headlines_are_what_documents_claim(void **state)
{
	(void)state;
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL; claim++) {
		const struct algorithm *algorithm = algorithm_find(claim->algorithm);
		if (claim->where != NULL && counts_messages(claim->quantity) &&
		    headline_of(algorithm, claim->parameter) == NULL)
			fail_msg("%s: %s claims %s, and there is no headline", claim->algorithm,
			         claim->where, claim->formula);
	}
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		const struct headline *headline = headline_of(algorithms[i], NULL);
		bool found = headline == NULL;
		for (const struct paper_claim *claim = claims; claim->algorithm != NULL && !found;
		     claim++)
			found = claim_concerns(claim, algorithms[i], NULL) &&
			        counts_messages(claim->quantity) && claim->where != NULL &&
			        strncmp(claim->where, headline->where, 7) == 0;
		if (!found)
			fail_msg("%s: %s has no such claim", algorithms[i]->name, headline->where);
	}
	assert_null(headline_of(algorithm_find("dijkstra-ring"), NULL));
	assert_string_equal(headline_of(algorithm_find("maekawa"), NULL)->where,
	                    "Neilsen 2.6, 6.1");
	assert_true(claim_of_document(algorithm_find("neilsen"), HEAVY_SYNC_MAX));
	assert_false(claim_of_document(algorithm_find("lamport"), HEAVY_SYNC_MAX));
}

/* Returns the value of the first claim about the algorithm with that formula, on that network. */
static double claimed(const char *algorithm, const char *formula, const char *topology,
                      uint32_t nodes, const char *parameter)
{
	struct setup setup = make(algorithm, topology, nodes, parameter);
	struct claim_facts facts;
	double value = NAN;

	claim_facts_make(&setup, &facts);
	for (const struct paper_claim *claim = claims; claim->algorithm != NULL && isnan(value);
	     claim++) {
		if (claim_concerns(claim, setup.network.algorithm, parameter) &&
		    strcmp(claim->formula, formula) == 0)
			value = claim_value(claim, &facts);
	}
	setup_free(&setup);
	return value;
}

static void test_claims_know_the_network(void **state)
{
	(void)state;
	assert_true(claimed("neilsen", "D + 1", "line", 7, NULL) == 7);
	assert_true(claimed("neilsen", "D + 1", "tree:2", 7, NULL) == 5);
	assert_true(claimed("neilsen", "D + 1", "star", 7, NULL) == 3);
	assert_true(claimed("raymond", "2D", "radiating:3", 7, NULL) == 8);
	assert_true(claimed("helary", "2E + N - 1", "grid:3x3", 9, NULL) == 32);
	assert_true(claimed("helary", "N - 1 + D", "line", 5, NULL) == 8);
	assert_true(claimed("helary", "D", "ring", 9, NULL) == 4);
	assert_true(claimed("suzuki-kasami-b", "N + (N - 1)/L", NULL, 5, NULL) == 7);
	assert_true(claimed("suzuki-kasami-b", "N + (N - 1)/L", NULL, 11, "L=10") == 12);
	/* A plane of seven nodes has committees of three, and a cyclic cover of sixteen has
	 * committees of five. */
	assert_true(claimed("maekawa", "3(K - 1)", NULL, 7, NULL) == 6);
	assert_true(claimed("maekawa", "3(K - 1)", NULL, 16, NULL) == 12);
	/* In a grid of four nodes and in a cover of five, all committees have three nodes. */
	assert_true(claimed("maekawa", "3(K - 1)", NULL, 4, NULL) == 6);
	assert_true(claimed("maekawa", "3(k - 1)", NULL, 5, NULL) == 6);
}

static void test_a_claim_about_another_graph_says_nothing(void **state)
{
	(void)state;
	assert_true(isnan(claimed("neilsen", "3 - 5/N + 2/N^2", "line", 7, NULL)));
	assert_true(isnan(claimed("helary", "N - 1 + D", "ring", 7, NULL)));
	/* The claim is about a radiating star whose arms branch. */
	assert_true(claimed("raymond", "log(N)", "tree:2", 16, NULL) == 4);
	assert_true(isnan(claimed("raymond", "log(N)", "radiating:8", 16, NULL)));
	assert_true(isnan(claimed("raymond", "log(N)", "star", 16, NULL)));
	assert_true(isnan(claimed("raymond", "log(N)", "radiating:3", 16, NULL)));
	assert_true(isnan(claimed("raymond", "log(N)", "line", 16, NULL)));
	assert_true(isnan(claimed("helary", "N + 2", "ring", 4, NULL)));
	assert_true(!isnan(claimed("helary", "N + 2", "ring", 5, NULL)));
	/* A triangle is both a ring and complete; two nodes are every topology at once. */
	assert_true(!isnan(claimed("helary", "N + 1", "complete", 3, NULL)));
	assert_true(!isnan(claimed("helary", "N - 1 + D", "ring", 2, NULL)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_formulas_have_the_values_that_a_hand_computes),
	        cmocka_unit_test(test_what_is_no_formula_is_refused),
	        cmocka_unit_test(test_every_claim_has_a_value),
	        cmocka_unit_test(test_a_radiating_star_has_arms_that_branch),
	        cmocka_unit_test(test_every_algorithm_has_claims_and_each_claim_an_algorithm),
	        cmocka_unit_test(test_headlines_are_what_documents_claim),
	        cmocka_unit_test(test_claims_know_the_network),
	        cmocka_unit_test(test_a_claim_about_another_graph_says_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
