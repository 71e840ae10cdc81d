#include "reign.h"

#include "entries.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECOND UINT64_C(1000000)
enum { ROOM = 160, NOWHERE = REIGN_HOSTS_MAX, VIEW_MAX = 2 * REIGN_HOSTS_MAX };

/* Notes when one process last saw that its link to another was up. */
struct standing_link {
	uint64_t from, to; /* the two processes */
	uint64_t time;
};

struct attendance {
	char name[16];
	bool here;     /* the name is in the view */
	uint64_t gone; /* when the name last left the view */
};

struct reign {
	struct standing_link links[REIGN_HOSTS_MAX][REIGN_HOSTS_MAX];
	/* When the member of each host last had a lease, or joined. */
	uint64_t leased[REIGN_HOSTS_MAX];
	uint64_t incarnations[REIGN_HOSTS_MAX]; /* the incarnation of the member of each host */
	/* When a renewal of each host's member was last proposed. */
	uint64_t renewed[REIGN_HOSTS_MAX];
	/* When renewals of each host's member were proposed again after a silence. */
	uint64_t heard[REIGN_HOSTS_MAX];
	/* When the voter of each host was last told that it leads. */
	uint64_t told[REIGN_HOSTS_MAX];
	uint64_t elected;   /* when a leader was last elected */
	uint64_t forbidden; /* when a member that the voters forbid was last seen */
	struct attendance names[REIGN_HOSTS_MAX];
	uint32_t names_count;
	uint64_t epoch; /* the epoch of the view that `names` are from */
};

struct reign *reign_create(void)
{
	struct reign *reign = calloc(1, sizeof(*reign));

	memory_must(reign != NULL);
	return reign;
}

void reign_destroy(struct reign *reign)
{
	free(reign);
}

static unsigned long long ms_of(uint64_t time)
{
	return time / MILLISECOND;
}

/* --- events --- */

void reign_elected(struct reign *reign, uint64_t now)
{
	reign->elected = now;
}

void reign_told(struct reign *reign, uint32_t place, uint64_t now)
{
	reign->told[place] = now;
}

void reign_linked(struct reign *reign, uint32_t place, uint32_t other, uint64_t from, uint64_t to,
                  uint64_t now)
{
	reign->links[place][other] = (struct standing_link){from, to, now};
}

void reign_leased(struct reign *reign, uint32_t place, uint64_t now)
{
	reign->leased[place] = now;
}

static struct attendance *find_name(struct reign *reign, struct entry_text name)
{
	for (uint32_t i = 0; i < reign->names_count; i++) {
		if (entry_text_is(name, reign->names[i].name))
			return &reign->names[i];
	}
	return NULL;
}

static void add_name(struct reign *reign, const char *name)
{
	must(reign->names_count < REIGN_HOSTS_MAX);
	struct attendance *attendance = &reign->names[reign->names_count++];
	*attendance = (struct attendance){.here = true};
	memcpy(attendance->name, name, strnlen(name, sizeof(attendance->name) - 1));
}

/* Is the name of a member forbidden? Such a member stays in the view until its lease is over; if
 * its name is invited again before that, it may stay. */
static bool forbids_a_member(const struct agreed_state *state)
{
	for (uint32_t i = 0; i < state->names_count; i++) {
		if (state->names[i].forbidden &&
		    state_seat(state, entry_text_of(state->names[i].name)) != NULL)
			return true;
	}
	return false;
}

void reign_committed(struct reign *reign, const struct agreed_state *state, uint64_t now)
{
	if (forbids_a_member(state))
		reign->forbidden = now;
	if (reign->epoch == state->epoch)
		return;
	reign->epoch = state->epoch;
	for (uint32_t i = 0; i < reign->names_count; i++) {
		struct attendance *attendance = &reign->names[i];
		bool here = state_seat(state, entry_text_of(attendance->name)) != NULL;
		if (attendance->here && !here)
			attendance->gone = now;
		attendance->here = here;
	}
	for (uint32_t i = 0; i < state->seats_count; i++) {
		if (find_name(reign, entry_text_of(state->seats[i].name)) == NULL)
			add_name(reign, state->seats[i].name);
	}
}

/* --- candidates --- */

/* The next view, sorted by name. */
struct prospective_view {
	uint64_t processes[VIEW_MAX];
	struct entry_text names[VIEW_MAX];
	uint32_t count;
};

