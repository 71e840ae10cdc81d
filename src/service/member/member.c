#include "member.h"

#include "addresses.h"
#include "meeting.h"
#include "member_state.h"
#include "memory.h"
#include "petition.h"
#include "roster.h"
#include "secure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOT_EVERY = 1000 }; /* entries between two snapshots of the agreed state */

void member_advance(struct member *member, uint64_t now)
{
	if (now > member->now)
		member->now = now;
}

/* Returns the voter for a call that may give it effects, and notes that they must be taken. */
static struct voter *voter_of(struct member *member)
{
	member->voter_busy = true;
	return member->voter;
}

static void stop(struct member *member, const char *why)
{
	struct outcome *outcome = outcome_add(member, MEMBER_STOP, strlen(why) + 1);

	memcpy(outcome->text, why, strlen(why) + 1);
	outcome->effect.stop = outcome->text;
}

/* --- callers of another cluster --- */

/*
 * A founder that is started again with an empty disk and without its list of peers founds a second
 * cluster, while the first still knows its name. Both clusters would grant the same locks.
 */
void member_met_stranger(struct member *member, const struct call *call)
{
	const struct identity *identity = &member->identity;
	bool alone = identity->stage == BIRTH_RECORD && identity->founders.count == 1;

	if (birth_must_end(member->charter.cluster, alone, call->charter.cluster,
	                   strcmp(call->peer, identity->name) == 0))
		stop(member, "this node has made a cluster of its own, but another cluster knows "
		             "it by its name: it had another data directory before. Start it with "
		             "that directory, or with an empty one and --join");
}

void member_met(struct member *member, struct post *post)
{
	member->refusal[0] = '\0';
	if (member->meeting != NULL && charter_exists(&post->call.charter))
		meeting_met(member->meeting);
	/* The removed node is told by bulletins; this log line is for the operator of this node. */
	if (member->voter != NULL &&
	    state_forbids(voter_state(member->voter), entry_text_of(post->call.name)))
		member_complain(member, post->call.name,
		                post->dialled ? post->address : post->connection->from,
		                "an operator has removed it: it stays out until 'baton member "
		                "invite' names it");
}

/* --- packets --- */

/* Is the petition from the node that sent this packet? Nodes never pass petitions on. */
static bool is_own_petition(const struct post *post, const struct petition *petition)
{
	return petition->process == post->call.process &&
	       (petition->kind != PETITION_RENEW ||
	        (petition->name.size == strlen(post->call.name) &&
	         memcmp(petition->name.bytes, post->call.name, petition->name.size) == 0));
}

static bool take_petition(struct member *member, const struct post *post, const uint8_t *bytes,
                          size_t size)
{
	const struct tenant *tenant = resident_tenant(member->resident);
	const struct electors *voters = member->voter != NULL ? voter_voters(member->voter) : NULL;
	struct petition petition;

	if (!petition_read(bytes, size, &petition) || !is_own_petition(post, &petition))
		return false;
	if (tenant_must_tell(tenant, voters, &petition)) {
		bulletin_write_electors(&member->out, tenant_electors(tenant));
		post_to_process(member, post->call.process, PACKET_BULLETIN, member->out.bytes,
		                member->out.bytes_count);
	}
	return member->voter == NULL || voter_petition(voter_of(member), bytes, size, member->now);
}

static bool take_birth(struct member *member, const struct post *post, const uint8_t *bytes,
                       size_t size)
{
	if (member->meeting != NULL)
		return meeting_heard(member->meeting, post->call.name, bytes, size);
	if (!charter_exists(&member->charter))
		return true;
	/* A process without a data directory may have the server id 0; here any other number will
	 * do. */
	uint64_t server = member->identity.server != 0 ? member->identity.server : member->process;
	if (!birth_answer(bytes, size, member->charter.cluster, member->process, server,
	                  &member->out))
		return false;
	post_to_process(member, post->call.process, PACKET_BIRTH, member->out.bytes,
	                member->out.bytes_count);
	return true;
}

/* A letter begins with two server ids: the receiver's and the sender's. */
static bool is_own_letter(const struct post *post, const uint8_t *bytes, size_t size)
{
	struct in in = {.next = bytes, .end = bytes + size};

	in_uint(&in);
	return in_uint(&in) == post->call.server && !in.bad;
}

static bool is_voter(const struct member *member, const struct post *post)
{
	return tenant_believes_voter(resident_tenant(member->resident), post->call.name,
	                             post->call.server);
}

