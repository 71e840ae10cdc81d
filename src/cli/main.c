/*
 * baton: one program, a table of subcommands.
 */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
};

static int command_help(int argc, char **argv);

static const struct command commands[] = {
        {"algorithms", command_algorithms},
        {"sim", command_sim},
        {"check", command_check},
        {"replay", command_replay},
        {"compare", command_compare},
        {"choose", command_choose},
        {"fence-check", command_fence_check},
        {"node", command_node},
        {"dev", command_dev},
        {"status", command_status},
        {"run", command_run},
        {"lock", command_lock},
        {"elect", command_elect},
        {"observe", command_observe},
        {"break", command_break},
        {"help", command_help},
        {NULL, NULL},
};

static const struct command *find_command(const char *name)
{
	const char *names[sizeof(commands) / sizeof(*commands)] = {NULL};

	for (size_t i = 0; commands[i].name != NULL; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
		names[i] = commands[i].name;
	}
	const char *nearest = nearest_name(name, names);
	struct problem problem;
	if (nearest != NULL)
		problem_set(&problem, "unknown command '%.40s': did you mean '%s'?", name, nearest);
	else
		problem_set(&problem, "unknown command '%.40s': 'baton help' lists them", name);
	fprintf(stderr, "baton: %s\n", problem.text);
	return NULL;
}

static int command_help(int argc, char **argv)
{
	if (argc > 2) {
		fprintf(stderr, "baton help: one command at a time: 'baton help COMMAND'\n");
		return EXIT_USAGE;
	}
	if (argc == 2 && find_command(argv[1]) == NULL)
		return EXIT_USAGE;
	print_help(argc == 2 ? argv[1] : NULL);
	return EXIT_HELD;
}

static int run(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(NULL);
		return EXIT_HELD;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("baton " BATON_VERSION);
		return EXIT_HELD;
	}
	if (argv[1][0] == '-') {
		fprintf(stderr,
		        "baton: unknown option '%.40s': a command comes first, 'baton help' lists "
		        "them\n",
		        argv[1]);
		return EXIT_USAGE;
	}
	const struct command *command = find_command(argv[1]);
	return command == NULL ? EXIT_USAGE : command->run(argc - 1, argv + 1);
}

/* What must hold did not (must.h): most often there was no memory. */
static void say_why(int signal)
{
	static const char words[] = "baton: stopped: out of memory, or a bug in baton\n";
	ssize_t written = write(STDERR_FILENO, words, sizeof(words) - 1);
	(void)written;
	raise(signal); /* and end, as it would have */
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = say_why,
	                           .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

	sigaction(SIGILL, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
	int code = run(argc, argv);

	/* A report that nobody can read was not given. */
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) { /* now, or before */
		fprintf(stderr, "baton: standard output cannot be written%s%s\n",
		        errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
		return EXIT_USAGE;
	}
	return code;
}
