#include "node_words.h"

#include "cli.h"
#include "grow.h"
#include "memory.h"
#include "must.h"
#include "ownership.h"
#include "service.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PEERS_MAX = 4096, JOIN_MAX = 64 };

/* The long name of each option is also its name in a file. */
static const struct option options_long[] = {
        {"name", required_argument, NULL, 'n'},
        {"listen", required_argument, NULL, 'l'},
        {"peers", required_argument, NULL, 'p'},
        {"join", required_argument, NULL, 'j'},
        {"witness", no_argument, NULL, 'w'},
        {"algorithm", required_argument, NULL, 'a'},
        {"topology", required_argument, NULL, 't'},
        {"links", required_argument, NULL, 'K'},
        {"param", required_argument, NULL, 'P'},
        {"lease", required_argument, NULL, 'e'},
        {"socket", required_argument, NULL, 's'},
        {"clients", required_argument, NULL, 'C'},
        {"client-timeout", required_argument, NULL, 'T'},
        {"data", required_argument, NULL, 'd'},
        {"turns", required_argument, NULL, 'k'},
        {"idle-hop", required_argument, NULL, 'i'},
        {"max-clients", required_argument, NULL, 'm'},
        {"max-user-clients", required_argument, NULL, 'u'},
        {"max-locks", required_argument, NULL, 'M'},
        {"max-user-locks", required_argument, NULL, 'U'},
        {"insecure", no_argument, NULL, 'I'},
        {"log", required_argument, NULL, 'L'},
        {"allow", required_argument, NULL, 'A'},
        {"config", required_argument, NULL, 'F'},
        {"tls-ca", required_argument, NULL, 'x'},
        {"tls-cert", required_argument, NULL, 'y'},
        {"tls-key", required_argument, NULL, 'z'},
        {"tls-ca-key", required_argument, NULL, 'Z'},
        {"invitation", required_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
};

void node_words_init(struct node_words *words)
{
	*words = (struct node_words){.level = LEVEL_INFO,
	                             .client_timeout_ms = 30000,
	                             .idle_hop_ms = 10,
	                             .turns = 1,
	                             .sessions = 65536};
}

void *node_words_keep(struct node_words *words, void *memory)
{
	memory_must(memory != NULL);
	words->kept =
	        grow(words->kept, &words->kept_size, words->kept_count + 1, sizeof(*words->kept));
	words->kept[words->kept_count++] = memory;
	return memory;
}

void node_words_free(struct node_words *words)
{
	rules_destroy(words->rules);
	while (words->kept_count > 0)
		free(words->kept[--words->kept_count]);
	free(words->kept);
}

/* --- values --- */

int node_name_check(const char *name, const char *what, struct problem *problem)
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

static int check_address(const char *text, const char *what, struct problem *problem)
{
	struct daemon_address address;

	if (parse_address(text, what, &address, problem) != 0)
		return -1;
	free(address.host);
	return 0;
}

static int compare_peers(const void *a, const void *b)
{
	return strcmp(((const struct daemon_peer *)a)->name, ((const struct daemon_peer *)b)->name);
}

/* Refuses a name or an address that occurs twice. */
static int check_peers(const struct daemon_peer *peers, uint32_t count, struct problem *problem)
{
	for (uint32_t i = 1; i < count; i++) {
		if (strcmp(peers[i - 1].name, peers[i].name) == 0)
			return problem_set(problem, "--peers: '%.60s' occurs twice", peers[i].name);
	}
	for (uint32_t i = 1; i < count; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (strcmp(peers[i].address, peers[k].address) == 0)
				return problem_set(
				        problem,
				        "--peers: '%.60s' and '%.60s' have the same address",
				        peers[k].name, peers[i].name);
		}
	}
	return 0;
}

static int set_peers(struct node_words *words, const char *text, struct problem *problem)
{
	struct daemon_peer *peers = node_words_keep(words, calloc(PEERS_MAX, sizeof(*peers)));
	uint32_t count = 0;
	char *rest = node_words_keep(words, strdup(text)), *item;

	while ((item = strsep(&rest, ",")) != NULL) {
		char *equals = strchr(item, '=');
		if (equals == NULL || equals == item || equals - item > 255)
			return problem_set(problem, "--peers '%.60s': NAME=HOST:PORT is needed",
			                   item);
		*equals = '\0';
		if (count == PEERS_MAX)
			return problem_set(problem, "--peers: at most %d nodes", PEERS_MAX);
		peers[count++] = (struct daemon_peer){item, equals + 1};
		if (node_name_check(item, "--peers", problem) != 0 ||
		    check_address(equals + 1, "--peers", problem) != 0)
			return -1;
	}
	qsort(peers, count, sizeof(*peers), compare_peers);
	words->peers = peers;
	words->peers_count = count;
	return check_peers(peers, count, problem);
}

