#include "tenant.h"

#include "grow.h"
#include "memory.h"
#include "outbuffer.h"
#include "petition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

/* How many petitions are remembered. The acknowledgement of an older one would come too late to be
 * of use. */
enum { SENT_MAX = 64 };
/* After this many petitions without an answer, the tenant assumes that there is no leader. A lease
 * has about as many petitions, unless it is long (rhythm.h). */
enum { UNANSWERED_MAX = 6 };

/* A petition that was sent and may still be acknowledged. */
struct sent {
	uint64_t number, taken;
	uint64_t incarnation; /* the incarnation that sent this petition; 0: it asked to join */
};

struct tenant_outcome {
	STAILQ_ENTRY(tenant_outcome) entry;
	struct tenant_effect effect;
	uint8_t bytes[];
};

struct tenant {
	char *name, *address;
	uint64_t process, lease_ns, server;
	uint64_t version_least, version;
	struct wiring wiring;
	struct electors electors;
	uint32_t unanswered; /* how many petitions were sent since a leader was last heard */
	bool witness, departs, removed;
	uint64_t index; /* the log index of the state that `removed` is from */
	uint64_t incarnation;
	uint64_t number, acknowledged;
	struct sent sent[SENT_MAX]; /* the last petitions, indexed by number modulo SENT_MAX */

	uint64_t epoch, base, limit;
	struct seat *seats;
	size_t seats_size;
	uint32_t seats_count, prospects_count, standing_count, peers_count;
	uint64_t prospect; /* the digest of prospects in the leader's last bulletin */
	struct seat *prospects;
	size_t prospects_size;

	uint64_t *standing; /* the processes to which there is a link */
	size_t standing_size;
	struct tenant_peer *peers;
	size_t peers_size;
	uint64_t *lacks; /* for find_lacks: room for the processes of all peers */
	size_t lacks_size;
	char *refusal;

	struct out out;
	STAILQ_HEAD(, tenant_outcome) outcomes;
	struct tenant_outcome *taken;
};

/* --- effects --- */

static struct tenant_outcome *put(struct tenant *tenant, enum tenant_effect_kind kind, size_t size)
{
	struct tenant_outcome *outcome = calloc(1, sizeof(*outcome) + size);

	memory_must(outcome != NULL);
	outcome->effect.kind = kind;
	STAILQ_INSERT_TAIL(&tenant->outcomes, outcome, entry);
	return outcome;
}

static void put_petition(struct tenant *tenant)
{
	struct tenant_outcome *outcome = put(tenant, TENANT_PETITION, tenant->out.bytes_count);

	memcpy(outcome->bytes, tenant->out.bytes, tenant->out.bytes_count);
	outcome->effect.bytes = outcome->bytes;
	outcome->effect.size = tenant->out.bytes_count;
	outcome->effect.wide = tenant->unanswered > UNANSWERED_MAX;
}

bool tenant_effect(struct tenant *tenant, struct tenant_effect *ret_effect)
{
	struct tenant_outcome *outcome = STAILQ_FIRST(&tenant->outcomes);

	free(tenant->taken);
	tenant->taken = outcome;
	if (outcome == NULL)
		return false;
	STAILQ_REMOVE_HEAD(&tenant->outcomes, entry);
	*ret_effect = outcome->effect;
	return true;
}

/* --- peers --- */

static bool stands(const struct tenant *tenant, uint64_t process)
{
	for (uint32_t i = 0; i < tenant->standing_count; i++) {
		if (tenant->standing[i] == process)
			return true;
	}
	return false;
}

static void add_peer(struct tenant *tenant, const struct seat *seat)
{
	for (uint32_t i = 0; i < tenant->peers_count; i++) {
		if (tenant->peers[i].process == seat->process)
			return;
	}
	tenant->peers = grow(tenant->peers, &tenant->peers_size, tenant->peers_count + 1UL,
	                     sizeof(*tenant->peers));
	struct tenant_peer *peer = &tenant->peers[tenant->peers_count++];
	memset(peer, 0, sizeof(*peer));
	memcpy(peer->name, seat->name, sizeof(peer->name));
	memcpy(peer->address, seat->address, sizeof(peer->address));
	peer->process = seat->process;
	peer->stands = stands(tenant, seat->process);
}

static int compare_seats(const void *a, const void *b)
{
	return strcmp(((const struct seat *)a)->name, ((const struct seat *)b)->name);
}

/* If this process has one of these seats, adds those of its neighbours that have one too. */
static void add_neighbours(struct tenant *tenant, struct seat *seats, uint32_t count)
{
	bool *linked = calloc(count + 1UL, sizeof(*linked));

	memory_must(linked != NULL);
	qsort(seats, count, sizeof(*seats), compare_seats);
	for (uint32_t self = 0; self < count; self++) {
		if (seats[self].process != tenant->process)
			continue;
		wiring_of_seats(&tenant->wiring, seats, count, self, linked);
		for (uint32_t i = 0; i < count; i++) {
			if (linked[i])
				add_peer(tenant, &seats[i]);
		}
	}
	free(linked);
}

