#include "realm.h"

#include "actors.h"
#include "guards.h"
#include "guests.h"
#include "mischief.h"
#include "ordeal.h"
#include "paths.h"
#include "raft_log.h"
#include "reign.h"
#include "spiteful_log.h"
#include "witness.h"

#include <stdlib.h>
#include <string.h>

/* --- events --- */

static void await_resident(struct realm *realm, struct realm_host *host)
{
	uint64_t clock = resident_deadline(host->resident);
	uint64_t due = clock == NODE_NEVER ? NODE_NEVER : realm_when(realm, host->place, clock);

	if (due == host->resident_due)
		return;
	host->resident_due = due;
	host->resident_wake++;
	if (due != NODE_NEVER)
		realm_push(realm, due, REALM_RESIDENT, host->place, host->resident_wake, 0);
}

void realm_await_voter(struct realm *realm, uint32_t place, uint64_t clock)
{
	struct realm_host *host = &realm->hosts[place];
	uint64_t due = clock == WARDEN_NEVER ? NODE_NEVER : realm_when(realm, place, clock);

	if (due == host->voter_due)
		return;
	host->voter_due = due;
	host->voter_wake++;
	if (due != NODE_NEVER)
		realm_push(realm, due, REALM_VOTER, place, host->voter_wake, 0);
}

/* --- petitions --- */

/* Sends a petition to the voters that the member knows and to its own voter; if these do not
 * answer, to every address that it knows. */
static void petition(struct realm *realm, const struct realm_host *host,
                     const struct resident_effect *effect)
{
	const struct tenant *tenant = resident_tenant(host->resident);
	const struct electors *electors = tenant_electors(tenant);
	struct tenant_view view = tenant_view(tenant);
	bool wide = effect->wide && realm->engine->voters_change;
	bool asked[REALM_HOSTS_MAX] = {false};

	asked[host->place] = host->voter_lives;
	for (uint32_t i = 0; i < electors->count; i++)
		asked[realm_at_address(electors->list[i].address)] = true;
	for (uint32_t i = 0; wide && i < host->addresses.count; i++)
		asked[realm_at_address(host->addresses.list[i].address)] = true;
	for (uint32_t i = 0; wide && i < view.seats_count; i++)
		asked[realm_at_address(view.seats[i].address)] = true;
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (asked[i])
			paths_send(realm, host->place, i, PATH_PETITION, effect->bytes,
			           effect->size);
	}
}

/* --- addresses --- */

static void remember(struct realm_host *host, const char *name, const char *address)
{
	struct elector *known = (struct elector *)electors_find(&host->addresses, name);

	if (known != NULL)
		snprintf(known->address, sizeof(known->address), "%s", address);
	else
		electors_add(&host->addresses, 0, entry_text_of(name), entry_text_of(address));
}

/* Keeps the voters that the member was told of as addresses for its next process, as member.c
 * does. */
static void remember_voters(const struct realm *realm, struct realm_host *host)
{
	const struct electors *electors = tenant_electors(resident_tenant(host->resident));

	for (uint32_t i = 0; realm->engine->voters_change && i < electors->count; i++) {
		if (electors_find(&host->addresses, electors->list[i].name) == NULL)
			remember(host, electors->list[i].name, electors->list[i].address);
	}
}

static void remember_members(const struct realm *realm, struct realm_host *host)
{
	struct tenant_view view = tenant_view(resident_tenant(host->resident));

	for (uint32_t i = 0; realm->engine->voters_change && i < view.seats_count; i++) {
		if (strcmp(view.seats[i].name, host->name) != 0)
			remember(host, view.seats[i].name, view.seats[i].address);
	}
}

/* If voters can change, the list has no index: it has only addresses to try. */
void realm_name_voters(struct realm *realm, uint32_t place)
{
	struct electors *addresses = &realm->hosts[place].addresses;

	electors_clear(addresses, realm->engine->voters_change ? 0 : 1);
	for (uint32_t i = 0; i < realm->voters_count; i++) {
		const struct realm_host *voter = &realm->hosts[realm->voters[i]];
		electors_add(addresses, 0, entry_text_of(voter->name),
		             entry_text_of(voter->address));
	}
}

/* --- effects --- */

