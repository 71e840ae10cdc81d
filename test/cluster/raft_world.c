#include "raft_world.h"

#include "grow.h"
#include "must.h"
#include "random.h"
#include "replica.h"
#include "shadow.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SERVERS = 6,
	VOTERS_LEAST = 3,
	HISTORY_MAX = 1 << 13,
	TERMS_MAX = 1 << 12,
	BEGIN_MS = 1000,
	HEAL_MS = 11000,
	END_MS = 15000,
	ELECTION_MS = 100,
	HEARTBEAT_MS = 20,
	SNAPSHOT_SIZE = 16,
	WAKES_MAX = 200, /* more wake-ups than this in one millisecond are a busy loop */
};

enum happening_kind { LETTER, WRITTEN, TIMER, ACT };

struct happening {
	uint64_t time, order;
	enum happening_kind kind;
	int server;
	/* The life of the receiving server: a crash makes the event void; 0: it has no receiver. */
	uint64_t life;
	int from; /* LETTER */
	uint8_t *bytes;
	size_t size;
};

struct server {
	struct replica *replica; /* NULL: the server is down */
	uint64_t life;
	uint64_t timer; /* the number of the timer that counts; older ones are void */
	uint64_t paused_until, disk_busy_until;
	struct shadow memory, disk; /* what was written, and what of it is durable */
	/* Writes that were given out and are not durable yet; the oldest first. */
	struct durable_write *writes;
	size_t writes_count, writes_size;
	uint64_t applied, hash; /* the state of the application */
	uint64_t woken_at;
	unsigned wakes; /* how often it was woken at that time */
	bool was_leader;
};

static struct world {
	struct random random;
	uint64_t now, order;
	struct happening *heap;
	size_t heap_count, heap_size;
	struct server servers[SERVERS];
	bool cut[SERVERS][SERVERS];
	bool healed;
	/* How bad the run is, drawn for each: one in so many letters is late, one in so many writes
	 * is slow, and so on; the larger the number, the milder. */
	uint64_t late_one_in, slow_one_in, crash_one_in, change_one_in;
	uint64_t proposals;
	uint64_t history[HISTORY_MAX]; /* the hash of all entries up to this index */
	uint64_t committed, committed_at_heal;
	uint64_t leaders[TERMS_MAX]; /* the leader of each term */
	char problem[256];
	struct raft_world_counts *counts;
} world;

static uint64_t draw(uint64_t bound)
{
	return random_below(&world.random, bound);
}

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list arguments;
	int size;

	if (world.problem[0] != '\0')
		return;
	size = snprintf(world.problem, sizeof world.problem, "at %" PRIu64 " ms ", world.now);
	va_start(arguments, format);
	vsnprintf(world.problem + size, sizeof world.problem - (size_t)size, format, arguments);
	va_end(arguments);
}

static bool has_failed(void)
{
	return world.problem[0] != '\0';
}

/* What happens next. */

static bool is_earlier(const struct happening *left, const struct happening *right)
{
	return left->time != right->time ? left->time < right->time : left->order < right->order;
}

static void plan(struct happening happening)
{
	happening.order = ++world.order;
	world.heap = grow(world.heap, &world.heap_size, world.heap_count + 1, sizeof *world.heap);
	size_t place = world.heap_count++;
	for (; place > 0 && is_earlier(&happening, &world.heap[(place - 1) / 2]);
	     place = (place - 1) / 2)
		world.heap[place] = world.heap[(place - 1) / 2];
	world.heap[place] = happening;
}

static struct happening next_happening(void)
{
	struct happening first = world.heap[0];
	struct happening last = world.heap[--world.heap_count];
	size_t place = 0;

	for (;;) {
		size_t child = 2 * place + 1;
		if (child >= world.heap_count)
			break;
		if (child + 1 < world.heap_count &&
		    is_earlier(&world.heap[child + 1], &world.heap[child]))
			child++;
		if (!is_earlier(&world.heap[child], &last))
			break;
		world.heap[place] = world.heap[child];
		place = child;
	}
	world.heap[place] = last;
	return first;
}

/* The judge. */

