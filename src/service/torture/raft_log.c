#include "raft_log.h"

#include "grow.h"
#include "memory.h"
#include "ordeal.h"
#include "outbuffer.h"
#include "paths.h"
#include "reign.h"
#include "roster.h"
#include "shadow.h"
#include "voter.h"
#include "witness.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SNAPSHOT_EVERY = 40, SLOW_PERCENT = 25 };
/* Some clusters begin with one voter and grow; some have a host that only votes. */
enum { GROWING_PERCENT = 40, WITNESS_PERCENT = 30, WITNESS_NODES_LEAST = 4 };

/* A data directory, which survives processes. */
struct simulated_disk {
	uint64_t id; /* the id of the server whose log this is */
	struct shadow content;
	/* Writes that were given out and are not durable yet; the oldest first. */
	struct durable_write *writes;
	size_t writes_count, writes_size;
	uint64_t busy_until;
};

struct raft_voter {
	struct voter *voter; /* the voter of the process; NULL: there is no process */
	struct simulated_disk disk;
	bool leads;         /* the voter led when this was last noted */
	uint64_t cut_until; /* no letters reach the voter or leave it before this time */
};

/* A committed entry, and the state after it, as hashes. */
struct committed_entry {
	uint64_t entry, state; /* a hash of the entry's bytes, and a hash of the state after it */
};

struct raft_log {
	struct chance chance;
	struct raft_voter voters[REALM_HOSTS_MAX];
	uint64_t headless_until; /* no letters are delivered before this time */
	uint64_t delay_max;      /* how much longer than usual a write may take */
	struct electorate_options electorate;
	uint64_t voters_index;           /* the index of the entry that set the realm's voters */
	struct committed_entry *history; /* the entries that were committed, indexed from 1 */
	size_t history_count, history_size;
	uint64_t *leaders; /* the ids of the leaders, indexed by term; 0: nobody led */
	size_t leaders_count, leaders_size;
	struct out state; /* room for a state as bytes */
};

static struct raft_voter *voter_at(const struct realm *realm, uint32_t place)
{
	return &realm->raft->voters[place];
}

static uint64_t committed(const struct realm *realm)
{
	return realm->raft->history_count;
}

/* --- the judge --- */

static uint64_t hash_state(struct raft_log *log, const struct agreed_state *state)
{
	state_write(state, &log->state);
	return XXH3_64bits(log->state.bytes, log->state.bytes_count);
}

static void judge_state(struct realm *realm, uint32_t place, uint64_t index)
{
	struct raft_log *log = realm->raft;

	if (index > log->history_count)
		realm_wrong(realm, "%s has a snapshot of what was never committed",
		            realm->hosts[place].name);
	else if (log->history[index - 1].state !=
	         hash_state(log, voter_state(voter_at(realm, place)->voter)))
		realm_wrong(realm, "%s has another state than was agreed upon after entry %llu",
		            realm->hosts[place].name, (unsigned long long)index);
}

/* Checks an entry that a voter applies. The first entry applied at an index counts as agreed; all
 * other voters must apply the same one. */
static void judge_applied(struct realm *realm, uint32_t place, const struct voter_effect *effect)
{
	struct raft_log *log = realm->raft;
	uint64_t hash = effect->size == 0 ? 0 : XXH3_64bits(effect->bytes, effect->size);

	if (effect->index == log->history_count + 1) {
		witness_committed(realm, effect->index, effect->bytes, effect->size);
		log->history = grow(log->history, &log->history_size, effect->index,
		                    sizeof(*log->history));
		log->history[log->history_count++] = (struct committed_entry){
		        hash, hash_state(log, verdict_state(realm->verdict))};
	} else if (effect->index > log->history_count ||
	           log->history[effect->index - 1].entry != hash) {
		realm_wrong(realm, "%s applies another history at entry %llu",
		            realm->hosts[place].name, (unsigned long long)effect->index);
		return;
	}
	judge_state(realm, place, effect->index);
}

