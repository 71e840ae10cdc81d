/*
 * Residents, the members of a cluster whose membership changes. Checks what they keep for their
 * peers, and when they report that they could not keep it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "petition.h"
#include "registry.h"
#include "resident.h"
#include "tie.h"
#include "warden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define LEASE (3000 * MS)

enum { ANT, BEE, HOSTS, CUT_MAX = 1 << 16 };

static const char *const names[HOSTS] = {"ant", "bee"};

/* Two members, one voter, and one connection between them that may be held up. */
static struct {
	uint64_t now;
	struct resident *residents[HOSTS];
	struct warden *warden;
	struct strand *strands[HOSTS]; /* the ends of the connection; NULL: there is none */
	bool held[HOSTS];              /* the output of this end stays in its link */
	/* How many events subscribers were told, and how many were dropped. */
	uint32_t dropped, events;
	uint64_t fence; /* the fence of the last reply */
	/* The first acknowledgement for ant after acknowledgements were held up; it is delivered
	 * later. */
	bool late;
	uint8_t *ack;
	size_t ack_size;
	uint64_t petitioned; /* when ant last sent a petition */
	uint32_t lost;       /* how many holds were lost */
	/* The name in the certificate that bee sees; NULL: there is no TLS. */
	const char *certified;
	uint32_t closed; /* how many connections bee has closed */
} world;

static struct resident *create(const char *name, const char *address, uint64_t process)
{
	const struct algorithm *algorithm = algorithm_find("neilsen");
	struct resident_options options = {
	        .name = name,
	        .address = address,
	        .process = process,
	        .lease_ns = LEASE,
	        .wiring = {.complete = true},
	        .node = {.cluster = 7, .algorithm = algorithm, .seed = 1, .turns = 1},
	};
	const char *wrong;
	struct resident *resident = resident_create(&options, &wrong);

	assert_non_null(resident);
	return resident;
}

static void tell(uint64_t process, uint8_t *bytes, size_t size)
{
	struct bulletin bulletin;

	if (process != ANT + 1 || !world.late) {
		resident_bulletin(world.residents[process - 1], bytes, size, world.now);
		return;
	}
	if (world.ack != NULL || !bulletin_read(bytes, size, &bulletin) ||
	    bulletin.kind != BULLETIN_ACK)
		return;
	world.ack = malloc(size);
	assert_non_null(world.ack);
	memcpy(world.ack, bytes, size);
	world.ack_size = size;
}

static void pump_warden(void)
{
	struct warden_effect effect;

	while (warden_effect(world.warden, &effect)) {
		uint8_t *bytes = malloc(effect.size);
		size_t size = effect.size;
		assert_non_null(bytes);
		memcpy(bytes, effect.bytes, size);
		if (effect.kind == WARDEN_PROPOSE)
			warden_committed(world.warden, bytes, size, world.now);
		else
			tell(effect.process, bytes, size);
		free(bytes);
	}
}

static void take(uint32_t i, const struct resident_effect *effect)
{
	switch (effect->kind) {
	case RESIDENT_NODE:
		if (effect->node.kind == NODE_EVENT && effect->node.event.kind == EVENT_DROPPED)
			world.dropped++;
		else if (effect->node.kind == NODE_EVENT)
			world.events++;
		else if (effect->node.kind == NODE_REPLY)
			world.fence = effect->node.reply.number;
		else if (effect->node.kind == NODE_LOST)
			world.lost++;
		break;
	case RESIDENT_PETITION:
		if (i == ANT && !world.late)
			world.petitioned = world.now;
		assert_true(warden_petition(world.warden, effect->bytes, effect->size, world.now));
		pump_warden();
		break;
	case RESIDENT_DIAL:
		assert_int_equal(i, ANT);
		world.strands[ANT] = effect->line;
		resident_dialled(world.residents[ANT], effect->line, world.now);
		world.strands[BEE] = resident_accepted(world.residents[BEE], NULL, world.now);
		strand_certify(world.strands[BEE], world.certified);
		break;
	case RESIDENT_CLOSE:
		assert_int_equal(i, BEE);
		assert_non_null(world.certified);
		assert_true(strand_misnamed(effect->line));
		world.closed++;
		for (uint32_t k = 0; k < HOSTS; k++) {
			resident_closed(world.residents[k], world.strands[k], world.now);
			world.strands[k] = NULL;
		}
		break;
	case RESIDENT_VIEW:
	case RESIDENT_ELECTORS:
	case RESIDENT_REMOVED:
		break;
	case RESIDENT_OFFENCE:
		fail_msg("%s: %s", effect->name, effect->text);
		break;
	}
}

