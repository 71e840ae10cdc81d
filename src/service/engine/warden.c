#include "warden.h"

#include "candidates.h"
#include "complaints.h"
#include "grow.h"
#include "memory.h"
#include "outbuffer.h"
#include "rhythm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* After this time as a member, a name's earlier removals are forgiven. */
#define PARDON_NS (UINT64_C(3600) * 1000000000)

/* Notes when this voter, by its own clock, applied the last renewal of a member. */
struct renewal_note {
	uint64_t process, incarnation;
	uint64_t renewed; /* the index of the member's last renewal */
	uint64_t time;
	uint64_t since; /* when this voter first saw the member */
	char name[ENTRY_NAME_MAX + 1];
	bool seated;
};

struct warden_outcome {
	STAILQ_ENTRY(warden_outcome) entry;
	struct warden_effect effect;
	uint8_t bytes[];
};

struct warden {
	struct agreed_state state;
	struct wiring wiring;
	struct electors electors;
	uint64_t now;
	bool leads;
	uint64_t beat;        /* when the leader next looks at leases, candidates and complaints */
	uint64_t quiet_until; /* until this time no member is removed */
	/* Until this time a rescued cluster does nothing: members that its log does not know may
	 * still have leases of the old cluster. */
	uint64_t rescued_until;
	/* The epoch of the last CHANGE that was proposed, and when. */
	uint64_t changed_epoch, changed_at;
	uint64_t extended_limit, extended_at;
	uint64_t bumped_at; /* when the last BUMP was proposed; 0: this leader has proposed none */
	struct renewal_note *notes;
	uint32_t notes_count;
	size_t notes_size;
	struct petitioners petitioners;
	struct candidates candidates;
	struct complaints complaints;
	struct out out;
	STAILQ_HEAD(, warden_outcome) outcomes;
	struct warden_outcome *taken;
};

uint64_t warden_patience(uint64_t lease_ns)
{
	/* The rates of two clocks differ by rho = 1/1000 at most, so a lease may take
	 * (1+rho)/(1-rho) as long by our clock. A little is added for the time that reading the
	 * clocks takes. */
	return lease_ns * 1001 / 999 + lease_ns / 100 + UINT64_C(2000000);
}

static uint64_t interval_of(const struct warden *warden)
{
	return rhythm_interval(warden->state.settings.lease_ns);
}

static uint64_t beat_of(const struct warden *warden)
{
	return rhythm_beat(warden->state.settings.lease_ns);
}

/* --- effects --- */

static void put(struct warden *warden, enum warden_effect_kind kind, uint64_t process)
{
	size_t size = warden->out.bytes_count;
	struct warden_outcome *outcome = malloc(sizeof(*outcome) + size);

	memory_must(outcome != NULL);
	memcpy(outcome->bytes, warden->out.bytes, size);
	outcome->effect = (struct warden_effect){kind, process, outcome->bytes, size};
	STAILQ_INSERT_TAIL(&warden->outcomes, outcome, entry);
}

bool warden_effect(struct warden *warden, struct warden_effect *ret_effect)
{
	struct warden_outcome *outcome = STAILQ_FIRST(&warden->outcomes);

	free(warden->taken);
	warden->taken = outcome;
	if (outcome == NULL)
		return false;
	STAILQ_REMOVE_HEAD(&warden->outcomes, entry);
	*ret_effect = outcome->effect;
	return true;
}

/* Does the petitioner's last petition show that it does not know the latest state? */
static bool lacks_news(const struct warden *warden, const struct petitioner *petitioner)
{
	const struct agreed_state *state = &warden->state;
	const struct seat *seat = state_process(state, petitioner->process);

	return petitioner->epoch < state->epoch || petitioner->limit != state->limit ||
	       (seat != NULL && petitioner->incarnation != seat->incarnation) ||
	       petitioner->removed != state_forbids(state, entry_text_of(petitioner->name)) ||
	       (warden->leads && petitioner->prospect != warden->candidates.digest);
}

