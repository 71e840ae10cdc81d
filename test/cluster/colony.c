#include "colony.h"

#include "memory.h"
#include "outbuffer.h"
#include "tenant.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* --- what happened --- */

void colony_mark(struct colony *colony, const char *what, uint32_t place, uint64_t a, uint64_t b)
{
	uint64_t numbers[] = {colony->hash, colony->now, place, a, b};

	colony->hash = XXH3_64bits(numbers, sizeof(numbers));
	if (colony->trace != NULL)
		fprintf(colony->trace,
		        "%6" PRIu64 ".%06" PRIu64 "  %-5s %s %" PRIu64 " %" PRIu64 "\n",
		        colony->now / COLONY_SECOND, colony->now % COLONY_SECOND / 1000,
		        colony->places[place].name, what, a, b);
}

void colony_note(struct colony *colony, uint32_t place, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (size > (int)sizeof(text) - 1)
		size = (int)sizeof(text) - 1;
	colony->hash ^= XXH3_64bits_withSeed(text, (size_t)size, colony->now + place);
	if (colony->trace != NULL)
		fprintf(colony->trace, "%6" PRIu64 ".%06" PRIu64 "  %-5s %s\n",
		        colony->now / COLONY_SECOND, colony->now % COLONY_SECOND / 1000,
		        colony->places[place].name, text);
}

void colony_wrong(struct colony *colony, const char *format, ...)
{
	va_list arguments;

	if (colony->failed)
		return;
	colony->failed = true;
	int used = snprintf(colony->wrong, sizeof(colony->wrong), "at %" PRIu64 ".%06" PRIu64 ": ",
	                    colony->now / COLONY_SECOND, colony->now % COLONY_SECOND / 1000);
	va_start(arguments, format);
	vsnprintf(colony->wrong + used, sizeof(colony->wrong) - (size_t)used, format, arguments);
	va_end(arguments);
}

/* --- time --- */

uint64_t colony_clock(const struct colony *colony, uint32_t place)
{
	const struct colony_place *at = &colony->places[place];
	/* Compute in whole microseconds, so that nothing overflows. */
	int64_t off = (int64_t)(colony->now / 1000) * at->drift_ppm / 1000;

	return at->clock_base + colony->now + (uint64_t)off;
}

uint64_t colony_when(const struct colony *colony, uint32_t place, uint64_t clock)
{
	uint64_t here = colony_clock(colony, place);

	if (clock <= here)
		return colony->now;
	uint64_t ahead = clock - here;
	/* Round up: a timer that fires early has to fire again. */
	uint64_t rate = (uint64_t)(1000000 + colony->places[place].drift_ppm);
	return colony->now + ahead / rate * 1000000 + ahead % rate * 1000000 / rate + 2000;
}

void colony_push(struct colony *colony, uint64_t time, enum colony_event kind, uint32_t place,
                 uint64_t number, uint32_t from)
{
	queue_push(colony->queue, &(struct event){.time = time < colony->now ? colony->now : time,
	                                          .kind = (uint8_t)kind,
	                                          .node = place,
	                                          .number = number,
	                                          .from = from});
}

static void await_tick(struct colony *colony, struct colony_place *place)
{
	uint64_t deadline = member_deadline(place->member);

	if (deadline == place->tick)
		return;
	place->tick = deadline;
	place->tick_number++;
	if (deadline != NODE_NEVER)
		colony_push(colony, colony_when(colony, place->number, deadline), COLONY_TICK,
		            place->number, place->tick_number, 0);
}

/* --- effects --- */

/* May the member log this? If all nodes keep to the protocol, nobody has a reason to log anything
 * else about others. */
static bool may_say(const struct colony *colony, const char *text)
{
	static const char *const lines[] = {
	        "leads the voters",     "Connection refused", "No route to host",
	        "Connection timed out", "it does not answer", "it says nothing about itself",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (strstr(text, lines[i]) != NULL)
			return true;
	}
	if (colony->plan.strange_ca &&
	    (strstr(text, "its certificate is not signed by this") != NULL ||
	     strstr(text, "it refuses our certificate") != NULL))
		return true;
	if (colony->plan.tls && strstr(text, "its TLS handshake takes too long") != NULL)
		return true;
	return colony->plan.strangers && strstr(text, "it belongs to another cluster") != NULL;
}