static void add_member(struct prospective_view *view, struct entry_text name, uint64_t process)
{
	uint32_t place = view->count++;

	must(place < VIEW_MAX);
	for (; place > 0; place--) {
		const struct entry_text *before = &view->names[place - 1];
		size_t size = before->size < name.size ? before->size : name.size;
		int order = memcmp(before->bytes, name.bytes, size);
		if (order < 0 || (order == 0 && before->size < name.size))
			break;
		view->names[place] = *before;
		view->processes[place] = view->processes[place - 1];
	}
	view->names[place] = name;
	view->processes[place] = process;
}

static uint32_t place_of(const struct reign_proposal *proposal, uint64_t process)
{
	for (uint32_t i = 0; i < proposal->hosts_count; i++) {
		if (proposal->hosts[i].process == process)
			return i;
	}
	return NOWHERE;
}

/* Judges a link that the next view needs. The link must have been up within the last lease; it may
 * have broken since. If one of the two processes has died in between, nothing can be said about
 * it. */
static const char *judge_link(const struct reign *reign, const struct reign_proposal *proposal,
                              uint64_t from, uint64_t to, char *room)
{
	uint32_t a = place_of(proposal, from), b = place_of(proposal, to);

	if (a == NOWHERE || b == NOWHERE)
		return NULL;
	const struct standing_link *link = &reign->links[a][b];
	if (link->from == from && link->to == to &&
	    link->time + proposal->state->settings.lease_ns >= proposal->now)
		return NULL;
	snprintf(room, ROOM, "a view is proposed for which %s needs a link to %s, and has none",
	         proposal->hosts[a].name, proposal->hosts[b].name);
	return room;
}

static const char *judge_links(const struct reign *reign, const struct reign_proposal *proposal,
                               const struct prospective_view *view, char *room)
{
	bool linked[VIEW_MAX];
	const char *wrong = NULL;

	for (uint32_t i = 0; i < view->count; i++) {
		memset(linked, 0, sizeof(linked));
		wiring_of(&proposal->wiring, view->names, view->count, i, linked);
		for (uint32_t k = 0; k < view->count && wrong == NULL; k++) {
			if (linked[k])
				wrong = judge_link(reign, proposal, view->processes[i],
				                   view->processes[k], room);
		}
	}
	return wrong;
}

/* Returns how much time has passed by the leader's clock, plus a millisecond, because timers may be
 * late. */
static uint64_t passed_since(const struct reign_proposal *proposal, uint64_t since)
{
	int64_t passed = (int64_t)(proposal->now - since);

	return (uint64_t)(passed + passed / 1000000 * proposal->drift_ppm) + MILLISECOND;
}

static const char *judge_back_off(struct reign *reign, const struct reign_proposal *proposal,
                                  struct entry_text name, char *room)
{
	const struct agreed_state *state = proposal->state;
	const struct name_record *record = state_name(state, name);
	const struct attendance *attendance = find_name(reign, name);

	if (record == NULL || record->strikes == 0 || attendance == NULL || attendance->here ||
	    state->seats_count == 0)
		return NULL;
	uint64_t least = state->settings.lease_ns << (record->strikes - 1);
	if (passed_since(proposal, attendance->gone) >= least)
		return NULL;
	snprintf(room, ROOM, "%s is to join %llu ms after it was taken out, before its %llu ms",
	         attendance->name, ms_of(proposal->now - attendance->gone), ms_of(least));
	return room;
}

/* Judges a JOIN of a process that was told to leave and so sends no more petitions. Its earlier
 * petitions may still be granted for a while, because a leader that was stopped reads them only
 * when it goes on. */
static const char *judge_departure(const struct reign_proposal *proposal, uint64_t process,
                                   char *room)
{
	uint32_t place = place_of(proposal, process);

	if (place == NOWHERE || proposal->hosts[place].departs == 0)
		return NULL;
	uint64_t since = proposal->hosts[place].departs;
	if (since < proposal->resumed)
		since = proposal->resumed;
	if (since + proposal->state->settings.lease_ns >= proposal->now)
		return NULL;
	snprintf(room, ROOM, "%s is to join %llu ms after it was told to leave",
	         proposal->hosts[place].name,
	         ms_of(proposal->now - proposal->hosts[place].departs));
	return room;
}

/* --- members --- */

/* Judges a removal. A new leader must not remove anybody at first. A leader that was stopped must
 * wait too, but only if it was stopped long enough to notice; this is not judged here. */