static bool take_bulletin(struct member *member, const struct post *post, const uint8_t *bytes,
                          size_t size)
{
	struct bulletin bulletin;

	if (!bulletin_read(bytes, size, &bulletin))
		return false;
	/* A sender that is not believed is not cut off: it may not know yet that it no longer
	 * votes. */
	if (!tenant_believes(resident_tenant(member->resident), post->call.name, post->call.server,
	                     bulletin.kind))
		return true;
	/* Only the leader acknowledges, or says that it leads. */
	if (bulletin.kind == BULLETIN_ACK || (bulletin.kind == BULLETIN_VIEW && bulletin.leads))
		snprintf(member->leader, sizeof(member->leader), "%s", post->call.name);
	return resident_bulletin(member->resident, bytes, size, member->now);
}

bool member_packet(struct member *member, struct post *post, enum packet_kind kind,
                   const uint8_t *bytes, size_t size)
{
	/* A node of no cluster, or of another one, may only send what founders tell each other. */
	if (kind != PACKET_BIRTH &&
	    (member->resident == NULL ||
	     !cluster_is(post->call.charter.cluster, member->charter.cluster)))
		return true;
	switch (kind) {
	case PACKET_PETITION:
		return take_petition(member, post, bytes, size);
	case PACKET_BULLETIN:
		return take_bulletin(member, post, bytes, size);
	case PACKET_LETTER:
		if (!is_own_letter(post, bytes, size))
			return false;
		return member->voter == NULL ||
		       voter_letter(voter_of(member), bytes, size, member->now);
	case PACKET_BIRTH:
		return take_birth(member, post, bytes, size);
	case PACKET_QUESTION:
		return inquiry_asked(member, post, bytes, size);
	case PACKET_ANSWER:
		return inquiry_answered(member, is_voter(member, post), bytes, size);
	}
	return false;
}

/* --- to the voters --- */

static void ask_voters(struct member *member, enum packet_kind kind, const uint8_t *bytes,
                       size_t size, bool wide)
{
	const struct tenant *tenant = resident_tenant(member->resident);
	const struct electors *voters = tenant_electors(tenant);
	struct tenant_view view = tenant_view(tenant);

	for (uint32_t i = 0; i < voters->count; i++) {
		/* Skip this member's own voter: it is told directly, and the list may even have an
		 * old address of it. */
		if (strcmp(voters->list[i].name, member->identity.name) != 0)
			post_to_server(member, voters->list[i].server, voters->list[i].address,
			               voters->list[i].name, kind, bytes, size);
	}
	for (uint32_t i = 0; wide && i < member->addresses.count; i++)
		post_to_address(member, member->addresses.list[i].address,
		                member->addresses.list[i].name, kind, bytes, size);
	for (uint32_t i = 0; wide && i < view.seats_count; i++)
		post_to_address(member, view.seats[i].address, view.seats[i].name, kind, bytes,
		                size);
}

void member_ask_voters(struct member *member, enum packet_kind kind, const uint8_t *bytes,
                       size_t size)
{
	ask_voters(member, kind, bytes, size, false);
}

static void petition(struct member *member, const struct resident_effect *effect)
{
	ask_voters(member, PACKET_PETITION, effect->bytes, effect->size, effect->wide);
	if (member->voter != NULL)
		voter_petition(voter_of(member), effect->bytes, effect->size, member->now);
}

/* --- addresses --- */

static void told_electors(struct member *member)
{
	const struct electors *electors = tenant_electors(resident_tenant(member->resident));

	/* A voter that has moved still has its first address in this list. So do not overwrite an
	 * address: a view may have told a newer one. */
	for (uint32_t i = 0; i < electors->count; i++) {
		if (electors_find(&member->addresses, electors->list[i].name) == NULL)
			addresses_remember(member, electors->list[i].name,
			                   electors->list[i].address);
	}
}

/* --- effects --- */

static void enter(struct member *member, struct member_effect *ret_effect)
{
	struct tenant_view view = tenant_view(resident_tenant(member->resident));

	for (uint32_t i = 0; i < view.seats_count; i++)
		addresses_remember(member, view.seats[i].name, view.seats[i].address);
	*ret_effect = (struct member_effect){.kind = MEMBER_VIEW,
	                                     .view = {.epoch = view.epoch,
	                                              .members_count = view.seats_count,
	                                              .in = view.self < view.seats_count}};
}

