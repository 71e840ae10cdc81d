/*
 * The lock node without its network: the memory of an idle lock, and LOCK + UNLOCK of a lock whose
 * token is here. The yardstick is the least that any named lock costs: the name is hashed and found
 * in a table, and a mutex that nobody else wants is locked and unlocked.
 *
 * Memory is what malloc has given, tables and rounding included. Each time is the best of several
 * rounds, interleaved with the yardstick. "bench_node lock COUNT [RULES]" only does that many LOCK
 * + UNLOCK, with so many rules, for bench/instructions; "bench_node rules" only measures rules.
 */
#include "node.h"
#include "registry.h"
#include "rules.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MEMBERS = 3, NAME_SIZE = 16, MILLION = 1000000, ROUNDS = 5 };

struct cluster {
	struct node *nodes[MEMBERS];
	const char *names[MEMBERS];
	uint64_t sessions[MEMBERS];
	uint64_t now;
	uint32_t replies; /* how many replies pump has seen */
};

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Passes frames from node to node at once, until there are none. */
static void pump(struct cluster *cluster)
{
	struct node_effect effect;
	bool moved = true;

	while (moved) {
		moved = false;
		for (uint32_t i = 0; i < MEMBERS; i++) {
			while (node_effect(cluster->nodes[i], &effect)) {
				moved = true;
				if (effect.kind == NODE_REPLY) {
					must(effect.reply.kind == REPLY_FENCE);
					cluster->replies++;
					continue;
				}
				must(effect.kind == NODE_SEND);
				must(node_receive(cluster->nodes[effect.send.to - 1],
				                  cluster->names[i], effect.send.bytes,
				                  effect.send.size, cluster->now) == 0);
			}
		}
	}
}

/* Lets time pass until a client is answered, or nothing is due any more. */
static void pass_time(struct cluster *cluster)
{
	uint32_t replies = cluster->replies;

	pump(cluster);
	while (cluster->replies == replies) {
		uint64_t due = NODE_NEVER;
		for (uint32_t i = 0; i < MEMBERS; i++) {
			uint64_t deadline = node_deadline(cluster->nodes[i]);
			due = deadline < due ? deadline : due;
		}
		if (due == NODE_NEVER)
			return;
		cluster->now = due > cluster->now ? due : cluster->now;
		for (uint32_t i = 0; i < MEMBERS; i++) {
			node_tick(cluster->nodes[i], cluster->now);
			pump(cluster);
		}
	}
}

static void start(struct cluster *cluster, const char *algorithm)
{
	static const char *const names[MEMBERS] = {"a", "b", "c"};
	struct node_member members[MEMBERS];
	const char *wrong;

	*cluster = (struct cluster){.now = 1};
	for (uint32_t i = 0; i < MEMBERS; i++) {
		cluster->names[i] = names[i];
		members[i] = (struct node_member){.name = names[i], .incarnation = 1};
		struct node_options options = {.name = names[i],
		                               .incarnation = 1,
		                               .algorithm = algorithm_find(algorithm),
		                               .idle_hop_ns = UINT64_C(10) * MILLION};
		cluster->nodes[i] = node_create(&options, &wrong);
		must(cluster->nodes[i] != NULL);
	}
	for (uint32_t i = 0; i < MEMBERS; i++)
		must(node_view(cluster->nodes[i], 1, members, MEMBERS, 1) == 0);
	pump(cluster);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		must(node_waiting_for(cluster->nodes[i]) == NULL);
		cluster->sessions[i] =
		        node_session_open(cluster->nodes[i], &(struct node_client){.pid = 1}, 1);
	}
}

static void end(struct cluster *cluster)
{
	for (uint32_t i = 0; i < MEMBERS; i++)
		node_destroy(cluster->nodes[i]);
}

/* Makes names whose home is the first node, so that the token of each is there. */
static char *make_names(const struct cluster *cluster, uint32_t count)
{
	char *names = malloc((size_t)count * NAME_SIZE), name[NAME_SIZE + 1];
	uint32_t made = 0;

	must(names != NULL);
	for (uint64_t i = 0; made < count; i++) {
		snprintf(name, sizeof(name), "lock-%011llu", (unsigned long long)i);
		if (node_home(cluster->nodes[0], name, NAME_SIZE) == 1)
			memcpy(names + (size_t)made++ * NAME_SIZE, name, NAME_SIZE);
	}
	return names;
}

