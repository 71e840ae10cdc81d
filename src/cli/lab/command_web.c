/*
 * baton web executes baton-web, a program in the same folder that has the HTTP server.
 */
#include "cli.h"
#include "page_program.h"

int command_web(int argc, char **argv)
{
	static const struct option options[] = {
	        {"listen", required_argument, NULL, 'l'},
	        {"socket", required_argument, NULL, 'S'},
	        {"control", no_argument, NULL, 'c'},
	        {"insecure", no_argument, NULL, 'i'},
	        {"open", required_argument, NULL, 'o'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	struct problem problem;

	for (int option;
	     (option = next_letter_or_option(argc, argv, ":S:", options, &problem)) != -1;) {
		if (option == 'h') {
			print_help("web");
			return EXIT_HELD;
		}
		if (option == '?')
			return usage_problem("web", &problem);
	}
	page_program_execute(argv, &problem);
	return usage_problem("web", &problem);
}
