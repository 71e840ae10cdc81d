/*
 * The entry points of a member. Only they advance its clock. The decisions are made in the other
 * files: handshake, records, views.
 */
#include "member.h"

#include "handshake.h"
#include "member_state.h"
#include "memory.h"
#include "records.h"
#include "views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { KEPT_MAX = 64 << 20 /* the most bytes that are kept for a peer that does not take them */ };

/* --- effects --- */

static void bump(struct member *member, uint64_t epoch)
{
	member_log(member, MEMBER_WARNING,
	           "epoch %llu is at the end of its numbers or tables: a new one",
	           (unsigned long long)epoch);
	engine_bump(member->engine, epoch);
	views_spread(member);
	views_enter(member);
}

/* Carries out here what the node wants sent to peers. Returns true if the effect is for the
 * driver. */
static bool is_for_driver(struct member *member, const struct node_effect *effect)
{
	switch (effect->kind) {
	case NODE_SEND:
		records_send(&member->peers[effect->send.to - 1], effect->send.epoch,
		             effect->send.bytes, effect->send.size);
		return false;
	case NODE_READ:
		for (uint32_t i = 0; i < member->peers_count; i++)
			records_read_again(&member->peers[i]);
		return false;
	case NODE_BUMP:
		bump(member, effect->bump.epoch);
		return false;
	case NODE_REPLY:
	case NODE_EVENT:
	case NODE_LOST:
	case NODE_STOP:
	case NODE_SHOUT:
	case NODE_RENEW:
	case NODE_WARN:
	case NODE_EXTEND:
	case NODE_DEPART:
		return true;
	}
	return true;
}

bool member_effect(struct member *member, struct member_effect *ret_effect)
{
	free(member->taken);
	member->taken = NULL;
	for (;;) {
		struct outcome *outcome = STAILQ_FIRST(&member->outcomes);
		if (outcome != NULL) {
			STAILQ_REMOVE_HEAD(&member->outcomes, entry);
			*ret_effect = outcome->effect;
			member->taken = outcome;
			return true;
		}
		if (!node_effect(member->node, &ret_effect->node))
			return false;
		if (is_for_driver(member, &ret_effect->node)) {
			ret_effect->kind = MEMBER_NODE;
			return true;
		}
	}
}

/* --- time --- */

/* Time never goes back, whatever the driver passes in. */
static void advance(struct member *member, uint64_t now)
{
	if (now > member->now)
		member->now = now;
}

uint64_t member_deadline(const struct member *member)
{
	uint64_t node_at = node_deadline(member->node);

	return node_at < member->timers_at ? node_at : member->timers_at;
}

static void acknowledge(struct member *member)
{
	member->acknowledge_at = NODE_NEVER;
	for (uint32_t i = 0; i < member->peers_count; i++) {
		struct peer *peer = &member->peers[i];
		if (peer->connection == NULL)
			continue;
		link_ack(peer->link);
		connection_changed(peer->connection);
	}
}

/* Serves the timers that are due, and finds when the next one is. There are few, and they are
 * seldom due. */
static void serve_timers(struct member *member)
{
	struct connection *connection, *next;

	member->timers_at = NODE_NEVER;
	if (member->acknowledge_at <= member->now)
		acknowledge(member);
	member_due(member, member->acknowledge_at);
	if (member->quiet_until > member->now)
		member_due(member, member->quiet_until);
	for (connection = LIST_FIRST(&member->connections); connection != NULL; connection = next) {
		next = LIST_NEXT(connection, all);
		connection_tick(connection);
		member_due(member, connection->patience_at);
	}
	for (uint32_t i = 0; i < member->peers_count; i++) {
		struct peer *peer = &member->peers[i];
		if (peer->redial_at <= member->now)
			peer_dial(peer);
		member_due(member, peer->redial_at);
	}
}

void member_tick(struct member *member, uint64_t now)
{
	advance(member, now);
	if (member->timers_at <= member->now)
		serve_timers(member);
	node_tick(member->node, member->now);
	views_spread(member);
	views_enter(member);
}

/* --- connections --- */

