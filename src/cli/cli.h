/*
 * Declarations that the subcommands share: their functions, exit codes, options and progress.
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
/* Exit codes of the commands that talk to a node (sysexits.h). */
enum { EXIT_UNAVAILABLE = 69, EXIT_NOT_PERMITTED = 77 };

/* Each command has a function like main's. argv[0] is the command's name. */
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
int command_cert(int argc, char **argv);
int command_member(int argc, char **argv);
int command_drain(int argc, char **argv);
int command_run(int argc, char **argv);
int command_lock(int argc, char **argv);
int command_elect(int argc, char **argv);
int command_observe(int argc, char **argv);
int command_break(int argc, char **argv);
int command_whoami(int argc, char **argv);
int command_can(int argc, char **argv);

/* Prints one line on stderr, "baton sim: …", and returns EXIT_USAGE. */
int usage_problem(const char *command, const struct problem *problem);

/*
 * Returns the next option, as getopt_long does. For a wrong option returns '?' and a problem that
 * suggests the nearest name. Returns -1 at the end. Operands may come anywhere and are moved to the
 * end.
 */
int next_option(int argc, char **argv, const struct option *options, struct problem *problem);

/* The files for TLS, which every client of a node takes. next_letter_or_option never returns these:
 * it sets the environment variables that libbaton reads. */
enum { OPTION_TLS = 512 };
#define CLIENT_TLS_OPTIONS                                                                         \
	{"tls-ca", required_argument, NULL, OPTION_TLS},                                           \
	        {"tls-cert", required_argument, NULL, OPTION_TLS + 1},                             \
	{                                                                                          \
		"tls-key", required_argument, NULL, OPTION_TLS + 2                                 \
	}

/* Like next_option, but with one-letter options too. `letters` is as for getopt and begins with ":"
 * or "+:". With "+:" options end at the first operand. */
int next_letter_or_option(int argc, char **argv, const char *letters, const struct option *options,
                          struct problem *problem);

/* Checks that the option which next_option has just returned is not given for the second time, if
 * it has a value. Only --param may be repeated. Returns 0, or -1 and a problem. */
int option_given_once(int option, const struct option *options, char **argv,
                      struct problem *problem);

/* Prints the help text of a command on stdout. */
void print_help(const char *command);

/* The options that describe a network, for sim and check. network_option puts the value of an
 * option into `words`. It returns 0; or -1 and a problem; or 1 if the option is not one of
 * these. */
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

/* Parses A..B, where A is at most B. */
int parse_seeds(const char *text, uint64_t *ret_first, uint64_t *ret_last, struct problem *problem);

/* Parses 250ms, 3s, 2m or a number of seconds, from 1 ms to a year, into milliseconds. */
int parse_duration(const char *text, const char *what, uint64_t *ret_ms, struct problem *problem);

/* Returns how many processors this process may use, at most THREADS_MAX. */
enum { THREADS_MAX = 256 };
uint32_t processors_count(void);

/* Starts a progress bar on stderr. It appears if stderr is a terminal and the work lasts longer
 * than a second. */
void progress_start(void);
/* Shows how much is done, from 0 to 1; `doing` says in a few words what is being done. */
void progress_show(double part, const char *doing);
/* Shows that `done` of `all` things are done. */
void progress_count(uint64_t done, uint64_t all);
void progress_clear(void);

/* Prints a line on stderr if a comparison will take minutes. `less` names what would shorten it,
 * such as "fewer --nodes". */
void announce_work(const char *command, double messages, const char *less);

/* Warns on stderr of "--reorder" with an algorithm that needs ordered channels. */
void warn_of_order(const char *command, const struct setup *setup);

/* From now on Ctrl-C (SIGINT) or SIGTERM only sets the flag that this returns, so that the command
 * can report what it has found so far and end files with a whole line. A second signal of
 * the same kind ends the program at once. A signal that was ignored when the program started stays ignored. */
const volatile sig_atomic_t *watch_for_interrupt(void);
/* If a signal has come, ends the program by that signal, so that the parent process sees that it
 * was interrupted. */
void end_if_interrupted(void);

/* Returns "" for one, otherwise "s". */
const char *plural(uint64_t count);

/* Warns on stderr of "--holder" with an algorithm that has no token. */
void warn_of_holder(const char *command, const struct setup_words *words,
                    const struct setup *setup);

/* Prints the JSON on stdout with a newline, and frees it. `main` checks later whether stdout
 * could be written. */
void print_json(json_t *json);

#endif
