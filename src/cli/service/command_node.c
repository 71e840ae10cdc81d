/* baton node, the daemon: turns the words of the command line into options. */
#include "cli.h"
#include "enrol.h"
#include "memory.h"
#include "node_place.h"
#include "node_words.h"
#include "service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOCKET_PATH_MAX = 107 };

/* Checks that all three files of TLS are given, or none. */
static int check_tls(const struct credentials_files *tls, struct problem *problem)
{
	static const char *const names[] = {"--tls-ca", "--tls-cert", "--tls-key"};
	const char *const files[] = {tls->ca, tls->certificate, tls->key};
	const char *given = NULL, *missing = NULL;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (files[i] != NULL)
			given = names[i];
		else
			missing = names[i];
	}
	if (tls->ca_key != NULL && given == NULL)
		given = "--tls-ca-key";
	if (given != NULL && missing != NULL)
		return problem_set(problem, "%s: %s is needed too; 'baton cert' makes the files",
		                   given, missing);
	return 0;
}

static int check_secure(struct node_words *words, const struct daemon_options *options,
                        struct problem *problem)
{
	struct daemon_address listen = options->listen;

	if (words->insecure || options->tls.ca != NULL)
		return 0;
	/* A cluster of one in memory does not listen for others. But an address that would be
	 * refused with --data is refused here too. */
	if (listen.host == NULL && words->listen != NULL) {
		if (parse_address(words->listen, "--listen", &listen, problem) != 0)
			return -1;
		node_words_keep(words, listen.host);
	}
	if (listen.host != NULL && !node_host_is_loopback(listen.host))
		return problem_set(problem,
		                   "--listen %.60s: not loopback, and without TLS anybody could "
		                   "join: use TLS ('baton cert'), or --insecure allows it",
		                   listen.host);
	if (options->clients.host != NULL && !node_host_is_loopback(options->clients.host))
		return problem_set(problem,
		                   "--clients %.60s: not loopback, and without TLS anybody could "
		                   "take locks: use TLS ('baton cert'), or --insecure allows it",
		                   options->clients.host);
	return 0;
}

/*
 * Sets the log line about a cluster of one in memory, which a node without --data, --join and
 * --peers is. That may be intended. But if the options were forgotten on several hosts, each host
 * is a cluster of its own, and nothing keeps their clients apart. If there is a configuration file
 * or an address for peers, it was probably not intended.
 */
static void tell_alone(struct node_words *words, struct daemon_options *options)
{
	char *text = NULL, why[400] = "no --data, --join or --peers";

	if (words->data != NULL || words->join != NULL)
		return;
	options->alone_unmeant = words->config != NULL || words->listen != NULL;
	if (words->config != NULL)
		snprintf(why, sizeof(why),
		         "%.200s has no line 'data = ...', 'join = ...' or 'peers = ...'",
		         words->config);
	if (words->listen != NULL)
		snprintf(why + strlen(why), sizeof(why) - strlen(why),
		         "; no other node is let in at --listen %.60s", words->listen);
	memory_must(asprintf(&text,
	                     "a cluster of one in memory: %s. No other node keeps its clients out "
	                     "of locks that are held here. If there are other nodes, give this "
	                     "one --data DIR and --join HOST:PORT, the address of any of them",
	                     why) > 0);
	options->alone = node_words_keep(words, text);
}

static int make_socket(struct node_words *words, struct daemon_options *options,
                       struct problem *problem)
{
	const char *given = getenv("BATON_SOCKET"), *folder = getenv("XDG_RUNTIME_DIR");
	char *path = NULL;

	if (words->socket != NULL)
		options->socket = words->socket;
	else if (given != NULL && *given != '\0')
		options->socket = given;
	else if (folder != NULL && *folder != '\0' && access(folder, W_OK) == 0) {
		memory_must(asprintf(&path, "%s/baton.sock", folder) > 0);
		options->socket = node_words_keep(words, path);
	} else
		options->socket = "/run/baton.sock";
	if (*options->socket == '\0' || strlen(options->socket) > SOCKET_PATH_MAX)
		return problem_set(problem, "--socket '%.120s': a path has 1 to %d bytes",
		                   options->socket, SOCKET_PATH_MAX);
	return 0;
}

static int make_options(struct node_words *words, struct daemon_options *options,
                        struct settings **ret_settings, struct problem *problem)
{
	options->client_timeout_ms = words->client_timeout_ms;
	options->idle_hop_ns = words->idle_hop_ms * 1000000;
	options->turns = (uint32_t)words->turns;
	options->sessions_max = (uint32_t)words->sessions;
	options->locks_max = (uint32_t)words->locks;
	options->user_sessions_max = (uint32_t)words->user_sessions;
	options->user_locks_max = (uint32_t)words->user_locks;
	options->level = words->level;
	if (make_socket(words, options, problem) != 0)
		return -1;
	if (words->clients != NULL) {
		if (parse_address(words->clients, "--clients", &options->clients, problem) != 0)
			return -1;
		node_words_keep(words, options->clients.host);
	}
	if (node_place_make(words, options, problem) != 0 ||
	    enrol_prepare(words, options, problem) != 0 || check_tls(&options->tls, problem) != 0 ||
	    check_secure(words, options, problem) != 0)
		return -1;
	/* node_place_make may have added remembered settings of a cluster that is not born yet. */
	*ret_settings = settings_create(&words->settings, problem);
	if (*ret_settings == NULL)
		return -1;
	options->settings = settings_text(*ret_settings);
	options->resolve = settings_resolve;
	options->context = *ret_settings;
	tell_alone(words, options);
	return node_place_keep(words, options, problem);
}

/* The words that the node was started with. */
struct started {
	int argc;
	char **argv;
};

/* Reads all options again, as at the start, and returns only the rules. Runs in a thread of its
 * own; nothing else uses getopt by now. */
static int read_rules_again(void *context, struct rules **ret_rules, struct problem *problem)
{
	const struct started *started = context;
	struct node_words words;

	optind = 0; /* makes getopt begin again */
	node_words_init(&words);
	int result = node_words_read(&words, started->argc, started->argv, problem);
	if (result == 0) {
		*ret_rules = words.rules;
		words.rules = NULL;
	}
	node_words_free(&words);
	return result;
}

int command_node(int argc, char **argv)
{
	struct node_words words;
	struct started started = {argc, argv};
	struct daemon_options options = {.reload = read_rules_again, .reload_context = &started};
	struct settings *settings = NULL;
	struct problem problem;
	int code = EXIT_HELD;

	fill_streams();
	node_words_init(&words);
	if (node_words_read(&words, argc, argv, &problem) != 0) {
		code = usage_problem("node", &problem);
	} else if (words.help) {
		print_help("node");
	} else if (make_options(&words, &options, &settings, &problem) != 0) {
		node_words_add_line(&words, &problem);
		code = usage_problem("node", &problem);
	} else if (enrol_run(&words, &options) != 0) {
		code = EXIT_VIOLATED;
	} else {
		options.rules = words.rules;
		words.rules = NULL;
		code = daemon_run(&options);
	}
	settings_destroy(settings);
	node_words_free(&words);
	return code;
}
