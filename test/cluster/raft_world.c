#include "raft_world.h"

#include "agenda.h"
#include "grow.h"
#include "must.h"
#include "raft_judge.h"
#include "random.h"
#include "voters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SERVERS = 6,
	VOTERS_LEAST = 3,
	BEGIN_MS = 1000,
	HEAL_MS = 11000,
	END_MS = 15000,
	ELECTION_MS = 100,
	HEARTBEAT_MS = 20,
	WAKES_MAX = 200, /* more wake-ups than this in one millisecond are a busy loop */
	WISH_TRIES = 20,
	BACKLOG_MS = 300,
};

enum happening_kind { LETTER, WRITTEN, TIMER, ACT };

struct server {
	struct replica *replica; /* the replica; NULL: the server is down */
	uint64_t life;
	uint64_t timer; /* the number of the timer that counts; older ones are void */
	uint64_t paused_until, disk_busy_until;
	struct shadow memory, disk; /* what was written, and what is durable */
	/* Writes that were given out and are not durable yet; the oldest first. */
	struct durable_write *writes;
	size_t writes_count, writes_size;
	struct judged judged; /* what the judge knows about the server, and its id */
	uint64_t woken_at;
	unsigned wakes; /* how often the server was woken in the present millisecond */
	/* The change of servers that is asked for when this server leads, until it is begun. */
	struct replica_server wish;
	unsigned wish_tries; /* how many more times the wish is tried; 0: there is no wish */
};

static struct world {
	struct random random;
	uint64_t now;
	struct agenda agenda;
	struct server servers[SERVERS];
	bool cut[SERVERS][SERVERS];
	bool healed, keeps_id;
	/* The frequency of faults in this run. One in this many letters is late, one in this many
	 * writes is slow, and so on. The larger a number, the milder the run. */
	uint64_t late_one_in, slow_one_in, harm_one_in, change_one_in, snapshot_one_in;
	uint64_t proposals;
	uint64_t ids; /* how many ids were given out so far */
	uint64_t committed_at_heal;
	struct raft_judge judge;
	struct raft_world_counts *counts;
} world;

/* The servers' addresses. Each has room for any id. */
static char addresses[JUDGE_IDS_MAX][8];

static uint64_t draw(uint64_t bound)
{
	return random_below(&world.random, bound);
}

static bool has_failed(void)
{
	return raft_judge_failed(&world.judge);
}

/* Counts the memory of libraft, which must give back what it was given. */

static int64_t blocks; /* how many blocks libraft has and has not freed */
static const struct raft_heap *libc_heap;

static void *count_malloc(void *data, size_t size)
{
	(void)data;
	blocks++;
	return libc_heap->malloc(libc_heap->data, size);
}

static void *count_calloc(void *data, size_t count, size_t size)
{
	(void)data;
	blocks++;
	return libc_heap->calloc(libc_heap->data, count, size);
}

static void *count_realloc(void *data, void *block, size_t size)
{
	(void)data;
	blocks += block == NULL;
	return libc_heap->realloc(libc_heap->data, block, size);
}

static void count_free(void *data, void *block)
{
	(void)data;
	blocks -= block != NULL;
	libc_heap->free(libc_heap->data, block);
}

static void count_memory(void)
{
	static struct raft_heap heap = {.malloc = count_malloc,
	                                .free = count_free,
	                                .calloc = count_calloc,
	                                .realloc = count_realloc};

	if (libc_heap == NULL) {
		libc_heap = raft_heap_get();
		heap.aligned_alloc = libc_heap->aligned_alloc;
		heap.aligned_free = libc_heap->aligned_free;
		raft_heap_set(&heap);
	}
	blocks = 0;
}

/* Servers. */

/* Returns the server with this id; NULL: no server has this id, or none has it any more. */
static struct server *find_server(uint64_t id)
{
	for (int i = 0; i < SERVERS; i++)
		if (world.servers[i].judged.id == id)
			return &world.servers[i];
	return NULL;
}

