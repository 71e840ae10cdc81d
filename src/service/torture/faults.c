/*
 * The faults of a random run: links stall, processes crash and start, and views change as a
 * membership engine would decide.
 *
 * This driver has no leases, so nothing would stop a member that does not know of its removal.
 * Therefore a member is removed only if it is dead, or if it is told before anybody else.
 */
#include "faults.h"

#include "random_run.h"
#include "spite.h"

static void push_after(struct run *run, uint8_t kind, uint64_t mean, uint64_t number)
{
	uint64_t delay = random_exponential(&run->random, mean);

	cluster_push(
	        &run->cluster,
	        &(struct event){.time = run->cluster.now + delay, .kind = kind, .number = number});
}

/* --- views --- */

/* Returns the members of the last view whose incarnation is still the same, the dead ones
 * included. */
static uint32_t same_members(const struct run *run)
{
	const struct cluster_view *view = cluster_latest(&run->cluster);
	uint32_t places = 0;

	for (uint32_t i = 0; i < run->plan->places_count; i++)
		places |= (uint32_t)(cluster_member(&run->cluster, view, i) != 0) << i;
	return places;
}

/* A process does not join while another incarnation of its name is a member. */
static bool has_other_incarnation(const struct run *run, uint32_t place)
{
	const struct cluster_view *view = cluster_latest(&run->cluster);

	for (uint32_t i = 0; i < view->members_count; i++) {
		if (view->places[i] == place &&
		    view->incarnations[i] != run->cluster.places[place].incarnation)
			return true;
	}
	return false;
}

static void decide(struct run *run, uint64_t epoch, uint32_t places)
{
	struct cluster *cluster = &run->cluster;
	uint32_t before = cluster->views_count != 0 ? same_members(run) : 0;

	cluster_decide(cluster, epoch, places);
	judge_disturbed(run, cluster->now);
	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		if ((before & ~places) >> i & 1 && place_lives(run, i))
			cluster_tell(cluster, i, epoch);
	}
	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		if (places >> i & 1)
			cluster_tell_later(cluster, i, epoch,
			                   distribution_draw(&run->plan->tell, &run->random));
	}
}

static uint64_t next_epoch(struct run *run)
{
	return cluster_latest(&run->cluster)->epoch + 1 +
	       (run_chance(run, 25) ? run_draw(run, 4) : 0);
}

/* Draws the next members: most of the present ones, and some of those that could join. */
static uint32_t draw_members(struct run *run)
{
	uint32_t places = 0;

	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		bool lives = place_lives(run, i);
		bool member = cluster_member(&run->cluster, cluster_latest(&run->cluster), i) != 0;
		if (!lives && !member && run_chance(run, 30)) {
			cluster_start(&run->cluster, i);
			lives = true;
		}
		if (member ? run_chance(run, lives ? 88 : 20)
		           : lives && !run->cluster.places[i].out &&
		                     !has_other_incarnation(run, i) && run_chance(run, 70))
			places |= 1U << i;
		if (lives && !member && run->cluster.places[i].out && run_chance(run, 60))
			cluster_rejoin(&run->cluster, i);
	}
	return places;
}

static void change_view(struct run *run)
{
	uint32_t places = run_chance(run, 25) ? same_members(run) : draw_members(run);

	if (places != 0)
		decide(run, next_epoch(run), places);
}

void faults_bump(struct run *run, uint64_t epoch)
{
	/* A proposal may be lost; the node repeats it. */
	if (run->act != ACT_END && run_chance(run, 25))
		return;
	push_after(run, EVENT_BUMP, run->plan->delay.a + CLUSTER_MILLISECOND, epoch);
}

static void on_bump(struct run *run, uint64_t epoch)
{
	uint32_t places = same_members(run);

	if (cluster_latest(&run->cluster)->epoch == epoch && places != 0)
		decide(run, epoch + 1, places);
}

/* --- stalls and crashes --- */

static void on_stall(struct run *run)
{
	uint32_t count = run->plan->places_count;
	uint32_t a = run_draw(run, count), b = run_draw(run, count), kind = run_draw(run, 4);
	uint64_t until = run->cluster.now + random_exponential(&run->random, run->plan->stall_mean);

	if (kind < 2)
		faults_stall(run, a, b, until);
	for (uint32_t i = 0; i < count; i++) {
		if (kind == 2)
			faults_stall(run, a, i, until);
		if (kind == 3)
			faults_stall(run, i, a, until);
	}
	push_after(run, EVENT_STALL, run->plan->stall_every, 0);
}

/* Ends a process and the sessions of its clients. */
static void crash(struct run *run, uint32_t place)
{
	cluster_crash(&run->cluster, place);
	judge_disturbed(run, run->cluster.now);
	for (uint32_t i = 0; i < run->clients_count; i++) {
		if (run->clients[i].session != 0 && run->clients[i].place == place)
			visitor_orphan(run, i);
	}
}

