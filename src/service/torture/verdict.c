#include "verdict.h"

#include "grow.h"
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECOND UINT64_C(1000000)
enum { NOWHERE = VERDICT_HOSTS_MAX };

/* A view that was agreed upon. */
struct agreed_view {
	uint64_t epoch, base, limit;
	uint32_t count;
	uint64_t processes[VERDICT_HOSTS_MAX], incarnations[VERDICT_HOSTS_MAX];
	uint32_t entered; /* a bit for each member that has entered this view */
};

/* The judge's knowledge of the process of a host. */
struct watched {
	uint64_t process; /* the number of the host's process; 0: no process runs */
	const char *name; /* the name of the host */
	/* The process' incarnation in the view that it entered last; 0: it is not in that view. */
	uint64_t incarnation;
	uint64_t epoch;    /* the epoch that the process entered last */
	uint64_t served;   /* the last epoch in which the process served */
	uint64_t deadline; /* the end of the process' lease, by its clock; 0: it has no lease */
	uint64_t lapsed;   /* the deadline at which the process last lost holds */
	uint64_t renewed;  /* what the process' clock showed when its last renewal was committed */
	bool departs;
	/* The incarnation that knows that an operator has removed this node; 0: none. */
	uint64_t removed;
};

/* The page that a process shows to its clients. They can read it even after the process has
 * ended. */
struct lease_page {
	uint64_t process, word;
};

struct watched_client {
	bool waits, holds;
	uint32_t place, lock, clock;
	enum hold_proof proof;
	uint64_t fence, lapses, until;
	uint32_t page; /* the page of the process that granted the lock */
	/* The client was seen without a valid lease, and must never have one again. */
	bool dead;
};

/* The subscription of one client to one lock. */
struct followed {
	bool stands;
	uint64_t since; /* since when the client is subscribed, in true time */
	uint64_t rank;  /* the rank of the last event: its fence times 4, plus its part */
};

/* The last grant of a lock. */
struct last_grant {
	uint64_t fence;
	uint64_t time; /* when the lock was granted, in true time */
};

struct verdict {
	struct verdict_options options;
	struct agreed_state state;
	struct agreed_view *views; /* all agreed views, indexed by epoch, from 1 */
	uint64_t views_count;
	size_t views_size;
	struct watched hosts[VERDICT_HOSTS_MAX];
	bool suspended[VERDICT_HOSTS_MAX]; /* for each host, whether it is suspended */
	struct lease_page *pages;          /* the pages of all processes that ever ran */
	uint32_t pages_count;
	size_t pages_size;
	struct watched_client *clients;
	uint64_t fences[VERDICT_LOCKS_MAX]; /* the last fence of each lock */
	struct followed *subscriptions;     /* all subscriptions, indexed by [client][lock] */
	struct last_grant grants[VERDICT_LOCKS_MAX];
	/* When any process last began to serve in a new epoch, in true time. */
	uint64_t settled_at;
	uint64_t lapses;
	uint64_t now, renewed_at; /* true time now, and when any renewal was last committed */
};

struct verdict *verdict_create(const struct verdict_options *options)
{
	struct verdict *verdict = calloc(1, sizeof(*verdict));

	memory_must(verdict != NULL);
	verdict->options = *options;
	verdict->clients = calloc(options->clients_max + 1UL, sizeof(*verdict->clients));
	memory_must(verdict->clients != NULL);
	verdict->subscriptions = calloc((options->clients_max + 1UL) * VERDICT_LOCKS_MAX,
	                                sizeof(*verdict->subscriptions));
	memory_must(verdict->subscriptions != NULL);
	state_init(&verdict->state, &options->settings);
	return verdict;
}

void verdict_destroy(struct verdict *verdict)
{
	state_free(&verdict->state);
	free(verdict->views);
	free(verdict->pages);
	free(verdict->clients);
	free(verdict->subscriptions);
	free(verdict);
}

__attribute__((format(printf, 2, 3))) static void wrong(struct verdict *verdict, const char *format,
                                                        ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	verdict->options.world.wrong(verdict->options.world.context, text);
}