static void send_letter(struct server *from, const struct replica_effect *effect)
{
	struct server *to = find_server(effect->to);

	raft_judge_sent(&world.judge, &from->judged, from->replica, &from->disk, &from->memory,
	                effect);
	if (to == NULL || world.cut[from - world.servers][to - world.servers])
		return;
	unsigned copies = 1;
	if (!world.healed && draw(100) < 4)
		copies = (unsigned)draw(2) * 2;
	for (; copies > 0; copies--) {
		bool late = !world.healed && draw(world.late_one_in) == 0;
		uint8_t *bytes = malloc(effect->size);
		memory_must(bytes != NULL);
		memcpy(bytes, effect->bytes, effect->size);
		agenda_add(&world.agenda,
		           (struct happening){.time = world.now + 1 + draw(late ? 900 : 15),
		                              .kind = LETTER,
		                              .server = (int)(to - world.servers),
		                              .from = from->judged.id,
		                              .to = effect->to,
		                              .bytes = bytes,
		                              .size = effect->size});
	}
}

static void begin_write(struct server *server, const struct durable_write *write)
{
	server->writes = grow(server->writes, &server->writes_size, server->writes_count + 1,
	                      sizeof *server->writes);
	server->writes[server->writes_count++] = shadow_write_copy(write);
	shadow_apply(&server->memory, write);
	if (server->disk_busy_until < world.now)
		server->disk_busy_until = world.now;
	/* A slow disk does not fall behind without limit. */
	bool slow = !world.healed && draw(world.slow_one_in) == 0 &&
	            server->disk_busy_until < world.now + BACKLOG_MS;
	server->disk_busy_until += 1 + draw(slow ? 400 : 4);
	agenda_add(&world.agenda, (struct happening){.time = server->disk_busy_until,
	                                             .kind = WRITTEN,
	                                             .server = (int)(server - world.servers),
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

static bool is_installing(const struct server *server)
{
	for (size_t i = 0; i < server->writes_count; i++)
		if (server->writes[i].snapshot != NULL && server->writes[i].entries_first != 0)
			return true;
	return false;
}

static void do_effect(struct server *server, const struct replica_effect *effect)
{
	switch (effect->kind) {
	case REPLICA_WRITE:
		begin_write(server, effect->write);
		break;
	case REPLICA_SEND:
		send_letter(server, effect);
		break;
	case REPLICA_APPLY:
		raft_judge_applied(&world.judge, &server->judged, effect);
		break;
	case REPLICA_RESTORE:
		world.counts->installed += server->judged.applied != 0;
		raft_judge_restored(&world.judge, &server->judged, effect);
		break;
	}
}

/* Carries out what a replica wants, and sets its next timer. */
static void serve(struct server *server)
{
	struct replica_effect effect;

	while (!has_failed() && replica_effect(server->replica, &effect))
		do_effect(server, &effect);
	if (has_failed())
		return;
	raft_judge_server(&world.judge, &server->judged, server->replica, &server->memory,
	                  is_installing(server));
	uint64_t deadline = replica_deadline(server->replica);
	agenda_add(&world.agenda,
	           (struct happening){.time = deadline < world.now ? world.now : deadline,
	                              .kind = TIMER,
	                              .server = (int)(server - world.servers),
	                              .life = ++server->timer});
}

static void start_server(struct server *server)
{
	struct durable_content content = shadow_content(&server->disk);
	uint64_t id = server->judged.id;

	if (content.snapshot.index != 0)
		world.counts->restarts_from_snapshot++;
	shadow_copy(&server->memory, &server->disk);
	server->judged = (struct judged){.id = id};
	server->wish_tries = 0;
	server->paused_until = server->disk_busy_until = 0;
	server->replica = replica_create(
	        &(struct replica_options){
	                .id = id,
	                .address = addresses[id],
	                .content = &content,
	                .election_ms = ELECTION_MS,
	                .heartbeat_ms = HEARTBEAT_MS,
	                .seed = (uint32_t)random_next(&world.random),
	        },
	        world.now);
	serve(server);
}

/* Crashes a server: its writes that were not durable are lost, except perhaps some of the
 * oldest. */
static void crash_server(struct server *server)
{
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

static void name_server(struct server *server)
{
	server->judged.id = ++world.ids;
	must(world.ids < JUDGE_IDS_MAX);
}

/* Requests to servers, and faults. */

static bool is_awake(const struct server *server)
{
	return server->replica != NULL && server->paused_until <= world.now;
}

static void propose(struct server *server)
{
	uint64_t value[2] = {++world.proposals, server->judged.id};

	if (!is_awake(server) || world.judge.committed > JUDGE_HISTORY_MAX - 200)
		return;
	replica_propose(server->replica, (const uint8_t *)value, sizeof value - draw(2) * 8,
	                world.now);
	serve(server);
}

static void take_snapshot(struct server *server)
{
	uint8_t bytes[JUDGE_SNAPSHOT_SIZE];

	raft_judge_snapshot(&server->judged, bytes);
	if (server->judged.applied < 7)
		return;
	uint32_t keep = draw(3) == 0 ? 0 : (uint32_t)draw(12);
	world.counts->taken += replica_snapshot(server->replica, server->judged.applied, bytes,
	                                        sizeof bytes, keep);
	serve(server);
}

/* The servers as a leader knows them. */
struct cast {
	unsigned voters;
	uint64_t lost; /* a voter whose disk was wiped; 0: none */
	enum replica_role roles[JUDGE_IDS_MAX];
};

static struct cast cast_of(const struct server *server)
{
	struct cast cast = {0};
	struct replica_server other;

	for (uint64_t id = 0; id < JUDGE_IDS_MAX; id++)
		cast.roles[id] = REPLICA_NONE;
	for (size_t i = 0; i < replica_servers(server->replica, i, &other); i++) {
		cast.roles[other.id] = other.role;
		cast.voters += other.role == REPLICA_VOTER;
		if (other.role == REPLICA_VOTER && find_server(other.id) == NULL)
			cast.lost = other.id;
	}
	return cast;
}

static enum replica_role wish_role(const struct cast *cast, uint64_t id)
{
	enum replica_role role = cast->roles[id];
	enum replica_role wish = draw(2) == 0 ? REPLICA_SPARE : REPLICA_STANDBY;
	uint64_t chance = draw(100);

	if (role == REPLICA_VOTER) {
		/* Voters that never come back must be fewer than half. But also ask for changes
		 * that must be refused: fewer than two voters, the removal of the leader by itself,
		 * a demotion. */
		if (cast->lost != 0 || (cast->voters <= VOTERS_LEAST && draw(4) != 0))
			return REPLICA_VOTER;
		return chance < 80 ? REPLICA_NONE : wish;
	}
	if (role == REPLICA_STANDBY && chance < 70)
		return REPLICA_VOTER;
	if (role == REPLICA_SPARE && chance < 70)
		return REPLICA_STANDBY;
	return role != REPLICA_NONE && chance < 80 ? REPLICA_NONE : wish;
}

static void draw_wish(struct server *server)
{
	struct cast cast = cast_of(server);
	uint64_t id = world.servers[draw(SERVERS)].judged.id;
	enum replica_role role = wish_role(&cast, id);

	if (cast.lost != 0 && draw(2) == 0) {
		id = cast.lost;
		role = REPLICA_NONE;
	}
	if (role == cast.roles[id])
		return;
	server->wish = (struct replica_server){id, addresses[id], role};
	server->wish_tries = 1 + (unsigned)draw(WISH_TRIES);
}

/* Is the wish older than the loss of a voter, and would it remove another voter? Then too few might
 * be left. */
static bool is_stale(const struct server *server)
{
	struct cast cast = cast_of(server);

	return cast.lost != 0 && server->wish.id != cast.lost &&
	       cast.roles[server->wish.id] == REPLICA_VOTER;
}

static void change_servers(struct server *server)
{
	if (server->wish_tries > 0 && is_stale(server))
		server->wish_tries = 0;
	if (server->wish_tries == 0 && draw(world.change_one_in) == 0)
		draw_wish(server);
	if (server->wish_tries == 0)
		return;
	server->wish_tries--;
	if (replica_change(server->replica, &server->wish, world.now)) {
		server->wish_tries = 0;
		world.counts->changes++;
		world.counts->promotions += server->wish.role == REPLICA_VOTER;
		world.counts->removals += server->wish.role == REPLICA_NONE;
	}
	serve(server);
}

static void ask_leader(struct server *server)
{
	change_servers(server);
	if (!has_failed() && draw(40) == 0) {
		uint64_t id = world.servers[draw(SERVERS)].judged.id;
		world.counts->transfers += replica_transfer(server->replica, id, world.now);
		serve(server);
	}
}

/* Do all voters that are not lost have this configuration as their last one, in memory and on disk?
 * Then no change is under way. */
static bool is_settled(const uint8_t *voters, size_t size, const struct raft_configuration *all)
{
	for (unsigned i = 0; i < all->n; i++) {
		const struct server *server = find_server(all->servers[i].id);
		size_t memory_size, disk_size;
		if (all->servers[i].role != RAFT_VOTER || server == NULL)
			continue;
		const uint8_t *memory = shadow_voters(&server->memory, &memory_size);
		const uint8_t *disk = shadow_voters(&server->disk, &disk_size);
		if (memory == NULL || disk == NULL || memory_size != size || disk_size != size ||
		    memcmp(memory, voters, size) != 0 || memcmp(disk, voters, size) != 0)
			return false;
	}
	return true;
}

/* Can the log make progress if this server never comes back? */
static bool may_lose(const struct server *leader, uint64_t id)
{
	size_t size;
	const uint8_t *voters = shadow_voters(&leader->memory, &size);
	unsigned lost = 0;

	if (voters == NULL)
		return false;
	struct raft_configuration all = voters_decode(voters, size);
	for (unsigned i = 0; i < all.n; i++)
		lost += all.servers[i].role == RAFT_VOTER &&
		        (all.servers[i].id == id || find_server(all.servers[i].id) == NULL);
	bool may = is_settled(voters, size, &all) && 2 * lost < voters_count(&all);
	raft_configuration_close(&all);
	return may;
}

static void wipe_disk(struct server *server)
{
	unsigned leaders = 0;

	/* Every server that leads, or believes that it leads, must be able to do without this
	 * one. */
	for (int i = 0; i < SERVERS; i++) {
		const struct server *leader = &world.servers[i];
		if (leader->replica == NULL || !replica_leads(leader->replica))
			continue;
		leaders++;
		if (!may_lose(leader, server->judged.id))
			return;
	}
	if (leaders == 0 || world.ids + 1 >= JUDGE_IDS_MAX)
		return;
	crash_server(server);
	shadow_free(&server->disk);
	shadow_free(&server->memory);
	if (!world.keeps_id)
		name_server(server);
	world.counts->wiped++;
}

static void isolate_server(int one)
{
	for (int i = 0; i < SERVERS; i++) {
		world.cut[one][i] = true;
		world.cut[i][one] = draw(2) == 0;
	}
}

static void mend_something(void)
{
	struct server *server = &world.servers[draw(SERVERS)];
	uint64_t chance = draw(100);

	if (chance < 6)
		memset(world.cut, 0, sizeof world.cut);
	else if (chance < 26 && server->replica == NULL)
		start_server(server);
}

static void do_harm(void)
{
	uint64_t chance = draw(100);
	int one = (int)draw(SERVERS), other = (int)draw(SERVERS);
	struct server *server = &world.servers[one];

	if (chance < 20)
		world.cut[one][other] = true;
	else if (chance < 30)
		isolate_server(one);
	else if (chance < 70)
		crash_server(server);
	else if (chance < 85)
		server->paused_until = world.now + draw(600);
	else if (chance < 95)
		server->disk_busy_until = world.now + draw(2000);
	else
		wipe_disk(server);
}

static void act(void)
{
	for (int i = 0; i < 3 && !has_failed(); i++)
		propose(&world.servers[draw(SERVERS)]);
	for (int i = 0; i < SERVERS && !has_failed(); i++) {
		struct server *server = &world.servers[i];
		if (is_awake(server) && draw(world.snapshot_one_in) == 0)
			take_snapshot(server);
		if (!world.healed && is_awake(server) && replica_leads(server->replica) &&
		    !has_failed())
			ask_leader(server);
	}
	if (!world.healed && !has_failed())
		mend_something();
	if (!world.healed && !has_failed() && draw(world.harm_one_in) == 0)
		do_harm();
	agenda_add(&world.agenda,
	           (struct happening){.time = world.now + 5 + draw(20), .kind = ACT});
}

static void wake(struct server *server)
{
	if (server->woken_at != world.now)
		server->wakes = 0;
	server->woken_at = world.now;
	if (++server->wakes > WAKES_MAX) {
		raft_judge_fail(&world.judge, "server %" PRIu64 " is woken again and again",
		                server->judged.id);
		return;
	}
	replica_tick(server->replica, world.now);
	serve(server);
}

static void deliver(struct server *server, const struct happening *letter)
{
	if (letter->to != server->judged.id)
		/* The letter was for the id that this server had before its disk was wiped. */
		return;
	raft_judge_received(&server->judged, server->replica, letter->from, letter->bytes,
	                    letter->size);
	must(replica_receive(server->replica, letter->from, letter->bytes, letter->size,
	                     world.now) == 0);
	serve(server);
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
		agenda_add(&world.agenda, *happening);
		happening->bytes = NULL;
		return;
	}
	if (server->replica == NULL)
		return;
	if (happening->kind == LETTER) {
		deliver(server, happening);
	} else if (happening->kind == WRITTEN && happening->life == server->life) {
		replica_written(server->replica, end_write(server), world.now);
		serve(server);
	} else if (happening->kind == TIMER && happening->life == server->timer) {
		wake(server);
	}
}

/* The run. */

static uint64_t pick(uint64_t much, uint64_t some, uint64_t little)
{
	uint64_t levels[] = {much, some, little};

	return levels[draw(3)];
}

static void draw_harm(void)
{
	world.late_one_in = pick(5, 30, 100);
	world.slow_one_in = pick(4, 25, 100);
	world.harm_one_in = pick(5, 15, 60);
	world.change_one_in = draw(2) == 0 ? 6 : 1;
	world.snapshot_one_in = draw(2) == 0 ? 25 : 6;
}

static void begin(uint64_t seed)
{
	struct replica_server servers[SERVERS];
	struct durable_entry first;

	for (size_t id = 0; id < JUDGE_IDS_MAX; id++)
		snprintf(addresses[id], sizeof addresses[id], "s%zu", id);
	count_memory();
	random_seed(&world.random, seed);
	world.now = BEGIN_MS;
	draw_harm();
	size_t voters = draw(6) == 0 ? 1 : VOTERS_LEAST + draw(3);
	for (size_t i = 0; i < voters; i++)
		servers[i] = (struct replica_server){i + 1, addresses[i + 1], REPLICA_VOTER};
	must(replica_first_entry(servers, voters, &first));
	for (size_t i = 0; i < SERVERS; i++) {
		struct server *server = &world.servers[i];
		*server = (struct server){.life = 1};
		name_server(server);
		shadow_init(&server->memory);
		shadow_init(&server->disk);
		if (i < voters)
			shadow_apply(&server->disk, &(struct durable_write){.has_ballot = true,
			                                                    .term = 1,
			                                                    .entries_first = 1,
			                                                    .entries = &first,
			                                                    .entries_count = 1});
		start_server(server);
	}
	free((void *)first.bytes);
	agenda_add(&world.agenda, (struct happening){.time = world.now + 10, .kind = ACT});
}

static void heal(void)
{
	world.healed = true;
	world.committed_at_heal = world.judge.committed;
	memset(world.cut, 0, sizeof world.cut);
	for (int i = 0; i < SERVERS; i++)
		if (world.servers[i].replica == NULL)
			start_server(&world.servers[i]);
}

/* After healing, the log must make progress, and every voter and standby must have applied nearly
 * all of it. */
static void judge_end(void)
{
	const struct server *leader = NULL;

	if (world.judge.committed < world.committed_at_heal + 20)
		raft_judge_fail(&world.judge,
		                "nothing is committed after healing: %" PRIu64 ", then %" PRIu64,
		                world.committed_at_heal, world.judge.committed);
	for (int i = 0; i < SERVERS; i++)
		if (replica_leads(world.servers[i].replica) &&
		    (leader == NULL ||
		     replica_term(world.servers[i].replica) > replica_term(leader->replica)))
			leader = &world.servers[i];
	if (leader == NULL) {
		raft_judge_fail(&world.judge, "nobody leads after healing");
		return;
	}
	struct cast cast = cast_of(leader);
	for (int i = 0; i < SERVERS; i++) {
		const struct judged *judged = &world.servers[i].judged;
		enum replica_role role = cast.roles[judged->id];
		if ((role == REPLICA_VOTER || role == REPLICA_STANDBY) &&
		    judged->applied + 60 < world.judge.committed)
			raft_judge_fail(&world.judge,
			                "server %" PRIu64 " lags after healing: %" PRIu64
			                " of %" PRIu64,
			                judged->id, judged->applied, world.judge.committed);
	}
}

static void end(void)
{
	agenda_free(&world.agenda);
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
	if (blocks != 0)
		raft_judge_fail(&world.judge, "libraft keeps %" PRId64 " pieces of memory", blocks);
	world.counts->commits += world.judge.committed;
	world.counts->leaders += world.judge.leaders_count;
}

const char *raft_world_run(uint64_t seed, bool keeps_id, struct raft_world_counts *counts)
{
	memset(&world, 0, sizeof world);
	world.counts = counts;
	world.keeps_id = keeps_id;
	begin(seed);
	while (!has_failed() && world.now < END_MS) {
		struct happening happening = agenda_take(&world.agenda);
		world.now = world.judge.now = happening.time;
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
	return has_failed() ? world.judge.problem : NULL;
}