static void take_effect(struct realm *realm, struct realm_host *host,
                        const struct resident_effect *effect)
{
	switch (effect->kind) {
	case RESIDENT_NODE:
		if (effect->node.kind == NODE_STOP)
			realm_wrong(realm, "%s stops: %s", host->name, effect->node.stop.why);
		else if (effect->node.kind == NODE_SHOUT)
			realm_wrong(realm, "%s: %s", host->name, effect->node.shout.text);
		else
			actors_effect(realm, host->place, &effect->node);
		break;
	case RESIDENT_PETITION:
		petition(realm, host, effect);
		break;
	case RESIDENT_OFFENCE:
		realm_wrong(realm, "%s sends what no correct member sends: %s", effect->name,
		            effect->text);
		break;
	/* The clients of this host finish, or lose their locks when the lease ends. */
	case RESIDENT_REMOVED:
		if (tenant_removed(resident_tenant(host->resident)))
			verdict_removed(realm->verdict, host->place,
			                tenant_incarnation(resident_tenant(host->resident)));
		break;
	case RESIDENT_ELECTORS:
		remember_voters(realm, host);
		break;
	case RESIDENT_DIAL:
		paths_dial(realm, host->place, effect->line, effect->address);
		break;
	case RESIDENT_CLOSE:
		paths_close(realm, effect->line);
		break;
	case RESIDENT_VIEW:
		remember_members(realm, host);
		witness_view(realm, host->place);
		break;
	}
}

static void publish(struct realm *realm, uint32_t place)
{
	if (witness_lease(realm, place))
		guards_look(realm, place);
}

void realm_pump(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];
	struct resident_effect effect;
	struct strand *line;

	if (host->resident == NULL)
		return;
	publish(realm, place);
	while (!realm->failed && resident_effect(host->resident, &effect)) {
		publish(realm, place);
		take_effect(realm, host, &effect);
	}
	publish(realm, place);
	while ((line = resident_changed(host->resident)) != NULL)
		paths_changed(realm, line);
	witness_after(realm, place);
	await_resident(realm, host);
}

uint32_t realm_place_of(const struct realm *realm, uint64_t process)
{
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		if (realm->hosts[i].resident != NULL && realm->hosts[i].process == process)
			return i;
	}
	return REALM_NOWHERE;
}

/* --- the loop --- */

static void on_resident(struct realm *realm, struct realm_host *host, const struct event *event)
{
	if (host->resident == NULL || event->number != host->resident_wake)
		return;
	if (realm_paused(realm, host->place)) {
		realm_push(realm, host->paused_until, REALM_RESIDENT, host->place, event->number,
		           0);
		return;
	}
	host->resident_due = NODE_NEVER;
	resident_tick(host->resident, realm_read(realm, host->place, READER_RESIDENT));
	witness_ticked(realm, host->place);
	realm_pump(realm, host->place);
}

static void on_voter(struct realm *realm, struct realm_host *host, const struct event *event)
{
	if (!host->voter_lives || event->number != host->voter_wake)
		return;
	if (host->voter_paused_until > realm->now) {
		realm_push(realm, host->voter_paused_until, REALM_VOTER, host->place, event->number,
		           0);
		return;
	}
	host->voter_due = NODE_NEVER;
	realm->engine->tick(realm, host->place);
}

bool realm_step(struct realm *realm)
{
	struct event event;

	if (realm->failed || !queue_pop(realm->queue, &event))
		return false;
	realm->now = event.time;
	realm->events++;
	verdict_passed(realm->verdict, event.time);
	switch ((enum realm_event)event.kind) {
	case REALM_RESIDENT:
		on_resident(realm, &realm->hosts[event.node], &event);
		break;
	case REALM_VOTER:
		on_voter(realm, &realm->hosts[event.node], &event);
		break;
	case REALM_DATAGRAM:
		paths_on_datagram(realm, &event);
		break;
	case REALM_LINE:
		paths_on_line(realm, &event);
		break;
	case REALM_LOG:
		realm->engine->on_event(realm, &event);
		break;
	case REALM_ACTOR:
		actors_on_event(realm, &event);
		break;
	case REALM_GUEST:
		guests_on_event(realm, &event);
		break;
	case REALM_GUARD:
		guards_on_event(realm, &event);
		break;
	case REALM_FAULT:
		mischief_on_event(realm, &event);
		break;
	}
	return !realm->failed;
}

/* --- processes --- */

static struct named_links named_links(const struct realm *realm)
{
	return (struct named_links){realm->links_count != 0 ? realm->links : NULL,
	                            realm->links_count};
}

struct wiring realm_wiring(const struct realm *realm)
{
	const struct ordeal_plan *plan = realm->plan;
	const struct algorithm *algorithm = plan->algorithm;
	struct wiring wiring = {.complete = algorithm->links == GRAPH_COMPLETE, .seed = plan->seed};
	const char *text = plan->topology != NULL ? plan->topology : algorithm->topology;

