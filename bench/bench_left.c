/*
 * Measures how long baton_left takes: bench_left SOCKET. A program that calls it before every
 * action must not notice the cost. The best of many rounds counts, because others use this machine
 * too.
 */
#include "clock.h"

#include <baton/baton.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 200, CALLS = 10000 };

int main(int argc, char **argv)
{
	struct baton *baton = baton_open(argc == 2 ? argv[1] : NULL);
	uint64_t best_ns = UINT64_MAX;

	if (baton == NULL || baton_lock(baton, "bench_left", 1000, NULL) < 0) {
		fprintf(stderr, "bench_left: %s\n", baton != NULL ? baton_message(baton) : "");
		return EXIT_FAILURE;
	}
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from_ns = clock_monotonic_ns();
		for (int k = 0; k < CALLS; k++) {
			if (baton_left(baton) < 0)
				return EXIT_FAILURE;
		}
		uint64_t took_ns = clock_monotonic_ns() - from_ns;
		if (took_ns < best_ns)
			best_ns = took_ns;
	}
	printf("baton_left: %.1f ns\n", (double)best_ns / CALLS);
	baton_close(baton);
	return EXIT_SUCCESS;
}
