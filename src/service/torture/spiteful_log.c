#include "spiteful_log.h"

#include "grow.h"
#include "memory.h"
#include "ordeal.h"
#include "outbuffer.h"
#include "paths.h"
#include "reign.h"
#include "witness.h"

#include <stdlib.h>
#include <string.h>

enum { SNAPSHOT_EVERY = 40 };

struct stored {
	uint8_t *bytes;
	size_t size;
	uint64_t due; /* when a pending entry may be committed at the earliest */
};

struct voter_log {
	struct warden *warden; /* the warden of the process; NULL: there is no process */
	bool believes;         /* the warden was told that it leads */
	uint64_t applied;      /* how many entries the warden was given */
	uint64_t arrival;      /* when the last entry that was sent to the voter arrives */
	/* How many entries the voter has applied, plus those in flight to it. */
	uint64_t sent;
	struct out snapshot;  /* the snapshot on the voter's disk */
	uint64_t snapshot_at; /* the index of the snapshot on the voter's disk */
};

enum log_event { LOG_CHECK, LOG_COMMIT, LOG_APPLY, LOG_TELL };

struct atomic_log {
	struct chance chance;
	struct stored *entries;
	size_t entries_count, entries_size;
	struct stored *pending; /* the entries that the leader has proposed, in order */
	size_t pending_count, pending_size;
	uint32_t leader;
	uint64_t unfit_since;    /* since when the leader has no majority; 0: it has a majority */
	uint64_t headless_until; /* nobody is elected before this time */
	uint64_t delay_max;      /* how much longer than usual a commit may take */
	uint64_t commit_at;      /* when the next commit is tried; NODE_NEVER: none is due */
	struct voter_log voters[REALM_HOSTS_MAX];
};

static void create(struct realm *realm)
{
	struct atomic_log *log = calloc(1, sizeof(*log));

	memory_must(log != NULL);
	realm->log = log;
	log->chance = chance_stream(realm->plan->seed, STREAM_LOG, 0);
	log->leader = REALM_NOWHERE;
	log->commit_at = NODE_NEVER;
	for (uint32_t i = 0; i < REALM_HOSTS_MAX; i++)
		out_init(&log->voters[i].snapshot);
}

static void destroy(struct realm *realm)
{
	struct atomic_log *log = realm->log;

	for (size_t i = 0; i < log->entries_count; i++)
		free(log->entries[i].bytes);
	for (size_t i = 0; i < log->pending_count; i++)
		free(log->pending[i].bytes);
	for (uint32_t i = 0; i < REALM_HOSTS_MAX; i++) {
		warden_destroy(log->voters[i].warden);
		out_free(&log->voters[i].snapshot);
	}
	free(log->entries);
	free(log->pending);
	free(log);
}

static void push(struct realm *realm, enum log_event kind, uint32_t place, uint64_t time)
{
	realm_push(realm, time, REALM_LOG, place, 0, (uint32_t)kind);
}

static void begin(struct realm *realm)
{
	push(realm, LOG_CHECK, 0, realm->now);
}

static uint64_t committed(const struct realm *realm)
{
	return realm->log->entries_count;
}

/* --- majorities --- */

static bool reaches(const struct realm *realm, uint32_t a, uint32_t b)
{
	return paths_reach(realm, a, b) && paths_reach(realm, b, a);
}

static bool has_majority(const struct realm *realm, uint32_t place)
{
	uint32_t count = 0;

	if (!realm_voter_runs(realm, place))
		return false;
	for (uint32_t i = 0; i < realm->voters_count; i++) {
		uint32_t voter = realm->voters[i];
		count += realm_voter_runs(realm, voter) && reaches(realm, place, voter);
	}
	return 2 * count > realm->voters_count;
}

/* --- a voter's warden --- */

static void propose(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size);

