/*
 * baton node: the daemon. Turns words into options. The lines of a configuration file are read as
 * if they stood before the words of the command line.
 */
#include "cli.h"
#include "grow.h"
#include "host.h"
#include "memory.h"
#include "service.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PEERS_MAX = 4096,
	SOCKET_PATH_MAX = 107,
	LEASE_MS_MIN = 500,
	LEASE_MS_MAX = 24 * 60 * 60 * 1000,
	EPOCH_FLOOR_MAX = (1 << 19) - 2, /* so that there is one more */
};

struct node_words {
	const char *name, *cluster, *socket, *data, *config;
	struct daemon_address listen, clients; /* host NULL: not given */
	struct daemon_peer *peers;
	uint32_t peers_count;
	enum daemon_level level;
	struct setup_words setup;
	uint64_t lease_ms, client_timeout_ms, idle_hop_ms, turns, epoch_floor, sessions, locks;
	bool insecure;
	/* Indexed by an option's letter: its line in the file; 0: not in the file. */
	unsigned lines[128];
	void **kept; /* memory that must stay valid as long as the options */
	size_t kept_count, kept_size;
};

static void *keep(struct node_words *words, void *memory)
{
	memory_must(memory != NULL);
	words->kept =
	        grow(words->kept, &words->kept_size, words->kept_count + 1, sizeof(*words->kept));
	words->kept[words->kept_count++] = memory;
	return memory;
}

static void free_words(struct node_words *words)
{
	while (words->kept_count > 0)
		free(words->kept[--words->kept_count]);
	free(words->kept);
}

/* The long name of each option is also its name in a file. */
static const struct option options_long[] = {
        {"name", required_argument, NULL, 'n'},
        {"cluster", required_argument, NULL, 'c'},
        {"listen", required_argument, NULL, 'l'},
        {"peers", required_argument, NULL, 'p'},
        {"algorithm", required_argument, NULL, 'a'},
        {"topology", required_argument, NULL, 't'},
        {"param", required_argument, NULL, 'P'},
        {"lease", required_argument, NULL, 'e'},
        {"socket", required_argument, NULL, 's'},
        {"clients", required_argument, NULL, 'C'},
        {"client-timeout", required_argument, NULL, 'T'},
        {"data", required_argument, NULL, 'd'},
        {"turns", required_argument, NULL, 'k'},
        {"idle-hop", required_argument, NULL, 'i'},
        {"epoch-floor", required_argument, NULL, 'f'},
        {"max-clients", required_argument, NULL, 'm'},
        {"max-locks", required_argument, NULL, 'M'},
        {"insecure", no_argument, NULL, 'I'},
        {"log", required_argument, NULL, 'L'},
        {"config", required_argument, NULL, 'F'},
        {"join", required_argument, NULL, 'j'},
        {"tls-ca", required_argument, NULL, 'j'},
        {"tls-cert", required_argument, NULL, 'j'},
        {"tls-key", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

/* --- values --- */

/* Names must suit log lines, tables, and lists separated by commas or spaces. */
static int check_name(const char *name, const char *what, struct problem *problem)
{
	if (name[0] == '\0' || strlen(name) > 255)
		return problem_set(problem, "%s: 1 to 255 bytes are needed", what);
	for (const char *c = name; *c != '\0'; c++) {
		if (*c <= ' ' || *c >= 0x7f || strchr(",=\"\\", *c) != NULL)
			return problem_set(problem,
			                   "%s '%.60s': printable ASCII without spaces, commas, "
			                   "'=', quotes and backslashes is needed",
			                   what, name);
	}
	return 0;
}

static int compare_peers(const void *a, const void *b)
{
	return strcmp(((const struct daemon_peer *)a)->name, ((const struct daemon_peer *)b)->name);
}

static int parse_peers(struct node_words *words, const char *text, struct problem *problem)
{
	struct daemon_peer *peers = keep(words, calloc(PEERS_MAX, sizeof(*peers)));
	uint32_t count = 0;
	char *rest = keep(words, strdup(text)), *item;

	while ((item = strsep(&rest, ",")) != NULL) {
		char *equals = strchr(item, '=');
		if (equals == NULL || equals == item || equals - item > 255)
			return problem_set(problem, "--peers '%.60s': NAME=HOST:PORT is needed",
			                   item);
		*equals = '\0';
		if (count == PEERS_MAX)
			return problem_set(problem, "--peers: at most %d nodes", PEERS_MAX);
		peers[count].name = item;
		if (check_name(item, "--peers", problem) != 0)
			return -1;
		if (parse_address(equals + 1, "--peers", &peers[count].address, problem) != 0)
			return -1;
		keep(words, peers[count].address.host);
		count++;
	}
	qsort(peers, count, sizeof(*peers), compare_peers);
	for (uint32_t i = 1; i < count; i++) {
		if (strcmp(peers[i - 1].name, peers[i].name) == 0)
			return problem_set(problem, "--peers: '%.60s' occurs twice", peers[i].name);
	}
	for (uint32_t i = 1; i < count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (peers[i].address.port == peers[k].address.port &&
			    strcmp(peers[i].address.host, peers[k].address.host) == 0)
				return problem_set(
				        problem,
				        "--peers: '%.60s' and '%.60s' have the same address",
				        peers[k].name, peers[i].name);
		}
	}
	words->peers = peers;
	words->peers_count = count;
	return 0;
}

static int set_address(struct node_words *words, const char *text, const char *what,
                       struct daemon_address *ret_address, struct problem *problem)
{
	if (parse_address(text, what, ret_address, problem) != 0)
		return -1;
	keep(words, ret_address->host);
	return 0;
}

static int set_algorithm(struct node_words *words, const char *name, struct problem *problem)
{
	const struct algorithm *algorithm = setup_algorithm(name, problem);

	if (algorithm == NULL)
		return -1;
	if (algorithm->kind != KIND_MUTEX)
		return problem_set(problem,
		                   "--algorithm %s: this is an election; a lock needs mutual "
		                   "exclusion, such as neilsen",
		                   algorithm->name);
	words->setup.algorithm = name;
	return 0;
}

static int set_lease(struct node_words *words, const char *text, struct problem *problem)
{
	if (parse_duration(text, "--lease", &words->lease_ms, problem) != 0)
		return -1;
	if (words->lease_ms < LEASE_MS_MIN || words->lease_ms > LEASE_MS_MAX)
		return problem_set(problem, "--lease '%.40s': from 500ms to 24h", text);
	return 0;
}

static int set_level(struct node_words *words, const char *text, struct problem *problem)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};

	for (unsigned i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		if (strcmp(levels[i], text) == 0) {
			words->level = (enum daemon_level)i;
			return 0;
		}
	}
	return problem_set(problem, "--log '%.40s': error, warning, info or debug", text);
}

