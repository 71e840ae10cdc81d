/*
 * A few nodes, their links and their replies, for tests that drive them by hand. A link keeps order
 * and loses nothing. While a link is cut, frames wait in it. Nodes count from 0 here and are called
 * a, b, c, …, so node 0 is the algorithm's node 1 when all are members.
 */
#ifndef TEST_NODES_H
#define TEST_NODES_H

#include "node.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 8, SAID_MOST = 512 };

#define MILLISECOND UINT64_C(1000000)

struct test_frame {
	struct test_frame *next;
	uint64_t epoch;
	size_t size;
	uint8_t bytes[];
};

struct test_link {
	struct test_frame *first;
	bool cut, blocked;
};

/* Returns a tag that tells to which node a session belongs. It is needed because every node numbers
 * its sessions from the same number on. */
static inline uint64_t session_tag(uint32_t i)
{
	return (uint64_t)(i + 1) << 60;
}

static inline uint64_t session_id(uint64_t session)
{
	return session & (session_tag(0) - 1);
}

/* A reply, an event or a loss, as text: "fence 1:1", "nil", "granted 1:1 a". A fence is shown as
 * epoch:counter. */
struct said {
	uint64_t session;
	char text[96];
};

struct nodes {
	uint32_t count;
	struct node *node[NODES_MOST];
	char name[NODES_MOST][2];
	uint64_t incarnation[NODES_MOST];
	bool member[NODES_MOST]; /* the members of the last view */
	uint32_t number_to_node[NODES_MOST + 1];
	struct test_link link[NODES_MOST][NODES_MOST];
	uint64_t now, epoch;
	struct said said[SAID_MOST];
	size_t said_count;
	uint32_t speaker; /* the node whose effects are being taken */
	uint64_t frames, bumps, reads;
	bool stopped[NODES_MOST];
	struct node_status *status; /* the status that was replied last, or NULL */
	uint64_t digest;            /* a digest of everything that was sent and said, in order */
	/* With leases (options.lease_ns), these are counted for each node: */
	uint32_t shouts[NODES_MOST], renewals[NODES_MOST], warnings[NODES_MOST],
	        extends[NODES_MOST], departures[NODES_MOST];
	/* The time at which the node asked for a renewal that is not acknowledged yet; 0: there is
	 * none. */
	uint64_t renewed[NODES_MOST];
	bool acknowledged[NODES_MOST]; /* the node's renewals are answered at once */
	/* The lapses and the lease that came with the last fence. */
	uint64_t grant_lapses, grant_left;
	char lost_why[32];     /* why the last lock was lost */
	uint64_t extend_limit; /* the limit of the last EXTEND that was proposed */
	uint64_t fences;       /* how many fences an epoch has; 0 means 1,000 */
	/* Options of the nodes, set before nodes_start. */
	struct node_options options;
};