static const char *judge_removal(const struct reign *reign, const struct reign_proposal *proposal,
                                 const struct seat *seat, char *room)
{
	uint32_t place = place_of(proposal, seat->process);
	uint64_t since = reign->told[proposal->place];

	if (place == NOWHERE || proposal->hosts[place].paused || !proposal->hosts[place].reached ||
	    proposal->hosts[place].resumed > since ||
	    passed_since(proposal, since) >= 2 * (proposal->state->settings.lease_ns / 6))
		return NULL;
	snprintf(room, ROOM, "%s is to be removed %llu ms after %s began to lead",
	         proposal->hosts[place].name, ms_of(proposal->now - since),
	         proposal->hosts[proposal->place].name);
	return room;
}

/* Returns since when the leader could receive messages. */
static uint64_t hears_since(const struct reign *reign, const struct reign_proposal *proposal)
{
	uint64_t told = reign->told[proposal->place];

	return proposal->resumed > told ? proposal->resumed : told;
}

/*
 * Judges a renewal. If a member has confirmed none of the leader's acknowledgements for half a
 * lease, its lease must not be renewed any more. Time in which the member or the leader was
 * stopped does not count, nor time in which the leader did not hear the member. The time begins
 * again with every election, because an old leader may lead again and not know that it was
 * replaced in between.
 */
static const char *judge_renewal(struct reign *reign, const struct reign_proposal *proposal,
                                 const struct seat *seat, char *room)
{
	uint32_t place = place_of(proposal, seat->process);

	if (place == NOWHERE || proposal->hosts[place].paused)
		return NULL;
	if (reign->incarnations[place] != seat->incarnation)
		reign->leased[place] = proposal->now;
	reign->incarnations[place] = seat->incarnation;
	if (reign->renewed[place] + proposal->state->settings.lease_ns / 2 < proposal->now)
		reign->heard[place] = proposal->now;
	reign->renewed[place] = proposal->now;
	uint64_t times[] = {hears_since(reign, proposal), reign->elected, reign->forbidden,
	                    reign->heard[place], proposal->hosts[place].resumed};
	uint64_t since = reign->leased[place];
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		since = times[i] > since ? times[i] : since;
	/* A member that receives acknowledgements again may be renewed again, if it is still in the
	 * view. */
	if (proposal->hosts[place].reached ||
	    since + 3 * proposal->state->settings.lease_ns / 2 >= proposal->now)
		return NULL;
	snprintf(room, ROOM, "%s is renewed, and has had no lease for %llu ms",
	         proposal->hosts[place].name, ms_of(proposal->now - since));
	return room;
}

/* --- the judgement --- */

static const char *judge_change(struct reign *reign, const struct reign_proposal *proposal,
                                struct log_entry *entry, char *room)
{
	const struct agreed_state *state = proposal->state;
	struct prospective_view view = {0};
	struct entry_part part;
	const char *wrong = NULL;
	bool joins = false;

	for (uint32_t i = 0; i < state->seats_count; i++)
		add_member(&view, entry_text_of(state->seats[i].name), state->seats[i].process);
	while (wrong == NULL && entry_next(entry, &part)) {
		const struct seat *seat = state_seat(state, part.name);
		if (part.kind == PART_REMOVAL && seat != NULL) {
			wrong = judge_removal(reign, proposal, seat, room);
		} else if (part.kind == PART_JOIN) {
			wrong = judge_back_off(reign, proposal, part.name, room);
			if (wrong == NULL)
				wrong = judge_departure(proposal, part.process, room);
			if (seat == NULL)
				add_member(&view, part.name, part.process);
			joins = true;
		}
	}
	if (wrong == NULL && joins)
		wrong = judge_links(reign, proposal, &view, room);
	return wrong;
}

static const char *judge_tick(struct reign *reign, const struct reign_proposal *proposal,
                              struct log_entry *entry, char *room)
{
	struct entry_part part;
	const char *wrong = NULL;

	while (wrong == NULL && entry_next(entry, &part)) {
		const struct seat *seat = state_seat(proposal->state, part.name);
		if (part.kind == PART_RENEWAL && seat != NULL)
			wrong = judge_renewal(reign, proposal, seat, room);
	}
	return wrong;
}

const char *reign_judge(struct reign *reign, const struct reign_proposal *proposal, char room[ROOM])
{
	struct log_entry entry;

	if (!entry_read(proposal->bytes, proposal->size, &entry))
		return "a malformed entry is proposed";
	if (entry.kind == ENTRY_CHANGE)
		return judge_change(reign, proposal, &entry, room);
	return entry.kind == ENTRY_TICK ? judge_tick(reign, proposal, &entry, room) : NULL;
}