static void notify(struct warden *warden, const struct petitioner *petitioner)
{
	const struct candidates *candidates = &warden->candidates;
	uint32_t chosen = warden->leads ? candidates->prospects_count : 0, count = 0;
	struct prospect *prospects = calloc(chosen + 1UL, sizeof(*prospects));

	memory_must(prospects != NULL);
	for (uint32_t i = 0; i < chosen; i++) {
		const struct petitioner *other =
		        petitioners_find(&warden->petitioners, candidates->prospects[i]);
		/* Other processes of the same name may have displaced this prospect since it was
		 * chosen. */
		if (other != NULL)
			prospects[count++] =
			        (struct prospect){entry_text_of(other->name),
			                          entry_text_of(other->address), other->process};
	}
	bulletin_write_view(&warden->out, &warden->state, petitioner->name, warden->leads,
	                    warden->leads ? candidates->digest : 0, prospects, count);
	put(warden, WARDEN_NOTIFY, petitioner->process);
	free(prospects);
}

static void notify_all(struct warden *warden)
{
	for (uint32_t i = 0; i < warden->petitioners.count; i++)
		notify(warden, &warden->petitioners.list[i]);
}

static void acknowledge(struct warden *warden, uint64_t process, uint64_t incarnation,
                        uint64_t number)
{
	struct petitioner *petitioner = petitioners_find(&warden->petitioners, process);

	bulletin_write_ack(&warden->out, incarnation, number);
	put(warden, WARDEN_NOTIFY, process);
	if (petitioner != NULL && petitioner->told == 0) {
		petitioner->told = number;
		petitioner->told_since = warden->now;
	}
}

/* --- notes --- */

static struct renewal_note *find_note(const struct warden *warden, const struct seat *seat)
{
	for (uint32_t i = 0; i < warden->notes_count; i++) {
		struct renewal_note *note = &warden->notes[i];
		if (note->process == seat->process && note->incarnation == seat->incarnation)
			return note;
	}
	return NULL;
}

static struct renewal_note *get_note(struct warden *warden, const struct seat *seat)
{
	struct renewal_note *note = find_note(warden, seat);

	if (note != NULL)
		return note;
	warden->notes =
	        grow(warden->notes, &warden->notes_size, warden->notes_count + 1UL, sizeof(*note));
	note = &warden->notes[warden->notes_count++];
	memset(note, 0, sizeof(*note));
	note->process = seat->process;
	note->incarnation = seat->incarnation;
	note->since = warden->now;
	memcpy(note->name, seat->name, sizeof(note->name));
	return note;
}

/* If the seat of a note is gone, the member was removed or has left. If its name has strikes, the
 * back-off of the name begins now. */
static void drop_notes(struct warden *warden)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < warden->notes_count; i++) {
		const struct renewal_note *note = &warden->notes[i];
		if (note->seated)
			warden->notes[kept++] = *note;
		else
			candidates_absent(&warden->candidates, note->name, warden->now);
	}
	warden->notes_count = kept;
}

static void take_notes(struct warden *warden)
{
	for (uint32_t i = 0; i < warden->notes_count; i++)
		warden->notes[i].seated = false;
	for (uint32_t i = 0; i < warden->state.seats_count; i++) {
		const struct seat *seat = &warden->state.seats[i];
		struct renewal_note *note = get_note(warden, seat);
		note->seated = true;
		if (note->renewed != seat->renewed) {
			note->renewed = seat->renewed;
			note->time = warden->now;
		}
	}
	drop_notes(warden);
}

/* --- committed --- */

/* Acknowledges only accepted parts: a member whose lease was not renewed must not believe that it
 * was. */
static void acknowledge_accepted(struct warden *warden, struct log_entry *entry)
{
	struct entry_part part;

	while (entry_next(entry, &part)) {
		const struct seat *seat = state_seat(&warden->state, part.name);
		if (seat == NULL || seat->renewed != warden->state.index)
			continue;
		if ((part.kind == PART_RENEWAL && part.incarnation == seat->incarnation) ||
		    (part.kind == PART_JOIN && part.process == seat->process))
			acknowledge(warden, seat->process, seat->incarnation, part.number);
	}
}

