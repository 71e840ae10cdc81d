#include "actors.h"

#include "guards.h"
#include "guests.h"
#include "memory.h"
#include "ordeal.h"
#include "witness.h"

#include <stdlib.h>
#include <string.h>

static void draw_kind(struct actor *actor)
{
	uint32_t dice = (uint32_t)chance_below(&actor->chance, 100);

	actor->proof = dice < 45 ? HOLD_READS : dice < 75 ? HOLD_ASKS : HOLD_RUNS;
	actor->clock_base = chance_between(&actor->chance, 1, 1000) * REALM_SECOND;
	actor->drift_ppm = (int64_t)chance_below(&actor->chance, 1999) - 999;
}

struct actors *actors_create(const struct realm *realm)
{
	struct actors *actors = calloc(1, sizeof(*actors));

	memory_must(actors != NULL);
	actors->count = 3 * realm->plan->nodes;
	actors->list = calloc(actors->count, sizeof(*actors->list));
	memory_must(actors->list != NULL);
	for (uint32_t i = 0; i < actors->count; i++) {
		actors->list[i].place = i % realm->members_count;
		actors->list[i].chance = chance_stream(realm->plan->seed, STREAM_ACTORS, i);
		draw_kind(&actors->list[i]);
	}
	return actors;
}

void actors_destroy(struct actors *actors)
{
	free(actors->list);
	free(actors);
}

void actors_begin(struct realm *realm)
{
	for (uint32_t i = 0; i < realm->actors->count; i++)
		actor_rest(realm, &realm->actors->list[i]);
}

static const char *name_of(uint32_t lock, char room[16])
{
	snprintf(room, 16, "lock-%u", lock);
	return room;
}

static uint32_t lock_of(const struct node_bytes *name)
{
	char room[16];

	must(name->size > 5 && name->size < sizeof(room));
	memcpy(room, name->bytes, name->size);
	room[name->size] = '\0';
	return (uint32_t)strtoul(room + 5, NULL, 10);
}

/* --- holds --- */

/* Most holds are short; now and then one is longer than a lease, or than several. */
static uint64_t draw_hold(const struct realm *realm, struct actor *actor)
{
	uint64_t lease = realm->plan->lease_ns;
	uint32_t dice = (uint32_t)chance_below(&actor->chance, 100);

	if (dice < 92 || realm->actors->healing || realm->plan->brief)
		return chance_between(&actor->chance, REALM_MS, lease / 15);
	if (dice < 98)
		return chance_between(&actor->chance, lease / 4, lease);
	return chance_between(&actor->chance, lease, 4 * lease);
}

static void begin_hold(struct realm *realm, struct actor *actor, const struct node_effect *effect)
{
	actor->state = ACTOR_HOLDS;
	actor->fence = effect->reply.number;
	actor->lapses = effect->reply.lapses;
	realm->actors->grants++;
	realm->actors->grants_at[actor->place]++;
	if (actor->proof == HOLD_ASKS)
		guests_granted(actor);
	witness_granted(realm, actor);
	guards_look(realm, actor->place);
	actor_wake(realm, actor, draw_hold(realm, actor));
}

/* --- messages to a client --- */

static struct actor *find(const struct realm *realm, uint32_t place, uint64_t session)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->place == place && actor->session == session && session != 0 &&
		    actor->life == realm->hosts[place].life)
			return actor;
	}
	return NULL;
}

static void on_reply(struct realm *realm, struct actor *actor, const struct node_effect *effect)
{
	if (effect->reply.kind == REPLY_FENCE) {
		if (realm->now - actor->asked > realm->actors->waits_longest)
			realm->actors->waits_longest = realm->now - actor->asked;
		begin_hold(realm, actor, effect);
		return;
	}
	if (actor->subscribes && effect->reply.kind == REPLY_NUMBER)
		verdict_subscribed(realm->verdict, actor_number(realm, actor), actor->lock);
	actor->state = ACTOR_IDLE;
	verdict_waits_no_more(realm->verdict, actor_number(realm, actor));
	actor_rest(realm, actor);
}

