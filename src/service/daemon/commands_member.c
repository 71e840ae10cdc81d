#include "commands_member.h"

#include "arguments.h"
#include "clock.h"
#include "instance.h"
#include "leave.h"
#include "log.h"
#include "memory.h"
#include "permissions.h"
#include "replies.h"
#include "tenant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- how long members have been known --- */

static struct member_note *find_note(const struct daemon *daemon, uint64_t incarnation)
{
	for (uint32_t i = 0; i < daemon->notes_count; i++) {
		if (daemon->notes[i].incarnation == incarnation)
			return &daemon->notes[i];
	}
	return NULL;
}

void members_note(struct daemon *daemon)
{
	struct tenant_view view = tenant_view(member_tenant(daemon->member));
	struct member_note *notes = calloc(view.seats_count + 1UL, sizeof(*notes));

	memory_must(notes != NULL);
	for (uint32_t i = 0; i < view.seats_count; i++) {
		const struct member_note *old = find_note(daemon, view.seats[i].incarnation);
		notes[i].incarnation = view.seats[i].incarnation;
		notes[i].since = old != NULL ? old->since : daemon->loop.now;
	}
	free(daemon->notes);
	daemon->notes = notes;
	daemon->notes_count = view.seats_count;
}

/* --- LIST --- */

static bool is_elector(const struct electors *electors, const char *name)
{
	return electors != NULL && electors_find(electors, name) != NULL;
}

/*
 * Does this member vote? A voter is a data directory, not a name: if a voter's directory was
 * emptied and its name is used again, the new node has no vote until it replaces the old voter.
 * Every member is connected to every voter that is alive. So a member that answers, although there
 * is no connection to the voter of its name, is not that voter.
 */
static bool votes(const struct daemon *daemon, const struct node_status_member *member,
                  const struct electors *electors)
{
	const struct elector *elector =
	        electors != NULL ? electors_find(electors, member->name) : NULL;

	return elector != NULL && (elector->server == 0 || member->silent ||
	                           member_acquaintance(daemon->member, elector->server).connected);
}

static json_t *member_json(const struct daemon *daemon, const struct node_status_member *member,
                           const struct electors *electors)
{
	const char *leader = member_leader(daemon->member);
	const struct member_note *note = find_note(daemon, member->incarnation);
	uint64_t since = note != NULL ? note->since : daemon->loop.now;

	return json_pack("{s:s, s:s?, s:I, s:s, s:s, s:b, s:o, s:I}", "name", member->name,
	                 "address", member->address, "incarnation", (json_int_t)member->incarnation,
	                 "role", votes(daemon, member, electors) ? "voter" : "member", "state",
	                 member->silent   ? "silent"
	                 : member->active ? "active"
	                                  : "starting",
	                 "leader", leader != NULL && strcmp(leader, member->name) == 0, "lease_ms",
	                 member->leased && !member->silent
	                         ? json_integer((json_int_t)member->lease_ms)
	                         : json_null(),
	                 "since_ms", (json_int_t)((daemon->loop.now - since) / LOOP_MS));
}

/* Describes a node that was not asked about itself: its lease, and how long it has been there, are
 * not known. */
static json_t *stranger_json(const struct daemon *daemon, const char *name, const char *address,
                             uint64_t incarnation, const char *role, const char *state)
{
	const char *leader = member_leader(daemon->member);

	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:b, s:n, s:n}", "name", name, "address",
	                 address, "incarnation", (json_int_t)incarnation, "role", role, "state",
	                 state, "leader", leader != NULL && strcmp(leader, name) == 0, "lease_ms",
	                 "since_ms");
}

static const char out_of_view[] = "out of the view";

/* Describes a voter that serves no locks: a witness, or a node that is restarting, removed or
 * lost. */
static json_t *elector_json(const struct daemon *daemon, const struct elector *elector)
{
	struct member_acquaintance known = member_acquaintance(daemon->member, elector->server);
	json_t *json = stranger_json(daemon, elector->name, elector->address, 0,
	                             known.witness ? "witness" : "voter",
	                             !known.connected ? "absent"
	                             : known.witness  ? "active"
	                                              : out_of_view);

	if (known.lost != 0)
		json_object_set_new(
		        json, "since_ms",
		        json_integer((json_int_t)((daemon->loop.now - known.lost) / LOOP_MS)));
	return json;
}

/* Lists this node and the nodes that it has heard of. It is not in the view, so it cannot ask the
 * members. */
static json_t *list_from_outside(const struct daemon *daemon, const struct tenant *tenant,
                                 const struct electors *electors)
{
	const struct identity *identity = member_identity(daemon->member);
	struct tenant_view view = tenant_view(tenant);
	json_t *members = json_array();
	bool self_listed = is_elector(electors, identity->name);

	for (uint32_t i = 0; i < view.seats_count; i++) {
		const struct seat *seat = &view.seats[i];
		json_array_append_new(
		        members,
		        stranger_json(daemon, seat->name, seat->address, seat->incarnation,
		                      is_elector(electors, seat->name) ? "voter" : "member",
		                      "unknown"));
		self_listed = self_listed || strcmp(seat->name, identity->name) == 0;
	}
	if (!self_listed)
		json_array_append_new(members,
		                      stranger_json(daemon, identity->name, identity->address, 0,
		                                    identity->witness ? "witness" : "member",
		                                    out_of_view));
	return members;
}

