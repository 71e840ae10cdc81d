#include "actor.h"

#include "actors.h"
#include "ordeal.h"

uint32_t actor_number(const struct realm *realm, const struct actor *actor)
{
	return (uint32_t)(actor - realm->actors->list);
}

struct node *actor_node(const struct realm *realm, const struct actor *actor)
{
	return resident_node(realm->hosts[actor->place].resident);
}

uint64_t actor_clock(const struct realm *realm, const struct actor *actor)
{
	if (actor->proof != HOLD_ASKS)
		return realm_clock(realm, actor->place);
	return actor->clock_base + realm->now +
	       (uint64_t)((int64_t)(realm->now / 1000) * actor->drift_ppm / 1000);
}

uint32_t actor_clock_number(const struct realm *realm, const struct actor *actor)
{
	return actor->proof == HOLD_ASKS ? REALM_HOSTS_MAX + actor_number(realm, actor)
	                                 : actor->place;
}

bool actor_is_connected(const struct realm *realm, const struct actor *actor)
{
	return actor->session != 0 && realm_lives(realm, actor->place) &&
	       actor->life == realm->hosts[actor->place].life;
}

void actor_wake(struct realm *realm, struct actor *actor, uint64_t delay)
{
	realm_push(realm, realm->now + delay, REALM_ACTOR, actor->place, ++actor->wake,
	           actor_number(realm, actor));
}

void actor_rest(struct realm *realm, struct actor *actor)
{
	uint64_t lease = realm->plan->lease_ns;

	actor_wake(realm, actor, chance_between(&actor->chance, lease / 600, lease / 10));
}

void actor_end_hold(struct realm *realm, struct actor *actor, const char *how)
{
	if (actor->state == ACTOR_HOLDS) {
		realm_mark(realm, how, actor->place, actor_number(realm, actor), actor->fence);
		realm_draw(realm, DRAWN_RELEASE, actor->place, actor_number(realm, actor), 0, NULL);
	}
	actor->state = ACTOR_IDLE;
	actor->word = 0;
	actor->guard_wake++;
	verdict_finished(realm->verdict, actor_number(realm, actor));
}