static void judge_leader(struct realm *realm, uint32_t place)
{
	struct raft_log *log = realm->raft;
	struct raft_voter *here = voter_at(realm, place);
	uint64_t term = voter_term(here->voter);
	bool leads = voter_leads(here->voter);

	if (leads == here->leads)
		return;
	here->leads = leads;
	realm_note(realm, place, leads ? "leads in term %llu" : "no longer leads, in term %llu",
	           (unsigned long long)term);
	if (!leads)
		return;
	reign_elected(realm->reign, realm->now);
	reign_told(realm->reign, place, realm->now);
	log->leaders = grow(log->leaders, &log->leaders_size, term + 1, sizeof(*log->leaders));
	while (log->leaders_count <= term)
		log->leaders[log->leaders_count++] = 0;
	if (log->leaders[term] != 0 && log->leaders[term] != here->disk.id)
		realm_wrong(realm, "%s leads in term %llu, and so did another voter",
		            realm->hosts[place].name, (unsigned long long)term);
	log->leaders[term] = here->disk.id;
}

/* --- disks --- */

static void begin_write(struct realm *realm, uint32_t place, const struct durable_write *write)
{
	struct raft_log *log = realm->raft;
	struct simulated_disk *disk = &voter_at(realm, place)->disk;
	uint64_t delay = chance_between(&log->chance, REALM_MS / 10, 3 * REALM_MS);

	disk->writes =
	        grow(disk->writes, &disk->writes_size, disk->writes_count + 1, sizeof(*write));
	disk->writes[disk->writes_count++] = shadow_write_copy(write);
	if (log->delay_max != 0 && chance_percent(&log->chance, SLOW_PERCENT))
		delay += chance_below(&log->chance, log->delay_max);
	if (disk->busy_until < realm->now)
		disk->busy_until = realm->now;
	disk->busy_until += delay;
	realm_push(realm, disk->busy_until, REALM_LOG, place, realm->hosts[place].life, 0);
}

/* Makes the oldest write durable, and returns its number. */
static uint64_t end_write(struct simulated_disk *disk)
{
	uint64_t number = disk->writes[0].number;

	shadow_apply(&disk->content, &disk->writes[0]);
	shadow_write_free(&disk->writes[0]);
	disk->writes_count--;
	memmove(disk->writes, disk->writes + 1, disk->writes_count * sizeof(*disk->writes));
	return number;
}

static void lose_writes(struct simulated_disk *disk, uint64_t kept)
{
	while (kept-- > 0)
		end_write(disk);
	while (disk->writes_count > 0)
		shadow_write_free(&disk->writes[--disk->writes_count]);
	disk->busy_until = 0;
}

/* Returns the leader with the newest term, or REALM_NOWHERE if nobody believes that it leads. */
static uint32_t find_leader(const struct realm *realm)
{
	uint32_t leader = REALM_NOWHERE;

	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		const struct voter *voter = voter_at(realm, i)->voter;
		if (voter != NULL && voter_leads(voter) &&
		    (leader == REALM_NOWHERE ||
		     voter_term(voter) > voter_term(voter_at(realm, leader)->voter)))
			leader = i;
	}
	return leader;
}

/* --- a voter --- */

static void send_letter(struct realm *realm, uint32_t place, const struct voter_effect *effect)
{
	struct raft_log *log = realm->raft;

	if (log->headless_until > realm->now || log->voters[place].cut_until > realm->now)
		return;
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (log->voters[i].disk.id == effect->id && log->voters[i].cut_until <= realm->now)
			paths_send(realm, place, i, PATH_LETTER, effect->bytes, effect->size);
	}
}

/* Takes the list of voters from this voter, if it is the first one to apply the change. */
static void change_voters(struct realm *realm, uint32_t place)
{
	struct raft_log *log = realm->raft;
	const struct electors *voters = voter_voters(voter_at(realm, place)->voter);
	char text[REALM_HOSTS_MAX * (REALM_NAME_MAX + 1) + 1] = "";
	size_t used = 0;

	if (voters->index <= log->voters_index)
		return;
	log->voters_index = voters->index;
	realm->voters_count = 0;
	for (uint32_t i = 0; i < voters->count; i++) {
		realm->voters[realm->voters_count++] = realm_at_address(voters->list[i].address);
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %.*s", REALM_NAME_MAX,
		                         voters->list[i].name);
	}
	realm_note(realm, REALM_NOWHERE, "voters:%s", text);
}

