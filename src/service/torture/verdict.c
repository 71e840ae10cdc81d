#include "verdict.h"

#include "actors.h"
#include "grow.h"
#include "memory.h"
#include "ordeal.h"

#include <stdlib.h>
#include <string.h>

/* A view that was agreed upon. */
struct agreed_view {
	uint64_t epoch, base, limit;
	uint32_t count;
	uint64_t processes[REALM_HOSTS_MAX], incarnations[REALM_HOSTS_MAX];
	uint32_t entered; /* a bit for each member that has entered it */
};

/* What the judge knows about the process of a host. */
struct watched {
	uint64_t process;
	uint64_t epoch;        /* the epoch that it entered last */
	uint64_t active_epoch; /* the epoch in which it was last seen active */
	uint64_t deadline;     /* its lease's deadline, by its clock, when last looked at */
	uint64_t renewed;      /* what its clock showed when its last renewal was committed */
};

struct verdict {
	struct agreed_state state;
	struct agreed_view *views; /* indexed by epoch, from 1 */
	uint64_t views_count;
	size_t views_size;
	struct watched hosts[REALM_HOSTS_MAX];
	uint64_t fences[REALM_LOCKS_MAX]; /* the last fence of each lock */
	uint64_t lapses;
	/* How many tokens a lock may have in an epoch; 0: the algorithm has none. */
	uint32_t tokens_max;
};

struct verdict *verdict_create(const struct realm *realm)
{
	struct verdict *verdict = calloc(1, sizeof(*verdict));
	const struct algorithm *algorithm = realm->plan->algorithm;

	memory_must(verdict != NULL);
	for (size_t i = 0; algorithm->has_token && i < algorithm->messages_count; i++)
		verdict->tokens_max += algorithm->messages[i].token;
	return verdict;
}

void verdict_destroy(struct verdict *verdict)
{
	state_free(&verdict->state);
	free(verdict->views);
	free(verdict);
}

const struct agreed_state *verdict_state(const struct realm *realm)
{
	return &realm->verdict->state;
}

uint64_t verdict_epochs(const struct realm *realm)
{
	return realm->verdict->views_count;
}

uint64_t verdict_lapses(const struct realm *realm)
{
	return realm->verdict->lapses;
}

/* --- what is committed --- */

static struct agreed_view *view_of(const struct verdict *verdict, uint64_t epoch)
{
	return epoch == 0 || epoch > verdict->views_count ? NULL : &verdict->views[epoch - 1];
}

static void add_view(struct realm *realm, const struct agreed_state *state)
{
	struct verdict *verdict = realm->verdict;

	if (state->epoch != verdict->views_count + 1) {
		realm_wrong(realm, "epoch %llu follows epoch %llu",
		            (unsigned long long)state->epoch,
		            (unsigned long long)verdict->views_count);
		return;
	}
	verdict->views =
	        grow(verdict->views, &verdict->views_size, state->epoch, sizeof(*verdict->views));
	struct agreed_view *view = &verdict->views[verdict->views_count++];
	*view = (struct agreed_view){.epoch = state->epoch,
	                             .base = state->base,
	                             .limit = state->limit,
	                             .count = state->seats_count};
	for (uint32_t i = 0; i < state->seats_count && i < REALM_HOSTS_MAX; i++) {
		view->processes[i] = state->seats[i].process;
		view->incarnations[i] = state->seats[i].incarnation;
	}
	realm_note(realm, REALM_NOWHERE, "epoch %llu, %u members", (unsigned long long)state->epoch,
	           state->seats_count);
}

/* A member that is not in the new view must have no valid lease, and one that left must hold
 * nothing. */
static void check_gone(struct realm *realm, const struct agreed_view *before, uint32_t i)
{
	const struct actors *actors = realm->actors;
	uint32_t place = realm_place_of(realm, before->processes[i]);

	if (place != REALM_NOWHERE && !realm->hosts[place].departs) {
		const struct node *node = resident_node(realm->hosts[place].resident);
		if (node_incarnation(node) == before->incarnations[i] &&
		    realm_clock(realm, place) < node_lease_deadline(node))
			realm_wrong(realm, "%s is removed %llu ms before its lease ends",
			            realm->hosts[place].name,
			            (unsigned long long)((node_lease_deadline(node) -
			                                  realm_clock(realm, place)) /
			                                 REALM_MS));
	}
	for (uint32_t k = 0; k < actors->count; k++) {
		const struct actor *actor = &actors->list[k];
		if (actor->state == ACTOR_HOLDS && actor->page->process == before->processes[i] &&
		    actor_is_valid(realm, actor))
			realm_wrong(
			        realm,
			        "%s is out of the view, and client %u there still holds lock-%u",
			        realm->hosts[actor->place].name, k, actor->lock);
	}
}

static void check_members(struct realm *realm, const struct agreed_view *before)
{
	const struct agreed_state *state = &realm->verdict->state;

	for (uint32_t i = 0; i < before->count; i++) {
		const struct seat *seat = state_process(state, before->processes[i]);
		if (seat == NULL || seat->incarnation != before->incarnations[i])
			check_gone(realm, before, i);
	}
}