/* The least is ten seconds, which a client needs to notice that its connection was cut. */
static int set_client_timeout(struct node_words *words, const char *value, struct problem *problem)
{
	enum { LEAST_MS = 10000 };
	uint64_t ms;

	if (parse_duration(value, "--client-timeout", &ms, problem) != 0)
		return -1;
	if (ms < LEAST_MS)
		return problem_set(problem,
		                   "--client-timeout %.60s: at least 10s, the time that a client "
		                   "may need to notice that its connection was cut",
		                   value);
	words->client_timeout_ms = ms;
	return 0;
}

static int set_word(struct node_words *words, int option, const char *value,
                    struct problem *problem)
{
	switch (option) {
	case 'n':
		words->name = value;
		return check_name(value, "--name", problem);
	case 'c':
		words->cluster = value;
		return check_name(value, "--cluster", problem);
	case 'l':
		return set_address(words, value, "--listen", &words->listen, problem);
	case 'p':
		return parse_peers(words, value, problem);
	case 'a':
		return set_algorithm(words, value, problem);
	case 't':
		words->setup.topology = value;
		return 0;
	case 'P':
		return network_option('P', value, &words->setup, problem);
	case 'e':
		return set_lease(words, value, problem);
	case 's':
		words->socket = value;
		return 0;
	case 'C':
		return set_address(words, value, "--clients", &words->clients, problem);
	case 'T':
		return set_client_timeout(words, value, problem);
	case 'd':
		words->data = value;
		return 0;
	case 'k':
		return parse_number(value, 1, UINT32_MAX, "--turns", &words->turns, problem);
	case 'i':
		return parse_duration(value, "--idle-hop", &words->idle_hop_ms, problem);
	case 'f':
		return parse_number(value, 1, EPOCH_FLOOR_MAX, "--epoch-floor", &words->epoch_floor,
		                    problem);
	case 'm':
		return parse_number(value, 1, 1 << 20, "--max-clients", &words->sessions, problem);
	case 'M':
		return parse_number(value, 1, UINT32_MAX, "--max-locks", &words->locks, problem);
	case 'I':
		words->insecure = true;
		return 0;
	case 'L':
		return set_level(words, value, problem);
	case 'F': /* was read before */
		return 0;
	case 'j':
		return problem_set(
		        problem,
		        "--join and --tls-*: this version has a fixed list of peers and no TLS");
	default:
		return -1;
	}
}

