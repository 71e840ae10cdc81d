/*
 * Measures for how much of the time the other members serve while two members have no link to each
 * other, or while one member crashes again and again: `availability [SEEDS]`. Each scene is run
 * with many seeds in virtual time. Exits with 1 if a scene is below its goal.
 */
#include "memory.h"
#include "ordeal.h"
#include "registry.h"

#include <stdlib.h>

#define LEASE UINT64_C(3000000000)

enum { NODES = 5, ANT = 0, BEE = 1, CROW = 2, DOG = 3, ELK = 4 };

struct scene {
	const char *text;
	enum fault_kind kind;
	uint32_t a, b;
	/* The period that is measured, in leases from the beginning of the fault. */
	uint32_t from, to;
	double goal; /* the goal, in percent */
};

static const struct scene scenes[] = {
        {"two members without a link, for good", FAULT_LINKS, DOG, ELK, 0, 40, 90},
        {"a voter and a member without a link, for good", FAULT_LINKS, BEE, ELK, 0, 40, 90},
        {"two voters without a link, for good", FAULT_LINKS, ANT, BEE, 0, 40, 90},
        {"two members that cannot reach each other at all", FAULT_CUT, DOG, ELK, 0, 40, 90},
        {"two voters that cannot reach each other at all", FAULT_CUT, ANT, BEE, 0, 40, 90},
        {"a member in a crash loop, the first 13 leases", FAULT_LOOP, ELK, DOG, 0, 13, 75},
        {"a member in a crash loop, the next 13 leases", FAULT_LOOP, ELK, DOG, 13, 26, 87},
        {"a voter in a crash loop, the first 13 leases", FAULT_LOOP, BEE, DOG, 0, 13, 75},
        {"a voter in a crash loop, the next 13 leases", FAULT_LOOP, BEE, DOG, 13, 26, 87},
};

/* Returns for how much of the time clients of the hosts without the fault are served. A quarter of
 * a lease counts if one of a host's clients was let in, or none waited. */
static double run(const struct scene *scene, uint64_t seed, struct ordeal_result *result)
{
	const uint64_t begin = 5 * LEASE;
	struct ordeal_fault fault = {.kind = scene->kind,
	                             .begin = begin,
	                             .end = begin + scene->to * LEASE,
	                             .a = scene->a,
	                             .b = scene->b};
	struct ordeal_plan plan = {.seed = seed,
	                           .algorithm = algorithm_find("neilsen"),
	                           .nodes = NODES,
	                           .locks = 3,
	                           .lease_ns = LEASE,
	                           .time = fault.end,
	                           .given = &fault,
	                           .given_count = 1,
	                           .brief = true,
	                           .measure_from = begin + scene->from * LEASE};
	uint64_t serving = 0, others = 0;

	ordeal_run(&plan, result);
	if (result->failed) {
		printf("%s: seed %llu: %s\n", scene->text, (unsigned long long)seed, result->wrong);
		exit(1);
	}
	for (uint32_t i = 0; i < NODES; i++) {
		if (i == scene->a || (scene->kind != FAULT_LOOP && i == scene->b))
			continue;
		serving += result->serving[i];
		others++;
	}
	return 100.0 * (double)serving / (double)(others * result->windows);
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	struct ordeal_result *result = malloc(sizeof(*result));
	bool below = false;

	memory_must(result != NULL);
	printf("%-50s %8s %8s %8s\n", "the others serve, in percent", "mean", "least", "goal");
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes) && seeds > 0; i++) {
		double sum = 0, least = 100;
		for (uint64_t seed = 1; seed <= seeds; seed++) {
			double percent = run(&scenes[i], seed, result);
			sum += percent;
			least = percent < least ? percent : least;
		}
		printf("%-50s %8.1f %8.1f %8.0f\n", scenes[i].text, sum / (double)seeds, least,
		       scenes[i].goal);
		below = below || sum / (double)seeds < scenes[i].goal;
	}
	free(result);
	return below;
}
