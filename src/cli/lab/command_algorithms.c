#include "cli.h"
#include "pages.h"
#include "registry.h"

#include <stdio.h>
#include <string.h>

static json_t *text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}

static json_t *describe_algorithm(const struct algorithm *algorithm)
{
	return json_pack(
	        "{s:s, s:s, s:s, s:i, s:s, s:o, s:b, s:b, s:s, s:o}", "name", algorithm->name,
	        "kind", algorithm->kind == KIND_MUTEX ? "mutex" : "election", "title",
	        algorithm->title, "year", (int)algorithm->year, "topology",
	        graph_class_name(algorithm->links), "shape",
	        text_or_null(graph_class_name(algorithm->shape)), "fifo", algorithm->needs_fifo,
	        "token", algorithm->has_token, "messages", algorithm->claim_messages, "sync_delay",
	        text_or_null(algorithm->claim_delay));
}

static int list_json(const struct algorithm *only)
{
	json_t *list = json_array();
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		if (only == NULL || algorithms[i] == only)
			json_array_append_new(list, describe_algorithm(algorithms[i]));
	}
	print_json(json_pack("{s:o}", "algorithms", list));
	return EXIT_HELD;
}

/* Returns where the rules that we implement come from. */
static const char *rules_text(const struct algorithm *algorithm)
{
	return algorithm->source == SOURCE_PAPER     ? "its paper"
	       : algorithm->source == SOURCE_ACCOUNT ? algorithm->rules
	                                             : "reconstructed";
}

static void list_kind(enum kind kind)
{
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		const struct algorithm *algorithm = algorithms[i];
		const char *shape = graph_class_name(algorithm->shape);
		if (algorithm->kind != kind)
			continue;
		printf("%-22s %-4u %-9s %-5s %-5s %-22s", algorithm->name, algorithm->year,
		       graph_class_name(algorithm->links), shape != NULL ? shape : "-",
		       algorithm->needs_fifo ? "fifo" : "any", algorithm->claim_messages);
		printf(" %-11s %s\n", algorithm->claim_delay != NULL ? algorithm->claim_delay : "",
		       rules_text(algorithm));
	}
}

static int list_table(void)
{
	printf("%-22s %-4s %-9s %-5s %-5s %-22s %-11s %s\n", "mutual exclusion", "year", "links",
	       "shape", "order", "messages for an entry", "delay", "rules after");
	list_kind(KIND_MUTEX);
	printf("\n%-22s %-4s %-9s %-5s %-5s %-22s %-11s %s\n", "election", "year", "links", "shape",
	       "order", "messages", "", "rules after");
	list_kind(KIND_ELECTION);
	printf("\nMessages, and delay (messages between an exit and the next entry), are what a "
	       "document\nclaims or, if none does, what follows from the rules. 'rules after' says "
	       "where the rules\ncome from: the paper that published the algorithm; a section of "
	       "another document that\ndescribes it; or 'reconstructed', if the document has only "
	       "the idea or the name.\n");
	return EXIT_HELD;
}

/* Prints a text wrapped at 100 columns. All lines but the first are indented. */
static void print_wrapped(const char *text)
{
	enum { COLUMNS = 100, INDENT = 2 };
	size_t column = 0;
	bool start = true;

	while (*text != '\0') {
		size_t length = strcspn(text, " ");
		if (!start && column + 1 + length > COLUMNS) {
			column = (size_t)printf("\n%*s", INDENT, "") - 1;
			start = true;
		}
		column += (size_t)printf("%s%.*s", start ? "" : " ", (int)length, text);
		start = false;
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_parameter(const struct parameter *parameter)
{
	char line[2048];
	size_t used = (size_t)snprintf(line, sizeof(line), "- `--param %s=", parameter->name);

	if (parameter->choices == NULL) {
		used += (size_t)snprintf(
		        line + used, sizeof(line) - used, "%llu..%llu` (default %llu)",
		        (unsigned long long)parameter->least, (unsigned long long)parameter->most,
		        (unsigned long long)parameter->initial);
	} else {
		for (size_t i = 0; parameter->choices[i].name != NULL; i++)
			used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s",
			                         i == 0 ? "" : "|", parameter->choices[i].name);
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s` (default %s)",
		                         parameter->takes_text ? "|TEXT" : "",
		                         parameter->choices[0].name);
	}
	snprintf(line + used, sizeof(line) - used, ": %s", parameter->help);
	print_wrapped(line);
}

static void print_parameters(const struct algorithm *algorithm)
{
	const struct parameter *parameter = algorithm->parameters;

	printf("\n## Parameters\n\n");
	if (parameter == NULL)
		printf("None.\n");
	for (; parameter != NULL && parameter->name != NULL; parameter++)
		print_parameter(parameter);
}

static void print_source(const struct algorithm *algorithm)
{
	static const char *const texts[] = {
	        [SOURCE_PAPER] = "The rules here follow the paper itself",
	        [SOURCE_ACCOUNT] =
	                "The rules here follow another document's description, not the paper",
	        [SOURCE_RECONSTRUCTED] = ("The rules here are reconstructed; the document has only "
	                                  "the idea or the name"),
	};

	printf("\n## Where the rules come from\n\n%s: %s.\n", texts[algorithm->source],
	       algorithm->rules);
}

static int print_page(const struct algorithm *algorithm)
{
	for (const struct page *page = pages; page->name != NULL; page++) {
		if (strcmp(page->name, algorithm->name) == 0)
			fputs(page->text, stdout);
	}
	print_source(algorithm);
	print_parameters(algorithm);
	return EXIT_HELD;
}

int command_algorithms(int argc, char **argv)
{
	static const struct option options[] = {
	        {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	const struct algorithm *algorithm = NULL;
	struct problem problem;
	bool json = false;

	for (int option; (option = next_option(argc, argv, options, &problem)) != -1;) {
		if (option == 'h') {
			print_help("algorithms");
			return EXIT_HELD;
		}
		if (option != 'j')
			return usage_problem("algorithms", &problem);
		json = true;
	}
	if (argc - optind > 1) {
		problem_set(&problem, "one name at most, and '%.40s' is the second",
		            argv[optind + 1]);
		return usage_problem("algorithms", &problem);
	}
	if (argc > optind) {
		algorithm = setup_algorithm(argv[optind], &problem);
		if (algorithm == NULL)
			return usage_problem("algorithms", &problem);
	}
	if (json)
		return list_json(algorithm);
	return algorithm != NULL ? print_page(algorithm) : list_table();
}