/* A command whose lock an operator breaks has time to end: nobody else is let in before it has
 * ended. */
static void on_lost(struct realm *realm, struct actor *actor, const struct node_effect *effect)
{
	const struct node_bytes *why = &effect->lost.why;
	bool broken = why->size >= 6 && memcmp(why->bytes, NODE_LOST_BROKEN, 6) == 0;

	actor->must_close = true;
	if (actor->proof == HOLD_RUNS && broken) {
		actor_wake(realm, actor, chance_below(&actor->chance, guards_grace(realm)));
		return;
	}
	/* A client that reads the lease word need not be told of a lapse, and may be told late. */
	if (actor->proof == HOLD_READS && !broken) {
		actor_wake(realm, actor, chance_below(&actor->chance, realm->plan->lease_ns / 4));
		return;
	}
	actor_end_hold(realm, actor, "lost");
	actor_wake(realm, actor, REALM_MS);
}

/* Handles an event of a lock to which the client is subscribed. */
static void on_notice(struct realm *realm, const struct actor *actor,
                      const struct node_effect *effect)
{
	static const uint32_t parts[] = {
	        [EVENT_GRANTED] = 0, [EVENT_LEADER] = 1, [EVENT_RELEASED] = 2, [EVENT_LOST] = 2};
	uint32_t number = actor_number(realm, actor), lock = lock_of(&effect->event.name);

	if (effect->event.kind == EVENT_DROPPED)
		verdict_dropped(realm->verdict, number, lock);
	else
		verdict_event(realm->verdict, number, lock, effect->event.fence,
		              parts[effect->event.kind]);
}

void actors_effect(struct realm *realm, uint32_t place, const struct node_effect *effect)
{
	struct actor *actor;

	if (effect->kind == NODE_REPLY) {
		actor = find(realm, place, effect->reply.session);
		if (actor != NULL)
			on_reply(realm, actor, effect);
	} else if (effect->kind == NODE_LOST) {
		actor = find(realm, place, effect->lost.session);
		if (actor == NULL || actor->state != ACTOR_HOLDS)
			return;
		verdict_lost(realm->verdict, actor_number(realm, actor), effect->lost.why.bytes,
		             effect->lost.why.size);
		on_lost(realm, actor, effect);
	} else if (effect->kind == NODE_EVENT) {
		realm_mark(realm, "event", place, effect->event.kind, effect->event.fence);
		actor = find(realm, place, effect->event.session);
		if (actor != NULL)
			on_notice(realm, actor, effect);
	}
}

void actors_orphan(struct realm *realm, uint32_t place)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->place != place || actor->session == 0)
			continue;
		actor->session = 0;
		actor->must_close = false;
		if (actor->state != ACTOR_HOLDS) {
			actor_end_hold(realm, actor, "orphaned");
			actor_rest(realm, actor);
			continue;
		}
		/* The client goes on until it notices that its process is gone, or until its lease
		 * is over. */
		actor_wake(realm, actor, chance_below(&actor->chance, 2 * realm->plan->lease_ns));
	}
}

void actors_kill(struct realm *realm, uint32_t place)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->place != place || actor->proof == HOLD_ASKS)
			continue;
		actor_end_hold(realm, actor, "killed");
		actor->session = 0;
		actor->must_close = false;
		actor_rest(realm, actor);
	}
}

/* --- acts of a client --- */

static void close_session(struct realm *realm, struct actor *actor)
{
	uint64_t session = actor->session;

	/* End the hold first: the call below may already let another client in. */
	actor_end_hold(realm, actor, "closed");
	actor->session = 0;
	actor->must_close = false;
	node_session_close(actor_node(realm, actor), session,
	                   realm_read(realm, actor->place, READER_RESIDENT));
	actor_rest(realm, actor);
	realm_pump(realm, actor->place);
}

/* Breaks the connection of a guest. The process notices it at once. The guest notices it later, and
 * goes on until then if its sub-lease allows it. */