static void take_log(struct colony *colony, const struct colony_place *place, const char *text)
{
	colony_note(colony, place->number, "says: %s", text);
	if (!may_say(colony, text))
		colony_wrong(colony, "%s says: %s", place->name, text);
}

static struct node_options node_options(const struct colony *colony)
{
	return (struct node_options){
	        .algorithm = colony->plan.algorithm,
	        .seed = colony->plan.seed,
	        .turns = colony->plan.seed % 2 == 0 ? 1 : 3,
	        .idle_hop_ns = 10 * COLONY_MS,
	};
}

static const char settings[] = "lease 3s\nset of lines\n";

static void settle(struct colony *colony, struct colony_place *place, const struct charter *charter)
{
	struct cluster_id *cluster = &colony->clusters[place->stranger];
	const struct algorithm *algorithm = colony->plan.algorithm;
	struct member_settlement settlement = {
	        .node = node_options(colony),
	        .wiring = {.complete = algorithm->links == GRAPH_COMPLETE,
	                   .seed = colony->plan.seed},
	        .lease_ns = colony->plan.lease_ns,
	};

	colony_note(colony, place->number, "is of the cluster %016" PRIx64, charter->cluster.high);
	/* The founder may have lost its disk before anybody else knew that the cluster lives. */
	for (uint32_t i = 0; !cluster_is(*cluster, charter->cluster) && i < colony->places_count;
	     i++) {
		const struct colony_place *other = &colony->places[i];
		if (other != place && other->stranger == place->stranger &&
		    (disk_lives(other) ||
		     (other->member != NULL && member_tenant(other->member) != NULL)))
			colony_wrong(colony, "%s and %s live in different clusters", place->name,
			             other->name);
	}
	*cluster = charter->cluster;
	if (charter->settings == NULL || strcmp(charter->settings, settings) != 0) {
		colony_wrong(colony, "%s is told other settings", place->name);
		return;
	}
	must(topology_parse(algorithm->topology, &settlement.wiring.topology) == NULL);
	clients_orphan(colony, place->number, 0);
	const char *wrong =
	        member_settle(place->member, &settlement, colony_clock(colony, place->number));
	if (wrong != NULL)
		colony_wrong(colony, "%s cannot settle: %s", place->name, wrong);
}

static void look_at_view(struct colony *colony, const struct colony_place *place)
{
	struct tenant_view view = tenant_view(member_tenant(place->member));

	colony_note(colony, place->number, "epoch %" PRIu64 ", %u members%s", view.epoch,
	            view.seats_count, view.self < view.seats_count ? "" : ", not in it");
	for (uint32_t i = 0; i < view.seats_count; i++) {
		for (uint32_t k = 0; k < colony->places_count; k++) {
			if (strcmp(view.seats[i].name, colony->places[k].name) == 0 &&
			    colony->places[k].stranger != place->stranger)
				colony_wrong(colony, "%s is in a view of another cluster",
				             view.seats[i].name);
		}
	}
}

static void take_node_effect(struct colony *colony, const struct colony_place *place,
                             const struct node_effect *effect)
{
	if (effect->kind == NODE_STOP)
		colony_wrong(colony, "%s stops: %s", place->name, effect->stop.why);
	else if (effect->kind == NODE_SHOUT)
		colony_wrong(colony, "%s: %s", place->name, effect->shout.text);
	else
		clients_effect(colony, place->number, effect);
}

