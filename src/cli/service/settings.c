#include "settings.h"

#include "cli.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEASE_MS_MIN = 500, LINKS_MAX = 1024 };
/* The seed of random:D, so that all members of a cluster draw the same graph. */
enum { SETTINGS_SEED = 1 };
/* A number of members that suits every algorithm and all its parameters. Some parameters suit only
 * a few other numbers. */
enum { SEVEN = 7 };

struct settings {
	struct settings_words words; /* the options as they were given */
	const struct algorithm *algorithm;
	char *topology; /* the topology as text; NULL: `links` are used instead */
	struct named_link *links;
	uint32_t links_count;
	char *links_text; /* the links as text: sorted, each once; NULL: there are none */
	uint64_t parameters[PARAMETERS_MAX];
	uint64_t lease_ms;
	char *text;
	char *memory;          /* the memory that the links and words point into, or NULL */
	struct settings *next; /* the settings that were resolved before */
};

/* --- links by name --- */

static int compare_links(const void *a, const void *b)
{
	const struct named_link *one = a, *other = b;
	int order = strcmp(one->a, other->a);

	return order != 0 ? order : strcmp(one->b, other->b);
}

/* Splits "a-b", or "web-1--web-2" if a name has a dash. */
static int parse_link(char *item, struct named_link *ret_link, struct problem *problem)
{
	char *dash = strstr(item, "--");
	size_t size = 2;

	if (dash == NULL) {
		dash = strchr(item, '-');
		size = 1;
	}
	if (dash == NULL || dash == item || dash[size] == '\0' ||
	    strstr(dash + size, size == 1 ? "-" : "--") != NULL)
		return problem_set(problem,
		                   "--links '%.60s': NAME-NAME is needed, such as a-b; with two "
		                   "dashes if a name has one: web-1--web-2",
		                   item);
	*dash = '\0';
	const char *other = dash + size;
	if (strcmp(item, other) == 0)
		return problem_set(problem, "--links '%.60s': a link needs two nodes", item);
	bool order = strcmp(item, other) < 0;
	*ret_link = order ? (struct named_link){item, other} : (struct named_link){other, item};
	return 0;
}

/* True if the links form one connected graph. `part` has room for all links. */
static bool links_connected(const struct named_link *links, uint32_t count, bool *part)
{
	bool more = true, all = true;

	memset(part, 0, count * sizeof(*part));
	part[0] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < count; i++) {
			for (uint32_t k = 0; k < count && !part[i]; k++) {
				const struct named_link *x = &links[i], *y = &links[k];
				part[i] = part[k] &&
				          (strcmp(x->a, y->a) == 0 || strcmp(x->a, y->b) == 0 ||
				           strcmp(x->b, y->a) == 0 || strcmp(x->b, y->b) == 0);
				more = more || part[i];
			}
		}
	}
	for (uint32_t i = 0; i < count; i++)
		all = all && part[i];
	return all;
}

static char *show_links(const struct settings *settings)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	memory_must(out != NULL);
	for (uint32_t i = 0; i < settings->links_count; i++) {
		const struct named_link *link = &settings->links[i];
		bool dashes = strchr(link->a, '-') != NULL || strchr(link->b, '-') != NULL;
		fprintf(out, "%s%s%s%s", i == 0 ? "" : ",", link->a, dashes ? "--" : "-", link->b);
	}
	memory_must(fclose(out) == 0);
	return text;
}

static int make_links(struct settings *settings, const char *text, struct problem *problem)
{
	char *rest = strdup(text), *item;
	bool part[LINKS_MAX];
	uint32_t count = 0, kept = 0;

	settings->memory = rest;
	settings->links = calloc(LINKS_MAX, sizeof(*settings->links));
	memory_must(rest != NULL && settings->links != NULL);
	while ((item = strsep(&rest, ",")) != NULL) {
		if (count == LINKS_MAX)
			return problem_set(problem, "--links: at most %d links", LINKS_MAX);
		if (parse_link(item, &settings->links[count], problem) != 0)
			return -1;
		count++;
	}
	qsort(settings->links, count, sizeof(*settings->links), compare_links);
	for (uint32_t i = 0; i < count; i++) {
		if (kept == 0 ||
		    compare_links(&settings->links[kept - 1], &settings->links[i]) != 0)
			settings->links[kept++] = settings->links[i];
	}
	settings->links_count = kept;
	if (!links_connected(settings->links, kept, part))
		return problem_set(problem,
		                   "--links %.200s: not connected: some nodes cannot reach each "
		                   "other",
		                   text);
	settings->links_text = show_links(settings);
	return 0;
}