/* Finds the links that this view needs, and those that the next view would need if all prospects
 * joined. */
static void find_peers(struct tenant *tenant)
{
	uint32_t count = tenant->seats_count + tenant->prospects_count;
	struct seat *all = calloc(count + 1UL, sizeof(*all));

	memory_must(all != NULL);
	tenant->peers_count = 0;
	if (tenant->seats_count != 0)
		memcpy(all, tenant->seats, tenant->seats_count * sizeof(*all));
	add_neighbours(tenant, all, tenant->seats_count);
	if (tenant->prospects_count != 0) {
		memcpy(all + tenant->seats_count, tenant->prospects,
		       tenant->prospects_count * sizeof(*all));
		add_neighbours(tenant, all, count);
	}
	free(all);
	put(tenant, TENANT_PEERS, 0);
}

const struct tenant_peer *tenant_peers(const struct tenant *tenant, uint32_t *ret_count)
{
	*ret_count = tenant->peers_count;
	return tenant->peers;
}

void tenant_linked(struct tenant *tenant, uint64_t process, bool now_stands)
{
	if (stands(tenant, process) == now_stands)
		return;
	if (now_stands) {
		tenant->standing = grow(tenant->standing, &tenant->standing_size,
		                        tenant->standing_count + 1UL, sizeof(*tenant->standing));
		tenant->standing[tenant->standing_count++] = process;
	} else {
		uint32_t i = 0;
		while (tenant->standing[i] != process)
			i++;
		tenant->standing[i] = tenant->standing[--tenant->standing_count];
	}
	for (uint32_t i = 0; i < tenant->peers_count; i++) {
		if (tenant->peers[i].process == process)
			tenant->peers[i].stands = now_stands;
	}
}

static uint32_t find_lacks(struct tenant *tenant)
{
	uint32_t count = 0;

	tenant->lacks = grow(tenant->lacks, &tenant->lacks_size, tenant->peers_count,
	                     sizeof(*tenant->lacks));
	for (uint32_t i = 0; i < tenant->peers_count; i++) {
		if (!tenant->peers[i].stands)
			tenant->lacks[count++] = tenant->peers[i].process;
	}
	return count;
}

/* --- petitions --- */

void tenant_renew(struct tenant *tenant, uint64_t taken, const struct tenant_condition *condition)
{
	struct petition petition = {
	        .kind = PETITION_RENEW,
	        .process = tenant->process,
	        .epoch = tenant->epoch,
	        .limit = tenant->limit,
	        .name = entry_text_of(tenant->name),
	        .address = entry_text_of(tenant->address),
	        .incarnation = tenant->incarnation,
	        .number = ++tenant->number,
	        .acknowledged = tenant->acknowledged,
	        .lease_ns = tenant->lease_ns,
	        .prospect = tenant->prospect,
	        /* A process that gets no answer from the voters that it knows asks for any list of
	         * voters. */
	        .electors = tenant->unanswered < UNANSWERED_MAX ? tenant->electors.index : 0,
	        .server = tenant->server,
	        .witness = tenant->witness,
	        .version_least = tenant->version_least,
	        .version = tenant->version,
	        .active = condition->active,
	        .leaving = tenant->departs,
	        .removed = tenant->removed,
	};

	/* A process that has left on purpose does not ask to join again. */
	if (tenant->refusal != NULL || (tenant->departs && tenant->incarnation == 0))
		return;
	tenant->sent[tenant->number % SENT_MAX] =
	        (struct sent){tenant->number, taken, tenant->incarnation};
	uint32_t lacks_count = find_lacks(tenant);
	petition_write(&tenant->out, &petition, tenant->lacks, lacks_count, condition->unreported,
	               condition->unreported_count);
	tenant->unanswered++;
	put_petition(tenant);
}

static void ask(struct tenant *tenant, enum petition_kind kind, uint64_t epoch, uint64_t limit)
{
	struct petition petition = {
	        .kind = kind, .process = tenant->process, .epoch = epoch, .limit = limit};

	petition_write(&tenant->out, &petition, NULL, 0, NULL, 0);
	put_petition(tenant);
}

void tenant_depart(struct tenant *tenant, bool departs)
{
	tenant->departs = departs;
}

void tenant_extend(struct tenant *tenant, uint64_t epoch, uint64_t limit)
{
	ask(tenant, PETITION_EXTEND, epoch, limit);
}

void tenant_bump(struct tenant *tenant, uint64_t epoch)
{
	ask(tenant, PETITION_BUMP, epoch, 0);
}

