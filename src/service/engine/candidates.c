#include "candidates.h"

#include "grow.h"
#include "memory.h"
#include "rhythm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void candidates_free(struct candidates *candidates)
{
	free(candidates->prospects);
	free(candidates->absences);
	*candidates = (struct candidates){0};
}

/* --- back-off --- */

static struct absence *find_absence(const struct candidates *candidates, const char *name)
{
	for (uint32_t i = 0; i < candidates->absences_count; i++) {
		if (strcmp(candidates->absences[i].name, name) == 0)
			return &candidates->absences[i];
	}
	return NULL;
}

/* Returns room for another absence. If all room is used, the oldest absence is forgotten, because
 * its name has waited longest. */
static struct absence *make_absence(struct candidates *candidates)
{
	struct absence *oldest = candidates->absences;

	if (candidates->absences_count < STATE_NAMES_MAX) {
		candidates->absences = grow(candidates->absences, &candidates->absences_size,
		                            candidates->absences_count + 1UL, sizeof(*oldest));
		return &candidates->absences[candidates->absences_count++];
	}
	for (uint32_t i = 1; i < candidates->absences_count; i++) {
		if (candidates->absences[i].since < oldest->since)
			oldest = &candidates->absences[i];
	}
	return oldest;
}

void candidates_absent(struct candidates *candidates, const char *name, uint64_t now)
{
	struct absence *absence = find_absence(candidates, name);

	if (absence == NULL) {
		absence = make_absence(candidates);
		snprintf(absence->name, sizeof(absence->name), "%s", name);
	}
	absence->since = now;
}

/* A name that was removed because its lease ran out must wait before it may join again: 1 lease
 * after the first removal, then 2, 4 and so on up to 64. The reason is that each join and each
 * removal starts a new epoch, which stops every member for a moment. If the view is empty there is
 * no member to stop, and nobody waits. */
static bool has_waited(const struct candidates *candidates, const struct agreed_state *state,
                       const char *name, uint64_t now)
{
	const struct name_record *record = state_name(state, entry_text_of(name));
	const struct absence *absence = find_absence(candidates, name);

	if (record == NULL || record->strikes == 0 || absence == NULL || state->seats_count == 0)
		return true;
	return now >= absence->since + (state->settings.lease_ns << (record->strikes - 1));
}

/* --- prospects --- */

static bool was_heard(const struct petitioner *petitioner, uint64_t lease, uint64_t now)
{
	return petitioner->heard + 2 * rhythm_interval(lease) > now;
}

/* Returns how long a candidate must have been heard before it may join. A candidate that comes and
 * goes must not disturb the members. If the view is empty, there are no members to disturb. */
static uint64_t patience_of(const struct agreed_state *state, uint64_t usual)
{
	return state->seats_count == 0 ? 0 : usual;
}

static bool may_be_prospect(const struct candidates *candidates, const struct agreed_state *state,
                            const struct petitioner *petitioner, uint64_t now)
{
	uint64_t lease = state->settings.lease_ns;

	return petitioner->candidate_since != 0 && petitioner->incarnation == 0 &&
	       !petitioner->leaving && !petitioner->witness &&
	       petitioner->version_least <= state->version &&
	       state->version <= petitioner->version && petitioner->lease_ns == lease &&
	       was_heard(petitioner, lease, now) &&
	       petitioner->candidate_since + patience_of(state, rhythm_interval(lease)) <= now &&
	       petitioner->aside_until <= now &&
	       state_seat(state, entry_text_of(petitioner->name)) == NULL &&
	       !state_forbids(state, entry_text_of(petitioner->name)) &&
	       has_waited(candidates, state, petitioner->name, now);
}

static bool is_prospect(const struct candidates *candidates, const struct petitioner *petitioner)
{
	for (uint32_t i = 0; i < candidates->prospects_count; i++) {
		if (candidates->prospects[i] == petitioner->process)
			return true;
	}
	return false;
}

/* Should `petitioner` be set aside before `other`? Yes if it lacks more links or, with equally
 * many, if it came later. */
static bool is_worse(const struct petitioner *petitioner, const struct petitioner *other)
{
	if (petitioner->lacks_count != other->lacks_count)
		return petitioner->lacks_count > other->lacks_count;
	if (petitioner->candidate_since != other->candidate_since)
		return petitioner->candidate_since > other->candidate_since;
	return strcmp(petitioner->name, other->name) > 0;
}

/*
 * A prospect that has lacked a link for half a lease would keep the others from joining. So it is
 * set aside: the first time for one lease, later for 2, 4 and 8 leases. Only one prospect is set
 * aside at a time. If two lack the link to each other, the second can join while the first is
 * aside; if both were set aside together, neither would ever join.
 */
