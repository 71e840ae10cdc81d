#include "guests.h"

#include "actors.h"
#include "ordeal.h"
#include "sublease.h"

enum guest_event { GUEST_ASKS, GUEST_ASKED, GUEST_ANSWERED };

static void push(struct realm *realm, const struct actor *actor, enum guest_event kind,
                 uint64_t time)
{
	realm_push(realm, time, REALM_GUEST, actor->place, actor->lease_wake,
	           actor_number(realm, actor) << 2 | (uint32_t)kind);
}

static uint64_t draw_delay(struct actor *actor)
{
	return chance_between(&actor->chance, REALM_MS / 20, 3 * REALM_MS);
}

void guests_opened(struct realm *realm, struct actor *actor)
{
	actor->told = false;
	actor->until = 0;
	actor->lease_wake++;
	push(realm, actor, GUEST_ASKS, realm->now);
}

void guests_granted(struct actor *actor)
{
	if (actor->until_lapses != actor->lapses)
		actor->until = 0;
}

/* Called when the question has arrived at the process, which answers it. */
static void on_asked(struct realm *realm, struct actor *actor)
{
	uint64_t clock = realm_read(realm, actor->place, READER_RESIDENT);
	int error = node_session_lease(actor_node(realm, actor), actor->session, clock,
	                               &actor->left, &actor->left_lapses);

	realm_pump(realm, actor->place);
	if (error == 0 && !realm->failed)
		push(realm, actor, GUEST_ANSWERED, realm->now + draw_delay(actor));
}

static void on_answered(struct realm *realm, struct actor *actor)
{
	uint64_t until = sublease_end(actor->lease_asked, actor->left);

	actor->told = true;
	if (until > actor->until || actor->left_lapses != actor->until_lapses)
		actor->until = until;
	actor->until_lapses = actor->left_lapses;
	if (actor->state == ACTOR_HOLDS && actor->lapses != actor->left_lapses) {
		actor_end_hold(realm, actor, "lapsed");
		actor->must_close = true;
		actor_wake(realm, actor, REALM_MS);
	} else if (actor->state == ACTOR_HOLDS) {
		verdict_told(realm->verdict, actor_number(realm, actor), actor->until);
	}
	actor->lease_wake++;
	push(realm, actor, GUEST_ASKS,
	     realm->now + sublease_interval(realm->plan->lease_ns, actor->left));
}

void guests_on_event(struct realm *realm, const struct event *event)
{
	struct actor *actor = &realm->actors->list[event->from >> 2];
	enum guest_event kind = (enum guest_event)(event->from & 3);
	uint64_t paused =
	        kind == GUEST_ASKED ? realm->hosts[actor->place].paused_until : actor->paused_until;

	if (event->number != actor->lease_wake || !actor_is_connected(realm, actor))
		return;
	if (paused > realm->now) {
		push(realm, actor, kind, paused);
		return;
	}
	switch (kind) {
	case GUEST_ASKS:
		actor->lease_asked = actor_clock(realm, actor);
		push(realm, actor, GUEST_ASKED, realm->now + draw_delay(actor));
		break;
	case GUEST_ASKED:
		on_asked(realm, actor);
		break;
	case GUEST_ANSWERED:
		on_answered(realm, actor);
		break;
	}
}
