/*
 * Gets a new node its certificate with an invitation, before its daemon starts. Its key and its
 * certificate stay in its data folder, so that its next start needs only --data.
 */
#ifndef CLI_ENROL_H
#define CLI_ENROL_H

#include "node_words.h"

/* Sets the paths of the credentials: the paths that were given; otherwise those in the data folder,
 * if the files are there or will be there after enrol_run. Returns 0, or -1 and a problem. */
int enrol_prepare(struct node_words *words, struct daemon_options *options,
                  struct problem *problem);
/* Gets the certificate, if there is an invitation and no certificate yet. Prints on stderr what it
 * does, and may take some time. Returns 0, or -1 after printing why there is no certificate. */
int enrol_run(const struct node_words *words, const struct daemon_options *options);

#endif