static void set_aside(const struct candidates *candidates, struct petitioners *petitioners,
                      uint64_t lease, uint64_t now)
{
	enum { DOUBLINGS_MAX = 3 };
	struct petitioner *worst = NULL;

	for (uint32_t i = 0; i < petitioners->count; i++) {
		struct petitioner *petitioner = &petitioners->list[i];
		if (petitioner->lacks_count == 0 || !is_prospect(candidates, petitioner))
			petitioner->lacking_since = 0;
		else if (petitioner->lacking_since == 0)
			petitioner->lacking_since = now;
		if (petitioner->lacking_since != 0 &&
		    petitioner->lacking_since + lease / 2 <= now &&
		    (worst == NULL || is_worse(petitioner, worst)))
			worst = petitioner;
	}
	if (worst == NULL)
		return;
	worst->aside_until = now + (lease << worst->asides);
	worst->asides += worst->asides < DOUBLINGS_MAX;
	for (uint32_t i = 0; i < petitioners->count; i++)
		petitioners->list[i].lacking_since = 0;
}

static void insert(struct candidates *candidates, struct petitioners *petitioners,
                   const struct petitioner *petitioner)
{
	uint32_t place = candidates->prospects_count;

	candidates->prospects = grow(candidates->prospects, &candidates->prospects_size,
	                             place + 1UL, sizeof(*candidates->prospects));
	for (; place > 0; place--) {
		const struct petitioner *before =
		        petitioners_find(petitioners, candidates->prospects[place - 1]);
		int order = strcmp(before->name, petitioner->name);
		if (order < 0)
			break;
		/* Two processes have the same name. The second can join only after the first has
		 * left. */
		if (order == 0)
			return;
	}
	memmove(candidates->prospects + place + 1, candidates->prospects + place,
	        (candidates->prospects_count - place) * sizeof(*candidates->prospects));
	candidates->prospects[place] = petitioner->process;
	candidates->prospects_count++;
}

/* The graph of the next view must be connected. Drops prospects that the links of --links do not
 * connect with the members. If there are no members, only the largest connected group of prospects
 * stays. */
static void keep_connected(struct candidates *candidates, const struct agreed_state *state,
                           struct petitioners *petitioners, const struct wiring *wiring)
{
	uint32_t members = state->seats_count, count = members + candidates->prospects_count;
	struct seat *seats = calloc(count + 1UL, sizeof(*seats));
	uint32_t *parts = calloc(count + 1UL, sizeof(*parts)), kept = 0;

	memory_must(seats != NULL && parts != NULL);
	if (members != 0)
		memcpy(seats, state->seats, members * sizeof(*seats));
	for (uint32_t i = members; i < count; i++)
		snprintf(seats[i].name, sizeof(seats[i].name), "%s",
		         petitioners_find(petitioners, candidates->prospects[i - members])->name);
	uint32_t stays = wiring_parts(wiring, seats, count, parts);
	if (members != 0)
		stays = parts[0];
	for (uint32_t i = members; i < count; i++) {
		if (parts[i] == stays)
			candidates->prospects[kept++] = candidates->prospects[i - members];
	}
	candidates->prospects_count = kept;
	free(parts);
	free(seats);
}

bool candidates_choose(struct candidates *candidates, const struct agreed_state *state,
                       struct petitioners *petitioners, const struct wiring *wiring, uint64_t now)
{
	uint64_t before = candidates->digest;

	set_aside(candidates, petitioners, state->settings.lease_ns, now);
	candidates->prospects_count = 0;
	for (uint32_t i = 0; i < petitioners->count; i++) {
		const struct petitioner *petitioner = &petitioners->list[i];
		if (may_be_prospect(candidates, state, petitioner, now))
			insert(candidates, petitioners, petitioner);
	}
	if (wiring->links.list != NULL)
		keep_connected(candidates, state, petitioners, wiring);
	candidates->digest = XXH3_64bits_withSeed(
	        candidates->prospects, candidates->prospects_count * sizeof(*candidates->prospects),
	        state->epoch);
	return candidates->digest != before;
}

/* Does the petitioner know the present list of prospects, and have all links that the next view
 * needs? */
static bool is_linked(const struct candidates *candidates, const struct petitioner *petitioner,
                      uint64_t lease, uint64_t now)
{
	return petitioner != NULL && was_heard(petitioner, lease, now) &&
	       petitioner->prospect == candidates->digest && petitioner->lacks_count == 0;
}

bool candidates_ready(const struct candidates *candidates, const struct agreed_state *state,
                      struct petitioners *petitioners, uint64_t now)
{
	uint64_t lease = state->settings.lease_ns;

	for (uint32_t i = 0; i < state->seats_count; i++) {
		if (!is_linked(candidates, petitioners_find(petitioners, state->seats[i].process),
		               lease, now))
			return false;
	}
	for (uint32_t i = 0; i < candidates->prospects_count; i++) {
		const struct petitioner *petitioner =
		        petitioners_find(petitioners, candidates->prospects[i]);
		if (!is_linked(candidates, petitioner, lease, now) ||
		    petitioner->candidate_since + patience_of(state, 2 * rhythm_interval(lease)) >
		            now)
			return false;
	}
	return candidates->prospects_count != 0;
}
