#include "witness.h"

#include "actors.h"
#include "frames.h"
#include "guards.h"
#include "log_engine.h"
#include "ordeal.h"
#include "paths.h"
#include "reign.h"
#include "tie.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t read_clock(const void *context, uint32_t clock)
{
	const struct realm *realm = context;

	return clock < REALM_HOSTS_MAX
	               ? realm_clock(realm, clock)
	               : actor_clock(realm, &realm->actors->list[clock - REALM_HOSTS_MAX]);
}

static void on_wrong(void *context, const char *text)
{
	realm_wrong(context, "%s", text);
}

static uint32_t count_tokens_max(const struct algorithm *algorithm)
{
	uint32_t count = 0;

	for (size_t i = 0; algorithm->has_token && i < algorithm->messages_count; i++)
		count += algorithm->messages[i].token;
	return count;
}

struct verdict *witness_create(struct realm *realm)
{
	struct verdict_options options = {
	        .settings = realm->settings,
	        .world = {.context = realm, .clock = read_clock, .wrong = on_wrong},
	        .clients_max = realm->actors->count,
	        .tokens_max = count_tokens_max(realm->plan->algorithm),
	};

	return verdict_create(&options);
}

void witness_committed(struct realm *realm, uint64_t index, const uint8_t *bytes, size_t size)
{
	uint64_t epochs = verdict_epochs(realm->verdict);

	realm_mark(realm, "committed", REALM_NOWHERE, index, size);
	verdict_committed(realm->verdict, index, bytes, size);
	if (verdict_epochs(realm->verdict) != epochs)
		realm_note(realm, REALM_NOWHERE, "epoch %" PRIu64 ", %u members",
		           verdict_epochs(realm->verdict),
		           verdict_state(realm->verdict)->seats_count);
	reign_committed(realm->reign, verdict_state(realm->verdict), realm->now);
}

void witness_started(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];

	host->word = host->served = 0;
	realm_note(realm, place, "starts, process %" PRIu64, host->process % 100000);
	realm_draw(realm, DRAWN_START, place, 0, 0, NULL);
	verdict_started(realm->verdict, place, host->name, host->process);
}

void witness_ended(struct realm *realm, uint32_t place)
{
	realm_note(realm, place, "is killed");
	realm_draw(realm, DRAWN_END, place, 0, 0, NULL);
	verdict_ended(realm->verdict, place);
}

void witness_view(struct realm *realm, uint32_t place)
{
	const struct realm_host *host = &realm->hosts[place];
	struct tenant_view told = tenant_view(resident_tenant(host->resident));

	realm_draw(realm, DRAWN_VIEW, place, told.epoch, 0, NULL);
	realm_note(realm, place, "epoch %" PRIu64 "%s", told.epoch,
	           told.self < told.seats_count ? "" : ", not in it");
	verdict_entered(realm->verdict, place,
	                &(struct verdict_view){.epoch = told.epoch,
	                                       .base = told.base,
	                                       .seats = told.seats,
	                                       .seats_count = told.seats_count});
}

/* Checks that a node whose lease lapses leaves all locks at once. Algorithms with a circulating
 * token are not checked, because the token may let the node in again at the same moment. */
void witness_ticked(struct realm *realm, uint32_t place)
{
	const struct realm_host *host = &realm->hosts[place];
	struct node *node = resident_node(host->resident);
	char name[16];

	if (((node_lease_word(node) ^ host->word) & 0xffff) == 0 ||
	    realm->plan->algorithm->circulates)
		return;
	for (uint32_t i = 0; i < realm->plan->locks; i++) {
		snprintf(name, sizeof(name), "lock-%u", i);
		if (node_is_inside(node, name, strlen(name)))
			realm_wrong(realm, "%s keeps lock-%u when its lease is over", host->name,
			            i);
	}
}

bool witness_lease(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];
	const struct node *node = resident_node(host->resident);
	uint64_t word = node_lease_word(node);

	if (word == host->word)
		return false;
	host->word = word;
	realm_mark(realm, "lease", place, word >> 16, word & 0xffff);
	realm_draw(realm, DRAWN_LEASE, place, realm_when(realm, place, (word >> 16) * REALM_MS), 0,
	           NULL);
	verdict_lease(realm->verdict, place, node_lease_deadline(node), word);
	return true;
}

static void see_links(struct realm *realm, uint32_t place)
{
	const struct realm_host *host = &realm->hosts[place];
	uint32_t count;
	const struct tenant_peer *peers = tenant_peers(resident_tenant(host->resident), &count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = (uint32_t)strtoul(peers[i].address, NULL, 10);
		if (peers[i].stands)
			reign_linked(realm->reign, place, other, host->process, peers[i].process,
			             realm->now);
	}
}

/* Reports the links and the lease of a host. */
static void see_host(struct realm *realm, uint32_t place)
{
	const struct node *node = resident_node(realm->hosts[place].resident);

	see_links(realm, place);
	if (realm_clock(realm, place) < node_lease_deadline(node))
		reign_leased(realm->reign, place, realm->now);
}

/* Returns when the last stop of the leader ended; 0: the stop was so short that the leader did not
 * notice it. */