static int set_join(struct node_words *words, const char *text, struct problem *problem)
{
	char *rest = node_words_keep(words, strdup(text)), *item;

	words->join = node_words_keep(words, calloc(JOIN_MAX, sizeof(*words->join)));
	words->join_count = 0;
	while ((item = strsep(&rest, ",")) != NULL) {
		if (words->join_count == JOIN_MAX)
			return problem_set(problem, "--join: at most %d addresses", JOIN_MAX);
		if (check_address(item, "--join", problem) != 0)
			return -1;
		words->join[words->join_count++] = item;
	}
	return 0;
}

static int set_parameter(struct settings_words *settings, const char *text, struct problem *problem)
{
	if (settings->parameters_count == SETUP_PARAMETERS_MAX)
		return problem_set(problem, "--param: at most %d", SETUP_PARAMETERS_MAX);
	settings->parameters[settings->parameters_count++] = text;
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
	return problem_set(problem, "--log '%.40s': error, warning, info or debug is needed", text);
}

/* Four seconds are the least: probes are sent once a second, and three must stay unanswered. */
static int set_client_timeout(struct node_words *words, const char *value, struct problem *problem)
{
	enum { LEAST_MS = 4000 };
	uint64_t ms;

	if (parse_duration(value, "--client-timeout", &ms, problem) != 0)
		return -1;
	if (ms < LEAST_MS)
		return problem_set(problem,
		                   "--client-timeout %.60s: at least 4s, the time for three "
		                   "probes of the connection",
		                   value);
	words->client_timeout_ms = ms;
	return 0;
}

/* Looks up a user or a group in the databases of this host. That may ask a server and take long. */
static int look_up(bool group, const char *name, uint32_t *ret_id)
{
	size_t size = 1 << 12;
	char *room = NULL;
	struct passwd user, *found_user = NULL;
	struct group some, *found_group = NULL;
	int error;

	do {
		size *= 2;
		free(room);
		room = malloc(size);
		memory_must(room != NULL);
		error = group ? getgrnam_r(name, &some, room, size, &found_group)
		              : getpwnam_r(name, &user, room, size, &found_user);
	} while (error == ERANGE && size < 1 << 24);
	if (found_user != NULL)
		*ret_id = found_user->pw_uid;
	if (found_group != NULL)
		*ret_id = found_group->gr_gid;
	free(room);
	return found_user != NULL || found_group != NULL ? 0 : -1;
}

static int add_rule(struct node_words *words, const char *text, struct problem *problem)
{
	struct problem wrong;

	if (words->rules == NULL)
		words->rules = rules_create();
	if (rules_add(words->rules, text, look_up, &wrong) != 0)
		return problem_set(problem, "--allow '%.100s': %.300s", text, wrong.text);
	return 0;
}

/* Sets an option that is fixed when a cluster is born. Returns 1 if the option is not one of
 * these. */
static int set_setting(struct settings_words *settings, int option, const char *value,
                       struct problem *problem)
{
	switch (option) {
	case 'a':
		settings->algorithm = value;
		return 0;
	case 't':
		settings->topology = value;
		return 0;
	case 'K':
		settings->links = value;
		return 0;
	case 'P':
		return set_parameter(settings, value, problem);
	case 'e':
		settings->lease = value;
		return 0;
	default:
		return 1;
	}
}

