/*
 * `baton observe`: prints each new leader of an election, and a line when nobody knows who leads.
 */
#include "cli.h"
#include "memory.h"
#include "service.h"
#include "tame.h"

#include <baton/baton.h>

#include <stdio.h>
#include <string.h>

static const struct option options_long[] = {
        {"socket", required_argument, NULL, 'S'}, CLIENT_TLS_OPTIONS,
        {"all", no_argument, NULL, 'a'},          {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

struct observe_words {
	const char *name, *socket;
	bool all, json;
};

/* Prints a value on one line, whatever bytes a leader publishes. */
static void print_value(const char *value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (tame_is_control(value[i]))
			printf("\\x%02x", (unsigned char)value[i]);
		else
			putchar(value[i]);
	}
	putchar('\n');
}

/* Splits the names of silent members, which are separated by blanks. */
static json_t *names_json(const char *names)
{
	json_t *list = json_array();

	for (const char *at = names; *at != '\0';) {
		size_t size = strcspn(at, " ");
		json_array_append_new(list, json_stringn(at, size));
		at += size + (at[size] == ' ');
	}
	return list;
}

static void print_json_change(const struct observe_words *words, int change,
                              const struct baton_leader *leader)
{
	bool known = change == BATON_LEADS || change == BATON_LED;
	json_t *json = json_object();

	json_object_set_new(json, "fence",
	                    known ? json_integer((json_int_t)leader->fence) : json_null());
	json_object_set_new(json, "node", known ? json_string(leader->node) : json_null());
	/* If the value is not UTF-8, print null. */
	json_t *value = known ? json_stringn(leader->value, leader->value_size) : NULL;
	json_object_set_new(json, "value", value != NULL ? value : json_null());
	json_object_set_new(json, "silent", json_boolean(leader->silent));
	if (change == BATON_UNKNOWN)
		json_object_set_new(json, "silent_members", names_json(leader->value));
	if (words->all || change == BATON_LED)
		json_object_set_new(json, "leads",
		                    change == BATON_UNKNOWN ? json_null()
		                                            : json_boolean(change == BATON_LEADS));
	print_json(json);
}

/* A fence is a number, so a program that reads "FENCE NODE VALUE" can recognise all other lines by
 * their first word. */
static void print_change(const struct observe_words *words, int change,
                         const struct baton_leader *leader)
{
	switch (change) {
	case BATON_UNKNOWN:
		fputs("unknown ", stdout);
		print_value(leader->value, leader->value_size);
		return;
	case BATON_NOBODY:
		puts("nobody");
		return;
	case BATON_LED:
		fputs("ended ", stdout);
		break;
	default:
		if (leader->silent)
			fputs("silent ", stdout);
		else if (words->all)
			fputs("leads ", stdout);
	}
	printf("%llu %s ", (unsigned long long)leader->fence, leader->node);
	print_value(leader->value, leader->value_size);
}

/* Prints every change. Returns only after an error. */
static int observe(struct baton *baton, const struct observe_words *words)
{
	struct baton_leader leader;
	bool silent = false; /* the leader that was printed last is silent */
	int change = baton_observe(baton, words->name);

	while (change >= 0) {
		change = baton_observe_next(baton, BATON_FOREVER, &leader);
		if (change <= 0)
			continue;
		/* The end of a leader is printed with --all only. But if it was printed as silent,
		 * its end must be printed too. */
		bool print = change != BATON_LED || words->all || silent;
		silent = change == BATON_LEADS && leader.silent;
		if (!print)
			continue;
		if (words->json)
			print_json_change(words, change, &leader);
		else
			print_change(words, change, &leader);
		if (fflush(stdout) != 0)
			return EXIT_USAGE; /* main prints why */
	}
	return service_problem("observe", baton, change);
}

int command_observe(int argc, char **argv)
{
	struct observe_words words = {0};
	struct problem problem;
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:ah", options_long, &problem)) !=
	       -1) {
		if (option == 'S')
			words.socket = optarg;
		else if (option == 'a')
			words.all = true;
		else if (option == 'j')
			words.json = true;
		else if (option == 'h') {
			print_help("observe");
			return EXIT_HELD;
		} else
			return usage_problem("observe", &problem);
	}
	if (argc - optind != 1) {
		problem_set(&problem, "one name is needed: baton observe NAME");
		return usage_problem("observe", &problem);
	}
	words.name = argv[optind];
	struct baton *baton = baton_open(words.socket);
	memory_must(baton != NULL);
	int code = service_reach("observe", baton, NULL);
	if (code == 0)
		code = observe(baton, &words);
	baton_close(baton);
	return code;
}