struct connection *member_accepted(struct member *member, const char *from, void *user,
                                   uint64_t now)
{
	advance(member, now);
	struct connection *connection = connection_new(member, CONNECTION_HELLO);
	connection->user = user;
	snprintf(connection->from, sizeof(connection->from), "%s", from);
	return connection;
}

void member_dialled(struct member *member, struct connection *connection, uint64_t now)
{
	advance(member, now);
	if (connection->state != CONNECTION_DIALLING)
		return;
	connection->state = CONNECTION_HELLO;
	handshake_begin(connection);
}

void member_input(struct member *member, struct connection *connection, const uint8_t *bytes,
                  size_t size, uint64_t now)
{
	advance(member, now);
	if (size == 0)
		return;
	switch (connection->state) {
	case CONNECTION_HELLO:
		handshake_input(connection, bytes, size);
		break;
	case CONNECTION_UP:
		records_input(connection, bytes, size);
		break;
	case CONNECTION_DIALLING:
	case CONNECTION_ENDING:
	case CONNECTION_CLOSING:
		break;
	}
}

void member_closed(struct member *member, struct connection *connection, const char *why,
                   uint64_t now)
{
	advance(member, now);
	if (why != NULL && connection->peer != NULL)
		member_log(member, MEMBER_DEBUG, "%s: %s", connection->peer->name, why);
	connection_part(connection);
	/* The driver may have closed it by itself before it could be told to. */
	outcomes_drop(member, connection);
	connection_free(connection);
}

/* --- the beginning and the end --- */

/* Computes a digest of what must be the same at all members: their names, and the algorithm and
 * topology. */
static uint64_t digest_setup(const struct member_options *options)
{
	const struct node_options *node = &options->node;
	XXH3_state_t *state = XXH3_createState();

	memory_must(state != NULL);
	XXH3_64bits_reset(state);
	for (uint32_t i = 0; i < options->peers_count; i++)
		XXH3_64bits_update(state, options->peers[i].name,
		                   strlen(options->peers[i].name) + 1);
	XXH3_64bits_update(state, node->algorithm->name, strlen(node->algorithm->name) + 1);
	const char *topology = node->topology != NULL ? node->topology : node->algorithm->topology;
	XXH3_64bits_update(state, topology, strlen(topology) + 1);
	XXH3_64bits_update(state, &options->lease_ms, sizeof(options->lease_ms));
	for (size_t i = 0; i < PARAMETERS_MAX; i++) {
		uint64_t number = node->parameters != NULL ? node->parameters[i] : 0;
		const char *text =
		        node->texts != NULL && node->texts[i] != NULL ? node->texts[i] : "";
		XXH3_64bits_update(state, &number, sizeof(number));
		XXH3_64bits_update(state, text, strlen(text) + 1);
	}
	uint64_t digest = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return digest;
}

static char *copy_text(const char *text)
{
	char *copy = text == NULL ? NULL : strdup(text);

	memory_must(text == NULL || copy != NULL);
	return copy;
}

static void make_peers(struct member *member, const struct member_options *options)
{
	member->peers = calloc(options->peers_count, sizeof(*member->peers));
	memory_must(member->peers != NULL);
	for (uint32_t i = 0; i < options->peers_count; i++) {
		struct peer *peer = &member->peers[i];
		bool dials = options->peers[i].linked && i > options->self;
		*peer = (struct peer){.member = member,
		                      .name = copy_text(options->peers[i].name),
		                      .address = copy_text(options->peers[i].address),
		                      .redial_at = dials ? 0 : NODE_NEVER,
		                      .backoff_ms = REDIAL_MS_FIRST};
		if (options->peers[i].linked)
			peer->link =
			        link_create(options->kept_max != 0 ? options->kept_max : KEPT_MAX);
	}
}

struct member *member_create(const struct member_options *options, const char **ret_wrong)
{
	struct node_options node_options = options->node;

