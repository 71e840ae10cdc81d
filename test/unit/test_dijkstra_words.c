/*
 * The regular expression of Dijkstra's ring is an invariant for every number of processes, and it
 * is exact where all states were counted.
 *
 * The proof works on the expression's automaton. A word is a state of the ring, read to the left
 * from the token; each rule of the algorithm rewrites it. A rule preserves the language if,
 * whatever surrounds the letters that it changes, a word stays a word. This is decided by walking
 * two copies of the automaton through all continuations at once, which ends although the length is
 * not bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dijkstra_ring_words.h"

#include <stdlib.h>
#include <string.h>

/* A step as a rule that rewrites a word. At the head, `before` and a rest become `after`, the rest
 * and `tail`. */
struct rule {
	const char *what, *before, *after, *tail;
	bool at_head; /* false: the rule applies anywhere but at the head, and there is no tail */
};

static const struct rule rules[] = {
        {"the holder enters", "n", "c", "", true},
        {"the holder leaves, white", "c", "n", "", true},
        {"the holder leaves, black", "C-", "t", "n", true},
        {"a white process asks", "-n", "sw", "", false},
        {"a black process asks", "N", "W", "", false},
        {"a signal passes", "-ns", "sN-", "", false},
        {"a signal ends at a process that waits", "ws", "W-", "", false},
        {"a signal ends at a critical process", "cs", "C-", "", true},
        {"a signal finds the token", "ns", "t", "n", true},
        {"the token ends a white process's wait", "tw", "c", "-", true},
        {"the token ends a black process's wait", "tW", "C", "-", true},
        {"the token passes", "tN-", "t", "-n", true},
};

/* Situations for which no step has a rule: a second message on a connection, a signal that finds
 * black (P4), a token that finds white and noncritical (P5), a holder that waits (P1) or idles
 * black (P6), and a critical process without the token (P0). */
static const struct {
	const char *letters;
	bool at_head;
} impossible[] = {
        {"Cs", true},  {"Ct", true},  {"sn", false}, {"sns", false}, {"Ns", false},
        {"Ws", false}, {"tNs", true}, {"tNt", true}, {"tn", true},   {"tc", true},
        {"tC", true},  {"w", true},   {"W", true},   {"N", true},    {"-", true},
        {"s", true},   {"c", false},  {"C", false},  {"t", false},
};

enum { STATES_MAX = 256, LETTERS_COUNT = 9 };

/* The automaton with numbered states; from state 0 no end can be reached. */
struct automaton {
	uint32_t count;
	uint64_t at[STATES_MAX];
	uint32_t next[STATES_MAX][LETTERS_COUNT];
	bool end[STATES_MAX];
};

static struct automaton permitted, changed;

static bool make_automaton(const char *expression, struct automaton *automaton)
{
	struct words words;

	if (!words_parse(expression, &words))
		return false;
	*automaton = (struct automaton){.count = 2, .at = {0, words_start()}};
	for (uint32_t i = 0; i < automaton->count; i++) {
		automaton->end[i] = words_end(&words, automaton->at[i]);
		for (uint32_t l = 0; l < LETTERS_COUNT; l++) {
			uint64_t at = words_read(&words, automaton->at[i], words_alphabet[l]);
			uint32_t k = 0;
			while (k < automaton->count && automaton->at[k] != at)
				k++;
			if (k == STATES_MAX)
				return false;
			if (k == automaton->count)
				automaton->at[automaton->count++] = at;
			automaton->next[i][l] = k;
		}
	}
	return true;
}

static uint32_t letter_number(char letter)
{
	return (uint32_t)(strchr(words_alphabet, letter) - words_alphabet);
}

static uint32_t read_letters(const struct automaton *automaton, uint32_t at, const char *letters)
{
	for (; *letters != '\0'; letters++)
		at = automaton->next[at][letter_number(*letters)];
	return at;
}

/* True if there are letters that lead from `a` to an end in the first automaton, while the same
 * letters and then `tail` do not lead from `b` to an end in the second. */
