#include "cli.h"

#include "clock.h"
#include "memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int usage_problem(const char *command, const struct problem *problem)
{
	fprintf(stderr, "baton %s: %s\n", command, problem->text);
	return EXIT_USAGE;
}

static int unknown_option(const char *given, const struct option *options, struct problem *problem)
{
	const char *names[64] = {NULL};
	char name[64];

	for (size_t i = 0; options[i].name != NULL && i + 1 < sizeof(names) / sizeof(*names); i++)
		names[i] = options[i].name;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given, "="), given);
	const char *nearest = nearest_name(name, names);
	problem_set(problem,
	            nearest != NULL ? "unknown option '--%s': did you mean '--%s'?"
	                            : "unknown option '--%s'",
	            name, nearest);
	return '?';
}

/* Is this anything but the full name of an option? getopt_long accepts abbreviations, too, but we
 * refuse them: a script that uses one would break as soon as a new option begins with the same letters. */
static bool is_abbreviated(const char *word, const struct option *options)
{
	size_t length = strcspn(word + 2, "=");

	for (size_t i = 0; options[i].name != NULL; i++) {
		if (strlen(options[i].name) == length &&
		    strncmp(options[i].name, word + 2, length) == 0)
			return false;
	}
	return true;
}

/* Takes an option that names a file for TLS. Sets the environment variable that libbaton reads, in
 * this process and in commands that it runs. Returns false if it is another option. */
static bool take_tls(int option, const char *file)
{
	static const char *const names[] = {"BATON_TLS_CA", "BATON_TLS_CERT", "BATON_TLS_KEY"};

	if (option < OPTION_TLS || option >= OPTION_TLS + 3)
		return false;
	memory_must(setenv(names[option - OPTION_TLS], file, 1) == 0);
	return true;
}

int next_option(int argc, char **argv, const struct option *options, struct problem *problem)
{
	return next_letter_or_option(argc, argv, ":", options, problem);
}

int next_letter_or_option(int argc, char **argv, const char *letters, const struct option *options,
                          struct problem *problem)
{
	bool ordered = letters[0] == '+';
	int first = ordered && optind > 0 ? optind : 1;
	int last = ordered && argc > first ? first + 1 : argc;

	for (int i = first; (ordered || optind == 1) && i < last && strcmp(argv[i], "--") != 0;
	     i++) {
		if (strncmp(argv[i], "--", 2) == 0 && is_abbreviated(argv[i], options))
			return unknown_option(argv[i] + 2, options, problem);
	}
	int at, option;

	opterr = 0;
	do {
		at = optind;
		option = getopt_long(argc, argv, letters, options, NULL);
	} while (take_tls(option, optarg));
	if (option == -1)
		return -1;
	if (option == ':') {
		problem_set(problem, "option '%.60s' needs a value", argv[optind - 1]);
		return '?';
	}
	if (option == '?') {
		const char *word = optind > at && optind <= argc ? argv[optind - 1] : "";
		if (strncmp(word, "--", 2) != 0)
			problem_set(problem, "unknown option '-%c'", optopt);
		else if (optopt != 0)
			problem_set(problem, "option '%.60s' takes no value", word);
		else
			unknown_option(word + 2, options, problem);
	}
	return option;
}

int option_given_once(int option, const struct option *options, char **argv,
                      struct problem *problem)
{
	uint32_t count = 0;

	while (options->name != NULL && options->val != option)
		options++;
	if (options->name == NULL || options->has_arg == no_argument ||
	    strcmp(options->name, "param") == 0)
		return 0;
	size_t length = strlen(options->name);
	/* Only the words before optind have been read so far. */
	for (int i = 1; i < optind; i++) {
		const char *word = argv[i];
		count += strncmp(word, "--", 2) == 0 &&
		         strncmp(word + 2, options->name, length) == 0 &&
		         (word[length + 2] == '\0' || word[length + 2] == '=');
	}
	return count < 2 ? 0
	                 : problem_set(problem, "--%s is given twice, and takes one value",
	                               options->name);
}

int network_option(int option, const char *value, struct setup_words *words,
                   struct problem *problem)
{
	static const struct option network_options[] = {NETWORK_OPTIONS, {NULL, 0, NULL, 0}};

	for (size_t i = 0; network_options[i].name != NULL; i++) {
		if (network_options[i].val == option)
			return setup_option(network_options[i].name, value, words, problem);
	}
	return 1;
}

int parse_duration(const char *text, const char *what, uint64_t *ret_ms, struct problem *problem)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"", 1000}};
	size_t digits = strspn(text, "0123456789.");
	char number[32];
	uint64_t millionths;

	for (size_t i = 0;
	     digits > 0 && digits < sizeof(number) && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(text + digits, units[i].unit) != 0)
			continue;
		memcpy(number, text, digits);
		number[digits] = '\0';
		if (parse_decimal(number, &millionths) != 0 ||
		    millionths > UINT64_C(1000000) * 86400 * 365)
			break;
		*ret_ms = (millionths * units[i].ms + 999999) / 1000000;
		if (*ret_ms == 0 || *ret_ms > UINT64_C(1000) * 86400 * 365)
			break;
		return 0;
	}
	return problem_set(problem, "%s '%.40s': a time such as 250ms, 3s, 2m is needed", what,
	                   text);
}

