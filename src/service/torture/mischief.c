#include "mischief.h"

#include "actors.h"
#include "guards.h"
#include "log_engine.h"
#include "memory.h"
#include "outbuffer.h"
#include "paths.h"
#include "petition.h"
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

const char *const fault_words[FAULT_KINDS_COUNT] = {
#define FAULT_WORD(name, word, text) word,
        FAULT_KINDS(FAULT_WORD)
#undef FAULT_WORD
};

const char *const fault_texts[FAULT_KINDS_COUNT] = {
#define FAULT_TEXT(name, word, text) text,
        FAULT_KINDS(FAULT_TEXT)
#undef FAULT_TEXT
};

struct fault {
	uint32_t number; /* the fault's number, counted from 1 */
	enum fault_kind kind;
	uint64_t begin, end;
	uint32_t a, b;   /* the two hosts that the fault is about; most kinds use only `a` */
	uint32_t voters; /* DEAF, MUTE: a bit for each voter that `a` is cut off from */
	bool begun, over;
	struct chance chance;
};

struct mischief {
	struct fault *list;
	uint32_t count;
	bool healed;
	/* The pair that stays without a link when all other faults end, or NULL. */
	struct fault *pair;
};

enum fault_event { FAULT_BEGINS, FAULT_ENDS, FAULT_GOES_ON };

/* --- drawing the faults --- */

static uint64_t draw_duration(struct chance *chance, uint64_t lease)
{
	uint32_t dice = (uint32_t)chance_below(chance, 100);

	if (dice < 50)
		return chance_between(chance, lease / 10, lease);
	if (dice < 85)
		return chance_between(chance, lease, 3 * lease);
	return chance_between(chance, 3 * lease, 8 * lease);
}

/* Faults that wipe disks or change votes are drawn separately, so that both engines have the same
 * other faults. */
#define KINDS_OF_BOTH ((UINT32_C(1) << FAULT_WIPE) - 1)

static enum fault_kind draw_kind(struct chance *chance, uint32_t kinds)
{
	enum fault_kind kind;

	do {
		kind = (enum fault_kind)chance_below(chance, FAULT_WIPE);
	} while ((kinds >> kind & 1) == 0);
	return kind;
}

/* Draws a fault. If `kind` is FAULT_KINDS_COUNT, its kind is drawn too. */
static struct fault draw_fault(const struct ordeal_plan *plan, uint32_t number,
                               enum fault_kind kind)
{
	struct fault fault = {.number = number, .kind = kind};

	fault.chance = chance_stream(plan->seed, STREAM_FAULTS, number);
	if (kind == FAULT_KINDS_COUNT)
		fault.kind = draw_kind(&fault.chance, plan->kinds);
	fault.begin = chance_between(&fault.chance, 0, plan->time);
	fault.end = fault.begin + draw_duration(&fault.chance, plan->lease_ns);
	if (fault.kind == FAULT_PAIR) {
		/* The link is lost late in the first act, because from then on one of the two hosts
		 * may be out of the view. */
		fault.begin = plan->time - (plan->time - fault.begin) / 8;
		fault.end = plan->time;
	}
	if (fault.end > plan->time)
		fault.end = plan->time;
	fault.a = (uint32_t)chance_below(&fault.chance, plan->nodes);
	fault.b = plan->nodes == 1
	                  ? fault.a
	                  : (fault.a + 1 + (uint32_t)chance_below(&fault.chance, plan->nodes - 1)) %
	                            plan->nodes;
	return fault;
}

static bool is_wanted(const struct ordeal_plan *plan, uint32_t number)
{
	if (plan->only == NULL)
		return true;
	for (uint32_t i = 0; i < plan->only_count; i++) {
		if (plan->only[i] == number)
			return true;
	}
	return false;
}

static struct fault take_given(const struct ordeal_plan *plan, uint32_t i)
{
	const struct ordeal_fault *given = &plan->given[i];

	return (struct fault){.number = i + 1,
	                      .kind = given->kind,
	                      .begin = given->begin,
	                      .end = given->end,
	                      .a = given->a,
	                      .b = given->b,
	                      .chance = chance_stream(plan->seed, STREAM_FAULTS, i + 1)};
}

/* Counts the faults of each sort. The faults are numbered in this order of sorts. */
struct fault_counts {
	uint32_t usual, wipes, votes;
};