/* --- bulletins --- */

/* The acknowledgement of a renewal counts only for the incarnation that asked for it. The
 * acknowledgement of a petition to join counts only for the incarnation that the join created. */
static void take_acknowledgement(struct tenant *tenant, const struct bulletin *bulletin)
{
	const struct sent *sent = &tenant->sent[bulletin->number % SENT_MAX];

	if (sent->number != bulletin->number || bulletin->incarnation != tenant->incarnation ||
	    (sent->incarnation != 0 && sent->incarnation != bulletin->incarnation))
		return;
	if (bulletin->number > tenant->acknowledged)
		tenant->acknowledged = bulletin->number;
	put(tenant, TENANT_LEASE, 0)->effect.deadline = sent->taken + tenant->lease_ns;
}

static void take_seats(struct tenant *tenant, struct bulletin_list seats)
{
	struct seat seat;

	tenant->seats_count = 0;
	tenant->incarnation = 0;
	while (bulletin_next_seat(&seats, &seat)) {
		tenant->seats = grow(tenant->seats, &tenant->seats_size, tenant->seats_count + 1UL,
		                     sizeof(seat));
		tenant->seats[tenant->seats_count++] = seat;
		if (seat.process == tenant->process)
			tenant->incarnation = seat.incarnation;
	}
}

static void take_prospects(struct tenant *tenant, const struct bulletin *bulletin)
{
	struct bulletin_list list = bulletin->prospects;
	struct prospect prospect;

	tenant->prospect = bulletin->prospect;
	tenant->prospects_count = 0;
	while (bulletin_next_prospect(&list, &prospect)) {
		tenant->prospects = grow(tenant->prospects, &tenant->prospects_size,
		                         tenant->prospects_count + 1UL, sizeof(*tenant->prospects));
		struct seat *seat = &tenant->prospects[tenant->prospects_count++];
		*seat = (struct seat){.process = prospect.process};
		memcpy(seat->name, prospect.name.bytes, prospect.name.size);
		memcpy(seat->address, prospect.address.bytes, prospect.address.size);
	}
}

/* The cluster's lease must be the one with which this member was configured. If this member's were
 * longer, it would keep its locks when others may already enter. */
static bool has_other_lease(struct tenant *tenant, const struct bulletin *bulletin)
{
	if (bulletin->lease_ns == tenant->lease_ns)
		return false;
	if (tenant->refusal == NULL)
		memory_must(asprintf(&tenant->refusal,
		                     "the lease of the cluster is %llu ms, that of %s %llu ms: "
		                     "they must "
		                     "be the same",
		                     (unsigned long long)(bulletin->lease_ns / 1000000),
		                     tenant->name,
		                     (unsigned long long)(tenant->lease_ns / 1000000)) > 0);
	return true;
}

/* Notes whether an operator has removed this node. Any voter may tell this, but only the newest
 * information counts, because a voter may lag behind. */
static void take_removal(struct tenant *tenant, const struct bulletin *bulletin)
{
	if (bulletin->index < tenant->index)
		return;
	tenant->index = bulletin->index;
	if (bulletin->removed == tenant->removed)
		return;
	tenant->removed = bulletin->removed;
	put(tenant, TENANT_REMOVED, 0);
}

static void take_view(struct tenant *tenant, const struct bulletin *bulletin)
{
	bool is_new = bulletin->epoch > tenant->epoch;

	if (has_other_lease(tenant, bulletin) || bulletin->epoch < tenant->epoch)
		return;
	take_removal(tenant, bulletin);
	if (is_new) {
		tenant->epoch = bulletin->epoch;
		tenant->base = bulletin->base;
		tenant->limit = bulletin->limit;
		take_seats(tenant, bulletin->seats);
		tenant->prospect = 0;
		tenant->prospects_count = 0;
		put(tenant, TENANT_VIEW, 0);
	} else if (bulletin->limit > tenant->limit) {
		tenant->limit = bulletin->limit;
		struct tenant_outcome *outcome = put(tenant, TENANT_LIMIT, 0);
		outcome->effect.epoch = tenant->epoch;
		outcome->effect.limit = tenant->limit;
	}
	bool moved = bulletin->leads && bulletin->prospect != tenant->prospect;
	if (moved)
		take_prospects(tenant, bulletin);
	if (is_new || moved)
		find_peers(tenant);
}

/* A later list replaces an earlier one. If the voters of the present list do not answer, any other
 * list replaces it: the present list may be a lie, with an index that no honest list ever
 * reaches. */
static void take_electors(struct tenant *tenant, const struct bulletin *bulletin)
{
	struct in in = bulletin->electors;
	uint64_t index = in_uint(&in);

	if (index == tenant->electors.index ||
	    (index < tenant->electors.index && !tenant_unanswered(tenant)))
		return;
	electors_read(&tenant->electors, bulletin->electors);
	tenant->unanswered = 0;
	put(tenant, TENANT_ELECTORS, 0);
}

