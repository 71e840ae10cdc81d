/*
 * `baton member`: who belongs to the cluster, and an operator's orders about that.
 */
#include "cli.h"
#include "clock.h"
#include "memory.h"
#include "must.h"
#include "rescue_folder.h"
#include "service.h"
#include "table.h"

#include <baton/baton.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time between two checks whether an order has been carried out, and for how many leases to go
 * on checking. */
enum { LOOK_MS = 50, LEASES_MAX = 4 };

/* A node waits ten seconds for the voters, then it answers that they have not confirmed the order. */
enum { ORDER_S = 10 + SERVICE_ANSWER_S };

/* --- asking --- */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text != NULL && *text != '\0' ? text : "-";
}

static void print_members(const json_t *answer)
{
	size_t i;
	const json_t *member;
	char age[24];

	printf("cluster %s, epoch %lld\n\n", text_of(answer, "cluster"),
	       (long long)json_integer_value(json_object_get(answer, "epoch")));
	table_cell("NAME", 20, false);
	table_cell("ADDRESS", 23, false);
	table_cell("ROLE", 8, false);
	table_cell("STATE", 15, false);
	table_cell("SINCE", 5, true);
	putchar('\n');
	json_array_foreach (json_object_get(answer, "members"), i, member) {
		bool leads = json_is_true(json_object_get(member, "leader"));
		const json_t *since = json_object_get(member, "since_ms");
		snprintf(age, sizeof(age), "-");
		if (json_is_integer(since))
			table_age(age, sizeof(age), json_integer_value(since));
		table_cell(text_of(member, "name"), 20, false);
		table_cell(text_of(member, "address"), 23, false);
		table_cell(leads ? "leader" : text_of(member, "role"), 8, false);
		table_cell(text_of(member, "state"), 15, false);
		table_cell(age, 5, true);
		putchar('\n');
	}
}

/* Returns NULL on failure, and *ret_code is the exit code; the reason was printed. */
static json_t *ask_members(struct baton *baton, int *ret_code)
{
	char *text = NULL;

	service_expect("member", SERVICE_ANSWER_S, "");
	int error = baton_members(baton, &text);
	service_answered();
	return service_json("member", baton, error, text, ret_code);
}

static int list_members(struct baton *baton, bool json)
{
	int code = EXIT_HELD;
	json_t *answer = ask_members(baton, &code);

	if (answer == NULL)
		return code;
	if (json) {
		print_json(answer);
		return code;
	}
	print_members(answer);
	json_decref(answer);
	return code;
}

/* --- ordering --- */

/* Returns NULL if the cluster knows no such member, witness or voter. */
static const json_t *find_member(const json_t *answer, const char *name)
{
	size_t i;
	const json_t *member;

	json_array_foreach (json_object_get(answer, "members"), i, member) {
		if (strcmp(text_of(member, "name"), name) == 0)
			return member;
	}
	return NULL;
}

/* The result of an order. A field that is not known, or does not apply, is null. */
struct outcome {
	json_t *found; /* was there a member, witness or voter with the name? */
	json_t *gone;  /* is it no member now? */
	json_t *votes; /* does it still vote? */
};

/* Looks whether a member, witness or voter has the name. Returns the exit code. A user without
 * permission is not told here, because the order names the rule that the user needs. */
static int look_for(struct baton *baton, const char *name, struct outcome *outcome)
{
	int code = EXIT_HELD;
	char *text = NULL;

	service_expect("member", SERVICE_ANSWER_S, "");
	int error = baton_members(baton, &text);
	service_answered();
	if (error == BATON_EACCESS)
		return EXIT_HELD;
	json_t *answer = service_json("member", baton, error, text, &code);
	if (answer != NULL)
		outcome->found = json_boolean(find_member(answer, name) != NULL);
	json_decref(answer);
	return code;
}

/* Waits until the member is removed. A live member is told and leaves first; a silent member's
 * lease must end. The removed node may go on voting until another takes its place. */