static void see_candidates(struct warden *warden)
{
	for (uint32_t i = 0; i < warden->petitioners.count; i++) {
		struct petitioner *petitioner = &warden->petitioners.list[i];
		if (state_process(&warden->state, petitioner->process) != NULL) {
			petitioner->candidate_since = 0;
		} else if (petitioner->candidate_since == 0) {
			petitioner->candidate_since = warden->now;
			petitioner->lacking_since = petitioner->aside_until = 0;
			petitioner->asides = 0;
			petitioner->told = 0;
		}
	}
}

/* Tells the node of this name that an operator has removed or allowed it. A removed node should
 * take its clients' locks back now, not when its lease ends. */
static void notify_name(struct warden *warden, struct entry_text name)
{
	for (uint32_t i = 0; i < warden->petitioners.count; i++) {
		if (entry_text_is(name, warden->petitioners.list[i].name))
			notify(warden, &warden->petitioners.list[i]);
	}
}

void warden_committed(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now)
{
	uint64_t epoch = warden->state.epoch, limit = warden->state.limit;
	struct log_entry entry;

	warden_tick(warden, now);
	state_apply(&warden->state, warden->state.index + 1, bytes, size);
	take_notes(warden);
	if (warden->state.epoch != epoch || warden->state.limit != limit) {
		see_candidates(warden);
		if (warden->leads)
			candidates_choose(&warden->candidates, &warden->state, &warden->petitioners,
			                  &warden->wiring, now);
		notify_all(warden);
	}
	if (!entry_read(bytes, size, &entry))
		return;
	if (entry.kind == ENTRY_FORBID || entry.kind == ENTRY_ALLOW)
		notify_name(warden, entry.name);
	if (warden->leads)
		acknowledge_accepted(warden, &entry);
}

/* --- proposals --- */

static void propose(struct warden *warden)
{
	put(warden, WARDEN_PROPOSE, 0);
}

/* A growing list of parts. Their names point into petitioners, notes and the state. */
struct parts {
	struct entry_part *list;
	uint32_t count;
	size_t size;
};

static void add_part(struct parts *parts, struct entry_part part)
{
	parts->list = grow(parts->list, &parts->size, parts->count + 1UL, sizeof(part));
	parts->list[parts->count++] = part;
}

static void add_pardons(const struct warden *warden, struct parts *parts)
{
	for (uint32_t i = 0; i < warden->notes_count; i++) {
		const struct renewal_note *note = &warden->notes[i];
		const struct name_record *record =
		        state_name(&warden->state, entry_text_of(note->name));
		if (record != NULL && record->strikes != 0 &&
		    note->since + PARDON_NS <= warden->now)
			add_part(parts, (struct entry_part){.kind = PART_PARDON,
			                                    .name = entry_text_of(note->name)});
	}
}

static void propose_tick(struct warden *warden)
{
	struct parts parts = {0};

	for (uint32_t i = 0; i < warden->state.seats_count; i++) {
		const struct seat *seat = &warden->state.seats[i];
		struct petitioner *petitioner =
		        petitioners_find(&warden->petitioners, seat->process);
		if (petitioner == NULL || petitioner->incarnation != seat->incarnation ||
		    petitioner->withheld || petitioner->number <= petitioner->proposed)
			continue;
		petitioner->proposed = petitioner->number;
		add_part(&parts, (struct entry_part){.kind = PART_RENEWAL,
		                                     .name = entry_text_of(seat->name),
		                                     .incarnation = seat->incarnation,
		                                     .number = petitioner->number});
	}
	add_pardons(warden, &parts);
	if (parts.count != 0) {
		entry_write_tick(&warden->out, parts.list, parts.count);
		propose(warden);
	}
	free(parts.list);
}

static void add_removals(const struct warden *warden, struct parts *parts)
{
	uint64_t patience = warden_patience(warden->state.settings.lease_ns);

	if (warden->now < warden->quiet_until)
		return;
	for (uint32_t i = 0; i < warden->notes_count; i++) {
		const struct renewal_note *note = &warden->notes[i];
		if (note->time + patience <= warden->now)
			add_part(parts, (struct entry_part){.kind = PART_REMOVAL,
			                                    .name = entry_text_of(note->name),
			                                    .incarnation = note->incarnation,
			                                    .renewed = note->renewed});
	}
}