static int set_word(struct node_words *words, int option, const char *value,
                    struct problem *problem)
{
	words->witness = words->witness || option == 'w';
	words->insecure = words->insecure || option == 'I';
	if (option == 'w' || option == 'I')
		return 0;
	must(value != NULL);
	int setting = set_setting(&words->settings, option, value, problem);
	if (setting <= 0)
		return setting;
	switch (option) {
	case 'n':
		words->name = value;
		return node_name_check(value, "--name", problem);
	case 'l':
		words->listen = value;
		return check_address(value, "--listen", problem);
	case 'p':
		return set_peers(words, value, problem);
	case 'j':
		return set_join(words, value, problem);
	case 's':
		words->socket = value;
		return 0;
	case 'C':
		words->clients = value;
		return check_address(value, "--clients", problem);
	case 'T':
		return set_client_timeout(words, value, problem);
	case 'd':
		words->data = value;
		return 0;
	case 'k':
		return parse_number(value, 1, UINT32_MAX, "--turns", &words->turns, problem);
	case 'i':
		return parse_duration(value, "--idle-hop", &words->idle_hop_ms, problem);
	case 'm':
		return parse_number(value, 1, 1 << 20, "--max-clients", &words->sessions, problem);
	case 'u':
		return parse_number(value, 1, 1 << 20, "--max-user-clients", &words->user_sessions,
		                    problem);
	case 'M':
		return parse_number(value, 1, UINT32_MAX, "--max-locks", &words->locks, problem);
	case 'U':
		return parse_number(value, 1, UINT32_MAX, "--max-user-locks", &words->user_locks,
		                    problem);
	case 'A':
		return add_rule(words, value, problem);
	case 'L':
		return set_level(words, value, problem);
	case 'F': /* the file was read before the other options */
		return 0;
	case 'x':
		words->tls.ca = value;
		return 0;
	case 'y':
		words->tls.certificate = value;
		return 0;
	case 'z':
		words->tls.key = value;
		return 0;
	case 'Z':
		words->tls.ca_key = value;
		return 0;
	case 'v':
		words->invitation = value;
		return 0;
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

static int unknown_name(const char *name, struct problem *problem)
{
	const char *names[sizeof(options_long) / sizeof(*options_long)] = {NULL};
	size_t count = 0;

	for (const struct option *option = options_long; option->name != NULL; option++) {
		if (option->val != 'h' && option->val != 'F')
			names[count++] = option->name;
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

/* Is this a line "allow RULE", as refusals print it? */
static bool is_rule(const char *line)
{
	size_t size = strlen("allow");
	size_t blanks = strncmp(line, "allow", size) == 0 ? strspn(line + size, " \t") : 0;

	return blanks > 0 && line[size + blanks] != '=';
}

/* Reads a line "name = value", or "allow RULE"; a line that begins with # is a comment. */
static int read_line(struct node_words *words, char *line, unsigned number, struct problem *problem)
{
	line = trim(line);
	if (*line == '\0' || *line == '#')
		return 0;
	if (is_rule(line)) {
		words->lines['A'] = number;
		return set_word(words, 'A', line, problem);
	}
	char *value = strchr(line, '=');
	if (value != NULL)
		*value++ = '\0';
	char *name = trim(line);
	value = value != NULL ? trim(value) : NULL;
	for (const struct option *option = options_long; option->name != NULL; option++) {
		if (option->val == 'h' || option->val == 'F' || strcmp(option->name, name) != 0)
			continue;
		if (option->has_arg == required_argument && (value == NULL || *value == '\0'))
			return problem_set(problem, "'%s' needs a value: %s = ...", name, name);
		if (option->has_arg == no_argument && value != NULL && strcmp(value, "yes") != 0)
			return problem_set(problem, "'%s' takes no value but 'yes'", name);
		words->lines[option->val] = number;
		return set_word(words, option->val, value, problem);
	}
	return unknown_name(name, problem);
}

/* The text stays allocated, because the words point into it. */
int node_words_read_file(struct node_words *words, const char *path, struct problem *problem)
{
	char *line = NULL;
	size_t room = 0;
	struct problem wrong;

	/* The file decides who may do what, so nobody else may be able to change it. */
	if (ownership_judge(path, S_IFREG, "--config", problem) != 0)
		return -1;
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return problem_set(problem, "--config '%.200s': %s", path, strerror(errno));
	words->config = path;
	ssize_t size;
	for (unsigned number = 1; (size = getline(&line, &room, file)) >= 0; number++) {
		int result = strlen(line) != (size_t)size
		                     ? problem_set(&wrong, "there is a 0 byte in this line")
		                     : read_line(words, node_words_keep(words, strdup(line)),
		                                 number, &wrong);
		if (result != 0) {
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

void node_words_add_line(const struct node_words *words, struct problem *problem)
{
	struct problem wrong = *problem;
	const char *text = wrong.text + strspn(wrong.text, "-");

	if (strncmp(text, "unknown ", 8) == 0)
		text += 8;
	for (const struct option *option = options_long; option->name != NULL; option++) {
		if (words->lines[option->val] != 0 &&
		    strncmp(text, option->name, strlen(option->name)) == 0)
			problem_set(problem, "%.200s:%u: %.250s", words->config,
			            words->lines[option->val], wrong.text);
	}
}

int node_words_read(struct node_words *words, int argc, char **argv, struct problem *problem)
{
	int option;

	/* Read the file first, so that the command line overrides it. */
	for (int i = 1; i < argc && argv[i] != NULL; i++) {
		const char *path = NULL;
		if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
			path = argv[i + 1];
		else if (strncmp(argv[i], "--config=", 9) == 0)
			path = argv[i] + 9;
		if (path != NULL && node_words_read_file(words, path, problem) != 0)
			return -1;
	}
	while ((option = next_option(argc, argv, options_long, problem)) != -1) {
		if (option == 'h') {
			words->help = true;
			return 0;
		}
		if (option == '?' || set_word(words, option, optarg, problem) != 0)
			return -1;
		words->lines[option] = 0;
	}
	return optind < argc ? problem_set(problem, "unexpected '%.60s'", argv[optind]) : 0;
}
