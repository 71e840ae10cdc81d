/*
 * Compares the simulator with a bare loop over a binary heap, in one run. An event counts when it
 * is taken from the queue.
 *
 * Each line is one simulated run: neilsen on a star. The yardstick is a loop that takes the
 * earliest of as many pending events as the simulation has, and pushes another after a delay of the
 * same kind. It has no steps, no messages and no measurement. Python's heapq does the same for
 * comparison. Each figure is the best of several rounds. The rounds of all programs are
 * interleaved, and each runs in a process of its own, so that their memory can be measured
 * separately.
 */
#include "random.h"
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct work {
	uint32_t nodes;
	const char *delay;
	const char *load;
	uint64_t pending;
	uint64_t entries;
};

struct measured {
	double rate; /* events per second */
	double megabytes;
};

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct entry {
	uint64_t time, sequence, payload;
};

static bool before(const struct entry *a, const struct entry *b)
{
	return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static void push(struct entry *heap, uint64_t count, struct entry entry)
{
	uint64_t i = count;
	for (; i > 0 && before(&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = entry;
}

static struct entry pop(struct entry *heap, uint64_t count)
{
	struct entry first = heap[0], last = heap[count - 1];
	uint64_t i = 0;

	for (uint64_t child = 1; child < count - 1; child = 2 * i + 1) {
		if (child + 1 < count - 1 && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = last;
	return first;
}

static struct distribution delay_of(const struct work *work)
{
	struct distribution delay;
	struct problem problem;
	if (distribution_parse(work->delay, "delay", &delay, &problem) != 0)
		abort();
	return delay;
}

static struct measured run_heap(const struct work *work)
{
	struct distribution delay = delay_of(work);
	uint64_t events = 4000000, sequence = 0;
	struct entry *heap = malloc((work->pending + 1) * sizeof(*heap));
	struct random random;

	if (heap == NULL)
		abort();
	random_seed(&random, 1);
	for (uint64_t i = 0; i < work->pending; i++) {
		uint64_t time = random_below(&random, 2 * distribution_mean(&delay));
		push(heap, i, (struct entry){time, sequence++, i});
	}
	double begin = seconds_now();
	for (uint64_t i = 0; i < events; i++) {
		struct entry entry = pop(heap, work->pending);
		entry.time += distribution_draw(&delay, &random);
		entry.sequence = sequence++;
		push(heap, work->pending - 1, entry);
	}
	double seconds = seconds_now() - begin;
	free(heap);
	return (struct measured){.rate = (double)events / seconds};
}

static struct measured run_sim(const struct work *work)
{
	struct setup_words words = {
	        .algorithm = "neilsen", .topology = "star", .nodes = work->nodes, .seed = 1};
	struct setup setup;
	struct problem problem;
	struct sim_result result;
	struct rusage usage;

	if (setup_make(&words, &setup, &problem) != 0)
		abort();
	struct sim_options options = {
	        .setup = &setup,
	        .entries = work->entries,
	        .seed = 1,
	        .load = strcmp(work->load, "heavy") == 0 ? LOAD_HEAVY : LOAD_POISSON,
	        /* A node is inside a third of the time, so most nodes are about to ask. */
	        .interval = (uint64_t)work->nodes * 6 * MILLION,
	        .delay = delay_of(work),
	        .cs = {DISTRIBUTION_CONSTANT, MILLION, 0},
	};
	struct sim *sim = sim_create(&setup);
	double begin = seconds_now();
	sim_run(sim, &options, &result);
	double seconds = seconds_now() - begin;
	if (result.violations != 0)
		abort();
	sim_destroy(sim);
	setup_free(&setup);
	getrusage(RUSAGE_SELF, &usage);
	return (struct measured){.rate = (double)result.events / seconds,
	                         .megabytes = (double)usage.ru_maxrss / 1024};
}

/* Runs in a process of its own. */
static struct measured measure(struct measured (*run)(const struct work *), const struct work *work)
{
	struct measured *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	if (shared == MAP_FAILED)
		abort();
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		*shared = run(work);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		abort();
	struct measured measured = *shared;
	munmap(shared, sizeof(*shared));
	return measured;
}

static struct measured run_python(const struct work *work)
{
	char command[1024];
	double rate = 0;
	const char *draw = strncmp(work->delay, "exp", 3) == 0 ? "random.expovariate(1)" : "1.0";

	snprintf(command, sizeof(command),
	         "python3 -c 'import heapq,random,time\n"
	         "h=[(random.random()*2,i,i) for i in range(%llu)]\n"
	         "heapq.heapify(h)\n"
	         "s=len(h)\n"
	         "n=300000\n"
	         "b=time.perf_counter()\n"
	         "for i in range(n):\n"
	         " t,_,p=heapq.heappop(h)\n"
	         " s+=1\n"
	         " heapq.heappush(h,(t+%s,s,p))\n"
	         "print(n/(time.perf_counter()-b))'",
	         (unsigned long long)work->pending, draw);
	FILE *pipe = popen(command, "r");
	if (pipe == NULL || fscanf(pipe, "%lf", &rate) != 1)
		rate = 0;
	if (pipe != NULL)
		pclose(pipe);
	return (struct measured){.rate = rate};
}

int main(void)
{
	static const struct work works[] = {
	        {1000, "constant:1", "sparse", 1000, 1000000},
	        {1000, "exp:1", "sparse", 1000, 1000000},
	        {1000, "constant:1", "heavy", 3, 1000000},
	        {1000, "exp:1", "heavy", 3, 1000000},
	        {1000000, "constant:1", "sparse", 1000000, 1000000},
	        {1000000, "exp:1", "sparse", 1000000, 1000000},
	};
	enum { ROUNDS = 3 };

	printf("bench/sim: neilsen on a star; million events per second, best of %d\n", ROUNDS);
	printf("%9s %-11s %-7s %9s %8s %8s %7s %8s %7s\n", "nodes", "delay", "load", "pending",
	       "baton", "heap", "ratio", "heapq", "MB");
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
		const struct work *work = &works[i];
		struct measured sim = {0}, heap = {0}, python = {0};
		for (int round = 0; round < ROUNDS; round++) {
			struct measured now = measure(run_sim, work);
			sim = now.rate > sim.rate ? now : sim;
			now = measure(run_heap, work);
			heap = now.rate > heap.rate ? now : heap;
			now = run_python(work);
			python = now.rate > python.rate ? now : python;
		}
		printf("%9u %-11s %-7s %9llu %8.2f %8.2f %7.2f %8.2f %7.0f\n", work->nodes,
		       work->delay, work->load, (unsigned long long)work->pending, sim.rate / 1e6,
		       heap.rate / 1e6, sim.rate / heap.rate, python.rate / 1e6, sim.megabytes);
	}
	printf("heavy: one token, so that two or three events are pending and the yardstick is "
	       "hardly a "
	       "queue at all\n");
	return 0;
}
