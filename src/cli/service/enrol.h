/*
 * How a new node gets its certificate with an invitation, before its daemon starts. Its key and its
 * certificate stay in its data folder, so that the next start needs nothing but --data.
 */
#ifndef CLI_ENROL_H
#define CLI_ENROL_H

#include "node_words.h"

/* Sets the paths of the credentials: those that were given; or those in the data folder, if they are
 * there, or will be there after enrol_run. Returns 0, or -1 and a problem. */
int enrol_prepare(struct node_words *words, struct daemon_options *options,
                  struct problem *problem);
/* Gets the certificate, if there is an invitation and no certificate yet. It says on stderr what it
 * does, and may take some time. Returns 0, or -1 after saying why there is none. */
int enrol_run(const struct node_words *words, const struct daemon_options *options);

#endif
