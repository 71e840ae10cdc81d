/*
 * Feeds arbitrary notices to an engine: no crash; a refused notice changes nothing; epochs never go
 * back; and a view keeps its members.
 *
 * The input is a little program; each step is a call, with the notice of another engine (perhaps
 * with a byte changed) or raw bytes.
 */
#include "engine.h"
#include "must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMBERS_MOST = 4 };

static const char *const names[MEMBERS_MOST] = {"a", "ab", "b", "c"};

struct target {
	struct engine *engine;
	struct engine *others[MEMBERS_MOST]; /* [0] is not used */
	uint32_t count;
	uint64_t epoch; /* the epoch of its view; 0: none */
	uint64_t incarnations[MEMBERS_MOST];
	const uint8_t *data;
	size_t size;
};

struct snapshot {
	size_t size;
	uint8_t *bytes;
};

static uint8_t next_byte(struct target *target)
{
	if (target->size == 0)
		return 0;
	target->size--;
	return *target->data++;
}

static struct snapshot snap(struct engine *engine)
{
	const uint8_t *bytes;
	struct snapshot snapshot = {.size = engine_write(engine, &bytes)};

	snapshot.bytes = malloc(snapshot.size + 1);
	must(snapshot.bytes != NULL);
	memcpy(snapshot.bytes, bytes, snapshot.size);
	return snapshot;
}

static void check_view(struct target *target)
{
	bool changed;
	const struct engine_view *view = engine_view(target->engine, &changed);

	if (view == NULL) {
		must(!changed && target->epoch == 0 && engine_missing(target->engine) != NULL);
		return;
	}
	must(changed == (view->epoch > target->epoch) && view->epoch >= target->epoch);
	must(view->epoch <= ENGINE_EPOCH_MAX && view->floor <= ENGINE_FLOOR_MAX);
	must(view->members_count == target->count && engine_missing(target->engine) == NULL);
	for (uint32_t i = 0; i < target->count; i++) {
		must(strcmp(view->members[i].name, names[i]) == 0);
		must(view->members[i].incarnation != 0);
		must(target->epoch == 0 || view->members[i].incarnation == target->incarnations[i]);
		target->incarnations[i] = view->members[i].incarnation;
	}
	target->epoch = view->epoch;
}

static void give(struct target *target, uint32_t peer, const uint8_t *bytes, size_t size)
{
	struct snapshot before = snap(target->engine);
	const char *text = NULL;

	if (engine_incarnation(target->engine, names[peer]) == 0) {
		free(before.bytes);
		return;
	}
	(void)engine_news(target->engine);
	bool agreed = engine_agrees(target->engine, names[peer]);
	int error = engine_notice(target->engine, names[peer], bytes, size, &text);
	struct snapshot after = snap(target->engine);
	bool same = before.size == after.size && memcmp(before.bytes, after.bytes, after.size) == 0;
	must((error == 0) == (text == NULL));
	must(error == 0 || (same && engine_agrees(target->engine, names[peer]) == agreed));
	must(engine_news(target->engine) == !same);
	free(before.bytes);
	free(after.bytes);
}

static void give_raw(struct target *target, uint32_t peer)
{
	size_t size = next_byte(target);

	if (size > target->size)
		size = target->size;
	uint8_t *bytes = malloc(size + (size == 0));
	must(bytes != NULL);
	memcpy(bytes, target->data, size);
	target->data += size;
	target->size -= size;
	give(target, peer, bytes, size);
	free(bytes);
}

static void give_changed(struct target *target, uint32_t peer, uint8_t what)
{
	struct snapshot notice = snap(target->others[peer]);

	if (what % 2 == 1)
		notice.bytes[next_byte(target) % notice.size] ^= (uint8_t)(1 << what / 2 % 8);
	give(target, peer, notice.bytes, notice.size);
	free(notice.bytes);
}

/* Lets the others hear from each other, and from the target. */
static void tell_other(struct target *target, uint32_t to, uint32_t from)
{
	const char *text;
	struct engine *engine = from == 0 ? target->engine : target->others[from];
	struct snapshot notice = snap(engine);

	if (to != from && engine_met(target->others[to], names[from],
	                             engine_incarnation(engine, names[from]), &text) == 0)
		(void)engine_notice(target->others[to], names[from], notice.bytes, notice.size,
		                    &text);
	free(notice.bytes);
}

static void step(struct target *target)
{
	uint8_t what = next_byte(target), which = next_byte(target);
	uint32_t peer = 1 + which % (MEMBERS_MOST - 1);
	const char *text;

	switch (what % 8) {
	case 0:
		(void)engine_met(target->engine, names[which % MEMBERS_MOST], 1 + which / 64,
		                 &text);
		break;
	case 1:
		engine_parted(target->engine, names[which % MEMBERS_MOST]);
		must(!engine_agrees(target->engine, names[which % MEMBERS_MOST]));
		break;
	case 2:
		engine_bump(target->engine, target->epoch + which % 2);
		break;
	case 3:
	case 4:
		give_changed(target, peer, what / 8);
		break;
	case 5:
		give_raw(target, peer);
		break;
	case 6:
	case 7:
		tell_other(target, peer, which / 16 % MEMBERS_MOST);
		break;
	}
	check_view(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = {.data = data, .size = size};

	target.count = 2 + next_byte(&target) % (MEMBERS_MOST - 1);
	target.engine = engine_create(names, target.count, 0, 1,
	                              (struct engine_proposal){.epoch = 5, .floor = 6});
	for (uint32_t i = 1; i < MEMBERS_MOST; i++) {
		uint8_t byte = next_byte(&target);
		/* Some engines have another list of members. */
		target.others[i] = engine_create(
		        names,
		        byte < 16          ? MEMBERS_MOST
		        : i < target.count ? target.count
		                           : i + 1,
		        i, 1 + byte / 128,
		        (struct engine_proposal){.epoch = 1 + byte % 8, .floor = byte});
	}
	while (target.size > 0)
		step(&target);
	engine_destroy(target.engine);
	for (uint32_t i = 1; i < MEMBERS_MOST; i++)
		engine_destroy(target.others[i]);
	return 0;
}