/* --- checking --- */

static int make_algorithm(struct settings *settings, struct problem *problem)
{
	const char *name = settings->words.algorithm;
	const struct algorithm *algorithm =
	        setup_algorithm(name != NULL ? name : "neilsen", problem);

	if (algorithm == NULL)
		return -1;
	if (algorithm->kind != KIND_MUTEX)
		return problem_set(problem,
		                   "--algorithm %s: this is an election; a lock needs mutual "
		                   "exclusion, such as neilsen",
		                   algorithm->name);
	settings->algorithm = algorithm;
	return 0;
}

static int make_lease(struct settings *settings, struct problem *problem)
{
	const char *text = settings->words.lease != NULL ? settings->words.lease : "3s";

	if (parse_duration(text, "--lease", &settings->lease_ms, problem) != 0)
		return -1;
	if (settings->lease_ms < LEASE_MS_MIN || settings->lease_ms > DAEMON_LEASE_MS_MAX)
		return problem_set(problem, "--lease '%.40s': a time from 500ms to 24h is needed",
		                   text);
	return 0;
}

/* Refuses a topology that suits only some numbers of members. */
static int check_topology(const char *topology, struct problem *problem)
{
	struct topology parsed;
	bool file = strncmp(topology, "file:", 5) == 0;

	if (file || (topology_parse(topology, &parsed) == NULL && topology_nodes(&parsed) != 0))
		return problem_set(problem,
		                   "--topology %.60s: it fixes the number of members, and members "
		                   "of a cluster come and go",
		                   topology);
	return 0;
}

/* Is the parameter only for study? Then only its default is safe for locks. */
static bool is_for_study(const struct parameter *parameter)
{
	return parameter->breaks || strcmp(parameter->name, "text") == 0;
}

static uint64_t usual_value(const struct parameter *parameter)
{
	return parameter->choices != NULL ? parameter->choices[0].value : parameter->initial;
}

static int check_parameters(const struct network *network, struct problem *problem)
{
	const struct parameter *parameter = network->algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		if (is_for_study(&parameter[i]) &&
		    network->parameters[i] != usual_value(&parameter[i]))
			return problem_set(problem,
			                   "--param %s: other values than the default are for the "
			                   "laboratory, not for locks",
			                   parameter[i].name);
	}
	return 0;
}

static bool is_choice(const struct parameter *parameter, const char *value)
{
	const struct parameter_choice *choice = parameter->choices;

	while (choice->name != NULL && strcmp(choice->name, value) != 0)
		choice++;
	return choice->name != NULL;
}

/* Refuses parameters that are texts, such as the committees of each node. */
static int check_texts(const struct settings *settings, struct problem *problem)
{
	const struct parameter *parameter = settings->algorithm->parameters;

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		size_t size = strlen(parameter[i].name);
		for (size_t k = 0; k < settings->words.parameters_count; k++) {
			const char *given = settings->words.parameters[k];
			if (parameter[i].takes_text &&
			    strncmp(given, parameter[i].name, size) == 0 && given[size] == '=' &&
			    !is_choice(&parameter[i], given + size + 1))
				return problem_set(problem,
				                   "--param %.60s: it fixes the number of members, "
				                   "and members of a cluster come and go",
				                   given);
		}
	}
	return 0;
}

/* Do the words suit a cluster of this many members? Returns 0, or -1 and a problem. */
static int try_members(struct settings *settings, uint32_t members, struct problem *problem)
{
	struct setup_words words = {.algorithm = settings->algorithm->name,
	                            .topology = settings->topology,
	                            .nodes = members,
	                            .seed = SETTINGS_SEED,
	                            .parameters_count = settings->words.parameters_count};
	struct setup setup = {0};
	struct problem wrong;

	memcpy(words.parameters, settings->words.parameters, sizeof(words.parameters));
	if (setup_make(&words, &setup, &wrong) != 0) {
		return members == SEVEN
		               ? problem_set(problem, "%s", wrong.text)
		               : problem_set(problem,
		                             "%.300s; members of a cluster come and go, so the "
		                             "settings must work with any number of them",
		                             wrong.text);
	}
	int result = check_parameters(&setup.network, problem);
	memcpy(settings->parameters, setup.network.parameters, sizeof(settings->parameters));
	setup_free(&setup);
	return result;
}

