#include "cli.h"
#include "host.h"
#include "memory.h"
#include "moment.h"
#include "numbers.h"
#include "outputs.h"
#include "page_file.h"
#include "page_program.h"
#include "replay.h"
#include "steps_text.h"
#include "trace_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct replay_request {
	const char *file; /* the path of the scenario; "-": standard input */
	const char *trace, *html, *tree;
	struct diagram_words diagram;
	uint64_t at; /* --tree: the line after which the tree is drawn; UINT64_MAX: the end */
	bool json, steps, open;
};

/* Checks that no output file is the file that is read. */
static int check_outputs(const char *source, const char *what, const struct replay_request *request,
                         struct problem *problem)
{
	const struct output outputs[] = {{"--trace", request->trace},
	                                 {"--diagram", request->diagram.path},
	                                 {"--html", request->html},
	                                 {"--tree", request->tree}};

	return outputs_check(source, what, outputs, sizeof(outputs) / sizeof(*outputs), problem);
}

/* Returns 0; or -1 and a problem; or 1 if help was printed and there is nothing more to do. */
static int parse_arguments(int argc, char **argv, struct replay_request *request,
                           struct problem *problem)
{
	static const struct option options[] = {
	        {"trace", required_argument, NULL, 't'}, DIAGRAM_OPTIONS,
	        {"html", required_argument, NULL, 'w'},  {"tree", required_argument, NULL, 'T'},
	        {"at", required_argument, NULL, 'a'},    {"json", no_argument, NULL, 'j'},
	        {"steps", no_argument, NULL, 's'},       {"open", no_argument, NULL, 'o'},
	        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
	};

	for (int option; (option = next_option(argc, argv, options, problem)) != -1;) {
		switch (option) {
		case 't':
			request->trace = optarg;
			break;
		case 'w':
			request->html = optarg;
			break;
		case 'T':
			request->tree = optarg;
			break;
		case 'a':
			if (parse_number(optarg, 0, UINT32_MAX, "--at", &request->at, problem) != 0)
				return -1;
			break;
		case 'j':
			request->json = true;
			break;
		case 's':
			request->steps = true;
			break;
		case 'o':
			request->open = true;
			break;
		case 'h':
			print_help("replay");
			return 1;
		default:
			if (!diagram_option(option, optarg, &request->diagram))
				return -1; /* next_option has set the problem */
		}
	}
	if (request->steps && request->json)
		return problem_set(problem, "--steps or --json, not both");
	if (optind == argc)
		return problem_set(
		        problem,
		        "which scenario? 'baton replay FILE.scn', or '-' for standard input");
	if (argc - optind > 1)
		return problem_set(problem, "one scenario at a time, and '%.60s' is the second",
		                   argv[optind + 1]);
	if (request->at != UINT64_MAX && request->tree == NULL)
		return problem_set(problem,
		                   "--at says when --tree is drawn, but --tree was not given");
	request->file = argv[optind];
	if ((request->html != NULL && page_file_check(problem) != 0) ||
	    (request->open && page_program_check(problem) != 0))
		return -1;
	return check_outputs(strcmp(request->file, "-") != 0 ? request->file : "/dev/stdin",
	                     "the scenario", request, problem);
}

/* Returns the bytes of a file, which the caller frees, or NULL and a problem. Of a file that is too
 * long it reads one byte more than the parser accepts, so that the parser reports it. */
static char *read_text(const char *path, size_t *ret_size, struct problem *problem)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *file = standard ? stdin : fopen(path, "rb");
	size_t size = 0, used = 0, count;
	char *text = NULL;

	if (file == NULL) {
		problem_set(problem, "%.200s: %s", path, strerror(errno));
		return NULL;
	}
	do {
		size = size == 0 ? 65536 : size * 2;
		text = realloc(text, size);
		memory_must(text != NULL);
		count = fread(text + used, 1, size - used, file);
		used += count;
	} while (used == size && used <= SCENARIO_SIZE_MAX);
	int failed = ferror(file) ? errno : 0;
	if (!standard)
		fclose(file);
	if (failed != 0) {
		problem_set(problem, "%.200s: %s", path, strerror(failed));
		free(text);
		return NULL;
	}
	*ret_size = used;
	return text;
}

/* Returns a file name as a JSON string. Bytes that are not UTF-8 become '?'. */
static json_t *json_name(const char *name)
{
	json_t *json = json_string(name);
	if (json != NULL)
		return json;
	char *copy = strdup(name);
	memory_must(copy != NULL);
	for (char *c = copy; *c != '\0'; c++) {
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	}
	json = json_string(copy);
	free(copy);
	return json;
}

static void report_json(const struct replay_request *request, const struct setup *setup,
                        const struct replay_result *result)
{
	json_t *line = result->line != 0 ? json_integer(result->line) : json_null();
	json_t *report = json_pack(
	        "{s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:b, s:o, s:s?, s:s?}", "file",
	        json_name(request->file), "algorithm", setup->network.algorithm->name, "topology",
	        setup->topology, "nodes", (json_int_t)setup->network.graph.nodes, "steps",
	        (json_int_t)result->steps, "messages", (json_int_t)result->messages, "expectations",
	        (json_int_t)result->expectations, "passed", result->verdict == REPLAY_PASSED,
	        "line", line, "expected", result->expected, "found", result->found);
	memory_must(report != NULL);
	print_json(report);
}

