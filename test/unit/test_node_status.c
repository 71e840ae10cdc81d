/*
 * The lock node: STATUS.
 */
#include "../lib/node_fixture.h"

#include "glob.h"
#include "random.h"
#include "sights.h"

/* The client may see every lock. */
static const struct node_bytes everything = {NULL, 0};

/* Asks for the status, and takes it before any other effect. */
static void ask_status(uint32_t i, const char *pattern, uint32_t count)
{
	uint64_t session = nodes_open(&nodes, i);

	assert_int_equal(node_status(nodes.node[i], session_id(session), pattern,
	                             pattern != NULL ? strlen(pattern) : 0, everything, count,
	                             nodes.now),
	                 0);
	nodes_take(&nodes, i);
}

static const struct node_status *take_status(uint32_t i)
{
	struct node_effect effect;

	while (node_effect(nodes.node[i], &effect)) {
		if (effect.kind != NODE_REPLY || effect.reply.kind != REPLY_STATUS)
			continue;
		while (node_status_step(effect.reply.status))
			;
		return effect.reply.status;
	}
	return NULL;
}

/* Asks a cluster of one, which answers at once. */
static void ask_nobody_else(uint32_t count)
{
	uint64_t session = nodes_open(&nodes, 0);

	assert_int_equal(node_status(nodes.node[0], session_id(session), NULL, 0, everything, count,
	                             nodes.now),
	                 0);
}

static bool is_text(struct node_bytes bytes, const char *text)
{
	return bytes.size == strlen(text) && memcmp(bytes.bytes, text, bytes.size) == 0;
}

/* Asks a, and does not deliver the last answer, that of c. */
static const struct node_status *status_of_a(void)
{
	for (uint32_t turn = 0; turn < 4; turn++) {
		for (uint32_t i = 1; i < 3; i++) {
			while (nodes_deliver(&nodes, 0, i))
				;
		}
		while (nodes_deliver(&nodes, 1, 0))
			;
	}
	const struct test_frame *frame = nodes.link[2][0].first;
	assert_non_null(frame);
	assert_int_equal(node_receive(nodes.node[0], "c", frame->bytes, frame->size, nodes.now), 0);
	return take_status(0);
}

static void test_status_is_merged_from_all_members(void **state)
{
	(void)state;
	nodes_start(&nodes, "suzuki-kasami", 3);
	uint64_t holder = nodes_open(&nodes, 2), first = nodes_open(&nodes, 1),
	         second = nodes_open(&nodes, 1), third = nodes_open(&nodes, 0),
	         other = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 2, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 1, first, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 1, second, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, third, "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 0, other, "other"), 0);
	nodes_deliver_all(&nodes);
	nodes.now += 5 * MILLISECOND;
	ask_status(0, NULL, 0);
	nodes_deliver_all(&nodes);
	const struct node_status *status = nodes.status;
	assert_non_null(status);
	assert_int_equal(status->epoch, 1);
	assert_int_equal(status->self, 0);
	assert_int_equal(status->members_count, 3);
	assert_string_equal(status->members[1].name, "b");
	assert_string_equal(status->members[1].address, "somewhere");
	assert_null(status->waiting_for);
	uint64_t sent = 0, grants = 0;
	for (uint32_t i = 0; i < 3; i++) {
		assert_false(status->members[i].silent);
		assert_true(status->members[i].active);
		grants += status->members[i].grants;
		sent += status->members[i].sent;
		assert_true(status->members[i].sent == status->members[i].sent_by_type[0] +
		                                               status->members[i].sent_by_type[1]);
	}
	assert_int_equal(grants, 2);
	assert_true(sent > 0);
	assert_int_equal(status->locks_count, 2);
	assert_true(is_text(status->locks[0].name, "other"));
	const struct node_status_lock *lock = &status->locks[1];
	assert_true(is_text(lock->name, "x"));
	assert_string_equal(fence_text(lock->fence), "1:1");
	assert_non_null(lock->holder);
	assert_int_equal(lock->holder->member, 2);
	assert_int_equal(lock->holder->pid, 102);
	assert_int_equal(lock->holder->uid, 7);
	assert_true(is_text(lock->holder->command, "job"));
	assert_int_equal(lock->holder->since_ms, 5);
	assert_int_equal(lock->waiters_count, 3);
	assert_int_equal(lock->waiters[0].member, 0);
	assert_int_equal(lock->waiters[1].member, 1);
	assert_int_equal(lock->waiters[2].member, 1);
	/* The second client of b waits until b has asked again; with this algorithm that may be
	 * soon. */
	assert_false(lock->in_order);
}

/* --- the order of waiters --- */

/* Makes a cluster whose last node is inside. Each of the others waits, in the order in which their
 * requests were sent. */
static uint64_t queue_up(const char *algorithm, uint32_t count, const uint32_t *order)
{
	nodes_start(&nodes, algorithm, count);
	uint64_t holder = nodes_open(&nodes, count - 1);
	assert_int_equal(nodes_lock(&nodes, count - 1, holder, "x"), 0);
	nodes_deliver_all(&nodes);
	for (uint32_t k = 0; k + 1 < count; k++) {
		uint64_t session = nodes_open(&nodes, order[k]);
		assert_int_equal(nodes_lock(&nodes, order[k], session, "x"), 0);
		nodes_deliver_all(&nodes);
	}
	return holder;
}

static const struct node_status_lock *ask_for_order(uint32_t i)
{
	ask_status(i, "x", 0);
	nodes_deliver_all(&nodes);
	assert_non_null(nodes.status);
	while (node_status_step(nodes.status))
		;
	assert_int_equal(nodes.status->locks_count, 1);
	return &nodes.status->locks[0];
}

/* Lets every node leave as soon as it is let in. Returns the next node that is let in. */
static uint32_t serve_next(uint64_t *holders, uint32_t inside)
{
	assert_int_equal(nodes_unlock(&nodes, inside, holders[inside], "x"), 1);
	nodes_deliver_all(&nodes);
	for (uint32_t i = 0; i < nodes.count; i++) {
		if (node_is_inside(nodes.node[i], "x", 1))
			return i;
	}
	return UINT32_MAX;
}