static unsigned long long number(uint64_t value)
{
	return value;
}

static uint64_t clock_now(const struct verdict *verdict, uint32_t clock)
{
	return verdict->options.world.clock(verdict->options.world.context, clock);
}

uint64_t verdict_epochs(const struct verdict *verdict)
{
	return verdict->views_count;
}

const struct agreed_state *verdict_state(const struct verdict *verdict)
{
	return &verdict->state;
}

uint64_t verdict_lapses(const struct verdict *verdict)
{
	return verdict->lapses;
}

bool verdict_forbids(const struct verdict *verdict, const char *name)
{
	const struct name_record *record = state_name(&verdict->state, entry_text_of(name));

	return record != NULL && record->forbidden;
}

bool verdict_wishes(const struct verdict *verdict, const char *name)
{
	const struct name_record *record = state_name(&verdict->state, entry_text_of(name));

	return record != NULL && record->vote != VOTE_FREE;
}

static uint32_t place_of(const struct verdict *verdict, uint64_t process)
{
	for (uint32_t i = 0; i < VERDICT_HOSTS_MAX; i++) {
		if (process != 0 && verdict->hosts[i].process == process)
			return i;
	}
	return NOWHERE;
}

/* --- holds --- */

/* A lease word holds the deadline in milliseconds above 16 bits that count the lapses. */
static uint64_t deadline_of(uint64_t word)
{
	return (word >> 16) * MILLISECOND;
}

static bool is_valid(const struct verdict *verdict, const struct watched_client *client)
{
	if (!client->holds)
		return false;
	switch (client->proof) {
	case HOLD_READS: {
		uint64_t word = verdict->pages[client->page].word;
		return (word & 0xffff) == (client->lapses & 0xffff) &&
		       clock_now(verdict, client->clock) < deadline_of(word);
	}
	case HOLD_ASKS:
		return clock_now(verdict, client->clock) < client->until;
	case HOLD_RUNS:
		return !verdict->suspended[client->place];
	}
	return false;
}

bool verdict_valid(const struct verdict *verdict, uint32_t client)
{
	return is_valid(verdict, &verdict->clients[client]);
}

/* --- committed entries --- */

static struct agreed_view *view_of(const struct verdict *verdict, uint64_t epoch)
{
	return epoch == 0 || epoch > verdict->views_count ? NULL : &verdict->views[epoch - 1];
}

static void add_view(struct verdict *verdict)
{
	const struct agreed_state *state = &verdict->state;

	if (state->epoch != verdict->views_count + 1) {
		wrong(verdict, "epoch %llu follows epoch %llu", number(state->epoch),
		      number(verdict->views_count));
		return;
	}
	verdict->views =
	        grow(verdict->views, &verdict->views_size, state->epoch, sizeof(*verdict->views));
	struct agreed_view *view = &verdict->views[verdict->views_count++];
	*view = (struct agreed_view){.epoch = state->epoch,
	                             .base = state->base,
	                             .limit = state->limit,
	                             .count = state->seats_count};
	for (uint32_t i = 0; i < state->seats_count && i < VERDICT_HOSTS_MAX; i++) {
		view->processes[i] = state->seats[i].process;
		view->incarnations[i] = state->seats[i].incarnation;
	}
}

/* Checks that a member that is not in the new view has no valid lease and, if it left, holds
 * nothing. */
static void check_gone(struct verdict *verdict, uint64_t process, uint64_t incarnation)
{
	uint32_t place = place_of(verdict, process);
	const struct watched *host = &verdict->hosts[place % VERDICT_HOSTS_MAX];

	if (place != NOWHERE && !host->departs && host->removed != incarnation &&
	    host->incarnation == incarnation && clock_now(verdict, place) < host->deadline)
		wrong(verdict, "%s is removed %llu ms before its lease ends", host->name,
		      number((host->deadline - clock_now(verdict, place)) / MILLISECOND));
	for (uint32_t i = 0; i < verdict->options.clients_max; i++) {
		const struct watched_client *client = &verdict->clients[i];
		if (is_valid(verdict, client) && verdict->pages[client->page].process == process)
			wrong(verdict,
			      "%s is out of the view, and client %u there still holds lock-%u",
			      verdict->hosts[client->place].name, i, client->lock);
	}
}