static inline void nodes_digest(struct nodes *nodes, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		nodes->digest = (nodes->digest ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

static inline const char *fence_text(uint64_t fence)
{
	static char text[4][40];
	static unsigned turn;
	char *to = text[turn++ % 4];
	snprintf(to, sizeof(text[0]), "%llu:%llu", (unsigned long long)(fence >> NODE_COUNTER_BITS),
	         (unsigned long long)(fence & NODE_COUNTER_MAX));
	return to;
}

__attribute__((format(printf, 3, 4))) static inline void
nodes_say(struct nodes *nodes, uint64_t session, const char *format, ...)
{
	va_list arguments;
	must(nodes->said_count < SAID_MOST);
	struct said *said = &nodes->said[nodes->said_count++];
	said->session = session | session_tag(nodes->speaker);
	va_start(arguments, format);
	vsnprintf(said->text, sizeof(said->text), format, arguments);
	va_end(arguments);
	nodes_digest(nodes, said->text, strlen(said->text));
}

static inline void nodes_send(struct nodes *nodes, uint32_t from, const struct node_effect *effect)
{
	uint32_t to = nodes->number_to_node[effect->send.to];
	struct test_frame *frame = malloc(sizeof(*frame) + effect->send.size);
	struct test_frame **end = &nodes->link[from][to].first;

	must(frame != NULL && effect->send.epoch == nodes->epoch && to != from);
	*frame = (struct test_frame){.epoch = effect->send.epoch, .size = effect->send.size};
	memcpy(frame->bytes, effect->send.bytes, effect->send.size);
	while (*end != NULL)
		end = &(*end)->next;
	*end = frame;
	nodes->frames++;
	nodes_digest(nodes, frame->bytes, frame->size);
}

static inline void nodes_hear_reply(struct nodes *nodes, const struct node_effect *effect)
{
	uint64_t session = effect->reply.session;
	const struct node_bytes *silent = &effect->reply.silent;
	const char *comma = silent->size != 0 ? ", silent " : "";

	switch (effect->reply.kind) {
	case REPLY_NIL:
		nodes_say(nodes, session, "nil%s%.*s", comma, (int)silent->size, silent->bytes);
		break;
	case REPLY_FENCE:
		nodes->grant_lapses = effect->reply.lapses;
		nodes->grant_left = effect->reply.left_ns;
		nodes_say(nodes, session, "fence %s", fence_text(effect->reply.number));
		break;
	case REPLY_NUMBER:
		nodes_say(nodes, session, "number %llu", (unsigned long long)effect->reply.number);
		break;
	case REPLY_LEADER:
		nodes_say(nodes, session, "leader %s %.*s %.*s%s%.*s",
		          fence_text(effect->reply.number), (int)effect->reply.member.size,
		          effect->reply.member.bytes, (int)effect->reply.value.size,
		          effect->reply.value.bytes, comma, (int)silent->size, silent->bytes);
		break;
	case REPLY_STATUS:
		nodes_say(nodes, session, "status of %u", effect->reply.status->members_count);
		node_status_free(nodes->status);
		nodes->status = effect->reply.status;
		node_status_keep(nodes->status);
		break;
	case REPLY_ERROR:
		nodes_say(nodes, session, "error %d%s%.*s", effect->reply.error,
		          silent->size > 0 ? " " : "", (int)silent->size, silent->bytes);
		break;
	}
}

static inline void nodes_hear_event(struct nodes *nodes, const struct node_effect *effect)
{
	static const char *const kinds[] = {"granted", "released", "lost", "leader", "dropped"};

	nodes_say(nodes, effect->event.session, "%.*s %s %s %.*s%s%.*s",
	          (int)effect->event.name.size, effect->event.name.bytes, kinds[effect->event.kind],
	          fence_text(effect->event.fence), (int)effect->event.member.size,
	          effect->event.member.bytes, effect->event.value.size != 0 ? " " : "",
	          (int)effect->event.value.size, effect->event.value.bytes);
}

static inline void nodes_take_effects(struct nodes *nodes, uint32_t i)
{
	struct node_effect effect;

	nodes->speaker = i;
	while (node_effect(nodes->node[i], &effect)) {
		switch (effect.kind) {
		case NODE_SEND:
			nodes_send(nodes, i, &effect);
			break;
		case NODE_REPLY:
			nodes_hear_reply(nodes, &effect);
			break;
		case NODE_EVENT:
			nodes_hear_event(nodes, &effect);
			break;
		case NODE_LOST:
			snprintf(nodes->lost_why, sizeof(nodes->lost_why), "%.*s",
			         (int)effect.lost.why.size, effect.lost.why.bytes);
			nodes_say(nodes, effect.lost.session, "lost %.*s %s",
			          (int)effect.lost.name.size, effect.lost.name.bytes,
			          fence_text(effect.lost.fence));
			break;
		case NODE_READ:
			nodes->reads++;
			for (uint32_t from = 0; from < nodes->count; from++)
				nodes->link[from][i].blocked = false;
			break;
		case NODE_BUMP:
			must(effect.bump.epoch == nodes->epoch);
			nodes->bumps++;
			break;
		case NODE_STOP:
			nodes->stopped[i] = true;
			break;
		case NODE_SHOUT:
			nodes->shouts[i]++;
			break;
		case NODE_RENEW:
			nodes->renewals[i]++;
			nodes->renewed[i] = effect.renew.taken;
			break;
		case NODE_WARN:
			nodes->warnings[i]++;
			break;
		case NODE_EXTEND:
			nodes->extends[i]++;
			nodes->extend_limit = effect.extend.limit;
			break;
		case NODE_DEPART:
			nodes->departures[i]++;
			break;
		}
	}
}

/* Acknowledges the last renewal of a node, as the voters do. */
static inline void nodes_acknowledge(struct nodes *nodes, uint32_t i)
{
	uint64_t taken = nodes->renewed[i];

	nodes->renewed[i] = 0;
	if (taken != 0)
		node_lease(nodes->node[i], taken + nodes->options.lease_ns, nodes->now);
}

static inline void nodes_take(struct nodes *nodes, uint32_t i)
{
	nodes_take_effects(nodes, i);
	if (!nodes->acknowledged[i] || nodes->renewed[i] == 0)
		return;
	nodes_acknowledge(nodes, i);
	nodes_take_effects(nodes, i);
}

/* Lets one node enter a view with these members, as if voters had agreed on it. The fences of the
 * view are above those of the epoch before. */
static inline int nodes_enter_one(struct nodes *nodes, uint32_t i,
                                  const struct node_member *members, uint32_t count)
{
	uint64_t fences = nodes->fences != 0 ? nodes->fences : 1000;
	struct node_agreement agreement = {
	        .epoch = nodes->epoch,
	        .base = nodes->epoch * 1000,
	        .limit = nodes->epoch * 1000 + fences,
	        .members = members,
	        .members_count = count,
	        .self = NODE_NOT_IN,
	};

	for (uint32_t k = 0; k < count; k++) {
		if (strcmp(members[k].name, nodes->name[i]) == 0)
			agreement.self = k;
	}
	return node_enter(nodes->node[i], &agreement, nodes->now);
}

/* Gives a view to one node, or to all; the members are those of nodes->member. */
static inline int nodes_view_one(struct nodes *nodes, uint32_t i)
{
	struct node_member members[NODES_MOST];
	uint32_t count = 0;

	for (uint32_t k = nodes->count; k-- > 0;) {
		if (nodes->member[k])
			members[count++] = (struct node_member){nodes->name[k],
			                                        nodes->incarnation[k], "somewhere"};
	}
	int error = nodes->options.lease_ns != 0
	                    ? nodes_enter_one(nodes, i, members, count)
	                    : node_view(nodes->node[i], nodes->epoch, members, count, nodes->now);
	nodes_take(nodes, i);
	return error;
}

/* Begins the next epoch, of which no node knows yet. Frames of the old epoch may be lost. */
static inline void nodes_next_epoch(struct nodes *nodes)
{
	uint32_t number = 0;

	nodes->epoch++;
	for (uint32_t i = 0; i < nodes->count; i++) {
		if (nodes->member[i])
			nodes->number_to_node[++number] = i;
	}
}

static inline void nodes_view(struct nodes *nodes)
{
	nodes_next_epoch(nodes);
	for (uint32_t i = 0; i < nodes->count; i++)
		must(nodes_view_one(nodes, i) == 0);
}

/* Delivers the oldest frame of a link. Returns false if there is none, or if the link is cut or not
 * read. */
static inline bool nodes_deliver(struct nodes *nodes, uint32_t from, uint32_t to)
{
	struct test_link *link = &nodes->link[from][to];
	struct test_frame *frame = link->first;

	if (frame == NULL || link->cut || link->blocked)
		return false;
	int error = node_receive(nodes->node[to], nodes->name[from], frame->bytes, frame->size,
	                         nodes->now);
	if (error == BATON_EAGAIN) {
		link->blocked = true;
	} else {
		must(error == 0);
		link->first = frame->next;
		free(frame);
	}
	nodes_take(nodes, to);
	return true;
}

static inline void nodes_deliver_all(struct nodes *nodes)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (uint32_t from = 0; from < nodes->count; from++) {
			for (uint32_t to = 0; to < nodes->count; to++)
				moved = nodes_deliver(nodes, from, to) || moved;
		}
	}
}

