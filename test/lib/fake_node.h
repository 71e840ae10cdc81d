/*
 * A node that follows a script: on which connection it must be told what, and what it says then. Shows
 * what a client sends, in which order, and what it makes of answers that no real node would give.
 */
#ifndef TEST_FAKE_NODE_H
#define TEST_FAKE_NODE_H

#include <stdbool.h>
#include <stddef.h>

struct step {
	int connection;     /* 0 is the first that is accepted */
	const char *expect; /* the words of a command with blanks between; NULL: none */
	const char *say;    /* bytes; NULL: nothing; CLOSE: close the connection */
};

extern const char CLOSE[];
/* Says nothing until fake_node_go is called, once for each. */
extern const char PAUSE[];

/* An array of three strings, as SUBSCRIBE and its messages have it. */
#define BULK(size, text) "$" #size "\r\n" text "\r\n"

struct fake_node;

/* The steps must stay until it is stopped. On a Unix socket, or on a port of the loopback. */
struct fake_node *fake_node_start(const struct step *steps, size_t steps_count, bool tcp);
const char *fake_node_address(const struct fake_node *node);
void fake_node_go(struct fake_node *node);
/* Fails the test if the script was not followed to its end. */
void fake_node_stop(struct fake_node *node);

#endif