static void check_members(struct verdict *verdict, const struct agreed_view *before)
{
	for (uint32_t i = 0; i < before->count; i++) {
		const struct seat *seat = state_process(&verdict->state, before->processes[i]);
		if (seat == NULL || seat->incarnation != before->incarnations[i])
			check_gone(verdict, before->processes[i], before->incarnations[i]);
	}
}

static void note_renewals(struct verdict *verdict)
{
	for (uint32_t i = 0; i < verdict->state.seats_count; i++) {
		const struct seat *seat = &verdict->state.seats[i];
		if (seat->renewed != verdict->state.index)
			continue;
		verdict->renewed_at = verdict->now;
		uint32_t place = place_of(verdict, seat->process);
		if (place != NOWHERE)
			verdict->hosts[place].renewed = clock_now(verdict, place);
	}
}

/* Checks that an entry for another epoch, or for another limit, changes nothing. */
static void check_void(struct verdict *verdict, uint64_t epoch, uint64_t limit,
                       const uint8_t *bytes, size_t size)
{
	const struct agreed_state *state = &verdict->state;
	struct log_entry entry;

	if (!entry_read(bytes, size, &entry))
		return;
	if (state->epoch != epoch && entry.epoch != epoch)
		wrong(verdict, "an entry for epoch %llu ends epoch %llu", number(entry.epoch),
		      number(epoch));
	if (entry.kind == ENTRY_EXTEND && state->limit != limit && entry.limit != limit)
		wrong(verdict, "an entry for the limit %llu extends %llu", number(entry.limit),
		      number(limit));
}

void verdict_committed(struct verdict *verdict, uint64_t index, const uint8_t *bytes, size_t size)
{
	struct agreed_state *state = &verdict->state;
	uint64_t epoch = state->epoch, limit = state->limit;

	state_apply(state, index, bytes, size);
	check_void(verdict, epoch, limit, bytes, size);
	note_renewals(verdict);
	struct agreed_view *last = view_of(verdict, epoch);
	if (state->epoch == epoch) {
		if (last != NULL)
			last->limit = state->limit;
		return;
	}
	if (last != NULL)
		check_members(verdict, last);
	if (last != NULL && state->base < last->limit)
		wrong(verdict, "epoch %llu has fences of the last one", number(state->epoch));
	add_view(verdict);
}

/* Checks that nobody holds a lock any more if no renewal was committed for longer than a lease
 * lasts by the slowest clock. */
void verdict_passed(struct verdict *verdict, uint64_t now)
{
	uint64_t lease = verdict->options.settings.lease_ns;

	verdict->now = now;
	if (now <= verdict->renewed_at + lease + lease / 900 + MILLISECOND)
		return;
	for (uint32_t i = 0; i < verdict->options.clients_max; i++) {
		if (is_valid(verdict, &verdict->clients[i]))
			wrong(verdict,
			      "no lease was renewed for more than a lease, and client %u at %s "
			      "still holds lock-%u",
			      i, verdict->hosts[verdict->clients[i].place].name,
			      verdict->clients[i].lock);
	}
}

/* --- processes and views --- */

void verdict_started(struct verdict *verdict, uint32_t place, const char *name, uint64_t process)
{
	verdict->hosts[place] = (struct watched){.process = process, .name = name};
	verdict->pages = grow(verdict->pages, &verdict->pages_size, verdict->pages_count + 1UL,
	                      sizeof(*verdict->pages));
	verdict->pages[verdict->pages_count++] = (struct lease_page){.process = process};
}

void verdict_departs(struct verdict *verdict, uint32_t place)
{
	verdict->hosts[place].departs = true;
}

void verdict_removed(struct verdict *verdict, uint32_t place, uint64_t incarnation)
{
	verdict->hosts[place].removed = incarnation;
}

void verdict_ended(struct verdict *verdict, uint32_t place)
{
	verdict->hosts[place].process = 0;
}

