/*
 * What the commands of the lock service share.
 */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include "daemon.h"
#include "problem.h"

/* HOST:PORT, [ADDRESS]:PORT; the host is to be freed. 0, or -1 and a problem that begins with `what`. */
int parse_address(const char *text, const char *what, struct daemon_address *ret_address,
                  struct problem *problem);

/* Streams that are closed become /dev/null, so that nothing of ours takes their place. A command that is
 * executed finds them closed. */
void fill_streams(void);

struct baton;

/* Whoever does not answer a simple question within some seconds will not answer at all: then that is
 * said, and the process ends. *ret_lease_ms may be NULL. 0, or the exit code, and why has been said. */
int service_reach(const char *command, struct baton *baton, uint64_t *ret_lease_ms);

/* "baton status: …" on stderr, what an error of libbaton's is about; the exit code for it. */
int service_problem(const char *command, const struct baton *baton, int error);

#endif
