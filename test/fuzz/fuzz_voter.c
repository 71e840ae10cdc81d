/*
 * A voter that gets letters and petitions of a member that lies. It may believe them, but they must
 * not end it. libraft is compiled without assertions, so that the sanitizers see what it would do.
 *
 * The input is a little program: letters of servers 2 to 4, petitions, time, and ends of writes.
 */
#include "must.h"
#include "voter.h"

#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct target {
	struct voter *voter;
	uint64_t now, write;
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

static struct voter *make_voter(uint32_t servers_count, uint64_t now)
{
	static const struct replica_server servers[] = {{1, "1 127.0.0.1:1 a", REPLICA_VOTER},
	                                                {2, "2 127.0.0.1:2 b", REPLICA_VOTER},
	                                                {3, "3 127.0.0.1:3 c", REPLICA_VOTER}};
	struct durable_entry first;

	must(replica_first_entry(servers, servers_count, &first));
	struct durable_content content = {
	        .term = 1, .log_start = 1, .entries = &first, .entries_count = 1};
	struct voter *voter = voter_create(
	        &(struct voter_options){.id = 1,
	                                .name = "a",
	                                .address = "127.0.0.1:1",
	                                .content = &content,
	                                .settings = {.lease_ns = 3000 * MS, .base = 9, .block = 99},
	                                .wiring = {.complete = true},
	                                .snapshot_every = 4,
	                                .seed = 1},
	        now);
	free((void *)(uintptr_t)first.bytes);
	return voter;
}

/* Writes become durable at once, or when the input says so. */
static void take_effects(struct target *target, bool writes)
{
	struct voter_effect effect;
	static uint64_t issued;

	if (target->write == 0)
		issued = 0;
	while (voter_effect(target->voter, &effect)) {
		if (effect.kind == VOTER_WRITE)
			issued = effect.write->number;
	}
	while (writes && target->write < issued) {
		voter_written(target->voter, ++target->write, target->now);
		while (voter_effect(target->voter, &effect)) {
			if (effect.kind == VOTER_WRITE)
				issued = effect.write->number;
		}
	}
}

/* A piece of the input after `head`, in memory of its own, so that reading beyond its end is
 * noticed. */
static uint8_t *take_piece(struct target *target, const uint8_t *head, size_t head_size,
                           size_t *ret_size)
{
	size_t length = next_byte(target);

	if (length > target->size)
		length = target->size;
	uint8_t *piece = malloc(head_size + length + 1);
	must(piece != NULL);
	if (head_size > 0)
		memcpy(piece, head, head_size);
	memcpy(piece + head_size, target->data, length);
	target->data += length;
	target->size -= length;
	*ret_size = head_size + length;
	return piece;
}

static void step(struct target *target)
{
	uint8_t what = next_byte(target);
	size_t size;

	if (what < 128) {
		const uint8_t head[] = {1, (uint8_t)(2 + what % 3)};
		uint8_t *letter = take_piece(target, head, sizeof(head), &size);
		(void)voter_letter(target->voter, letter, size, target->now);
		free(letter);
	} else if (what < 192) {
		uint8_t *petition = take_piece(target, NULL, 0, &size);
		(void)voter_petition(target->voter, petition, size, target->now);
		free(petition);
	} else if (what < 240) {
		target->now += next_byte(target) * 10 * MS;
		voter_tick(target->voter, target->now);
	} else if (what < 244) {
		struct log_entry order = {.kind = what % 2 == 0 ? ENTRY_FORBID : ENTRY_ALLOW,
		                          .name = entry_text_of(what < 242 ? "b" : "stranger"),
		                          .order = {1, next_byte(target)}};
		(void)voter_request(target->voter, &order, target->now);
	} else {
		take_effects(target, true);
	}
	take_effects(target, what % 8 != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct target target = {.data = data, .size = size, .now = 1000 * MS};

	if (size < 1)
		return 0;
	uint8_t first = next_byte(&target);
	target.voter = make_voter(1 + first % 3, target.now);
	take_effects(&target, true);
	/* A lone voter leads soon; with three, an election is begun. */
	for (int i = 0; first >= 128 && i < 8; i++) {
		target.now += 500 * MS;
		voter_tick(target.voter, target.now);
		take_effects(&target, true);
	}
	while (target.size > 0)
		step(&target);
	voter_destroy(target.voter);
	return 0;
}
