#include "guards.h"

#include "actors.h"
#include "ordeal.h"

uint64_t guards_grace(const struct realm *realm)
{
	return realm->plan->lease_ns / 4;
}

static void push(struct realm *realm, const struct actor *actor, uint32_t watcher, uint64_t time)
{
	realm_push(realm, time, REALM_GUARD, actor->place, actor->guard_wake,
	           actor_number(realm, actor) << 1 | watcher);
}

static void set_timers(struct realm *realm, struct actor *actor)
{
	uint64_t margin = realm->plan->lease_ns / 10;
	uint64_t deadline = (actor->word >> 16) * REALM_MS;

	actor->guard_wake++;
	for (uint32_t watcher = 0; watcher < WATCHERS; watcher++) {
		uint64_t ahead = watcher == WATCHER_GUARDIAN ? margin : margin / 2;
		push(realm, actor, watcher,
		     realm_when(realm, actor->place, deadline > ahead ? deadline - ahead : 0));
	}
}

void guards_look(struct realm *realm, uint32_t place)
{
	const struct realm_host *host = &realm->hosts[place];

	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->proof != HOLD_RUNS || actor->state != ACTOR_HOLDS ||
		    actor->place != place || actor->life != host->life || actor->word == host->word)
			continue;
		actor->word = host->word;
		set_timers(realm, actor);
	}
}

void guards_pause(struct realm *realm, uint32_t place, uint32_t watcher, uint64_t until)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->place == place &&
		    actor->watcher_paused_until[WATCHERS - 1 - watcher] <= realm->now &&
		    actor->watcher_paused_until[watcher] < until)
			actor->watcher_paused_until[watcher] = until;
	}
}

/* Stops the command. Its session is closed only when the command has ended. */
static void stop(struct realm *realm, struct actor *actor)
{
	actor_end_hold(realm, actor, "stopped");
	actor->must_close = actor->session != 0;
	actor_wake(realm, actor, REALM_MS);
}

void guards_resumed(struct realm *realm, uint32_t place)
{
	uint64_t margin = realm->plan->lease_ns / 10;

	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->place == place && actor->proof == HOLD_RUNS &&
		    actor->state == ACTOR_HOLDS &&
		    realm_clock(realm, place) + margin / 2 >= (actor->word >> 16) * REALM_MS)
			stop(realm, actor);
	}
}

void guards_on_event(struct realm *realm, const struct event *event)
{
	struct actor *actor = &realm->actors->list[event->from >> 1];
	uint32_t watcher = event->from & 1;
	uint64_t paused = actor->watcher_paused_until[watcher];

	if (event->number != actor->guard_wake || actor->state != ACTOR_HOLDS)
		return;
	if (realm->hosts[actor->place].suspended_until > paused)
		paused = realm->hosts[actor->place].suspended_until;
	if (paused > realm->now) {
		push(realm, actor, watcher, paused);
		return;
	}
	stop(realm, actor);
}