/* Asks for the order, and compares it with what happens. */
static void check_order(const char *algorithm, const uint32_t *order, bool told)
{
	enum { COUNT = 5 };
	uint64_t holders[COUNT];
	uint32_t listed[COUNT], inside = COUNT - 1;

	nodes_start(&nodes, algorithm, COUNT);
	for (uint32_t i = 0; i < COUNT; i++)
		holders[i] = nodes_open(&nodes, i);
	assert_int_equal(nodes_lock(&nodes, inside, holders[inside], "x"), 0);
	nodes_deliver_all(&nodes);
	for (uint32_t k = 0; k + 1 < COUNT; k++) {
		assert_int_equal(nodes_lock(&nodes, order[k], holders[order[k]], "x"), 0);
		nodes_deliver_all(&nodes);
	}
	const struct node_status_lock *lock = ask_for_order(1);
	assert_int_equal(lock->waiters_count, COUNT - 1);
	assert_int_equal(lock->in_order, told);
	for (uint32_t k = 0; k + 1 < COUNT; k++)
		listed[k] = lock->waiters[k].member;
	for (uint32_t k = 0; k + 1 < COUNT; k++) {
		if (told)
			assert_int_equal(inside = serve_next(holders, inside), listed[k]);
		else
			assert_true(k == 0 || listed[k] > listed[k - 1]);
	}
	again();
}

static void test_waiters_are_listed_as_they_are_served(void **state)
{
	static const char *const known[] = {"central",        "lamport",         "neilsen",
	                                    "raymond",        "ricart-agrawala", "suzuki-kasami",
	                                    "suzuki-kasami-b"};
	static const char *const unknown[] = {"maekawa", "le-lann", "helary"};
	static const uint32_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};

	(void)state;
	for (size_t o = 0; o < sizeof(orders) / sizeof(*orders); o++) {
		for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
			check_order(known[k], orders[o], true);
		for (size_t k = 0; k < sizeof(unknown) / sizeof(*unknown); k++)
			check_order(unknown[k], orders[o], false);
	}
}

/* b's request is on its way to c, which is inside. a cannot know of it. */
static void test_the_order_is_not_told_while_a_message_is_in_flight(void **state)
{
	static const uint32_t order[] = {0, 1};

	(void)state;
	queue_up("neilsen", 3, order);
	assert_true(ask_for_order(0)->in_order);
	again();
	queue_up("neilsen", 3, order);
	nodes.link[2][1].cut = true; /* the token will not arrive */
	assert_true(ask_for_order(0)->in_order);
	again();
	nodes_start(&nodes, "ricart-agrawala", 4);
	uint64_t session[4];
	for (uint32_t i = 0; i < 4; i++)
		session[i] = nodes_open(&nodes, i);
	assert_int_equal(nodes_lock(&nodes, 3, session[3], "x"), 0);
	nodes_deliver_all(&nodes);
	nodes.link[1][2].cut = true;
	assert_int_equal(nodes_lock(&nodes, 1, session[1], "x"), 0);
	assert_int_equal(nodes_lock(&nodes, 2, session[2], "x"), 0);
	nodes_deliver_all(&nodes);
	assert_false(ask_for_order(0)->in_order);
	nodes.link[1][2].cut = false;
	nodes_deliver_all(&nodes);
	assert_true(ask_for_order(0)->in_order);
}

/* Delivers everything among a, b and c. */
static void deliver_among_three(void)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (uint32_t link = 0; link < 9; link++)
			moved = nodes_deliver(&nodes, link / 3, link % 3) || moved;
	}
}

/* d asks while b is before a. Before d's second question arrives, everybody is served and asks
 * again, and a is before b. */
static void test_the_order_is_not_told_if_anything_happens_meanwhile(void **state)
{
	uint64_t session[3];

	(void)state;
	nodes_start(&nodes, "neilsen", 4);
	const char *name = nodes_name_at(&nodes, 2, 0);
	for (uint32_t i = 0; i < 3; i++)
		session[i] = nodes_open(&nodes, i);
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(nodes_lock(&nodes, 2 - k, session[2 - k], name), 0);
		nodes_deliver_all(&nodes);
	}
	ask_status(3, NULL, 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(nodes_deliver(&nodes, 3, i));
		assert_true(nodes_deliver(&nodes, i, 3));
	}
	assert_null(nodes.status);
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(nodes_unlock(&nodes, 2 - k, session[2 - k], name), 1);
		deliver_among_three();
	}
	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(nodes_lock(&nodes, (k + 2) % 3, session[(k + 2) % 3], name), 0);
		deliver_among_three();
	}
	nodes_deliver_all(&nodes);
	assert_non_null(nodes.status);
	assert_int_equal(nodes.status->locks[0].waiters_count, 2);
	assert_false(nodes.status->locks[0].in_order);
}

/* Of two clients of a, the second waits until a has asked again. */
static void test_those_who_wait_for_a_second_turn_come_last(void **state)
{
	static const uint32_t order[] = {0, 1};

	(void)state;
	queue_up("neilsen", 3, order);
	assert_int_equal(nodes_lock(&nodes, 0, nodes_open(&nodes, 0), "x"), 0);
	const struct node_status_lock *lock = ask_for_order(2);
	assert_true(lock->in_order);
	assert_int_equal(lock->waiters[0].member, 0);
	assert_int_equal(lock->waiters[1].member, 1);
	assert_int_equal(lock->waiters[2].member, 0);
	/* If another member has such clients too, the order depends on which member is quicker. */
	assert_int_equal(nodes_lock(&nodes, 1, nodes_open(&nodes, 1), "x"), 0);
	lock = ask_for_order(2);
	assert_false(lock->in_order);
	assert_int_equal(lock->waiters[1].member, 0);
	assert_int_equal(lock->waiters[2].member, 1);
}

