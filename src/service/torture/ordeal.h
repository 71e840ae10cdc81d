/*
 * One run of torture: a cluster in virtual time from a seed, in two acts. The first has faults of
 * all kinds. In the second all faults are over, and every client that waits must be served.
 */
#ifndef TORTURE_ORDEAL_H
#define TORTURE_ORDEAL_H

#include "algorithm.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The kinds of faults: their names on the command line, and what they do. */
#define FAULT_KINDS(X)                                                                             \
	X(CRASH, "crash", "a process is killed; its clients live on")                              \
	X(LOOP, "loop", "a process is killed again and again")                                     \
	X(REBOOT, "reboot", "a host reboots, and its clock starts again at 0")                     \
	X(PAUSE, "pause", "a process is stopped for a while")                                      \
	X(SUSPEND, "suspend", "a host is suspended, clients included")                             \
	X(CLIENT, "client", "clients of a host are stopped for a while")                           \
	X(GUARDIAN, "guardian", "one of the two processes that stop a command is stopped")         \
	X(VOTER, "voter", "only the voter of a process is stopped")                                \
	X(CUT, "cut", "two hosts cannot reach each other")                                         \
	X(ONEWAY, "oneway", "one host cannot reach another, which can reach it")                   \
	X(LINKS, "links", "two hosts lose their link; both still reach the voters")                \
	X(PAIR, "pair", "two hosts lose their link for good: it is mended last of all")            \
	X(DEAF, "deaf", "a member hears nothing from voters, but they hear it")                    \
	X(MUTE, "mute", "a member hears voters, but they do not hear it")                          \
	X(ISOLATE, "isolate", "a host reaches nobody")                                             \
	X(LOSS, "loss", "messages to voters are lost, duplicated or late")                         \
	X(SLOW, "slow", "a process reads its connections slowly, and its peers cannot write")      \
	X(BREAK, "break", "connections break, at any byte")                                        \
	X(DISK, "disk", "entries are committed slowly")                                            \
	X(LEADER, "leader", "another voter leads; the old one does not know")                      \
	X(HEADLESS, "headless", "no voter leads for a while")                                      \
	X(LEAVE, "leave", "a member leaves and comes back")                                        \
	X(TWIN, "twin", "a second process with a member's name")                                   \
	X(BUMP, "bump", "an epoch ends for no reason")                                             \
	X(FORBID, "forbid", "an operator removes a member and invites it again")                   \
	X(LEASE, "lease", "a process with another lease than the cluster's")                       \
	X(CLOCK, "clock", "a clock that is wrong by more than is assumed: finds violations")       \
	X(WIPE, "wipe", "a process is killed and its disk emptied (--engine raft)")                \
	X(VOTE, "vote", "an operator promotes or demotes a host (--engine raft)")

enum fault_kind {
#define FAULT_ENUM(name, word, text) FAULT_##name,
	FAULT_KINDS(FAULT_ENUM)
#undef FAULT_ENUM
	        FAULT_KINDS_COUNT
};

extern const char *const fault_words[FAULT_KINDS_COUNT];
extern const char *const fault_texts[FAULT_KINDS_COUNT];
/* All kinds except those that break an assumption of the protocol. */
#define FAULTS_USUAL                                                                               \
	(((UINT32_C(1) << FAULT_CLOCK) - 1) | UINT32_C(1) << FAULT_WIPE | UINT32_C(1) << FAULT_VOTE)

enum { ORDEAL_FAULTS_MAX = 256, ORDEAL_NODES_MAX = 16, ORDEAL_LOCKS_MAX = 64 };

enum ordeal_engine { ENGINE_ATOMIC, ENGINE_RAFT };

/* A fault that the caller gives, instead of one drawn at random. Its times are in true time, not by
 * a host's clock. */
struct ordeal_fault {
	enum fault_kind kind;
	uint64_t begin, end;
	uint32_t a, b; /* the two hosts that the fault is about */
};

struct ordeal_plan {
	uint64_t seed;
	enum ordeal_engine engine; /* how voters agree */
	const struct algorithm *algorithm;
	const char *topology; /* the topology as text; NULL: the algorithm's own */
	uint32_t nodes, locks;
	uint64_t time;     /* the length of the first act, in ns */
	uint64_t lease_ns; /* the lease of the cluster */
	uint32_t kinds;    /* the kinds of faults that are drawn, a bit each */
	/* Faults that happen instead of random ones; NULL: none are given. */
	const struct ordeal_fault *given;
	uint32_t given_count;
	uint64_t measure_from; /* the time of the first act at which `serving` begins to count */
	bool brief;            /* clients hold locks only for a short time, and release them */
	const uint32_t *only;  /* the faults that happen, by number from 1; NULL: all */
	uint32_t only_count;
	FILE *trace;                 /* where the trace goes, or NULL */
	struct run_drawing *drawing; /* where the run is drawn, or NULL */
};

struct ordeal_result {
	bool failed;
	char wrong[512];
	uint64_t hash; /* a hash of everything that happened */
	uint64_t events, grants, views, lapses, entries;
	uint64_t faults[FAULT_KINDS_COUNT];
	/* The numbers of the faults that have begun, and a sentence about each for a report. */
	uint32_t numbers[ORDEAL_FAULTS_MAX];
	char stories[ORDEAL_FAULTS_MAX][96];
	uint32_t stories_count;
	/* How many windows of a quarter of a lease there were since `measure_from`; and for each
	 * host, in how many of them its clients were let in, or none of its clients waited. */
	uint32_t windows, serving[ORDEAL_NODES_MAX];
};

/* Returns the name of a host. Any place from ORDEAL_NODES_MAX on means the host that uses the name
 * of another one, and is called "twin". */
const char *ordeal_name(uint32_t place);
/* Returns how many faults the seed of this plan has. They are numbered from 1. */
uint32_t ordeal_faults(const struct ordeal_plan *plan);
void ordeal_run(const struct ordeal_plan *plan, struct ordeal_result *ret_result);

#endif
