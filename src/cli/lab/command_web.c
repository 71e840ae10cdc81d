/*
 * baton web executes baton-web, a program in the same folder that has the HTTP server.
 */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds baton-web in the folder of this program's own file. */
static int find_program(char *ret_path, size_t size)
{
	static const char name[] = "baton-web";
	ssize_t length = readlink("/proc/self/exe", ret_path, size - sizeof(name));

	if (length <= 0)
		return -1;
	ret_path[length] = '\0';
	char *slash = strrchr(ret_path, '/');
	memcpy(slash + 1, name, sizeof(name));
	return access(ret_path, X_OK);
}

int command_web(int argc, char **argv)
{
	static const struct option options[] = {
	        {"listen", required_argument, NULL, 'l'},
	        {"insecure", no_argument, NULL, 'i'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	struct problem problem;
	char path[4096];

	for (int option; (option = next_option(argc, argv, options, &problem)) != -1;) {
		if (option == 'h') {
			print_help("web");
			return EXIT_HELD;
		}
		if (option == '?')
			return usage_problem("web", &problem);
	}
	if (find_program(path, sizeof(path)) != 0) {
		fprintf(stderr,
		        "baton web: this baton was built without the page (make PAGE=no)\n");
		return EXIT_USAGE;
	}
	execv(path, argv);
	fprintf(stderr, "baton web: %s: %s\n", path, strerror(errno));
	return EXIT_USAGE;
}