static uint64_t mix(uint64_t hash, const struct replica_effect *effect)
{
	hash = (hash ^ effect->type) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < effect->size; i++)
		hash = (hash ^ effect->bytes[i]) * UINT64_C(0x100000001b3);
	return (hash ^ effect->index) * UINT64_C(0x9e3779b97f4a7c15);
}

static void judge_applied(int number, const struct replica_effect *effect)
{
	struct server *server = &world.servers[number];

	if (effect->index != server->applied + 1)
		fail("server %d applies %" PRIu64 " after %" PRIu64, number + 1, effect->index,
		     server->applied);
	server->applied = effect->index;
	server->hash = mix(server->hash, effect);
	if (effect->index >= HISTORY_MAX)
		fail("the history is full");
	else if (effect->index > world.committed) {
		world.committed = effect->index;
		world.history[effect->index] = server->hash;
		world.counts->commits++;
	} else if (world.history[effect->index] != server->hash)
		fail("server %d applies another history at %" PRIu64, number + 1, effect->index);
}

static void judge_restored(int number, const struct replica_effect *effect)
{
	struct server *server = &world.servers[number];
	uint64_t index, hash;

	must(effect->size == SNAPSHOT_SIZE);
	memcpy(&index, effect->bytes, sizeof index);
	memcpy(&hash, effect->bytes + sizeof index, sizeof hash);
	if (index != effect->index || index > world.committed || world.history[index] != hash)
		fail("server %d restores another history at %" PRIu64, number + 1, effect->index);
	if (effect->index < server->applied)
		fail("server %d goes back to %" PRIu64, number + 1, effect->index);
	world.counts->installed += server->applied != 0;
	server->applied = index;
	server->hash = hash;
}

static void judge_leader(int number)
{
	struct server *server = &world.servers[number];
	bool leads = replica_leads(server->replica);
	uint64_t term = replica_term(server->replica);

	if (leads && !server->was_leader)
		world.counts->leaders++;
	server->was_leader = leads;
	if (!leads)
		return;
	if (term >= TERMS_MAX)
		fail("there are too many terms");
	else if (world.leaders[term] != 0 && world.leaders[term] != (uint64_t)number + 1)
		fail("servers %" PRIu64 " and %d lead in term %" PRIu64, world.leaders[term],
		     number + 1, term);
	else
		world.leaders[term] = (uint64_t)number + 1;
}

/* A server must use the last voters in its own log, or those of its snapshot. */
static void judge_voters(int number)
{
	struct server *server = &world.servers[number];
	struct durable_entry used;
	struct replica_server servers[SERVERS];
	size_t size;
	const uint8_t *voters = shadow_voters(&server->memory, &size);
	size_t count = replica_servers(server->replica, UINT64_MAX, NULL);

	must(count <= SERVERS);
	/* A snapshot of the leader counts when it is durable. */
	for (size_t i = 0; i < server->writes_count; i++)
		if (server->writes[i].snapshot != NULL && server->writes[i].entries_first != 0)
			return;
	for (size_t i = 0; i < count; i++)
		replica_servers(server->replica, i, &servers[i]);
	if (voters == NULL)
		return;
	must(replica_first_entry(servers, count, &used));
	if (used.size != size || memcmp(used.bytes, voters, size) != 0)
		fail("server %d uses voters that are not those of its log", number + 1);
	free((void *)(uintptr_t)used.bytes);
}

/* Servers. */

static void send_letter(int from, const struct replica_effect *effect)
{
	int to = (int)effect->to - 1;

	if (to < 0 || to >= SERVERS || world.cut[from][to])
		return;
	unsigned copies = 1;
	if (!world.healed && draw(100) < 4)
		copies = (unsigned)draw(2) * 2;
	for (; copies > 0; copies--) {
		bool late = !world.healed && draw(world.late_one_in) == 0;
		uint8_t *bytes = malloc(effect->size);
		memory_must(bytes != NULL);
		memcpy(bytes, effect->bytes, effect->size);
		plan((struct happening){.time = world.now + 1 + draw(late ? 900 : 15),
		                        .kind = LETTER,
		                        .server = to,
		                        .from = from,
		                        .bytes = bytes,
		                        .size = effect->size});
	}
}

