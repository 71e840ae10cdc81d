#include "voter.h"

#include "memory.h"
#include "must.h"
#include "outbuffer.h"
#include "roster.h"
#include "tending.h"

#include <raft.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
/* An election takes a small part of a lease, so that there is a new leader long before leases
 * end. */
enum { ELECTIONS_IN_LEASE = 10, HEARTBEATS_IN_LEASE = 50, TENDINGS_IN_LEASE = 100 };

/* If the lease is longer than this, the times of the log do not grow further, so that a new leader
 * is elected within a few seconds. */
#define LEASE_NS_MAX (UINT64_C(30000) * MS)

static uint64_t limit_lease(uint64_t lease_ns)
{
	return lease_ns < LEASE_NS_MAX ? lease_ns : LEASE_NS_MAX;
}

struct voter {
	struct replica *replica;
	struct warden *warden;
	struct electorate_memory *electorate;
	uint64_t id;
	char place[ROSTER_PLACE_MAX + 1]; /* the address of this server in the log */
	uint64_t now;
	bool leads;       /* what the warden was last told: whether this voter leads */
	uint64_t tend_at; /* when a leader checks again who votes */
	uint64_t lease_ns;
	struct electors voters;
	bool voters_changed;
	uint32_t snapshot_every;
	uint64_t snapshot_at; /* the index of the last snapshot that was requested or restored */
	struct out letter, snapshot;
};

static uint64_t advance(struct voter *voter, uint64_t now)
{
	if (now > voter->now)
		voter->now = now;
	return voter->now / MS;
}

bool voter_leads(const struct voter *voter)
{
	return replica_leads(voter->replica);
}

uint64_t voter_id(const struct voter *voter)
{
	return voter->id;
}

uint64_t voter_term(const struct voter *voter)
{
	return replica_term(voter->replica);
}

const struct electors *voter_voters(const struct voter *voter)
{
	return &voter->voters;
}

size_t voter_servers(const struct voter *voter, uint64_t place, struct replica_server *ret_server)
{
	return replica_servers(voter->replica, place, ret_server);
}

const struct agreed_state *voter_state(const struct voter *voter)
{
	return warden_state(voter->warden);
}

/* --- input --- */

bool voter_letter(struct voter *voter, const uint8_t *bytes, size_t size, uint64_t now)
{
	struct in in = {.next = bytes, .end = bytes + size};
	uint64_t ms = advance(voter, now);
	uint64_t to = in_uint(&in);
	uint64_t from = in_range(&in, 1, UINT64_MAX);

	if (in.bad)
		return false;
	if (to != voter->id)
		return true;
	return replica_receive(voter->replica, from, in.next, (size_t)(in.end - in.next), ms) == 0;
}

bool voter_petition(struct voter *voter, const uint8_t *bytes, size_t size, uint64_t now)
{
	advance(voter, now);
	return warden_petition(voter->warden, bytes, size, voter->now);
}

bool voter_hand_over(struct voter *voter, uint64_t now)
{
	uint64_t ms = advance(voter, now);
	struct replica_server server;

	for (uint64_t i = 0; i < replica_servers(voter->replica, i, &server); i++) {
		if (server.role == REPLICA_VOTER && server.id != voter->id &&
		    replica_transfer(voter->replica, server.id, ms))
			return true;
	}
	return false;
}

enum refusal voter_request(struct voter *voter, const struct log_entry *entry, uint64_t now)
{
	advance(voter, now);
	return warden_request(voter->warden, entry, voter->now);
}

void voter_written(struct voter *voter, uint64_t number, uint64_t now)
{
	replica_written(voter->replica, number, advance(voter, now));
}

uint64_t voter_deadline(const struct voter *voter)
{
	uint64_t log = replica_deadline(voter->replica) * MS;
	uint64_t warden = warden_deadline(voter->warden);

	return log < warden ? log : warden;
}

void voter_tick(struct voter *voter, uint64_t now)
{
	replica_tick(voter->replica, advance(voter, now));
	warden_tick(voter->warden, voter->now);
}

/* --- output --- */

static void keep_snapshot(struct voter *voter)
{
	const struct agreed_state *state = voter_state(voter);

	if (state->index < voter->snapshot_at + voter->snapshot_every)
		return;
	state_write(state, &voter->snapshot);
	if (replica_snapshot(voter->replica, state->index, voter->snapshot.bytes,
	                     voter->snapshot.bytes_count, voter->snapshot_every))
		voter->snapshot_at = state->index;
}

static void look_at_voters(struct voter *voter, uint64_t index)
{
	const uint8_t *bytes;
	size_t size;
	uint64_t made;

	if (!replica_voters(voter->replica, index, &bytes, &size, &made) ||
	    made == voter->voters.index)
		return;
	roster_electors(bytes, size, made, &voter->voters);
	warden_electors(voter->warden, &voter->voters);
	voter->voters_changed = true;
}

static void apply(struct voter *voter, const struct replica_effect *effect,
                  struct voter_effect *ret_effect)
{
	bool concerns = effect->type == RAFT_COMMAND;

	must(effect->index == voter_state(voter)->index + 1);
	*ret_effect = (struct voter_effect){.kind = VOTER_APPLIED,
	                                    .index = effect->index,
	                                    .bytes = concerns ? effect->bytes : NULL,
	                                    .size = concerns ? effect->size : 0};
	if (effect->type == RAFT_CHANGE)
		look_at_voters(voter, effect->index);
	warden_committed(voter->warden, ret_effect->bytes, ret_effect->size, voter->now);
	keep_snapshot(voter);
}

