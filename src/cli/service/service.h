/*
 * Functions that the commands of the lock service share.
 */
#ifndef CLI_SERVICE_H
#define CLI_SERVICE_H

#include "daemon.h"
#include "problem.h"

#include <jansson.h>

/* Parses HOST:PORT or [ADDRESS]:PORT; the caller frees the host. Returns 0, or -1 and a problem
 * that begins with `what`. */
int parse_address(const char *text, const char *what, struct daemon_address *ret_address,
                  struct problem *problem);

/* Opens /dev/null for standard streams that are closed, so that no other descriptor of ours gets
 * their numbers. These streams are closed again in a command that is executed. */
void fill_streams(void);

struct baton;

/* How long a node may take to answer a simple question. */
enum { SERVICE_ANSWER_S = 5 };

/* If service_answered is not called within this time, prints that the node does not answer,
 * followed by `else_say`, and ends the process. Otherwise a command would wait for a stopped node
 * for ever. */
void service_expect(const char *command, unsigned seconds, const char *else_say);
void service_answered(void);

/* Connects to the node. If the node does not answer a simple question within some seconds, prints
 * that and ends the process. `ret_lease_ms` may be NULL. Returns 0, or the exit code after printing
 * the reason. */
int service_reach(const char *command, struct baton *baton, uint64_t *ret_lease_ms);

/* Prints "baton status: …" with the error of libbaton on stderr. Returns the exit code for it. */
int service_problem(const char *command, const struct baton *baton, int error);

/* Reads the JSON that a call of libbaton got from the node, and frees it. `error` is what the call
 * returned; if it is not 0, there is no text. Returns NULL on failure, and *ret_code is the exit
 * code; the reason was printed. */
json_t *service_json(const char *command, const struct baton *baton, int error, char *text,
                     int *ret_code);

#endif