/* Returns true if *ret_effect now has an effect for the driver. */
static bool take_from_resident(struct member *member, const struct resident_effect *effect,
                               struct member_effect *ret_effect)
{
	switch (effect->kind) {
	case RESIDENT_NODE:
		*ret_effect = (struct member_effect){.kind = MEMBER_NODE, .node = effect->node};
		return true;
	case RESIDENT_PETITION:
		petition(member, effect);
		return false;
	case RESIDENT_ELECTORS:
		told_electors(member);
		return false;
	case RESIDENT_DIAL:
		connection_of_line(member, effect->line, effect->address);
		return false;
	case RESIDENT_CLOSE:
		connection_close(strand_user(effect->line));
		return false;
	case RESIDENT_VIEW:
		enter(member, ret_effect);
		return true;
	case RESIDENT_REMOVED:
		*ret_effect = (struct member_effect){.kind = MEMBER_REMOVED};
		return true;
	case RESIDENT_OFFENCE:
		member_offended(member, effect->name, NULL, effect->text);
		return false;
	}
	return false;
}

static void send_letter(struct member *member, const struct voter_effect *effect)
{
	char address[ENTRY_ADDRESS_MAX + 1] = "";
	const char *name = "";
	struct replica_server server;

	for (uint64_t i = 0; i < voter_servers(member->voter, i, &server); i++) {
		if (server.id != effect->id)
			continue;
		roster_address(server.address, address);
		name = roster_name(server.address);
	}
	post_to_server(member, effect->id, address, name, PACKET_LETTER, effect->bytes,
	               effect->size);
}

static void take_own_bulletin(struct member *member, const uint8_t *bytes, size_t size)
{
	struct bulletin bulletin;

	must(bulletin_read(bytes, size, &bulletin));
	if (tenant_believes_own(resident_tenant(member->resident), &bulletin))
		resident_bulletin(member->resident, bytes, size, member->now);
}

static bool take_from_voter(struct member *member, const struct voter_effect *effect,
                            struct member_effect *ret_effect)
{
	switch (effect->kind) {
	case VOTER_WRITE:
		*ret_effect = (struct member_effect){.kind = MEMBER_WRITE, .write = effect->write};
		return true;
	case VOTER_LETTER:
		send_letter(member, effect);
		return false;
	case VOTER_NOTIFY:
		if (effect->process == member->process)
			take_own_bulletin(member, effect->bytes, effect->size);
		else
			post_to_process(member, effect->process, PACKET_BULLETIN, effect->bytes,
			                effect->size);
		return false;
	case VOTER_LEADS:
		if (member->leads == voter_leads(member->voter))
			return false;
		member->leads = !member->leads;
		member_log(member, MEMBER_INFO,
		           member->leads ? "leads the voters, term %llu"
		                         : "no longer leads the voters, term %llu",
		           (unsigned long long)voter_term(member->voter));
		return false;
	case VOTER_APPLIED:
	case VOTER_RESTORED:
	case VOTER_ELECTORS:
	case VOTER_PROPOSED:
		return false;
	}
	return false;
}

/* The antechamber's node never has a view, so its only effects are answers to clients. */
static bool take_from_antechamber(struct member *member, struct member_effect *ret_effect)
{
	struct node_effect effect;

	while (member->antechamber != NULL && node_effect(member->antechamber, &effect)) {
		if (effect.kind != NODE_REPLY && effect.kind != NODE_EVENT)
			continue;
		*ret_effect = (struct member_effect){.kind = MEMBER_NODE, .node = effect};
		return true;
	}
	return false;
}

static bool take_own(struct member *member, struct member_effect *ret_effect)
{
	struct outcome *outcome = STAILQ_FIRST(&member->outcomes);

	if (outcome == NULL)
		return false;
	STAILQ_REMOVE_HEAD(&member->outcomes, entry);
	*ret_effect = outcome->effect;
	member->taken = outcome;
	return true;
}

static void tick_own(struct member *member)
{
	uint64_t next = posts_tick(member), at = connections_tick(member);

	next = at < next ? at : next;
	at = member->meeting != NULL ? meeting_tick(member->meeting) : NODE_NEVER;
	next = at < next ? at : next;
	at = inquiries_tick(member);
	member->timers_at = at < next ? at : next;
}

bool member_effect(struct member *member, struct member_effect *ret_effect)
{
	struct resident_effect resident;
	struct voter_effect voter;
	bool any;

	free(member->taken);
	member->taken = NULL;
	if (member->timers_at <= member->now)
		tick_own(member);
	do {
		any = false;
		if (take_own(member, ret_effect) || take_from_antechamber(member, ret_effect))
			return true;
		while (member->resident != NULL && resident_effect(member->resident, &resident)) {
			any = true;
			if (take_from_resident(member, &resident, ret_effect))
				return true;
		}
		while (member->voter_busy && voter_effect(member->voter, &voter)) {
			any = true;
			if (take_from_voter(member, &voter, ret_effect))
				return true;
		}
		if (member->voter_busy) {
			member->voter_busy = false;
			member->voter_at = voter_deadline(member->voter);
		}
	} while (any || !STAILQ_EMPTY(&member->outcomes));
	return false;
}

