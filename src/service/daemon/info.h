/*
 * INFO: what this node has counted, in the form of Redis: sections, then "name:value" lines. It
 * asks nobody else.
 */
#ifndef DAEMON_INFO_H
#define DAEMON_INFO_H

#include "client.h"

bool serve_info(struct client *client, const struct resp_argument *a, uint32_t count);

#endif
