/*
 * Checks what strangers send: names of hosts, origins, numbers in addresses, the body of an order.
 * Pure functions: nothing here reads or writes anything else.
 */
#ifndef WEB_REQUEST_H
#define WEB_REQUEST_H

#include "problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Is `given`, the value of a Host header, one of the names of a server with this host and port? Any
 * other name may come from a web page whose own name was made to point here (DNS rebinding).
 */
bool request_is_host(const char *given, const char *host, uint16_t port);

/* Is `origin`, the value of an Origin header, the page of the server that the Host header names? */
bool request_is_own_origin(const char *origin, const char *host);

/* Parses a number without a sign. Returns 0, or -1 and a problem that names the word. */
int request_number(const char *text, const char *word, uint64_t least, uint64_t most,
                   uint64_t *ret_number, struct problem *problem);

enum { REQUEST_NAME_MAX = 255, REQUEST_BODY_MAX = 4096 };

/* An order to break a lock. */
struct break_order {
	char name[REQUEST_NAME_MAX];
	size_t name_size;
	uint64_t fence;
};

/* Parses {"name": …, "fence": …}. Returns 0, or -1 and a problem. */
int request_break(const char *body, size_t size, struct break_order *ret_order,
                  struct problem *problem);

#endif