static bool is_drawn(const struct ordeal_plan *plan, enum fault_kind kind)
{
	/* An atomic log has no disks, and its voters do not change. */
	return (plan->kinds >> kind & 1) != 0 && plan->engine == ENGINE_RAFT && plan->given == NULL;
}

static struct fault_counts draw_counts(const struct ordeal_plan *plan)
{
	struct chance chance = chance_stream(plan->seed, STREAM_FAULTS, 0);
	/* In some runs little goes wrong, in others much at once. */
	uint64_t leases = plan->time / plan->lease_ns + 1;
	uint64_t usual = chance_between(&chance, 1 + leases / 8, 2 + 2 * leases);
	uint64_t wipes = chance_below(&chance, 2 + leases / 8);
	uint64_t votes = chance_below(&chance, 2 + leases / 8);

	if ((plan->kinds & KINDS_OF_BOTH) == 0 || plan->given != NULL)
		usual = plan->given_count;
	if (!is_drawn(plan, FAULT_WIPE))
		wipes = 0;
	if (!is_drawn(plan, FAULT_VOTE))
		votes = 0;
	if (usual + wipes + votes > ORDEAL_FAULTS_MAX)
		usual = ORDEAL_FAULTS_MAX - wipes - votes;
	return (struct fault_counts){(uint32_t)usual, (uint32_t)wipes, (uint32_t)votes};
}

uint32_t ordeal_faults(const struct ordeal_plan *plan)
{
	struct fault_counts counts = draw_counts(plan);

	return counts.usual + counts.wipes + counts.votes;
}

struct mischief *mischief_create(const struct realm *realm)
{
	const struct ordeal_plan *plan = realm->plan;
	struct mischief *mischief = calloc(1, sizeof(*mischief));
	struct fault_counts counts = draw_counts(plan);

	memory_must(mischief != NULL);
	mischief->count = ordeal_faults(plan);
	mischief->list = calloc(mischief->count + 1UL, sizeof(*mischief->list));
	memory_must(mischief->list != NULL);
	for (uint32_t i = 0; i < mischief->count; i++) {
		enum fault_kind kind = i < counts.usual                  ? FAULT_KINDS_COUNT
		                       : i < counts.usual + counts.wipes ? FAULT_WIPE
		                                                         : FAULT_VOTE;
		mischief->list[i] =
		        plan->given != NULL ? take_given(plan, i) : draw_fault(plan, i + 1, kind);
		mischief->list[i].over = !is_wanted(plan, i + 1);
	}
	return mischief;
}

void mischief_destroy(struct mischief *mischief)
{
	free(mischief->list);
	free(mischief);
}

static void push(struct realm *realm, const struct fault *fault, enum fault_event event,
                 uint64_t time)
{
	realm_push(realm, time, REALM_FAULT, 0, (uint64_t)event, fault->number);
}

void mischief_begin(struct realm *realm)
{
	const struct mischief *mischief = realm->mischief;

	for (uint32_t i = 0; i < mischief->count; i++) {
		if (!mischief->list[i].over)
			push(realm, &mischief->list[i], FAULT_BEGINS, mischief->list[i].begin);
	}
}

/* --- effects of the faults --- */

static void cut_voters(struct realm *realm, const struct fault *fault, int more)
{
	bool from = fault->kind == FAULT_DEAF;

	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (i == fault->a || (fault->voters >> i & 1) == 0)
			continue;
		paths_cut(realm, from ? i : fault->a, from ? fault->a : i, false, true, more);
	}
}

static void isolate(struct realm *realm, uint32_t place, int more)
{
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (i == place)
			continue;
		paths_cut(realm, i, place, true, true, more);
		paths_cut(realm, place, i, true, true, more);
	}
}

static void cut(struct realm *realm, const struct fault *fault, int more)
{
	uint32_t a = fault->a, b = fault->b;

	if (fault->kind == FAULT_CUT) {
		paths_cut(realm, a, b, true, true, more);
		paths_cut(realm, b, a, true, true, more);
	} else if (fault->kind == FAULT_ONEWAY) {
		paths_cut(realm, a, b, true, true, more);
	} else if (fault->kind == FAULT_LINKS || fault->kind == FAULT_PAIR) {
		paths_cut(realm, a, b, true, false, more);
	} else if (fault->kind == FAULT_ISOLATE) {
		isolate(realm, a, more);
	} else {
		cut_voters(realm, fault, more);
	}
}