static void take_effect(struct realm *realm, uint32_t place, const struct voter_effect *effect)
{
	uint32_t to;

	switch (effect->kind) {
	case VOTER_WRITE:
		begin_write(realm, place, effect->write);
		break;
	case VOTER_LETTER:
		send_letter(realm, place, effect);
		break;
	case VOTER_NOTIFY:
		if ((to = realm_place_of(realm, effect->process)) != REALM_NOWHERE)
			paths_send(realm, place, to, PATH_BULLETIN, effect->bytes, effect->size);
		break;
	case VOTER_APPLIED:
		judge_applied(realm, place, effect);
		break;
	case VOTER_RESTORED:
		realm_mark(realm, "restored", place, effect->index, 0);
		judge_state(realm, place, effect->index);
		break;
	case VOTER_ELECTORS:
		change_voters(realm, place);
		break;
	case VOTER_LEADS:
		judge_leader(realm, place);
		break;
	case VOTER_PROPOSED:
		if (find_leader(realm) == place)
			witness_proposed(realm, place, voter_state(voter_at(realm, place)->voter),
			                 effect->bytes, effect->size);
		break;
	}
}

static void pump(struct realm *realm, uint32_t place)
{
	struct voter *voter = voter_at(realm, place)->voter;
	struct voter_effect effect;

	while (!realm->failed && voter_effect(voter, &effect))
		take_effect(realm, place, &effect);
	realm_await_voter(realm, place, voter_deadline(voter));
}

static void tick(struct realm *realm, uint32_t place)
{
	voter_tick(voter_at(realm, place)->voter, realm_read(realm, place, READER_VOTER));
	pump(realm, place);
}

static bool petition(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size)
{
	bool good = voter_petition(voter_at(realm, place)->voter, bytes, size,
	                           realm_read(realm, place, READER_VOTER));

	pump(realm, place);
	return good;
}

static bool letter(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size)
{
	bool good = voter_letter(voter_at(realm, place)->voter, bytes, size,
	                         realm_read(realm, place, READER_VOTER));

	pump(realm, place);
	return good;
}

/* Called when a write has become durable. */
static void on_event(struct realm *realm, const struct event *event)
{
	const struct realm_host *host = &realm->hosts[event->node];
	struct raft_voter *here = voter_at(realm, event->node);

	if (!host->voter_lives || host->life != event->number)
		return;
	if (host->voter_paused_until > realm->now) {
		realm_push(realm, host->voter_paused_until, REALM_LOG, event->node, event->number,
		           0);
		return;
	}
	voter_written(here->voter, end_write(&here->disk),
	              realm_read(realm, event->node, READER_VOTER));
	pump(realm, event->node);
}

static void start(struct realm *realm, uint32_t place)
{
	struct raft_log *log = realm->raft;
	struct raft_voter *here = voter_at(realm, place);
	struct durable_content content = shadow_content(&here->disk.content);
	struct voter_options options = {
	        .id = here->disk.id,
	        .name = realm->hosts[place].name,
	        .address = realm->hosts[place].address,
	        .content = &content,
	        .settings = realm->settings,
	        .wiring = realm_wiring(realm),
	        .electorate = log->electorate,
	        .snapshot_every = SNAPSHOT_EVERY,
	        .seed = (uint32_t)chance_next(&log->chance),
	};

	here->leads = false;
	here->voter = voter_create(&options, realm_read(realm, place, READER_VOTER));
	pump(realm, place);
}

static void stop(struct realm *realm, uint32_t place)
{
	struct raft_log *log = realm->raft;
	struct raft_voter *here = voter_at(realm, place);

	voter_destroy(here->voter);
	here->voter = NULL;
	lose_writes(&here->disk, chance_below(&log->chance, here->disk.writes_count + 1));
}

