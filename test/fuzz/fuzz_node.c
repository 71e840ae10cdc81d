/*
 * Feeds bytes as frames to a node. It must not crash, whatever arrives, and every effect must make
 * sense.
 *
 * The input is a little program: its first bytes choose the algorithm, the number of members and
 * this node's place among them; then each part is a step: a client's command, time, a new view, a
 * frame of raw bytes, or a frame with a good head and the bytes that follow as its body.
 */
#include "frame.h"
#include "node.h"
#include "registry.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SESSIONS = 4, MEMBERS_MOST = 5, FRAME_MOST = 8192 };

struct target {
	struct node *node;
	uint32_t members;
	uint64_t now, epoch;
	uint64_t session[SESSIONS];
	uint64_t incarnation;
	uint64_t number;                 /* the number of the last flood */
	const char *names[MEMBERS_MOST]; /* the names of the members, in order */
	uint32_t own;                    /* this node's index among the members */
	const uint8_t *data;
	size_t size;
};

static uint8_t next_byte(struct target *target)
{
	if (target->size == 0)
		return 0;
	target->size--;
	return *target->data++;
}

static void take_effects(struct target *target)
{
	struct node_effect effect;

	while (node_effect(target->node, &effect)) {
		/* No message of other members may make a node stop itself. */
		must(effect.kind != NODE_STOP);
		if (effect.kind != NODE_SEND)
			continue;
		must(effect.send.size <= NODE_FRAME_MAX);
		must(effect.send.epoch != target->epoch ||
		     node_linked(target->node, effect.send.to));
	}
}

static void give_view(struct target *target, bool in_it)
{
	struct node_member members[MEMBERS_MOST];
	uint32_t count = 0;

	for (uint32_t i = 0; i < target->members; i++) {
		if (in_it || i != target->own || target->members == 1)
			members[count++] = (struct node_member){
			        .name = target->names[i],
			        .incarnation = i == target->own ? target->incarnation : 1};
	}
	if (node_view(target->node, ++target->epoch, members, count, target->now) == 0)
		return;
	must(node_waiting_for(target->node) != NULL);
}

/* Writes the head of another member's frame, which the fuzzer would hardly find by chance. */
static size_t put_head(struct target *target, uint8_t *bytes, uint8_t kind, uint8_t sender,
                       uint8_t origin, uint8_t destination)
{
	size_t size = 0;

	bytes[size++] = FRAME_VERSION;
	bytes[size++] = kind % FRAME_KINDS;
	memset(bytes + size, 0, 8);
	size += 8;
	bytes[size++] = (uint8_t)(target->epoch + (kind >= 0xf0));
	bytes[size++] = sender;
	bytes[size++] = 1;
	if (kind % FRAME_KINDS == FRAME_MESSAGE)
		return size;
	bytes[size++] = origin;
	bytes[size++] = destination;
	bytes[size++] = (uint8_t)(0x80 | ++target->number);
	bytes[size++] = (uint8_t)(1 + target->number / 128 % 127);
	return size;
}

/* All other members report that they hold nothing, so that the node becomes active. */
static void report_all(struct target *target)
{
	for (uint8_t i = 1; i <= target->members; i++) {
		uint8_t bytes[64];
		size_t size = put_head(target, bytes, FRAME_REPORT, i, i, 0);
		bytes[size++] = true;
		(void)node_receive(target->node, target->names[i - 1], bytes, size, target->now);
	}
}

static void receive(struct target *target, bool with_head)
{
	uint8_t bytes[FRAME_MOST + 64];
	uint8_t sender = (uint8_t)(1 + next_byte(target) % target->members);
	size_t size = 0, length = next_byte(target);

	/* A long frame: a REPORT of many locks, or a value of a leader. */
	if (length == UINT8_MAX)
		length = (size_t)next_byte(target) * FRAME_MOST / UINT8_MAX;

	if (with_head) {
		uint8_t kind = next_byte(target), ways = next_byte(target);
		uint8_t origin = (uint8_t)(ways < 0x80 ? sender : 1 + ways % target->members);
		uint8_t destination = (uint8_t)(ways % 3 == 0 ? 0 : node_self(target->node));
		size = put_head(target, bytes, kind, sender, origin, destination);
	}
	length = length < target->size ? length : target->size;
	memcpy(bytes + size, target->data, length);
	target->data += length;
	target->size -= length;
	(void)node_receive(target->node, target->names[sender - 1], bytes, size + length,
	                   target->now);
}

