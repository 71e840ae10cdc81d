/*
 * The engine of a fixed membership: see engine.h.
 *
 * A notice, with numbers as in wire.h:
 *
 *	type (1, a byte)
 *	count, and for each known member, sorted by name:
 *	        size and bytes of its name, its incarnation, the epoch and floor that it proposes
 *	epoch of the view (0: none yet), and if there is one its digest (8 bytes, least significant
 *	first)
 *
 * The digest is XXH3 (64 bits) over, for each member, the size of its name (a byte), its
 * incarnation (8 bytes) and its name. The view's epoch is the largest one proposed, plus the number
 * of epochs that have ended since; after the first of these the floor is 0. So there is only one
 * view of an epoch as long as the digest is the same.
 */
#include "baton/error.h"
#include "bytes.h"
#include "engine.h"
#include "memory.h"
#include "outbuffer.h"
#include "tame.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

enum { NOTICE_TYPE = 1, DIGEST_SIZE = 8 };

struct knowledge {
	bool known; /* its incarnation and its proposal are known */
	struct engine_proposal proposal;
	bool agrees; /* it has said on this connection that its view is ours */
};

struct engine {
	uint32_t count, self;
	char **names;                  /* sorted */
	struct engine_member *members; /* in the order of the view */
	struct knowledge *knowledge;
	uint32_t known_count;
	bool formed, changed, news;
	struct engine_view view;
	uint64_t digest; /* the digest of the view */
	struct out notice;
	char *missing;
	char text[1024];
};

/* What a notice says about one member. */
struct notice_entry {
	const char *name; /* without a terminating 0 */
	size_t size;
	uint64_t incarnation;
	struct engine_proposal proposal;
};

struct notice {
	uint32_t count;
	struct in entries;      /* the unread entries */
	uint64_t epoch, digest; /* of the sender's view; epoch 0: it has none */
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_larger(struct engine_proposal a, struct engine_proposal b)
{
	return a.epoch != b.epoch ? a.epoch > b.epoch : a.floor > b.floor;
}

/* Returns the index of a name, or `count` if it is not in the list. */
static uint32_t find_name(const struct engine *engine, const char *name, size_t size)
{
	uint32_t low = 0, high = engine->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strncmp(engine->names[middle], name, size);
		if (order == 0)
			order = engine->names[middle][size] != '\0';
		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return engine->count;
}

static XXH3_state_t *begin_digest(void)
{
	XXH3_state_t *state = XXH3_createState();

	memory_must(state != NULL);
	XXH3_64bits_reset(state);
	return state;
}

static void add_to_digest(XXH3_state_t *state, const char *name, size_t size, uint64_t incarnation)
{
	uint8_t head[9] = {(uint8_t)size};

	bytes_put_u64(head + 1, incarnation);
	XXH3_64bits_update(state, head, sizeof(head));
	XXH3_64bits_update(state, name, size);
}

static uint64_t end_digest(XXH3_state_t *state)
{
	uint64_t digest = XXH3_64bits_digest(state);

	XXH3_freeState(state);
	return digest;
}

/* Makes the view from what all members have proposed, once all are known. */
static void form(struct engine *engine)
{
	struct engine_proposal largest = {0};
	XXH3_state_t *state = begin_digest();

	for (uint32_t i = 0; i < engine->count; i++) {
		add_to_digest(state, engine->names[i], strlen(engine->names[i]),
		              engine->members[i].incarnation);
		if (is_larger(engine->knowledge[i].proposal, largest))
			largest = engine->knowledge[i].proposal;
	}
	engine->digest = end_digest(state);
	engine->view.epoch = largest.epoch;
	engine->view.floor = largest.floor;
	engine->formed = engine->changed = true;
}

/* Begins a later epoch with the same members. */
static void begin_epoch(struct engine *engine, uint64_t epoch)
{
	engine->view.epoch = epoch;
	engine->view.floor = 0;
	engine->changed = engine->news = true;
}

static void learn(struct engine *engine, uint32_t index, struct engine_proposal proposal)
{
	struct knowledge *knowledge = &engine->knowledge[index];

	if (knowledge->known)
		return;
	knowledge->known = true;
	knowledge->proposal = proposal;
	engine->known_count++;
	engine->news = true;
	if (engine->known_count == engine->count)
		form(engine);
}

struct engine *engine_create(const char *const *names, uint32_t names_count, uint32_t self,
                             uint64_t incarnation, struct engine_proposal proposal)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	size_t missing_size = 1;

