/*
 * The place of a node in its cluster: its name, where it listens, where others reach it, whom it
 * meets, and its data folder.
 *
 * A node that has a data folder remembers its place there, in a file "place" with lines as in a
 * configuration file. So a restart needs --data alone. What is given again counts instead of what
 * is remembered: to move to another address, a node is restarted with that address.
 */
#ifndef CLI_NODE_PLACE_H
#define CLI_NODE_PLACE_H

#include "daemon.h"
#include "node_words.h"

/*
 * Makes the part of the options that is about the place. The data folder may be missing if its
 * parent exists. Completes the words by what is remembered; the options point into them. Returns 0;
 * or -1 and a problem.
 */
int node_place_make(struct node_words *words, struct daemon_options *options,
                    struct problem *problem);

/* Makes the data folder if it is missing, and remembers the place there. Does nothing if the node
 * has no data. Returns 0; or -1 and a problem. */
int node_place_keep(const struct node_words *words, struct daemon_options *options,
                    struct problem *problem);

/* True if only this machine reaches the host, or if nobody knows it. */
bool node_host_is_loopback(const char *host);

#endif
