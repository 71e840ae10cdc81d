#include "scan.h"

#include "memory.h"

#include <stdlib.h>

void scans_init(struct scans *scans)
{
	TAILQ_INIT(&scans->askers);
	scans->due = NODE_NEVER;
	scans->room = SCAN_TICK;
}

struct scan *scan_make(struct scans *scans, struct lives *lives, struct node_scans *asker,
                       size_t text_size, uint64_t now)
{
	struct scan *scan = calloc(1, sizeof(*scan));

	memory_must(scan != NULL);
	scan->text = malloc(text_size + 1);
	memory_must(scan->text != NULL);
	scan->since = now;
	scan->bytes = sizeof(*scan) + text_size;
	scan->scans = scans;
	scan->asker = asker;
	scan->place.next = TAILQ_FIRST(&lives->all);
	/* Locks that come into use later are not looked at, or the scan might never end. */
	scan->left = lives->count;
	LIST_INSERT_HEAD(&lives->places, &scan->place, entry);
	if (TAILQ_EMPTY(&scans->askers))
		scans->due = now;
	if (asker->count++ == 0) {
		TAILQ_INIT(&asker->list);
		TAILQ_INSERT_TAIL(&scans->askers, asker, turn);
	}
	asker->bytes += scan->bytes;
	TAILQ_INSERT_TAIL(&asker->list, scan, entry);
	return scan;
}

void scan_free(struct scan *scan)
{
	if (scan == NULL)
		return;
	LIST_REMOVE(&scan->place, entry);
	TAILQ_REMOVE(&scan->asker->list, scan, entry);
	scan->asker->bytes -= scan->bytes;
	if (--scan->asker->count == 0)
		TAILQ_REMOVE(&scan->scans->askers, scan->asker, turn);
	if (TAILQ_EMPTY(&scan->scans->askers))
		scan->scans->due = NODE_NEVER;
	sights_free(&scan->wanted.sights);
	free(scan->text);
	free(scan);
}

struct scan *scans_next(struct scans *scans)
{
	struct node_scans *asker = TAILQ_FIRST(&scans->askers);

	if (asker == NULL)
		return NULL;
	TAILQ_REMOVE(&scans->askers, asker, turn);
	TAILQ_INSERT_TAIL(&scans->askers, asker, turn);
	return TAILQ_FIRST(&asker->list);
}

void scans_forget(struct scans *scans)
{
	struct node_scans *asker, *next_asker;
	struct scan *scan, *next;

	for (asker = TAILQ_FIRST(&scans->askers); asker != NULL; asker = next_asker) {
		next_asker = TAILQ_NEXT(asker, turn);
		for (scan = TAILQ_FIRST(&asker->list); scan != NULL; scan = next) {
			next = TAILQ_NEXT(scan, entry);
			if (scan->session == NULL)
				scan_free(scan);
		}
	}
}