static int make_shape(struct settings *settings, struct problem *problem)
{
	const struct algorithm *algorithm = settings->algorithm;
	const struct settings_words *words = &settings->words;
	static const uint32_t members[] = {SEVEN, 1, 2, 3, 4, 5, 6, 8, 16};

	if (words->links != NULL && words->topology != NULL)
		return problem_set(problem, "--links and --topology: both say who is linked to "
		                            "whom, so give only one");
	if (words->links != NULL && algorithm->links != GRAPH_CONNECTED)
		return problem_set(problem,
		                   "--links: %s does not run on every connected graph; helary does",
		                   algorithm->name);
	if (words->links != NULL && make_links(settings, words->links, problem) != 0)
		return -1;
	if (words->links == NULL) {
		const char *topology =
		        words->topology != NULL ? words->topology : algorithm->topology;
		if (check_topology(topology, problem) != 0)
			return -1;
		settings->topology = strdup(topology);
		memory_must(settings->topology != NULL);
	}
	if (check_texts(settings, problem) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (try_members(settings, members[i], problem) != 0)
			return -1;
	}
	return 0;
}

/* --- as text --- */

/* Writes a duration in the form of an option: 3s, 2500ms. */
static void show_lease(char *room, size_t size, uint64_t ms)
{
	if (ms % 1000 == 0)
		snprintf(room, size, "%llus", (unsigned long long)ms / 1000);
	else
		snprintf(room, size, "%llums", (unsigned long long)ms);
}

static void show_parameter(char *room, size_t size, const struct parameter *parameter,
                           uint64_t value)
{
	snprintf(room, size, "%llu", (unsigned long long)value);
	for (const struct parameter_choice *choice = parameter->choices;
	     choice != NULL && choice->name != NULL; choice++) {
		if (choice->value == value)
			snprintf(room, size, "%s", choice->name);
	}
}

static void write_text(struct settings *settings)
{
	const struct parameter *parameter = settings->algorithm->parameters;
	size_t size;
	char value[64];
	FILE *out = open_memstream(&settings->text, &size);

	memory_must(out != NULL);
	fprintf(out, "algorithm = %s\n", settings->algorithm->name);
	if (settings->links_text != NULL)
		fprintf(out, "links = %s\n", settings->links_text);
	else
		fprintf(out, "topology = %s\n", settings->topology);
	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		if (is_for_study(&parameter[i]))
			continue;
		show_parameter(value, sizeof(value), &parameter[i], settings->parameters[i]);
		fprintf(out, "param = %s=%s\n", parameter[i].name, value);
	}
	show_lease(value, sizeof(value), settings->lease_ms);
	fprintf(out, "lease = %s\n", value);
	memory_must(fclose(out) == 0);
}

struct settings *settings_create(const struct settings_words *words, struct problem *problem)
{
	struct settings *settings = calloc(1, sizeof(*settings));

	memory_must(settings != NULL);
	settings->words = *words;
	if (make_algorithm(settings, problem) != 0 || make_lease(settings, problem) != 0 ||
	    make_shape(settings, problem) != 0) {
		settings_destroy(settings);
		return NULL;
	}
	write_text(settings);
	return settings;
}

void settings_destroy(struct settings *settings)
{
	while (settings != NULL) {
		struct settings *next = settings->next;
		free(settings->topology);
		free(settings->links);
		free(settings->links_text);
		free(settings->text);
		free(settings->memory);
		free(settings);
		settings = next;
	}
}

const char *settings_text(const struct settings *settings)
{
	return settings->text;
}

/* --- the settings of the node's cluster --- */

static int read_line(char *line, struct settings_words *words, struct problem *problem)
{
	char *value = strstr(line, " = ");

	if (value == NULL)
		return problem_set(problem, "the cluster's settings have a malformed line '%.60s'",
		                   line);
	*value = '\0';
	value += 3;
	if (strcmp(line, "algorithm") == 0)
		words->algorithm = value;
	else if (strcmp(line, "topology") == 0)
		words->topology = value;
	else if (strcmp(line, "links") == 0)
		words->links = value;
	else if (strcmp(line, "lease") == 0)
		words->lease = value;
	else if (strcmp(line, "param") == 0 && words->parameters_count < SETUP_PARAMETERS_MAX)
		words->parameters[words->parameters_count++] = value;
	else
		return problem_set(problem,
		                   "the cluster has a setting '%.40s' that this version of baton "
		                   "does not know",
		                   line);
	return 0;
}