	must(topology_parse(text, &wiring.topology) == NULL);
	wiring.links = named_links(realm);
	return wiring;
}

/* Algorithms that run on any connected graph get named links in half of the runs: a random tree,
 * and some more links. When a host is gone, the rest of that graph may fall apart. */
static void draw_links(struct realm *realm)
{
	const struct ordeal_plan *plan = realm->plan;
	struct chance chance = chance_stream(plan->seed, STREAM_PLAN, 4);
	uint32_t more = (uint32_t)chance_below(&chance, plan->nodes);

	if (plan->algorithm->links != GRAPH_CONNECTED || plan->topology != NULL ||
	    chance_percent(&chance, 50))
		return;
	for (uint32_t i = 1; i < plan->nodes + more; i++) {
		uint32_t a =
		        i < plan->nodes ? i : (uint32_t)chance_between(&chance, 1, plan->nodes - 1);
		realm->links[realm->links_count++] = (struct named_link){
		        ordeal_name(a), ordeal_name((uint32_t)chance_below(&chance, a))};
	}
}

static struct state_settings settings_of(const struct ordeal_plan *plan)
{
	struct chance chance = chance_stream(plan->seed, STREAM_PLAN, 1);

	/* Some clusters run out of fences all the time, some never. */
	return (struct state_settings){.lease_ns = plan->lease_ns,
	                               .base = UINT64_C(1) << 40,
	                               .block = chance_percent(&chance, 50) ? 6 : 1 << 20};
}

const struct state_settings *realm_settings(const struct realm *realm)
{
	return &realm->settings;
}

/* Returns the most bytes that one link may have to carry at the beginning of an epoch: a report
 * and, for each client of a host, its subscriptions, a request, a question and the value that it
 * publishes. Where frames are passed on, one link may have to carry those of all hosts. */
static uint64_t beginning_max(const struct ordeal_plan *plan)
{
	enum { CLIENTS_MAX = 4, REQUESTS_MAX = 4, FRAME_MAX = 64 };
	uint64_t one = CLIENTS_MAX * (plan->locks + REQUESTS_MAX) * FRAME_MAX;

	return plan->algorithm->links == GRAPH_COMPLETE ? one : plan->nodes * one;
}

/* In some clusters a link has room for only a few waiting frames while it is down. But the first
 * frames of an epoch must fit once the link has grown to 8 times its first limit (link.h);
 * otherwise no epoch would last. */
static size_t draw_kept(const struct ordeal_plan *plan)
{
	struct chance chance = chance_stream(plan->seed, STREAM_PLAN, 2);
	uint64_t least = beginning_max(plan) / 8;

	if (!chance_percent(&chance, 25))
		return 0;
	return chance_between(&chance, least, least + 340);
}

void realm_start(struct realm *realm, uint32_t place)
{
	const struct ordeal_plan *plan = realm->plan;
	struct realm_host *host = &realm->hosts[place];
	struct chance chance = chance_stream(plan->seed, STREAM_PLAN, 0);
	struct chance backlog = chance_stream(plan->seed, STREAM_PLAN, 3);
	const char *wrong;

	must(host->resident == NULL);
	host->life++;
	do {
		host->process = chance_next(&host->chance);
	} while (host->process == 0 || realm_place_of(realm, host->process) != REALM_NOWHERE);
	struct resident_options options = {
	        .name = host->name,
	        .address = host->address,
	        .process = host->process,
	        .lease_ns = host->lease_ns != 0 ? host->lease_ns : plan->lease_ns,
	        .wiring = realm_wiring(realm),
	        .kept_max = draw_kept(plan),
	        .server = realm_server(realm, place),
	        .witness = host->only_votes,
	        .voters = &host->addresses,
	        .node =
	                {
	                        .cluster = plan->seed,
	                        .algorithm = plan->algorithm,
	                        .topology = plan->topology,
	                        .seed = plan->seed,
	                        .links = named_links(realm),
	                        .turns = chance_percent(&chance, 50) ? 1 : 3,
	                        .idle_hop_ns = 10 * REALM_MS,
	                },
	};
	/* In some clusters a node soon runs out of room for frames that wait for a view, or for a
	 * closed lock. */
	if (chance_percent(&backlog, 25))
		options.node.limits.backlog_bytes = (uint32_t)chance_between(&backlog, 1, 300);
	host->lease_ns = 0;
	host->resident = resident_create(&options, &wrong);
	must(host->resident != NULL);
	host->departs = false;
	host->paused_until = host->voter_paused_until = 0;
	memset(host->torn, 0, sizeof(host->torn));
	host->resident_due = NODE_NEVER;
	witness_started(realm, place);
	host->voter_lives = host->votes;
	host->voter_due = NODE_NEVER;
	if (host->votes)
		realm->engine->start(realm, place);
	resident_tick(host->resident, realm_read(realm, place, READER_RESIDENT));
	realm_pump(realm, place);
}

