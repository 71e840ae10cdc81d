/*
 * baton cert: makes the certificates of a cluster. One folder has the CA and all that it has
 * signed.
 */
#include "certificate.h"
#include "cli.h"
#include "memory.h"
#include "must.h"
#include "node_words.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CA_DAYS = 3652, DAYS = 365, DAYS_MAX = 36500 };

struct cert_words {
	const char *what; /* the kind of certificate: ca, node or client */
	const char *operand;
	const char *ca, *out; /* the folders of --ca and --out; NULL: not given */
	uint64_t days;        /* how many days the certificate is valid; 0: not given */
	struct certificate_wish wish;
	bool json, help;
};

struct cert_paths {
	char *certificate, *key;
};

static char *path_in(const char *folder, const char *name, const char *suffix)
{
	char *path = NULL;

	memory_must(asprintf(&path, "%s/%s%s", folder, name, suffix) > 0);
	return path;
}

static struct cert_paths paths_in(const char *folder, const char *name)
{
	return (struct cert_paths){path_in(folder, name, ".crt"), path_in(folder, name, ".key")};
}

static void free_paths(struct cert_paths *paths)
{
	free(paths->certificate);
	free(paths->key);
}

static bool has_ca(const char *folder)
{
	char *path = path_in(folder, "ca", ".key");
	bool has = access(path, F_OK) == 0;

	free(path);
	return has;
}

/* Finds the CA: in this folder, or in the only folder below it that has a CA. Returns that folder,
 * which the caller frees; or NULL and a problem if there is no CA, or more than one. */
static char *find_ca(struct problem *problem)
{
	char *found = has_ca(".") ? strdup(".") : NULL;
	DIR *here = found != NULL ? NULL : opendir(".");
	const struct dirent *entry;

	while (here != NULL && (entry = readdir(here)) != NULL) {
		if (entry->d_name[0] == '.' || !has_ca(entry->d_name))
			continue;
		if (found != NULL) {
			problem_set(
			        problem,
			        "both '%.120s' and '%.120s' have a CA: choose one with --ca DIR",
			        found, entry->d_name);
			free(found);
			closedir(here);
			return NULL;
		}
		found = strdup(entry->d_name);
		memory_must(found != NULL);
	}
	if (here != NULL)
		closedir(here);
	if (found == NULL)
		problem_set(problem, "no CA here (ca.key): --ca DIR says where it is, and 'baton "
		                     "cert ca DIR' makes one");
	return found;
}

static void print_made(const struct cert_words *words, const struct cert_paths *made)
{
	bool ca = strcmp(words->what, "ca") == 0;

	if (words->json) {
		print_json(json_pack("{s:s,s:s?,s:s,s:s,s:I}", "role", words->what, "name",
		                     ca ? NULL : words->wish.holder.name, "certificate",
		                     made->certificate, "key", made->key, "days",
		                     (json_int_t)words->days));
		return;
	}
	printf("%s  everybody may see it; valid for %llu days\n", made->certificate,
	       (unsigned long long)words->days);
	printf("%s  %s\n", made->key,
	       ca ? "keep it secret, and off the nodes: whoever has it can make members"
	          : "keep it secret: only the owner of the certificate may have it");
}

static int make_folder(const char *path, struct problem *problem)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return problem_set(problem, "'%.200s' cannot be made: %s", path, strerror(errno));
}

static int make_ca(struct cert_words *words, struct problem *problem)
{
	struct cert_paths paths = paths_in(words->operand, "ca");
	int result = make_folder(words->operand, problem);

	if (result == 0)
		result = certificate_make_ca(paths.certificate, paths.key, (uint32_t)words->days,
		                             problem);
	if (result == 0)
		print_made(words, &paths);
	free_paths(&paths);
	return result;
}

static int make_signed(struct cert_words *words, struct problem *problem)
{
	char *folder = words->ca != NULL ? strdup(words->ca) : find_ca(problem);

	if (folder == NULL)
		return -1;
	struct cert_paths ca = paths_in(folder, "ca");
	struct cert_paths paths =
	        paths_in(words->out != NULL ? words->out : folder, words->wish.holder.name);
	int result = words->out != NULL ? make_folder(words->out, problem) : 0;

	if (result == 0)
		result = certificate_make(&words->wish, ca.certificate, ca.key, paths.certificate,
		                          paths.key, problem);
	if (result == 0)
		print_made(words, &paths);
	free_paths(&paths);
	free_paths(&ca);
	free(folder);
	return result;
}

/* --- words --- */