/* A member that is inside lets three clients in, one after the other. */
static void test_clients_of_the_same_turn_come_first(void **state)
{
	(void)state;
	nodes.options.turns = 3;
	nodes_start(&nodes, "neilsen", 3);
	for (uint32_t k = 0; k < 4; k++) {
		assert_int_equal(nodes_lock(&nodes, 2, nodes_open(&nodes, 2), "x"), 0);
		nodes_deliver_all(&nodes);
	}
	assert_int_equal(nodes_lock(&nodes, 0, nodes_open(&nodes, 0), "x"), 0);
	nodes_deliver_all(&nodes);
	const struct node_status_lock *lock = ask_for_order(1);
	assert_true(lock->in_order);
	assert_int_equal(lock->holder->member, 2);
	assert_int_equal(lock->waiters_count, 4);
	assert_int_equal(lock->waiters[0].member, 2);
	assert_int_equal(lock->waiters[1].member, 2);
	assert_int_equal(lock->waiters[2].member, 0);
	assert_int_equal(lock->waiters[3].member, 2);
}

/* c becomes silent after its first answer. The status then comes without the order. */
static void test_a_status_does_not_wait_for_the_order_for_ever(void **state)
{
	static const uint32_t order[] = {1, 0};

	(void)state;
	queue_up("neilsen", 3, order);
	ask_status(0, "x", 0);
	while (nodes_deliver(&nodes, 0, 1) || nodes_deliver(&nodes, 0, 2) ||
	       nodes_deliver(&nodes, 1, 0))
		;
	assert_true(nodes_deliver(&nodes, 2, 0));
	assert_null(nodes.status);
	nodes.link[2][0].cut = true;
	nodes_deliver_all(&nodes);
	assert_null(nodes.status);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_non_null(nodes.status);
	assert_int_equal(nodes.status->locks[0].waiters_count, 2);
	assert_false(nodes.status->locks[0].in_order);
	assert_false(nodes.status->members[2].silent);
}

static void test_a_new_view_asks_for_everything_again(void **state)
{
	static const uint32_t order[] = {1, 0};

	(void)state;
	queue_up("neilsen", 3, order);
	ask_status(0, "x", 0);
	while (nodes_deliver(&nodes, 0, 1) || nodes_deliver(&nodes, 0, 2) ||
	       nodes_deliver(&nodes, 1, 0))
		;
	assert_true(nodes_deliver(&nodes, 2, 0));
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_non_null(nodes.status);
	while (node_status_step(nodes.status))
		;
	assert_int_equal(nodes.status->epoch, 2);
	assert_int_equal(nodes.status->locks[0].waiters_count, 2);
	/* c still has the lock from the epoch before, and the others have not asked in this one. */
	assert_false(nodes.status->locks[0].in_order);
}

/* A frame that another member has changed is refused, and the status comes as if the frame were
 * lost. */
static void test_questions_and_answers_about_states_that_make_no_sense(void **state)
{
	static const uint32_t order[] = {1, 0};
	static uint8_t bytes[1 << 14];

	(void)state;
	queue_up("neilsen", 3, order);
	ask_status(0, "x", 0);
	while (nodes_deliver(&nodes, 0, 1) || nodes_deliver(&nodes, 0, 2) ||
	       nodes_deliver(&nodes, 1, 0))
		;
	assert_true(nodes_deliver(&nodes, 2, 0));
	/* a asks for the states of "x"; of far too many locks; of one without a name. */
	const struct test_frame *frame = nodes.link[0][1].first;
	size_t size = frame->size;
	memcpy(bytes, frame->bytes, size);
	for (; size + 2 < sizeof(bytes); size += 2)
		memcpy(bytes + size, "\1x", 2);
	assert_int_equal(node_receive(nodes.node[1], "a", bytes, size, nodes.now), BATON_EMESSAGE);
	bytes[frame->size] = 0;
	assert_int_equal(node_receive(nodes.node[1], "a", bytes, frame->size + 1, nodes.now),
	                 BATON_EMESSAGE);
	assert_true(nodes_deliver(&nodes, 0, 1));
	/* b answers with a state that is too short, then with one state more than was asked for,
	 * and at last correctly. */
	frame = nodes.link[1][0].first;
	memcpy(bytes, frame->bytes, frame->size);
	assert_int_equal(node_receive(nodes.node[0], "b", bytes, frame->size - 1, nodes.now),
	                 BATON_EMESSAGE);
	memset(bytes + frame->size, 0, 3);
	assert_int_equal(node_receive(nodes.node[0], "b", bytes, frame->size + 3, nodes.now), 0);
	nodes_take(&nodes, 0);
	nodes_deliver_all(&nodes);
	assert_non_null(nodes.status);
	assert_false(nodes.status->locks[0].in_order);
}

static size_t skip_numbers(const uint8_t *bytes, size_t at, unsigned count)
{
	for (; count > 0; at++)
		count -= bytes[at] < 0x80;
	return at;
}

/* b answers the question about states with a status that has as many rows as there are locks. */
static void test_a_status_is_no_answer_to_the_question_about_states(void **state)
{
	static const uint32_t order[] = {1, 0};
	enum { NUMBERS = 2 + 8, NUMBERS_COUNT = 7 }; /* up to the question, in each frame */
	static uint8_t status[1 << 14], bytes[1 << 15];

	(void)state;
	queue_up("neilsen", 3, order);
	ask_status(0, "x", 0);
	while (nodes_deliver(&nodes, 0, 1) || nodes_deliver(&nodes, 0, 2))
		;
	const struct test_frame *frame = nodes.link[1][0].first;
	size_t status_size = frame->size;
	memcpy(status, frame->bytes, status_size);
	while (nodes_deliver(&nodes, 1, 0))
		;
	assert_true(nodes_deliver(&nodes, 2, 0));
	assert_true(nodes_deliver(&nodes, 0, 1));
	frame = nodes.link[1][0].first;
	must(frame != NULL);
	size_t head = skip_numbers(frame->bytes, NUMBERS, NUMBERS_COUNT);
	size_t rest = skip_numbers(status, NUMBERS, NUMBERS_COUNT);
	memcpy(bytes, frame->bytes, head);
	bytes[1] = status[1];
	memcpy(bytes + head, status + rest, status_size - rest);
	assert_int_equal(
	        node_receive(nodes.node[0], "b", bytes, head + status_size - rest, nodes.now), 0);
	nodes_take(&nodes, 0);
	nodes_deliver_all(&nodes);
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_non_null(nodes.status);
	assert_false(nodes.status->locks[0].in_order);
}