bool tenant_bulletin(struct tenant *tenant, const uint8_t *bytes, size_t size)
{
	struct bulletin bulletin;

	if (!bulletin_read(bytes, size, &bulletin))
		return false;
	if (bulletin.kind == BULLETIN_ACK)
		take_acknowledgement(tenant, &bulletin);
	else if (bulletin.kind == BULLETIN_VIEW)
		take_view(tenant, &bulletin);
	else
		take_electors(tenant, &bulletin);
	/* Only a leader's answer counts here. Another node may have been a voter once and not know
	 * that it no longer is, and its answer may be out of date. */
	if (bulletin.kind == BULLETIN_ACK || (bulletin.kind == BULLETIN_VIEW && bulletin.leads))
		tenant->unanswered = 0;
	return true;
}

/* --- queries --- */

const char *tenant_name(const struct tenant *tenant)
{
	return tenant->name;
}

const struct electors *tenant_electors(const struct tenant *tenant)
{
	return &tenant->electors;
}

bool tenant_believes_voter(const struct tenant *tenant, const char *name, uint64_t server)
{
	const struct electors *electors = &tenant->electors;

	for (uint32_t i = 0; i < electors->count; i++) {
		const struct elector *elector = &electors->list[i];
		if (strcmp(elector->name, name) == 0 &&
		    (elector->server == 0 || elector->server == server))
			return true;
	}
	return electors->index == 0;
}

bool tenant_believes(const struct tenant *tenant, const char *name, uint64_t server,
                     enum bulletin_kind kind)
{
	return tenant_believes_voter(tenant, name, server) ||
	       (kind == BULLETIN_ELECTORS && tenant_unanswered(tenant));
}

bool tenant_believes_own(const struct tenant *tenant, const struct bulletin *bulletin)
{
	struct in in = bulletin->electors;

	return bulletin->kind != BULLETIN_ELECTORS || in_uint(&in) > tenant->electors.index;
}

bool tenant_must_tell(const struct tenant *tenant, const struct electors *voters,
                      const struct petition *petition)
{
	uint64_t index = tenant->electors.index;

	if (index == 0 || voters == NULL)
		return index != 0;
	return petition->kind == PETITION_RENEW && petition->electors == 0 && voters->index < index;
}

bool tenant_removed(const struct tenant *tenant)
{
	return tenant->removed;
}

bool tenant_unanswered(const struct tenant *tenant)
{
	return tenant->unanswered > UNANSWERED_MAX;
}

uint64_t tenant_incarnation(const struct tenant *tenant)
{
	return tenant->incarnation;
}

const char *tenant_refusal(const struct tenant *tenant)
{
	return tenant->refusal;
}

struct tenant_view tenant_view(const struct tenant *tenant)
{
	struct tenant_view view = {tenant->epoch, tenant->base,        tenant->limit,
	                           tenant->seats, tenant->seats_count, 0};

	while (view.self < view.seats_count && view.seats[view.self].process != tenant->process)
		view.self++;
	return view;
}

struct tenant *tenant_create(const struct tenant_options *options)
{
	struct tenant *tenant = calloc(1, sizeof(*tenant));

	memory_must(tenant != NULL);
	must(options->process != 0);
	tenant->name = strdup(options->name);
	tenant->address = strdup(options->address);
	memory_must(tenant->name != NULL && tenant->address != NULL);
	tenant->process = options->process;
	tenant->lease_ns = options->lease_ns;
	tenant->wiring = options->wiring;
	tenant->server = options->server;
	tenant->witness = options->witness;
	tenant->version_least =
	        options->version_least != 0 ? options->version_least : STATE_VERSION_LEAST;
	tenant->version = options->version != 0 ? options->version : STATE_VERSION;
	if (options->voters != NULL)
		electors_copy(&tenant->electors, options->voters);
	STAILQ_INIT(&tenant->outcomes);
	out_init(&tenant->out);
	return tenant;
}

void tenant_destroy(struct tenant *tenant)
{
	if (tenant == NULL)
		return;
	while (!STAILQ_EMPTY(&tenant->outcomes)) {
		struct tenant_outcome *outcome = STAILQ_FIRST(&tenant->outcomes);
		STAILQ_REMOVE_HEAD(&tenant->outcomes, entry);
		free(outcome);
	}
	free(tenant->taken);
	free(tenant->seats);
	free(tenant->prospects);
	free(tenant->standing);
	free(tenant->peers);
	free(tenant->lacks);
	electors_free(&tenant->electors);
	free(tenant->refusal);
	free(tenant->name);
	free(tenant->address);
	out_free(&tenant->out);
	free(tenant);
}
