/*
 * baton-web: serves the page. `baton web` executes this program.
 */
#include "problem.h"
#include "server.h"

#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_BAD_USAGE = 2 };

struct web_words {
	char host[256]; /* the host of an address, without brackets */
	char port[16];
	bool insecure;
	bool control;       /* viewers may break locks */
	const char *socket; /* the node's address; NULL: the one that clients use by default */
	/* The part after "http://HOST:PORT/" of the address that a browser opens; NULL: no browser
	 * is started. */
	const char *open;
};

/* Parses HOST:PORT, [HOST]:PORT or PORT alone. */
static int parse_listen(const char *text, struct web_words *words, struct problem *problem)
{
	const char *colon = strrchr(text, ':');
	const char *port = colon != NULL ? colon + 1 : text;
	const char *host = colon != NULL ? text : "127.0.0.1";
	size_t length = colon != NULL ? (size_t)(colon - text) : strlen(host);

	if (length >= 2 && host[0] == '[' && host[length - 1] == ']') {
		host++;
		length -= 2;
	}
	if (length == 0 || length >= sizeof(words->host) || *port == '\0' || strlen(port) > 5 ||
	    strspn(port, "0123456789") != strlen(port) || atoi(port) > 65535)
		return problem_set(problem,
		                   "--listen '%.60s': HOST:PORT is needed, such as 127.0.0.1:7480",
		                   text);
	snprintf(words->host, sizeof(words->host), "%.*s", (int)length, host);
	snprintf(words->port, sizeof(words->port), "%s", port);
	return 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)
		                     ->sin_addr.s_addr) >>
		               24 ==
		       127;
	return address->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(
	               &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static int resolve(const struct web_words *words, struct server_options *ret_options,
                   struct problem *problem)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	int failed = getaddrinfo(words->host, words->port, &hints, &found);

	if (failed != 0)
		return problem_set(problem, "--listen '%.60s': %s", words->host,
		                   gai_strerror(failed));
	bool allowed = words->insecure || is_loopback(found->ai_addr);
	memcpy(&ret_options->address, found->ai_addr, found->ai_addrlen);
	ret_options->host = words->host;
	ret_options->node = words->socket;
	ret_options->control = words->control;
	freeaddrinfo(found);
	if (!allowed)
		return problem_set(
		        problem,
		        "--listen '%.60s': other hosts could connect there, and the page has "
		        "neither TLS nor a password. Listen on loopback behind a proxy, or "
		        "give --insecure",
		        words->host);
	return 0;
}

/* Returns 0, or -1 and a problem. baton itself has already reported errors in the options that it
 * knows. */
static int parse_arguments(int argc, char **argv, struct web_words *words, struct problem *problem)
{
	static const struct option options[] = {
	        {"listen", required_argument, NULL, 'l'}, {"socket", required_argument, NULL, 'S'},
	        {"control", no_argument, NULL, 'c'},      {"insecure", no_argument, NULL, 'i'},
	        {"open", required_argument, NULL, 'o'},   {NULL, 0, NULL, 0},
	};

	opterr = 0;
	for (int option; (option = getopt_long(argc, argv, ":S:", options, NULL)) != -1;) {
		if (option == 'l' && parse_listen(optarg, words, problem) != 0)
			return -1;
		if (option == 'S')
			words->socket = optarg;
		if (option == 'c')
			words->control = true;
		if (option == 'i')
			words->insecure = true;
		if (option == 'o')
			words->open = optarg;
		if (option == '?' || option == ':')
			return problem_set(problem, "unknown option '%.60s'", argv[optind - 1]);
	}
	return optind < argc ? problem_set(problem, "unexpected '%.60s'", argv[optind]) : 0;
}

/* Starts the user's browser, if there is a screen. Nobody waits for its end. */
static void start_browser(char *address)
{
	const char *browser = getenv("BROWSER");
	bool screen = getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL;

	if (browser == NULL && !screen)
		return;
	signal(SIGCHLD, SIG_IGN);
	if (fork() != 0)
		return;
	char program[4096];
	snprintf(program, sizeof(program), "%s", browser != NULL ? browser : "xdg-open");
	char *arguments[] = {program, address, NULL};
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	/* What a browser prints does not belong in this terminal. */
	if (freopen("/dev/null", "w", stdout) != NULL && freopen("/dev/null", "w", stderr) != NULL)
		execvp(program, arguments);
	_exit(1);
}

/* Prints the address of the page, and opens it in a browser if that was asked for. */
static int tell_address(const struct web_words *words, uint16_t port)
{
	bool brackets = strchr(words->host, ':') != NULL; /* an address of IPv6 */
	size_t size = strlen(words->host) + (words->open != NULL ? strlen(words->open) : 0) + 64;
	char *address = malloc(size);

	if (address == NULL)
		return -1;
	snprintf(address, size, "http://%s%s%s:%u/%s", brackets ? "[" : "", words->host,
	         brackets ? "]" : "", port, words->open != NULL ? words->open : "");
	printf("%s\n", address);
	fflush(stdout);
	if (words->open != NULL)
		start_browser(address);
	free(address);
	return 0;
}

/* Raises the limit of descriptors as far as the system allows, because every viewer needs one. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	struct web_words words = {.host = "127.0.0.1", .port = "7480"};
	struct server_options options = {0};
	struct server server;
	struct problem problem;
	sigset_t ending;

	if (parse_arguments(argc, argv, &words, &problem) != 0 ||
	    resolve(&words, &options, &problem) != 0) {
		fprintf(stderr, "baton web: %s\n", problem.text);
		return EXIT_BAD_USAGE;
	}
	allow_descriptors();
	/* Block these before the server's thread starts, so that this thread receives them. */
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	if (server_start(&server, &options) != 0) {
		fprintf(stderr, "baton web: --listen '%.60s:%s': %s\n", words.host, words.port,
		        strerror(errno));
		return EXIT_BAD_USAGE;
	}
	if (tell_address(&words, server.port) == 0) {
		const struct timespec second = {.tv_sec = 1};
		while (sigtimedwait(&ending, NULL, &second) < 0)
			server_watch(&server);
	}
	server_stop(&server);
	return 0;
}
