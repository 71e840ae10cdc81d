#include "resident.h"

#include "baton/error.h"
#include "memory.h"
#include "tie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum {
	ACKNOWLEDGE_MS = 100,    /* a frame is acknowledged after this time at the latest */
	KEPT_MAX = 64 << 20,     /* the most bytes that wait for a peer before the epoch must end */
	CONGESTED_SIZE = 1 << 20 /* if more bytes than this wait for a peer, it gets no events */
};

struct resident_outcome {
	STAILQ_ENTRY(resident_outcome) entry;
	struct resident_effect effect;
	uint8_t bytes[];
};

struct resident {
	char *name;
	uint64_t process, setup, cluster;
	struct node *node;
	struct tenant *tenant;
	struct ties ties;
	size_t kept_max;
	uint64_t now;
	uint64_t ties_at; /* when ties_tick is due */
	/* When to acknowledge the frames that arrived; NODE_NEVER: there are none. */
	uint64_t acknowledge_at;
	bool departs;      /* this process was told to leave, and does not want to join again */
	bool removal_news; /* the driver is yet to learn that tenant_removed has changed */
	uint64_t overflow; /* the epoch of a frame that could not be kept; 0: none */
	STAILQ_HEAD(, resident_outcome) outcomes;
	struct resident_outcome *taken;
};

static struct resident_outcome *put(struct resident *resident, enum resident_effect_kind kind,
                                    size_t size)
{
	struct resident_outcome *outcome = calloc(1, sizeof(*outcome) + size);

	memory_must(outcome != NULL);
	outcome->effect.kind = kind;
	STAILQ_INSERT_TAIL(&resident->outcomes, outcome, entry);
	return outcome;
}

/* --- for ties --- */

struct ties *resident_ties(struct resident *resident)
{
	return &resident->ties;
}

uint64_t resident_now(const struct resident *resident)
{
	return resident->now;
}

size_t resident_kept_max(const struct resident *resident)
{
	return resident->kept_max;
}

void resident_dial(struct resident *resident, struct strand *line)
{
	struct resident_outcome *outcome = put(resident, RESIDENT_DIAL, 0);

	outcome->effect.line = line;
	outcome->effect.name = line->tie->name;
	outcome->effect.address = line->tie->address;
}

void resident_forget_line(struct resident *resident, const struct strand *line)
{
	struct resident_outcome *outcome, *next;

	for (outcome = STAILQ_FIRST(&resident->outcomes); outcome != NULL; outcome = next) {
		next = STAILQ_NEXT(outcome, entry);
		if (outcome->effect.line != line)
			continue;
		STAILQ_REMOVE(&resident->outcomes, outcome, resident_outcome, entry);
		free(outcome);
	}
}

void resident_due(struct resident *resident, uint64_t at)
{
	if (at < resident->ties_at)
		resident->ties_at = at;
}

void resident_close(struct resident *resident, struct strand *line)
{
	put(resident, RESIDENT_CLOSE, 0)->effect.line = line;
}

/* A process that wants to join renews at once, so that the voters learn early that its link is
 * up. */
static void hurry(struct resident *resident)
{
	if (tenant_incarnation(resident->tenant) == 0 && !resident->departs)
		node_renew(resident->node, resident->now);
}

void resident_stands(struct resident *resident, const struct tie *tie, bool stands)
{
	tenant_linked(resident->tenant, tie->process, stands);
	if (stands)
		hurry(resident);
}

size_t resident_hello(const struct resident *resident, const struct tie *tie, uint8_t *room)
{
	struct link_hello hello = {
	        .cluster = resident->cluster,
	        .setup = resident->setup,
	        .process = resident->process,
	        .peer_process = tie->process,
	        .received = link_received(tie->link),
	};

	snprintf(hello.name, sizeof(hello.name), "%s", resident->name);
	snprintf(hello.peer, sizeof(hello.peer), "%s", tie->name);
	return link_hello_write(&hello, room);
}