static void bump(struct realm *realm, uint32_t place)
{
	struct petition petition = {.kind = PETITION_BUMP,
	                            .process = realm->hosts[place].process,
	                            .epoch = verdict_epochs(realm->verdict)};
	struct out out;

	if (!realm_lives(realm, place))
		return;
	out_init(&out);
	petition_write(&out, &petition, NULL, 0, NULL, 0);
	for (uint32_t i = 0; i < realm->voters_count; i++)
		paths_send(realm, place, realm->voters[i], PATH_PETITION, out.bytes,
		           out.bytes_count);
	out_free(&out);
}

static void start(struct realm *realm, uint32_t place)
{
	if (!realm_lives(realm, place))
		realm_start(realm, place);
}

static void set_drift(struct realm *realm, uint32_t place, int64_t drift_ppm)
{
	struct realm_host *host = &realm->hosts[place];

	host->clock_base = realm_clock(realm, place);
	host->booted_at = realm->now;
	host->drift_ppm = drift_ppm;
	memset(host->torn, 0, sizeof(host->torn));
}

static void leave(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];

	if (host->resident == NULL || realm_paused(realm, place))
		return;
	host->departs = true;
	host->departs_since = realm->now;
	verdict_departs(realm->verdict, place);
	resident_depart(host->resident, realm_read(realm, place, READER_RESIDENT));
	realm_pump(realm, place);
}

/* Lets the stop of a process begin, in most cases, in the middle of a reading of its clock. */
static void tear(struct realm *realm, struct fault *fault, uint32_t place, enum realm_reader reader)
{
	uint32_t parts = (uint32_t)chance_below(&fault->chance, 4);

	if (parts == 0 || !realm_lives(realm, place) || fault->end <= realm->now)
		return;
	realm->hosts[place].torn[reader] =
	        (struct torn_reading){.from = realm->now,
	                              .until = fault->end,
	                              .parts = parts,
	                              .suspended = fault->kind == FAULT_SUSPEND};
}

static void suspend(struct realm *realm, uint32_t place, uint64_t until)
{
	struct realm_host *host = &realm->hosts[place];

	realm_pause(realm, place, until, true, true);
	if (host->suspended_until < until)
		host->suspended_until = until;
	verdict_suspended(realm->verdict, place, true);
}

static void resume(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];

	if (host->suspended_until > realm->now)
		return; /* the host is still suspended by another fault */
	host->suspended_until = 0;
	guards_resumed(realm, place);
	verdict_suspended(realm->verdict, place, false);
}

static void begin_twin(struct realm *realm, const struct fault *fault)
{
	struct realm_host *twin = &realm->hosts[realm->plan->nodes];

	if (twin->resident != NULL)
		return;
	memmove(twin->name, realm->hosts[fault->a].name, sizeof(twin->name));
	realm_start(realm, twin->place);
}

static void begin(struct realm *realm, struct fault *fault)
{
	uint64_t lease = realm->plan->lease_ns;
	uint32_t a = fault->a;

	switch (fault->kind) {
	case FAULT_CRASH:
		realm_kill(realm, a);
		break;
	case FAULT_LOOP:
		push(realm, fault, FAULT_GOES_ON, realm->now);
		break;
	case FAULT_REBOOT:
		realm_kill(realm, a);
		actors_kill(realm, a);
		break;
	case FAULT_PAUSE:
		realm_pause(realm, a, fault->end, true, true);
		tear(realm, fault, a, READER_RESIDENT);
		tear(realm, fault, a, READER_VOTER);
		break;
	case FAULT_SUSPEND:
		suspend(realm, a, fault->end);
		tear(realm, fault, a, READER_RESIDENT);
		tear(realm, fault, a, READER_VOTER);
		break;
	case FAULT_CLIENT:
		actors_pause(realm, a, fault->end);
		break;
	case FAULT_GUARDIAN:
		guards_pause(realm, a, (uint32_t)chance_below(&fault->chance, WATCHERS),
		             fault->end);
		break;
	case FAULT_VOTER:
		realm_pause(realm, realm->voters[a % realm->voters_count], fault->end, false, true);
		tear(realm, fault, realm->voters[a % realm->voters_count], READER_VOTER);
		break;
	case FAULT_CUT:
	case FAULT_ONEWAY:
	case FAULT_LINKS:
	case FAULT_PAIR:
	case FAULT_DEAF:
	case FAULT_MUTE:
	case FAULT_ISOLATE:
		for (uint32_t i = 0; i < realm->voters_count; i++)
			fault->voters |= UINT32_C(1) << realm->voters[i];
		cut(realm, fault, 1);
		break;
	case FAULT_LOSS:
		paths_trouble(realm, (uint32_t)chance_between(&fault->chance, 5, 40), lease / 8);
		break;
	case FAULT_SLOW:
		paths_slow(realm, a, chance_between(&fault->chance, lease / 300, lease / 12));
		break;
	case FAULT_BREAK:
		push(realm, fault, FAULT_GOES_ON, realm->now);
		break;
	case FAULT_DISK:
		realm->engine->slow(realm, chance_between(&fault->chance, lease / 40, lease / 3));
		break;
	case FAULT_LEADER:
		realm->engine->depose(realm, fault->end);
		break;
	case FAULT_HEADLESS:
		realm->engine->headless(realm, fault->end);
		break;
	case FAULT_LEAVE:
		leave(realm, a);
		break;
	case FAULT_TWIN:
		begin_twin(realm, fault);
		break;
	case FAULT_BUMP:
		bump(realm, a);
		break;
	case FAULT_FORBID:
		realm->engine->forbid(realm, realm->hosts[a].name, true);
		break;
	case FAULT_LEASE:
		realm_kill(realm, a);
		realm->hosts[a].lease_ns = 2 * lease;
		realm_start(realm, a);
		break;
	case FAULT_WIPE:
		realm_kill(realm, a);
		realm->engine->wipe(realm, a);
		break;
	case FAULT_VOTE:
		realm->engine->wish(realm, realm->hosts[a].name,
		                    chance_percent(&fault->chance, 50) ? VOTE_WANTED
		                                                       : VOTE_UNWANTED);
		break;
	case FAULT_CLOCK:
		set_drift(realm, a, chance_percent(&fault->chance, 50) ? 150000 : -150000);
		break;
	case FAULT_KINDS_COUNT:
		must(false);
	}
}

