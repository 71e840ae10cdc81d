/*
 * A member whose peers send anything, on any number of connections, before it belongs to a cluster
 * and afterwards. It must not crash, the node must not stop itself, and the memory that it keeps is
 * limited.
 *
 * The input is a little program. Its first byte chooses how the member begins: alone, as one of
 * three founders, or as one that joins. Then each part is a step: a connection comes or goes, a
 * good CALL or HELLO, a packet of the bytes that follow, a well-formed bulletin, petition or order,
 * raw bytes, or time.
 */
#include "baton/error.h"
#include "call.h"
#include "link.h"
#include "member.h"
#include "must.h"
#include "outbuffer.h"
#include "petition.h"
#include "post.h"
#include "record.h"
#include "registry.h"
#include "tenant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define LEASE_NS (3000 * MS)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SLOTS = 4, OWN_PROCESS = 9, OWN_SERVER = 7, STEPS_MAX = 200, DIALS_MAX = 64 };

static const char settings[] = "lease 3s\n";
static const char *const names[] = {"a", "b", "c", "m"}; /* m is the member itself */

struct target {
	struct member *member;
	struct connection *slots[SLOTS];     /* connections that are open; NULL: none */
	struct connection *dials[DIALS_MAX]; /* connections that the member wants to be dialled */
	uint32_t dials_count;
	uint64_t now, drawn;
	bool settled;
	struct cluster_id cluster; /* the cluster that the member belongs to */
	struct out out;
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

static uint64_t draw(void *context)
{
	return ++((struct target *)context)->drawn;
}

/* --- what the member wants --- */

static struct node_options node_options(void)
{
	return (struct node_options){
	        .algorithm = algorithm_find("neilsen"), .seed = 1, .turns = 1, .idle_hop_ns = MS};
}

static void settle(struct target *target, const struct charter *charter)
{
	struct member_settlement settlement = {
	        .node = node_options(), .wiring = {.complete = true}, .lease_ns = LEASE_NS};

	target->cluster = charter->cluster;
	target->settled = true;
	must(member_settle(target->member, &settlement, target->now) == NULL);
}

/* Forgets a connection, wherever it is. */
static void drop(struct target *target, const struct connection *connection)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (target->slots[i] == connection)
			target->slots[i] = NULL;
	}
	for (uint32_t i = 0; i < target->dials_count; i++) {
		if (target->dials[i] == connection)
			target->dials[i--] = target->dials[--target->dials_count];
	}
}

static void close_connection(struct target *target, struct connection *connection)
{
	drop(target, connection);
	member_closed(target->member, connection, "Connection refused", target->now);
}

static void take_effect(struct target *target, const struct member_effect *effect)
{
	switch (effect->kind) {
	case MEMBER_NODE:
		must(effect->node.kind != NODE_STOP);
		break;
	case MEMBER_DIAL:
		must(target->dials_count < DIALS_MAX);
		target->dials[target->dials_count++] = effect->dial.connection;
		break;
	case MEMBER_CLOSE:
		close_connection(target, effect->close);
		break;
	case MEMBER_SETTLE:
		settle(target, effect->charter);
		break;
	case MEMBER_WRITE:
		member_written(target->member, effect->write->number, target->now);
		break;
	case MEMBER_IDENTITY:
		member_identity_written(target->member, target->now);
		break;
	case MEMBER_VIEW:
	case MEMBER_REMOVED:
	case MEMBER_ADDRESS:
	case MEMBER_ANSWERED:
	case MEMBER_STOP:
	case MEMBER_LOG:
		break;
	}
}

static void pump(struct target *target)
{
	struct member_effect effect;
	struct connection *connection;
	const uint8_t *bytes;

	while (member_effect(target->member, &effect))
		take_effect(target, &effect);
	while ((connection = member_changed(target->member)) != NULL) {
		size_t size = connection_output(connection, &bytes);
		if (size > 0)
			connection_written(connection, size);
	}
	/* The driver has a limit; dialling is refused beyond it. */
	while (target->dials_count > DIALS_MAX / 2)
		close_connection(target, target->dials[0]);
}

