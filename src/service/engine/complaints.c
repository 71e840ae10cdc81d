#include "complaints.h"

#include "grow.h"
#include "memory.h"

#include <stdlib.h>

struct judging {
	struct complaints *complaints;
	const struct agreed_state *state;
	struct petitioners *petitioners;
	bool (*votes)(const void *context, const char *name);
	const void *context;
	uint64_t now, lease;
};

void complaints_free(struct complaints *complaints)
{
	free(complaints->pairs);
	*complaints = (struct complaints){0};
}

static struct petitioner *of_seat(const struct judging *judging, const struct seat *seat)
{
	return petitioners_find(judging->petitioners, seat->process);
}

static const struct seat *seat_of(const struct judging *judging, uint64_t process)
{
	return state_process(judging->state, process);
}

static bool is_recent(const struct judging *judging, const struct petitioner *petitioner)
{
	return petitioner != NULL && petitioner->heard + judging->lease / 2 > judging->now;
}

/* Do the missing reports that the petitioner names count? Only if its petition is about this epoch.
 * (A missing link counts in any epoch: if a link overflows in every epoch, epochs may end faster
 * than petitions come.) */
static bool counts(const struct judging *judging, const struct petitioner *petitioner)
{
	return is_recent(judging, petitioner) && petitioner->epoch == judging->state->epoch;
}

/* --- links --- */

static void see_pair(const struct judging *judging, uint64_t a, uint64_t b)
{
	struct complaints *complaints = judging->complaints;
	struct wanting_pair pair = {a < b ? a : b, a < b ? b : a, judging->now, true};

	for (uint32_t i = 0; i < complaints->pairs_count; i++) {
		struct wanting_pair *known = &complaints->pairs[i];
		if (known->a == pair.a && known->b == pair.b) {
			known->seen = true;
			return;
		}
	}
	complaints->pairs = grow(complaints->pairs, &complaints->pairs_size,
	                         complaints->pairs_count + 1UL, sizeof(pair));
	complaints->pairs[complaints->pairs_count++] = pair;
}

static void drop_mended(struct complaints *complaints)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < complaints->pairs_count; i++) {
		if (complaints->pairs[i].seen)
			complaints->pairs[kept++] = complaints->pairs[i];
	}
	complaints->pairs_count = kept;
}

/* Ignores missing links that only the next view would need. */
static void see_lacks(const struct judging *judging, const struct wiring *wiring, uint32_t place,
                      bool *linked)
{
	const struct agreed_state *state = judging->state;
	const struct petitioner *petitioner = of_seat(judging, &state->seats[place]);

	if (!is_recent(judging, petitioner) || petitioner->lacks_count == 0)
		return;
	wiring_of_seats(wiring, state->seats, state->seats_count, place, linked);
	for (uint32_t i = 0; i < petitioner->lacks_count; i++) {
		const struct seat *other = seat_of(judging, petitioner->lacks[i]);
		if (other != NULL && linked[other - state->seats])
			see_pair(judging, petitioner->process, other->process);
	}
}

static uint32_t pairs_of(const struct complaints *complaints, uint64_t process)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < complaints->pairs_count; i++)
		count += complaints->pairs[i].a == process || complaints->pairs[i].b == process;
	return count;
}

/* Two members have no link to each other: must `a` go rather than `b`? The one with fewer links
 * goes; if equal, the one that is not a voter; if still equal, the one that joined later. */
static bool goes_first(const struct judging *judging, const struct seat *a, const struct seat *b)
{
	uint32_t a_lacks = pairs_of(judging->complaints, a->process);
	uint32_t b_lacks = pairs_of(judging->complaints, b->process);
	bool a_votes = judging->votes(judging->context, a->name);
	bool b_votes = judging->votes(judging->context, b->name);

	if (a_lacks != b_lacks)
		return a_lacks > b_lacks;
	if (a_votes != b_votes)
		return b_votes;
	return a->incarnation > b->incarnation ||
	       (a->incarnation == b->incarnation && a->process > b->process);
}

static void withhold(const struct judging *judging, const struct seat *seat)
{
	struct petitioner *petitioner = of_seat(judging, seat);

	if (petitioner != NULL)
		petitioner->withheld = true;
}

static bool is_withheld(const struct judging *judging, const struct seat *seat)
{
	const struct petitioner *petitioner = of_seat(judging, seat);

	return petitioner == NULL || petitioner->withheld;
}