static bool part_ways(const struct automaton *one, uint32_t a, const struct automaton *other,
                      uint32_t b, const char *tail)
{
	static bool seen[STATES_MAX][STATES_MAX];
	static uint32_t list[STATES_MAX * STATES_MAX][2];
	size_t count = 1;

	memset(seen, 0, sizeof(seen));
	list[0][0] = a;
	list[0][1] = b;
	seen[a][b] = true;
	for (size_t i = 0; i < count; i++) {
		a = list[i][0];
		b = list[i][1];
		if (one->end[a] && !other->end[read_letters(other, b, tail)])
			return true;
		for (uint32_t l = 0; l < LETTERS_COUNT; l++) {
			uint32_t c = one->next[a][l], d = other->next[b][l];
			if (c == 0 || seen[c][d])
				continue;
			seen[c][d] = true;
			list[count][0] = c;
			list[count++][1] = d;
		}
	}
	return false;
}

static bool keeps_to_the_words(const struct automaton *automaton, const struct rule *rule)
{
	for (uint32_t at = 1; at < automaton->count; at++) {
		if (rule->at_head != (at == 1))
			continue;
		if (part_ways(automaton, read_letters(automaton, at, rule->before), automaton,
		              read_letters(automaton, at, rule->after), rule->tail))
			return false;
	}
	return true;
}

/* True if no word contains these letters. */
static bool is_impossible(const struct automaton *automaton, const char *letters, bool at_head)
{
	static const struct automaton none = {.count = 1};

	for (uint32_t at = 1; at < automaton->count; at++) {
		if (at_head == (at == 1) &&
		    part_ways(automaton, read_letters(automaton, at, letters), &none, 0, ""))
			return false;
	}
	return true;
}

/* "The token resides at an arbitrary process, all connections are unused and all processes are
 * white." */
static bool has_the_initial_states(const struct automaton *automaton)
{
	uint32_t at = read_letters(automaton, 1, "n-");

	for (uint32_t i = 0; i <= automaton->count; i++) {
		if (!automaton->end[at])
			return false;
		at = read_letters(automaton, at, "n-");
	}
	return true;
}

static bool is_closed(const struct automaton *automaton)
{
	if (!has_the_initial_states(automaton))
		return false;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!keeps_to_the_words(automaton, &rules[i]))
			return false;
	}
	for (size_t i = 0; i < sizeof(impossible) / sizeof(*impossible); i++) {
		if (!is_impossible(automaton, impossible[i].letters, impossible[i].at_head))
			return false;
	}
	return true;
}

/* The states and steps that `baton check dijkstra-ring --entries unlimited` reaches with this
 * number of processes. Each word stands for as many states as there are processes: it does not tell
 * at which process the token is. */
static const struct {
	uint64_t processes, states, steps;
} reached[] = {{1, 2, 2},       {2, 16, 28},      {3, 87, 219},       {4, 404, 1324},
               {5, 1735, 6995}, {6, 7122, 34068}, {7, 28385, 157087}, {8, 110776, 696160}};

static bool is_exact(const char *expression)
{
	struct words words;

	if (!words_parse(expression, &words))
		return false;
	for (size_t i = 0; i < sizeof(reached) / sizeof(*reached); i++) {
		uint32_t letters = (uint32_t)(2 * reached[i].processes);
		if (words_count(&words, letters) * reached[i].processes != reached[i].states)
			return false;
	}
	return true;
}

static void test_every_rule_keeps_to_the_words_with_any_number_of_processes(void **state)
{
	(void)state;
	assert_true(make_automaton(words_permitted, &permitted));
	assert_true(has_the_initial_states(&permitted));
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		if (!keeps_to_the_words(&permitted, &rules[i]))
			fail_msg("%s: %s", rules[i].what, words_permitted);
	}
	for (size_t i = 0; i < sizeof(impossible) / sizeof(*impossible); i++) {
		if (!is_impossible(&permitted, impossible[i].letters, impossible[i].at_head))
			fail_msg("%s is possible: %s", impossible[i].letters, words_permitted);
	}
}