static void end(struct realm *realm, struct fault *fault)
{
	uint32_t a = fault->a;

	switch (fault->kind) {
	case FAULT_CRASH:
	case FAULT_LOOP:
	case FAULT_WIPE:
		start(realm, a);
		break;
	case FAULT_REBOOT:
		if (!realm_lives(realm, a)) {
			/* Since the host went down, a process may have been started here and have
			 * ended again. Its clients still read the old clock, so they end now. */
			actors_kill(realm, a);
			realm_reboot_clock(realm, a);
			realm_start(realm, a);
		}
		break;
	case FAULT_CUT:
	case FAULT_ONEWAY:
	case FAULT_LINKS:
	case FAULT_PAIR:
	case FAULT_DEAF:
	case FAULT_MUTE:
	case FAULT_ISOLATE:
		cut(realm, fault, -1);
		break;
	case FAULT_LOSS:
		paths_trouble(realm, 0, 0);
		break;
	case FAULT_SLOW:
		paths_slow(realm, a, 0);
		break;
	case FAULT_DISK:
		realm->engine->slow(realm, 0);
		break;
	case FAULT_LEAVE:
		if (realm->hosts[a].departs) {
			realm_kill(realm, a);
			realm->hosts[a].departs = false;
		}
		start(realm, a);
		break;
	case FAULT_TWIN:
		realm_kill(realm, realm->plan->nodes);
		break;
	case FAULT_FORBID:
		realm->engine->forbid(realm, realm->hosts[a].name, false);
		break;
	case FAULT_VOTE:
		realm->engine->wish(realm, realm->hosts[a].name, VOTE_FREE);
		break;
	case FAULT_LEASE:
		realm_kill(realm, a);
		realm_start(realm, a);
		break;
	case FAULT_CLOCK:
		set_drift(realm, a, 0);
		break;
	case FAULT_SUSPEND:
		resume(realm, a);
		break;
	case FAULT_PAUSE:
	case FAULT_CLIENT:
	case FAULT_GUARDIAN:
	case FAULT_VOTER:
	case FAULT_BREAK:
	case FAULT_LEADER:
	case FAULT_HEADLESS:
	case FAULT_BUMP:
		break;
	case FAULT_KINDS_COUNT:
		must(false);
	}
}

/* Lets a fault that acts repeatedly act once more. */
static void go_on(struct realm *realm, struct fault *fault)
{
	uint64_t lease = realm->plan->lease_ns;

	if (fault->over)
		return;
	if (fault->kind == FAULT_BREAK) {
		paths_break(realm, fault->a);
		push(realm, fault, FAULT_GOES_ON,
		     realm->now + chance_between(&fault->chance, lease / 100, lease / 6));
		return;
	}
	if (realm_lives(realm, fault->a))
		realm_kill(realm, fault->a);
	else
		realm_start(realm, fault->a);
	push(realm, fault, FAULT_GOES_ON,
	     realm->now + chance_between(&fault->chance, lease / 6, lease));
}