void realm_kill(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];

	if (host->resident == NULL)
		return;
	witness_ended(realm, place);
	paths_kill(realm, place);
	actors_orphan(realm, place);
	resident_destroy(host->resident);
	host->resident = NULL;
	host->resident_wake++;
	if (host->voter_lives) {
		realm->engine->stop(realm, place);
		host->voter_lives = false;
		host->voter_wake++;
	}
}

void realm_reboot_clock(struct realm *realm, uint32_t place)
{
	struct realm_host *host = &realm->hosts[place];

	host->booted_at = realm->now;
	host->clock_base = 5 * REALM_SECOND;
}

void realm_pause(struct realm *realm, uint32_t place, uint64_t until, bool resident, bool voter)
{
	struct realm_host *host = &realm->hosts[place];

	if (resident && until > host->paused_until)
		host->paused_until = until;
	if (!voter || until <= host->voter_paused_until)
		return;
	if (host->voter_paused_until <= realm->now)
		host->voter_paused_from = realm->now;
	host->voter_paused_until = until;
}

/* --- beginning and ending --- */

uint32_t realm_at_address(const char *address)
{
	return (uint32_t)strtoul(address, NULL, 10);
}

uint64_t realm_server(const struct realm *realm, uint32_t place)
{
	return realm->engine->server != NULL && place < realm->plan->nodes
	               ? realm->engine->server(realm, place)
	               : 0;
}

uint32_t realm_voters_wanted(uint32_t nodes)
{
	return nodes >= 7 ? 5 : nodes >= 3 ? 3 : 1;
}

void realm_init(struct realm *realm, const struct ordeal_plan *plan)
{
	memset(realm, 0, sizeof(*realm));
	realm->plan = plan;
	realm->settings = settings_of(plan);
	draw_links(realm);
	realm->trace = plan->trace;
	realm->drawing = plan->drawing;
	realm->queue = queue_create();
	realm->hosts_count = plan->nodes + 1;
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		struct realm_host *host = &realm->hosts[i];
		host->place = i;
		host->up = i < plan->nodes;
		host->chance = chance_stream(plan->seed, STREAM_HOSTS, i);
		snprintf(host->name, sizeof(host->name), "%s",
		         i < plan->nodes ? ordeal_name(i) : "");
		snprintf(host->address, sizeof(host->address), "%u", i % 10000);
		host->clock_base = chance_between(&host->chance, 1, 1000) * REALM_SECOND;
		host->drift_ppm = (int64_t)chance_below(&host->chance, 1999) - 999;
	}
	realm->members_count = plan->nodes;
	realm->voters_count = realm_voters_wanted(plan->nodes);
	for (uint32_t i = 0; i < realm->voters_count; i++) {
		realm->voters[i] = i;
		realm->hosts[i].votes = true;
	}
	realm->paths = paths_create(plan->seed);
	realm->engine = plan->engine == ENGINE_ATOMIC ? &spiteful_log : &raft_log;
	realm->engine->create(realm);
	realm->actors = actors_create(realm);
	realm->verdict = witness_create(realm);
	realm->reign = reign_create();
	realm->mischief = mischief_create(realm);
	realm->engine->begin(realm);
	for (uint32_t i = 0; i < realm->hosts_count; i++)
		realm_name_voters(realm, i);
	for (uint32_t i = 0; i < plan->nodes; i++)
		realm_start(realm, i);
	actors_begin(realm);
	mischief_begin(realm);
}

void realm_free(struct realm *realm)
{
	for (uint32_t i = 0; i < realm->hosts_count; i++) {
		struct realm_host *host = &realm->hosts[i];
		if (host->resident != NULL)
			resident_destroy(host->resident);
		electors_free(&host->addresses);
	}
	mischief_destroy(realm->mischief);
	reign_destroy(realm->reign);
	verdict_destroy(realm->verdict);
	actors_destroy(realm->actors);
	realm->engine->destroy(realm);
	paths_destroy(realm->paths);
	queue_destroy(realm->queue);
}