static inline uint64_t nodes_deadline(const struct nodes *nodes)
{
	uint64_t deadline = NODE_NEVER;

	for (uint32_t i = 0; i < nodes->count; i++) {
		uint64_t of = node_deadline(nodes->node[i]);
		deadline = of < deadline ? of : deadline;
	}
	return deadline;
}

/* Lets time pass: everything that is due happens when it is due; links take no time. */
static inline void nodes_pass(struct nodes *nodes, uint64_t time)
{
	uint64_t end = nodes->now + time;

	nodes_deliver_all(nodes);
	while (nodes_deadline(nodes) <= end) {
		if (nodes_deadline(nodes) > nodes->now)
			nodes->now = nodes_deadline(nodes);
		for (uint32_t i = 0; i < nodes->count; i++) {
			node_tick(nodes->node[i], nodes->now);
			nodes_take(nodes, i);
		}
		nodes_deliver_all(nodes);
	}
	nodes->now = end;
}

static inline void nodes_create(struct nodes *nodes, const char *algorithm, uint32_t count)
{
	const char *wrong = NULL;

	nodes->count = count;
	nodes->now = 1000 * MILLISECOND;
	nodes->digest = 14695981039346656037u;
	for (uint32_t i = 0; i < count; i++) {
		struct node_options options = nodes->options;
		nodes->name[i][0] = (char)('a' + (int)i);
		nodes->incarnation[i] = 1;
		nodes->member[i] = true;
		options.name = nodes->name[i];
		options.incarnation = 1;
		options.cluster = 7;
		options.algorithm = algorithm_find(algorithm);
		if (options.idle_hop_ns == 0)
			options.idle_hop_ns = 10 * MILLISECOND;
		nodes->node[i] = node_create(&options, &wrong);
		must(nodes->node[i] != NULL);
	}
}

