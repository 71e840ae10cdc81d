/*
 * baton status: who is in the cluster, who holds what, who waits; a table for people within 100
 * columns.
 */
#include "cli.h"
#include "service.h"

#include <baton/baton.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long, in few letters: 250ms, 12s, 7m, 3h, 2d. */
static void write_age(char *room, size_t size, json_int_t ms)
{
	if (ms < 1000)
		snprintf(room, size, "%lldms", (long long)ms);
	else if (ms < 120000)
		snprintf(room, size, "%llds", (long long)ms / 1000);
	else if (ms < 7200000)
		snprintf(room, size, "%lldm", (long long)ms / 60000);
	else if (ms < 172800000)
		snprintf(room, size, "%lldh", (long long)ms / 3600000);
	else
		snprintf(room, size, "%lldd", (long long)ms / 86400000);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text != NULL ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* At most `width` columns, the last an ellipsis if it was cut; what a terminal might obey is shown as '?'. */
static void print_cell(const char *text, int width, bool last)
{
	int columns = 0, total = 0;

	for (const char *c = text; *c != '\0'; c++)
		total += (*c & 0xc0) != 0x80;
	for (const char *c = text; *c != '\0'; c++) {
		if ((*c & 0xc0) != 0x80) {
			if (total > width && columns == width - 1) {
				fputs("…", stdout);
				columns++;
				break;
			}
			columns++;
		}
		putchar((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c);
	}
	if (!last)
		printf("%*s", width - columns + 2, "");
}

static void print_client(const char *lock, const char *fence, const json_t *client,
                         const char *what)
{
	char process[32] = "-", age[24];

	if (json_is_integer(json_object_get(client, "pid")))
		snprintf(process, sizeof(process), "%lld", (long long)number_of(client, "pid"));
	write_age(age, sizeof(age), number_of(client, "since_ms"));
	print_cell(lock, 20, false);
	print_cell(fence, 16, false);
	print_cell(what, 5, false);
	print_cell(text_of(client, "node"), 12, false);
	print_cell(process, 7, false);
	print_cell(age, 5, false);
	print_cell(text_of(client, "command"), 22, true);
	putchar('\n');
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
	print_cell("LOCK", 20, false);
	print_cell("FENCE", 16, false);
	print_cell("WHO", 5, false);
	print_cell("NODE", 12, false);
	print_cell("PID", 7, false);
	print_cell("SINCE", 5, false);
	print_cell("COMMAND", 22, true);
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
	}
}

static void print_members(const json_t *status)
{
	size_t i;
	const json_t *member;

	print_cell("MEMBER", 20, false);
	print_cell("ADDRESS", 28, false);
	print_cell("STATE", 10, true);
	putchar('\n');
	json_array_foreach (json_object_get(status, "members"), i, member) {
		const char *address = text_of(member, "address");
		print_cell(text_of(member, "name"), 20, false);
		print_cell(*address != '\0' ? address : "-", 28, false);
		print_cell(text_of(member, "state"), 10, true);
		putchar('\n');
	}
}

static void print_status(const json_t *status, const char *pattern, uint64_t count)
{
	const json_t *messages = json_object_get(status, "messages");
	json_int_t grants = number_of(status, "grants"), sent = number_of(messages, "sent");
	const char *waiting_for = text_of(status, "waiting_for");

	printf("%s: epoch %lld, %s on %.40s\n", text_of(status, "node"),
	       (long long)number_of(status, "epoch"), text_of(status, "algorithm"),
	       text_of(status, "topology"));
	printf("%lld grant%s, %lld message%s", (long long)grants, grants == 1 ? "" : "s",
	       (long long)sent, sent == 1 ? "" : "s");
	if (grants > 0)
		printf(", %.2f a grant", (double)sent / (double)grants);
	putchar('\n');
	if (*waiting_for != '\0')
		printf("It serves nobody; it waits for: %s\n", waiting_for);
	putchar('\n');
	print_members(status);
	print_locks(json_object_get(status, "locks"), pattern);
	if (json_array_size(json_object_get(status, "locks")) >= count)
		printf("\nThere may be more: %llu locks of each member are shown; see --count.\n",
		       (unsigned long long)count);
}

int command_status(int argc, char **argv)
{
	static const struct option options[] = {
	        {"socket", required_argument, NULL, 'S'},
	        {"count", required_argument, NULL, 'c'},
	        {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	const char *address = NULL;
	struct problem problem;
	uint64_t count = 1000;
	bool as_json = false;
	char *text;
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:", options, &problem)) != -1) {
		if (option == 'S')
			address = optarg;
		else if (option == 'j')
			as_json = true;
		else if (option == 'h') {
			print_help("status");
			return EXIT_HELD;
		} else if (option != 'c' ||
		           parse_number(optarg, 1, UINT32_MAX, "--count", &count, &problem) != 0)
			return usage_problem("status", &problem);
	}
	if (argc - optind > 1) {
		problem_set(&problem, "one pattern at most: unexpected '%.60s'", argv[optind + 1]);
		return usage_problem("status", &problem);
	}
	struct baton *baton = baton_open(address);
	must(baton != NULL);
	const char *pattern = optind < argc ? argv[optind] : NULL;
	int code = service_reach("status", baton);
	int error = code == 0 ? baton_status(baton, pattern, (uint32_t)count, &text) : 0;
	if (error != 0)
		code = service_problem("status", baton, error);
	baton_close(baton);
	if (code != 0)
		return code;
	json_t *status = json_loads(text, 0, NULL);
	if (status == NULL) {
		fprintf(stderr, "baton status: the node's answer is no JSON\n");
		free(text);
		return EXIT_UNAVAILABLE;
	}
	free(text);
	if (as_json) {
		print_json(status);
		return EXIT_HELD;
	}
	print_status(status, pattern, count);
	json_decref(status);
	return EXIT_HELD;
}
