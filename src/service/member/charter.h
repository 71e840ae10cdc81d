/*
 * A charter fixes what never changes after a cluster is born: its identity, where its fences begin,
 * and its settings (algorithm, topology, parameters, lease) as lines "name = value". Every data
 * directory has a copy, and every node that joins gets one.
 */
#ifndef MEMBER_CHARTER_H
#define MEMBER_CHARTER_H

#include "state.h"

enum { CHARTER_SETTINGS_MAX = 4096 };

/* A struct of zeros is an empty charter: the node belongs to no cluster. */
struct charter {
	struct cluster_id cluster;
	uint64_t base;  /* where the fences of the first epoch begin */
	char *settings; /* the settings as text, which the charter owns */
};

static inline bool charter_exists(const struct charter *charter)
{
	return charter->cluster.high != 0 || charter->cluster.low != 0;
}

void charter_copy(struct charter *charter, const struct charter *from);
void charter_free(struct charter *charter);
/* Appends the charter to out->bytes. */
void charter_write(struct out *out, const struct charter *charter);
/* Reads a charter. Overwrites *ret_charter without freeing it. If in->bad is set afterwards, the
 * charter is empty. */
void charter_read(struct in *in, struct charter *ret_charter);

/* Returns the settings with which the voters of a cluster with this charter begin. */
struct state_settings charter_state(const struct charter *charter, uint64_t lease_ns);

/* Returns where fences begin in a cluster that is born at this wall-clock time: above every fence
 * that an earlier cluster can have granted. `epoch` is the last epoch that the first version of
 * baton has stored, or 0. */
uint64_t charter_base(uint64_t real_ms, uint64_t epoch);

/* Returns a digest of the settings, which must be the same at all members. */
uint64_t charter_digest(const char *settings);

#endif