/* Reads the settings. The text is changed and must stay valid, because the words point into it. */
static int read_text(char *text, struct settings_words *words, struct problem *problem)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		if (*line != '\0' && read_line(line, words, problem) != 0)
			return -1;
	}
	if (words->algorithm == NULL || words->lease == NULL ||
	    (words->topology == NULL) == (words->links == NULL))
		return problem_set(problem, "the cluster's settings are not complete");
	return 0;
}

static int differs(const char *option, const char *given, const char *what, const char *value,
                   struct problem *problem)
{
	return problem_set(
	        problem, "--%s %.120s: this cluster's %s %.120s, which was fixed when it was born",
	        option, given, what, value);
}

/* Compares one of the parameters that were given with the cluster's. */
static int compare_parameter(const struct settings *own, const struct settings *theirs,
                             const char *given, struct problem *problem)
{
	const struct parameter *parameter = theirs->algorithm->parameters;
	size_t size = strcspn(given, "=");
	char value[64], what[80];

	for (size_t i = 0; parameter != NULL && parameter[i].name != NULL; i++) {
		if (strlen(parameter[i].name) != size ||
		    memcmp(parameter[i].name, given, size) != 0 ||
		    own->parameters[i] == theirs->parameters[i])
			continue;
		show_parameter(value, sizeof(value), &parameter[i], theirs->parameters[i]);
		snprintf(what, sizeof(what), "%.60s is", parameter[i].name);
		return differs("param", given, what, value, problem);
	}
	return 0;
}

static int compare(const struct settings *own, const struct settings *theirs,
                   struct problem *problem)
{
	const struct settings_words *given = &own->words;
	char lease[32];

	if (given->algorithm != NULL && own->algorithm != theirs->algorithm)
		return differs("algorithm", given->algorithm, "algorithm is",
		               theirs->algorithm->name, problem);
	if (given->topology != NULL && theirs->topology == NULL)
		return differs("topology", given->topology, "links are", theirs->links_text,
		               problem);
	if (given->topology != NULL && strcmp(own->topology, theirs->topology) != 0)
		return differs("topology", given->topology, "topology is", theirs->topology,
		               problem);
	if (given->links != NULL && theirs->links_text == NULL)
		return differs("links", given->links, "topology is", theirs->topology, problem);
	if (given->links != NULL && strcmp(own->links_text, theirs->links_text) != 0)
		return differs("links", given->links, "links are", theirs->links_text, problem);
	for (size_t i = 0; own->algorithm == theirs->algorithm && i < given->parameters_count;
	     i++) {
		if (compare_parameter(own, theirs, given->parameters[i], problem) != 0)
			return -1;
	}
	show_lease(lease, sizeof(lease), theirs->lease_ms);
	if (given->lease != NULL && own->lease_ms != theirs->lease_ms)
		return differs("lease", given->lease, "lease is", lease, problem);
	return 0;
}

int settings_resolve(void *context, const char *text, struct daemon_settings *ret_settings,
                     struct problem *problem)
{
	struct settings *own = context, *theirs = NULL;
	struct settings_words words = {0};
	char *copy = strdup(text);

	memory_must(copy != NULL);
	if (read_text(copy, &words, problem) == 0)
		theirs = settings_create(&words, problem);
	if (theirs == NULL || compare(own, theirs, problem) != 0) {
		settings_destroy(theirs);
		free(copy);
		return -1;
	}
	/* The words point into the copy, which is freed. */
	theirs->words = (struct settings_words){0};
	free(copy);
	theirs->next = own->next;
	own->next = theirs;
	*ret_settings = (struct daemon_settings){
	        .algorithm = theirs->algorithm,
	        .topology = theirs->topology,
	        .wiring = {.complete = theirs->algorithm->links == GRAPH_COMPLETE,
	                   .seed = SETTINGS_SEED,
	                   .links = {theirs->links, theirs->links_count}},
	        .parameters = theirs->parameters,
	        .lease_ms = theirs->lease_ms,
	};
	if (theirs->topology != NULL)
		must(topology_parse(theirs->topology, &ret_settings->wiring.topology) == NULL);
	return 0;
}
