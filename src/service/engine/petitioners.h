/*
 * Everybody who has sent a voter a petition lately, with the newest one: members and candidates.
 */
#ifndef ENGINE_PETITIONERS_H
#define ENGINE_PETITIONERS_H

#include "petition.h"

struct petitioner {
	uint64_t process;
	char name[ENTRY_NAME_MAX + 1];
	char address[ENTRY_ADDRESS_MAX + 1];
	uint64_t incarnation; /* that it believes to have; 0: a candidate */
	uint64_t number, acknowledged;
	uint64_t lease_ns;
	uint64_t epoch, limit, prospect;
	bool active, leaving;
	uint64_t *lacks, *unreported;
	uint32_t lacks_count, unreported_count;
	size_t lacks_size, unreported_size;

	uint64_t heard;           /* when the newest petition came */
	uint64_t proposed;        /* the greatest number of it that this leader has proposed */
	uint64_t candidate_since; /* 0: it is a member */
	uint64_t lacking_since;   /* a candidate: since when a link to it is missing; 0: none is */
	uint64_t aside_until;     /* a candidate that could not be linked waits until then */
	uint64_t told,
	        told_since; /* the first number acknowledged that it has not confirmed, and when */
	bool withheld;      /* its lease is not renewed any more */
};

struct petitioners {
	struct petitioner *list;
	uint32_t count;
	size_t size;
};

void petitioners_free(struct petitioners *petitioners);
/* NULL: it has not been heard lately. */
struct petitioner *petitioners_find(const struct petitioners *petitioners, uint64_t process);
/* Takes a RENEW; NULL: it is older than what is known, or there are too many. */
struct petitioner *petitioners_take(struct petitioners *petitioners,
                                    const struct petition *petition, uint64_t now);
/* Forgets who was not heard since then. */
void petitioners_forget(struct petitioners *petitioners, uint64_t before);

#endif