	node_options.name = options->peers[options->self].name;
	node_options.incarnation = options->incarnation;
	node_options.cluster = XXH3_64bits(options->cluster, strlen(options->cluster));
	struct node *node = node_create(&node_options, ret_wrong);
	if (node == NULL)
		return NULL;
	struct member *member = calloc(1, sizeof(*member));
	const char **names = calloc(options->peers_count, sizeof(*names));
	memory_must(member != NULL && names != NULL);
	for (uint32_t i = 0; i < options->peers_count; i++)
		names[i] = options->peers[i].name;
	*member = (struct member){
	        .cluster = copy_text(options->cluster),
	        .cluster_hash = node_options.cluster,
	        .setup = digest_setup(options),
	        .self = options->self,
	        .peers_count = options->peers_count,
	        .incarnation = options->incarnation,
	        .node = node,
	        .engine = engine_create(names, options->peers_count, options->self,
	                                options->incarnation, options->proposal),
	        .quiet_until = options->quiet_until,
	        .acknowledge_at = NODE_NEVER,
	};
	free(names);
	LIST_INIT(&member->connections);
	STAILQ_INIT(&member->changed);
	STAILQ_INIT(&member->outcomes);
	make_peers(member, options);
	return member;
}

void member_destroy(struct member *member)
{
	must(LIST_EMPTY(&member->connections));
	for (uint32_t i = 0; i < member->peers_count; i++) {
		if (member->peers[i].link != NULL)
			link_destroy(member->peers[i].link);
		free(member->peers[i].name);
		free(member->peers[i].address);
	}
	while (!STAILQ_EMPTY(&member->outcomes)) {
		struct outcome *outcome = STAILQ_FIRST(&member->outcomes);
		STAILQ_REMOVE_HEAD(&member->outcomes, entry);
		free(outcome);
	}
	free(member->taken);
	free(member->peers);
	free(member->missing);
	free(member->cluster);
	node_destroy(member->node);
	engine_destroy(member->engine);
	free(member);
}

struct node *member_node(const struct member *member)
{
	return member->node;
}

void member_leave(struct member *member)
{
	member->leaving = true;
	for (uint32_t i = 0; i < member->peers_count; i++)
		member->peers[i].redial_at = NODE_NEVER;
}

void member_say_goodbye(struct member *member)
{
	for (uint32_t i = 0; i < member->peers_count; i++) {
		struct peer *peer = &member->peers[i];
		if (peer->connection == NULL)
			continue;
		link_refuse(peer->link,
		            "it has left; this version cannot take it back: restart every node");
		connection_changed(peer->connection);
	}
}

bool member_quiet(const struct member *member)
{
	for (uint32_t i = 0; i < member->peers_count; i++) {
		const struct peer *peer = &member->peers[i];
		if (peer->connection != NULL && link_pending(peer->link) > 0)
			return false;
	}
	return true;
}

/* --- what operators want to know --- */

const char *member_missing(struct member *member)
{
	struct buffer names = {0};

	for (uint32_t i = 0; i < member->peers_count; i++) {
		const struct peer *peer = &member->peers[i];
		if (peer->link == NULL || peer->connection != NULL)
			continue;
		if (buffer_size(&names) > 0)
			buffer_append(&names, ", ", 2);
		buffer_append(&names, peer->name, strlen(peer->name));
	}
	free(member->missing);
	member->missing = NULL;
	if (buffer_size(&names) > 0) {
		buffer_append(&names, "", 1);
		member->missing = names.bytes;
	}
	return member->missing;
}

const char *member_unknown(struct member *member)
{
	return engine_missing(member->engine);
}

const char *member_refusal(const struct member *member)
{
	for (uint32_t i = 0; i < member->peers_count; i++) {
		if (member->peers[i].refusal[0] != '\0')
			return member->peers[i].refusal;
	}
	return NULL;
}

void member_watch(struct member *member, uint64_t now)
{
	advance(member, now);
	for (uint32_t i = 0; i < member->peers_count; i++) {
		struct peer *peer = &member->peers[i];
		size_t pending = peer->connection != NULL ? link_pending(peer->link) : 0;
		if (pending > 0 && peer->pending_before > 0 && pending >= peer->pending_before)
			peer_complain(
			        peer,
			        "takes no messages, though it is connected: stopped, or too busy");
		peer->pending_before = pending;
	}
}