/* Carries bytes from one end to the other. Returns true if there were some. */
static bool carry(uint32_t i)
{
	const uint8_t *bytes;
	uint8_t copy[CUT_MAX];
	size_t size;

	if (world.strands[i] == NULL || world.held[i] ||
	    (size = strand_output(world.strands[i], &bytes)) == 0)
		return false;
	size = size < sizeof(copy) ? size : sizeof(copy);
	memcpy(copy, bytes, size);
	strand_written(world.strands[i], size);
	resident_input(world.residents[1 - i], world.strands[1 - i], copy, size, world.now);
	return true;
}

static void settle(void)
{
	struct resident_effect effect;
	bool busy = true;

	while (busy) {
		busy = false;
		for (uint32_t i = 0; i < HOSTS; i++) {
			while (resident_effect(world.residents[i], &effect)) {
				take(i, &effect);
				busy = true;
			}
			while (resident_changed(world.residents[i]) != NULL)
				;
			busy = carry(i) || busy;
		}
	}
}

static void pass(uint64_t ms)
{
	for (uint64_t i = 0; i < ms; i += 10) {
		world.now += 10 * MS;
		warden_tick(world.warden, world.now);
		pump_warden();
		for (uint32_t k = 0; k < HOSTS; k++)
			resident_tick(world.residents[k], world.now);
		settle();
	}
}

static void begin(const char *certified)
{
	struct warden_options options = {
	        .settings = {.lease_ns = LEASE, .base = 1000, .block = 1 << 20},
	        .wiring = {.complete = true}};

	memset(&world, 0, sizeof(world));
	world.certified = certified;
	world.now = 1000 * MS;
	world.warden = warden_create(&options, world.now);
	warden_leads(world.warden, true, world.now);
	for (uint32_t i = 0; i < HOSTS; i++)
		world.residents[i] = create(names[i], i == ANT ? "0" : "1", i + 1);
	pass(4000);
}

static int setup(void **context)
{
	(void)context;
	begin(NULL);
	for (uint32_t i = 0; i < HOSTS; i++)
		assert_true(node_active(resident_node(world.residents[i])));
	return 0;
}

static int teardown(void **context)
{
	(void)context;
	for (uint32_t i = 0; i < HOSTS; i++)
		resident_destroy(world.residents[i]);
	warden_destroy(world.warden);
	free(world.ack);
	return 0;
}

static uint64_t open_session(uint32_t i)
{
	return node_session_open(resident_node(world.residents[i]), &(struct node_client){.pid = 1},
	                         world.now);
}

/* --- the clock --- */

/* A process that was stopped when its lease ended then finds an acknowledgement that would have
 * renewed the lease. The hold has lapsed nevertheless: its client may have been told so. */
static void test_a_late_acknowledgement_does_not_revive_a_hold(void **context)
{
	struct node *ant = resident_node(world.residents[ANT]);
	uint64_t session = open_session(ANT);

	(void)context;
	assert_int_equal(node_lock(ant, session, "x", 1, NODE_WAIT, 0, world.now), 0);
	pass(100);
	assert_true(world.fence != 0);
	world.late = true;
	uint64_t end = world.petitioned + LEASE;
	while (world.ack == NULL)
		pass(10);
	pass((end - world.now) / MS - 100);
	assert_int_equal(world.lost, 0);
	world.now = end + 10 * MS;
	resident_bulletin(world.residents[ANT], world.ack, world.ack_size, world.now);
	settle();
	assert_int_equal(world.lost, 1);
}