static void on_crash(struct run *run)
{
	uint32_t place = run_draw(run, run->plan->places_count);

	if (place_lives(run, place))
		crash(run, place);
	push_after(run, EVENT_CRASH, run->plan->crash_every, 0);
	/* The engine notices the crash after a while. */
	push_after(run, EVENT_VIEW, run->plan->crash_every / 4, 1);
}

static void on_spite(struct run *run, uint32_t place, uint32_t lock)
{
	uint32_t first = run_draw(run, run->clients_count);

	for (uint32_t i = 0; i < run->clients_count; i++) {
		uint32_t number = (first + i) % run->clients_count;
		const struct visitor *client = &run->clients[number];
		if (client->session != 0 && client->command == COMMAND_NONE &&
		    client->place != place) {
			visitor_ask_leader(run, number, lock);
			return;
		}
	}
}

/* --- beginning and healing --- */

void faults_begin(struct run *run)
{
	const struct plan *plan = run->plan;
	uint32_t count = plan->places_count, places = 0, wanted = plan->fixed;

	if (wanted == 0)
		wanted = run_chance(run, 60) ? count : 1 + run_draw(run, count);
	for (uint32_t i = 0; i < count; i++) {
		/* Choose this place with the probability that gives `wanted` places in the end. */
		if (run_draw(run, count - i) >= wanted)
			continue;
		wanted--;
		places |= 1U << i;
		cluster_start(&run->cluster, i);
	}
	decide(run, plan->epoch, places);
	if (plan->stall_every != 0)
		push_after(run, EVENT_STALL, plan->stall_every, 0);
	if (plan->view_every != 0)
		push_after(run, EVENT_VIEW, plan->view_every, 0);
	if (plan->crash_every != 0)
		push_after(run, EVENT_CRASH, plan->crash_every, 0);
}

void faults_on_event(struct run *run, const struct event *event)
{
	if (event->kind == EVENT_BUMP) {
		on_bump(run, event->number);
		return;
	}
	if (run->act != ACT_FAULTS)
		return;
	switch (event->kind) {
	case EVENT_STALL:
		on_stall(run);
		break;
	case EVENT_VIEW:
		change_view(run);
		if (event->number == 0)
			push_after(run, EVENT_VIEW, run->plan->view_every, 0);
		break;
	case EVENT_CRASH:
		on_crash(run);
		break;
	case EVENT_SPITE:
		if (event->from != 0)
			faults_silence(run, event->node);
		on_spite(run, event->node, (uint32_t)event->number);
		break;
	default:
		must(false);
	}
}

/* Starts or ends processes until there are exactly as many as the topology needs or, if it takes
 * any number, at least one. Returns the places that have a process. */
static uint32_t mend_processes(struct run *run)
{
	uint32_t living = 0, places = 0;

	for (uint32_t i = 0; i < run->plan->places_count; i++)
		living += place_lives(run, i);
	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		uint32_t fixed = run->plan->fixed;
		if (place_lives(run, i) && fixed != 0 && living > fixed) {
			crash(run, i);
			living--;
		} else if (!place_lives(run, i) && living < (fixed != 0 ? fixed : 1)) {
			cluster_start(&run->cluster, i);
			living++;
		}
	}
	for (uint32_t i = 0; i < run->plan->places_count; i++)
		places |= (uint32_t)place_lives(run, i) << i;
	return places;
}

static void end_stalls(struct run *run)
{
	struct cluster *cluster = &run->cluster;

	for (uint32_t i = 0; i < run->plan->places_count; i++) {
		for (uint32_t k = 0; k < run->plan->places_count; k++) {
			if (cluster->links[i][k].stalled > cluster->now)
				cluster_stall(cluster, i, k, cluster->now);
		}
	}
}

void faults_heal(struct run *run)
{
	struct cluster *cluster = &run->cluster;

	uint32_t count = run->plan->places_count, places = mend_processes(run), waiting = 0;
	end_stalls(run);
	for (uint32_t i = 0; i < count; i++) {
		if (!place_lives(run, i))
			continue;
		if (cluster->places[i].out &&
		    cluster_member(cluster, cluster_latest(cluster), i) == 0)
			cluster_rejoin(cluster, i);
		waiting |= (uint32_t)has_other_incarnation(run, i) << i;
	}
	if (waiting != 0 && (places & ~waiting) != 0)
		decide(run, next_epoch(run), places & ~waiting);
	/* Decide on a new view only if it is necessary: a new view would hide that something was
	 * lost in the old one. */
	const struct cluster_view *view = cluster_latest(cluster);
	if (same_members(run) != places ||
	    view->members_count != (uint32_t)__builtin_popcount(places)) {
		decide(run, next_epoch(run), places);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (places >> i & 1)
			cluster_tell_later(cluster, i, view->epoch, 0);
	}
}