void mischief_invite(struct realm *realm)
{
	for (uint32_t i = 0; i < realm->plan->nodes; i++) {
		const char *name = realm->hosts[i].name;
		if (verdict_forbids(realm->verdict, name))
			realm->engine->forbid(realm, name, false);
		if (verdict_wishes(realm->verdict, name))
			realm->engine->wish(realm, name, VOTE_FREE);
	}
}

static void tell_fault(const struct realm *realm, const struct fault *fault, char *room,
                       size_t size)
{
	snprintf(room, size, "%s, %s and %s, %.1f to %.1f s", fault_words[fault->kind],
	         realm->hosts[fault->a].name, realm->hosts[fault->b].name,
	         (double)fault->begin / REALM_SECOND, (double)fault->end / REALM_SECOND);
}

void mischief_on_event(struct realm *realm, const struct event *event)
{
	struct fault *fault = &realm->mischief->list[event->from - 1];
	char text[96];

	switch ((enum fault_event)event->number) {
	case FAULT_BEGINS:
		if (realm->mischief->healed)
			return;
		tell_fault(realm, fault, text, sizeof(text));
		realm_note(realm, REALM_NOWHERE, "fault %u: %s", fault->number, text);
		realm_draw(realm, DRAWN_FAULT, 0, fault->number, fault->end, text);
		fault->begun = true;
		begin(realm, fault);
		push(realm, fault, FAULT_ENDS, fault->end);
		break;
	case FAULT_ENDS:
		if (fault->over || fault->kind == FAULT_PAIR)
			return;
		fault->over = true;
		realm_note(realm, REALM_NOWHERE, "fault %u is over", fault->number);
		end(realm, fault);
		break;
	case FAULT_GOES_ON:
		go_on(realm, fault);
		break;
	}
}

/* Returns the first pair that lost its link for good, if there are enough hosts to do without one
 * of the two. Returns NULL where links have names: more than one host may then have to leave. */
static struct fault *find_pair(const struct realm *realm)
{
	struct mischief *mischief = realm->mischief;

	for (uint32_t i = 0;
	     i < mischief->count && realm->plan->nodes > 1 && realm->links_count == 0; i++) {
		if (mischief->list[i].kind == FAULT_PAIR && mischief->list[i].begun)
			return &mischief->list[i];
	}
	return NULL;
}

bool mischief_heal(struct realm *realm, struct mischief_pair *ret_pair)
{
	struct mischief *mischief = realm->mischief;

	mischief->healed = true;
	mischief->pair = find_pair(realm);
	for (uint32_t i = 0; i < mischief->count && !realm->failed; i++) {
		struct fault *fault = &mischief->list[i];
		if (!fault->begun || fault->over || fault == mischief->pair)
			continue;
		fault->over = true;
		end(realm, fault);
	}
	paths_heal(realm);
	if (mischief->pair != NULL)
		cut(realm, mischief->pair, 1);
	realm->engine->slow(realm, 0);
	realm->engine->headless(realm, 0);
	for (uint32_t i = 0; i < realm->plan->nodes && !realm->failed; i++) {
		realm->hosts[i].paused_until = realm->hosts[i].voter_paused_until = 0;
		if (realm->hosts[i].departs)
			realm_kill(realm, i);
		start(realm, i);
	}
	realm_kill(realm, realm->plan->nodes);
	if (mischief->pair == NULL)
		return false;
	*ret_pair = (struct mischief_pair){mischief->pair->a, mischief->pair->b};
	return true;
}

void mischief_heal_pair(struct realm *realm)
{
	struct mischief *mischief = realm->mischief;

	mischief->pair->over = true;
	end(realm, mischief->pair);
}

void mischief_tell(const struct realm *realm, struct ordeal_result *result)
{
	const struct mischief *mischief = realm->mischief;

	for (uint32_t i = 0; i < mischief->count; i++) {
		const struct fault *fault = &mischief->list[i];
		if (!fault->begun)
			continue;
		result->faults[fault->kind]++;
		result->numbers[result->stories_count] = fault->number;
		tell_fault(realm, fault, result->stories[result->stories_count++],
		           sizeof(result->stories[0]));
	}
}