static const struct electors *voters(const struct realm *realm, uint32_t place)
{
	return voter_voters(voter_at(realm, place)->voter);
}

static uint64_t server(const struct realm *realm, uint32_t place)
{
	return voter_at(realm, place)->disk.id;
}

/* --- faults --- */

static bool is_lost(const struct realm *realm, uint64_t id)
{
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (voter_at(realm, i)->disk.id == id)
			return false;
	}
	return true;
}

/* Would a majority of the voters be left? This counts the voters that this host knows of, committed
 * or not. */
static bool leaves_majority(const struct realm *realm, uint32_t place, uint64_t wiped)
{
	const struct raft_voter *here = voter_at(realm, place);
	size_t size;
	const uint8_t *bytes = shadow_voters(&here->disk.content, &size);
	uint32_t voters = 0, left = 0;
	struct replica_server known;

	/* Count standbys too: a standby may be promoted before the leader hears that its disk is
	 * lost. */
	for (size_t i = 0; here->voter != NULL && i < voter_servers(here->voter, i, &known); i++) {
		voters += known.role == REPLICA_VOTER || known.id == wiped;
		left += known.role == REPLICA_VOTER && known.id != wiped &&
		        !is_lost(realm, known.id);
	}
	if (here->voter != NULL || bytes == NULL)
		return voters == 0 || 2 * left > voters;
	struct electors electors = {0};
	roster_electors(bytes, size, 1, &electors);
	voters = electors.count;
	for (uint32_t i = 0; i < voters; i++)
		left += electors.list[i].server != wiped &&
		        !is_lost(realm, electors.list[i].server);
	electors_free(&electors);
	return 2 * left > voters;
}

static bool wipe(struct realm *realm, uint32_t place)
{
	struct raft_log *log = realm->raft;
	struct simulated_disk *disk = &voter_at(realm, place)->disk;

	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (!leaves_majority(realm, i, disk->id))
			return false;
	}
	realm_note(realm, place, "has a new disk");
	shadow_free(&disk->content);
	shadow_init(&disk->content);
	realm_name_voters(realm, place);
	do {
		disk->id = chance_next(&log->chance);
	} while (disk->id == 0);
	return true;
}

static void order(struct realm *realm, struct log_entry entry)
{
	uint32_t leader = find_leader(realm);

	if (leader == REALM_NOWHERE || !realm_voter_runs(realm, leader))
		return;
	entry.order = (struct order_id){1, ++realm->orders};
	voter_request(voter_at(realm, leader)->voter, &entry,
	              realm_read(realm, leader, READER_VOTER));
	pump(realm, leader);
}

static void forbid(struct realm *realm, const char *name, bool forbids)
{
	order(realm, (struct log_entry){.kind = forbids ? ENTRY_FORBID : ENTRY_ALLOW,
	                                .name = entry_text_of(name)});
}

static void wish(struct realm *realm, const char *name, enum vote_wish vote)
{
	order(realm,
	      (struct log_entry){.kind = ENTRY_VOTE, .vote = vote, .name = entry_text_of(name)});
}

static void slow(struct realm *realm, uint64_t delay_max)
{
	realm->raft->delay_max = delay_max;
}

static void depose(struct realm *realm, uint64_t until)
{
	uint32_t leader = find_leader(realm);

	if (leader != REALM_NOWHERE)
		voter_at(realm, leader)->cut_until = until;
}

static void headless(struct realm *realm, uint64_t until)
{
	realm->raft->headless_until = until;
}

/* --- beginning and ending --- */

