/*
 * The place of a node in its cluster: its name, where it listens, where others reach it, the nodes
 * that it meets or joins, and its data folder.
 *
 * A node that has a data folder remembers its place there, in a file "place" with lines as in a
 * configuration file. So a restart needs --data alone. An option that is given again overrides what
 * is remembered: to move a node to another address, restart it with that address.
 */
#ifndef CLI_NODE_PLACE_H
#define CLI_NODE_PLACE_H

#include "daemon.h"
#include "node_words.h"

/*
 * Makes the options that are about the place. The data folder may be missing if its parent exists.
 * Adds what is remembered to the words; the options point into the words. Returns 0; or -1 and a
 * problem.
 */
int node_place_make(struct node_words *words, struct daemon_options *options,
                    struct problem *problem);

/* Makes the data folder if it is missing, and remembers the place there. Does nothing if the node
 * has no data. Returns 0; or -1 and a problem. */
int node_place_keep(const struct node_words *words, struct daemon_options *options,
                    struct problem *problem);

/* True if only this machine can reach the host, or if the host is unknown. */
bool node_host_is_loopback(const char *host);

#endif