/* Has every member been heard since that time? Members that are leaving do not count: if all leave
 * at once, none must wait for the others. */
static bool all_heard_since(const struct warden *warden, uint64_t time)
{
	for (uint32_t i = 0; i < warden->state.seats_count; i++) {
		const struct petitioner *petitioner =
		        petitioners_find(&warden->petitioners, warden->state.seats[i].process);
		if (petitioner == NULL || (!petitioner->leaving && petitioner->heard < time))
			return false;
	}
	return true;
}

/*
 * In a new epoch nothing is granted before all members have reported, so a member that has just
 * died would delay everybody until its lease ends. Therefore a leave waits until every other member
 * has shown that it is alive, which takes one interval. Meanwhile the leaving member hands its
 * tokens on. If a member must be removed anyway, the leave goes into the same entry.
 */
static void add_leaves(const struct warden *warden, struct parts *parts)
{
	bool urgent = parts->count != 0;

	for (uint32_t i = 0; i < warden->state.seats_count; i++) {
		const struct seat *seat = &warden->state.seats[i];
		const struct petitioner *petitioner =
		        petitioners_find(&warden->petitioners, seat->process);
		if (petitioner != NULL && petitioner->leaving &&
		    petitioner->incarnation == seat->incarnation &&
		    (urgent || all_heard_since(warden, petitioner->leaving_since)))
			add_part(parts, (struct entry_part){.kind = PART_LEAVE,
			                                    .name = entry_text_of(seat->name),
			                                    .incarnation = seat->incarnation});
	}
}

static void add_joins(const struct warden *warden, struct parts *parts)
{
	for (uint32_t i = 0; i < warden->candidates.prospects_count; i++) {
		const struct petitioner *petitioner =
		        petitioners_find(&warden->petitioners, warden->candidates.prospects[i]);
		add_part(parts, (struct entry_part){.kind = PART_JOIN,
		                                    .name = entry_text_of(petitioner->name),
		                                    .address = entry_text_of(petitioner->address),
		                                    .process = petitioner->process,
		                                    .number = petitioner->number});
	}
}

/* Does every member serve in the present epoch? Changes that are not urgent wait until they do. */
static bool is_settled(const struct warden *warden)
{
	for (uint32_t i = 0; i < warden->state.seats_count; i++) {
		const struct petitioner *petitioner =
		        petitioners_find(&warden->petitioners, warden->state.seats[i].process);
		if (petitioner == NULL || petitioner->epoch != warden->state.epoch ||
		    !petitioner->active)
			return false;
	}
	return true;
}

/* Must the first view still wait for a voter? Every running process is heard within one interval,
 * and a candidate that misses the first view has to wait two intervals for the next. */
static bool is_gathering(const struct warden *warden)
{
	uint32_t heard = 0;

	if (warden->state.seats_count != 0 ||
	    warden->now + interval_of(warden) >= warden->quiet_until)
		return false;
	for (uint32_t i = 0; i < warden->candidates.prospects_count; i++) {
		const struct petitioner *petitioner =
		        petitioners_find(&warden->petitioners, warden->candidates.prospects[i]);
		heard += electors_find(&warden->electors, petitioner->name) != NULL;
	}
	return heard < warden->electors.count;
}

static void propose_change(struct warden *warden)
{
	struct parts parts = {0};

	if (warden->changed_epoch == warden->state.epoch && warden->changed_at != 0 &&
	    warden->changed_at + interval_of(warden) > warden->now)
		return;
	add_removals(warden, &parts);
	bool settled = is_settled(warden);
	if (parts.count != 0 || settled)
		add_leaves(warden, &parts);
	/* A removal or a leave can change which members are neighbours, so prospects join in a
	 * later entry. */
	if (settled && parts.count == 0 && !is_gathering(warden) &&
	    candidates_ready(&warden->candidates, &warden->state, &warden->petitioners,
	                     warden->now))
		add_joins(warden, &parts);
	if (parts.count != 0) {
		warden->changed_epoch = warden->state.epoch;
		warden->changed_at = warden->now;
		entry_write_change(&warden->out, warden->state.epoch, parts.list, parts.count);
		propose(warden);
	}
	free(parts.list);
}