static void pump(struct realm *realm, uint32_t place)
{
	struct warden *warden = realm->log->voters[place].warden;
	struct warden_effect effect;

	while (warden_effect(warden, &effect)) {
		uint32_t to;
		if (effect.kind == WARDEN_PROPOSE)
			propose(realm, place, effect.bytes, effect.size);
		else if ((to = realm_place_of(realm, effect.process)) != REALM_NOWHERE)
			paths_send(realm, place, to, PATH_BULLETIN, effect.bytes, effect.size);
	}
	realm_await_voter(realm, place, warden_deadline(warden));
}

static void tick(struct realm *realm, uint32_t place)
{
	warden_tick(realm->log->voters[place].warden, realm_read(realm, place, READER_VOTER));
	pump(realm, place);
}

static bool petition(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size)
{
	bool good = warden_petition(realm->log->voters[place].warden, bytes, size,
	                            realm_read(realm, place, READER_VOTER));

	pump(realm, place);
	return good;
}

static void forbid(struct realm *realm, const char *name, bool forbids)
{
	uint32_t leader = realm->log->leader;
	struct log_entry entry = {.kind = forbids ? ENTRY_FORBID : ENTRY_ALLOW,
	                          .name = entry_text_of(name)};

	if (leader == REALM_NOWHERE || !realm_voter_runs(realm, leader))
		return;
	entry.order = (struct order_id){1, ++realm->orders};
	warden_request(realm->log->voters[leader].warden, &entry,
	               realm_read(realm, leader, READER_VOTER));
	pump(realm, leader);
}

/* --- applying --- */

static void send_on(struct realm *realm, uint32_t place)
{
	struct atomic_log *log = realm->log;
	struct voter_log *voter = &log->voters[place];

	if (realm->log->voters[place].warden == NULL || voter->sent == log->entries_count ||
	    (log->leader != place &&
	     (log->leader == REALM_NOWHERE || !reaches(realm, log->leader, place))))
		return;
	voter->sent = log->entries_count;
	uint64_t arrival =
	        realm->now + chance_between(&log->chance, REALM_MS / 10,
	                                    log->leader == place ? REALM_MS : 8 * REALM_MS);
	if (arrival > voter->arrival)
		voter->arrival = arrival;
	push(realm, LOG_APPLY, place, voter->arrival);
}

static void keep_snapshot(struct realm *realm, uint32_t place)
{
	struct voter_log *voter = &realm->log->voters[place];

	voter->snapshot_at = voter->applied;
	state_write(warden_state(realm->log->voters[place].warden), &voter->snapshot);
}

static void apply(struct realm *realm, uint32_t place)
{
	struct atomic_log *log = realm->log;
	struct voter_log *voter = &log->voters[place];
	const struct stored *entry = &log->entries[voter->applied++];

	warden_committed(realm->log->voters[place].warden, entry->bytes, entry->size,
	                 realm_read(realm, place, READER_VOTER));
	if (voter->applied >= voter->snapshot_at + SNAPSHOT_EVERY)
		keep_snapshot(realm, place);
}

static void on_apply(struct realm *realm, uint32_t place)
{
	struct voter_log *voter = &realm->log->voters[place];

	if (realm->log->voters[place].warden == NULL)
		return;
	if (!realm_voter_runs(realm, place)) {
		push(realm, LOG_APPLY, place, realm->hosts[place].voter_paused_until);
		return;
	}
	/* If later entries are still in flight, apply one entry; otherwise apply all that were
	 * sent. */
	if (voter->arrival > realm->now && voter->sent > voter->applied + 1) {
		apply(realm, place);
	} else {
		while (voter->applied < voter->sent)
			apply(realm, place);
	}
	pump(realm, place);
}

/* Gives a voter that starts again the entries that are on its disk. */
static void replay(struct realm *realm, uint32_t place)
{
	struct voter_log *voter = &realm->log->voters[place];
	uint64_t had = voter->applied;

	voter->applied = voter->snapshot_at;
	voter->believes = false;
	voter->sent = had;
	while (voter->applied < had)
		apply(realm, place);
}

