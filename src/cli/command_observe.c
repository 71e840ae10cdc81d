/*
 * `baton observe`: each leader of an election, as it changes.
 */
#include "cli.h"
#include "must.h"
#include "service.h"

#include <baton/baton.h>

#include <stdio.h>

static const struct option options_long[] = {
        {"socket", required_argument, NULL, 'S'},
        {"all", no_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

struct observe_words {
	const char *name, *socket;
	bool all, json;
};

/* A line stays a line, whatever a leader publishes. */
static void print_value(const char *value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)value[i];
		if (c < ' ' || c == 0x7f)
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	putchar('\n');
}

static void print_change(const struct observe_words *words, int change,
                         const struct baton_leader *leader)
{
	if (words->json) {
		/* Not UTF-8: null, rather than something else. */
		json_t *json = json_pack("{s:I, s:s, s:o?}", "fence", (json_int_t)leader->fence,
		                         "node", leader->node, "value",
		                         json_stringn(leader->value, leader->value_size));
		if (words->all)
			json_object_set_new(json, "leads", json_boolean(change == BATON_LEADS));
		print_json(json);
		return;
	}
	if (words->all)
		fputs(change == BATON_LEADS ? "leads " : "ended ", stdout);
	printf("%llu %s ", (unsigned long long)leader->fence, leader->node);
	print_value(leader->value, leader->value_size);
}

/* Ends only with an error. */
static int observe(struct baton *baton, const struct observe_words *words)
{
	struct baton_leader leader;
	int change = baton_observe(baton, words->name);

	while (change >= 0) {
		change = baton_observe_next(baton, BATON_FOREVER, &leader);
		if (change != BATON_LEADS && (change != BATON_LED || !words->all))
			continue;
		print_change(words, change, &leader);
		if (fflush(stdout) != 0)
			return EXIT_USAGE; /* main says why */
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
	must(baton != NULL);
	int code = service_reach("observe", baton);
	if (code == 0)
		code = observe(baton, &words);
	baton_close(baton);
	return code;
}