/* --- what its peers do --- */

static void give(struct target *target, uint32_t slot, const uint8_t *bytes, size_t size)
{
	if (target->slots[slot] == NULL || size == 0)
		return;
	uint8_t *copy = malloc(size);
	must(copy != NULL);
	memcpy(copy, bytes, size);
	member_input(target->member, target->slots[slot], copy, size, target->now);
	free(copy);
}

static void come_or_go(struct target *target, uint32_t slot)
{
	if (target->slots[slot] != NULL) {
		close_connection(target, target->slots[slot]);
	} else if (target->dials_count > 0 && next_byte(target) % 2 == 0) {
		target->slots[slot] = target->dials[--target->dials_count];
		member_dialled(target->member, target->slots[slot], target->now);
	} else {
		target->slots[slot] =
		        member_accepted(target->member, "192.0.2.1", NULL, target->now);
	}
}

/* Returns the charter of the member's cluster, of another one, or of none. */
static struct charter some_charter(const struct target *target, uint8_t which)
{
	struct charter charter = {.settings = (char *)(uintptr_t)settings, .base = 5};

	if (which % 4 == 1)
		charter.cluster = (struct cluster_id){1, 2};
	else if (which % 4 != 0)
		charter.cluster = target->cluster;
	return charter;
}

static void give_call(struct target *target, uint32_t slot)
{
	uint8_t who = next_byte(target), which = next_byte(target);
	struct call call = {.charter = some_charter(target, which),
	                    .process = 1 + who % 16,
	                    .server = which / 4 % 16,
	                    .witness = which >= 240};

	snprintf(call.name, sizeof(call.name), "%s", names[who / 16 % 4]);
	snprintf(call.address, sizeof(call.address), "%s:1", names[who / 16 % 4]);
	snprintf(call.peer, sizeof(call.peer), "%s", who >= 64 ? "m" : "");
	out_clear(&target->out);
	call_write(&target->out, &call);
	give(target, slot, target->out.bytes, target->out.bytes_count);
}

static void give_hello(struct target *target, uint32_t slot)
{
	uint8_t who = next_byte(target), room[LINK_HELLO_MAX];
	struct link_hello hello = {.cluster = target->cluster.high ^ target->cluster.low,
	                           .setup = charter_digest(settings),
	                           .process = 1 + who % 16,
	                           .peer_process = OWN_PROCESS};

	hello.received = next_byte(target) % 4;
	snprintf(hello.name, sizeof(hello.name), "%s", names[who / 16 % 4]);
	snprintf(hello.peer, sizeof(hello.peer), "m");
	give(target, slot, room, link_hello_write(&hello, room));
}

static void give_packet(struct target *target, uint32_t slot, enum packet_kind kind,
                        const uint8_t *bytes, size_t size)
{
	uint8_t *record = malloc(RECORD_HEAD_SIZE + 1 + size);

	must(record != NULL);
	record_put_head(record, RECORD_PACKET, RECORD_HEAD_SIZE + 1 + size);
	record[RECORD_HEAD_SIZE] = (uint8_t)kind;
	if (size > 0)
		memcpy(record + RECORD_HEAD_SIZE + 1, bytes, size);
	give(target, slot, record, RECORD_HEAD_SIZE + 1 + size);
	free(record);
}

static void give_bytes(struct target *target, uint32_t slot, bool packet)
{
	uint8_t kind = packet ? next_byte(target) % 9 : 0;
	size_t size = next_byte(target);

	size = size < target->size ? size : target->size;
	const uint8_t *bytes = target->data;
	target->data += size;
	target->size -= size;
	if (packet)
		give_packet(target, slot, (enum packet_kind)kind, bytes, size);
	else
		give(target, slot, bytes, size);
}