static void test_as_many_words_as_states_are_reached(void **state)
{
	(void)state;
	assert_true(is_exact(words_permitted));
}

/* Counts the rules that apply to the word, with repetition. */
static uint64_t count_steps(const char *word)
{
	uint64_t steps = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		size_t size = strlen(rules[i].before), place = rules[i].at_head ? 0 : 1;
		size_t last = rules[i].at_head ? 0 : strlen(word);
		for (; place <= last; place++)
			steps += strncmp(word + place, rules[i].before, size) == 0;
	}
	return steps;
}

static uint64_t count_steps_from(const struct automaton *automaton, uint32_t at, char *word,
                                 size_t size, size_t letters)
{
	uint64_t steps = 0;

	if (size == letters)
		return automaton->end[at] ? count_steps(word) : 0;
	for (uint32_t l = 0; l < LETTERS_COUNT; l++) {
		if (automaton->next[at][l] == 0)
			continue;
		word[size] = words_alphabet[l];
		word[size + 1] = '\0';
		steps += count_steps_from(automaton, automaton->next[at][l], word, size + 1,
		                          letters);
	}
	return steps;
}

/* This shows that the rules above are those of the algorithm, at least in their number. */
static void test_the_rules_make_as_many_steps_as_the_algorithm(void **state)
{
	char word[32] = "";

	(void)state;
	assert_true(make_automaton(words_permitted, &permitted));
	for (size_t i = 0; i < sizeof(reached) / sizeof(*reached); i++) {
		uint64_t steps = count_steps_from(&permitted, 1, word, 0, 2 * reached[i].processes);
		assert_int_equal(steps * reached[i].processes, reached[i].steps);
	}
}

/* True if the expression is well formed and describes another language. */
static bool is_another(const char *expression)
{
	return make_automaton(expression, &changed) && (part_ways(&permitted, 1, &changed, 1, "") ||
	                                                part_ways(&changed, 1, &permitted, 1, ""));
}

/* Leaves out any one character of the expression, or replaces it by another. */
static void test_the_proof_fails_if_the_expression_changes(void **state)
{
	static const char signs[] = "nwcNWC-st*|";
	size_t size = strlen(words_permitted), others = 0;
	char *expression = malloc(size + 1);

	(void)state;
	assert_non_null(expression);
	assert_true(make_automaton(words_permitted, &permitted));
	for (size_t i = 0; i < size; i++) {
		for (size_t k = 0; k < sizeof(signs); k++) {
			memcpy(expression, words_permitted, size + 1);
			if (signs[k] != '\0')
				expression[i] = signs[k];
			else
				memmove(expression + i, expression + i + 1, size - i);
			if (!is_another(expression))
				continue;
			others++;
			if (is_exact(expression) && is_closed(&changed))
				fail_msg("as good: %s", expression);
		}
	}
	assert_true(others > 5 * size);
	free(expression);
}

static void test_a_malformed_expression_is_refused(void **state)
{
	static const char *const malformed[] = {"x",  "(n",  "n)",   "[n", "n]",
	                                        "*n", "[(]", "n**)", "(|", "[n-"};
	struct words words;

	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++)
		assert_false(words_parse(malformed[i], &words));
	assert_true(words_parse("n|(-|s)*t[nw]", &words));
	assert_int_equal(words_count(&words, 1), 1);
	assert_int_equal(words_count(&words, 2), 2);
	assert_int_equal(words_count(&words, 4), 8);
	assert_int_equal(words_count(&words, 80), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_every_rule_keeps_to_the_words_with_any_number_of_processes),
	        cmocka_unit_test(test_as_many_words_as_states_are_reached),
	        cmocka_unit_test(test_the_rules_make_as_many_steps_as_the_algorithm),
	        cmocka_unit_test(test_the_proof_fails_if_the_expression_changes),
	        cmocka_unit_test(test_a_malformed_expression_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