static void lock_and_unlock(struct cluster *cluster, const char *name)
{
	struct node *node = cluster->nodes[0];
	struct node_effect effect;

	must(node_lock(node, cluster->sessions[0], name, NAME_SIZE, NODE_WAIT, 0, 1) == 0);
	must(node_effect(node, &effect) && effect.kind == NODE_REPLY &&
	     effect.reply.kind == REPLY_FENCE);
	must(node_unlock(node, cluster->sessions[0], name, NAME_SIZE, effect.reply.number, 1) == 1);
	must(!node_effect(node, &effect));
}

static uint64_t malloced(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

static void use(struct cluster *cluster, uint32_t member, const char *name)
{
	struct node *node = cluster->nodes[member];
	uint64_t session = cluster->sessions[member];
	uint32_t replies = cluster->replies;

	must(node_lock(node, session, name, NAME_SIZE, NODE_WAIT, 0, cluster->now) == 0);
	pass_time(cluster);
	must(cluster->replies == replies + 1);
	must(node_unlock(node, session, name, NAME_SIZE, 0, cluster->now) == 1);
	pump(cluster);
}

/* Measures idle locks that some members have used: how much memory such a lock costs each node that
 * knows it. */
static double measure_memory(const char *algorithm, uint32_t count, uint32_t members)
{
	struct cluster cluster;
	uint64_t locks = 0;

	start(&cluster, algorithm);
	char *names = make_names(&cluster, count);
	uint64_t before = malloced();
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < members; k++)
			use(&cluster, k, names + (size_t)i * NAME_SIZE);
	}
	pass_time(&cluster);
	uint64_t bytes = malloced() - before;
	for (uint32_t i = 0; i < MEMBERS; i++) {
		struct node_figures figures;
		node_figures(cluster.nodes[i], &figures);
		locks += figures.locks;
	}
	free(names);
	end(&cluster);
	return (double)bytes / (double)locks;
}

/* The yardstick: open addressing, as full as the node's own table. */
struct yardstick {
	uint32_t size;
	struct entry {
		char name[NAME_SIZE];
		bool used;
		pthread_mutex_t mutex;
	} * entries;
};

static struct entry *find(struct yardstick *yardstick, const char *name)
{
	uint64_t hash = XXH3_64bits(name, NAME_SIZE);

	for (uint32_t i = (uint32_t)hash;; i++) {
		struct entry *entry = &yardstick->entries[i & (yardstick->size - 1)];
		if (!entry->used || memcmp(entry->name, name, NAME_SIZE) == 0)
			return entry;
	}
}

static struct yardstick make_yardstick(const char *names, uint32_t count)
{
	struct yardstick yardstick = {.size = 64};

	while (yardstick.size / 4 * 3 < count)
		yardstick.size *= 2;
	yardstick.entries = calloc(yardstick.size, sizeof(*yardstick.entries));
	must(yardstick.entries != NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct entry *entry = find(&yardstick, names + (size_t)i * NAME_SIZE);
		memcpy(entry->name, names + (size_t)i * NAME_SIZE, NAME_SIZE);
		entry->used = true;
		pthread_mutex_init(&entry->mutex, NULL);
	}
	return yardstick;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void measure_time(const char *algorithm, uint32_t count)
{
	struct cluster cluster;
	double node = 1, mutex = 1;

	start(&cluster, algorithm);
	char *names = make_names(&cluster, count);
	struct yardstick yardstick = make_yardstick(names, count);
	for (uint32_t round = 0; round <= ROUNDS; round++) {
		double begin = seconds_now();
		for (uint32_t i = 0; i < MILLION; i++)
			lock_and_unlock(&cluster, names + (size_t)(i % count) * NAME_SIZE);
		double middle = seconds_now();
		for (uint32_t i = 0; i < MILLION; i++) {
			struct entry *entry =
			        find(&yardstick, names + (size_t)(i % count) * NAME_SIZE);
			pthread_mutex_lock(&entry->mutex);
			/* Search again, because the node has to search for the lock again too. */
			entry = find(&yardstick, names + (size_t)(i % count) * NAME_SIZE);
			pthread_mutex_unlock(&entry->mutex);
		}
		double over = seconds_now();
		if (round == 0) /* the first round makes the locks */
			continue;
		node = least(node, (middle - begin) / MILLION);
		mutex = least(mutex, (over - middle) / MILLION);
	}
	printf("%-22s %9u %9.0f %9.0f %7.1f\n", algorithm, count, node * 1e9, mutex * 1e9,
	       node / mutex);
	free(yardstick.entries);
	free(names);
	end(&cluster);
}

/* --- rules --- */

/* A client whose process has some groups, as usual. */
static const uint32_t gids[] = {100, 27, 44, 1000};
static const struct subject client = {.uid = 1000, .gids = gids, .gids_count = 4};

/* Makes rules of which only the last allows the locks of this benchmark. The other rules are about
 * the same client but about other locks, which is the slowest case. Returns NULL if `count` is
 * 0. */
static struct rules *make_rules(uint32_t count)
{
	struct rules *rules = count != 0 ? rules_create() : NULL;
	struct problem problem;
	char text[64];