/* Gives a frame with a good head, which the fuzzer would hardly find by chance. */
static void give_frame(struct target *target, uint32_t slot)
{
	uint8_t number = next_byte(target), room[RECORD_NUMBERED_SIZE + 255];
	size_t size = next_byte(target);

	size = size < target->size ? size : target->size;
	record_put_head(room, RECORD_FRAME, RECORD_NUMBERED_SIZE + size);
	bytes_put_u64(room + RECORD_HEAD_SIZE, number);
	memcpy(room + RECORD_NUMBERED_SIZE, target->data, size);
	target->data += size;
	target->size -= size;
	give(target, slot, room, RECORD_NUMBERED_SIZE + size);
}

static void give_view(struct target *target, uint32_t slot)
{
	struct seat seats[4] = {0};
	uint8_t which = next_byte(target), more = next_byte(target);
	struct agreed_state state = {.settings = {.lease_ns = LEASE_NS},
	                             .index = more,
	                             .epoch = next_byte(target),
	                             .base = 10,
	                             .limit = 10 + next_byte(target),
	                             .seats = seats};
	struct prospect prospect = {entry_text_of(names[more % 4]), entry_text_of("x:2"),
	                            1 + more / 4 % 16};

	for (uint32_t i = 0; i < 4; i++) {
		if ((which >> i & 1) == 0)
			continue;
		struct seat *seat = &seats[state.seats_count++];
		const char *name = names[which >> 4 & 1 ? 0 : i];
		snprintf(seat->name, sizeof(seat->name), "%s", name);
		snprintf(seat->address, sizeof(seat->address), "%s:1", name);
		seat->process = i == 3 ? OWN_PROCESS : (which >> 5 & 1 ? 1U : i + 1U);
		seat->incarnation = 1 + more % 8;
	}
	bulletin_write_view(&target->out, &state, "m", which >= 128, more, &prospect, more % 2);
	give_packet(target, slot, PACKET_BULLETIN, target->out.bytes, target->out.bytes_count);
}

static void give_electors(struct target *target, uint32_t slot)
{
	struct electors electors = {.index = 1U + next_byte(target)};
	uint8_t which = next_byte(target);

	for (uint32_t i = 0; i < 4; i++) {
		if (which >> i & 1)
			electors_add(&electors, which >> 4, entry_text_of(names[i]),
			             entry_text_of(which >= 128 ? "x:1" : ""));
	}
	if (electors.count > 0) {
		bulletin_write_electors(&target->out, &electors);
		give_packet(target, slot, PACKET_BULLETIN, target->out.bytes,
		            target->out.bytes_count);
	}
	electors_free(&electors);
}

static void give_petition(struct target *target, uint32_t slot)
{
	uint8_t who = next_byte(target), which = next_byte(target);
	uint64_t lacks = 1 + which % 16;
	struct petition petition = {.kind = PETITION_RENEW,
	                            .process = 1 + who % 16,
	                            .epoch = next_byte(target),
	                            .name = entry_text_of(names[who / 16 % 4]),
	                            .address = entry_text_of("x:3"),
	                            .incarnation = next_byte(target),
	                            .number = 1U + next_byte(target),
	                            .lease_ns = LEASE_NS,
	                            .server = which / 4 % 16,
	                            .witness = which >= 224,
	                            .version_least = 1,
	                            .version = 1,
	                            .active = which % 2 == 1};

	petition_write(&target->out, &petition, &lacks, which % 3 == 0, &lacks, which % 5 == 0);
	give_packet(target, slot, PACKET_PETITION, target->out.bytes, target->out.bytes_count);
}

