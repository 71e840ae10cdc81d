/*
 * All members and candidates that have lately sent a petition to this voter, with the newest
 * petition of each.
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
	/* The number of the petitioner's latest petition for which this leader has proposed a
	 * renewal. */
	uint64_t proposed;
	uint64_t candidate_since; /* since when the petitioner is a candidate; 0: it is a member */
	uint64_t lacking_since;   /* since when this candidate lacks a link; 0: it lacks none */
	uint32_t asides;          /* how often in a row this candidate was set aside, up to 3 */
	uint64_t aside_until; /* until when this candidate is set aside, because it lacked a link */
	/* The number of the first petition whose acknowledgement the petitioner has not confirmed,
	 * and when that acknowledgement was sent; 0: all are confirmed. */
	uint64_t told, told_since;
	bool withheld; /* the petitioner's lease is no longer renewed */
};

enum {
	PETITIONERS_MAX = 2 * STATE_SEATS_MAX,
	/* How many processes of one name are remembered. A node that is started again and again has
	 * several. If a node invents processes, it can only displace other processes of its own
	 * name. */
	PETITIONERS_NAMESAKES_MAX = 8,
};

struct petitioners {
	struct petitioner *list;
	uint32_t count;
	size_t size;
};

void petitioners_free(struct petitioners *petitioners);
/* Finds a petitioner. Returns NULL if the process has not been heard lately. */
struct petitioner *petitioners_find(const struct petitioners *petitioners, uint64_t process);
/* Was a process of this name heard lately? */
bool petitioners_know(const struct petitioners *petitioners, struct entry_text name);
/* Returns the highest version that all members and all these voters speak, which is the lowest of
 * their highest versions. Returns 0 if one of them was not heard, or if there are none. */
uint64_t petitioners_version(const struct petitioners *petitioners,
                             const struct agreed_state *state, const struct electors *electors);
/* Takes a RENEW. Returns NULL if it is older than what is known, or if there are too many
 * petitioners. */
struct petitioner *petitioners_take(struct petitioners *petitioners,
                                    const struct petition *petition, uint64_t now);
/* Forgets petitioners that were last heard before `before`. */
void petitioners_forget(struct petitioners *petitioners, uint64_t before);

#endif