static void restore(struct voter *voter, const struct replica_effect *effect,
                    struct voter_effect *ret_effect)
{
	*ret_effect = (struct voter_effect){.kind = VOTER_RESTORED, .index = effect->index};
	must(warden_restore(voter->warden, effect->bytes, effect->size, voter->now));
	must(voter_state(voter)->index == effect->index);
	voter->snapshot_at = effect->index;
	look_at_voters(voter, effect->index);
}

/* Adds the ids of sender and receiver: a letter to a server whose disk is lost must not reach the
 * server that replaces it. */
static void address(struct voter *voter, const struct replica_effect *effect,
                    struct voter_effect *ret_effect)
{
	out_clear(&voter->letter);
	out_uint(&voter->letter, effect->to);
	out_uint(&voter->letter, voter->id);
	out_need(&voter->letter, (uint32_t)effect->size);
	memcpy(voter->letter.bytes + voter->letter.bytes_count, effect->bytes, effect->size);
	voter->letter.bytes_count += (uint32_t)effect->size;
	*ret_effect = (struct voter_effect){.kind = VOTER_LETTER,
	                                    .id = effect->to,
	                                    .bytes = voter->letter.bytes,
	                                    .size = voter->letter.bytes_count};
}

static bool take_from_log(struct voter *voter, struct voter_effect *ret_effect)
{
	struct replica_effect effect;

	if (!replica_effect(voter->replica, &effect))
		return false;
	switch (effect.kind) {
	case REPLICA_WRITE:
		*ret_effect = (struct voter_effect){.kind = VOTER_WRITE, .write = effect.write};
		break;
	case REPLICA_SEND:
		address(voter, &effect, ret_effect);
		break;
	case REPLICA_APPLY:
		apply(voter, &effect, ret_effect);
		break;
	case REPLICA_RESTORE:
		restore(voter, &effect, ret_effect);
		break;
	}
	return true;
}

/* A proposal is lost if another voter leads by now. The warden expects that. */
static bool take_from_warden(struct voter *voter, struct voter_effect *ret_effect)
{
	struct warden_effect effect;

	while (warden_effect(voter->warden, &effect)) {
		bool proposes = effect.kind == WARDEN_PROPOSE;
		if (proposes &&
		    !replica_propose(voter->replica, effect.bytes, effect.size, voter->now / MS))
			continue;
		*ret_effect =
		        (struct voter_effect){.kind = proposes ? VOTER_PROPOSED : VOTER_NOTIFY,
		                              .process = effect.process,
		                              .bytes = effect.bytes,
		                              .size = effect.size};
		return true;
	}
	return false;
}

static void change_lead(struct voter *voter)
{
	voter->leads = voter_leads(voter);
	warden_leads(voter->warden, voter->leads, voter->now);
	if (voter->leads)
		electorate_begin(voter->electorate, voter->now);
}

/* A leader checks often who should vote, because a server may catch up between two entries. Returns
 * true if it has checked now; then there may be effects. */
static bool tend(struct voter *voter)
{
	if (!voter->leads || voter->now < voter->tend_at)
		return false;
	voter->tend_at = voter->now + limit_lease(voter->lease_ns) / TENDINGS_IN_LEASE;
	tending_look(voter->electorate, voter->replica, voter->warden, voter->id, voter->now);
	return true;
}

bool voter_effect(struct voter *voter, struct voter_effect *ret_effect)
{
	for (;;) {
		if (take_from_warden(voter, ret_effect) || take_from_log(voter, ret_effect))
			return true;
		if (voter->voters_changed) {
			voter->voters_changed = false;
			*ret_effect = (struct voter_effect){.kind = VOTER_ELECTORS};
			return true;
		}
		if (voter->leads != voter_leads(voter)) {
			change_lead(voter);
			*ret_effect = (struct voter_effect){.kind = VOTER_LEADS};
			return true;
		}
		if (!tend(voter))
			return false;
	}
}

/* --- creating and freeing --- */

static bool can_restore(void *context, uint64_t index, const uint8_t *bytes, size_t size)
{
	const struct voter *voter = context;
	struct agreed_state state;

	state_init(&state, &voter_state(voter)->settings);
	bool good = state_read(&state, bytes, size) && state.index == index;
	state_free(&state);
	return good;
}

struct voter *voter_create(const struct voter_options *options, uint64_t now)
{
	struct voter *voter = calloc(1, sizeof(*voter));
	memory_must(voter != NULL);
	uint64_t lease_ms = limit_lease(options->settings.lease_ns) / MS;
	struct warden_options warden = {.settings = options->settings, .wiring = options->wiring};
	struct replica_options replica = {
	        .id = options->id,
	        .address = voter->place,
	        .content = options->content,
	        .election_ms = (uint32_t)(lease_ms / ELECTIONS_IN_LEASE),
	        .heartbeat_ms = (uint32_t)(lease_ms / HEARTBEATS_IN_LEASE),
	        .seed = options->seed,
	        .can_restore = can_restore,
	        .context = voter,
	};

	must(options->id != 0 && options->snapshot_every != 0);
	voter->id = options->id;
	voter->lease_ns = options->settings.lease_ns;
	roster_place(options->id, options->address, options->name, voter->place);
	voter->electorate = electorate_create(&options->electorate);
	voter->now = now;
	voter->snapshot_every = options->snapshot_every;
	out_init(&voter->letter);
	out_init(&voter->snapshot);
	voter->warden = warden_create(&warden, now);
	must(voter->warden != NULL);
	voter->replica = replica_create(&replica, now / MS);
	return voter;
}

void voter_destroy(struct voter *voter)
{
	if (voter == NULL)
		return;
	replica_destroy(voter->replica);
	warden_destroy(voter->warden);
	electorate_destroy(voter->electorate);
	electors_free(&voter->voters);
	out_free(&voter->letter);
	out_free(&voter->snapshot);
	free(voter);
}
