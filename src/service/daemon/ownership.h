/*
 * Judges whether other users can change a file or a folder that the node relies on: its
 * configuration, its keys, its data.
 */
#ifndef DAEMON_OWNERSHIP_H
#define DAEMON_OWNERSHIP_H

#include "problem.h"

#include <sys/types.h>

/*
 * The type is S_IFREG or S_IFDIR. Everything on the way to the path, from / on, and the path itself
 * must belong to root or to the node's user: folders, links, and what they lead to. A folder on the
 * way that others can write needs the sticky bit. Only the owner may write to what the path names.
 * So nobody else can change this result before the path is opened. `what` is the option that names
 * the path. Returns 0, or -1 if something is wrong, or does not exist.
 */
int ownership_judge(const char *path, mode_t type, const char *what, struct problem *problem);

#endif