/* c reports that it holds the lock; then b is let in, and reports the same. */
static void test_a_lock_that_is_handed_on_meanwhile(void **state)
{
	(void)state;
	nodes_start(&nodes, "suzuki-kasami", 3);
	uint64_t first = nodes_open(&nodes, 2), second = nodes_open(&nodes, 1);
	assert_int_equal(nodes_lock(&nodes, 2, first, "x"), 0);
	nodes_deliver_all(&nodes);
	assert_int_equal(nodes_lock(&nodes, 1, second, "x"), 0);
	nodes_deliver_all(&nodes);
	ask_status(0, NULL, 0);
	while (nodes_deliver(&nodes, 0, 2))
		;
	assert_int_equal(nodes_unlock(&nodes, 2, first, "x"), 1);
	while (nodes_deliver(&nodes, 2, 1))
		;
	assert_string_equal(nodes_said(&nodes, second), "fence 1:2");
	while (nodes_deliver(&nodes, 0, 1) || nodes_deliver(&nodes, 2, 0))
		;
	const struct test_frame *frame = nodes.link[1][0].first;
	assert_non_null(frame);
	assert_int_equal(node_receive(nodes.node[0], "b", frame->bytes, frame->size, nodes.now), 0);
	const struct node_status *status = take_status(0);
	assert_non_null(status);
	assert_int_equal(status->locks_count, 1);
	assert_string_equal(fence_text(status->locks[0].fence), "1:2");
	assert_int_equal(status->locks[0].holder->member, 1);
}

static void test_status_by_pattern_and_count(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 1);
	for (unsigned k = 0; k < 20; k++) {
		char name[8];
		snprintf(name, sizeof(name), "%c%u", k % 2 == 0 ? 'x' : 'y', k);
		assert_int_equal(nodes_lock(&nodes, 0, nodes_open(&nodes, 0), name), 0);
	}
	uint64_t session = nodes_open(&nodes, 0);
	assert_int_equal(
	        node_status(nodes.node[0], session_id(session), "x*", 2, everything, 0, nodes.now),
	        0);
	const struct node_status *status = take_status(0);
	assert_int_equal(status->locks_count, 10);
	assert_int_equal(
	        node_status(nodes.node[0], session_id(session), "x*", 2, everything, 3, nodes.now),
	        0);
	status = take_status(0);
	assert_int_equal(status->locks_count, 3);
}

/* The clients of both members hold many locks that the asker may not see, and one each that it may.
 * Neither the pattern nor the count tells the asker anything about the others. */
static void test_locks_that_the_asker_may_not_see_have_no_effect(void **state)
{
	enum { HIDDEN = 8 };
	static const struct {
		const char *pattern;
		struct node_bytes seen;
		uint32_t count;
		uint32_t shown;
	} asked[] = {
	        {NULL, {"\5own/*", 6}, 1, 2},
	        {"*", {"\5own/*", 6}, 1, 2},
	        {"[ho]*", {"\5own/*", 6}, 1, 2},
	        {"hidden*", {"\5own/*", 6}, 1, 0},
	        {NULL, {"\1x\5own/*\2y*", 11}, 0, 2},
	        {NULL, {"\5own/b", 6}, 0, 1},
	        {NULL, {"", 0}, 0, 0},
	        {"o*", {"\1*", 2}, 1, 2},
	};

	(void)state;
	nodes_start(&nodes, "central", 2);
	for (uint32_t i = 0; i < 2; i++) {
		char name[16];
		for (unsigned k = 0; k < HIDDEN; k++) {
			snprintf(name, sizeof(name), "hidden/%u-%u", i, k);
			nodes_lock(&nodes, i, nodes_open(&nodes, i), name);
			nodes_deliver_all(&nodes);
		}
		nodes_lock(&nodes, i, nodes_open(&nodes, i), i == 0 ? "own/a" : "own/b");
		nodes_deliver_all(&nodes);
	}
	for (size_t k = 0; k < sizeof(asked) / sizeof(*asked); k++) {
		uint64_t session = nodes_open(&nodes, 0);
		const char *pattern = asked[k].pattern;
		assert_int_equal(node_status(nodes.node[0], session_id(session), pattern,
		                             pattern != NULL ? strlen(pattern) : 0, asked[k].seen,
		                             asked[k].count, nodes.now),
		                 0);
		nodes_take(&nodes, 0);
		while (nodes_deliver(&nodes, 0, 1))
			;
		const struct test_frame *frame = nodes.link[1][0].first;
		assert_non_null(frame);
		assert_int_equal(
		        node_receive(nodes.node[0], "b", frame->bytes, frame->size, nodes.now), 0);
		const struct node_status *status = take_status(0);
		assert_non_null(status);
		assert_int_equal(status->locks_count, asked[k].shown);
		for (uint32_t i = 0; i < status->locks_count; i++)
			assert_memory_equal(status->locks[i].name.bytes, "own/", 4);
		nodes_deliver_all(&nodes);
	}
}

static uint32_t draw_text(struct random *random, const char *letters, uint8_t *room)
{
	uint32_t size = 1 + (uint32_t)random_below(random, 5);

	for (uint32_t i = 0; i < size; i++)
		room[i] = (uint8_t)letters[random_below(random, strlen(letters))];
	return size;
}