/* --- the leader's beat --- */

static bool is_voter(const void *context, const char *name)
{
	const struct warden *warden = context;

	return electors_find(&warden->electors, name) != NULL;
}

void warden_electors(struct warden *warden, const struct electors *electors)
{
	if (electors->index > warden->electors.index)
		electors_copy(&warden->electors, electors);
}

/* Is this the process that used its data directory last? Earlier ones do not count. */
static bool is_last_of_server(const struct warden *warden, const struct petitioner *petitioner)
{
	for (uint32_t i = 0; i < warden->petitioners.count; i++) {
		const struct petitioner *other = &warden->petitioners.list[i];
		if (other->server == petitioner->server && other->since > petitioner->since)
			return false;
	}
	return true;
}

uint32_t warden_standing(const struct warden *warden, struct standing **ret_list)
{
	const struct agreed_state *state = &warden->state;
	struct standing *list = calloc(warden->petitioners.count + 1UL, sizeof(*list));
	uint32_t count = 0;

	memory_must(list != NULL);
	for (uint32_t i = 0; i < warden->petitioners.count; i++) {
		const struct petitioner *petitioner = &warden->petitioners.list[i];
		const struct name_record *record =
		        state_name(state, entry_text_of(petitioner->name));
		bool serves =
		        petitioner->witness || state_process(state, petitioner->process) != NULL;
		if (petitioner->server == 0 ||
		    petitioner->heard + state->settings.lease_ns <= warden->now ||
		    !is_last_of_server(warden, petitioner))
			continue;
		list[count++] = (struct standing){
		        .server = petitioner->server,
		        .name = petitioner->name,
		        .address = petitioner->address,
		        .witness = petitioner->witness,
		        .eligible = serves && !petitioner->leaving &&
		                    (record == NULL ||
		                     (!record->forbidden && record->vote != VOTE_UNWANTED)),
		        .wanted = record != NULL && record->vote == VOTE_WANTED,
		        .since = petitioner->since,
		};
	}
	*ret_list = list;
	return count;
}

/* The cluster begins to use a version only when every member and every voter has said that it
 * speaks it. */
static void propose_version(struct warden *warden)
{
	uint64_t version =
	        petitioners_version(&warden->petitioners, &warden->state, &warden->electors);

	if (version <= warden->state.version)
		return;
	entry_write_version(&warden->out, version);
	propose(warden);
}

static bool is_waiting(const struct warden *warden)
{
	return warden->state.rescued && warden->now < warden->rescued_until;
}

static void look(struct warden *warden)
{
	petitioners_forget(&warden->petitioners,
	                   warden->now > 4 * warden->state.settings.lease_ns
	                           ? warden->now - 4 * warden->state.settings.lease_ns
	                           : 0);
	complaints_judge(&warden->complaints, &warden->state, &warden->petitioners, &warden->wiring,
	                 is_voter, warden, warden->now);
	if (is_waiting(warden))
		return;
	propose_tick(warden);
	propose_version(warden);
	if (candidates_choose(&warden->candidates, &warden->state, &warden->petitioners,
	                      &warden->wiring, warden->now))
		notify_all(warden);
	propose_change(warden);
}

uint64_t warden_deadline(const struct warden *warden)
{
	return warden->leads ? warden->beat : WARDEN_NEVER;
}

/* A leader whose process was suspended may have unread renewals. It must read them before it
 * removes anybody. */
static void advance(struct warden *warden, uint64_t now)
{
	if (now <= warden->now)
		return;
	if (warden->leads && now > warden->beat + interval_of(warden))
		warden->quiet_until = now + 2 * interval_of(warden);
	warden->now = now;
}

/* Does not wait for the next regular beat if a member must be removed sooner: others wait for its
 * locks. */