void verdict_suspended(struct verdict *verdict, uint32_t place, bool suspended)
{
	verdict->suspended[place] = suspended;
}

static uint32_t page_of(const struct verdict *verdict, uint32_t place)
{
	uint32_t page = verdict->pages_count;

	while (page-- > 0) {
		if (verdict->pages[page].process == verdict->hosts[place].process)
			return page;
	}
	must(false);
	return 0;
}

void verdict_entered(struct verdict *verdict, uint32_t place, const struct verdict_view *told)
{
	struct watched *host = &verdict->hosts[place];
	struct agreed_view *view = view_of(verdict, told->epoch);

	if (told->epoch < host->epoch)
		wrong(verdict, "%s goes back from epoch %llu to %llu", host->name,
		      number(host->epoch), number(told->epoch));
	host->epoch = told->epoch;
	host->incarnation = 0;
	if (view == NULL || view->count != told->seats_count || view->base != told->base) {
		wrong(verdict, "%s has a view that was not agreed upon", host->name);
		return;
	}
	for (uint32_t i = 0; i < view->count; i++) {
		if (view->processes[i] != told->seats[i].process ||
		    view->incarnations[i] != told->seats[i].incarnation)
			wrong(verdict, "%s has another view of epoch %llu than was agreed upon",
			      host->name, number(told->epoch));
		if (view->processes[i] != host->process)
			continue;
		view->entered |= UINT32_C(1) << i;
		host->incarnation = view->incarnations[i];
	}
}

void verdict_serves(struct verdict *verdict, uint32_t place, uint64_t epoch)
{
	struct watched *host = &verdict->hosts[place];
	const struct agreed_view *view = view_of(verdict, epoch);

	if (epoch != host->epoch || host->incarnation == 0)
		wrong(verdict, "%s serves in epoch %llu, and has entered %llu", host->name,
		      number(epoch), number(host->epoch));
	host->served = epoch;
	verdict->settled_at = verdict->now;
	if (view == NULL || view->entered != (UINT32_C(1) << view->count) - 1)
		wrong(verdict, "%s serves in epoch %llu before all members know of it", host->name,
		      number(epoch));
}

/* --- leases --- */

static void check_deadline(struct verdict *verdict, struct watched *host, uint64_t deadline,
                           uint64_t word)
{
	if (deadline > host->deadline &&
	    deadline > host->renewed + verdict->options.settings.lease_ns)
		wrong(verdict, "the lease of %s lasts longer than what was committed", host->name);
	if (deadline_of(word) != deadline)
		wrong(verdict, "%s and its clients differ about when its lease is over",
		      host->name);
	host->deadline = deadline;
}

void verdict_lease(struct verdict *verdict, uint32_t place, uint64_t deadline, uint64_t word)
{
	uint32_t page = page_of(verdict, place);
	bool lapses = ((verdict->pages[page].word ^ word) & 0xffff) != 0;

	for (uint32_t i = 0; i < verdict->options.clients_max; i++) {
		struct watched_client *client = &verdict->clients[i];
		if (!client->holds || client->page != page)
			continue;
		if (client->proof == HOLD_READS && !is_valid(verdict, client))
			client->dead = true;
		if (client->proof == HOLD_RUNS && is_valid(verdict, client) && lapses)
			wrong(verdict, "the command of client %u at %s runs on after the lease", i,
			      verdict->hosts[place].name);
	}
	if (lapses)
		verdict->hosts[place].lapsed = verdict->hosts[place].deadline;
	verdict->pages[page].word = word;
	check_deadline(verdict, &verdict->hosts[place], deadline, word);
	for (uint32_t i = 0; i < verdict->options.clients_max; i++) {
		const struct watched_client *client = &verdict->clients[i];
		if (client->page == page && client->dead && is_valid(verdict, client))
			wrong(verdict, "the lapsed hold of client %u at %s revives", i,
			      verdict->hosts[place].name);
	}
}

/* --- grants --- */