/* Starts all members, in epoch 1, active. */
static inline void nodes_start(struct nodes *nodes, const char *algorithm, uint32_t count)
{
	nodes_create(nodes, algorithm, count);
	nodes_view(nodes);
	nodes_deliver_all(nodes);
	nodes->frames = 0;
}

static inline void nodes_end(struct nodes *nodes)
{
	node_status_free(nodes->status);
	for (uint32_t i = 0; i < nodes->count; i++) {
		node_destroy(nodes->node[i]);
		for (uint32_t to = 0; to < nodes->count; to++) {
			while (nodes->link[i][to].first != NULL) {
				struct test_frame *next = nodes->link[i][to].first->next;
				free(nodes->link[i][to].first);
				nodes->link[i][to].first = next;
			}
		}
	}
}

static inline uint64_t nodes_open(struct nodes *nodes, uint32_t i)
{
	struct node_client client = {.pid = 100 + i, .uid = 7, .command = "job"};
	uint64_t session = node_session_open(nodes->node[i], &client, nodes->now);

	must(session != 0);
	nodes_take(nodes, i);
	return session | session_tag(i);
}

static inline void nodes_close(struct nodes *nodes, uint32_t i, uint64_t session)
{
	node_session_close(nodes->node[i], session_id(session), nodes->now);
	nodes_take(nodes, i);
}