static void note_renewals(struct realm *realm)
{
	struct verdict *verdict = realm->verdict;

	for (uint32_t i = 0; i < verdict->state.seats_count; i++) {
		const struct seat *seat = &verdict->state.seats[i];
		uint32_t place = realm_place_of(realm, seat->process);
		if (seat->renewed != verdict->state.index || place == REALM_NOWHERE)
			continue;
		struct watched *watched = &verdict->hosts[place];
		if (watched->process != seat->process)
			*watched = (struct watched){.process = seat->process};
		watched->renewed = realm_clock(realm, place);
	}
}

void verdict_committed(struct realm *realm, uint64_t index, const uint8_t *bytes, size_t size)
{
	struct verdict *verdict = realm->verdict;
	struct agreed_state *state = &verdict->state;
	uint64_t epoch = state->epoch;

	if (index == 1)
		state_init(state, realm_settings(realm));
	state_apply(state, index, bytes, size);
	realm_mark(realm, "committed", REALM_NOWHERE, index, size);
	note_renewals(realm);
	struct agreed_view *last = view_of(verdict, epoch);
	if (state->epoch == epoch) {
		if (last != NULL)
			last->limit = state->limit;
		return;
	}
	if (last != NULL)
		check_members(realm, last);
	if (last != NULL && state->base < last->limit)
		realm_wrong(realm, "epoch %llu has fences of the last one",
		            (unsigned long long)state->epoch);
	add_view(realm, state);
}

/* --- views --- */

static struct watched *watch(struct realm *realm, uint32_t place)
{
	struct watched *watched = &realm->verdict->hosts[place];

	if (watched->process != realm->hosts[place].process)
		*watched = (struct watched){.process = realm->hosts[place].process};
	return watched;
}

void verdict_view(struct realm *realm, uint32_t place)
{
	const struct realm_host *host = &realm->hosts[place];
	struct watched *watched = watch(realm, place);
	struct tenant_view told = tenant_view(resident_tenant(host->resident));
	struct agreed_view *view = view_of(realm->verdict, told.epoch);
	uint64_t epoch = node_epoch(resident_node(host->resident));

	realm_draw(realm, DRAWN_VIEW, place, epoch, 0, NULL);
	realm_note(realm, place, "epoch %llu%s", (unsigned long long)epoch,
	           told.self < told.seats_count ? "" : ", not in it");
	if (epoch < watched->epoch)
		realm_wrong(realm, "%s goes back from epoch %llu to %llu", host->name,
		            (unsigned long long)watched->epoch, (unsigned long long)epoch);
	watched->epoch = epoch;
	if (view == NULL || view->count != told.seats_count || view->base != told.base) {
		realm_wrong(realm, "%s has a view that was not agreed upon", host->name);
		return;
	}
	for (uint32_t i = 0; i < view->count; i++) {
		if (view->processes[i] != told.seats[i].process ||
		    view->incarnations[i] != told.seats[i].incarnation)
			realm_wrong(realm, "%s has another view of epoch %llu than was agreed upon",
			            host->name, (unsigned long long)told.epoch);
		if (view->processes[i] == host->process)
			view->entered |= UINT32_C(1) << i;
	}
}

static void check_active(struct realm *realm, uint32_t place, struct watched *watched)
{
	struct node *node = resident_node(realm->hosts[place].resident);
	const struct agreed_view *view = view_of(realm->verdict, node_epoch(node));

	watched->active_epoch = node_epoch(node);
	if (view == NULL || view->entered != (UINT32_C(1) << view->count) - 1)
		realm_wrong(realm, "%s serves in epoch %llu before all members know of it",
		            realm->hosts[place].name, (unsigned long long)node_epoch(node));
}

/* --- leases --- */

static void check_deadline(struct realm *realm, uint32_t place, struct watched *watched)
{
	uint64_t deadline = node_lease_deadline(resident_node(realm->hosts[place].resident));

	if (deadline > watched->deadline && deadline > watched->renewed + realm->plan->lease_ns)
		realm_wrong(realm, "the lease of %s lasts longer than what was committed",
		            realm->hosts[place].name);
	watched->deadline = deadline;
}

void verdict_word_before(struct realm *realm, uint32_t place)
{
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		struct actor *actor = &realm->actors->list[i];
		if (actor->state == ACTOR_HOLDS && actor->page == realm->hosts[place].page &&
		    !actor_is_valid(realm, actor))
			actor->dead = true;
	}
}

void verdict_word(struct realm *realm, uint32_t place)
{
	const struct realm_host *host = &realm->hosts[place];

	realm_mark(realm, "lease", place, host->page->word >> 16, host->page->word & 0xffff);
	realm_draw(realm, DRAWN_LEASE, place,
	           realm_when(realm, place, (host->page->word >> 16) * REALM_MS), 0, NULL);
	for (uint32_t i = 0; i < realm->actors->count; i++) {
		const struct actor *actor = &realm->actors->list[i];
		if (actor->state == ACTOR_HOLDS && actor->page == host->page && actor->dead &&
		    actor_is_valid(realm, actor))
			realm_wrong(realm, "the lapsed hold of client %u at %s revives", i,
			            host->name);
	}
}