int parse_seeds(const char *text, uint64_t *ret_first, uint64_t *ret_last, struct problem *problem)
{
	const char *dots = strstr(text, "..");
	char first[32];

	if (dots == NULL || dots - text >= (int)sizeof(first))
		return problem_set(problem, "--seeds '%.40s': A..B is needed, such as 1..1000",
		                   text);
	snprintf(first, sizeof(first), "%.*s", (int)(dots - text), text);
	uint64_t low, high;
	if (parse_number(first, 0, INT64_MAX, "--seeds", &low, problem) != 0 ||
	    parse_number(dots + 2, 0, INT64_MAX, "--seeds", &high, problem) != 0)
		return -1;
	if (low > high)
		return problem_set(problem,
		                   "--seeds '%.40s': the first must not be above the last: "
		                   "%" PRIu64 "..%" PRIu64 "?",
		                   text, high, low);
	*ret_first = low;
	*ret_last = high;
	return 0;
}

uint32_t processors_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	return count < 1 ? 1 : count < THREADS_MAX ? (uint32_t)count : THREADS_MAX;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	interrupted = number;
}

/* Installs a handler for the next SIGINT and the next SIGTERM, unless they are ignored. */
static void handle_interrupt(void (*handler)(int number))
{
	static const int numbers[] = {SIGINT, SIGTERM};
	struct sigaction before, action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

const volatile sig_atomic_t *watch_for_interrupt(void)
{
	handle_interrupt(on_interrupt);
	return &interrupted;
}

void end_if_interrupted(void)
{
	if (interrupted == 0)
		return;
	fflush(stdout);
	raise(interrupted);
}

static double progress_begin, progress_shown;
static volatile sig_atomic_t progress_visible;

/* Clears the progress bar, so that the prompt of the shell begins on an empty line. */
static void on_interrupt_clear(int number)
{
	static const char clear[] = "\r\033[K";

	if (progress_visible && write(STDERR_FILENO, clear, sizeof(clear) - 1) < 0)
		progress_visible = 0; /* a signal handler can do nothing if the write fails */
	raise(number);
}

void progress_start(void)
{
	struct sigaction before;

	progress_begin = clock_seconds();
	if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		handle_interrupt(on_interrupt_clear);
}

void progress_show(double part, const char *doing)
{
	static const char full[] = "####################";
	double now = clock_seconds(), spent = now - progress_begin;
	int width = (int)sizeof(full) - 1;

	if (!isatty(STDERR_FILENO) || spent < 1 || now - progress_shown < 0.1)
		return;
	progress_shown = now;
	progress_visible = 1;
	fprintf(stderr, "\r\033[K[%-*.*s] %3.0f %%  %s", width, (int)(part * width), full,
	        100 * part, doing);
	double left = part > 0 ? spent * (1 - part) / part : 0;
	if (left >= 90)
		fprintf(stderr, "; about %.0f min left", left / 60);
	else if (spent > 3 && left >= 1)
		fprintf(stderr, "; about %.0f s left", left);
}

void progress_count(uint64_t done, uint64_t all)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64, done, all);
	progress_show((double)done / (double)all, text);
}

void progress_clear(void)
{
	if (progress_shown != 0)
		fputs("\r\033[K", stderr);
	progress_shown = 0;
	progress_visible = 0;
}

void announce_work(const char *command, double messages, const char *less)
{
	/* A rough figure for one processor. It also depends on the algorithm. */
	const double messages_a_second = 2e6;
	double minutes = messages / messages_a_second / processors_count() / 60;

	if (minutes >= 1)
		fprintf(stderr,
		        "baton %s: about %.0f million messages to simulate, %.0f minutes or so; %s "
		        "would take less\n",
		        command, messages / 1e6, ceil(minutes), less);
}

void warn_of_order(const char *command, const struct setup *setup)
{
	if (setup->network.algorithm->needs_fifo && !setup->fifo)
		fprintf(stderr,
		        "baton %s: warning: %s needs channels that keep order; expect violations\n",
		        command, setup->network.algorithm->name);
}

void warn_of_holder(const char *command, const struct setup_words *words, const struct setup *setup)
{
	if (words->holder != 0 && !setup->network.algorithm->has_token)
		fprintf(stderr, "baton %s: --holder %" PRIu32 " has no effect: %s has no token\n",
		        command, words->holder, setup->network.algorithm->name);
}

const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

void print_json(json_t *json)
{
	json_dumpf(json, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(json);
}