static void take_effect(struct colony *colony, struct colony_place *place,
                        const struct member_effect *effect)
{
	switch (effect->kind) {
	case MEMBER_NODE:
		take_node_effect(colony, place, &effect->node);
		break;
	case MEMBER_DIAL:
		wires_dial(colony, place->number, effect->dial.connection, effect->dial.address);
		break;
	case MEMBER_CLOSE:
		wires_close(colony, effect->close);
		break;
	case MEMBER_VIEW:
		look_at_view(colony, place);
		break;
	case MEMBER_SETTLE:
		settle(colony, place, effect->charter);
		break;
	case MEMBER_WRITE:
		disk_begin_write(colony, place, effect->write);
		break;
	case MEMBER_IDENTITY:
		disk_begin_identity(colony, place, member_identity(place->member));
		break;
	case MEMBER_ANSWERED:
		operator_answered(colony, place, effect);
		break;
	case MEMBER_REMOVED:
		break;
	case MEMBER_ADDRESS:
		disk_begin_address(colony, place, effect->address.name, effect->address.address);
		break;
	case MEMBER_STOP:
		colony_wrong(colony, "%s must end: %s", place->name, effect->stop);
		break;
	case MEMBER_LOG:
		take_log(colony, place, effect->log.text);
		break;
	}
}

static void publish(struct colony *colony, struct colony_place *place)
{
	uint64_t word = node_lease_word(member_node(place->member));

	if (word == place->word)
		return;
	place->word = word;
	colony_mark(colony, "lease", place->number, word >> 16, word & 0xffff);
	clients_judge(colony);
}

void colony_pump(struct colony *colony, uint32_t number)
{
	struct colony_place *place = &colony->places[number];
	struct member_effect effect;
	struct connection *connection;

	if (place->member == NULL)
		return;
	publish(colony, place);
	while (!colony->failed && member_effect(place->member, &effect)) {
		publish(colony, place);
		take_effect(colony, place, &effect);
	}
	publish(colony, place);
	while (!colony->failed && (connection = member_changed(place->member)) != NULL)
		wires_changed(colony, connection);
	await_tick(colony, place);
}

/* --- processes --- */

static uint64_t draw(void *context)
{
	return chance_next(context);
}

static uint64_t real_s(void *context)
{
	(void)context;
	return 0; /* only invitations need the wall clock */
}

static void identify(struct colony *colony, struct colony_place *place,
                     struct identity *ret_identity)
{
	if (place->keeps) {
		if (!identity_read(place->disk.identity.bytes, place->disk.identity.bytes_count,
		                   ret_identity))
			colony_wrong(colony, "%s cannot read its identity", place->name);
	} else {
		*ret_identity = (struct identity){.server = chance_next(&place->chance) | 1};
		name_identity(place, ret_identity);
	}
	place->server = ret_identity->server;
}

/* Lists the founders of the cluster to which the place belongs. */
static uint32_t list_founders(const struct colony *colony, const struct colony_place *place,
                              struct member_peer *peers)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < colony->places_count; i++) {
		const struct colony_place *other = &colony->places[i];
		if (other->stranger == place->stranger && !other->joins)
			peers[count++] = (struct member_peer){other->name, other->address};
	}
	return count;
}

/* A node that joins is told the address of one founder, or of all. Strangers know the other
 * cluster, as if somebody had copied addresses. */
static void list_addresses(const struct colony *colony, struct colony_place *place,
                           struct electors *ret_addresses)
{
	struct member_peer peers[COLONY_PLACES_MAX];
	uint32_t count = list_founders(colony, place, peers);
	uint32_t only = (uint32_t)chance_below(&place->chance, 2UL * count);

	electors_copy(ret_addresses, &place->disk.addresses);
	for (uint32_t i = 0; place->joins && i < count; i++) {
		if (only >= count || i == only)
			electors_add(ret_addresses, 0, entry_text_of(""),
			             entry_text_of(peers[i].address));
	}
	/* A node that was born alone ends when another cluster knows its name. */
	for (uint32_t i = 0; place->stranger && i < colony->plan.nodes; i++)
		electors_add(ret_addresses, 0,
		             entry_text_of(colony->plan.founders > 1 ? colony->places[i].name : ""),
		             entry_text_of(colony->places[i].address));
}

