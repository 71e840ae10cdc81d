/*
 * A node that follows a script: which commands it must receive on which connection, and what it
 * answers. A test uses it to check what a client sends, in which order, and how the client handles
 * answers that no real node would give.
 */
#ifndef TEST_FAKE_NODE_H
#define TEST_FAKE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step {
	int connection;     /* the number of the connection; 0 is the first that was accepted */
	const char *expect; /* the words of a command, separated by blanks; NULL: none */
	const char *say;    /* the bytes to send; NULL: nothing; CLOSE: close the connection */
};

extern const char CLOSE[];
/* Sends nothing until fake_node_go is called; each PAUSE needs one call. */
extern const char PAUSE[];

/* Answers CLIENT LEASES WORD: what the lease clock says, a lease of FAKE_LEASE_MS, and the
 * descriptor of the word that fake_word_set has set. */
extern const char PASS_WORD[];
/* The same as PASS_WORD, but with a lease clock that is half a minute behind. */
extern const char PASS_WORD_BEHIND[];
enum { FAKE_LEASE_MS = 3000 };

/* Sets the lease word of all fake nodes: the lease ends in `left_ms` from now. */
void fake_word_set(int64_t left_ms, uint64_t lapses);

/* An array of three strings, as in the messages of a subscription. */
#define BULK(size, text) "$" #size "\r\n" text "\r\n"

struct fake_node;

/* Starts a node that listens on a Unix socket, or on a port of the loopback. The steps must stay
 * valid until it is stopped. */
struct fake_node *fake_node_start(const struct step *steps, size_t steps_count, bool tcp);
const char *fake_node_address(const struct fake_node *node);
void fake_node_go(struct fake_node *node);
/* Fails the test if the script was not followed to its end. */
void fake_node_stop(struct fake_node *node);

#endif