	memory_must(engine != NULL && self < names_count && names_count <= ENGINE_MEMBERS_MAX);
	must(incarnation > 0 && proposal.epoch > 0 && proposal.epoch <= ENGINE_EPOCH_MAX &&
	     proposal.floor <= ENGINE_FLOOR_MAX);
	engine->count = names_count;
	engine->names = calloc(names_count, sizeof(*engine->names));
	engine->members = calloc(names_count, sizeof(*engine->members));
	engine->knowledge = calloc(names_count, sizeof(*engine->knowledge));
	memory_must(engine->names != NULL && engine->members != NULL && engine->knowledge != NULL);
	for (uint32_t i = 0; i < names_count; i++) {
		size_t size = strlen(names[i]);
		must(size > 0 && size <= ENGINE_NAME_MAX);
		missing_size += size + 2;
		engine->names[i] = strdup(names[i]);
		memory_must(engine->names[i] != NULL);
	}
	qsort(engine->names, names_count, sizeof(*engine->names), compare_names);
	for (uint32_t i = 0; i < names_count; i++) {
		must(i == 0 || strcmp(engine->names[i - 1], engine->names[i]) != 0);
		engine->members[i].name = engine->names[i];
	}
	engine->missing = malloc(missing_size);
	memory_must(engine->missing != NULL);
	engine->view.members = engine->members;
	engine->view.members_count = names_count;
	out_init(&engine->notice);
	engine->self = find_name(engine, names[self], strlen(names[self]));
	engine->members[engine->self].incarnation = incarnation;
	learn(engine, engine->self, proposal);
	return engine;
}

void engine_destroy(struct engine *engine)
{
	if (engine == NULL)
		return;
	for (uint32_t i = 0; i < engine->count; i++)
		free(engine->names[i]);
	free((void *)engine->names);
	free(engine->members);
	free(engine->knowledge);
	free(engine->missing);
	out_free(&engine->notice);
	free(engine);
}

const struct engine_view *engine_view(struct engine *engine, bool *ret_changed)
{
	if (ret_changed != NULL) {
		*ret_changed = engine->changed;
		engine->changed = false;
	}
	return engine->formed ? &engine->view : NULL;
}

const char *engine_missing(struct engine *engine)
{
	char *end = engine->missing;

	for (uint32_t i = 0; i < engine->count; i++) {
		if (engine->knowledge[i].known)
			continue;
		if (end != engine->missing)
			end = stpcpy(end, ", ");
		end = stpcpy(end, engine->names[i]);
	}
	return end == engine->missing ? NULL : engine->missing;
}

uint64_t engine_incarnation(const struct engine *engine, const char *name)
{
	uint32_t index = find_name(engine, name, strlen(name));

	return index == engine->count ? 0 : engine->members[index].incarnation;
}

/* --- what peers say --- */

__attribute__((format(printf, 4, 5))) static int
refuse(struct engine *engine, const char **ret_text, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(engine->text, sizeof(engine->text), format, arguments);
	va_end(arguments);
	*ret_text = engine->text;
	return error;
}

static int refuse_stranger(struct engine *engine, const char **ret_text, const char *name, int size)
{
	return refuse(engine, ret_text, BATON_ESENDER,
	              "%.*s is not among the peers of %s: every node needs the same list", size,
	              name, engine->names[engine->self]);
}

static int check_incarnation(struct engine *engine, const char **ret_text, uint32_t index,
                             uint64_t incarnation)
{
	uint64_t known = engine->members[index].incarnation;

	if (known == 0 || known == incarnation)
		return 0;
	return refuse(engine, ret_text, BATON_ESENDER,
	              "%s restarted; this version cannot take it back: restart every node",
	              engine->names[index]);
}