static int add_address(struct certificate_wish *wish, const char *text, struct problem *problem)
{
	if (wish->addresses_count == CERTIFICATE_ADDRESSES_MAX)
		return problem_set(problem, "--address: at most %d", CERTIFICATE_ADDRESSES_MAX);
	if (!certificate_takes_address(text))
		return problem_set(problem,
		                   "--address '%.60s': the name or the IP address of a host is "
		                   "needed, without a port",
		                   text);
	wish->addresses[wish->addresses_count++] = text;
	return 0;
}

static int check_words(struct cert_words *words, int operands, struct problem *problem)
{
	static const char *const kinds[] = {"ca", "node", "client", NULL};
	const char *const *kind = kinds;

	if (words->what == NULL)
		return problem_set(problem, "what? ca DIR, node NAME or client NAME");
	while (*kind != NULL && strcmp(*kind, words->what) != 0)
		kind++;
	if (*kind == NULL) {
		const char *nearest = nearest_name(words->what, kinds);
		return problem_set(problem,
		                   nearest != NULL ? "unknown word '%.40s': did you mean '%s'?"
		                                   : "unknown word '%.40s': ca, node or client",
		                   words->what, nearest);
	}
	bool ca = kind == kinds;
	if (operands != 2)
		return problem_set(problem, "%s needs %s", *kind, ca ? "one folder" : "one name");
	must(words->operand != NULL); /* the second of the two operands */
	if (words->days == 0)
		words->days = ca ? CA_DAYS : DAYS;
	if (ca)
		return words->ca != NULL || words->out != NULL || words->wish.addresses_count > 0
		               ? problem_set(problem, "ca takes only --days and --json")
		               : 0;
	words->wish.holder.role =
	        strcmp(*kind, "node") == 0 ? CERTIFICATE_NODE : CERTIFICATE_CLIENT;
	words->wish.days = (uint32_t)words->days;
	if (words->wish.holder.role == CERTIFICATE_CLIENT && words->wish.addresses_count > 0)
		return problem_set(problem, "--address goes with node only: nobody connects to "
		                            "a client");
	if (node_name_check(words->operand, *kind, problem) != 0)
		return -1;
	if (strchr(words->operand, '/') != NULL || words->operand[0] == '.')
		return problem_set(problem,
		                   "%s '%.60s': the files get this name, so it must not contain "
		                   "'/' or begin with '.'",
		                   *kind, words->operand);
	if (words->wish.holder.role == CERTIFICATE_CLIENT &&
	    strpbrk(words->operand, "*?[]^") != NULL)
		return problem_set(
		        problem,
		        "client '%.60s': rules have patterns for these names (cert:ci-*), "
		        "so a name must not contain * ? [ ] or ^",
		        words->operand);
	snprintf(words->wish.holder.name, sizeof(words->wish.holder.name), "%s", words->operand);
	return 0;
}

static int read_words(int argc, char **argv, struct cert_words *words, struct problem *problem)
{
	static const struct option options[] = {
	        {"ca", required_argument, NULL, 'c'},
	        {"out", required_argument, NULL, 'o'},
	        {"days", required_argument, NULL, 'd'},
	        {"address", required_argument, NULL, 'a'},
	        {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	int option;

	while ((option = next_option(argc, argv, options, problem)) != -1) {
		if (option == 'c')
			words->ca = optarg;
		else if (option == 'o')
			words->out = optarg;
		else if (option == 'j')
			words->json = true;
		else if (option == 'h') {
			words->help = true;
			return 0;
		} else if (option == 'd' ? parse_number(optarg, 1, DAYS_MAX, "--days", &words->days,
		                                        problem) != 0
		                         : option != 'a' ||
		                                   add_address(&words->wish, optarg, problem) != 0)
			return -1;
	}
	words->what = optind < argc ? argv[optind] : NULL;
	words->operand = optind + 1 < argc ? argv[optind + 1] : NULL;
	return check_words(words, argc - optind, problem);
}

int command_cert(int argc, char **argv)
{
	struct cert_words words = {0};
	struct problem problem;

	if (read_words(argc, argv, &words, &problem) != 0)
		return usage_problem("cert", &problem);
	if (words.help) {
		print_help("cert");
		return EXIT_HELD;
	}
	must(words.what != NULL && words.operand != NULL);
	bool ca = strcmp(words.what, "ca") == 0;
	if ((ca ? make_ca(&words, &problem) : make_signed(&words, &problem)) != 0)
		return usage_problem("cert", &problem);
	return EXIT_HELD;
}