void verdict_tokens(struct verdict *verdict, uint32_t lock, uint64_t epoch, uint32_t count)
{
	if (verdict->options.tokens_max != 0 && count > verdict->options.tokens_max)
		wrong(verdict, "%u tokens of lock-%u in epoch %llu", count, lock, number(epoch));
}

void verdict_waits(struct verdict *verdict, uint32_t client, uint32_t place, uint32_t lock)
{
	verdict->clients[client] =
	        (struct watched_client){.waits = true, .place = place, .lock = lock};
}

void verdict_waits_no_more(struct verdict *verdict, uint32_t client)
{
	verdict->clients[client].waits = false;
}

static void check_alone(struct verdict *verdict, const struct verdict_grant *grant)
{
	for (uint32_t i = 0; i < verdict->options.clients_max; i++) {
		struct watched_client *other = &verdict->clients[i];
		if (i == grant->client || !other->holds || other->lock != grant->lock)
			continue;
		if (is_valid(verdict, other))
			wrong(verdict,
			      "clients at %s and %s hold lock-%u at once, fences %llu and %llu",
			      verdict->hosts[other->place].name, verdict->hosts[grant->place].name,
			      grant->lock, number(other->fence), number(grant->fence));
		other->dead = true;
	}
}

static void check_fence(struct verdict *verdict, const struct verdict_grant *grant)
{
	const char *name = verdict->hosts[grant->place].name;

	if (grant->fence <= verdict->fences[grant->lock])
		wrong(verdict, "lock-%u is granted at %s with fence %llu after %llu", grant->lock,
		      name, number(grant->fence), number(verdict->fences[grant->lock]));
	verdict->fences[grant->lock] = grant->fence;
	verdict->grants[grant->lock] = (struct last_grant){grant->fence, verdict->now};
	if (grant->fence > verdict->state.limit)
		wrong(verdict, "lock-%u is granted at %s with fence %llu beyond the limit %llu",
		      grant->lock, name, number(grant->fence), number(verdict->state.limit));
}

void verdict_granted(struct verdict *verdict, const struct verdict_grant *grant)
{
	struct watched_client *client = &verdict->clients[grant->client];
	const struct watched *host = &verdict->hosts[grant->place];
	uint64_t word;

	*client = (struct watched_client){.holds = true,
	                                  .place = grant->place,
	                                  .lock = grant->lock,
	                                  .clock = grant->clock,
	                                  .proof = grant->proof,
	                                  .fence = grant->fence,
	                                  .lapses = grant->lapses,
	                                  .until = grant->until,
	                                  .page = page_of(verdict, grant->place)};
	check_alone(verdict, grant);
	check_fence(verdict, grant);
	word = verdict->pages[client->page].word;
	if ((word & 0xffff) != (grant->lapses & 0xffff) ||
	    clock_now(verdict, grant->place) >= deadline_of(word))
		wrong(verdict, "lock-%u is granted at %s without a lease", grant->lock, host->name);
	if (!grant->elected && grant->needs != 0 &&
	    deadline_of(word) < clock_now(verdict, grant->place) + grant->needs +
	                                verdict->options.settings.lease_ns / 10)
		wrong(verdict, "lock-%u is granted at %s to a client that could not stop in time",
		      grant->lock, host->name);
	bool leaves = host->departs || (host->removed != 0 && host->removed == host->incarnation);
	if (leaves && !grant->elected)
		wrong(verdict, "lock-%u is granted at %s, which leaves", grant->lock, host->name);
}

void verdict_told(struct verdict *verdict, uint32_t client, uint64_t until)
{
	struct watched_client *known = &verdict->clients[client];

	if (!known->holds)
		return;
	known->until = until;
	if (known->dead && is_valid(verdict, known))
		wrong(verdict, "the lapsed hold of client %u of %s revives", client,
		      verdict->hosts[known->place].name);
}

void verdict_finished(struct verdict *verdict, uint32_t client)
{
	verdict->clients[client].holds = verdict->clients[client].waits = false;
}

/* Checks why a lock was lost. A new view takes nothing away from a member, and a lease takes a lock
 * away only when it is over. */