/* Every host may vote; the first voters are drawn. */
static void draw_voters(struct realm *realm)
{
	struct chance chance = chance_stream(realm->plan->seed, STREAM_LOG, 2);
	uint32_t nodes = realm->plan->nodes;
	uint64_t lease = realm->plan->lease_ns;

	/* Draw these one after the other: compilers may evaluate an initializer in any order. */
	realm->raft->electorate.grow_ns = chance_between(&chance, lease / 2, 2 * lease);
	realm->raft->electorate.replace_ns = chance_between(&chance, 3 * lease, 6 * lease);
	if (chance_percent(&chance, GROWING_PERCENT))
		realm->voters_count = 1;
	if (nodes >= WITNESS_NODES_LEAST && chance_percent(&chance, WITNESS_PERCENT)) {
		realm->members_count = nodes - 1;
		realm->hosts[nodes - 1].only_votes = true;
	}
	for (uint32_t i = 0; i < nodes; i++)
		realm->hosts[i].votes = true;
}

static void create(struct realm *realm)
{
	struct raft_log *log = calloc(1, sizeof(*log));

	memory_must(log != NULL);
	realm->raft = log;
	log->chance = chance_stream(realm->plan->seed, STREAM_LOG, 1);
	draw_voters(realm);
	out_init(&log->state);
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		shadow_init(&log->voters[i].disk.content);
		log->voters[i].disk.id = chance_next(&log->chance) | 1;
	}
}

/* Gives all servers the same first entry. */
static void begin(struct realm *realm)
{
	struct replica_server servers[REALM_HOSTS_MAX];
	char places[REALM_HOSTS_MAX][ROSTER_PLACE_MAX + 1];
	struct durable_entry first;

	for (uint32_t i = 0; i < realm->voters_count; i++) {
		uint32_t place = realm->voters[i];
		uint64_t id = voter_at(realm, place)->disk.id;
		roster_place(id, realm->hosts[place].address, realm->hosts[place].name, places[i]);
		servers[i] = (struct replica_server){id, places[i], REPLICA_VOTER};
	}
	must(replica_first_entry(servers, realm->voters_count, &first));
	for (uint32_t i = 0; i < realm->voters_count; i++)
		shadow_apply(&voter_at(realm, realm->voters[i])->disk.content,
		             &(struct durable_write){.has_ballot = true,
		                                     .term = 1,
		                                     .entries_first = 1,
		                                     .entries = &first,
		                                     .entries_count = 1});
	free((void *)first.bytes);
}

/* Checks, after all faults are over, that there are as many voters as there should be, and none
 * whose disk was lost. Returns NULL, or what is wrong. */
static const char *unsettled(const struct realm *realm, char room[192])
{
	uint32_t wanted = realm_voters_wanted(realm->plan->nodes);
	uint32_t leader = find_leader(realm);

	if (leader == REALM_NOWHERE)
		return "nobody leads";
	const struct electors *voters = voter_voters(voter_at(realm, leader)->voter);
	for (uint32_t i = 0; i < voters->count; i++) {
		if (!is_lost(realm, voters->list[i].server))
			continue;
		snprintf(room, 192, "%.60s votes although it lost its disk", voters->list[i].name);
		return room;
	}
	/* Five voters that were needed for a while may stay. */
	if (voters->count == wanted || (voters->count == 5 && realm->plan->nodes >= 5))
		return NULL;
	snprintf(room, 192, "there are %u voters instead of %u", voters->count, wanted);
	return room;
}

static void destroy(struct realm *realm)
{
	struct raft_log *log = realm->raft;

	for (uint32_t i = 0; i < REALM_HOSTS_MAX; i++) {
		voter_destroy(log->voters[i].voter);
		lose_writes(&log->voters[i].disk, 0);
		free(log->voters[i].disk.writes);
		shadow_free(&log->voters[i].disk.content);
	}
	out_free(&log->state);
	free(log->history);
	free(log->leaders);
	free(log);
}

const struct log_engine raft_log = {
        .create = create,
        .destroy = destroy,
        .begin = begin,
        .start = start,
        .stop = stop,
        .tick = tick,
        .petition = petition,
        .letter = letter,
        .voters = voters,
        .on_event = on_event,
        .forbid = forbid,
        .slow = slow,
        .depose = depose,
        .headless = headless,
        .wipe = wipe,
        .wish = wish,
        .server = server,
        .unsettled = unsettled,
        .voters_change = true,
        .committed = committed,
};