static int wait_until_removed(struct baton *baton, const char *name, uint64_t lease_ms,
                              struct outcome *outcome)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	uint64_t until_ns = clock_boot_ns() + LEASES_MAX * lease_ms * 1000000;
	int code = EXIT_HELD;

	while (clock_boot_ns() < until_ns) {
		json_t *answer = ask_members(baton, &code);
		if (answer == NULL)
			return code;
		const json_t *member = find_member(answer, name);
		bool votes = member != NULL && strcmp(text_of(member, "role"), "member") != 0;
		bool there = member != NULL &&
		             json_integer_value(json_object_get(member, "incarnation")) != 0;
		json_decref(answer);
		outcome->gone = json_boolean(!there);
		outcome->votes = json_boolean(votes);
		if (!there)
			return EXIT_HELD;
		nanosleep(&pause, NULL);
	}
	fprintf(stderr,
	        "baton member: the order is given, but %s is still a member; 'baton member list' "
	        "shows when it is gone\n",
	        name);
	return EXIT_LIMIT;
}

/* The orders. The text printed after an order is the node's name and then `done`. */
static const struct {
	const char *verb, *act, *done;
} orders[] = {
        {"remove", "REMOVE", "is removed; 'baton member invite' with its name lets it come back"},
        {"invite", "INVITE", "may join; start it if it does not run"},
        {"promote", "PROMOTE", "votes as soon as it has caught up; see 'baton member list'"},
        {"demote", "DEMOTE",
         "votes until another member with --data takes its place; see 'baton member list'"},
};

/* Returns the index of an order, or the number of orders if there is no such order. */
static size_t find_order(const char *verb)
{
	size_t i = 0;

	while (i < sizeof(orders) / sizeof(*orders) && strcmp(orders[i].verb, verb) != 0)
		i++;
	return i;
}

static void tell_outcome(size_t order, const char *name, const struct outcome *outcome, bool json)
{
	if (json) {
		print_json(json_pack("{s:s, s:s, s:O, s:O, s:O}", "order", orders[order].verb,
		                     "name", name, "found", outcome->found, "gone", outcome->gone,
		                     "votes", outcome->votes));
		return;
	}
	if (json_is_false(outcome->gone)) /* stderr says so */
		return;
	if (json_is_true(outcome->votes))
		printf("%s still votes, until another member with --data takes its place\n", name);
	printf("%s %s\n", name, orders[order].done);
}

static int give_order(struct baton *baton, const char *verb, const char *name, uint64_t lease_ms,
                      bool json)
{
	size_t order = find_order(verb);
	bool removes = strcmp(verb, "remove") == 0;
	struct outcome outcome = {json_null(), json_null(), json_null()};
	int code = removes ? look_for(baton, name, &outcome) : EXIT_HELD;

	if (code != EXIT_HELD)
		return code;
	service_expect("member", ORDER_S, ", and the voters may yet obey the order");
	int error = baton_member(baton, orders[order].act, name);
	service_answered();
	if (error != 0) {
		int unavailable = service_problem("member", baton, error);
		return error == BATON_EREFUSED ? EXIT_VIOLATED : unavailable;
	}
	/* The name may be that of a node which has left, or it may be mistyped. */
	if (json_is_false(outcome.found))
		fprintf(stderr,
		        "baton member: no member or voter has this name now; a node that comes "
		        "with the name '%s' is kept out\n",
		        name);
	if (removes)
		code = wait_until_removed(baton, name, lease_ms, &outcome);
	if (code == EXIT_HELD || code == EXIT_LIMIT)
		tell_outcome(order, name, &outcome, json);
	return code;
}

/* --- inviting --- */

/* Prints the token alone on stdout, so that it can be piped, and on stderr what to do with it. */
static int invite(struct baton *baton, uint64_t valid_ms, bool json)
{
	char *token;

	service_expect("member", ORDER_S, "");
	int error = baton_invite(baton, valid_ms, &token);
	service_answered();
	if (error != 0) {
		int unavailable = service_problem("member", baton, error);
		return error == BATON_EREFUSED ? EXIT_VIOLATED : unavailable;
	}
	if (json) {
		print_json(
		        json_pack("{s:s,s:I}", "token", token, "valid_ms", (json_int_t)valid_ms));
	} else {
		puts(token);
		fprintf(stderr,
		        "baton member: this invitation is good for one node, for %llu s. Write it "
		        "to a FILE on the new node's host, and start there: baton node --name NAME "
		        "--data DIR --listen HOST:PORT --join ADDRESS --invitation FILE. ADDRESS "
		        "is the address of a node with --tls-ca-key\n",
		        (unsigned long long)(valid_ms + 999) / 1000);
	}
	free(token);
	return EXIT_HELD;
}

