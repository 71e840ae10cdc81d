#include "node_place.h"

#include "cli.h"
#include "memory.h"
#include "must.h"
#include "ownership.h"
#include "rescue_folder.h"
#include "service.h"

#include <errno.h>
#include <libgen.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char listen_default[] = "127.0.0.1:7440";

bool node_host_is_loopback(const char *host)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	bool loopback = true;

	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return true; /* the attempt to use the address will show what is wrong */
	for (struct addrinfo *at = found; at != NULL; at = at->ai_next) {
		char text[64] = "";
		getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof(text), NULL, 0,
		            NI_NUMERICHOST);
		loopback = loopback && (strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0);
	}
	freeaddrinfo(found);
	return loopback;
}

/* --- the folder --- */

/* Checks the data folder. If there is none, checks that it can be made; node_place_keep makes it,
 * when nothing else is wrong with the options. */
static int check_folder(const char *path, struct problem *problem)
{
	struct stat found;

	if (stat(path, &found) != 0 && errno == ENOENT) {
		char *copy = strdup(path);
		memory_must(copy != NULL);
		/* The parent of "" is ".", but "" cannot be made. */
		errno = ENOENT;
		bool allowed = *path != '\0' && access(dirname(copy), W_OK | X_OK) == 0;
		free(copy);
		return allowed ? 0
		               : problem_set(problem, "--data '%.200s' cannot be made: %s", path,
		                             strerror(errno));
	}
	/* Anybody who can write there could replace the log by another one. */
	if (ownership_judge(path, S_IFDIR, "--data", problem) != 0)
		return -1;
	if (access(path, W_OK | X_OK) != 0)
		return problem_set(problem, "--data '%.200s' cannot be written: %s", path,
		                   strerror(errno));
	return 0;
}

static char *place_path(const char *data, const char *suffix)
{
	char *path = NULL;

	memory_must(asprintf(&path, "%s/place%s", data, suffix) > 0);
	return path;
}

/* Reads the remembered place, if there is one. The words keep its memory. */
static int recall(struct node_words *words, struct node_words *ret_old, struct problem *problem)
{
	char *path = node_words_keep(words, place_path(words->data, ""));
	struct problem wrong;
	int result = 0;

	node_words_init(ret_old);
	if (access(path, F_OK) == 0)
		result = node_words_read_file(ret_old, path, &wrong);
	while (ret_old->kept_count > 0)
		node_words_keep(words, ret_old->kept[--ret_old->kept_count]);
	node_words_free(ret_old);
	return result == 0 ? 0
	                   : problem_set(problem,
	                                 "--data %.100s: the state that the node keeps there "
	                                 "cannot be read: %.250s",
	                                 words->data, wrong.text);
}

/* Fills in remembered settings that are not given now. There are two reasons. Before its cluster is
 * born, a node that is started again must propose the same settings. And a topology or a parameter
 * can only be read, and compared with the cluster's, together with its algorithm. */
static void recall_settings(struct settings_words *words, const struct settings_words *old)
{
	if (words->algorithm == NULL)
		words->algorithm = old->algorithm;
	else if (old->algorithm == NULL || strcmp(words->algorithm, old->algorithm) != 0)
		return; /* the other settings belong to another algorithm */
	if (words->topology == NULL && words->links == NULL) {
		words->topology = old->topology;
		words->links = old->links;
	}
	if (words->parameters_count == 0) {
		memcpy(words->parameters, old->parameters, sizeof(words->parameters));
		words->parameters_count = old->parameters_count;
	}
	if (words->lease == NULL)
		words->lease = old->lease;
}

/* --- names and addresses --- */

static int make_name(struct node_words *words, const struct node_words *old,
                     struct problem *problem)
{
	static char host_name[256];

	if (words->name != NULL && old->name != NULL && strcmp(words->name, old->name) != 0)
		return problem_set(problem, "--name %.60s: the folder %.200s belongs to node %.60s",
		                   words->name, words->data, old->name);
	if (words->name == NULL)
		words->name = old->name;
	if (words->name != NULL)
		return 0;
	gethostname(host_name, sizeof(host_name) - 1);
	words->name = host_name;
	return node_name_check(host_name, "--name", problem);
}