int engine_met(struct engine *engine, const char *peer, uint64_t incarnation, const char **ret_text)
{
	uint32_t index = find_name(engine, peer, strlen(peer));

	must(incarnation > 0);
	if (index == engine->count)
		return refuse_stranger(engine, ret_text, peer, (int)strlen(peer));
	if (index == engine->self)
		return refuse(engine, ret_text, BATON_ESENDER,
		              "%s is the name of two nodes: each needs its own", peer);
	int wrong = check_incarnation(engine, ret_text, index, incarnation);
	if (wrong != 0)
		return wrong;
	engine->members[index].incarnation = incarnation;
	engine->knowledge[index].agrees = false;
	return 0;
}

/* Reads the next entry from `in`, and sets in->bad if it is malformed. */
static struct notice_entry read_entry(struct in *in)
{
	struct notice_entry entry = {.size = (size_t)in_range(in, 1, ENGINE_NAME_MAX)};

	entry.name = (const char *)in->next;
	if ((size_t)(in->end - in->next) < entry.size)
		in->bad = true;
	for (size_t i = 0; !in->bad && i < entry.size; i++, in->next++)
		in->bad = tame_is_control((char)*in->next);
	entry.incarnation = in_range(in, 1, UINT64_MAX);
	entry.proposal.epoch = in_range(in, 1, ENGINE_EPOCH_MAX);
	entry.proposal.floor = in_range(in, 0, ENGINE_FLOOR_MAX);
	return entry;
}

static bool is_before(const struct notice_entry *a, const struct notice_entry *b)
{
	int order = memcmp(a->name, b->name, a->size < b->size ? a->size : b->size);

	return order != 0 ? order < 0 : a->size < b->size;
}

/* Checks everything that needs no knowledge of the cluster. */
static bool read_notice(const uint8_t *bytes, size_t size, struct notice *ret)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct notice_entry last = {0};
	uint64_t epoch_least = 0;

	if (size == 0 || *in.next++ != NOTICE_TYPE)
		return false;
	ret->count = (uint32_t)in_range(&in, 1, ENGINE_MEMBERS_MAX);
	ret->entries = in;
	for (uint32_t i = 0; i < ret->count && !in.bad; i++) {
		struct notice_entry entry = read_entry(&in);
		if (!in.bad && i > 0 && !is_before(&last, &entry))
			in.bad = true;
		if (entry.proposal.epoch > epoch_least)
			epoch_least = entry.proposal.epoch;
		last = entry;
	}
	ret->epoch = in_range(&in, 0, ENGINE_EPOCH_MAX);
	if (in.bad || (ret->epoch != 0 && ret->epoch < epoch_least))
		return false;
	ret->digest = 0;
	if (ret->epoch != 0) {
		if (in.end - in.next < DIGEST_SIZE)
			return false;
		ret->digest = bytes_get_u64(in.next);
		in.next += DIGEST_SIZE;
	}
	return in_end(&in);
}

/* Checks whether the notice contradicts what is known. */
static int judge_entries(struct engine *engine, uint32_t peer, const struct notice *notice,
                         const char **ret_text)
{
	struct in in = notice->entries;
	bool has_peer = false;

	for (uint32_t i = 0; i < notice->count; i++) {
		struct notice_entry entry = read_entry(&in);
		uint32_t index = find_name(engine, entry.name, entry.size);
		if (index == engine->count)
			return refuse_stranger(engine, ret_text, entry.name, (int)entry.size);
		int wrong = check_incarnation(engine, ret_text, index, entry.incarnation);
		if (wrong != 0)
			return wrong;
		const struct knowledge *knowledge = &engine->knowledge[index];
		if (knowledge->known && (is_larger(knowledge->proposal, entry.proposal) ||
		                         is_larger(entry.proposal, knowledge->proposal)))
			return refuse(engine, ret_text, BATON_EMESSAGE,
			              "%s says that %s proposed another epoch than it did",
			              engine->names[peer], engine->names[index]);
		has_peer = has_peer || index == peer;
	}
	if (!has_peer)
		return refuse(engine, ret_text, BATON_EMESSAGE, "%s says nothing about itself",
		              engine->names[peer]);
	return 0;
}