static inline bool nodes_evict(struct nodes *nodes, uint32_t i, uint64_t session)
{
	while (node_session_evict(nodes->node[i], session_id(session), NODE_LOST_LEAVING,
	                          nodes->now))
		nodes_take(nodes, i);
	nodes_take(nodes, i);
	return node_session_losing(nodes->node[i], session_id(session));
}

/* Commands; nodes_said returns what was said. */
static inline int nodes_lock_for(struct nodes *nodes, uint32_t i, uint64_t session,
                                 const char *name, enum node_patience patience, uint64_t timeout)
{
	int error = node_lock(nodes->node[i], session_id(session), name, strlen(name), patience,
	                      timeout, nodes->now);
	nodes_take(nodes, i);
	return error;
}

static inline int nodes_lock(struct nodes *nodes, uint32_t i, uint64_t session, const char *name)
{
	return nodes_lock_for(nodes, i, session, name, NODE_WAIT, 0);
}

static inline int nodes_unlock(struct nodes *nodes, uint32_t i, uint64_t session, const char *name)
{
	int result =
	        node_unlock(nodes->node[i], session_id(session), name, strlen(name), 0, nodes->now);
	nodes_take(nodes, i);
	return result;
}

static inline int nodes_elect_for(struct nodes *nodes, uint32_t i, uint64_t session,
                                  const char *name, const char *value, enum node_patience patience)
{
	int error = node_elect(nodes->node[i], session_id(session), name, strlen(name), value,
	                       strlen(value), patience, 0, nodes->now);
	nodes_take(nodes, i);
	return error;
}

static inline int nodes_elect(struct nodes *nodes, uint32_t i, uint64_t session, const char *name,
                              const char *value)
{
	return nodes_elect_for(nodes, i, session, name, value, NODE_WAIT);
}

static inline int nodes_leader(struct nodes *nodes, uint32_t i, uint64_t session, const char *name)
{
	int error =
	        node_leader(nodes->node[i], session_id(session), name, strlen(name), nodes->now);
	nodes_take(nodes, i);
	return error;
}

static inline int nodes_break(struct nodes *nodes, uint32_t i, uint64_t session, const char *name,
                              uint64_t epoch, uint64_t counter)
{
	int error = node_break(nodes->node[i], session_id(session), name, strlen(name),
	                       (epoch << NODE_COUNTER_BITS) + counter, nodes->now);
	nodes_take(nodes, i);
	return error;
}

static inline int nodes_subscribe(struct nodes *nodes, uint32_t i, uint64_t session, bool pattern,
                                  const char *text)
{
	int error = node_subscribe(nodes->node[i], session_id(session), pattern, text, strlen(text),
	                           nodes->now);
	nodes_take(nodes, i);
	return error;
}

/* Returns the oldest thing said to a session that was not returned yet; "" if there is none. */
static inline const char *nodes_said(struct nodes *nodes, uint64_t session)
{
	static char text[4][96];
	static unsigned turn;

	for (size_t k = 0; k < nodes->said_count; k++) {
		if (nodes->said[k].session != session)
			continue;
		char *to = text[turn++ % 4];
		memcpy(to, nodes->said[k].text, sizeof(text[0]));
		memmove(&nodes->said[k], &nodes->said[k + 1],
		        (nodes->said_count - k - 1) * sizeof(nodes->said[0]));
		nodes->said_count--;
		return to;
	}
	return "";
}

/* Returns the k-th name whose home is this node. */
static inline const char *nodes_name_at(const struct nodes *nodes, uint32_t i, unsigned k)
{
	static char name[8][16];
	static unsigned turn;
	char *to = name[turn++ % 8];

	for (unsigned n = 0;; n++) {
		snprintf(to, sizeof(name[0]), "lock%u", n);
		if (node_home(nodes->node[i], to, strlen(to)) == node_self(nodes->node[i]) &&
		    k-- == 0)
			return to;
	}
}

#endif