/* Returns the node's own entry among the peers, or NULL. */
static struct daemon_peer *own_entry(const struct node_words *words)
{
	for (uint32_t i = 0; words->peers != NULL && i < words->peers_count; i++) {
		if (strcmp(words->peers[i].name, words->name) == 0)
			return &words->peers[i];
	}
	return NULL;
}

/* True if a socket can listen at this address, but nobody can connect to it: 0.0.0.0, [::]. */
static bool is_wildcard(const char *address)
{
	static const char *const wildcards[] = {"0.0.0.0:", "[::]:", "0:", "*:"};

	for (size_t i = 0; i < sizeof(wildcards) / sizeof(*wildcards); i++) {
		if (strncmp(address, wildcards[i], strlen(wildcards[i])) == 0)
			return true;
	}
	return false;
}

/*
 * Finds where the node listens, and where others reach it. With peers, others reach it at its own
 * entry among them. If the peers are only remembered and an address is given now, the node has
 * moved to that address.
 */
static void make_addresses(struct node_words *words, const struct node_words *old, bool peers_given,
                           const char **ret_told)
{
	struct daemon_peer *own = own_entry(words);

	if (words->listen == NULL && !peers_given)
		words->listen = old->listen;
	else if (words->listen != NULL && !peers_given && own != NULL &&
	         !is_wildcard(words->listen))
		own->address = words->listen;
	if (words->listen == NULL)
		words->listen = own != NULL ? own->address : listen_default;
	*ret_told = own != NULL ? own->address : words->listen;
}

static int check_addresses(const struct node_words *words, const char *told,
                           struct problem *problem)
{
	if (is_wildcard(told))
		return problem_set(problem,
		                   "--listen %.60s: other nodes cannot connect to this address; "
		                   "give an address of this host",
		                   told);
	for (uint32_t i = 0; i < words->join_count; i++) {
		struct daemon_address here, there;
		must(parse_address(told, "--listen", &here, problem) == 0 &&
		     parse_address(words->join[i], "--join", &there, problem) == 0);
		bool apart = node_host_is_loopback(here.host) && !node_host_is_loopback(there.host);
		free(here.host);
		free(there.host);
		if (strcmp(told, words->join[i]) == 0)
			return problem_set(
			        problem,
			        "--join %.60s: this is the node's own address; give that "
			        "of a member of the cluster",
			        words->join[i]);
		if (apart)
			return problem_set(problem,
			                   "--join %.60s: other hosts cannot reach this node at "
			                   "%.60s; give --listen HOST:PORT",
			                   words->join[i], told);
	}
	return 0;
}

/* --- all of it --- */

static int check_words(const struct node_words *words, struct problem *problem)
{
	if (words->peers != NULL && words->join != NULL)
		return problem_set(problem, "--peers and --join: give one of them; a node founds a "
		                            "cluster with its peers, or joins an existing one");
	if (words->peers != NULL && words->data == NULL)
		return problem_set(problem,
		                   "--peers: --data DIR is needed, a folder for data that must "
		                   "survive a restart");
	if (words->witness && words->data == NULL)
		return problem_set(problem,
		                   "--witness: --data DIR is needed, a folder for its votes");
	return 0;
}

int node_place_make(struct node_words *words, struct daemon_options *options,
                    struct problem *problem)
{
	struct node_words old;
	bool peers_given = words->peers != NULL;
	const char *told;