/* --- the file --- */

static char *trim(char *text)
{
	text += strspn(text, " \t\r\n");
	size_t size = strlen(text);
	while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
		text[--size] = '\0';
	return text;
}

/* Reads a line "name = value"; a line that begins with # is a comment. */
static int read_line(struct node_words *words, char *line, unsigned number, struct problem *problem)
{
	const char *names[sizeof(options_long) / sizeof(*options_long)] = {NULL};
	size_t count = 0;

	line = trim(line);
	if (*line == '\0' || *line == '#')
		return 0;
	char *value = strchr(line, '=');
	if (value != NULL)
		*value++ = '\0';
	char *name = trim(line);
	value = value != NULL ? trim(value) : NULL;
	for (const struct option *option = options_long; option->name != NULL; option++) {
		if (option->val == 'h' || option->val == 'F')
			continue;
		names[count++] = option->name;
		if (strcmp(option->name, name) != 0)
			continue;
		if (option->has_arg == required_argument && (value == NULL || *value == '\0'))
			return problem_set(problem, "'%s' needs a value: %s = ...", name, name);
		if (option->has_arg == no_argument && value != NULL && strcmp(value, "yes") != 0)
			return problem_set(problem, "'%s' takes no value but 'yes'", name);
		words->lines[option->val] = number;
		return set_word(words, option->val, value, problem);
	}
	const char *nearest = nearest_name(name, names);
	return nearest != NULL
	               ? problem_set(problem, "unknown name '%.40s': did you mean '%s'?", name,
	                             nearest)
	               : problem_set(problem,
	                             "unknown name '%.40s': the names are those of the options, "
	                             "see 'baton node --help'",
	                             name);
}

/* The text stays allocated, because the words point into it. */
static int read_config(struct node_words *words, const char *path, struct problem *problem)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	struct problem wrong;

	if (file == NULL)
		return problem_set(problem, "--config '%.200s': %s", path, strerror(errno));
	words->config = path;
	for (unsigned number = 1; getline(&line, &room, file) >= 0; number++) {
		if (read_line(words, keep(words, strdup(line)), number, &wrong) != 0) {
			free(line);
			fclose(file);
			return problem_set(problem, "%.200s:%u: %.250s", path, number, wrong.text);
		}
	}
	bool bad = ferror(file) != 0;
	free(line);
	fclose(file);
	return bad ? problem_set(problem, "--config '%.200s' cannot be read", path) : 0;
}

/* Adds the line of the file to a problem that was found later, if the option that it begins with
 * came from there. */
static void add_line(const struct node_words *words, struct problem *problem)
{
	struct problem wrong = *problem;
	const char *text = wrong.text + strspn(wrong.text, "-");

	for (const struct option *option = options_long; option->name != NULL; option++) {
		if (words->lines[option->val] != 0 &&
		    strncmp(text, option->name, strlen(option->name)) == 0)
			problem_set(problem, "%.200s:%u: %.250s", words->config,
			            words->lines[option->val], wrong.text);
	}
}

/* --- from words to options --- */

static bool is_loopback(const char *host)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	bool loopback = true;

	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return true; /* trying to listen will show what is wrong */
	for (struct addrinfo *at = found; at != NULL; at = at->ai_next) {
		char text[64] = "";
		getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0,
		            NI_NUMERICHOST);
		loopback = loopback && (strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0);
	}
	freeaddrinfo(found);
	return loopback;
}