/* --- time --- */

uint64_t member_deadline(const struct member *member)
{
	uint64_t at = member->timers_at;
	uint64_t other = member->resident != NULL ? resident_deadline(member->resident)
	                                          : node_deadline(member->antechamber);

	at = other < at ? other : at;
	return member->voter_at < at ? member->voter_at : at;
}

void member_tick(struct member *member, uint64_t now)
{
	member_advance(member, now);
	if (member->resident != NULL)
		resident_tick(member->resident, member->now);
	else
		node_tick(member->antechamber, member->now);
	if (member->voter_at <= member->now)
		voter_tick(voter_of(member), member->now);
}

void member_written(struct member *member, uint64_t number, uint64_t now)
{
	member_advance(member, now);
	if (member->voter != NULL)
		voter_written(voter_of(member), number, member->now);
	else
		meeting_log_written(member->meeting);
}

void member_identity_written(struct member *member, uint64_t now)
{
	member_advance(member, now);
	if (member->meeting != NULL)
		meeting_identity_written(member->meeting);
}

/* --- leaving and freeing --- */

void member_leave(struct member *member, uint64_t now)
{
	member_advance(member, now);
	if (member->leaving)
		return;
	member->leaving = true;
	if (member->resident != NULL)
		resident_depart(member->resident, member->now);
}

bool member_left(const struct member *member)
{
	return member->resident == NULL ||
	       tenant_incarnation(resident_tenant(member->resident)) == 0;
}

bool member_hand_over(struct member *member, uint64_t now)
{
	member_advance(member, now);
	return member->voter != NULL && voter_leads(member->voter) &&
	       voter_hand_over(voter_of(member), member->now);
}

/* --- creating --- */

struct node *member_node(const struct member *member)
{
	return member->resident != NULL ? resident_node(member->resident) : member->antechamber;
}

const struct tenant *member_tenant(const struct member *member)
{
	return member->resident != NULL ? resident_tenant(member->resident) : NULL;
}

void member_traffic(const struct member *member, uint64_t process, uint64_t *ret_sent,
                    uint64_t *ret_received)
{
	*ret_sent = *ret_received = 0;
	if (member->resident != NULL)
		resident_traffic(member->resident, process, ret_sent, ret_received);
}

const struct voter *member_voter(const struct member *member)
{
	return member->voter;
}

const char *member_leader(const struct member *member)
{
	if (member->voter != NULL && voter_leads(member->voter))
		return member->identity.name;
	return member->leader[0] != '\0' ? member->leader : NULL;
}

void member_renew_credentials(struct member *member, const struct credentials *credentials)
{
	must(member->credentials != NULL);
	member->credentials = credentials;
}

const struct identity *member_identity(const struct member *member)
{
	return &member->identity;
}

static void make_voter(struct member *member, const struct member_settlement *settlement)
{
	struct durable_content content = shadow_content(&member->disk);
	struct voter_options options = {
	        .id = member->identity.server,
	        .name = member->identity.name,
	        .address = member->identity.address,
	        .content = &content,
	        .settings = charter_state(&member->charter, settlement->lease_ns),
	        .wiring = settlement->wiring,
	        .electorate = member->electorate,
	        .snapshot_every = SNAPSHOT_EVERY,
	        .seed = (uint32_t)member->draw(member->context),
	};

	member->voter = voter_create(&options, member->now);
	member->voter_busy = true;
	shadow_free(&member->disk);
	shadow_init(&member->disk);
}

const char *member_settle(struct member *member, const struct member_settlement *settlement,
                          uint64_t now)
{
	const struct charter *charter = &member->identity.charter;
	struct resident_options options = {
	        .name = member->identity.name,
	        .address = member->identity.address,
	        .process = member->process,
	        .setup = charter_digest(charter->settings),
	        .lease_ns = settlement->lease_ns,
	        .wiring = settlement->wiring,
	        .server = member->votes ? member->identity.server : 0,
	        .witness = member->identity.witness,
	        .voters = &member->addresses,
	        .node = settlement->node,
	};
	const char *wrong = NULL;

	member_advance(member, now);
	options.node.cluster = charter->cluster.high ^ charter->cluster.low;
	member->resident = resident_create(&options, &wrong);
	if (member->resident == NULL)
		return wrong;
	charter_copy(&member->charter, charter);
	member->lease_ns = settlement->lease_ns;
	if (member->votes)
		make_voter(member, settlement);
	node_destroy(member->antechamber);
	member->antechamber = NULL;
	if (member->meeting != NULL)
		meeting_destroy(member->meeting);
	member->meeting = NULL;
	posts_restart(member);
	if (member->leaving)
		resident_depart(member->resident, member->now);
	return NULL;
}