static void sever(struct realm *realm, struct actor *actor)
{
	uint64_t session = actor->session;

	actor->session = 0;
	node_session_close(actor_node(realm, actor), session,
	                   realm_read(realm, actor->place, READER_RESIDENT));
	actor_wake(realm, actor, chance_below(&actor->chance, 2 * realm->plan->lease_ns));
	realm_pump(realm, actor->place);
}

static void quit(struct realm *realm, struct actor *actor)
{
	uint64_t session = actor->session;

	actor_end_hold(realm, actor, "quit");
	actor->session = 0;
	node_session_quit(actor_node(realm, actor), session,
	                  realm_read(realm, actor->place, READER_RESIDENT));
	actor_rest(realm, actor);
	realm_pump(realm, actor->place);
}

static void release(struct realm *realm, struct actor *actor)
{
	char name[16];
	uint64_t fence = actor->fence;

	name_of(actor->lock, name);
	actor_end_hold(realm, actor, "released");
	node_unlock(actor_node(realm, actor), actor->session, name, strlen(name), fence,
	            realm_read(realm, actor->place, READER_RESIDENT));
	actor_rest(realm, actor);
	realm_pump(realm, actor->place);
}

/* Ends a hold in one of several ways. */
static void finish(struct realm *realm, struct actor *actor)
{
	uint32_t dice = (uint32_t)chance_below(&actor->chance, 100);

	if (realm->plan->brief)
		release(realm, actor);
	else if (actor->proof == HOLD_ASKS && dice < 25 && !realm->actors->healing)
		sever(realm, actor);
	else if (actor->proof == HOLD_ASKS && dice < 35)
		quit(realm, actor);
	else if (dice < 85)
		release(realm, actor);
	else
		close_session(realm, actor);
}

static void open_session(struct realm *realm, struct actor *actor)
{
	struct node_client client = {.pid = actor_number(realm, actor) + 1};

	actor->session = node_session_open(actor_node(realm, actor), &client,
	                                   realm_read(realm, actor->place, READER_RESIDENT));
	actor->life = realm->hosts[actor->place].life;
	verdict_session(realm->verdict, actor_number(realm, actor));
	if (actor->proof == HOLD_ASKS)
		guests_opened(realm, actor);
	if (actor->proof == HOLD_RUNS) {
		node_session_linger(actor_node(realm, actor), actor->session);
		node_session_grace(actor_node(realm, actor), actor->session, guards_grace(realm));
	}
	actor_rest(realm, actor);
	realm_pump(realm, actor->place);
}

/* Acts as an operator who breaks a lock. */
static int break_lock(struct realm *realm, struct actor *actor, const char *name)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		const struct actor *other = &realm->actors->list[i];
		if (other->state == ACTOR_HOLDS && other->lock == actor->lock)
			return node_break(actor_node(realm, actor), actor->session, name,
			                  strlen(name), other->fence,
			                  realm_read(realm, actor->place, READER_RESIDENT));
	}
	return -1;
}

static int ask(struct realm *realm, struct actor *actor, const char *name)
{
	struct node *node = actor_node(realm, actor);
	uint64_t clock = realm_read(realm, actor->place, READER_RESIDENT);
	uint32_t dice = (uint32_t)chance_below(&actor->chance, 100);
	size_t size = strlen(name);

	actor->elects = actor->subscribes = false;
	if (realm->actors->healing || dice < 70) {
		actor->state = ACTOR_WAITS;
		return node_lock(node, actor->session, name, size, NODE_WAIT, 0, clock);
	}
	if (dice < 78) {
		actor->state = ACTOR_WAITS;
		return node_lock(node, actor->session, name, size, NODE_NOWAIT, 0, clock);
	}
	if (dice < 86) {
		actor->state = ACTOR_WAITS;
		return node_lock(node, actor->session, name, size, NODE_TIMEOUT,
		                 realm->plan->lease_ns / 4, clock);
	}
	if (dice < 92) {
		actor->elects = true;
		actor->state = ACTOR_WAITS;
		return node_elect(node, actor->session, name, size, "me", 2, NODE_WAIT, 0, clock);
	}
	actor->state = ACTOR_ASKS;
	if (dice < 94)
		return break_lock(realm, actor, name);
	actor->subscribes = dice < 97;
	if (actor->subscribes)
		return node_subscribe(node, actor->session, false, name, size, clock);
	return node_leader(node, actor->session, name, size, clock);
}