/* Returns the voters that every process was given: the voters of this log never change. */
static const struct electors *voters(const struct realm *realm, uint32_t place)
{
	return &realm->hosts[place].addresses;
}

static void start(struct realm *realm, uint32_t place)
{
	struct voter_log *voter = &realm->log->voters[place];
	struct warden_options options = {
	        .settings = realm->settings,
	        .wiring = realm_wiring(realm),
	        .snapshot = voter->snapshot_at == 0 ? NULL : voter->snapshot.bytes,
	        .snapshot_size = voter->snapshot.bytes_count};

	voter->warden = warden_create(&options, realm_read(realm, place, READER_VOTER));
	must(voter->warden != NULL);
	warden_electors(voter->warden, voters(realm, place));
	replay(realm, place);
	pump(realm, place);
}

static void stop(struct realm *realm, uint32_t place)
{
	struct voter_log *voter = &realm->log->voters[place];

	warden_destroy(voter->warden);
	voter->warden = NULL;
	voter->believes = false;
	voter->sent = voter->applied;
}

/* --- committing --- */

static void await_commit(struct realm *realm)
{
	struct atomic_log *log = realm->log;

	if (log->pending_count == 0 || log->commit_at != NODE_NEVER)
		return;
	log->commit_at = log->pending[0].due > realm->now ? log->pending[0].due : realm->now;
	push(realm, LOG_COMMIT, 0, log->commit_at);
}

static void commit_first(struct realm *realm)
{
	struct atomic_log *log = realm->log;

	log->entries = grow(log->entries, &log->entries_size, log->entries_count + 1,
	                    sizeof(*log->entries));
	log->entries[log->entries_count++] = log->pending[0];
	memmove(log->pending, log->pending + 1, --log->pending_count * sizeof(*log->pending));
	const struct stored *entry = &log->entries[log->entries_count - 1];
	witness_committed(realm, log->entries_count, entry->bytes, entry->size);
	for (uint32_t i = 0; i < realm->voters_count; i++)
		send_on(realm, realm->voters[i]);
}

static void on_commit(struct realm *realm)
{
	struct atomic_log *log = realm->log;

	log->commit_at = NODE_NEVER;
	if (log->leader == REALM_NOWHERE || !has_majority(realm, log->leader))
		return; /* the next check tries again */
	while (log->pending_count != 0 && log->pending[0].due <= realm->now && !realm->failed)
		commit_first(realm);
	await_commit(realm);
}

static void propose(struct realm *realm, uint32_t place, const uint8_t *bytes, size_t size)
{
	struct atomic_log *log = realm->log;
	struct stored entry = {.bytes = malloc(size), .size = size};
	uint64_t delay = chance_between(&log->chance, REALM_MS / 5, 4 * REALM_MS);

	memory_must(entry.bytes != NULL);
	if (log->delay_max != 0)
		delay += chance_below(&log->chance, log->delay_max);
	/* This voter no longer leads but does not know it: its proposal is lost. */
	if (log->leader != place) {
		free(entry.bytes);
		return;
	}
	witness_proposed(realm, place, warden_state(log->voters[place].warden), bytes, size);
	memcpy(entry.bytes, bytes, size);
	entry.due = realm->now + delay;
	if (log->pending_count != 0 && log->pending[log->pending_count - 1].due > entry.due)
		entry.due = log->pending[log->pending_count - 1].due;
	log->pending = grow(log->pending, &log->pending_size, log->pending_count + 1,
	                    sizeof(*log->pending));
	log->pending[log->pending_count++] = entry;
	await_commit(realm);
}

/* --- leaders --- */

/* Deposes the leader. Its first few proposals have reached a voter that may lead next, and
 * survive. */
static void depose(struct realm *realm)
{
	struct atomic_log *log = realm->log;
	size_t survive = chance_below(&log->chance, log->pending_count + 1);

	if (log->leader == REALM_NOWHERE)
		return;
	realm_note(realm, log->leader, "no longer leads; %zu of %zu proposals survive", survive,
	           log->pending_count);
	while (log->pending_count > survive)
		free(log->pending[--log->pending_count].bytes);
	log->leader = REALM_NOWHERE;
	log->unfit_since = 0;
}