const char *resident_judge(const struct resident *resident, const struct link_hello *hello)
{
	if (hello->cluster != resident->cluster)
		return "it belongs to another cluster";
	if (hello->setup != resident->setup)
		return "its algorithm, topology or parameters differ from ours";
	if (strcmp(hello->name, resident->name) == 0)
		return "it has this node's name";
	if (hello->peer_process != resident->process)
		return "it looks for another process of this name";
	return NULL;
}

int resident_frame(struct resident *resident, const struct tie *tie, const uint8_t *bytes,
                   size_t size)
{
	int error = node_receive(resident->node, tie->name, bytes, size, resident->now);

	if (error == BATON_EAGAIN)
		return error;
	if (resident->acknowledge_at == NODE_NEVER)
		resident->acknowledge_at = resident->now + ACKNOWLEDGE_MS * MS;
	/* A node that has stopped refuses every frame, which is not the sender's fault. */
	return error == BATON_ESTOPPED ? 0 : error;
}

void resident_offended(struct resident *resident, const char *name, const char *text)
{
	size_t name_size = strlen(name) + 1, text_size = strlen(text) + 1;
	struct resident_outcome *outcome = put(resident, RESIDENT_OFFENCE, name_size + text_size);

	memcpy(outcome->bytes, name, name_size);
	memcpy(outcome->bytes + name_size, text, text_size);
	outcome->effect.name = (const char *)outcome->bytes;
	outcome->effect.text = (const char *)outcome->bytes + name_size;
}

/* --- effects of the node --- */

static void look_at_congestion(struct resident *resident, struct tie *tie, uint32_t member)
{
	size_t pending = link_pending(tie->link);
	bool congested = pending > (tie->congested ? CONGESTED_SIZE / 2 : CONGESTED_SIZE);

	if (congested == tie->congested)
		return;
	tie->congested = congested;
	node_congested(resident->node, member, congested, resident->now);
}

/* Checks whether the link is still congested. Without this check, subscribers would be told of
 * dropped events only when the next frame is sent. */
void resident_drained(struct resident *resident, struct tie *tie)
{
	struct tenant_view view = tenant_view(resident->tenant);

	for (uint32_t i = 0; i < view.seats_count; i++) {
		if (view.seats[i].process == tie->process)
			look_at_congestion(resident, tie, i + 1);
	}
}

/* Sends a frame. If the link cannot keep it, the peer misses a frame, and only a new epoch can
 * repair that. */
static void send(struct resident *resident, const struct node_effect *effect)
{
	struct tenant_view view = tenant_view(resident->tenant);
	uint32_t to = effect->send.to;

	if (effect->send.epoch != view.epoch || to > view.seats_count)
		return;
	struct tie *tie = ties_find(&resident->ties, view.seats[to - 1].process);
	if (tie == NULL ||
	    tie_send(tie, effect->send.epoch, effect->send.bytes, effect->send.size) != 0) {
		resident->overflow = effect->send.epoch;
		tenant_bump(resident->tenant, effect->send.epoch);
		return;
	}
	look_at_congestion(resident, tie, to);
}

static void renew(struct resident *resident, uint64_t taken)
{
	struct tenant_view view = tenant_view(resident->tenant);
	uint64_t *unreported = calloc(view.seats_count + 1UL, sizeof(*unreported));
	struct tenant_condition condition = {.active = node_active(resident->node)};
	bool knows = node_epoch(resident->node) == view.epoch && view.self < view.seats_count;

	memory_must(unreported != NULL);
	condition.unreported = unreported;
	for (uint32_t i = 0; i < view.seats_count && knows && !condition.active; i++) {
		if (!node_reported(resident->node, i + 1))
			unreported[condition.unreported_count++] = view.seats[i].process;
	}
	tenant_renew(resident->tenant, taken, &condition);
	free(unreported);
	if (resident->overflow != 0 && resident->overflow == view.epoch)
		tenant_bump(resident->tenant, view.epoch);
}

