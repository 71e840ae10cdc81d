/* The identity of a client, as far as the node knows: its user, groups and certificate. Rules refer
 * to these. */
#ifndef RULES_SUBJECT_H
#define RULES_SUBJECT_H

#include <stdint.h>

/* The uid of a client that did not come by the Unix socket. */
#define SUBJECT_NOBODY UINT32_MAX

struct subject {
	uint32_t uid; /* the user of the process that connected, or SUBJECT_NOBODY */
	/* The groups of the process that connected, its primary group first. */
	const uint32_t *gids;
	uint32_t gids_count;
	/* The name in the client's certificate; NULL: the client showed none. */
	const char *certificate;
};

#endif