	node_words_init(&old);
	if (check_words(words, problem) != 0)
		return -1;
	if (words->data != NULL && rescue_is_torn(words->data))
		return problem_set(problem,
		                   "--data %.200s: a rescue was interrupted there; repeat 'baton "
		                   "member rescue --yes'",
		                   words->data);
	if (words->data != NULL &&
	    (check_folder(words->data, problem) != 0 || recall(words, &old, problem) != 0))
		return -1;
	bool named = words->name != NULL || old.name != NULL;
	if (make_name(words, &old, problem) != 0)
		return -1;
	options->name = words->name;
	options->name_given = named;
	if (words->data == NULL && words->join == NULL)
		return 0; /* a cluster of one in memory */
	if (words->peers == NULL && words->join == NULL) {
		words->peers = old.peers;
		words->peers_count = old.peers_count;
		words->join = old.join;
		words->join_count = old.join_count;
	}
	if (old.name != NULL)
		words->remembered = old.settings;
	else if (words->join == NULL) /* only founders propose settings */
		words->remembered = words->settings;
	recall_settings(&words->settings, &old.settings);
	bool witness_given = words->witness;
	words->witness = witness_given || old.witness;
	if (words->witness && words->peers == NULL && words->join == NULL)
		return problem_set(problem,
		                   "--witness: a witness votes in a cluster: give --join or "
		                   "--peers");
	if (words->peers != NULL && own_entry(words) == NULL)
		return problem_set(problem,
		                   "--peers: this node, '%.60s', is not among them; see --name",
		                   words->name);
	make_addresses(words, &old, peers_given, &told);
	if (check_addresses(words, told, problem) != 0 ||
	    parse_address(words->listen, "--listen", &options->listen, problem) != 0)
		return -1;
	node_words_keep(words, options->listen.host);
	options->address = told;
	options->address_given = told != listen_default;
	options->peers = words->peers;
	options->peers_count = words->peers_count;
	options->join = words->join;
	options->join_count = words->join_count;
	options->witness = words->witness;
	options->witness_given = witness_given;
	options->data = words->data;
	return 0;
}

static void write_setting(FILE *file, const char *name, const char *value)
{
	if (value != NULL)
		fprintf(file, "%s = %s\n", name, value);
}

static void write_settings(FILE *file, const struct settings_words *settings)
{
	write_setting(file, "algorithm", settings->algorithm);
	write_setting(file, "topology", settings->topology);
	write_setting(file, "links", settings->links);
	for (size_t i = 0; i < settings->parameters_count; i++)
		write_setting(file, "param", settings->parameters[i]);
	write_setting(file, "lease", settings->lease);
}

static void write_place(FILE *file, const struct node_words *words)
{
	fprintf(file,
	        "# The place of this node in its cluster, which the node wrote here when it was\n"
	        "# started. The next start needs no options for what stands here.\n"
	        "name = %s\nlisten = %s\n",
	        words->name, words->listen);
	for (uint32_t i = 0; i < words->peers_count; i++)
		fprintf(file, "%s%s=%s%s", i == 0 ? "peers = " : ",", words->peers[i].name,
		        words->peers[i].address, i + 1 == words->peers_count ? "\n" : "");
	for (uint32_t i = 0; i < words->join_count; i++)
		fprintf(file, "%s%s%s", i == 0 ? "join = " : ",", words->join[i],
		        i + 1 == words->join_count ? "\n" : "");
	if (words->witness)
		fputs("witness = yes\n", file);
	write_settings(file, &words->remembered);
}

int node_place_keep(const struct node_words *words, struct daemon_options *options,
                    struct problem *problem)
{
	if (words->data == NULL)
		return 0;
	options->data_made = mkdir(words->data, 0700) == 0;
	if (!options->data_made && errno != EEXIST)
		return problem_set(problem, "--data '%.200s' cannot be made: %s", words->data,
		                   strerror(errno));
	/* The folder may be new, and so not have been judged yet. */
	if (ownership_judge(words->data, S_IFDIR, "--data", problem) != 0) {
		if (options->data_made)
			rmdir(words->data);
		return -1;
	}
	char *path = place_path(words->data, ""), *fresh = place_path(words->data, ".new");
	FILE *file = fopen(fresh, "we");
	bool written = file != NULL;
	if (written) {
		write_place(file, words);
		/* Set the mode whatever the umask is: node_words_read_file refuses a file that
		 * others can write. */
		written = fchmod(fileno(file), 0600) == 0 && fflush(file) == 0 &&
		          fsync(fileno(file)) == 0;
		written = fclose(file) == 0 && written && rename(fresh, path) == 0;
	}
	int result = written ? 0
	                     : problem_set(problem, "--data: %.200s cannot be written: %s", fresh,
	                                   strerror(errno));
	free(path);
	free(fresh);
	return result;
}