	for (uint32_t i = 1; i <= count; i++) {
		if (i < count)
			snprintf(text, sizeof(text), "lo%03u-* lock,elect gid:1000", i);
		else
			snprintf(text, sizeof(text), "lock-* lock gid:1000");
		must(rules_add(rules, text, NULL, &problem) == 0);
	}
	return rules;
}

static void lock_by_rules(struct cluster *cluster, const struct rules *rules, const char *name)
{
	must(rules == NULL || rules_allow(rules, &client, VERB_LOCK, name, NAME_SIZE));
	lock_and_unlock(cluster, name);
}

static void measure_rules(const char *algorithm, uint32_t rules_count)
{
	enum { LOCKS = 1000, TURNS = MILLION / 10 };
	struct rules *rules = make_rules(rules_count);
	double with = 1, without = 1;
	struct cluster cluster;

	start(&cluster, algorithm);
	char *names = make_names(&cluster, LOCKS);
	for (uint32_t round = 0; round <= ROUNDS; round++) {
		double begin = seconds_now();
		for (uint32_t i = 0; i < TURNS; i++)
			lock_by_rules(&cluster, NULL, names + (size_t)(i % LOCKS) * NAME_SIZE);
		double middle = seconds_now();
		for (uint32_t i = 0; i < TURNS; i++)
			lock_by_rules(&cluster, rules, names + (size_t)(i % LOCKS) * NAME_SIZE);
		double over = seconds_now();
		if (round == 0) /* the first round makes the locks */
			continue;
		without = least(without, (middle - begin) / TURNS);
		with = least(with, (over - middle) / TURNS);
	}
	printf("%-22s %9u %9.0f %9.0f %7.2f\n", algorithm, rules_count, with * 1e9, without * 1e9,
	       with / without);
	free(names);
	end(&cluster);
	rules_destroy(rules);
}

static void only_lock(const char *algorithm, uint32_t count, uint32_t rules_count)
{
	struct rules *rules = make_rules(rules_count);
	struct cluster cluster;

	start(&cluster, algorithm);
	char *names = make_names(&cluster, 1);
	for (uint32_t i = 0; i < count; i++)
		lock_by_rules(&cluster, rules, names);
	free(names);
	end(&cluster);
	rules_destroy(rules);
}

static void print_rules(void)
{
	static const uint32_t counts[] = {1, 10, 100, RULES_MAX};

	printf("bench/node: LOCK + UNLOCK with rules, the last of which allows it; nanoseconds, "
	       "best "
	       "of %d\n",
	       ROUNDS);
	printf("%-22s %9s %9s %9s %7s\n", "algorithm", "rules", "with", "without", "ratio");
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		measure_rules("neilsen", counts[i]);
}

int main(int argc, char **argv)
{
	static const uint32_t counts[] = {1, 1000, MILLION};

	if (argc >= 3 && strcmp(argv[1], "lock") == 0) {
		only_lock("neilsen", (uint32_t)strtoul(argv[2], NULL, 10),
		          argc == 4 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "rules") == 0) {
		print_rules();
		return 0;
	}
	printf("bench/node: a million idle locks with names of %d bytes, %d members: bytes a "
	       "lock\n",
	       NAME_SIZE, MEMBERS);
	printf("%-22s %12s %12s\n", "algorithm", "used at home", "used by all");
	for (size_t i = 0; algorithms[i] != NULL; i++) {
		const char *name = algorithms[i]->name;
		if (algorithms[i]->kind == KIND_MUTEX)
			printf("%-22s %12.1f %12.1f\n", name, measure_memory(name, MILLION, 1),
			       measure_memory(name, MILLION, MEMBERS));
	}
	printf("\nbench/node: LOCK + UNLOCK, the token is here; nanoseconds, best of %d\n", ROUNDS);
	printf("%-22s %9s %9s %9s %7s\n", "algorithm", "locks", "node", "mutex", "ratio");
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		measure_time("neilsen", counts[i]);
	measure_time("suzuki-kasami", 1000);
	printf("\n");
	print_rules();
	return 0;
}