static uint64_t next_beat(const struct warden *warden)
{
	uint64_t patience = warden_patience(warden->state.settings.lease_ns);
	uint64_t next = warden->now + beat_of(warden);

	for (uint32_t i = 0; i < warden->notes_count; i++) {
		uint64_t due = warden->notes[i].time + patience;
		if (due < warden->quiet_until)
			due = warden->quiet_until;
		if (due > warden->now && due < next)
			next = due;
	}
	return next;
}

void warden_tick(struct warden *warden, uint64_t now)
{
	advance(warden, now);
	if (!warden->leads || warden->now < warden->beat)
		return;
	look(warden);
	warden->beat = next_beat(warden);
}

void warden_leads(struct warden *warden, bool leads, uint64_t now)
{
	advance(warden, now);
	if (warden->leads == leads)
		return;
	warden->leads = leads;
	if (!leads)
		return;
	warden->quiet_until = now + 2 * interval_of(warden);
	warden->changed_at = warden->extended_at = warden->bumped_at = 0;
	warden->complaints.pairs_count = 0;
	warden->complaints.stalled_since = 0;
	for (uint32_t i = 0; i < warden->petitioners.count; i++) {
		warden->petitioners.list[i].proposed = 0;
		warden->petitioners.list[i].told = 0;
	}
	/* Act at once on petitions that arrived while another voter led. */
	warden->beat = now;
	warden_tick(warden, now);
}

/* --- petitions --- */

static void take_renew(struct warden *warden, const struct petition *petition)
{
	struct petitioner *petitioner =
	        petitioners_take(&warden->petitioners, petition, warden->now);

	if (petitioner == NULL)
		return;
	if (state_process(&warden->state, petitioner->process) != NULL)
		petitioner->candidate_since = 0;
	else if (petitioner->candidate_since == 0)
		petitioner->candidate_since = warden->now;
	/* Do not let a leaving member wait for the leader's next beat, nor a candidate that would
	 * be the first member. */
	if (warden->leads && (petitioner->leaving || warden->state.seats_count == 0))
		warden->beat = warden->now;
	/* A leader answers every petition of a process that is not a member. Otherwise a candidate
	 * that has to wait before it may join, or a witness, would take silence for a cluster
	 * without a leader. */
	if (lacks_news(warden, petitioner) || (warden->leads && petitioner->candidate_since != 0))
		notify(warden, petitioner);
	if (petitioner->electors < warden->electors.index) {
		bulletin_write_electors(&warden->out, &warden->electors);
		put(warden, WARDEN_NOTIFY, petitioner->process);
	}
}

static void take_extend(struct warden *warden, const struct petition *petition)
{
	if (!warden->leads || is_waiting(warden) || petition->epoch != warden->state.epoch ||
	    petition->limit != warden->state.limit ||
	    (warden->extended_limit == petition->limit && warden->extended_at != 0 &&
	     warden->extended_at + beat_of(warden) > warden->now))
		return;
	warden->extended_limit = petition->limit;
	warden->extended_at = warden->now;
	entry_write_extend(&warden->out, petition->epoch, petition->limit);
	propose(warden);
}

/* A rate limit for BUMP: if the first frames of an epoch do not fit into a link, every epoch ends
 * by another BUMP. The limit leaves time for renewals, complaints and other writes to the voters'
 * disks. A member that is refused asks again with its next renewal. */
static void take_bump(struct warden *warden, const struct petition *petition)
{
	if (!warden->leads || is_waiting(warden) || petition->epoch != warden->state.epoch ||
	    (warden->bumped_at != 0 && warden->bumped_at + beat_of(warden) > warden->now))
		return;
	warden->bumped_at = warden->now;
	entry_write_bump(&warden->out, petition->epoch);
	propose(warden);
}

bool warden_petition(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now)
{
	struct petition petition;

	advance(warden, now);
	if (!petition_read(bytes, size, &petition))
		return false;
	if (petition.kind == PETITION_RENEW)
		take_renew(warden, &petition);
	else if (petition.kind == PETITION_EXTEND)
		take_extend(warden, &petition);
	else
		take_bump(warden, &petition);
	return true;
}

