#include "spite.h"

#include "random_run.h"

void faults_stall(struct run *run, uint32_t from, uint32_t to, uint64_t until)
{
	cluster_stall(&run->cluster, from, to, until);
	judge_disturbed(run, until);
}

void faults_silence(struct run *run, uint32_t place)
{
	if (run->plan->stall_every == 0 || !run_chance(run, 70))
		return;
	for (uint32_t i = 0; i < run->plan->places_count; i++)
		faults_stall(run, place, i, run->cluster.now + 2 * NODE_SILENCE_NS);
}

void faults_spite(struct run *run, uint32_t place, uint32_t lock)
{
	bool late = run_chance(run, 40);

	if (run->act != ACT_FAULTS || !run_chance(run, 40))
		return;
	if (!late)
		faults_silence(run, place);
	uint64_t delay = random_exponential(&run->random, run->plan->delay.a + 1) +
	                 (late ? judge_flood(run) : 0);
	cluster_push(&run->cluster, &(struct event){.time = run->cluster.now + 1 + delay,
	                                            .kind = EVENT_SPITE,
	                                            .node = place,
	                                            .from = late,
	                                            .number = lock});
}

void faults_campaign(struct run *run, uint32_t place)
{
	if (run->act != ACT_FAULTS || run->plan->stall_every == 0 || !run_chance(run, 30))
		return;
	/* Draw in two statements, because within one the compiler would choose the order of the
	 * draws. */
	uint64_t until = run->cluster.now + random_exponential(&run->random, NODE_SILENCE_NS);
	faults_stall(run, place, run_draw(run, run->plan->places_count), until);
}