/* Whatever the patterns are, a name is seen exactly if one of them matches it. */
static void test_the_order_of_patterns_does_not_matter(void **state)
{
	enum { ROUNDS = 3000, PATTERNS = 12, NAMES = 20, SIZE = 8 };
	struct random random;
	unsigned seen = 0;

	(void)state;
	random_seed(&random, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint8_t bytes[PATTERNS * SIZE], name[SIZE];
		uint32_t size = 0, count = (uint32_t)random_below(&random, PATTERNS);
		for (uint32_t i = 0; i < count; i++) {
			bytes[size] = (uint8_t)draw_text(&random, "aab*?\\[]", bytes + size + 1);
			size += 1 + bytes[size];
		}
		struct sights sights = sights_read((struct slice){bytes, size});
		for (unsigned k = 0; k < NAMES; k++) {
			struct slice text = {name, draw_text(&random, "aab*", name)};
			bool any = false;
			for (uint32_t at = 0; at < size; at += 1 + bytes[at])
				any = any ||
				      glob_matches((struct slice){bytes + at + 1, bytes[at]}, text);
			assert_int_equal(sights_match(&sights, text), any);
			seen += any;
		}
		sights_free(&sights);
	}
	assert_in_range(seen, ROUNDS * NAMES / 10, ROUNDS * NAMES * 9 / 10);
}

/* The answer is more than fits into one frame. */
static void test_a_long_status_comes_in_parts(void **state)
{
	enum { WAITERS = 300 };

	(void)state;
	char command[NODE_COMMAND_MAX + 1];
	memset(command, 'c', sizeof(command) - 1);
	command[NODE_COMMAND_MAX] = '\0';
	nodes_start(&nodes, "central", 2);
	for (unsigned k = 0; k < WAITERS; k++) {
		struct node_client client = {.pid = k, .command = command};
		uint64_t session = node_session_open(nodes.node[1], &client, nodes.now);
		assert_int_equal(node_lock(nodes.node[1], session, "x", 1, NODE_WAIT, 0, nodes.now),
		                 0);
		nodes_take(&nodes, 1);
	}
	nodes_deliver_all(&nodes);
	ask_status(0, NULL, 0);
	while (nodes_deliver(&nodes, 0, 1))
		;
	const struct node_status *status = NULL;
	unsigned parts = 0;
	for (const struct test_frame *frame = nodes.link[1][0].first; frame != NULL;
	     frame = frame->next) {
		assert_int_equal(
		        node_receive(nodes.node[0], "b", frame->bytes, frame->size, nodes.now), 0);
		status = take_status(0);
		parts++;
	}
	assert_true(parts > 1);
	assert_non_null(status);
	assert_int_equal(status->locks_count, 1);
	assert_int_equal(status->locks[0].holder->pid, 0);
	assert_int_equal(status->locks[0].waiters_count, WAITERS - 1);
	for (uint32_t k = 1; k < WAITERS; k++)
		assert_int_equal(status->locks[0].waiters[k - 1].pid, k);
}

static void test_a_silent_member_is_listed(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 3);
	nodes.link[2][0].cut = true;
	ask_status(0, NULL, 0);
	nodes_pass(&nodes, NODE_SILENCE_NS - 1);
	assert_int_equal(nodes.said_count, 0);
	node_tick(nodes.node[0], nodes.now + 1);
	const struct node_status *status = take_status(0);
	assert_non_null(status);
	assert_false(status->members[1].silent);
	assert_true(status->members[2].silent);
}

/* A member that has sent only a part of its answer counts as silent; this part is shown. */
static void test_a_member_that_falls_silent_while_it_tells(void **state)
{
	enum { LOCKS = 400 };

	(void)state;
	char name[NODE_NAME_MAX + 1];
	nodes_start(&nodes, "central", 2);
	uint64_t session = nodes_open(&nodes, 1);
	for (unsigned k = 0; k < LOCKS; k++) {
		snprintf(name, sizeof(name), "%0255u", k);
		assert_int_equal(nodes_lock(&nodes, 1, session, name), 0);
		nodes_deliver_all(&nodes);
		nodes_said(&nodes, session);
	}
	ask_status(0, NULL, 0);
	while (nodes_deliver(&nodes, 0, 1))
		;
	node_tick(nodes.node[1], nodes.now);
	nodes_take(&nodes, 1);
	const struct test_frame *part = nodes.link[1][0].first;
	assert_non_null(part->next);
	assert_int_equal(node_receive(nodes.node[0], "b", part->bytes, part->size, nodes.now), 0);
	node_tick(nodes.node[0], nodes.now + NODE_SILENCE_NS);
	const struct node_status *status = take_status(0);
	assert_non_null(status);
	assert_true(status->members[1].silent);
	assert_in_range(status->locks_count, 1, LOCKS - 1);
	assert_true(status->locks[0].holder->member == 1);
}

/* A driver may keep a status for longer than the node that made it lives. */
static void test_a_status_can_be_kept(void **state)
{
	enum { LOCKS = 3000 };
	struct node_effect effect;
	unsigned steps = 1;
	char name[8];

	(void)state;
	nodes_start(&nodes, "central", 1);
	uint64_t holder = nodes_open(&nodes, 0), session = nodes_open(&nodes, 0);
	for (unsigned k = 0; k < LOCKS; k++) { /* the locks are not in the order of their names */
		snprintf(name, sizeof(name), "%04u", k * 7 % LOCKS);
		assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
		nodes_said(&nodes, holder);
	}
	int error = node_status(nodes.node[0], session_id(session), NULL, 0, everything, LOCKS,
	                        nodes.now);
	assert_int_equal(error, 0);
	do {
		while (!node_effect(nodes.node[0], &effect))
			node_tick(nodes.node[0], nodes.now);
	} while (effect.kind != NODE_REPLY || effect.reply.kind != REPLY_STATUS);
	struct node_status *status = effect.reply.status;
	node_status_keep(status);
	node_tick(nodes.node[0], nodes.now + MILLISECOND);
	node_session_close(nodes.node[0], session_id(holder), nodes.now + MILLISECOND);
	while (node_status_step(status))
		steps++;
	assert_in_range(steps, 3, LOCKS); /* merging takes more than one step */
	assert_int_equal(status->locks_count, LOCKS);
	for (unsigned k = 0; k < LOCKS; k++) {
		snprintf(name, sizeof(name), "%04u", k);
		assert_true(is_text(status->locks[k].name, name));
		assert_non_null(status->locks[k].holder);
	}
	node_status_free(status);
}