static void judge_links(const struct judging *judging)
{
	const struct complaints *complaints = judging->complaints;

	for (uint32_t i = 0; i < complaints->pairs_count; i++) {
		const struct wanting_pair *pair = &complaints->pairs[i];
		const struct seat *a = seat_of(judging, pair->a), *b = seat_of(judging, pair->b);
		if (pair->since + judging->lease / 2 > judging->now || is_withheld(judging, a) ||
		    is_withheld(judging, b))
			continue;
		withhold(judging, goes_first(judging, a, b) ? a : b);
	}
}

/* --- parts of the graph --- */

/* Members cannot serve while the graph of the view is not connected. Withholds the leases of all
 * members outside one part, so that these members are removed. Returns true if there are several
 * parts. */
static bool judge_parts(const struct judging *judging, const struct wiring *wiring)
{
	const struct agreed_state *state = judging->state;
	uint32_t *parts = calloc(state->seats_count + 1UL, sizeof(*parts));
	bool torn = false;

	memory_must(parts != NULL);
	uint32_t stays = wiring_parts(wiring, state->seats, state->seats_count, parts);
	for (uint32_t i = 0; i < state->seats_count; i++) {
		if (parts[i] == stays)
			continue;
		torn = true;
		withhold(judging, &state->seats[i]);
	}
	free(parts);
	return torn;
}

/* --- reports --- */

static uint32_t times_named(const struct judging *judging, uint64_t process)
{
	const struct agreed_state *state = judging->state;
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->seats_count; i++) {
		const struct petitioner *petitioner = of_seat(judging, &state->seats[i]);
		if (!counts(judging, petitioner))
			continue;
		for (uint32_t k = 0; k < petitioner->unreported_count; k++)
			count += petitioner->unreported[k] == process;
	}
	return count;
}

static bool all_active(const struct judging *judging)
{
	for (uint32_t i = 0; i < judging->state->seats_count; i++) {
		const struct petitioner *petitioner = of_seat(judging, &judging->state->seats[i]);
		if (!counts(judging, petitioner) || !petitioner->active)
			return false;
	}
	return true;
}

static void judge_reports(const struct judging *judging)
{
	struct complaints *complaints = judging->complaints;
	const struct agreed_state *state = judging->state;
	const struct seat *worst = NULL;
	uint32_t most = 0;

	if (complaints->epoch != state->epoch || all_active(judging))
		complaints->stalled_since = 0;
	complaints->epoch = state->epoch;
	if (all_active(judging))
		return;
	if (complaints->stalled_since == 0)
		complaints->stalled_since = judging->now;
	if (complaints->stalled_since + judging->lease > judging->now)
		return;
	for (uint32_t i = 0; i < state->seats_count; i++) {
		const struct seat *seat = &state->seats[i];
		uint32_t named = times_named(judging, seat->process);
		if (named > most ||
		    (named == most && named != 0 && seat->incarnation > worst->incarnation)) {
			most = named;
			worst = seat;
		}
	}
	if (worst != NULL)
		withhold(judging, worst);
}

/* --- all complaints --- */

static void judge_hearing(const struct judging *judging)
{
	for (uint32_t i = 0; i < judging->petitioners->count; i++) {
		struct petitioner *petitioner = &judging->petitioners->list[i];
		petitioner->withheld = petitioner->told != 0 &&
		                       petitioner->told_since + judging->lease / 2 <= judging->now;
	}
}

void complaints_judge(struct complaints *complaints, const struct agreed_state *state,
                      struct petitioners *petitioners, const struct wiring *wiring,
                      bool (*votes)(const void *context, const char *name), const void *context,
                      uint64_t now)
{
	struct judging judging = {
	        complaints, state, petitioners, votes, context, now, state->settings.lease_ns};
	bool *linked = calloc(state->seats_count + 1UL, sizeof(*linked));

	memory_must(linked != NULL);
	for (uint32_t i = 0; i < complaints->pairs_count; i++)
		complaints->pairs[i].seen = false;
	for (uint32_t i = 0; i < state->seats_count; i++)
		see_lacks(&judging, wiring, i, linked);
	free(linked);
	drop_mended(complaints);
	judge_hearing(&judging);
	judge_links(&judging);
	if (!judge_parts(&judging, wiring))
		judge_reports(&judging);
}
