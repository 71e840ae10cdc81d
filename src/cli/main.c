/*
 * baton: one program, a table of subcommands.
 */
#include "cli.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	/* The command belongs to the laboratory, where running out of memory is reported like any
	 * other limit. */
	bool laboratory;
};

static int command_help(int argc, char **argv);

static const struct command commands[] = {
        {"algorithms", command_algorithms, true},
        {"sim", command_sim, true},
        {"check", command_check, true},
        {"replay", command_replay, true},
        {"compare", command_compare, true},
        {"choose", command_choose, true},
        {"web", command_web, true},
        {"fence-check", command_fence_check, false},
        {"node", command_node, false},
        {"dev", command_dev, false},
        {"torture", command_torture, false},
        {"status", command_status, false},
        {"member", command_member, false},
        {"cert", command_cert, false},
        {"drain", command_drain, false},
        {"whoami", command_whoami, false},
        {"can", command_can, false},
        {"run", command_run, false},
        {"lock", command_lock, false},
        {"elect", command_elect, false},
        {"observe", command_observe, false},
        {"break", command_break, false},
        {"help", command_help, false},
        {NULL, NULL, false},
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
	const char *command = argc == 2 ? argv[1] : NULL;
	if (command != NULL && (strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0))
		command = argv[0];
	if (command != NULL && find_command(command) == NULL)
		return EXIT_USAGE;
	print_help(command);
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
	if (command == NULL)
		return EXIT_USAGE;
	if (command->laboratory)
		memory_exit_set(EXIT_LIMIT);
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int code = run(argc, argv);

	/* A report that could not be written must not look like a success. */
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) { /* this flush failed, or an earlier write */
		fprintf(stderr, "baton: standard output cannot be written%s%s\n",
		        errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
		return EXIT_USAGE;
	}
	return code;
}