static int check_secure(const struct node_words *words, const struct daemon_options *options,
                        struct problem *problem)
{
	if (words->insecure)
		return 0;
	if (options->listen.host != NULL && !is_loopback(options->listen.host))
		return problem_set(
		        problem,
		        "--listen %.60s: not loopback, and there is no TLS: anybody could join; "
		        "--insecure allows it",
		        options->listen.host);
	if (options->clients.host != NULL && !is_loopback(options->clients.host))
		return problem_set(
		        problem,
		        "--clients %.60s: not loopback, and there is no TLS: anybody could take "
		        "locks; --insecure allows it",
		        options->clients.host);
	return 0;
}

/*
 * Without peers this is a cluster of one. That may be intended. But if the line was forgotten on
 * several hosts, each is a cluster of its own, and nothing keeps their clients apart. If there is a
 * file or an address for peers, it was probably not intended.
 */
static void tell_alone(struct node_words *words, struct daemon_options *options)
{
	char *text = NULL, why[400] = "no --peers";

	options->alone_unmeant = words->config != NULL || words->listen.host != NULL;
	if (words->config != NULL)
		snprintf(why, sizeof(why),
		         "%.200s has no line 'peers = ...', and there is no --peers",
		         words->config);
	if (words->listen.host != NULL)
		snprintf(why + strlen(why), sizeof(why) - strlen(why),
		         "; at --listen %.60s:%u nobody is let in", words->listen.host,
		         words->listen.port);
	memory_must(asprintf(&text,
	                     "a cluster of one: %s. No other node keeps its clients out of locks "
	                     "that are "
	                     "held here. If there are other nodes, give all of them the same list: "
	                     "peers = NAME=HOST:PORT,NAME=HOST:PORT,...",
	                     why) > 0);
	options->alone = keep(words, text);
}

static int make_peers(struct node_words *words, struct daemon_options *options,
                      struct problem *problem)
{
	static char host_name[256];
	const char *name = words->name;

	if (name == NULL) {
		gethostname(host_name, sizeof(host_name) - 1);
		name = host_name;
		if (check_name(name, "--name", problem) != 0)
			return -1;
	}
	if (words->peers == NULL) {
		tell_alone(words, options);
		words->peers = keep(words, calloc(1, sizeof(*words->peers)));
		words->peers->name = name;
		words->peers_count = 1;
	}
	options->peers = words->peers;
	options->peers_count = words->peers_count;
	while (options->self < options->peers_count &&
	       strcmp(words->peers[options->self].name, name) != 0)
		options->self++;
	if (options->self == options->peers_count)
		return problem_set(problem,
		                   "--peers: this node, '%.60s', is not among them; see --name",
		                   name);
	options->listen =
	        words->listen.host != NULL ? words->listen : words->peers[options->self].address;
	options->clients = words->clients;
	return 0;
}

/* Refuses values of parameters that are there for study. */
static int check_parameters(const struct network *network, struct problem *problem)
{
	const struct parameter *parameter = network->algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		uint64_t usual = parameter[i].choices != NULL ? parameter[i].choices[0].value
		                                              : parameter[i].initial;
		if (parameter[i].breaks && network->parameters[i] != usual)
			return problem_set(problem,
			                   "--param %s: other values than the default are for the "
			                   "laboratory, not for locks",
			                   parameter[i].name);
	}
	return 0;
}

/* Sets up the algorithm on its topology, and finds which nodes are linked. */
static int make_network(struct node_words *words, struct daemon_options *options,
                        struct setup *setup, struct problem *problem)
{
	for (size_t i = 0; i < words->setup.parameters_count; i++) {
		if (strncmp(words->setup.parameters[i], "text=", 5) == 0)
			return problem_set(problem,
			                   "--param %s: it reproduces an error of a document, for "
			                   "the laboratory and not for locks",
			                   words->setup.parameters[i]);
	}
	words->setup.nodes = options->peers_count;
	words->setup.seed = 1;
	if (setup_make(&words->setup, setup, problem) != 0 ||
	    check_parameters(&setup->network, problem) != 0)
		return -1;
	options->algorithm = setup->network.algorithm;
	options->topology = setup->edges_text != NULL ? setup->edges_text : setup->topology;
	options->parameters = setup->network.parameters;
	options->texts = setup->network.texts;
	for (uint32_t i = 0; i < options->peers_count; i++)
		words->peers[i].linked = i != options->self &&
		                         network_linked(&setup->network, options->self + 1, i + 1);
	return 0;
}