/* Returns true if the effect is for the driver. */
static bool is_for_driver(struct resident *resident, const struct node_effect *effect)
{
	switch (effect->kind) {
	case NODE_SEND:
		send(resident, effect);
		return false;
	case NODE_READ:
		ties_read_again(resident);
		return false;
	case NODE_BUMP:
		tenant_bump(resident->tenant, effect->bump.epoch);
		return false;
	case NODE_EXTEND:
		tenant_extend(resident->tenant, effect->extend.epoch, effect->extend.limit);
		return false;
	case NODE_RENEW:
		renew(resident, effect->renew.taken);
		return false;
	case NODE_DEPART:
		/* An operator may have removed this node and invited it again before its last hold
		 * ended. Then it must not leave. */
		if (resident->departs || tenant_incarnation(resident->tenant) != 0)
			tenant_depart(resident->tenant, true);
		return false;
	case NODE_REPLY:
	case NODE_EVENT:
	case NODE_LOST:
	case NODE_STOP:
	case NODE_WARN:
	case NODE_SHOUT:
		return true;
	}
	return true;
}

/* --- effects of the tenant --- */

/* A member that is to leave and has no seat has left. But an earlier petition of its own may still
 * give it a seat; then it must leave again. */
static void stay_out(struct resident *resident)
{
	bool is_out = tenant_incarnation(resident->tenant) == 0;

	if (resident->departs || tenant_removed(resident->tenant))
		node_depart(resident->node, resident->now);
	/* A node that an operator has removed keeps asking, because it may be invited again. */
	if (is_out)
		tenant_depart(resident->tenant, resident->departs);
}

static void enter(struct resident *resident)
{
	struct tenant_view view = tenant_view(resident->tenant);
	struct node_member *members = calloc(view.seats_count + 1UL, sizeof(*members));

	memory_must(members != NULL);
	for (uint32_t i = 0; i < view.seats_count; i++)
		members[i] = (struct node_member){.name = view.seats[i].name,
		                                  .incarnation = view.seats[i].incarnation,
		                                  .address = view.seats[i].address};
	struct node_agreement agreement = {
	        .epoch = view.epoch,
	        .base = view.base,
	        .limit = view.limit,
	        .members = members,
	        .members_count = view.seats_count,
	        .self = view.self < view.seats_count ? view.self : NODE_NOT_IN,
	};
	ties_forget(&resident->ties, view.epoch);
	node_enter(resident->node, &agreement, resident->now);
	free(members);
	stay_out(resident);
	put(resident, RESIDENT_VIEW, 0);
}

static void want(struct resident *resident)
{
	uint32_t count;
	const struct tenant_peer *peers = tenant_peers(resident->tenant, &count);

	ties_want(resident, peers, count);
}

static void put_petition(struct resident *resident, const struct tenant_effect *effect)
{
	struct resident_outcome *outcome = put(resident, RESIDENT_PETITION, effect->size);

	memcpy(outcome->bytes, effect->bytes, effect->size);
	outcome->effect.bytes = outcome->bytes;
	outcome->effect.size = effect->size;
	outcome->effect.wide = effect->wide;
}

/* Takes the tenant's effects. A new view is entered last, so that its links are made before its
 * first frame is sent. */
static void pump_tenant(struct resident *resident)
{
	struct tenant_effect effect;
	bool entered = false;

	while (tenant_effect(resident->tenant, &effect)) {
		switch (effect.kind) {
		case TENANT_PETITION:
			put_petition(resident, &effect);
			break;
		case TENANT_LEASE:
			node_lease(resident->node, effect.deadline, resident->now);
			break;
		case TENANT_LIMIT:
			node_extend(resident->node, effect.epoch, effect.limit, resident->now);
			break;
		case TENANT_VIEW:
			entered = true;
			break;
		case TENANT_PEERS:
			want(resident);
			hurry(resident);
			break;
		case TENANT_REMOVED:
			stay_out(resident);
			resident->removal_news = true;
			break;
		case TENANT_ELECTORS:
			put(resident, RESIDENT_ELECTORS, 0);
			break;
		}
	}
	if (entered)
		enter(resident);
}