void verdict_lost(struct verdict *verdict, uint32_t client, const char *why, size_t why_size)
{
	const struct watched_client *known = &verdict->clients[client];
	const struct watched *host = &verdict->hosts[known->place];
	const struct seat *seat = state_process(&verdict->state, host->process);

	if (why_size >= 5 && memcmp(why, "lease", 5) == 0) {
		verdict->lapses++;
		if (clock_now(verdict, known->place) + 2 * MILLISECOND < host->lapsed)
			wrong(verdict, "client at %s loses lock-%u before its lease is over",
			      host->name, known->lock);
	} else if (why_size >= 4 && memcmp(why, "view", 4) == 0 && seat != NULL &&
	           seat->incarnation == host->incarnation) {
		wrong(verdict, "client at %s loses lock-%u to a view that %s is in", host->name,
		      known->lock, host->name);
	}
}

/* --- events --- */

static struct followed *subscription_of(const struct verdict *verdict, uint32_t client,
                                        uint32_t lock)
{
	return &verdict->subscriptions[client * VERDICT_LOCKS_MAX + lock];
}

void verdict_session(struct verdict *verdict, uint32_t client)
{
	memset(subscription_of(verdict, client, 0), 0,
	       VERDICT_LOCKS_MAX * sizeof(*verdict->subscriptions));
}

void verdict_subscribed(struct verdict *verdict, uint32_t client, uint32_t lock)
{
	struct followed *subscription = subscription_of(verdict, client, lock);

	if (subscription->stands)
		return;
	subscription->stands = true;
	subscription->since = verdict->now;
}

void verdict_event(struct verdict *verdict, uint32_t client, uint32_t lock, uint64_t fence,
                   uint32_t part)
{
	struct followed *subscription = subscription_of(verdict, client, lock);
	uint64_t rank = fence * 4 + part;

	if (rank <= subscription->rank)
		wrong(verdict, "client %u receives events of lock-%u out of order, or twice",
		      client, lock);
	subscription->rank = rank;
}

void verdict_dropped(struct verdict *verdict, uint32_t client, uint32_t lock)
{
	subscription_of(verdict, client, lock)->since = verdict->now;
}

const char *verdict_untold(const struct verdict *verdict, uint64_t recent, char room[128])
{
	for (uint32_t i = 0; i < verdict->options.clients_max * VERDICT_LOCKS_MAX; i++) {
		const struct followed *subscription = &verdict->subscriptions[i];
		const struct last_grant *last = &verdict->grants[i % VERDICT_LOCKS_MAX];
		if (!subscription->stands || last->time <= subscription->since ||
		    last->time <= verdict->settled_at + recent ||
		    last->time + recent >= verdict->now || subscription->rank >= last->fence * 4)
			continue;
		snprintf(room, 128, "client %u was not told of the grant %llu of lock-%u",
		         i / VERDICT_LOCKS_MAX, number(last->fence), i % VERDICT_LOCKS_MAX);
		return room;
	}
	return NULL;
}

/* --- queries --- */

static const char *host_unsettled(const struct verdict *verdict, uint32_t place, char room[128])
{
	const struct watched *host = &verdict->hosts[place];

	if (host->process == 0 || state_process(&verdict->state, host->process) == NULL)
		snprintf(room, 128, "%s is not a member", host->name);
	else if (host->epoch != verdict->state.epoch || host->served != host->epoch)
		snprintf(room, 128, "%s does not serve", host->name);
	else if (clock_now(verdict, place) >= host->deadline)
		snprintf(room, 128, "%s stays fenced", host->name);
	else
		return NULL;
	return room;
}

const char *verdict_unsettled(const struct verdict *verdict, uint32_t place, char room[128])
{
	if (host_unsettled(verdict, place, room) != NULL)
		return room;
	for (uint32_t i = 0; i < verdict->options.clients_max; i++) {
		const struct watched_client *client = &verdict->clients[i];
		if (!client->waits || client->place != place)
			continue;
		snprintf(room, 128, "client %u at %s waits for lock-%u", i,
		         verdict->hosts[place].name, client->lock);
		return room;
	}
	return NULL;
}