/* A data directory with a log belongs to a cluster that was born, even if the process was killed
 * before it could store that. */
static bool has_life(const struct member *member)
{
	return member->identity.stage == BIRTH_LIFE || member->disk.count > 0 ||
	       member->disk.snapshot.index != 0;
}

static void copy_content(struct shadow *shadow, const struct durable_content *content)
{
	shadow_apply(shadow, &(struct durable_write){.has_ballot = true,
	                                             .term = content->term,
	                                             .vote = content->vote,
	                                             .snapshot = content->snapshot.index != 0
	                                                                 ? &content->snapshot
	                                                                 : NULL,
	                                             .log_start = content->log_start,
	                                             .entries_first = content->log_start,
	                                             .entries = content->entries,
	                                             .entries_count = content->entries_count});
}

static void list_founders(struct member *member, const struct member_options *options,
                          struct electors *founders)
{
	for (uint32_t i = 0; i < options->peers_count; i++)
		electors_add(founders, 0, entry_text_of(options->peers[i].name),
		             entry_text_of(options->peers[i].address));
	/* An earlier process was given the list of founders and has stored it. So this process may
	 * be started without the list. */
	if (options->peers_count == 0 && member->identity.stage == BIRTH_RECORD)
		electors_copy(founders, &member->identity.founders);
	/* Store the founders' addresses, because the next process may be started without the list.
	 * An address that the directory already has may be newer, and stays. */
	for (uint32_t i = 0; i < founders->count; i++) {
		const struct elector *founder = &founders->list[i];
		if (strcmp(founder->name, member->identity.name) == 0)
			continue;
		if (electors_find(&member->addresses, founder->name) == NULL)
			addresses_remember(member, founder->name, founder->address);
		else
			electors_add(&member->addresses, 0, entry_text_of(founder->name),
			             entry_text_of(founder->address));
	}
}

struct member *member_create(const struct member_options *options, uint64_t now,
                             const char **ret_wrong)
{
	struct node_options node_options = options->node;
	struct electors founders = {0};

	node_options.name = options->identity->name;
	struct node *node = node_create(&node_options, ret_wrong);
	if (node == NULL)
		return NULL;
	struct member *member = calloc(1, sizeof(*member));
	memory_must(member != NULL);
	must(options->process != 0);
	member->process = options->process;
	member->antechamber = node;
	member->electorate = options->electorate;
	member->credentials = options->credentials;
	if (member->credentials != NULL)
		member->decrypted = secure_room();
	member->draw = options->draw;
	member->real_s = options->real_s;
	member->voter_at = NODE_NEVER;
	member->context = options->context;
	member->now = now;
	member->votes = options->content != NULL;
	identity_copy(&member->identity, options->identity);
	LIST_INIT(&member->connections);
	STAILQ_INIT(&member->changed);
	STAILQ_INIT(&member->outcomes);
	LIST_INIT(&member->posts);
	LIST_INIT(&member->inquiries);
	out_init(&member->out);
	shadow_init(&member->disk);
	if (options->content != NULL)
		copy_content(&member->disk, options->content);
	if (options->addresses != NULL)
		electors_copy(&member->addresses, options->addresses);
	list_founders(member, options, &founders);
	if (has_life(member))
		outcome_add(member, MEMBER_SETTLE, 0)->effect.charter = &member->identity.charter;
	else
		member->meeting = meeting_create(member, &founders, options);
	electors_free(&founders);
	return member;
}

void member_destroy(struct member *member)
{
	if (member->meeting != NULL)
		meeting_destroy(member->meeting);
	posts_free(member);
	if (member->resident != NULL)
		resident_destroy(member->resident);
	voter_destroy(member->voter);
	if (member->antechamber != NULL)
		node_destroy(member->antechamber);
	connections_free(member);
	inquiries_free(member);
	while (!STAILQ_EMPTY(&member->outcomes)) {
		struct outcome *outcome = STAILQ_FIRST(&member->outcomes);
		STAILQ_REMOVE_HEAD(&member->outcomes, entry);
		free(outcome);
	}
	free(member->taken);
	shadow_free(&member->disk);
	electors_free(&member->addresses);
	identity_free(&member->identity);
	charter_free(&member->charter);
	out_free(&member->out);
	free(member->decrypted);
	free(member->text);
	free(member);
}