static int report(const struct replay_request *request, const struct setup *setup,
                  const struct replay_result *result)
{
	if (request->json)
		report_json(request, setup, result);
	if (result->verdict == REPLAY_PASSED) {
		if (!request->json)
			printf("%s: %" PRIu64 " step%s, %" PRIu64 " message%s, %s\n", request->file,
			       result->steps, plural(result->steps), result->messages,
			       plural(result->messages),
			       result->expectations == 0 ? "nothing was expected"
			                                 : "all expectations hold");
		return EXIT_HELD;
	}
	if (result->expected != NULL)
		fprintf(stderr, "%s:%" PRIu32 ": expected %s, found %s\n", request->file,
		        result->line, result->expected, result->found);
	else
		fprintf(stderr, "%s:%" PRIu32 ": %s\n", request->file, result->line, result->found);
	return EXIT_VIOLATED;
}

static int bad_line(const struct replay_request *request, uint32_t line,
                    const struct problem *problem)
{
	fprintf(stderr, "baton replay: %s:%" PRIu32 ": %s\n", request->file, line, problem->text);
	return EXIT_USAGE;
}

static int tell_interrupt(const struct replay_request *request, const struct replay_result *result)
{
	fprintf(stderr, "baton replay: %s: interrupted after %" PRIu64 " step%s\n", request->file,
	        result->steps, plural(result->steps));
	return EXIT_LIMIT;
}

/* Returns the last line that has a step, up to this line; 0 if there is none. */
static uint32_t last_line(const struct scenario *scenario, uint64_t line)
{
	uint32_t last = 0;

	for (size_t i = 0; i < scenario->steps_count; i++) {
		if (scenario->steps[i].line <= line)
			last = scenario->steps[i].line;
	}
	return last;
}

/* Draws this moment of the scenario, if --tree asks for a picture. */
static void draw_tree(const struct replay_request *request, const struct setup *setup,
                      const struct replay *steps, struct text *ret_tree)
{
	const struct envelope *flights;
	size_t flights_count = replay_flights(steps, &flights);
	struct text subtitle = {0};

	if (request->tree == NULL)
		return;
	const char *name = strrchr(request->file, '/');
	for (size_t i = 0; i < setup->parameters_count; i++)
		text_format(&subtitle, "%s=%.60s; ", setup->parameters[i].name,
		            setup->parameters[i].value);
	text_format(&subtitle, "%s, ", name != NULL ? name + 1 : request->file);
	if (request->at != UINT64_MAX)
		text_format(&subtitle, "line %" PRIu64, request->at);
	else
		text_add_string(&subtitle, "the end");
	char *violation = replay_violation(steps);
	const uint32_t *cut_ends;
	size_t cut_ends_count = replay_cut_ends(steps, &cut_ends);
	struct moment moment = {
	        .setup = setup,
	        .world = replay_world(steps),
	        .flights = flights,
	        .flights_count = flights_count,
	        .dead = replay_dead(steps),
	        .learned = replay_learned(steps),
	        .cut_ends = cut_ends,
	        .cut_ends_count = cut_ends_count,
	        .subtitle = subtitle.bytes,
	        .violation = violation,
	};
	text_clear(ret_tree);
	moment_draw(&moment, ret_tree);
	free(violation);
	text_free(&subtitle);
}

/* Writes the picture of --tree. Returns 0, or -1 and a problem. */
static int write_tree(const struct replay_request *request, const struct text *tree,
                      struct problem *problem)
{
	if (request->tree == NULL || tree->used == 0)
		return 0;
	FILE *file = fopen(request->tree, "we");
	bool written = file != NULL && fwrite(tree->bytes, 1, tree->used, file) == tree->used;

	if (file != NULL && fclose(file) != 0)
		written = false;
	if (!written)
		return problem_set(problem, "--tree '%.200s': %s", request->tree, strerror(errno));
	return 0;
}

/* Checks that the requested pictures have room for this many nodes. */
static int check_room(const struct replay_request *request, uint32_t nodes, struct problem *problem)
{
	if (picture_check(request->tree, "--tree", problem) != 0)
		return -1;
	if (request->tree != NULL && nodes > MOMENT_NODES_MAX)
		return problem_set(problem, "--tree draws at most %d nodes", MOMENT_NODES_MAX);
	return page_file_fits(request->html != NULL ? "--html"
	                      : request->open       ? "--open"
	                                            : NULL,
	                      nodes, problem);
}