/* There are more waiters than a step merges: the next step continues with the same lock. */
static void test_one_lock_may_take_many_steps(void **state)
{
	enum { WAITERS = 2500 };

	(void)state;
	nodes_start(&nodes, "central", 1);
	for (unsigned k = 0; k <= WAITERS; k++) {
		struct node_client client = {.pid = k, .command = "job"};
		uint64_t session = node_session_open(nodes.node[0], &client, nodes.now);
		int error = node_lock(nodes.node[0], session, "x", 1, NODE_WAIT, 0, nodes.now);
		assert_int_equal(error, 0);
	}
	ask_nobody_else(WAITERS + 1);
	const struct node_status *status = take_status(0);
	assert_int_equal(status->locks_count, 1);
	assert_int_equal(status->locks[0].holder->pid, 0);
	assert_int_equal(status->locks[0].waiters_count, WAITERS);
	for (unsigned k = 0; k < WAITERS; k++)
		assert_int_equal(status->locks[0].waiters[k].pid, k + 1);
}

/* --- many locks --- */

/* Opens a session at this node that holds 0000, 0001 … */
static uint64_t hold_many(uint32_t i, unsigned count)
{
	uint64_t session = nodes_open(&nodes, i);
	char name[12];

	for (unsigned k = 0; k < count; k++) {
		snprintf(name, sizeof(name), "%04u", k);
		assert_int_equal(nodes_lock(&nodes, i, session, name), 0);
		nodes_deliver_all(&nodes);
		nodes_said(&nodes, session);
	}
	return session;
}

/* Ticks a node until its reply is there, and returns how often. */
static unsigned tick_until_told(uint32_t i)
{
	unsigned ticks = 0;

	for (; nodes.status == NULL; ticks++) {
		assert_true(node_deadline(nodes.node[i]) <= nodes.now);
		node_tick(nodes.node[i], nodes.now);
		nodes_take(&nodes, i);
	}
	return ticks;
}

/* Whether a lock is selected or not, it takes time to look at it. */
static void test_many_locks_are_looked_at_in_slices(void **state)
{
	enum { LOCKS = 3000 };
	static const char *const patterns[] = {NULL, "nothing*"};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		again();
		nodes_start(&nodes, "central", 1);
		uint64_t session = hold_many(0, LOCKS);
		ask_status(0, patterns[k], LOCKS);
		assert_null(nodes.status);
		/* Others are served in between, and only node_tick goes on. */
		assert_int_equal(nodes_lock(&nodes, 0, session, "x"), 0);
		assert_int_equal(nodes_unlock(&nodes, 0, session, "x"), 1);
		assert_null(nodes.status);
		assert_in_range(tick_until_told(0), 3, LOCKS / 10);
		while (node_status_step(nodes.status))
			;
		assert_int_equal(nodes.status->locks_count, k == 0 ? LOCKS : 0);
		assert_true(node_deadline(nodes.node[0]) > nodes.now);
	}
}

static void test_enough_is_enough(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 1);
	hold_many(0, 3000);
	ask_status(0, NULL, 5);
	assert_non_null(nodes.status);
	while (node_status_step(nodes.status))
		;
	assert_int_equal(nodes.status->locks_count, 5);
}

/* Otherwise a client that takes ever new locks could keep a question from its end. */
static void test_locks_that_come_into_use_later_are_not_looked_at(void **state)
{
	enum { LOCKS = 1000 };
	char name[8];

	(void)state;
	nodes_start(&nodes, "central", 1);
	uint64_t holder = hold_many(0, LOCKS);
	ask_status(0, NULL, UINT32_MAX);
	for (unsigned k = 0; k < LOCKS; k++) {
		snprintf(name, sizeof(name), "x%u", k);
		assert_int_equal(nodes_lock(&nodes, 0, holder, name), 0);
		nodes_said(&nodes, holder);
	}
	tick_until_told(0);
	while (node_status_step(nodes.status))
		;
	assert_int_equal(nodes.status->locks_count, LOCKS);
}

/* The lock that would be looked at next is given back, and so are others before and after it. */
static void test_locks_may_be_given_back_between_slices(void **state)
{
	enum { LOCKS = 2000 };
	char name[8];

	(void)state;
	nodes_start(&nodes, "central", 1);
	uint64_t holder = hold_many(0, LOCKS);
	ask_status(0, NULL, LOCKS);
	assert_null(nodes.status);
	for (unsigned k = 0; k < LOCKS; k++) {
		snprintf(name, sizeof(name), "%04u", k);
		if (k % 4 != 1) /* also the lock that is next */
			assert_int_equal(nodes_unlock(&nodes, 0, holder, name), 1);
	}
	tick_until_told(0);
	while (node_status_step(nodes.status))
		;
	assert_in_range(nodes.status->locks_count, LOCKS / 4, LOCKS / 2);
	unsigned left = 0;
	for (uint32_t k = 0; k < nodes.status->locks_count; k++) {
		const struct node_bytes *text = &nodes.status->locks[k].name;
		memcpy(name, text->bytes, 4);
		name[4] = '\0';
		left += strtoul(name, NULL, 10) % 4 == 1;
		assert_true(k == 0 ||
		            memcmp(text[0].bytes, nodes.status->locks[k - 1].name.bytes, 4) > 0);
	}
	assert_int_equal(left, LOCKS / 4);
}

static void test_another_member_looks_at_many_locks_in_slices(void **state)
{
	enum { LOCKS = 3000 };

	(void)state;
	nodes_start(&nodes, "central", 2);
	hold_many(1, LOCKS);
	ask_status(0, "nothing*", 0);
	while (nodes_deliver(&nodes, 0, 1))
		;
	assert_null(nodes.link[1][0].first);
	node_tick(nodes.node[1], nodes.now);
	nodes_take(&nodes, 1);
	assert_null(nodes.link[1][0].first);
	assert_true(node_deadline(nodes.node[1]) <= nodes.now);
	nodes_pass(&nodes, 0);
	assert_non_null(nodes.status);
	assert_false(nodes.status->members[1].silent);
	/* A question that is older than its asker waits is not answered any more. */
	node_status_free(nodes.status);
	nodes.status = NULL;
	nodes.frames = 0;
	ask_status(0, "nothing*", 0);
	while (nodes_deliver(&nodes, 0, 1))
		;
	nodes.now += NODE_SILENCE_NS;
	node_tick(nodes.node[1], nodes.now);
	nodes_take(&nodes, 1);
	assert_true(node_deadline(nodes.node[1]) > nodes.now);
	assert_null(nodes.link[1][0].first);
	nodes_pass(&nodes, 0);
	assert_true(nodes.status->members[1].silent);
}