/* judge_entries has accepted every entry, so a view with as many members has the same members. */
static bool has_our_members(const struct engine *engine, const struct notice *notice)
{
	struct in in = notice->entries;
	XXH3_state_t *state = begin_digest();

	for (uint32_t i = 0; i < notice->count; i++) {
		struct notice_entry entry = read_entry(&in);
		add_to_digest(state, entry.name, entry.size, entry.incarnation);
	}
	return end_digest(state) == notice->digest && notice->count == engine->count;
}

int engine_notice(struct engine *engine, const char *peer, const uint8_t *bytes, size_t size,
                  const char **ret_text)
{
	uint32_t index = find_name(engine, peer, strlen(peer));
	struct notice notice;

	must(index < engine->count && engine->members[index].incarnation != 0);
	if (!read_notice(bytes, size, &notice))
		return refuse(engine, ret_text, BATON_EMESSAGE, "%s sent a malformed notice", peer);
	int wrong = judge_entries(engine, index, &notice, ret_text);
	if (wrong != 0)
		return wrong;
	if (notice.epoch != 0 && !has_our_members(engine, &notice))
		return refuse(engine, ret_text, BATON_ESENDER,
		              "%s has another view of the members than %s: restart every node, all "
		              "with the same list of peers",
		              peer, engine->names[engine->self]);
	struct in in = notice.entries;
	for (uint32_t i = 0; i < notice.count; i++) {
		struct notice_entry entry = read_entry(&in);
		uint32_t place = find_name(engine, entry.name, entry.size);
		engine->members[place].incarnation = entry.incarnation;
		learn(engine, place, entry.proposal);
	}
	if (notice.epoch > engine->view.epoch)
		begin_epoch(engine, notice.epoch);
	engine->knowledge[index].agrees = notice.epoch != 0;
	return 0;
}

/* --- what peers are told --- */

size_t engine_write(struct engine *engine, const uint8_t **ret_bytes)
{
	struct out *out = &engine->notice;

	out_clear(out);
	out_message(out, NOTICE_TYPE);
	out_uint(out, engine->known_count);
	for (uint32_t i = 0; i < engine->count; i++) {
		const struct knowledge *knowledge = &engine->knowledge[i];
		if (!knowledge->known)
			continue;
		uint32_t size = (uint32_t)strlen(engine->names[i]);
		out_uint(out, size);
		out_need(out, size);
		memcpy(out->bytes + out->bytes_count, engine->names[i], size);
		out->bytes_count += size;
		out_uint(out, engine->members[i].incarnation);
		out_uint(out, knowledge->proposal.epoch);
		out_uint(out, knowledge->proposal.floor);
	}
	out_uint(out, engine->view.epoch);
	if (engine->formed) {
		out_need(out, DIGEST_SIZE);
		bytes_put_u64(out->bytes + out->bytes_count, engine->digest);
		out->bytes_count += DIGEST_SIZE;
	}
	*ret_bytes = out->bytes;
	return out->bytes_count;
}

bool engine_news(struct engine *engine)
{
	bool news = engine->news;

	engine->news = false;
	return news;
}

bool engine_agrees(const struct engine *engine, const char *peer)
{
	uint32_t index = find_name(engine, peer, strlen(peer));

	return index < engine->count && engine->knowledge[index].agrees;
}

void engine_parted(struct engine *engine, const char *peer)
{
	uint32_t index = find_name(engine, peer, strlen(peer));

	if (index < engine->count)
		engine->knowledge[index].agrees = false;
}

void engine_bump(struct engine *engine, uint64_t epoch)
{
	if (engine->formed && engine->view.epoch == epoch && epoch < ENGINE_EPOCH_MAX)
		begin_epoch(engine, epoch + 1);
}