/* Checks that the moment of --at is not after the last line of the scenario. */
static int check_moment(const struct replay_request *request, const struct scenario *scenario,
                        struct problem *problem)
{
	if (request->at == UINT64_MAX || request->at <= scenario->lines_count)
		return 0;
	return problem_set(problem, "--at %" PRIu64 ": %.200s has %" PRIu32 " line%s", request->at,
	                   request->file, scenario->lines_count, plural(scenario->lines_count));
}

static void warn_of_holder_line(const struct replay_request *request,
                                const struct scenario *scenario, const struct setup *setup)
{
	if (scenario->words.holder != 0 && !setup->network.algorithm->has_token)
		fprintf(stderr,
		        "baton replay: %s: holder %" PRIu32 " has no effect: %s has no token\n",
		        request->file, scenario->words.holder, setup->network.algorithm->name);
}

/* Writes the files that show the run, before anything is printed. A scenario that fails still gets
 * its files. One with a step that cannot happen gets no page. `text` is the scenario as it was
 * read. Returns 0, or -1 and a problem. */
static int write_files(const struct replay_request *request, struct trace_file *trace,
                       const struct replay_result *result, const struct text *tree,
                       const struct text *text, struct problem *problem)
{
	if (trace_file_end(trace, result->time, problem) != 0 ||
	    write_tree(request, tree, problem) != 0)
		return -1;
	if (request->html == NULL || result->verdict == REPLAY_BAD)
		return 0;
	return page_file_write(request->html, "scenario", text->bytes, text->used, problem);
}

static int replay(const struct replay_request *request, struct scenario *scenario,
                  const struct text *text)
{
	struct trace_file file;
	struct replay_result result;
	struct problem problem;
	struct setup setup;
	uint32_t line;

	if (check_outputs(topology_file(scenario->words.topology), "the topology", request,
	                  &problem) != 0)
		return usage_problem("replay", &problem);
	if (scenario_setup(scenario, &setup, &line, &problem) != 0)
		return bad_line(request, line, &problem);
	if (check_room(request, setup.network.graph.nodes, &problem) != 0 ||
	    check_moment(request, scenario, &problem) != 0) {
		setup_free(&setup);
		return usage_problem("replay", &problem);
	}
	struct text lines = {0};
	if (trace_file_open(request->trace, &request->diagram, setup.network.graph.nodes,
	                    request->steps ? &lines : NULL, &file, &problem) != 0) {
		setup_free(&setup);
		return usage_problem("replay", &problem);
	}
	const volatile sig_atomic_t *interrupted = watch_for_interrupt();
	struct replay *steps = replay_begin(scenario, &setup, file.trace, REPLAY_RUN_MAX, &result);
	struct steps *table = request->steps ? steps_begin(replay_world(steps)) : NULL;
	struct text tree = {0};
	uint32_t last = last_line(scenario, request->at);
	if (last == 0)
		draw_tree(request, &setup, steps, &tree);
	while (*interrupted == 0 && replay_step(steps)) {
		if (table != NULL)
			steps_look(table, replay_world(steps), result.steps);
		if (replay_line(steps) == last && request->at != UINT64_MAX)
			draw_tree(request, &setup, steps, &tree);
	}
	if (request->at == UINT64_MAX)
		draw_tree(request, &setup, steps, &tree);
	replay_end(steps);
	int code;
	if (file.trace != NULL && (result.verdict == REPLAY_BAD || *interrupted != 0))
		trace_cut(file.trace);
	int ended = write_files(request, &file, &result, &tree, text, &problem);
	if (ended == 0 && result.verdict != REPLAY_BAD) {
		warn_of_holder_line(request, scenario, &setup);
		if (table != NULL)
			steps_print(table, lines.bytes, lines.used, stdout);
	}
	if (table != NULL)
		steps_free(table);
	if (ended != 0)
		code = usage_problem("replay", &problem);
	else if (*interrupted != 0)
		code = tell_interrupt(request, &result);
	else if (result.verdict == REPLAY_BAD)
		code = bad_line(request, result.line, &result.problem);
	else
		code = report(request, &setup, &result);
	text_free(&lines);
	text_free(&tree);
	replay_result_free(&result);
	setup_free(&setup);
	end_if_interrupted();
	return code;
}

int command_replay(int argc, char **argv)
{
	struct replay_request request = {.file = "-", .at = UINT64_MAX};
	struct scenario scenario;
	struct problem problem;
	uint32_t line;
	size_t size;

	int parsed = parse_arguments(argc, argv, &request, &problem);
	if (parsed != 0)
		return parsed > 0 ? EXIT_HELD : usage_problem("replay", &problem);
	char *text = read_text(request.file, &size, &problem);
	if (text == NULL)
		return usage_problem("replay", &problem);
	if (scenario_parse(text, size, &scenario, &line, &problem) != 0) {
		free(text);
		return bad_line(&request, line, &problem);
	}
	scenario.words.host = host_here();
	const struct text read = {.bytes = text, .used = size};
	int code = replay(&request, &scenario, &read);
	scenario_free(&scenario);
	if (request.open && code != EXIT_USAGE && page_program_show(text, size, &problem) != 0)
		code = usage_problem("replay", &problem);
	free(text);
	return code;
}