void verdict_after(struct realm *realm, uint32_t place)
{
	struct watched *watched = watch(realm, place);
	struct node *node = resident_node(realm->hosts[place].resident);

	if (node_lease_deadline(node) != watched->deadline)
		check_deadline(realm, place, watched);
	if (node_active(node) && node_epoch(node) != watched->active_epoch)
		check_active(realm, place, watched);
}

/* --- grants --- */

static void check_tokens(struct realm *realm, const struct actor *actor)
{
	char name[16];
	uint32_t tokens = 0;
	uint64_t epoch = node_epoch(resident_node(realm->hosts[actor->place].resident));

	snprintf(name, sizeof(name), "lock-%u", actor->lock);
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (!realm_lives(realm, i))
			continue;
		struct node *node = resident_node(realm->hosts[i].resident);
		tokens += node_self(node) != 0 && node_epoch(node) == epoch &&
		          node_has_token(node, name, strlen(name));
	}
	if (realm->verdict->tokens_max != 0 && tokens > realm->verdict->tokens_max)
		realm_wrong(realm, "%u tokens of lock-%u in epoch %llu", tokens, actor->lock,
		            (unsigned long long)epoch);
}

void verdict_granted(struct realm *realm, const struct actor *actor)
{
	struct verdict *verdict = realm->verdict;
	const struct actors *actors = realm->actors;
	const char *name = realm->hosts[actor->place].name;

	for (uint32_t i = 0; i < actors->count; i++) {
		struct actor *other = &actors->list[i];
		if (other == actor || other->state != ACTOR_HOLDS || other->lock != actor->lock)
			continue;
		if (actor_is_valid(realm, other))
			realm_wrong(
			        realm,
			        "clients at %s and %s hold lock-%u at once, fences %llu and %llu",
			        realm->hosts[other->place].name, name, actor->lock,
			        (unsigned long long)other->fence, (unsigned long long)actor->fence);
		other->dead = true;
	}
	if (actor->fence <= verdict->fences[actor->lock])
		realm_wrong(realm, "lock-%u is granted at %s with fence %llu after %llu",
		            actor->lock, name, (unsigned long long)actor->fence,
		            (unsigned long long)verdict->fences[actor->lock]);
	verdict->fences[actor->lock] = actor->fence;
	if (actor->fence > verdict->state.limit)
		realm_wrong(realm, "lock-%u is granted at %s with fence %llu beyond the limit %llu",
		            actor->lock, name, (unsigned long long)actor->fence,
		            (unsigned long long)verdict->state.limit);
	if (!actor_is_valid(realm, actor))
		realm_wrong(realm, "lock-%u is granted at %s without a lease", actor->lock, name);
	if (realm->hosts[actor->place].departs && !actor->elects)
		realm_wrong(realm, "lock-%u is granted at %s, which leaves", actor->lock, name);
	check_tokens(realm, actor);
}

/* A new view takes nothing away from a member. A lease takes a lock away only when it is over. */
void verdict_lost(struct realm *realm, const struct actor *actor, const struct node_effect *effect)
{
	const struct realm_host *host = &realm->hosts[actor->place];
	const char *why = effect->lost.why.bytes;
	const struct watched *watched = &realm->verdict->hosts[actor->place];
	const struct seat *seat = state_process(&realm->verdict->state, host->process);
	size_t size = effect->lost.why.size;

	if (size >= 5 && memcmp(why, "lease", 5) == 0) {
		realm->verdict->lapses++;
		if (realm_clock(realm, actor->place) + 2 * REALM_MS < watched->deadline)
			realm_wrong(realm, "client at %s loses lock-%u before its lease is over",
			            host->name, actor->lock);
	} else if (size >= 4 && memcmp(why, "view", 4) == 0 && seat != NULL &&
	           seat->incarnation == node_incarnation(resident_node(host->resident))) {
		realm_wrong(realm, "client at %s loses lock-%u to a view that %s is in", host->name,
		            actor->lock, host->name);
	}
}

bool verdict_forbids(const struct realm *realm, const char *name)
{
	const struct name_record *record = state_name(&realm->verdict->state, entry_text_of(name));

	return record != NULL && record->forbidden;
}

/* --- the end --- */

const char *verdict_unsettled(const struct realm *realm, char room[128])
{
	const struct agreed_state *state = &realm->verdict->state;

	for (uint32_t i = 0; i < realm->plan->nodes; i++) {
		const struct realm_host *host = &realm->hosts[i];
		struct node *node = resident_node(host->resident);
		if (state_process(state, host->process) == NULL)
			snprintf(room, 128, "%s is no member", host->name);
		else if (node_epoch(node) != state->epoch || !node_active(node))
			snprintf(room, 128, "%s does not serve: %s", host->name,
			         node_waiting_for(node) != NULL ? node_waiting_for(node) : "?");
		else if (realm_clock(realm, i) >= node_lease_deadline(node))
			snprintf(room, 128, "%s stays fenced", host->name);
		else
			continue;
		return room;
	}
	return NULL;
}