bool resident_effect(struct resident *resident, struct resident_effect *ret_effect)
{
	free(resident->taken);
	resident->taken = NULL;
	for (;;) {
		pump_tenant(resident);
		struct resident_outcome *outcome = STAILQ_FIRST(&resident->outcomes);
		if (outcome != NULL) {
			STAILQ_REMOVE_HEAD(&resident->outcomes, entry);
			*ret_effect = outcome->effect;
			resident->taken = outcome;
			return true;
		}
		if (!node_effect(resident->node, &ret_effect->node))
			break;
		if (is_for_driver(resident, &ret_effect->node)) {
			ret_effect->kind = RESIDENT_NODE;
			return true;
		}
	}
	/* The node may have granted locks just before it learned that an operator has removed it.
	 * Their clients are told first. */
	if (resident->removal_news) {
		resident->removal_news = false;
		ret_effect->kind = RESIDENT_REMOVED;
		return true;
	}
	/* Choose the peers to dial only when there is nothing else to do. */
	if (resident->ties_at > resident->now)
		return false;
	resident->ties_at = ties_tick(resident);
	return !STAILQ_EMPTY(&resident->outcomes) && resident_effect(resident, ret_effect);
}

/* --- time --- */

uint64_t resident_deadline(const struct resident *resident)
{
	uint64_t at = node_deadline(resident->node);

	if (resident->ties_at < at)
		at = resident->ties_at;
	return resident->acknowledge_at < at ? resident->acknowledge_at : at;
}

void resident_tick(struct resident *resident, uint64_t now)
{
	if (now > resident->now)
		resident->now = now;
	node_tick(resident->node, resident->now);
	if (resident->acknowledge_at <= resident->now) {
		resident->acknowledge_at = NODE_NEVER;
		ties_acknowledge(resident);
	}
}

bool resident_bulletin(struct resident *resident, const uint8_t *bytes, size_t size, uint64_t now)
{
	resident_tick(resident, now);
	return tenant_bulletin(resident->tenant, bytes, size);
}

void resident_depart(struct resident *resident, uint64_t now)
{
	resident_tick(resident, now);
	resident->departs = true;
	stay_out(resident);
}

/* --- creating and freeing --- */

struct node *resident_node(const struct resident *resident)
{
	return resident->node;
}

const struct tenant *resident_tenant(const struct resident *resident)
{
	return resident->tenant;
}

void resident_traffic(const struct resident *resident, uint64_t process, uint64_t *ret_sent,
                      uint64_t *ret_received)
{
	const struct tie *tie = ties_find(&resident->ties, process);

	*ret_sent = tie != NULL ? tie->sent_bytes : 0;
	*ret_received = tie != NULL ? tie->received_bytes : 0;
}

struct resident *resident_create(const struct resident_options *options, const char **ret_wrong)
{
	struct node_options node_options = options->node;
	struct tenant_options tenant_options = {
	        .name = options->name,
	        .address = options->address,
	        .process = options->process,
	        .lease_ns = options->lease_ns,
	        .wiring = options->wiring,
	        .server = options->server,
	        .witness = options->witness,
	        .voters = options->voters,
	};

	node_options.name = options->name;
	node_options.incarnation = 0;
	node_options.lease_ns = options->lease_ns;
	struct node *node = node_create(&node_options, ret_wrong);
	if (node == NULL)
		return NULL;
	struct resident *resident = calloc(1, sizeof(*resident));
	memory_must(resident != NULL);
	resident->name = strdup(options->name);
	memory_must(resident->name != NULL);
	resident->process = options->process;
	resident->setup = options->setup;
	resident->cluster = options->node.cluster;
	resident->node = node;
	resident->tenant = tenant_create(&tenant_options);
	resident->kept_max = options->kept_max != 0 ? options->kept_max : KEPT_MAX;
	resident->ties_at = resident->acknowledge_at = NODE_NEVER;
	STAILQ_INIT(&resident->outcomes);
	ties_init(&resident->ties);
	return resident;
}

void resident_destroy(struct resident *resident)
{
	ties_free(resident);
	while (!STAILQ_EMPTY(&resident->outcomes)) {
		struct resident_outcome *outcome = STAILQ_FIRST(&resident->outcomes);
		STAILQ_REMOVE_HEAD(&resident->outcomes, entry);
		free(outcome);
	}
	free(resident->taken);
	tenant_destroy(resident->tenant);
	node_destroy(resident->node);
	free(resident->name);
	free(resident);
}