static void give_order(struct target *target, uint32_t slot)
{
	uint8_t which = next_byte(target), who = next_byte(target), number = who / 16;
	const uint8_t name = (uint8_t)('a' + which / 5 % 16);
	struct log_entry entry = {.kind = which % 2 == 0 ? ENTRY_FORBID : ENTRY_ALLOW,
	                          .name = {(const char *)&name, 1},
	                          .order = {1U + who % 16, number}};
	struct out order;

	if (which % 5 == 4) {
		entry.kind = ENTRY_VOTE;
		entry.vote = VOTE_WANTED;
	}
	out_init(&order);
	entry_write_order(&order, &entry);
	out_clear(&target->out);
	out_uint(&target->out, number);
	entry_put_digest(&target->out, &(struct entry_digest){0});
	entry_put_text(&target->out, entry.name);
	out_need(&target->out, order.bytes_count);
	memcpy(target->out.bytes + target->out.bytes_count, order.bytes, order.bytes_count);
	target->out.bytes_count += order.bytes_count;
	give_packet(target, slot, PACKET_QUESTION, target->out.bytes, target->out.bytes_count);
	out_free(&order);
}

static void pass_time(struct target *target)
{
	target->now += next_byte(target) * 20 * MS;
	member_tick(target->member, target->now);
}

static void step(struct target *target)
{
	uint8_t what = next_byte(target);
	uint32_t slot = what / 16 % SLOTS;

	switch (what % 16) {
	case 0:
	case 1:
		come_or_go(target, slot);
		break;
	case 2:
	case 3:
		give_call(target, slot);
		break;
	case 4:
		give_hello(target, slot);
		break;
	case 5:
	case 6:
		give_bytes(target, slot, true);
		break;
	case 7:
		give_bytes(target, slot, false);
		break;
	case 8:
		give_frame(target, slot);
		break;
	case 9:
		give_view(target, slot);
		break;
	case 10:
		give_electors(target, slot);
		break;
	case 11:
	case 12:
		give_petition(target, slot);
		break;
	case 13:
		give_order(target, slot);
		break;
	default:
		pass_time(target);
		break;
	}
	pump(target);
}

/* --- the beginning and the end --- */

static void begin(struct target *target, uint8_t how)
{
	static const struct member_peer all[] = {{"a", "a:1"}, {"m", "m:1"}, {"z", "z:1"}};
	struct identity identity = {
	        .name = "m", .address = "m:1", .server = OWN_SERVER, .witness = how >= 192};
	struct durable_content nothing = {.log_start = 1};
	struct electors addresses = {0};
	struct member_options options = {.process = OWN_PROCESS,
	                                 .identity = &identity,
	                                 .content = how % 8 < 6 ? &nothing : NULL,
	                                 .addresses = &addresses,
	                                 .settings = settings,
	                                 .base = 1000,
	                                 .node = node_options(),
	                                 .draw = draw,
	                                 .context = target};
	const char *wrong;

	if (how % 3 == 0) { /* alone; a founder needs a disk */
		options.content = &nothing;
		options.peers = &all[1];
		options.peers_count = 1;
	} else if (how % 3 == 1) {
		options.content = &nothing;
		options.peers = how >= 128 ? &all[1] : all;
		options.peers_count = how >= 128 ? 2 : 3;
	} else {
		electors_add(&addresses, 0, entry_text_of(""), entry_text_of("a:1"));
	}
	target->member = member_create(&options, target->now, &wrong);
	must(target->member != NULL);
	electors_free(&addresses);
	/* A member that is alone leads its voters soon. */
	for (int i = 0; i < 8; i++) {
		target->now += (how % 3 == 0 ? 500 : 1) * MS;
		member_tick(target->member, target->now);
		pump(target);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = {.data = data, .size = size, .now = 1000 * MS, .drawn = 100};

	if (size < 2)
		return 0;
	out_init(&target.out);
	begin(&target, next_byte(&target));
	for (uint32_t steps = 0; target.size > 0 && steps < STEPS_MAX; steps++)
		step(&target);
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (target.slots[i] != NULL)
			close_connection(&target, target.slots[i]);
	}
	while (target.dials_count > 0)
		close_connection(&target, target.dials[0]);
	member_destroy(target.member);
	out_free(&target.out);
	return 0;
}