/* Each of these questions has a quarter of a megabyte. */
static void test_questions_that_wait_have_a_limit(void **state)
{
	enum { ASKED = 40 };
	static char seen[NODE_SIGHTS_MAX * (NODE_NAME_MAX + 1)];
	unsigned told = 0;

	(void)state;
	for (size_t k = 0; k < sizeof(seen); k++)
		seen[k] = k % (NODE_NAME_MAX + 1) == 0 ? (char)NODE_NAME_MAX : 'x';
	nodes_start(&nodes, "central", 2);
	hold_many(1, 1000);
	for (unsigned k = 0; k < ASKED; k++) {
		uint64_t session = nodes_open(&nodes, 0);
		assert_int_equal(node_status(nodes.node[0], session_id(session), NULL, 0,
		                             (struct node_bytes){seen, sizeof(seen)}, 0, nodes.now),
		                 0);
		nodes_take(&nodes, 0);
	}
	nodes.said_count = 0;
	nodes_pass(&nodes, 0);
	told = (unsigned)nodes.said_count;
	assert_in_range(told, 10, ASKED / 2);
	/* For the others, the member counts as silent. */
	nodes_pass(&nodes, NODE_SILENCE_NS);
	assert_int_equal(nodes.said_count, ASKED);
	assert_true(nodes.status->members[1].silent);
}

/* The view begins while this node looks at its own locks, and while another looks at its own. */
static void test_a_view_may_begin_between_slices(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	hold_many(0, 1000);
	ask_status(0, NULL, 1000);
	nodes_deliver_all(&nodes);
	ask_status(1, NULL, 1000);
	nodes_deliver_all(&nodes);
	assert_null(nodes.status);
	nodes_view(&nodes);
	nodes_deliver_all(&nodes);
	assert_null(nodes.status);
	nodes_pass(&nodes, 0);
	assert_non_null(nodes.status);
	while (node_status_step(nodes.status))
		;
	assert_int_equal(nodes.status->locks_count, 1000);
}

/* It is still shown, and there is one reply. */
static void test_an_answer_may_come_late_between_slices(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	hold_many(0, 2000);
	ask_status(0, NULL, 5000);
	while (nodes_deliver(&nodes, 0, 1))
		;
	nodes.now += NODE_SILENCE_NS;
	node_tick(nodes.node[0], nodes.now);
	nodes_take(&nodes, 0);
	assert_null(nodes.status);
	nodes.said_count = 0;
	nodes_deliver_all(&nodes);
	nodes_pass(&nodes, 0);
	assert_int_equal(nodes.said_count, 1);
	while (node_status_step(nodes.status))
		;
	assert_int_equal(nodes.status->locks_count, 2000);
	assert_false(nodes.status->members[1].silent);
	assert_true(node_deadline(nodes.node[0]) > nodes.now);
}

/* The time for answers was over in the old view; a member that does not answer in the new one must
 * not keep the client waiting. */
static void test_a_view_that_begins_between_slices_gives_a_new_time_limit(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 2);
	hold_many(0, 2000);
	ask_status(0, NULL, 5000);
	nodes.now += NODE_SILENCE_NS;
	node_tick(nodes.node[0], nodes.now);
	nodes_take(&nodes, 0);
	assert_null(nodes.status);
	nodes_view(&nodes);
	nodes_take(&nodes, 0);
	for (unsigned k = 0; k < 1000 && nodes.status == NULL; k++) {
		nodes.now += NODE_SILENCE_NS;
		node_tick(nodes.node[0], nodes.now);
		nodes_take(&nodes, 0);
	}
	assert_non_null(nodes.status);
}

static void test_a_session_may_end_between_slices(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 1);
	hold_many(0, 1000);
	uint64_t session = nodes_open(&nodes, 0);
	assert_int_equal(
	        node_status(nodes.node[0], session_id(session), NULL, 0, everything, 0, nodes.now),
	        0);
	nodes_close(&nodes, 0, session);
	assert_true(node_deadline(nodes.node[0]) > nodes.now);
	nodes_pass(&nodes, 0);
	assert_null(nodes.status);
}

/* However often one user asks, the question of another has its turn. */
static void test_users_have_their_answers_in_turn(void **state)
{
	enum { GREEDY = 30 };
	static struct node_user greedy, modest;
	uint64_t asker = 0;

	(void)state;
	nodes_start(&nodes, "central", 1);
	hold_many(0, 1000);
	for (unsigned k = 0; k <= GREEDY; k++) {
		asker = nodes_open(&nodes, 0);
		node_session_user(nodes.node[0], session_id(asker), k < GREEDY ? &greedy : &modest);
		assert_int_equal(node_status(nodes.node[0], session_id(asker), NULL, 0, everything,
		                             1000, nodes.now),
		                 0);
	}
	struct node_effect effect = {0};
	unsigned replies = 0;
	for (; effect.kind != NODE_REPLY || effect.reply.session != session_id(asker);) {
		while (!node_effect(nodes.node[0], &effect))
			node_tick(nodes.node[0], nodes.now);
		replies += effect.kind == NODE_REPLY && effect.reply.kind == REPLY_STATUS;
	}
	assert_in_range(replies, 1, 4);
}