void colony_start(struct colony *colony, uint32_t number)
{
	struct colony_place *place = &colony->places[number];
	struct durable_content content = shadow_content(&place->disk.log);
	struct member_peer peers[COLONY_PLACES_MAX];
	struct identity identity = {0};
	struct electors addresses = {0};
	uint64_t clock = colony_clock(colony, number);
	const char *wrong;

	if (place->member != NULL)
		return;
	identify(colony, place, &identity);
	list_addresses(colony, place, &addresses);
	place->process = chance_next(&place->chance) | 1;
	struct member_options options = {
	        .process = place->process,
	        .identity = &identity,
	        .content = place->keeps ? &content : NULL,
	        .peers = peers,
	        .peers_count = place->joins ? 0 : list_founders(colony, place, peers),
	        .addresses = &addresses,
	        .settings = settings,
	        .base = (UINT64_C(1) << 40) + chance_below(&place->chance, 1000),
	        .begin_at = clock + chance_below(&place->chance, 2) * 100 * COLONY_MS,
	        .node = node_options(colony),
	        .electorate = colony->plan.electorate,
	        .credentials = keys_of(colony, place),
	        .draw = draw,
	        .real_s = real_s,
	        .context = &place->chance,
	};
	/* A node that has met the founders once, or knows others, need not be given the list
	 * again. */
	bool knows = identity.stage == BIRTH_RECORD ||
	             (identity.stage == BIRTH_LIFE && place->disk.addresses.count > 0);
	if (knows && chance_percent(&place->chance, 30))
		options.peers_count = 0;
	place->life++;
	place->word = 0;
	place->tick = NODE_NEVER;
	place->paused_until = 0;
	place->leaving = false;
	colony_note(colony, number, "starts, stage %d, %zu entries", (int)identity.stage,
	            content.entries_count);
	place->member = member_create(&options, clock, &wrong);
	must(place->member != NULL);
	identity_free(&identity);
	electors_free(&addresses);
	member_tick(place->member, clock);
	colony_pump(colony, number);
}

void colony_kill(struct colony *colony, uint32_t number, bool polite)
{
	struct colony_place *place = &colony->places[number];

	if (place->member == NULL)
		return;
	colony_note(colony, number, polite ? "ends" : "is killed");
	colony->kills++;
	wires_kill(colony, number, polite);
	clients_orphan(colony, number, place->word);
	member_destroy(place->member);
	place->member = NULL;
	place->tick_number++;
	disk_crash(colony, place);
}

/* Ends processes that were asked to leave and have left. */
static void end_leavers(struct colony *colony)
{
	for (uint32_t i = 0; i < colony->places_count; i++) {
		struct colony_place *place = &colony->places[i];
		if (place->member != NULL && place->leaving &&
		    (member_left(place->member) || place->leave_until <= colony->now))
			colony_kill(colony, i, true);
	}
}

/* --- the loop --- */

static void tick(struct colony *colony, const struct event *event)
{
	struct colony_place *place = &colony->places[event->node];

	if (place->member == NULL || place->tick_number != event->number)
		return;
	/* If the member asks for the same deadline again, a new event must be planned. */
	place->tick = 0;
	member_tick(place->member, colony_clock(colony, event->node));
	colony_pump(colony, event->node);
}

static void act(struct colony *colony, const struct event *event)
{
	switch ((enum colony_event)event->kind) {
	case COLONY_TICK:
		tick(colony, event);
		break;
	case COLONY_START:
		colony_start(colony, event->node);
		break;
	case COLONY_DISK:
		disk_on_event(colony, event);
		break;
	case COLONY_WIRE:
		wires_on_event(colony, event);
		break;
	case COLONY_CLIENT:
		clients_on_event(colony, event);
		break;
	case COLONY_FAULT:
		faults_on_event(colony, event);
		break;
	case COLONY_ORDER:
		operator_on_event(colony);
		break;
	}
}

static bool step(struct colony *colony)
{
	struct event event;

	if (colony->failed || !queue_pop(colony->queue, &event))
		return false;
	colony->now = event.time;
	colony->events++;
	bool waits = event.kind != COLONY_FAULT && event.kind != COLONY_START &&
	             event.kind != COLONY_ORDER && colony_paused(colony, event.node);
	if (waits) {
		event.time = colony->places[event.node].paused_until;
		queue_push(colony->queue, &event);
		return true;
	}
	act(colony, &event);
	end_leavers(colony);
	wires_sweep(colony);
	return !colony->failed;
}

/* --- a run --- */

