/*
 * `baton whoami` and `baton can`: which user the node takes this client for, and what that user may
 * do with a lock.
 */
#include "cli.h"
#include "memory.h"
#include "service.h"

#include <baton/baton.h>

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asking_words {
	const char *socket, *lock;
	bool json, help;
};

/* Returns 0; or -1 and a problem. `operands` says how many locks must be named. */
static int read_words(int argc, char **argv, int operands, struct asking_words *words,
                      struct problem *problem)
{
	static const struct option options[] = {
	        {"socket", required_argument, NULL, 'S'},
	        CLIENT_TLS_OPTIONS,
	        {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:h", options, problem)) != -1) {
		if (option == 'S')
			words->socket = optarg;
		else if (option == 'j')
			words->json = true;
		else if (option == 'h') {
			words->help = true;
			return 0;
		} else
			return -1;
	}
	if (argc - optind > operands)
		return problem_set(problem, "unexpected '%.60s'", argv[optind + operands]);
	if (argc - optind < operands)
		return problem_set(problem, "one lock is needed: baton can LOCK");
	words->lock = operands > 0 ? argv[optind] : NULL;
	return 0;
}

/* Asks the node. On failure returns NULL and the exit code in *ret_code, after printing the
 * reason. */
static json_t *ask(const char *command, const struct asking_words *words, int *ret_code)
{
	struct baton *baton = baton_open(words->socket);
	json_t *answer = NULL;
	char *text = NULL;

	memory_must(baton != NULL);
	*ret_code = service_reach(command, baton, NULL);
	if (*ret_code == 0) {
		int error = words->lock != NULL ? baton_can(baton, words->lock, &text)
		                                : baton_whoami(baton, &text);
		answer = service_json(command, baton, error, text, ret_code);
	}
	baton_close(baton);
	return answer;
}

/* --- whoami --- */

static void print_groups(const json_t *gids)
{
	const json_t *item;
	size_t i;

	json_array_foreach ((json_t *)gids, i, item) {
		const struct group *group = getgrgid((gid_t)json_integer_value(item));
		printf("%s%lld",
		       i == 0 ? (json_array_size(gids) == 1 ? ", group " : ", groups ") : ", ",
		       (long long)json_integer_value(item));
		if (group != NULL)
			printf(" (%s)", group->gr_name);
	}
}

/* Prints who the client is. The node knows only the numbers of users and groups; this host has
 * names for them. */
static void print_identity(const json_t *answer)
{
	const json_t *uid = json_object_get(answer, "uid");
	const char *certificate = json_string_value(json_object_get(answer, "certificate"));

	if (certificate != NULL) {
		printf("certificate %s", certificate);
	} else if (json_is_integer(uid)) {
		const struct passwd *user = getpwuid((uid_t)json_integer_value(uid));
		printf("uid %lld", (long long)json_integer_value(uid));
		if (user != NULL)
			printf(" (%s)", user->pw_name);
		print_groups(json_object_get(answer, "gids"));
	} else {
		printf("a client over TCP without a certificate");
	}
	putchar('\n');
}

int command_whoami(int argc, char **argv)
{
	struct asking_words words = {0};
	struct problem problem;
	int code;

	if (read_words(argc, argv, 0, &words, &problem) != 0)
		return usage_problem("whoami", &problem);
	if (words.help) {
		print_help("whoami");
		return EXIT_HELD;
	}
	json_t *answer = ask("whoami", &words, &code);
	if (answer == NULL)
		return code;
	if (words.json) {
		print_json(answer);
		return EXIT_HELD;
	}
	const char *node = json_string_value(json_object_get(answer, "node"));
	print_identity(answer);
	printf("%s %s\n", node != NULL ? node : "The node",
	       json_is_true(json_object_get(answer, "rules"))
	               ? "has rules: 'baton can LOCK' shows what they allow you"
	               : "has no rules: everybody may do everything");
	json_decref(answer);
	return EXIT_HELD;
}

/* --- can --- */

int command_can(int argc, char **argv)
{
	struct asking_words words = {0};
	struct problem problem;
	const json_t *verb;
	size_t i;
	int code;

	if (read_words(argc, argv, 1, &words, &problem) != 0)
		return usage_problem("can", &problem);
	if (words.help) {
		print_help("can");
		return EXIT_HELD;
	}
	json_t *answer = ask("can", &words, &code);
	if (answer == NULL)
		return code;
	const json_t *verbs = json_object_get(answer, "verbs");
	code = json_array_size(verbs) > 0 ? EXIT_HELD : EXIT_NOT_PERMITTED;
	if (words.json) {
		print_json(json_pack("{s:o?, s:O, s:O?}", "lock", json_string(words.lock), "verbs",
		                     verbs, "rules", json_object_get(answer, "rules")));
	} else {
		json_array_foreach ((json_t *)verbs, i, verb)
			puts(json_string_value(verb));
		if (code != EXIT_HELD)
			fprintf(stderr, "baton can: no rule allows you anything with '%s'\n",
			        words.lock);
	}
	json_decref(answer);
	return code;
}
