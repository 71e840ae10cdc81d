#include "ordeal.h"

#include "actors.h"
#include "log_engine.h"
#include "memory.h"
#include "mischief.h"
#include "realm.h"
#include "witness.h"

#include <stdlib.h>
#include <string.h>

const char *ordeal_name(uint32_t place)
{
	static const char *const names[ORDEAL_NODES_MAX] = {
	        "ant",  "bee", "crow", "dog",  "elk",  "fox",  "gnu", "hare",
	        "ibis", "jay", "koi",  "lynx", "mole", "newt", "owl", "pug"};

	return place < ORDEAL_NODES_MAX ? names[place] : "twin";
}

/* Ends a window of measurement and begins the next; the first call only begins one. */
static void look_at_hosts(const struct realm *realm, struct ordeal_result *result, bool first,
                          uint64_t grants[ORDEAL_NODES_MAX])
{
	result->windows += !first;
	for (uint32_t i = 0; i < realm->plan->nodes; i++) {
		result->serving[i] += !first && (realm->actors->grants_at[i] > grants[i] ||
		                                 !actors_wait(realm, i));
		grants[i] = realm->actors->grants_at[i];
	}
}

static void act_of_faults(struct realm *realm, struct ordeal_result *result)
{
	uint64_t width = realm->plan->lease_ns / 4;
	uint64_t grants[ORDEAL_NODES_MAX] = {0}, look = realm->plan->measure_from;

	while (realm->now < realm->plan->time && realm_step(realm)) {
		for (; look <= realm->now; look += width)
			look_at_hosts(realm, result, look == realm->plan->measure_from, grants);
	}
}

/* Returns NULL, or what is wrong with a host or with its clients. */
static const char *look_at_host(const struct realm *realm, uint32_t place, char room[192])
{
	const char *unsettled = witness_unsettled(realm, place, room);
	const struct actor *actor = actors_unserved(realm, place);

	if (unsettled == NULL && actor != NULL) {
		snprintf(room, 192, "client %u at %s is not done", actor_number(realm, actor),
		         realm->hosts[place].name);
		unsettled = room;
	}
	return unsettled;
}

/* Returns NULL, or what is wrong. Of a pair without a link, one host may be out of the view. Where
 * not all hosts are linked, a third host may be out instead, if the pair would need its link as
 * soon as that host joined. */
static const char *look_at_all(const struct realm *realm, const struct mischief_pair *pair,
                               char room[192])
{
	bool excused = pair == NULL;
	bool complete = realm->plan->algorithm->links == GRAPH_COMPLETE;

	for (uint32_t i = 0; i < realm->members_count; i++) {
		const char *unsettled = look_at_host(realm, i, room);
		if (unsettled == NULL)
			continue;
		if (excused || (complete && i != pair->a && i != pair->b))
			return unsettled;
		excused = true;
	}
	if (pair != NULL || realm->engine->unsettled == NULL)
		return NULL;
	return realm->engine->unsettled(realm, room);
}

/* Runs until all is well again. This takes long, because a name that was removed many times waits
 * up to 64 leases before it may join. */
static void await_healing(struct realm *realm, const struct mischief_pair *pair, const char *what)
{
	enum { LEASES_MAX = 160 };
	uint64_t end = realm->now + LEASES_MAX * realm->plan->lease_ns;
	uint64_t look = realm->now;
	char room[192];

	realm_note(realm, REALM_NOWHERE, "%s is mended", what);
	while (realm_step(realm)) {
		if (realm->now < look)
			continue;
		look = realm->now + realm->plan->lease_ns / 4;
		mischief_invite(realm);
		const char *unsettled = look_at_all(realm, pair, room);
		if (unsettled == NULL)
			return;
		if (realm->now > end)
			realm_wrong(realm, "%s was mended, and %s", what, unsettled);
	}
}

/* Runs until all subscribers are told, because the last grant may still be on its way to them. */
static void await_events(struct realm *realm)
{
	uint64_t lease = realm->plan->lease_ns, end = realm->now + 2 * lease;
	char room[128];

	while (realm->now < end && realm_step(realm))
		;
	const char *untold = verdict_untold(realm->verdict, lease / 10, room);
	if (untold != NULL)
		realm_wrong(realm, "everything was mended, and %s", untold);
}

static void act_of_healing(struct realm *realm)
{
	struct mischief_pair pair;

	actors_heal(realm);
	if (mischief_heal(realm, &pair)) {
		await_healing(realm, &pair, "everything but one pair");
		actors_heal(realm);
		mischief_heal_pair(realm);
	}
	if (!realm->failed)
		await_healing(realm, NULL, "everything");
	if (!realm->failed)
		await_events(realm);
}

void ordeal_run(const struct ordeal_plan *plan, struct ordeal_result *ret_result)
{
	struct realm *realm = calloc(1, sizeof(*realm));

	memory_must(realm != NULL);
	memset(ret_result, 0, sizeof(*ret_result));
	realm_init(realm, plan);
	act_of_faults(realm, ret_result);
	if (!realm->failed)
		act_of_healing(realm);
	ret_result->failed = realm->failed;
	memcpy(ret_result->wrong, realm->wrong, sizeof(realm->wrong));
	ret_result->hash = realm->hash;
	ret_result->events = realm->events;
	ret_result->grants = realm->actors->grants;
	ret_result->views = verdict_epochs(realm->verdict);
	ret_result->lapses = verdict_lapses(realm->verdict);
	ret_result->entries = realm->engine->committed(realm);
	mischief_tell(realm, ret_result);
	realm_free(realm);
	free(realm);
}