static bool is_listed(const json_t *members, const char *name)
{
	size_t i;
	const json_t *member;

	json_array_foreach (members, i, member) {
		if (strcmp(json_string_value(json_object_get(member, "name")), name) == 0)
			return true;
	}
	return false;
}

static json_t *list_members(const struct daemon *daemon, const struct node_status *status)
{
	const struct tenant *tenant = member_tenant(daemon->member);
	const struct electors *electors = tenant != NULL ? tenant_electors(tenant) : NULL;
	bool outside = tenant != NULL && tenant_incarnation(tenant) == 0;
	json_t *members = outside ? list_from_outside(daemon, tenant, electors) : json_array();

	for (uint32_t i = 0; !outside && i < status->members_count; i++)
		json_array_append_new(members, member_json(daemon, &status->members[i], electors));
	for (uint32_t i = 0; electors != NULL && i < electors->count; i++) {
		if (!is_listed(members, electors->list[i].name))
			json_array_append_new(members, elector_json(daemon, &electors->list[i]));
	}
	return members;
}

void members_reply(struct client *client, const struct node_status *status)
{
	const struct daemon *daemon = client->daemon;
	const struct charter *charter = &member_identity(daemon->member)->charter;
	char cluster[40];

	snprintf(cluster, sizeof(cluster), "%016llx%016llx",
	         (unsigned long long)charter->cluster.high,
	         (unsigned long long)charter->cluster.low);
	json_t *json =
	        json_pack("{s:s, s:I, s:o}", "cluster", cluster, "epoch", (json_int_t)status->epoch,
	                  "members", list_members(daemon, status));
	char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
	memory_must(text != NULL);
	resp_bulk(&client->output, text, strlen(text));
	free(text);
	json_decref(json);
}

/* --- orders --- */

static bool serve_order(struct client *client, const struct resp_argument *argument,
                        enum member_order order)
{
	static const char *const acts[] = {[ORDER_INVITE] = "invites",
	                                   [ORDER_FORBID] = "removes",
	                                   [ORDER_PROMOTE] = "promotes",
	                                   [ORDER_DEMOTE] = "demotes"};
	struct daemon *daemon = client->daemon;
	char name[ENTRY_NAME_MAX + 1], who[CLIENT_DESCRIPTION_MAX];

	if (argument->size == 0 || argument->size > ENTRY_NAME_MAX ||
	    memchr(argument->bytes, '\0', argument->size) != NULL)
		return reply_wrong(client, "a name has 1 to 255 bytes");
	memcpy(name, argument->bytes, argument->size);
	name[argument->size] = '\0';
	if (member_tenant(daemon->member) == NULL || daemon->options->address == NULL)
		return reply_wrong(client,
		                   "this node belongs to no cluster that others could join");
	/* Without a majority of the voters no lease is renewed. If this node's lease is not
	 * renewed, say so at once, while it is certain that nothing was ordered. A node outside the
	 * view cannot tell, because it has no lease. */
	if (tenant_incarnation(member_tenant(daemon->member)) != 0 &&
	    node_lease_deadline(daemon->node) <= daemon->loop.now)
		return reply_wrong(client, "most of the voters do not answer, so the order would "
		                           "be lost; try again when they do");
	const struct electors *voters = tenant_electors(member_tenant(daemon->member));
	if (order == ORDER_PROMOTE && voters->count == 1)
		return reply_wrong(client,
		                   "this cluster has one voter, and keeps it until a third "
		                   "member or witness with --data joins; then it has three");
	if (order == ORDER_DEMOTE && electors_find(voters, name) == NULL)
		return reply_wrong(client, "'%.60s' does not vote", name);
	client_describe(client, who);
	log_limited(client_orders(client), daemon->loop.now, LEVEL_WARNING, "a client (%s) %s %s",
	            who, acts[order], name);
	client->asking = member_order(daemon->member, order, name, daemon->loop.now);
	client->waiting = true;
	return true;
}

/* --- invitations --- */

enum { INVITATION_MS = 3600000, INVITATION_DAYS_MAX = 30 };