static void command(struct target *target)
{
	uint64_t session = target->session[next_byte(target) % SESSIONS];
	uint8_t what = next_byte(target), which = next_byte(target);
	const char name[] = {'n', (char)('0' + which % 4)};
	struct node *node = target->node;
	uint64_t now = target->now;

	switch (what % 8) {
	case 0:
	case 1:
		node_lock(node, session, name, 2, (enum node_patience)(which % 3), which, now);
		break;
	case 2:
		node_unlock(node, session, name, 2, 0, now);
		break;
	case 3:
		node_elect(node, session, name, 2, name, which % 3, (enum node_patience)(which % 3),
		           1000000, now);
		break;
	case 4:
		node_leader(node, session, name, 2, now);
		break;
	case 5:
		node_status(node, session, which < 128 ? "n?" : NULL, 2,
		            (struct node_bytes){which % 3 == 0 ? NULL : "\2n1\2?*", which % 3 * 3},
		            which, now);
		break;
	case 6:
		node_subscribe(node, session, which < 128, "n*", 2, now);
		break;
	case 7:
		node_break(node, session, name, 2,
		           (target->epoch << NODE_COUNTER_BITS) + 1 + which % 4, now);
		break;
	}
}

static void step(struct target *target)
{
	uint8_t what = next_byte(target);

	if (what < 80) {
		receive(target, true);
	} else if (what < 96) {
		receive(target, false);
	} else if (what < 200) {
		command(target);
	} else if (what < 230) {
		target->now += (uint64_t)next_byte(target) << 20;
		node_tick(target->node, target->now);
	} else if (what < 240) {
		uint64_t *session = &target->session[what % SESSIONS];
		node_session_close(target->node, *session, target->now);
		*session = node_session_open(target->node, &(struct node_client){.pid = what},
		                             target->now);
	} else if (target->epoch < 100) {
		if (node_self(target->node) == 0 &&
		    node_rejoin(target->node, target->incarnation + 1, target->now) == 0)
			target->incarnation++;
		give_view(target, what != 240);
		take_effects(target);
		if (what < 250)
			report_all(target);
	}
	take_effects(target);
}

static void choose_names(struct target *target)
{
	static const char *const all[MEMBERS_MOST] = {"a", "b", "c", "d", "e"};

	target->members = 1 + next_byte(target) % MEMBERS_MOST;
	target->own = next_byte(target) % target->members;
	memcpy(target->names, all, sizeof(all));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = {.data = data, .size = size, .now = 1, .incarnation = 1};
	const char *wrong;
	size_t count = 0;

	if (size < 3)
		return 0;
	while (algorithms[count] != NULL)
		count++;
	size_t chosen = next_byte(&target) % count;
	while (algorithms[chosen]->kind != KIND_MUTEX)
		chosen = (chosen + 1) % count;
	const struct algorithm *algorithm = algorithms[chosen];
	choose_names(&target);
	struct node_options options = {
	        .name = target.names[target.own],
	        .incarnation = 1,
	        .algorithm = algorithm,
	        .idle_hop_ns = 1 << 22,
	        .turns = 1 + data[1] / 128,
	        .limits = {.locks = 3, .backlog_bytes = 2000, .waiters = 2},
	};
	target.node = node_create(&options, &wrong);
	if (target.node == NULL)
		return 0;
	for (size_t i = 0; i < SESSIONS; i++)
		target.session[i] =
		        node_session_open(target.node, &(struct node_client){.command = "x"}, 1);
	give_view(&target, true);
	take_effects(&target);
	if (data[2] < 192)
		report_all(&target);
	take_effects(&target);
	while (target.size > 0)
		step(&target);
	node_destroy(target.node);
	return 0;
}