/* --- requests --- */

const char *refusal_text(enum refusal refusal)
{
	switch (refusal) {
	case REFUSAL_NONE:
		break;
	case REFUSAL_NAME:
		return "no member, voter or candidate has this name";
	case REFUSAL_ROOM:
		return "there is no room for more removed names: 'baton member invite NAME' makes "
		       "room, with the name of a removed node that will not come back";
	}
	return "the voters have not answered";
}

static bool is_known(const struct warden *warden, struct entry_text name)
{
	for (uint32_t i = 0; i < warden->electors.count; i++) {
		if (entry_text_is(name, warden->electors.list[i].name))
			return true;
	}
	return state_seat(&warden->state, name) != NULL ||
	       state_name(&warden->state, name) != NULL ||
	       petitioners_know(&warden->petitioners, name);
}

/* Proposes an order. A name that nobody has may be forbidden too: its node may have left, and must
 * not come back. */
static enum refusal propose_order(struct warden *warden, const struct log_entry *entry)
{
	struct log_entry order = *entry;

	order.known = is_known(warden, order.name);
	if (order.kind == ENTRY_VOTE && !order.known)
		return REFUSAL_NAME;
	if (order.kind != ENTRY_ALLOW && !state_has_room(&warden->state, &order))
		return REFUSAL_ROOM;
	entry_write_order(&warden->out, &order);
	propose(warden);
	return REFUSAL_NONE;
}

enum refusal warden_request(struct warden *warden, const struct log_entry *entry, uint64_t now)
{
	advance(warden, now);
	if (!warden->leads || !state_wants(&warden->state, entry))
		return REFUSAL_NONE;
	if (entry_is_order(entry))
		return propose_order(warden, entry);
	if (entry->kind == ENTRY_INVITE)
		entry_write_invite(&warden->out, &entry->secret, entry->time, entry->expiry);
	else
		entry_write_admit(&warden->out, &entry->secret, &entry->ticket, entry->time,
		                  entry->name);
	propose(warden);
	return REFUSAL_NONE;
}

/* --- creating and freeing --- */

/* A snapshot does not tell when a lease was renewed or a member removed. So both count from now. */
bool warden_restore(struct warden *warden, const uint8_t *bytes, size_t size, uint64_t now)
{
	advance(warden, now);
	if (!state_read(&warden->state, bytes, size))
		return false;
	take_notes(warden);
	warden->rescued_until = warden->now + warden_patience(warden->state.settings.lease_ns);
	for (uint32_t i = 0; i < warden->state.names_count; i++)
		candidates_absent(&warden->candidates, warden->state.names[i].name, warden->now);
	see_candidates(warden);
	return true;
}

struct warden *warden_create(const struct warden_options *options, uint64_t now)
{
	struct warden *warden = calloc(1, sizeof(*warden));

	memory_must(warden != NULL);
	warden->wiring = options->wiring;
	warden->now = now;
	STAILQ_INIT(&warden->outcomes);
	out_init(&warden->out);
	state_init(&warden->state, &options->settings);
	if (options->snapshot != NULL &&
	    !warden_restore(warden, options->snapshot, options->snapshot_size, now)) {
		warden_destroy(warden);
		return NULL;
	}
	return warden;
}

void warden_destroy(struct warden *warden)
{
	if (warden == NULL)
		return;
	while (!STAILQ_EMPTY(&warden->outcomes)) {
		struct warden_outcome *outcome = STAILQ_FIRST(&warden->outcomes);
		STAILQ_REMOVE_HEAD(&warden->outcomes, entry);
		free(outcome);
	}
	free(warden->taken);
	free(warden->notes);
	petitioners_free(&warden->petitioners);
	candidates_free(&warden->candidates);
	complaints_free(&warden->complaints);
	electors_free(&warden->electors);
	out_free(&warden->out);
	state_free(&warden->state);
	free(warden);
}

const struct agreed_state *warden_state(const struct warden *warden)
{
	return &warden->state;
}