static void begin_write(int number, const struct durable_write *write)
{
	struct server *server = &world.servers[number];

	server->writes = grow(server->writes, &server->writes_size, server->writes_count + 1,
	                      sizeof *server->writes);
	server->writes[server->writes_count++] = shadow_write_copy(write);
	shadow_apply(&server->memory, write);
	if (server->disk_busy_until < world.now)
		server->disk_busy_until = world.now;
	bool slow = !world.healed && draw(world.slow_one_in) == 0;
	server->disk_busy_until += 1 + draw(slow ? 400 : 4);
	plan((struct happening){.time = server->disk_busy_until,
	                        .kind = WRITTEN,
	                        .server = number,
	                        .life = server->life});
}

/* Makes the oldest write durable, and returns its number. */
static uint64_t end_write(struct server *server)
{
	uint64_t done = server->writes[0].number;

	shadow_apply(&server->disk, &server->writes[0]);
	shadow_write_free(&server->writes[0]);
	server->writes_count--;
	memmove(server->writes, server->writes + 1, server->writes_count * sizeof *server->writes);
	return done;
}

/* Carries out what a replica wants, and sets its next timer. */
static void serve(int number)
{
	struct server *server = &world.servers[number];
	struct replica_effect effect;

	while (!has_failed() && replica_effect(server->replica, &effect)) {
		switch (effect.kind) {
		case REPLICA_WRITE:
			begin_write(number, effect.write);
			break;
		case REPLICA_SEND:
			send_letter(number, &effect);
			break;
		case REPLICA_APPLY:
			judge_applied(number, &effect);
			break;
		case REPLICA_RESTORE:
			judge_restored(number, &effect);
			break;
		}
	}
	if (has_failed())
		return;
	judge_leader(number);
	judge_voters(number);
	uint64_t deadline = replica_deadline(server->replica);
	plan((struct happening){.time = deadline < world.now ? world.now : deadline,
	                        .kind = TIMER,
	                        .server = number,
	                        .life = ++server->timer});
}

static void start_server(int number)
{
	static const char *const addresses[SERVERS] = {"a", "b", "c", "d", "e", "f"};
	struct server *server = &world.servers[number];
	struct durable_content content = shadow_content(&server->disk);

	if (content.snapshot.index != 0)
		world.counts->restarts_from_snapshot++;
	shadow_copy(&server->memory, &server->disk);
	server->applied = 0;
	server->hash = 0;
	server->was_leader = false;
	server->paused_until = server->disk_busy_until = 0;
	server->replica = replica_create(
	        &(struct replica_options){
	                .id = (uint64_t)number + 1,
	                .address = addresses[number],
	                .content = &content,
	                .election_ms = ELECTION_MS,
	                .heartbeat_ms = HEARTBEAT_MS,
	                .seed = (uint32_t)random_next(&world.random),
	        },
	        world.now);
	serve(number);
}

/* Crashes a server: its writes that were not durable are lost, except perhaps some of the
 * oldest. */
static void crash_server(int number)
{
	struct server *server = &world.servers[number];

	if (server->replica == NULL)
		return;
	world.counts->crashes++;
	replica_destroy(server->replica);
	server->replica = NULL;
	server->life++;
	server->timer++;
	for (uint64_t done = draw(server->writes_count + 1); done > 0; done--)
		end_write(server);
	while (server->writes_count > 0)
		shadow_write_free(&server->writes[--server->writes_count]);
}

/* What is asked of servers, and done to them. */

static bool is_awake(const struct server *server)
{
	return server->replica != NULL && server->paused_until <= world.now;
}

static void propose(int number)
{
	struct server *server = &world.servers[number];
	uint64_t value[2] = {++world.proposals, (uint64_t)number};

	if (!is_awake(server) || world.committed > HISTORY_MAX - 200)
		return;
	replica_propose(server->replica, (const uint8_t *)value, sizeof value - draw(2) * 8,
	                world.now);
	serve(number);
}

static void take_snapshot(int number)
{
	struct server *server = &world.servers[number];
	uint8_t bytes[SNAPSHOT_SIZE];

	memcpy(bytes, &server->applied, 8);
	memcpy(bytes + 8, &server->hash, 8);
	if (server->applied < 7)
		return;
	uint32_t keep = draw(3) == 0 ? 0 : (uint32_t)draw(12);
	world.counts->taken +=
	        replica_snapshot(server->replica, server->applied, bytes, sizeof bytes, keep);
	serve(number);
}