/* --- events that are dropped --- */

static void test_subscribers_hear_of_dropped_events_when_the_link_has_drained(void **context)
{
	uint64_t session = open_session(ANT), listener = open_session(BEE);
	struct node *bee = resident_node(world.residents[BEE]);
	struct node *ant = resident_node(world.residents[ANT]);

	(void)context;
	/* The token is at ant before the link is held up. */
	assert_int_equal(node_lock(ant, session, "x", 1, NODE_WAIT, 0, world.now), 0);
	pass(100);
	node_unlock(ant, session, "x", 1, 0, world.now);
	assert_int_equal(node_subscribe(bee, listener, false, "x", 1, world.now), 0);
	pass(100);
	world.held[ANT] = true;
	uint32_t events = world.events;
	for (uint32_t i = 0; i < 40000; i++) {
		assert_int_equal(node_lock(ant, session, "x", 1, NODE_WAIT, 0, world.now), 0);
		settle();
		node_unlock(ant, session, "x", 1, 0, world.now);
		settle();
	}
	assert_int_equal(world.events, events);
	/* Nothing new is sent; only the bytes that wait are read and acknowledged. */
	world.held[ANT] = false;
	settle();
	pass(100);
	assert_in_range(world.events - events, 1000, 79000);
	assert_int_equal(world.dropped, 1);
}

/* --- ties --- */

static struct tenant_peer peer_of(uint64_t process)
{
	struct tenant_peer peer = {.address = "9", .process = process};

	snprintf(peer.name, sizeof(peer.name), "a%llu", (unsigned long long)process);
	return peer;
}

/* As many ties as can be kept are wanted, and none is connected. Then one more peer is wanted.
 * Frames that wait for a peer that was wanted already must not be dropped. */
static void test_a_tie_that_is_wanted_is_never_dropped(void **context)
{
	enum { KEPT = 256 };
	struct tenant_peer *peers = calloc(KEPT + 1, sizeof(*peers));
	struct resident *resident = create("zebra", "2", 3);

	(void)context;
	assert_non_null(peers);
	for (uint32_t i = 0; i <= KEPT; i++)
		peers[i] = peer_of(100 + i);
	ties_want(resident, peers + 1, KEPT);
	for (uint32_t i = 1; i <= KEPT; i++)
		assert_int_equal(tie_send(ties_find(resident_ties(resident), 100 + i), 1,
		                          (const uint8_t *)"frame", 5),
		                 0);
	ties_want(resident, peers, KEPT + 1);
	for (uint32_t i = 1; i <= KEPT; i++) {
		struct tie *tie = ties_find(resident_ties(resident), 100 + i);
		assert_non_null(tie);
		assert_int_not_equal(link_pending(tie->link), 0);
	}
	/* A tie that is no longer wanted makes room. */
	ties_want(resident, peers, KEPT);
	peers[KEPT] = peer_of(1000);
	ties_want(resident, peers, KEPT + 1);
	assert_null(ties_find(resident_ties(resident), 100 + KEPT));
	resident_destroy(resident);
	free(peers);
}

/* --- certificates --- */

static void test_a_hello_must_have_the_name_of_the_certificate(void **context)
{
	begin(names[ANT]);
	assert_int_equal(world.closed, 0);
	assert_true(node_active(resident_node(world.residents[BEE])));
	teardown(context);
	begin("wasp");
	assert_true(world.closed > 0);
	assert_false(node_active(resident_node(world.residents[BEE])) &&
	             node_active(resident_node(world.residents[ANT])));
	teardown(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                test_subscribers_hear_of_dropped_events_when_the_link_has_drained, setup,
	                teardown),
	        cmocka_unit_test_setup_teardown(test_a_late_acknowledgement_does_not_revive_a_hold,
	                                        setup, teardown),
	        cmocka_unit_test(test_a_hello_must_have_the_name_of_the_certificate),
	        cmocka_unit_test_setup_teardown(test_a_tie_that_is_wanted_is_never_dropped, setup,
	                                        teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
