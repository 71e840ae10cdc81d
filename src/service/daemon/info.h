/*
 * INFO: this node's own counters, in the format of Redis: sections of "name:value" lines. Other
 * members are not asked.
 */
#ifndef DAEMON_INFO_H
#define DAEMON_INFO_H

#include "client.h"

bool serve_info(struct client *client, const struct resp_argument *a, uint32_t count);

#endif