static enum replica_role role_of(const struct server *server, uint64_t id, unsigned *ret_voters)
{
	enum replica_role role = REPLICA_NONE;
	struct replica_server other;

	*ret_voters = 0;
	for (size_t i = 0; i < replica_servers(server->replica, i, &other); i++) {
		*ret_voters += other.role == REPLICA_VOTER;
		if (other.id == id)
			role = other.role;
	}
	return role;
}

static void change_servers(int number)
{
	static const char *const addresses[SERVERS] = {"a", "b", "c", "d", "e", "f"};
	struct server *server = &world.servers[number];
	unsigned voters;
	uint64_t id = 1 + draw(SERVERS);
	enum replica_role role = role_of(server, id, &voters);
	enum replica_role wish = draw(2) == 0 ? REPLICA_SPARE : REPLICA_STANDBY;
	uint64_t chance = draw(100);

	if (role != REPLICA_NONE && role != REPLICA_VOTER && chance < 60)
		wish = REPLICA_VOTER;
	else if (role != REPLICA_NONE && chance < 75)
		wish = REPLICA_NONE;
	/* Also ask for what must be refused: fewer than two voters, or that the leader removes
	 * itself. */
	if (role == REPLICA_VOTER && (chance > 40 || (voters <= VOTERS_LEAST && draw(4) != 0)))
		return;
	world.counts->changes += replica_change(
	        server->replica, &(struct replica_server){id, addresses[id - 1], wish}, world.now);
	serve(number);
}

static void ask_leader(int number)
{
	struct server *server = &world.servers[number];

	if (draw(world.change_one_in) == 0)
		change_servers(number);
	if (!has_failed() && draw(40) == 0) {
		world.counts->transfers +=
		        replica_transfer(server->replica, 1 + draw(SERVERS), world.now);
		serve(number);
	}
}

static void do_harm(void)
{
	uint64_t chance = draw(100);
	int one = (int)draw(SERVERS), other = (int)draw(SERVERS);

	if (chance < 4)
		world.cut[one][other] = true;
	else if (chance < 6)
		for (int i = 0; i < SERVERS; i++) {
			world.cut[one][i] = true;
			world.cut[i][one] = draw(2) == 0;
		}
	else if (chance < 11)
		memset(world.cut, 0, sizeof world.cut);
	else if (chance < 19 && draw(world.crash_one_in) == 0)
		crash_server(one);
	else if (chance < 28 && world.servers[one].replica == NULL)
		start_server(one);
	else if (chance < 30 && is_awake(&world.servers[one]))
		world.servers[one].paused_until = world.now + draw(600);
}

static void act(void)
{
	for (int i = 0; i < 3 && !has_failed(); i++)
		propose((int)draw(SERVERS));
	for (int i = 0; i < SERVERS && !has_failed(); i++) {
		if (is_awake(&world.servers[i]) && draw(25) == 0)
			take_snapshot(i);
		if (!world.healed && is_awake(&world.servers[i]) &&
		    replica_leads(world.servers[i].replica) && !has_failed())
			ask_leader(i);
	}
	if (!world.healed && !has_failed())
		do_harm();
	plan((struct happening){.time = world.now + 5 + draw(20), .kind = ACT});
}

static void wake(int number)
{
	struct server *server = &world.servers[number];

	if (server->woken_at != world.now)
		server->wakes = 0;
	server->woken_at = world.now;
	if (++server->wakes > WAKES_MAX) {
		fail("server %d is woken again and again", number + 1);
		return;
	}
	replica_tick(server->replica, world.now);
	serve(number);
}

static void happen(struct happening *happening)
{
	struct server *server = &world.servers[happening->server];

	if (happening->kind == ACT) {
		act();
		return;
	}
	if (server->replica != NULL && server->paused_until > world.now) {
		happening->time = server->paused_until;
		plan(*happening);
		happening->bytes = NULL;
		return;
	}
	if (server->replica == NULL)
		return;
	if (happening->kind == LETTER) {
		must(replica_receive(server->replica, (uint64_t)happening->from + 1,
		                     happening->bytes, happening->size, world.now) == 0);
		serve(happening->server);
	} else if (happening->kind == WRITTEN && happening->life == server->life) {
		replica_written(server->replica, end_write(server), world.now);
		serve(happening->server);
	} else if (happening->kind == TIMER && happening->life == server->timer) {
		wake(happening->server);
	}
}