static uint64_t leader_resumed(const struct realm *realm, const struct realm_host *host)
{
	uint64_t lasted = host->voter_paused_until - host->voter_paused_from;
	uint64_t lease = realm->plan->lease_ns;

	return lasted < lease / 6 + lease / 12 ? 0 : host->voter_paused_until;
}

void witness_proposed(struct realm *realm, uint32_t place, const struct agreed_state *state,
                      const uint8_t *bytes, size_t size)
{
	struct reign_proposal proposal = {
	        .now = realm->now,
	        .place = place,
	        .drift_ppm = realm->hosts[place].drift_ppm,
	        .resumed = leader_resumed(realm, &realm->hosts[place]),
	        .state = state,
	        .wiring = realm_wiring(realm),
	        .bytes = bytes,
	        .size = size,
	        .hosts_count = realm->hosts_count,
	};
	char room[160];

	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		const struct realm_host *host = &realm->hosts[i];
		bool lives = realm_lives(realm, i);
		if (lives)
			see_host(realm, i);
		proposal.hosts[i] = (struct reign_host){
		        .name = host->name,
		        .process = lives ? host->process : 0,
		        .paused = realm_paused(realm, i),
		        .resumed = host->paused_until,
		        .departs = host->departs ? host->departs_since : 0,
		        .reached = paths_reach(realm, i, place) && paths_reach(realm, place, i),
		};
	}
	const char *wrong = reign_judge(realm->reign, &proposal, room);
	if (wrong != NULL)
		realm_wrong(realm, "%s", wrong);
}

void witness_after(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];
	const struct node *node = resident_node(host->resident);

	see_host(realm, place);
	struct tenant_view told = tenant_view(resident_tenant(host->resident));
	if (told.self < told.seats_count && node_epoch(node) != told.epoch)
		realm_wrong(realm, "%s knows of a view and does not enter it", host->name);
	if (!node_active(node) || node_epoch(node) == host->served)
		return;
	host->served = node_epoch(node);
	verdict_serves(realm->verdict, place, host->served);
}

struct token_count {
	const struct algorithm *algorithm;
	char name[16];
	uint64_t epoch;
	uint32_t tokens;
};

static void add_flying(void *context, const uint8_t *bytes, size_t size)
{
	struct token_count *count = context;
	uint64_t epoch = 0;
	uint32_t tokens = frames_tokens(count->algorithm, bytes, size, count->name,
	                                strlen(count->name), &epoch);

	if (epoch == count->epoch)
		count->tokens += tokens;
}

/* Counts the tokens that a process has sent and that their receivers have not taken yet. The frames
 * of a process that has ended, and those that wait in a node, are not counted. */
static void count_flying(const struct realm *realm, uint32_t place, struct token_count *count)
{
	const struct realm_host *host = &realm->hosts[place];
	const struct tie *tie;

	LIST_FOREACH (tie, &resident_ties(host->resident)->list, all) {
		uint32_t to = realm_place_of(realm, tie->process);
		if (to == REALM_NOWHERE || !realm_lives(realm, to))
			continue;
		const struct tie *back =
		        ties_find(resident_ties(realm->hosts[to].resident), host->process);
		link_each_kept(tie->link, back != NULL ? link_received(back->link) : 0, add_flying,
		               count);
	}
}

static uint32_t count_tokens(const struct realm *realm, uint32_t lock, uint64_t epoch)
{
	struct token_count count = {.algorithm = realm->plan->algorithm, .epoch = epoch};

	snprintf(count.name, sizeof(count.name), "lock-%u", lock);
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (!realm_lives(realm, i))
			continue;
		struct node *node = resident_node(realm->hosts[i].resident);
		count.tokens += node_self(node) != 0 && node_epoch(node) == epoch &&
		                node_has_token(node, count.name, strlen(count.name));
		count_flying(realm, i, &count);
	}
	return count.tokens;
}

void witness_granted(struct realm *realm, const struct actor *actor)
{
	uint32_t number = actor_number(realm, actor);
	uint64_t epoch = node_epoch(resident_node(realm->hosts[actor->place].resident));

	realm_mark(realm, "granted", actor->place, number, actor->fence);
	realm_draw(realm, DRAWN_GRANT, actor->place, number, actor->lock, NULL);
	verdict_granted(realm->verdict,
	                &(struct verdict_grant){
	                        .client = number,
	                        .place = actor->place,
	                        .lock = actor->lock,
	                        .fence = actor->fence,
	                        .lapses = actor->lapses,
	                        .proof = actor->proof,
	                        .clock = actor_clock_number(realm, actor),
	                        .until = actor->until,
	                        .needs = actor->proof == HOLD_RUNS ? guards_grace(realm) : 0,
	                        .elected = actor->elects});
	verdict_tokens(realm->verdict, actor->lock, epoch, count_tokens(realm, actor->lock, epoch));
}

const char *witness_unsettled(const struct realm *realm, uint32_t place, char room[192])
{
	char said[128];

	if (verdict_unsettled(realm->verdict, place, said) == NULL)
		return NULL;
	const char *why = node_waiting_for(resident_node(realm->hosts[place].resident));
	snprintf(room, 192, "%s%s%s", said, why != NULL ? ": " : "", why != NULL ? why : "");
	return room;
}
