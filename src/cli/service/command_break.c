/*
 * `baton break`: an operator takes a lock from a holder that does not give it back.
 */
#include "cli.h"
#include "clock.h"
#include "holding.h"
#include "memory.h"
#include "service.h"

#include <baton/baton.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time between two checks whether the holder has stopped. */
enum { LOOK_MS = 20 };

static const struct option options_long[] = {
        {"fence", required_argument, NULL, 'f'},
        {"socket", required_argument, NULL, 'S'},
        CLIENT_TLS_OPTIONS,
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

/* Writes a pattern that matches this name. If that would be too long, the pattern also matches a
 * few other names. */
static void escape_name(const char *name, char pattern[BATON_NAME_MAX + 1])
{
	size_t size = 0;

	for (; *name != '\0'; name++) {
		if (size + 3 > BATON_NAME_MAX) {
			pattern[size++] = '*';
			break;
		}
		if (strchr("*?[]^-\\", *name) != NULL)
			pattern[size++] = '\\';
		pattern[size++] = *name;
	}
	pattern[size] = '\0';
}

/* Asks whether a client still holds the lock with this fence. Returns 1, 0, or an error. */
static int is_held(struct baton *baton, const char *name, const char *pattern, uint64_t fence)
{
	char *text;
	int error = baton_status(baton, pattern, 0, &text), held = 0;
	size_t i;
	json_t *lock;

	if (error < 0)
		return error;
	json_t *status = json_loads(text, 0, NULL);
	free(text);
	json_array_foreach (json_object_get(status, "locks"), i, lock) {
		const char *found = json_string_value(json_object_get(lock, "name"));
		/* A name that is not UTF-8 is shown differently; then compare only the fence. */
		if ((uint64_t)json_integer_value(json_object_get(lock, "fence")) == fence &&
		    (found == NULL || strcmp(found, name) == 0 || strchr(found, '\\') != NULL))
			held = 1;
	}
	json_decref(status);
	return held;
}

/*
 * Waits until the holder has stopped, for at most one lease, and prints a message if it takes
 * longer. A holder that asked for time to stop gets that time, and nobody else is let in meanwhile.
 * Returns true if the holder is gone.
 */
static bool wait_until_gone(struct baton *baton, const char *name, uint64_t fence,
                            uint64_t lease_ms)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	char pattern[BATON_NAME_MAX + 1];
	uint64_t until_ns = clock_boot_ns() + lease_ms * 1000000;
	int held;

	escape_name(name, pattern);
	while ((held = is_held(baton, name, pattern, fence)) == 1 && clock_boot_ns() < until_ns)
		nanosleep(&pause, NULL);
	if (held == 1)
		fprintf(stderr,
		        "baton break: '%s' is being taken away, but its holder has not stopped "
		        "yet; 'baton status' shows when it has\n",
		        name);
	return held == 0;
}

static int break_lock(const char *name, uint64_t fence, const char *socket, bool json)
{
	struct baton *baton = baton_open(socket);
	uint64_t lease_ms;
	bool gone = false;

	memory_must(baton != NULL);
	int code = service_reach("break", baton, &lease_ms);
	if (code != 0) {
		baton_close(baton);
		return code;
	}
	int error = baton_break(baton, name, fence);
	if (error == BATON_ENOTHELD) {
		fprintf(stderr,
		        "baton break: nobody holds '%s' with fence %llu: see 'baton status'\n",
		        name, (unsigned long long)fence);
		code = EXIT_VIOLATED;
	} else if (error < 0) {
		code = service_problem("break", baton, error);
	} else {
		gone = wait_until_gone(baton, name, fence, lease_ms);
	}
	if (json && (error == 0 || error == BATON_ENOTHELD))
		print_json(json_pack("{s:o?, s:I, s:b, s:b}", "name", json_string(name), "fence",
		                     (json_int_t)fence, "broken", error == 0, "gone", gone));
	baton_close(baton);
	return code;
}

int command_break(int argc, char **argv)
{
	const char *socket = NULL;
	struct problem problem;
	uint64_t fence = 0;
	bool json = false;
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:h", options_long, &problem)) != -1) {
		if (option == 'S')
			socket = optarg;
		else if (option == 'j')
			json = true;
		else if (option == 'h') {
			print_help("break");
			return EXIT_HELD;
		} else if (option != 'f' || parse_number(optarg, 1, (UINT64_C(1) << 53) - 1,
		                                         "--fence", &fence, &problem) != 0)
			return usage_problem("break", &problem);
	}
	if (argc - optind != 1 || fence == 0) {
		problem_set(&problem, argc - optind != 1
		                              ? "one lock is needed: baton break LOCK --fence F"
		                              : "--fence is needed, so that the lock is not taken "
		                                "from the next holder: 'baton status' shows it");
		return usage_problem("break", &problem);
	}
	return break_lock(argv[optind], fence, socket, json);
}
