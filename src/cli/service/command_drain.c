/*
 * `baton drain`: the node lets its clients finish what they do, leaves the cluster and ends.
 */
#include "cli.h"
#include "memory.h"
#include "service.h"

#include <baton/baton.h>

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum { LOOK_MS = 20 };

/* Waits until the node has removed its socket. The node closes its clients first, and the socket
 * when it has closed everything else. This takes less than a lease; after that, another node may
 * serve on the same socket. */
static void wait_until_gone(struct baton *baton, uint64_t lease_ms)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

	for (uint64_t ms = 0; ms < lease_ms && baton_connect(baton) != BATON_ENODE; ms += LOOK_MS)
		nanosleep(&pause, NULL);
}

/* Waits for the end of the connection. */
static void wait_for_end(const struct baton *baton)
{
	struct pollfd ended = {.fd = baton_fd(baton), .events = POLLIN};
	char byte;

	do {
		poll(&ended, 1, -1);
	} while (ended.fd >= 0 && recv(ended.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0);
}

static int drain(const char *address, int64_t finish_ms, bool json)
{
	struct baton *baton = baton_open(address);
	char name[BATON_NAME_MAX + 1];
	uint64_t holds = 0, lease_ms = 0;

	memory_must(baton != NULL);
	int code = service_reach("drain", baton, &lease_ms);
	int error = code == 0 ? baton_node(baton, name, NULL) : 0;
	if (code == 0 && error == 0)
		error = baton_drain(baton, finish_ms, &holds);
	if (error != 0)
		code = service_problem("drain", baton, error);
	if (code == 0) {
		if (holds > 0 && !json)
			fprintf(stderr,
			        "baton drain: %llu lock%s held at %s; waiting for the holder%s\n",
			        (unsigned long long)holds, holds == 1 ? " is" : "s are", name,
			        plural(holds));
		wait_for_end(baton);
		wait_until_gone(baton, lease_ms);
		if (json)
			print_json(
			        json_pack("{s:s, s:I}", "node", name, "held", (json_int_t)holds));
		else
			printf("%s has left the cluster and ended\n", name);
	}
	baton_close(baton);
	return code;
}

int command_drain(int argc, char **argv)
{
	static const struct option options[] = {
	        {"for", required_argument, NULL, 'f'},
	        {"socket", required_argument, NULL, 'S'},
	        CLIENT_TLS_OPTIONS,
	        {"json", no_argument, NULL, 'j'},
	        {"help", no_argument, NULL, 'h'},
	        {NULL, 0, NULL, 0},
	};
	const char *address = NULL;
	uint64_t finish_ms = 0;
	bool limited = false, json = false;
	struct problem problem;
	int option;

	while ((option = next_letter_or_option(argc, argv, ":S:h", options, &problem)) != -1) {
		if (option == 'S')
			address = optarg;
		else if (option == 'j')
			json = true;
		else if (option == 'h') {
			print_help("drain");
			return EXIT_HELD;
		} else if (option != 'f' ||
		           parse_duration(optarg, "--for", &finish_ms, &problem) != 0)
			return usage_problem("drain", &problem);
		limited = limited || option == 'f';
	}
	if (optind < argc) {
		problem_set(&problem, "unexpected '%.60s'", argv[optind]);
		return usage_problem("drain", &problem);
	}
	return drain(address, limited ? (int64_t)finish_ms : BATON_FOREVER, json);
}