/* --- words --- */

enum { VALID_MS = 3600000 };

struct member_words {
	const char *verb, *name, *address, *data;
	uint64_t valid_ms; /* how long an invitation is valid; 0: not given */
	bool json, yes, help;
};

static const char *const verbs[] = {"list",   "remove", "invite", "promote",
                                    "demote", "rescue", NULL};

static int check_words(const struct member_words *words, int operands, struct problem *problem)
{
	const char *const *verb = verbs;

	if (words->verb == NULL)
		return problem_set(problem,
		                   "what? list, remove, invite, promote, demote or rescue");
	while (*verb != NULL && strcmp(*verb, words->verb) != 0)
		verb++;
	if (*verb == NULL) {
		const char *nearest = nearest_name(words->verb, verbs);
		return nearest != NULL
		               ? problem_set(problem, "unknown word '%.40s': did you mean '%s'?",
		                             words->verb, nearest)
		               : problem_set(problem,
		                             "unknown word '%.40s': list, remove, invite, "
		                             "promote, demote or rescue",
		                             words->verb);
	}
	bool wants_name = find_order(*verb) < sizeof(orders) / sizeof(*orders);
	bool rescue = strcmp(*verb, "rescue") == 0;
	bool invites = strcmp(*verb, "invite") == 0;
	if (words->valid_ms != 0 && (!invites || operands != 1))
		return problem_set(problem, "--for goes with invite only, without a name: it says "
		                            "how long the invitation is good");
	if (words->valid_ms > UINT64_C(30) * 86400000)
		return problem_set(problem, "--for: an invitation is good for at most 30 days");
	if (operands != (wants_name ? 2 : 1) && !(invites && operands == 1))
		return problem_set(
		        problem,
		        wants_name ? "%s needs the name of one member" : "%s takes no name", *verb);
	if (rescue != (words->data != NULL))
		return problem_set(problem,
		                   rescue ? "rescue needs --data DIR, the folder of a node "
		                            "that has ended"
		                          : "--data goes with rescue only");
	return words->yes && !rescue ? problem_set(problem, "--yes goes with rescue only") : 0;
}

static int read_words(int argc, char **argv, struct member_words *words, struct problem *problem)
{
	static const struct option options[] = {
	        {"socket", required_argument, NULL, 'S'}, CLIENT_TLS_OPTIONS,
	        {"data", required_argument, NULL, 'd'},   {"for", required_argument, NULL, 'f'},
	        {"yes", no_argument, NULL, 'y'},          {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:h", options, problem)) != -1) {
		if (option == 'S')
			words->address = optarg;
		else if (option == 'd')
			words->data = optarg;
		else if (option == 'y')
			words->yes = true;
		else if (option == 'j')
			words->json = true;
		else if (option == 'h') {
			words->help = true;
			return 0;
		} else if (option != 'f' ||
		           parse_duration(optarg, "--for", &words->valid_ms, problem) != 0)
			return -1;
	}
	words->verb = optind < argc ? argv[optind] : NULL;
	words->name = optind + 1 < argc ? argv[optind + 1] : NULL;
	return check_words(words, argc - optind, problem);
}

static int speak(const struct member_words *words)
{
	struct baton *baton = baton_open(words->address);
	uint64_t lease_ms;

	memory_must(baton != NULL);
	int code = service_reach("member", baton, &lease_ms);
	if (code == 0 && strcmp(words->verb, "list") == 0)
		code = list_members(baton, words->json);
	else if (code == 0 && words->name == NULL)
		code = invite(baton, words->valid_ms != 0 ? words->valid_ms : VALID_MS,
		              words->json);
	else if (code == 0)
		code = give_order(baton, words->verb, words->name, lease_ms, words->json);
	baton_close(baton);
	return code;
}

int command_member(int argc, char **argv)
{
	struct member_words words = {0};
	struct problem problem;

	if (read_words(argc, argv, &words, &problem) != 0)
		return usage_problem("member", &problem);
	if (words.help) {
		print_help("member");
		return EXIT_HELD;
	}
	must(words.verb != NULL);
	if (strcmp(words.verb, "rescue") == 0)
		return rescue_folder(words.data, words.yes, words.json);
	return speak(&words);
}