static void test_a_lock_that_is_being_taken_away(void **state)
{
	(void)state;
	nodes_start(&nodes, "central", 1);
	uint64_t holder = nodes_open(&nodes, 0);
	assert_int_equal(nodes_lock(&nodes, 0, holder, "x"), 0);
	node_session_linger(nodes.node[0], session_id(holder));
	for (unsigned broken = 0; broken < 2; broken++) {
		ask_nobody_else(0);
		const struct node_status *status = take_status(0);
		assert_int_equal(status->locks_count, 1);
		assert_int_equal(status->locks[0].holder->losing, broken);
		if (!broken)
			assert_true(nodes_evict(&nodes, 0, holder));
	}
}

static void test_status_without_a_view_and_while_waiting(void **state)
{
	(void)state;
	nodes_create(&nodes, "central", 2);
	uint64_t session = nodes_open(&nodes, 0);
	assert_int_equal(
	        node_status(nodes.node[0], session_id(session), NULL, 0, everything, 0, nodes.now),
	        0);
	const struct node_status *status = take_status(0);
	assert_non_null(status);
	assert_int_equal(status->members_count, 1);
	assert_string_equal(status->members[0].name, "a");
	assert_string_equal(status->waiting_for, "a view that includes this node");
	nodes_view(&nodes);
	nodes_deliver(&nodes, 0, 1);
	assert_int_equal(
	        node_status(nodes.node[0], session_id(session), NULL, 0, everything, 0, nodes.now),
	        0);
	node_tick(nodes.node[0], nodes.now + NODE_SILENCE_NS);
	status = take_status(0);
	assert_non_null(status);
	assert_false(status->members[0].active);
	assert_string_equal(status->waiting_for, "the reports of b");
}

/* --- leases --- */

static void test_a_status_tells_what_is_left_of_each_lease(void **state)
{
	(void)state;
	nodes.options.lease_ns = 6000 * MILLISECOND;
	nodes.acknowledged[0] = nodes.acknowledged[1] = nodes.acknowledged[2] = true;
	nodes_start(&nodes, "neilsen", 3);
	nodes.acknowledged[1] = false;
	nodes_pass(&nodes, 2500 * MILLISECOND);
	ask_status(0, NULL, 0);
	const struct node_status *status = status_of_a();
	assert_non_null(status);
	assert_true(status->members[0].leased);
	assert_int_equal(status->members[0].lease_ms, 5500);
	assert_int_equal(status->members[1].lease_ms, 3500);
	assert_int_equal(status->members[2].lease_ms, 5500);
	/* The sum of a twelfth of the lease, the lease by the slowest clock, a hundredth of it, and
	 * 2 ms. */
	assert_in_range(status->takeover_ms, 6573, 6576);
	assert_null(status->waiting_for);
}

static void test_without_leases_a_status_tells_of_none(void **state)
{
	(void)state;
	nodes_start(&nodes, "neilsen", 3);
	ask_status(0, NULL, 0);
	const struct node_status *status = status_of_a();
	assert_non_null(status);
	assert_false(status->members[0].leased || status->members[1].leased);
	assert_int_equal(status->takeover_ms, 0);
}

static void test_a_node_tells_that_it_waits_for_its_lease(void **state)
{
	(void)state;
	nodes.options.lease_ns = 6000 * MILLISECOND;
	nodes.acknowledged[0] = true;
	nodes_start(&nodes, "neilsen", 1);
	assert_null(node_waiting_for(nodes.node[0]));
	nodes.acknowledged[0] = false;
	nodes_pass(&nodes, 5400 * MILLISECOND);
	node_tick(nodes.node[0], nodes.now);
	assert_string_equal(node_waiting_for(nodes.node[0]), "the voters to acknowledge its lease");
	nodes_acknowledge(&nodes, 0);
	nodes_take(&nodes, 0);
	assert_null(node_waiting_for(nodes.node[0]));
	node_depart(nodes.node[0], nodes.now);
	assert_string_equal(node_waiting_for(nodes.node[0]),
	                    "its removal from the view, because it is leaving");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_a_status_tells_what_is_left_of_each_lease),
	        TEST(test_without_leases_a_status_tells_of_none),
	        TEST(test_a_node_tells_that_it_waits_for_its_lease),
	        TEST(test_status_is_merged_from_all_members),
	        TEST(test_waiters_are_listed_as_they_are_served),
	        TEST(test_the_order_is_not_told_while_a_message_is_in_flight),
	        TEST(test_the_order_is_not_told_if_anything_happens_meanwhile),
	        TEST(test_those_who_wait_for_a_second_turn_come_last),
	        TEST(test_clients_of_the_same_turn_come_first),
	        TEST(test_a_status_does_not_wait_for_the_order_for_ever),
	        TEST(test_a_new_view_asks_for_everything_again),
	        TEST(test_questions_and_answers_about_states_that_make_no_sense),
	        TEST(test_a_status_is_no_answer_to_the_question_about_states),
	        TEST(test_a_lock_that_is_handed_on_meanwhile),
	        TEST(test_status_by_pattern_and_count),
	        TEST(test_locks_that_the_asker_may_not_see_have_no_effect),
	        TEST(test_the_order_of_patterns_does_not_matter),
	        TEST(test_a_long_status_comes_in_parts),
	        TEST(test_a_silent_member_is_listed),
	        TEST(test_a_member_that_falls_silent_while_it_tells),
	        TEST(test_a_status_can_be_kept),
	        TEST(test_one_lock_may_take_many_steps),
	        TEST(test_many_locks_are_looked_at_in_slices),
	        TEST(test_enough_is_enough),
	        TEST(test_locks_that_come_into_use_later_are_not_looked_at),
	        TEST(test_locks_may_be_given_back_between_slices),
	        TEST(test_questions_that_wait_have_a_limit),
	        TEST(test_another_member_looks_at_many_locks_in_slices),
	        TEST(test_a_view_may_begin_between_slices),
	        TEST(test_an_answer_may_come_late_between_slices),
	        TEST(test_a_view_that_begins_between_slices_gives_a_new_time_limit),
	        TEST(test_a_session_may_end_between_slices),
	        TEST(test_users_have_their_answers_in_turn),
	        TEST(test_a_lock_that_is_being_taken_away),
	        TEST(test_status_without_a_view_and_while_waiting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