static void act_idle(struct realm *realm, struct actor *actor)
{
	char name[16];

	if (realm->actors->healing) {
		if (actor->rounds == 0)
			return;
		actor->rounds--;
	}
	actor->lock = (uint32_t)chance_below(&actor->chance, realm->plan->locks);
	actor->asked = realm->now;
	int error = ask(realm, actor, name_of(actor->lock, name));
	if (error >= 0 && actor->state == ACTOR_WAITS)
		verdict_waits(realm->verdict, actor_number(realm, actor), actor->place,
		              actor->lock);
	if (error < 0) {
		actor->state = ACTOR_IDLE;
		if (realm->actors->healing)
			actor->rounds++;
		actor_rest(realm, actor);
	} else if (!realm->actors->healing && chance_percent(&actor->chance, 10)) {
		/* Some clients give up waiting after a while. */
		actor_wake(realm, actor, chance_below(&actor->chance, 2 * realm->plan->lease_ns));
	}
	realm_pump(realm, actor->place);
}

static void act(struct realm *realm, struct actor *actor)
{
	const struct realm_host *host = &realm->hosts[actor->place];

	if (actor->state == ACTOR_HOLDS && actor->session == 0) {
		/* The client noticed that its process is gone. */
		actor_end_hold(realm, actor, "noticed");
		actor_rest(realm, actor);
	} else if (host->resident == NULL || host->departs) {
		actor_rest(realm, actor);
	} else if (actor->session == 0) {
		open_session(realm, actor);
	} else if (actor->must_close) {
		close_session(realm, actor);
	} else if (actor->state == ACTOR_HOLDS) {
		finish(realm, actor);
	} else if (actor->proof == HOLD_ASKS && !actor->told) {
		actor_rest(realm, actor);
	} else if (actor->state == ACTOR_IDLE) {
		act_idle(realm, actor);
	} else if (!realm->actors->healing) {
		close_session(realm, actor);
	}
}

void actors_on_event(struct realm *realm, const struct event *event)
{
	struct actor *actor = &realm->actors->list[event->from];

	if (event->number != actor->wake)
		return;
	if (actor->paused_until > realm->now) {
		realm_push(realm, actor->paused_until, REALM_ACTOR, actor->place, event->number,
		           event->from);
		return;
	}
	/* A stopped process does not answer, and on a suspended host no client asks: try again when
	 * the pause is over. */
	if (realm_lives(realm, actor->place) && realm_paused(realm, actor->place)) {
		realm_push(realm, realm->hosts[actor->place].paused_until, REALM_ACTOR,
		           actor->place, event->number, event->from);
		return;
	}
	act(realm, actor);
}

bool actors_wait(const struct realm *realm, uint32_t place)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		const struct actor *actor = &realm->actors->list[i];
		if (actor->place == place && actor->state == ACTOR_WAITS)
			return true;
	}
	return false;
}

void actors_pause(struct realm *realm, uint32_t place, uint64_t until)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->place == place && actor->paused_until < until)
			actor->paused_until = until;
	}
}

/* --- the second act --- */

void actors_heal(struct realm *realm)
{
	enum { ROUNDS = 2 };

	realm->actors->healing = true;
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		actor->rounds = ROUNDS;
		actor->paused_until = 0;
		memset(actor->watcher_paused_until, 0, sizeof(actor->watcher_paused_until));
		if (actor->state == ACTOR_IDLE)
			actor_rest(realm, actor);
	}
}

const struct actor *actors_unserved(const struct realm *realm, uint32_t place)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		const struct actor *actor = &realm->actors->list[i];
		if (actor->place == place && (actor->state != ACTOR_IDLE || actor->rounds != 0))
			return actor;
	}
	return NULL;
}
