/*
 * The faults of whole members: connections are cut; processes are paused, die, leave and start
 * again. The members decide upon views themselves. Membership is fixed: a process that has died can
 * come back only if all others restart too. So now and then all of them do, at once or one after
 * the other.
 */
#include "faults_members.h"

#include "crash.h"
#include "random_run.h"

static void push_after(struct run *run, uint8_t kind, uint64_t delay, uint32_t place)
{
	cluster_push(
	        &run->cluster,
	        &(struct event){.time = run->cluster.now + delay, .kind = kind, .node = place});
}

static void again(struct run *run, uint8_t kind, uint64_t mean)
{
	if (mean != 0)
		push_after(run, kind, random_exponential(&run->random, mean), 0);
}

static void start(struct run *run, uint32_t place)
{
	if (!place_lives(run, place))
		cluster_start(&run->cluster, place);
}

static void kill(struct run *run, uint32_t place)
{
	if (place_lives(run, place))
		faults_crash(run, place, run_chance(run, 30));
}

/* Restarts all processes: either all end before the first one starts, or each restarts on its
 * own. */
static void restart(struct run *run)
{
	uint64_t window = run_chance(run, 40) ? 0 : run->plan->stall_mean;
	bool at_once = run_chance(run, 60);

	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		uint64_t until_end = window == 0 ? 0 : random_below(&run->random, window);
		uint64_t pause = window == 0 ? 0 : random_below(&run->random, window);
		push_after(run, EVENT_KILL, until_end, i);
		push_after(run, EVENT_START, (at_once ? window : until_end) + pause, i);
	}
}

static void on_crash(struct run *run)
{
	uint32_t place = run_draw(run, run->plan->places_count);
	uint64_t soon = random_exponential(&run->random, run->plan->stall_mean);

	kill(run, place);
	if (run_chance(run, 70))
		push_after(run, EVENT_START, soon, place);
	push_after(run, EVENT_RESTART,
	           soon + random_exponential(&run->random, run->plan->stall_mean * 4), 1);
	again(run, EVENT_CRASH, run->plan->crash_every);
}

static void on_pause(struct run *run)
{
	uint32_t place = run_draw(run, run->plan->places_count);
	uint64_t mean = run_chance(run, 20) ? 5 * CLUSTER_SECOND : run->plan->stall_mean;
	uint64_t until = run->cluster.now + random_exponential(&run->random, mean);

	if (place_lives(run, place) && !place_paused(run, place)) {
		cluster_pause(&run->cluster, place, until);
		judge_disturbed(run, until);
	}
	again(run, EVENT_PAUSE, run->plan->pause_every);
}

void members_begin(struct run *run)
{
	const struct plan *plan = run->plan;

	for (uint32_t i = 0; i < plan->places_count; i++)
		push_after(run, EVENT_START,
		           run_chance(run, 50) ? 0 : random_below(&run->random, plan->stall_mean),
		           i);
	again(run, EVENT_STALL, plan->stall_every);
	again(run, EVENT_CUT, plan->cut_every);
	again(run, EVENT_PAUSE, plan->pause_every);
	again(run, EVENT_CRASH, plan->crash_every);
	again(run, EVENT_RESTART, plan->restart_every);
}

void members_on_event(struct run *run, const struct event *event)
{
	switch (event->kind) {
	case EVENT_CUT:
		cluster_cut(&run->cluster, run_draw(run, 1000));
		again(run, EVENT_CUT, run->plan->cut_every);
		break;
	case EVENT_PAUSE:
		on_pause(run);
		break;
	case EVENT_CRASH:
		on_crash(run);
		break;
	case EVENT_RESTART:
		restart(run);
		if (event->node == 0)
			again(run, EVENT_RESTART, run->plan->restart_every);
		break;
	case EVENT_START:
		start(run, event->node);
		break;
	case EVENT_KILL:
		kill(run, event->node);
		break;
	default:
		must(false);
	}
}

/* True if all processes are alive and have entered the same view. */
static bool has_view(const struct run *run)
{
	const struct cluster_view *view = cluster_latest(&run->cluster);

	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		if (view == NULL || !place_lives(run, i) || (view->told >> i & 1) == 0 ||
		    cluster_member(&run->cluster, view, i) == 0)
			return false;
	}
	return true;
}

/* Restarts all processes only if that is necessary: a new view would hide what was lost. */
void members_heal(struct run *run)
{
	uint32_t count = run->plan->places_count;
	bool must_restart = run->cluster.mixed && !has_view(run);

	run->cluster.calm = true;
	for (uint32_t i = 0; must_restart && i < count; i++) {
		if (place_lives(run, i))
			faults_crash(run, i, false);
	}
	for (uint32_t i = 0; i < count; i++)
		start(run, i);
}
