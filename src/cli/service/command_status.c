/*
 * baton status: prints the members, the locks with their holders, and who waits, as a table within
 * 100 columns.
 */
#include "cli.h"
#include "memory.h"
#include "service.h"
#include "table.h"

#include <baton/baton.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READY_S = 3 }; /* how long a probe may take, in seconds */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text != NULL ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void print_client(const char *lock, const char *fence, const json_t *client,
                         const char *what)
{
	char process[32] = "-", age[24];

	if (json_is_integer(json_object_get(client, "pid")))
		snprintf(process, sizeof(process), "%lld", (long long)number_of(client, "pid"));
	table_age(age, sizeof(age), number_of(client, "since_ms"));
	table_cell(lock, 20, false);
	table_cell(fence, 16, false);
	table_cell(what, 5, false);
	table_cell(text_of(client, "node"), 12, false);
	table_cell(process, 7, false);
	table_cell(age, 5, false);
	table_cell(text_of(client, "command"), 22, true);
	putchar('\n');
	if (json_is_true(json_object_get(client, "losing"))) {
		table_cell("", 20, false);
		puts("is being taken away: the holder was told and has not stopped yet");
	}
}

static void print_locks(const json_t *locks, const char *pattern)
{
	size_t i, k;
	const json_t *lock, *client;
	char fence[24];

	if (json_array_size(locks) == 0) {
		puts(pattern == NULL ? "\nNobody holds a lock or waits for one."
		                     : "\nNobody holds such a lock or waits for one.");
		return;
	}
	putchar('\n');
	table_cell("LOCK", 20, false);
	table_cell("FENCE", 16, false);
	table_cell("WHO", 5, false);
	table_cell("NODE", 12, false);
	table_cell("PID", 7, false);
	table_cell("SINCE", 5, false);
	/* The command line of the process that connected, such as `baton run`, not of the command
	 * that it runs. */
	table_cell("CLIENT'S COMMAND LINE", 22, true);
	putchar('\n');
	json_array_foreach ((json_t *)locks, i, lock) {
		const json_t *holder = json_object_get(lock, "holder");
		const json_t *waiters = json_object_get(lock, "waiters");
		const char *name = text_of(lock, "name");
		snprintf(fence, sizeof(fence), "%lld", (long long)number_of(lock, "fence"));
		if (json_is_object(holder))
			print_client(name, fence, holder, "holds");
		json_array_foreach ((json_t *)waiters, k, client) {
			bool first = k == 0 && !json_is_object(holder);
			print_client(first ? name : "", "", client, "waits");
		}
		if (strcmp(text_of(lock, "order"), "by node") == 0) {
			table_cell("", 20, false);
			puts("its waiters are listed by node: in which order they are served is "
			     "not known");
		}
	}
}

static void print_members(const json_t *status)
{
	size_t i;
	const json_t *member;

	table_cell("MEMBER", 20, false);
	table_cell("ADDRESS", 28, false);
	table_cell("STATE", 10, true);
	putchar('\n');
	json_array_foreach (json_object_get(status, "members"), i, member) {
		const char *address = text_of(member, "address");
		table_cell(text_of(member, "name"), 20, false);
		table_cell(*address != '\0' ? address : "-", 28, false);
		table_cell(text_of(member, "state"), 10, true);
		putchar('\n');
	}
}

static bool serves(const json_t *status)
{
	return json_is_null(json_object_get(status, "waiting_for"));
}

enum { WARN_DAYS = 30 };