static void init(struct colony *colony, const struct colony_plan *plan, FILE *trace)
{
	static const char *const names[] = {"ant", "bee", "crow", "dog",
	                                    "elk", "fox", "wasp", "yak"};

	colony->plan = *plan;
	colony->trace = trace;
	colony->queue = queue_create();
	colony->chance = chance_stream(plan->seed, 1, 0);
	colony->places_count = plan->nodes + (plan->strangers ? COLONY_STRANGERS : 0);
	for (uint32_t i = 0; i < colony->places_count; i++) {
		struct colony_place *place = &colony->places[i];
		place->number = i;
		place->stranger = i >= plan->nodes;
		place->joins = !place->stranger && i >= plan->founders;
		place->chance = chance_stream(plan->seed, 2, i);
		place->keeps = !place->joins || !chance_percent(&place->chance, 25);
		const char *name = names[place->stranger ? COLONY_NODES_MAX + i - plan->nodes : i];
		snprintf(place->name, sizeof(place->name), "%s", name);
		snprintf(place->address, sizeof(place->address), "%s.example:%u", name, i);
		place->drift_ppm = (int64_t)chance_below(&place->chance, 1999) - 999;
		place->clock_base = chance_between(&place->chance, 1, 1000) * COLONY_SECOND;
		place->ca = place->stranger && plan->strange_ca ? KEYS_STRANGE : KEYS_FIRST;
		disk_init(place);
		disk_make(colony, place);
		colony_push(colony, chance_below(&place->chance, 2 * COLONY_SECOND), COLONY_START,
		            i, 0, 0);
	}
	wires_create(colony);
	clients_begin(colony);
	faults_begin(colony);
	operator_begin(colony);
}

/* Returns NULL if all serve, or otherwise what one of them waits for. */
static const char *unsettled(struct colony *colony, char room[200])
{
	const char *waits = clients_waiting(colony);

	for (uint32_t i = 0; i < colony->places_count; i++) {
		struct member *member = colony->places[i].member;
		const char *lacks;
		if (member == NULL)
			return "somebody has ended";
		if ((lacks = member_unborn(member)) != NULL ||
		    (lacks = node_waiting_for(member_node(member))) != NULL ||
		    (lacks = member_missing(member)) != NULL) {
			snprintf(room, 200, "%s waits for %.150s", colony->places[i].name, lacks);
			return room;
		}
	}
	return waits != NULL ? waits : operator_waiting(colony);
}

/* Runs until all serve again. This takes long, because a name that was removed many times waits
 * up to 64 leases before it may join. */
static void heal(struct colony *colony)
{
	enum { LEASES_MAX = 160 };
	uint64_t end = colony->now + LEASES_MAX * colony->plan.lease_ns, look = colony->now;
	const char *waits = "";
	char room[200];

	colony_note(colony, 0, "--- healing ---");
	faults_end(colony);
	clients_heal(colony);
	operator_heal(colony);
	while (waits != NULL && step(colony)) {
		if (colony->now < look)
			continue;
		look = colony->now + colony->plan.lease_ns / 4;
		waits = unsettled(colony, room);
		if (waits != NULL && colony->now > end)
			colony_wrong(colony, "everything has healed, and %s", waits);
	}
}

void colony_run(const struct colony_plan *plan, FILE *trace, struct colony_result *ret_result)
{
	struct colony *colony = calloc(1, sizeof(*colony));

	memory_must(colony != NULL);
	init(colony, plan, trace);
	while (colony->now < plan->faults_ns && step(colony))
		;
	if (!colony->failed)
		heal(colony);
	*ret_result = (struct colony_result){.failed = colony->failed,
	                                     .hash = colony->hash,
	                                     .events = colony->events,
	                                     .grants = colony->grants,
	                                     .connections = colony->connections,
	                                     .cuts = colony->cuts,
	                                     .bytes = colony->bytes,
	                                     .kills = colony->kills,
	                                     .wipes = colony->wipes,
	                                     .orders = colony->operator.answers };
	memcpy(ret_result->wrong, colony->wrong, sizeof(colony->wrong));
	for (uint32_t i = 0; i < colony->places_count; i++) {
		colony_kill(colony, i, false);
		disk_free(&colony->places[i]);
	}
	wires_destroy(colony);
	queue_destroy(colony->queue);
	free(colony);
}
