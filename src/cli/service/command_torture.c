/*
 * baton torture: whole clusters in virtual time, one run for each seed, on several threads.
 */
#include "cli.h"
#include "clock.h"
#include "drawing.h"
#include "memory.h"
#include "ordeal.h"
#include "registry.h"
#include "shrink.h"
#include "team.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TOLD_MAX = 3, LEASE_MS = 3000 };

struct torture_request {
	struct ordeal_plan plan;
	uint64_t seed_first, seed_last;
	uint32_t threads;
	const char *trace, *diagram;
	const char *faults; /* the text of --faults, or NULL */
	uint32_t only[ORDEAL_FAULTS_MAX];
	bool json;
};

static const struct option torture_option_table[] = {
        {"seeds", required_argument, NULL, 's'},   {"nodes", required_argument, NULL, 'n'},
        {"locks", required_argument, NULL, 'l'},   {"algorithm", required_argument, NULL, 'a'},
        {"time", required_argument, NULL, 't'},    {"faults", required_argument, NULL, 'f'},
        {"only", required_argument, NULL, 'o'},    {"engine", required_argument, NULL, 'e'},
        {"threads", required_argument, NULL, 'p'}, {"trace", required_argument, NULL, 'T'},
        {"diagram", required_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

/* --- the command line --- */

static int parse_small(const char *text, uint32_t most, const char *what, uint32_t *ret_number,
                       struct problem *problem)
{
	uint64_t number;

	if (parse_number(text, 1, most, what, &number, problem) != 0)
		return -1;
	*ret_number = (uint32_t)number;
	return 0;
}

static int refuse_kind(const char *word, struct problem *problem)
{
	const char *names[FAULT_KINDS_COUNT + 2] = {"none"};
	char all[512];
	size_t used = 0;

	for (uint32_t i = 0; i < FAULT_KINDS_COUNT; i++) {
		names[i + 1] = fault_words[i];
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i == 0 ? "" : ", ",
		                         fault_words[i]);
		must(used < sizeof(all));
	}
	const char *nearest = nearest_name(word, names);
	if (nearest != NULL)
		return problem_set(problem, "--faults '%s': did you mean '%s'?", word, nearest);
	return problem_set(problem, "--faults '%s': none, or some of %s", word, all);
}

static int add_kind(const char *text, size_t size, uint32_t *kinds, struct problem *problem)
{
	char word[41];

	snprintf(word, sizeof(word), "%.*s", (int)(size < 40 ? size : 40), text);
	for (uint32_t i = 0; i < FAULT_KINDS_COUNT; i++) {
		if (strcmp(fault_words[i], word) == 0) {
			*kinds |= UINT32_C(1) << i;
			return 0;
		}
	}
	return strcmp(word, "none") == 0 ? 0 : refuse_kind(word, problem);
}

static int parse_faults(const char *text, uint32_t *ret_kinds, struct problem *problem)
{
	uint32_t kinds = 0;

	for (;;) {
		size_t size = strcspn(text, ",");
		if (add_kind(text, size, &kinds, problem) != 0)
			return -1;
		if (text[size] == '\0')
			break;
		text += size + 1;
	}
	*ret_kinds = kinds;
	return 0;
}

static int parse_only(const char *text, struct torture_request *request, struct problem *problem)
{
	char word[16];

	request->plan.only = request->only;
	for (;;) {
		size_t size = strcspn(text, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(size < 15 ? size : 15), text);
		if (request->plan.only_count == ORDEAL_FAULTS_MAX)
			return problem_set(problem, "--only: at most %d faults", ORDEAL_FAULTS_MAX);
		if (parse_small(word, ORDEAL_FAULTS_MAX, "--only",
		                &request->only[request->plan.only_count++], problem) != 0)
			return -1;
		if (text[size] == '\0')
			return 0;
		text += size + 1;
	}
}

static int parse_algorithm(const char *text, struct torture_request *request,
                           struct problem *problem)
{
	const struct algorithm *algorithm = setup_algorithm(text, problem);

	if (algorithm == NULL)
		return -1;
	if (algorithm->kind != KIND_MUTEX)
		return problem_set(
		        problem,
		        "--algorithm %s: it is an election, and locks need mutual exclusion",
		        algorithm->name);
	request->plan.algorithm = algorithm;
	return 0;
}

static int parse_time(const char *text, struct torture_request *request, struct problem *problem)
{
	uint64_t ms;

	if (parse_duration(text, "--time", &ms, problem) != 0)
		return -1;
	if (ms < LEASE_MS || ms > UINT64_C(3600) * 1000)
		return problem_set(problem, "--time '%.40s': a time from %d s to an hour is needed",
		                   text, LEASE_MS / 1000);
	request->plan.time = ms * UINT64_C(1000000);
	return 0;
}

static int parse_engine(const char *text, enum ordeal_engine *ret_engine, struct problem *problem)
{
	if (strcmp(text, "raft") == 0)
		*ret_engine = ENGINE_RAFT;
	else if (strcmp(text, "atomic") == 0)
		*ret_engine = ENGINE_ATOMIC;
	else
		return problem_set(problem, "--engine '%.40s': raft or atomic is needed", text);
	return 0;
}

static int parse_option(int option, const char *value, struct torture_request *request,
                        struct problem *problem)
{
	switch (option) {
	case 's':
		return parse_seeds(value, &request->seed_first, &request->seed_last, problem);
	case 'n':
		return parse_small(value, ORDEAL_NODES_MAX, "--nodes", &request->plan.nodes,
		                   problem);
	case 'l':
		return parse_small(value, ORDEAL_LOCKS_MAX, "--locks", &request->plan.locks,
		                   problem);
	case 'a':
		return parse_algorithm(value, request, problem);
	case 't':
		return parse_time(value, request, problem);
	case 'f':
		request->faults = value;
		return parse_faults(value, &request->plan.kinds, problem);
	case 'o':
		return parse_only(value, request, problem);
	case 'e':
		return parse_engine(value, &request->plan.engine, problem);
	case 'p':
		return parse_small(value, THREADS_MAX, "--threads", &request->threads, problem);
	case 'T':
		request->trace = value;
		return 0;
	case 'd':
		request->diagram = value;
		return 0;
	case 'j':
		request->json = true;
		return 0;
	default:
		return -1; /* next_option has set the problem */
	}
}

static bool writes_to_stdout(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

/* Refuses numbers greater than the number of faults that a seed has. Otherwise such a number would
 * look like a fault that does no harm. */
static int check_only(const struct torture_request *request, struct problem *problem)
{
	struct ordeal_plan plan = request->plan;

	plan.seed = request->seed_first;
	uint32_t most = ordeal_faults(&plan);
	for (uint32_t i = 0; i < plan.only_count; i++) {
		if (plan.only[i] <= most)
			continue;
		if (most == 0)
			return problem_set(problem,
			                   "--only: seed %" PRIu64
			                   " has no faults with these options",
			                   plan.seed);
		return problem_set(problem,
		                   "--only %" PRIu32 ": seed %" PRIu64 " has faults 1 to %" PRIu32
		                   " with these options",
		                   plan.only[i], plan.seed, most);
	}
	return 0;
}

static int check_arguments(const struct torture_request *request, struct problem *problem)
{
	bool single = request->seed_first == request->seed_last;
	int outputs = request->json + writes_to_stdout(request->trace) +
	              writes_to_stdout(request->diagram);

	if (!single && request->plan.only != NULL)
		return problem_set(problem, "--only needs a single seed, such as --seeds 17..17");
	if (!single && (request->trace != NULL || request->diagram != NULL))
		return problem_set(
		        problem,
		        "--trace and --diagram need a single seed, such as --seeds 17..17");
	if (request->faults != NULL && request->plan.engine == ENGINE_ATOMIC &&
	    (request->plan.kinds & (UINT32_C(1) << FAULT_WIPE | UINT32_C(1) << FAULT_VOTE)) != 0)
		return problem_set(problem, "--faults: the atomic log has no disks and no votes, "
		                            "so wipe and vote need --engine raft");
	if (outputs > 1)
		return problem_set(problem, "only one of --json, --trace - and --diagram - can "
		                            "write to the standard output: name a file");
	return request->plan.only != NULL ? check_only(request, problem) : 0;
}

/* Returns 0; -1 and a problem; or 1 if help was printed. */
static int parse_arguments(int argc, char **argv, struct torture_request *request,
                           struct problem *problem)
{
	for (int option; (option = next_option(argc, argv, torture_option_table, problem)) != -1;) {
		if (option == 'h') {
			print_help("torture");
			return 1;
		}
		if (parse_option(option, optarg, request, problem) != 0)
			return -1;
	}
	if (optind < argc)
		return problem_set(problem, "'%.40s': torture takes options only", argv[optind]);
	return check_arguments(request, problem);
}

/* --- the runs --- */

struct torture_total {
	uint64_t runs, grants, views, lapses, events;
	uint64_t faults[FAULT_KINDS_COUNT];
	uint64_t *violated;
	size_t violated_count, violated_size;
};

struct torture_work {
	const struct torture_request *request;
	const volatile sig_atomic_t *interrupted;
	atomic_uint_fast64_t next, done;
	pthread_mutex_t mutex;
	struct torture_total total;
};

static void add_result(struct torture_work *work, uint64_t seed, const struct ordeal_result *result)
{
	struct torture_total *total = &work->total;

	pthread_mutex_lock(&work->mutex);
	total->runs++;
	total->grants += result->grants;
	total->views += result->views;
	total->lapses += result->lapses;
	total->events += result->events;
	for (uint32_t i = 0; i < FAULT_KINDS_COUNT; i++)
		total->faults[i] += result->faults[i];
	if (result->failed) {
		if (total->violated_count == total->violated_size) {
			total->violated_size = total->violated_size * 2 + 16;
			total->violated = realloc(total->violated,
			                          total->violated_size * sizeof(*total->violated));
			memory_must(total->violated != NULL);
		}
		total->violated[total->violated_count++] = seed;
	}
	pthread_mutex_unlock(&work->mutex);
}

static const char *engine_name(enum ordeal_engine engine)
{
	return engine == ENGINE_RAFT ? "raft" : "atomic";
}

static void print_command(FILE *file, const struct torture_request *request, uint64_t seed,
                          const uint32_t *only, uint32_t count)
{
	const struct ordeal_plan *plan = &request->plan;

	fprintf(file,
	        "  baton torture --seeds %" PRIu64 "..%" PRIu64 " --nodes %" PRIu32
	        " --locks %" PRIu32 " --algorithm %s --time %" PRIu64 "ms",
	        seed, seed, plan->nodes, plan->locks, plan->algorithm->name,
	        plan->time / UINT64_C(1000000));
	fprintf(file, " --engine %s", engine_name(plan->engine));
	if (only != NULL && count == 0)
		fprintf(file, " --faults none");
	else if (request->faults != NULL)
		fprintf(file, " --faults %s", request->faults);
	for (uint32_t i = 0; only != NULL && i < count; i++)
		fprintf(file, "%s%" PRIu32, i == 0 ? " --only " : ",", only[i]);
	fprintf(file, "\n");
}

/* The text that is printed if this thread's run fails an assertion. It is composed before each run,
 * because a signal handler may only write. */
static _Thread_local char last_words[4096];

static void tell_last_words(int number)
{
	ssize_t written = write(STDERR_FILENO, last_words, strlen(last_words));

	(void)written;
	raise(number); /* SA_RESETHAND has removed this handler, so this ends the process */
}

static void watch_for_assertions(void)
{
	struct sigaction action = {.sa_handler = tell_last_words, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGABRT, &action, NULL);
}

static void run_seed(const struct torture_request *request, const struct ordeal_plan *plan,
                     struct ordeal_result *result)
{
	FILE *file = fmemopen(last_words, sizeof(last_words) - 1, "w");

	memory_must(file != NULL);
	fprintf(file, "torture: seed %" PRIu64 ", engine %s; this repeats the run:\n", plan->seed,
	        engine_name(plan->engine));
	print_command(file, request, plan->seed, plan->only, plan->only_count);
	fclose(file);
	ordeal_run(plan, result);
}

static void do_runs(void *context, uint32_t member)
{
	struct torture_work *work = context;
	const struct torture_request *request = work->request;
	struct ordeal_result *result = malloc(sizeof(*result));

	memory_must(result != NULL);
	for (;;) {
		uint64_t seed = request->seed_first + work->next++;
		if (seed > request->seed_last || *work->interrupted)
			break;
		struct ordeal_plan plan = request->plan;
		plan.seed = seed;
		run_seed(request, &plan, result);
		add_result(work, seed, result);
		work->done++;
		if (member == 0)
			progress_count(work->done, request->seed_last - request->seed_first + 1);
	}
	free(result);
}

static int compare_seeds(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* --- the report --- */

static void run_trial(void *context, const struct ordeal_plan *plan,
                      struct ordeal_result *ret_result)
{
	run_seed(context, plan, ret_result);
}

static void show_shrinking(void *context, uint32_t runs, uint32_t runs_max, uint32_t faults)
{
	char text[96];

	(void)context;
	snprintf(text, sizeof(text), "shrinking: run %" PRIu32 ", %" PRIu32 " fault%s left", runs,
	         faults, plural(faults));
	progress_show((double)runs / runs_max, text);
}

/* Leaves only the faults that the violation needs, and prints how many these are. */
static void shrink_violation(const struct torture_request *request, const struct ordeal_plan *plan,
                             const volatile sig_atomic_t *interrupted, struct ordeal_result *result)
{
	struct shrink_options options = {.run = run_trial,
	                                 .progress = show_shrinking,
	                                 .context = (void *)request,
	                                 .threads = request->threads,
	                                 .interrupted = interrupted};
	uint32_t before = result->stories_count;

	progress_start();
	uint32_t runs = shrink(plan, &options, result);
	progress_clear();
	printf("seed %" PRIu64 ": VIOLATED, %s\n", plan->seed, result->wrong);
	printf("  %" PRIu32 " of %" PRIu32 " faults are enough, after %" PRIu32 " run%s%s:\n",
	       result->stories_count, before, runs, plural(runs),
	       *interrupted ? " (interrupted: fewer may be enough)"
	       : result->stories_count > SHRINK_GOAL
	               ? " (fewer may be enough, but these runs did not find out)"
	               : "");
}

/* Prints a violation with as few faults as it needs, because only these are worth looking at. But a
 * run that is traced or drawn, or whose faults were named, is printed as it is. */
static void tell_violation(const struct torture_request *request, uint64_t seed,
                           const volatile sig_atomic_t *interrupted)
{
	bool shrinks =
	        request->plan.only == NULL && request->trace == NULL && request->diagram == NULL;
	struct ordeal_plan plan = request->plan;
	struct ordeal_result *result = malloc(sizeof(*result));

	memory_must(result != NULL);
	plan.seed = seed;
	run_seed(request, &plan, result);
	if (shrinks)
		shrink_violation(request, &plan, interrupted, result);
	else
		printf("seed %" PRIu64 ": VIOLATED, %s\n", seed, result->wrong);
	if (!shrinks && plan.only == NULL)
		printf("  the run with all its faults; without --trace and --diagram, only the "
		       "faults that it needs are shown:\n");
	for (uint32_t i = 0; i < result->stories_count; i++)
		printf("    %3" PRIu32 "  %s\n", result->numbers[i], result->stories[i]);
	if (shrinks)
		print_command(stdout, request, seed, result->numbers, result->stories_count);
	free(result);
}

static void print_text(const struct torture_request *request, const struct torture_total *total,
                       double seconds, const volatile sig_atomic_t *interrupted)
{
	const struct ordeal_plan *plan = &request->plan;
	uint64_t faults = 0;

	for (uint32_t i = 0; i < FAULT_KINDS_COUNT; i++)
		faults += total->faults[i];
	for (size_t i = 0; i < total->violated_count && i < TOLD_MAX; i++)
		tell_violation(request, total->violated[i], interrupted);
	if (total->violated_count > TOLD_MAX) {
		printf("also violated:");
		for (size_t i = TOLD_MAX; i < total->violated_count && i < 20; i++)
			printf(" %" PRIu64, total->violated[i]);
		printf("%s\n", total->violated_count > 20 ? " ..." : "");
	}
	printf("%s, %" PRIu32 " node%s, %" PRIu32 " lock%s, %g s each: %" PRIu64
	       " run%s, %zu violation%s\n",
	       plan->algorithm->name, plan->nodes, plural(plan->nodes), plan->locks,
	       plural(plan->locks), (double)plan->time / 1e9, total->runs, plural(total->runs),
	       total->violated_count, plural(total->violated_count));
	printf("  %" PRIu64 " grants, %" PRIu64 " views, %" PRIu64 " lapses, %" PRIu64
	       " faults, %" PRIu64 " events in %.1f s\n",
	       total->grants, total->views, total->lapses, faults, total->events, seconds);
}

static void print_report(const struct torture_total *total, double seconds)
{
	json_t *seeds = json_array(), *faults = json_object();

	for (size_t i = 0; i < total->violated_count; i++)
		json_array_append_new(seeds, json_integer((json_int_t)total->violated[i]));
	for (uint32_t i = 0; i < FAULT_KINDS_COUNT; i++) {
		if (total->faults[i] != 0)
			json_object_set_new(faults, fault_words[i],
			                    json_integer((json_int_t)total->faults[i]));
	}
	print_json(json_pack("{s:I, s:I, s:o, s:I, s:I, s:I, s:o, s:I, s:f}", "runs",
	                     (json_int_t)total->runs, "violations",
	                     (json_int_t)total->violated_count, "seeds_violated", seeds, "grants",
	                     (json_int_t)total->grants, "views", (json_int_t)total->views, "lapses",
	                     (json_int_t)total->lapses, "faults", faults, "events",
	                     (json_int_t)total->events, "seconds", seconds));
}

/* --- files --- */

static FILE *open_output(const char *path, const char *what, struct problem *problem)
{
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");

	if (file == NULL)
		problem_set(problem, "%s '%.200s': %s", what, path, strerror(errno));
	return file;
}

static int close_output(FILE *file, const char *path, const char *what, struct problem *problem)
{
	bool failed = fflush(file) != 0 || ferror(file);

	if (file != stdout && fclose(file) != 0)
		failed = true;
	return failed ? problem_set(problem, "%s '%.200s': %s", what, path, strerror(errno)) : 0;
}

static int write_diagram(const struct torture_request *request, FILE *file,
                         struct run_drawing *drawing, struct problem *problem)
{
	const char *names[DRAWING_ROWS_MAX];
	char title[128];
	/* The last row is for a second process with the name of a member, if there was one. */
	uint32_t rows = request->plan.nodes + drawing_has_process(drawing, request->plan.nodes);

	for (uint32_t i = 0; i < rows; i++)
		names[i] = ordeal_name(i < request->plan.nodes ? i : DRAWING_ROWS_MAX);
	snprintf(title, sizeof(title), "baton torture --seeds %" PRIu64 "..%" PRIu64 ", %s",
	         request->seed_first, request->seed_first, request->plan.algorithm->name);
	if (!drawing_write(drawing, file, names, rows, title))
		return problem_set(problem, "--diagram '%.200s': %s", request->diagram,
		                   strerror(errno));
	return close_output(file, request->diagram, "--diagram", problem);
}

/* Does one run and prints everything that happens. */
static int trace_run(struct torture_request *request, struct problem *problem)
{
	struct ordeal_plan plan = request->plan;
	struct ordeal_result *result = malloc(sizeof(*result));
	FILE *trace = NULL, *diagram = NULL;
	int failed = 0;

	memory_must(result != NULL);
	if ((request->trace != NULL &&
	     (trace = open_output(request->trace, "--trace", problem)) == NULL) ||
	    (request->diagram != NULL &&
	     (diagram = open_output(request->diagram, "--diagram", problem)) == NULL)) {
		free(result);
		return -1;
	}
	plan.seed = request->seed_first;
	plan.trace = trace;
	plan.drawing = diagram != NULL ? drawing_create() : NULL;
	run_seed(request, &plan, result);
	free(result);
	if (trace != NULL)
		failed = close_output(trace, request->trace, "--trace", problem);
	if (diagram != NULL) {
		if (failed == 0)
			failed = write_diagram(request, diagram, plan.drawing, problem);
		drawing_destroy(plan.drawing);
	}
	return failed;
}

static int run(struct torture_request *request, struct problem *problem)
{
	struct torture_work work = {.request = request, .interrupted = watch_for_interrupt()};
	double began = clock_seconds();
	struct team team;

	watch_for_assertions();
	if ((request->trace != NULL || request->diagram != NULL) &&
	    trace_run(request, problem) != 0)
		return usage_problem("torture", problem);
	progress_start();
	pthread_mutex_init(&work.mutex, NULL);
	team_init(&team, request->threads);
	team_run(&team, do_runs, &work);
	team_free(&team);
	pthread_mutex_destroy(&work.mutex);
	progress_clear();
	if (work.total.violated_count != 0)
		qsort(work.total.violated, work.total.violated_count, sizeof(*work.total.violated),
		      compare_seeds);
	if (request->json)
		print_report(&work.total, clock_seconds() - began);
	else
		print_text(request, &work.total, clock_seconds() - began, work.interrupted);
	int code = work.total.violated_count != 0 ? EXIT_VIOLATED : EXIT_HELD;
	free(work.total.violated);
	if (*work.interrupted)
		fprintf(stderr,
		        "baton torture: interrupted after %" PRIu64 " of %" PRIu64 " seeds\n",
		        work.total.runs, request->seed_last - request->seed_first + 1);
	end_if_interrupted();
	return code;
}

int command_torture(int argc, char **argv)
{
	struct torture_request request = {
	        .plan = {.algorithm = algorithm_find("neilsen"),
	                 .nodes = 5,
	                 .locks = 3,
	                 .time = UINT64_C(60000000000),
	                 .lease_ns = LEASE_MS * UINT64_C(1000000),
	                 .engine = ENGINE_RAFT,
	                 .kinds = FAULTS_USUAL},
	        .seed_first = 1,
	        .seed_last = 100,
	        .threads = processors_count(),
	};
	struct problem problem;
	int parsed = parse_arguments(argc, argv, &request, &problem);

	if (parsed != 0)
		return parsed < 0 ? usage_problem("torture", &problem) : EXIT_HELD;
	return run(&request, &problem);
}
