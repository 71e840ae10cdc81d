/*
 * Judges the proposals of leaders. A wrong proposal is seldom unsafe, because the rules of the log
 * make most of them void. But it costs time in which nobody is served, so these rules must hold
 * too:
 *
 * 	- nobody joins while a link that the next view needs is missing
 * 	- a name that was removed joins only after its back-off
 * 	- a process that was told to leave does not join again
 * 	- a new leader removes no living member before it could hear from that member
 * 	- a member that receives no acknowledgements does not stay renewed forever
 *
 * Like verdict.h, this judge is told what happens and asks nobody. All times are true times.
 */
#ifndef TORTURE_REIGN_H
#define TORTURE_REIGN_H

#include "state.h"
#include "wiring.h"

enum { REIGN_HOSTS_MAX = 17 };

struct reign;

struct reign *reign_create(void);
void reign_destroy(struct reign *reign);

/* Notes that the voters have elected a leader. */
void reign_elected(struct reign *reign, uint64_t now);
/* Notes that the voter of this host was told that it leads. */
void reign_told(struct reign *reign, uint32_t place, uint64_t now);
/* Takes the state after a committed entry. */
void reign_committed(struct reign *reign, const struct agreed_state *state, uint64_t now);
/* Notes that the process `from` of a host says that its link to the process `to` of another host is
 * up. */
void reign_linked(struct reign *reign, uint32_t place, uint32_t other, uint64_t from, uint64_t to,
                  uint64_t now);
/* Notes that the member of this host has a lease. */
void reign_leased(struct reign *reign, uint32_t place, uint64_t now);

struct reign_host {
	const char *name;
	uint64_t process; /* the number of the host's process; 0: no process is alive */
	bool paused;
	uint64_t resumed; /* when the last stop of the process ended */
	uint64_t departs; /* when the process was told to leave; 0: it was not told */
	bool reached;     /* the process and the leader can reach each other */
};

struct reign_proposal {
	uint64_t now;
	uint32_t place; /* the leader's host; no other leader has been elected since */
	int64_t drift_ppm;
	uint64_t resumed; /* when the last stop of the leader's voter ended */
	const struct agreed_state *state;
	struct wiring wiring;
	const uint8_t *bytes;
	size_t size;
	struct reign_host hosts[REIGN_HOSTS_MAX];
	uint32_t hosts_count;
};

/* Returns NULL, or what is wrong with the proposal. */
const char *reign_judge(struct reign *reign, const struct reign_proposal *proposal, char room[160]);

#endif
