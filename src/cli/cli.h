/*
 * What the subcommands share: one function each, and how they end.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "numbers.h"
#include "problem.h"
#include "setup.h"
#include "sim.h"

#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>

enum exit_code { EXIT_HELD = 0, EXIT_VIOLATED = 1, EXIT_USAGE = 2, EXIT_LIMIT = 3 };
/* Of the commands that talk to a node (sysexits.h). */
enum { EXIT_UNAVAILABLE = 69, EXIT_NOT_PERMITTED = 77 };

/* argv[0] is the command's name. */
int command_algorithms(int argc, char **argv);
int command_sim(int argc, char **argv);
int command_check(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_choose(int argc, char **argv);
int command_web(int argc, char **argv);
int command_fence_check(int argc, char **argv);
int command_node(int argc, char **argv);
int command_dev(int argc, char **argv);
int command_torture(int argc, char **argv);
int command_status(int argc, char **argv);
int command_run(int argc, char **argv);
int command_lock(int argc, char **argv);
int command_elect(int argc, char **argv);
int command_observe(int argc, char **argv);
int command_break(int argc, char **argv);

/* One line on stderr, "baton sim: …"; returns EXIT_USAGE. */
int usage_problem(const char *command, const struct problem *problem);

/*
 * The next option, as getopt_long gives it; a wrong one ends up as '?' with a problem that names
 * the nearest, and -1 is the end of the options. Operands may stand anywhere and are gathered
 * behind.
 */
int next_option(int argc, char **argv, const struct option *options, struct problem *problem);

/* The same with one-letter options too, as getopt knows them; ':' comes first, or "+:": then options
 * end at the first operand, and what is behind it is not looked at. */
int next_letter_or_option(int argc, char **argv, const char *letters, const struct option *options,
                          struct problem *problem);

/* The help text of a command, on stdout. */
void print_help(const char *command);

/* The options of a network, shared by sim and check; the value of an option goes into words. 0, or
 * -1 and a problem; 1: not one of these. */
#define NETWORK_OPTIONS                                                                            \
	{"topology", required_argument, NULL, 'T'}, {"nodes", required_argument, NULL, 'N'},       \
	        {"holder", required_argument, NULL, 'H'}, {"param", required_argument, NULL, 'P'}, \
	        {"fifo", no_argument, NULL, 'F'}, {"reorder", no_argument, NULL, 'R'},             \
	        {"arrangement", required_argument, NULL, 'A'},                                     \
	        {"initiators", required_argument, NULL, 'I'},                                      \
	{                                                                                          \
		"crash", required_argument, NULL, 'C'                                              \
	}
int network_option(int option, const char *value, struct setup_words *words,
                   struct problem *problem);

/* A..B, A at most B. */
int parse_seeds(const char *text, uint64_t *ret_first, uint64_t *ret_last, struct problem *problem);

/* 250ms, 3s, 2m, or a number of seconds, as milliseconds; from 1ms to a year. */
int parse_duration(const char *text, const char *what, uint64_t *ret_ms, struct problem *problem);

/* How many processors there are to use, at most THREADS_MAX. */
enum { THREADS_MAX = 256 };
uint32_t processors_count(void);

/* A bar on stderr, if that is a terminal and the work lasts longer than a second. */
void progress_start(void);
/* How much is done, from 0 to 1, and a few words on what is being done. */
void progress_show(double part, const char *doing);
/* Of `all` that there are. */
void progress_count(uint64_t done, uint64_t all);
void progress_clear(void);

/* Before a comparison: a line on stderr if it will take minutes, and what would take less. */
void announce_work(const char *command, double messages, const char *less);

/* "--reorder" on an algorithm that needs order: said on stderr. */
void warn_of_order(const char *command, const struct setup *setup);

/* From now on ^C only sets what this points to, so that what was found so far can be told and files
 * end with a whole line. A second one ends the program at once. Unless whoever started us wants it to
 * be ignored. */
const volatile sig_atomic_t *watch_for_interrupt(void);
/* Ends the program by the signal if it has come: who started us may want to know. */
void end_if_interrupted(void);

/* "" or "s". */
const char *plural(uint64_t count);

/* "--holder" where there is no token: said on stderr. */
void warn_of_holder(const char *command, const struct setup_words *words,
                    const struct setup *setup);

/* Dumps it on stdout with a newline and frees it; `main` sees whether stdout could take it. */
void print_json(json_t *json);

#endif