static void print_status(const json_t *status, const char *pattern, uint64_t count)
{
	const json_t *messages = json_object_get(status, "messages");
	json_int_t grants = number_of(status, "grants"), sent = number_of(messages, "sent");
	const char *waiting_for = text_of(status, "waiting_for");
	/* A node without a view also lists only itself. */
	bool alone = serves(status) && json_array_size(json_object_get(status, "members")) == 1;

	printf("%s: %sepoch %lld, %s on %.40s\n", text_of(status, "node"),
	       alone ? "a cluster of one, " : "", (long long)number_of(status, "epoch"),
	       text_of(status, "algorithm"), text_of(status, "topology"));
	/* Only a client that may see all locks is told these figures. */
	if (json_is_object(messages)) {
		printf("%lld grant%s, %lld message%s", (long long)grants, grants == 1 ? "" : "s",
		       (long long)sent, sent == 1 ? "" : "s");
		if (grants > 0)
			printf(", %.2f a grant", (double)sent / (double)grants);
		putchar('\n');
	}
	/* If the node waits for nothing, the text begins with this word. The rest of the text says
	 * why the node does not serve, for instance because it is a witness. */
	static const char nothing[] = "nothing: ";
	if (strncmp(waiting_for, nothing, strlen(nothing)) == 0)
		printf("Not serving: %s\n", waiting_for + strlen(nothing));
	else if (*waiting_for != '\0')
		printf("Not serving: waiting for %s\n", waiting_for);
	const json_t *days = json_object_get(status, "certificate_days");
	if (json_is_integer(days) && json_integer_value(days) <= WARN_DAYS)
		printf("The node's certificate ends in %lld days: replace it, then send SIGHUP\n",
		       (long long)json_integer_value(days));
	putchar('\n');
	print_members(status);
	print_locks(json_object_get(status, "locks"), pattern);
	if (json_array_size(json_object_get(status, "locks")) >= count)
		printf("\nThere may be more: at most %llu locks of each member are shown; see "
		       "--count.\n",
		       (unsigned long long)count);
}

/* Asks a node for its status. Returns NULL on failure, and *ret_code is the exit code; the reason
 * was printed. */
static json_t *ask_status(const char *address, const char *pattern, uint64_t count, int *ret_code)
{
	struct baton *baton = baton_open(address);
	json_t *status = NULL;
	char *text = NULL;

	memory_must(baton != NULL);
	*ret_code = service_reach("status", baton, NULL);
	if (*ret_code == 0) {
		int error = baton_status(baton, pattern, (uint32_t)count, &text);
		status = service_json("status", baton, error, text, ret_code);
	}
	baton_close(baton);
	return status;
}

static void give_up(int signal)
{
	(void)signal;
	_exit(EXIT_UNAVAILABLE);
}

/* Asks whether the node serves, for health checks: prints nothing and ends in bounded time,
 * whatever the node does. */
static int probe(const char *address)
{
	const struct sigaction action = {.sa_handler = give_up};
	struct baton *baton = baton_open(address);

	memory_must(baton != NULL);
	sigaction(SIGALRM, &action, NULL);
	alarm(READY_S);
	int ready = baton_ready(baton);
	baton_close(baton);
	return ready < 0 ? EXIT_UNAVAILABLE : ready == 1 ? EXIT_HELD : EXIT_LIMIT;
}

struct status_words {
	const char *address, *pattern;
	uint64_t count;
	bool json, ready, help;
};

static int read_words(int argc, char **argv, struct status_words *words, struct problem *problem)
{
	static const struct option options[] = {
	        {"socket", required_argument, NULL, 'S'},
	        CLIENT_TLS_OPTIONS,
	        {"count", required_argument, NULL, 'c'},
	        {"ready", no_argument, NULL, 'r'},
	        {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:", options, problem)) != -1) {
		if (option == 'S')
			words->address = optarg;
		else if (option == 'j')
			words->json = true;
		else if (option == 'r')
			words->ready = true;
		else if (option == 'h') {
			words->help = true;
			return 0;
		} else if (option != 'c' || parse_number(optarg, 1, UINT32_MAX, "--count",
		                                         &words->count, problem) != 0)
			return -1;
	}
	if (argc - optind > 1)
		return problem_set(problem, "one pattern at most: unexpected '%.60s'",
		                   argv[optind + 1]);
	words->pattern = optind < argc ? argv[optind] : NULL;
	if (words->ready && (words->json || words->pattern != NULL))
		return problem_set(problem,
		                   "--ready prints nothing, so it takes no pattern and no --json");
	return 0;
}

int command_status(int argc, char **argv)
{
	struct status_words words = {.count = 1000};
	struct problem problem;
	int code;

	if (read_words(argc, argv, &words, &problem) != 0)
		return usage_problem("status", &problem);
	if (words.help) {
		print_help("status");
		return EXIT_HELD;
	}
	if (words.ready)
		return probe(words.address);
	json_t *status = ask_status(words.address, words.pattern, words.count, &code);
	if (status == NULL)
		return code;
	code = serves(status) ? EXIT_HELD : EXIT_LIMIT;
	if (words.json) {
		print_json(status);
		return code;
	}
	print_status(status, words.pattern, words.count);
	json_decref(status);
	return code;
}
