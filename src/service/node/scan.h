/*
 * Searches through all locks in use, for STATUS. There may be millions, so a search is done in
 * slices, and others are served in between. Each user of this node and each other member has its
 * turn, whoever has asked most.
 */
#ifndef NODE_SCAN_H
#define NODE_SCAN_H

#include "live.h"
#include "node.h"
#include "sights.h"
#include "slice.h"

/* How many locks are looked at in a slice, and how many in a call of node_tick. */
enum { SCAN_SLICE = 256, SCAN_TICK = 4 * SCAN_SLICE };
/* The most bytes of questions of one member that wait for their answers. */
enum { SCANS_BYTES_MAX = 1 << 22 };

/* The locks that a question asks for. */
struct wanted {
	struct slice pattern; /* a pattern of names; empty: all */
	struct sights sights; /* the patterns of the locks that the asker may see */
	uint32_t count;       /* the most locks that the answer may have */
};

struct scan {
	struct live_place place; /* the next lock */
	uint32_t left;           /* how many locks are left to look at */
	uint32_t found;          /* how many locks were found */
	struct wanted wanted;
	struct session *session; /* the session that asks; NULL: another member asks */
	uint32_t origin;         /* the member that asks, and the number of its question */
	uint64_t question;
	uint64_t since; /* when the question came */
	uint8_t *text;  /* what `wanted` points to, or NULL; freed with the scan */
	size_t bytes;   /* how much memory the question takes */
	struct scans *scans;
	struct node_scans *asker;
	TAILQ_ENTRY(scan) entry; /* links the scans of an asker, oldest first */
};

struct scans {
	TAILQ_HEAD(, node_scans) askers; /* those who have scans, the next one first */
	struct node_scans nobody;        /* the scans of sessions without a user */
	uint64_t due;  /* when the next slice is due; NODE_NEVER: there are no scans */
	uint32_t room; /* how many locks may be looked at before the next node_tick */
};

void scans_init(struct scans *scans);
/* Frees the scans for other members. */
void scans_forget(struct scans *scans);
/* Begins a scan of all locks that are in use now. If the question has texts that must be kept, they
 * have this many bytes; the caller fills in `text` and the rest. */
struct scan *scan_make(struct scans *scans, struct lives *lives, struct node_scans *asker,
                       size_t text_size, uint64_t now);
/* Frees the scan, or does nothing if it is NULL. */
void scan_free(struct scan *scan);
/* Is this the only scan? */
static inline bool scans_is_single(const struct scans *scans, const struct scan *scan)
{
	return TAILQ_FIRST(&scans->askers) == scan->asker &&
	       TAILQ_NEXT(scan->asker, turn) == NULL && scan->asker->count == 1;
}

/* Is there nothing left to look at, or enough found? */
static inline bool scan_is_over(const struct scan *scan)
{
	return scan->place.next == NULL || scan->left == 0 || scan->found >= scan->wanted.count;
}

/* Returns the scan whose turn it is, or NULL. */
struct scan *scans_next(struct scans *scans);

#endif