static void make_socket(struct node_words *words, struct daemon_options *options)
{
	const char *given = getenv("BATON_SOCKET"), *folder = getenv("XDG_RUNTIME_DIR");
	char *path = NULL;

	if (words->socket != NULL)
		options->socket = words->socket;
	else if (given != NULL && *given != '\0')
		options->socket = given;
	else if (folder != NULL && *folder != '\0' && access(folder, W_OK) == 0) {
		memory_must(asprintf(&path, "%s/baton.sock", folder) > 0);
		options->socket = keep(words, path);
	} else
		options->socket = "/run/baton.sock";
}

static int make_options(struct node_words *words, struct daemon_options *options,
                        struct setup *setup, struct problem *problem)
{
	struct stat stat_of_data;

	options->cluster = words->cluster;
	options->lease_ms = words->lease_ms;
	options->client_timeout_ms = words->client_timeout_ms;
	options->idle_hop_ns = words->idle_hop_ms * 1000000;
	options->turns = (uint32_t)words->turns;
	options->epoch_floor = words->epoch_floor;
	options->sessions_max = (uint32_t)words->sessions;
	options->locks_max = (uint32_t)words->locks;
	options->data = words->data;
	options->level = words->level;
	if (words->data != NULL &&
	    (stat(words->data, &stat_of_data) != 0 || !S_ISDIR(stat_of_data.st_mode)))
		return problem_set(problem, "--data '%.200s' is no folder", words->data);
	if (words->data != NULL && access(words->data, W_OK | X_OK) != 0)
		return problem_set(problem, "--data '%.200s' cannot be written: %s", words->data,
		                   strerror(errno));
	make_socket(words, options);
	if (*options->socket == '\0' || strlen(options->socket) > SOCKET_PATH_MAX)
		return problem_set(problem, "--socket '%.120s': a path has 1 to %d bytes",
		                   options->socket, SOCKET_PATH_MAX);
	if (make_peers(words, options, problem) != 0 ||
	    make_network(words, options, setup, problem) != 0)
		return -1;
	return check_secure(words, options, problem);
}

static int read_words(int argc, char **argv, struct node_words *words, bool *ret_help,
                      struct problem *problem)
{
	int option;

	/* Read the file first, so that the command line overrides it. */
	for (int i = 1; i < argc && argv[i] != NULL; i++) {
		const char *path = NULL;
		if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
			path = argv[i + 1];
		else if (strncmp(argv[i], "--config=", 9) == 0)
			path = argv[i] + 9;
		if (path != NULL && read_config(words, path, problem) != 0)
			return -1;
	}
	while ((option = next_option(argc, argv, options_long, problem)) != -1) {
		if (option == 'h') {
			*ret_help = true;
			return 0;
		}
		if (option == '?' || set_word(words, option, optarg, problem) != 0)
			return -1;
		words->lines[option] = 0;
	}
	return optind < argc ? problem_set(problem, "unexpected '%.60s'", argv[optind]) : 0;
}

int command_node(int argc, char **argv)
{
	struct node_words words = {
	        .cluster = "baton",
	        .level = LEVEL_INFO,
	        .setup = {.host = host_here(), .algorithm = "neilsen"},
	        .lease_ms = 3000,
	        .client_timeout_ms = 30000,
	        .idle_hop_ms = 10,
	        .turns = 1,
	};
	struct daemon_options options = {0};
	struct setup setup = {0};
	struct problem problem;
	bool help = false;

	fill_streams();
	int code = EXIT_HELD;
	if (read_words(argc, argv, &words, &help, &problem) != 0) {
		code = usage_problem("node", &problem);
	} else if (help) {
		print_help("node");
	} else if (make_options(&words, &options, &setup, &problem) != 0) {
		add_line(&words, &problem);
		code = usage_problem("node", &problem);
	} else {
		code = daemon_run(&options);
	}
	setup_free(&setup);
	free_words(&words);
	return code;
}
