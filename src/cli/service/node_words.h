/* The options of `baton node`: those of a configuration file, then those of the command line, which
 * override them. */
#ifndef CLI_NODE_WORDS_H
#define CLI_NODE_WORDS_H

#include "daemon.h"
#include "settings.h"

struct node_words {
	/* The texts of these options; NULL: not given. Addresses are HOST:PORT. */
	const char *name, *listen, *clients, *socket, *data, *config;
	struct daemon_peer *peers; /* the nodes of --peers, sorted by name; NULL: not given */
	uint32_t peers_count;
	const char **join; /* the addresses of --join; NULL: not given */
	uint32_t join_count;
	bool witness, insecure;
	struct rules *rules; /* the rules of --allow; NULL: none was given; freed with the words */
	struct credentials_files tls;
	const char *invitation; /* the file of --invitation; "-": standard input; NULL: not given */
	struct settings_words settings;
	/* The settings of the first start, which the node's place remembers (node_place.h). */
	struct settings_words remembered;
	uint64_t client_timeout_ms, idle_hop_ms, turns, sessions, locks;
	/* The most sessions of one user, and the most locks; 0: not given. */
	uint64_t user_sessions, user_locks;
	enum daemon_level level;
	bool help;
	/* For each option, indexed by its letter: its line in the file; 0: not in the file. */
	unsigned lines[128];
	void **kept; /* memory that must stay valid as long as the words */
	size_t kept_count, kept_size;
};

void node_words_init(struct node_words *words);
void node_words_free(struct node_words *words);
/* Gives memory to the words: node_words_free frees it too. Returns the memory. */
void *node_words_keep(struct node_words *words, void *memory);

/* These return 0; or -1 and a problem, which names the line of the file, if there is one. */
int node_words_read(struct node_words *words, int argc, char **argv, struct problem *problem);
int node_words_read_file(struct node_words *words, const char *path, struct problem *problem);

/* Checks a name, which must suit log lines, tables, and lists separated by commas or spaces.
 * Returns 0; or -1 and a problem that begins with `what`. */
int node_name_check(const char *name, const char *what, struct problem *problem);

/* If the problem is about an option that came from the file, puts "FILE:LINE: " before its text. */
void node_words_add_line(const struct node_words *words, struct problem *problem);

#endif
