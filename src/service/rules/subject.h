/*
 * Who a client is, as far as the node knows it: what rules are about.
 */
#ifndef RULES_SUBJECT_H
#define RULES_SUBJECT_H

#include <stdint.h>

/* The uid of a client that did not come by the Unix socket. */
#define SUBJECT_NOBODY UINT32_MAX

struct subject {
	uint32_t uid;         /* of the process that connected, or SUBJECT_NOBODY */
	const uint32_t *gids; /* the groups of that process, its primary one first */
	uint32_t gids_count;
	const char *certificate; /* the name in the client's certificate; NULL: it showed none */
};

#endif
