/*
 * All members and candidates that have sent a voter a petition lately, with the newest petition of
 * each.
 */
#ifndef ENGINE_PETITIONERS_H
#define ENGINE_PETITIONERS_H

#include "petition.h"

struct petitioner {
	uint64_t process;
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	/* The incarnation that the petitioner believes it has; 0: it is a candidate. */
	uint64_t incarnation;
	uint64_t number, acknowledged;
	uint64_t lease_ns;
	uint64_t epoch, limit, prospect, electors;
	uint64_t server; /* the id of the petitioner's data directory; 0: it has none */
	uint64_t version_least, version;
	bool witness, active, leaving;
	bool removed; /* the petitioner knows that an operator has removed its name */
	uint64_t *lacks, *unreported;
	uint32_t lacks_count, unreported_count;
	size_t lacks_size, unreported_size;

	uint64_t since;         /* when the first petition arrived */
	uint64_t heard;         /* when the newest petition arrived */
	uint64_t leaving_since; /* when the first petition arrived that said `leaving` */
	/* The greatest number of the petitioner's petitions that this leader has proposed to
	 * renew. */
	uint64_t proposed;
	uint64_t candidate_since; /* since when the petitioner is a candidate; 0: it is a member */
	uint64_t lacking_since;   /* since when this candidate lacks a link; 0: it lacks none */
	uint32_t asides;          /* how often in a row this candidate was set aside, up to 3 */
	uint64_t aside_until; /* until when this candidate is set aside, because it lacked a link */
	/* The first acknowledged number that the petitioner has not confirmed, and when the
	 * acknowledgement was sent. */
	uint64_t told, told_since;
	bool withheld; /* the petitioner's lease is no longer renewed */
};

struct petitioners {
	struct petitioner *list;
	uint32_t count;
	size_t size;
};

void petitioners_free(struct petitioners *petitioners);
/* Finds a petitioner. Returns NULL if the process has not been heard lately. */
struct petitioner *petitioners_find(const struct petitioners *petitioners, uint64_t process);
/* Takes a RENEW. Returns NULL if it is older than what is known, or if there are too many
 * petitioners. */
struct petitioner *petitioners_take(struct petitioners *petitioners,
                                    const struct petition *petition, uint64_t now);
/* Forgets petitioners that were last heard before that time. */
void petitioners_forget(struct petitioners *petitioners, uint64_t before);

#endif