/* The run. */

static void begin(uint64_t seed)
{
	static const char *const addresses[SERVERS] = {"a", "b", "c", "d", "e", "f"};
	struct replica_server servers[SERVERS];
	struct durable_entry first;

	random_seed(&world.random, seed);
	world.now = BEGIN_MS;
	world.late_one_in = draw(2) == 0 ? 30 : 5;
	world.slow_one_in = draw(2) == 0 ? 25 : 4;
	world.crash_one_in = draw(2) == 0 ? 4 : 1;
	world.change_one_in = draw(2) == 0 ? 6 : 2;
	size_t voters = VOTERS_LEAST + draw(3);
	for (size_t i = 0; i < voters; i++)
		servers[i] = (struct replica_server){i + 1, addresses[i], REPLICA_VOTER};
	must(replica_first_entry(servers, voters, &first));
	for (int i = 0; i < SERVERS; i++) {
		struct server *server = &world.servers[i];
		*server = (struct server){.life = 1};
		shadow_init(&server->memory);
		shadow_init(&server->disk);
		if ((size_t)i < voters)
			shadow_apply(&server->disk, &(struct durable_write){.has_ballot = true,
			                                                    .term = 1,
			                                                    .entries_first = 1,
			                                                    .entries = &first,
			                                                    .entries_count = 1});
		start_server(i);
	}
	free((void *)(uintptr_t)first.bytes);
	plan((struct happening){.time = world.now + 10, .kind = ACT});
}

static void heal(void)
{
	world.healed = true;
	world.committed_at_heal = world.committed;
	memset(world.cut, 0, sizeof world.cut);
	for (int i = 0; i < SERVERS; i++)
		if (world.servers[i].replica == NULL)
			start_server(i);
}

/* After healing, the log must make progress, and every server that replicates it must have it. */
static void judge_end(void)
{
	int leader = -1;
	unsigned voters;

	if (world.committed < world.committed_at_heal + 20)
		fail("nothing is committed after healing: %" PRIu64 ", then %" PRIu64,
		     world.committed_at_heal, world.committed);
	for (int i = 0; i < SERVERS; i++)
		if (replica_leads(world.servers[i].replica) &&
		    (leader < 0 || replica_term(world.servers[i].replica) >
		                           replica_term(world.servers[leader].replica)))
			leader = i;
	if (leader < 0) {
		fail("nobody leads after healing");
		return;
	}
	for (int i = 0; i < SERVERS; i++) {
		enum replica_role role = role_of(&world.servers[leader], (uint64_t)i + 1, &voters);
		if ((role == REPLICA_VOTER || role == REPLICA_STANDBY) &&
		    world.servers[i].applied + 60 < world.committed)
			fail("server %d lags after healing: %" PRIu64 " of %" PRIu64, i + 1,
			     world.servers[i].applied, world.committed);
	}
}

static void end(void)
{
	while (world.heap_count > 0)
		free(world.heap[--world.heap_count].bytes);
	for (int i = 0; i < SERVERS; i++) {
		struct server *server = &world.servers[i];
		if (server->replica != NULL)
			replica_destroy(server->replica);
		while (server->writes_count > 0)
			shadow_write_free(&server->writes[--server->writes_count]);
		free(server->writes);
		shadow_free(&server->memory);
		shadow_free(&server->disk);
	}
	free(world.heap);
}

const char *raft_world_run(uint64_t seed, struct raft_world_counts *counts)
{
	memset(&world, 0, sizeof world);
	world.counts = counts;
	begin(seed);
	while (!has_failed() && world.now < END_MS) {
		struct happening happening = next_happening();
		world.now = happening.time;
		counts->events++;
		if (!world.healed && world.now >= HEAL_MS)
			heal();
		if (!has_failed())
			happen(&happening);
		free(happening.bytes);
	}
	if (!has_failed())
		judge_end();
	end();
	return has_failed() ? world.problem : NULL;
}