/* Deposes the leader. It hears of that at a random time, which on_check draws. */
static void depose_leader(struct realm *realm, uint64_t until)
{
	(void)until;
	depose(realm);
}

static void headless(struct realm *realm, uint64_t until)
{
	realm->log->headless_until = until;
	depose(realm);
}

static void slow(struct realm *realm, uint64_t delay_max)
{
	realm->log->delay_max = delay_max;
}

static void elect(struct realm *realm)
{
	struct atomic_log *log = realm->log;
	uint32_t first = (uint32_t)chance_below(&log->chance, realm->voters_count);

	if (realm->now < log->headless_until)
		return;
	for (uint32_t i = 0; i < realm->voters_count; i++) {
		uint32_t voter = realm->voters[(first + i) % realm->voters_count];
		if (!has_majority(realm, voter))
			continue;
		log->leader = voter;
		reign_elected(realm->reign, realm->now);
		realm_note(realm, voter, "leads");
		push(realm, LOG_TELL, voter,
		     realm->now + chance_below(&log->chance, 20 * REALM_MS));
		return;
	}
}

/* Called some time after a change: tells a voter whether it leads. */
static void on_tell(struct realm *realm, uint32_t place)
{
	struct atomic_log *log = realm->log;
	struct voter_log *voter = &log->voters[place];
	bool leads = log->leader == place;

	if (!realm_voter_runs(realm, place) || voter->believes == leads)
		return;
	voter->believes = leads;
	if (leads)
		reign_told(realm->reign, place, realm->now);
	warden_leads(realm->log->voters[place].warden, leads,
	             realm_read(realm, place, READER_VOTER));
	pump(realm, place);
}

static void tell_old_leaders(struct realm *realm)
{
	struct atomic_log *log = realm->log;

	for (uint32_t i = 0; i < realm->voters_count; i++) {
		uint32_t place = realm->voters[i];
		bool hears = log->leader != REALM_NOWHERE && reaches(realm, log->leader, place);
		if (realm->log->voters[place].warden != NULL &&
		    log->voters[place].believes != (log->leader == place) && hears &&
		    chance_percent(&log->chance, 40))
			push(realm, LOG_TELL, place, realm->now);
		send_on(realm, place);
	}
}

static void on_check(struct realm *realm)
{
	struct atomic_log *log = realm->log;
	uint64_t lease = realm->plan->lease_ns;

	if (log->leader != REALM_NOWHERE && !has_majority(realm, log->leader)) {
		if (log->unfit_since == 0)
			log->unfit_since = realm->now;
		if (log->unfit_since + lease / 10 + chance_below(&log->chance, lease / 10) <=
		    realm->now)
			depose(realm);
	} else {
		log->unfit_since = 0;
	}
	if (log->leader == REALM_NOWHERE)
		elect(realm);
	tell_old_leaders(realm);
	await_commit(realm);
	push(realm, LOG_CHECK, 0, realm->now + lease / 40);
}

static void on_event(struct realm *realm, const struct event *event)
{
	switch ((enum log_event)event->from) {
	case LOG_CHECK:
		on_check(realm);
		break;
	case LOG_COMMIT:
		on_commit(realm);
		break;
	case LOG_APPLY:
		on_apply(realm, event->node);
		break;
	case LOG_TELL:
		on_tell(realm, event->node);
		break;
	}
}

const struct log_engine spiteful_log = {
        .create = create,
        .destroy = destroy,
        .begin = begin,
        .start = start,
        .stop = stop,
        .tick = tick,
        .petition = petition,
        .voters = voters,
        .on_event = on_event,
        .forbid = forbid,
        .slow = slow,
        .depose = depose_leader,
        .headless = headless,
        .committed = committed,
};