static bool serve_invite(struct client *client, uint64_t valid_ms)
{
	struct daemon *daemon = client->daemon;
	uint64_t real_s = clock_real_ns() / 1000000000, valid_s = (valid_ms + 999) / 1000;
	uint8_t digest[TOKEN_DIGEST_SIZE];
	char who[CLIENT_DESCRIPTION_MAX];
	struct token token;

	if (daemon->credentials == NULL)
		return reply_wrong(client,
		                   "this cluster has no TLS, so a new node joins without an "
		                   "invitation; 'baton cert' makes certificates for TLS");
	if (!credentials_ca_digest(daemon->credentials, token.ca))
		return reply_wrong(client,
		                   "no invitation can be made here: it must name the CA, and "
		                   "this node's certificate is not signed by the CA itself");
	if (member_tenant(daemon->member) == NULL)
		return reply_wrong(client, "this node belongs to no cluster yet");
	token_draw(&token);
	token_digest(token.secret, digest);
	client->token = malloc(TOKEN_TEXT_SIZE + 1);
	memory_must(client->token != NULL);
	token_write(&token, client->token);
	explicit_bzero(&token, sizeof(token));
	client_describe(client, who);
	log_limited(client_orders(client), daemon->loop.now, LEVEL_WARNING,
	            "a client (%s) makes an invitation, good for one node within %llu s", who,
	            (unsigned long long)valid_s);
	client->asking =
	        member_invite(daemon->member, digest, real_s, real_s + valid_s, daemon->loop.now);
	client->waiting = true;
	return true;
}

/* Serves MEMBER INVITE without a name. */
static bool serve_invitation(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t valid_ms = INVITATION_MS;

	if (count == 4 && (!argument_is(&a[2], "FOR") || !argument_number(&a[3], &valid_ms) ||
	                   valid_ms == 0 || valid_ms > UINT64_C(86400000) * INVITATION_DAYS_MAX))
		return reply_wrong(client,
		                   "MEMBER INVITE FOR needs a whole number of milliseconds, at "
		                   "most %d days",
		                   INVITATION_DAYS_MAX);
	return serve_invite(client, valid_ms);
}

/* --- the voters' answers --- */

static void tell_answer(struct client *client, bool done, enum refusal refusal)
{
	if (done && client->token != NULL) {
		resp_bulk(&client->output, client->token, strlen(client->token));
		client->secret = true;
	} else if (done)
		resp_simple(&client->output, "OK");
	else if (refusal != REFUSAL_NONE)
		reply_wrong(client, "%s", refusal_text(refusal));
	else if (client->token != NULL)
		reply_wrong(client,
		            "the voters have not confirmed the invitation: they do not answer, or "
		            "%d invitations wait to be used; try again",
		            INVITATIONS_MAX);
	else
		reply_wrong(client, "the voters have not confirmed the order in time, and may yet "
		                    "obey it; see 'baton member list', and try again");
}

void client_forget_token(struct client *client)
{
	if (client->token != NULL)
		explicit_bzero(client->token, strlen(client->token));
	free(client->token);
	client->token = NULL;
}

void members_answered(struct daemon *daemon, const struct member_effect *effect)
{
	struct client *client;

	LIST_FOREACH (client, &daemon->clients.all, all) {
		if (client->asking == effect->answered.number)
			break;
	}
	if (client == NULL) /* the client is gone */
		return;
	tell_answer(client, effect->answered.done, effect->answered.refusal);
	client_forget_token(client);
	client->asking = 0;
	client_dirty(client);
	client_answered(client);
}

bool serve_member(struct client *client, const struct resp_argument *a, uint32_t count)
{
	bool lists = count == 2 && argument_is(&a[1], "LIST");
	/* An administrator must see whether a node that it removes is gone. */
	if (!permission_somewhere(client, lists ? VERB_STATUS | VERB_ADMIN : VERB_ADMIN, NULL))
		return true;
	if (lists) {
		/* Only the members matter here, and no lock. */
		int error = node_status(client->daemon->node, client->session, NULL, 0,
		                        (struct node_bytes){"", 0}, 0, client->daemon->loop.now);
		if (error != 0) {
			reply_error(client, error);
			return true;
		}
		client->lists_members = client->waiting = true;
		return true;
	}
	if ((count == 2 || count == 4) && argument_is(&a[1], "INVITE"))
		return serve_invitation(client, a, count);
	static const struct {
		const char *word;
		enum member_order order;
	} orders[] = {{"REMOVE", ORDER_FORBID},
	              {"INVITE", ORDER_INVITE},
	              {"PROMOTE", ORDER_PROMOTE},
	              {"DEMOTE", ORDER_DEMOTE}};
	for (size_t i = 0; count == 3 && i < sizeof(orders) / sizeof(*orders); i++) {
		if (argument_is(&a[1], orders[i].word))
			return serve_order(client, &a[2], orders[i].order);
	}
	return reply_wrong(client, "syntax error: MEMBER LIST | REMOVE name | INVITE [name | FOR "
	                           "ms] | PROMOTE name | DEMOTE name");
}

bool serve_drain(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t finish_ms = UINT64_MAX;
	char who[CLIENT_DESCRIPTION_MAX];

	if (count == 2 &&
	    (!argument_number(&a[1], &finish_ms) || finish_ms > UINT64_C(1000) * 86400 * 365))
		return reply_wrong(client,
		                   "DRAIN needs a whole number of milliseconds, at most a year");
	client_describe(client, who);
	log_limited(client_orders(client), client->daemon->loop.now, LEVEL_INFO,
	            "a client (%s) drains this node", who);
	resp_integer(&client->output, daemon_drain(client->daemon, finish_ms));
	return true;
}
