/*
 * Feeds bytes as entries and snapshots of the agreed membership. It must not crash. A refused
 * snapshot changes nothing. Any entry moves the state by one index, and the state is the same after
 * it was written and read.
 *
 * The input is a little program: a snapshot, which may be malformed, and entries, each a size and
 * bytes.
 */
#include "must.h"
#include "outbuffer.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct state_settings settings = {
        .lease_ns = UINT64_C(3000000000), .base = 1000, .block = 100};

/* A piece of the input, in memory of its own, so that reading beyond its end is noticed. */
struct piece {
	uint8_t *bytes;
	size_t size;
};

static struct piece take_piece(const uint8_t **data, size_t *size)
{
	size_t length = 0;

	if (*size > 0) {
		length = **data;
		++*data;
		--*size;
	}
	if (length == UINT8_MAX) /* a long piece: half of the rest */
		length = *size / 2;
	if (length > *size)
		length = *size;
	struct piece piece = {malloc(length + (length == 0)), length};
	must(piece.bytes != NULL);
	memcpy(piece.bytes, *data, length);
	*data += length;
	*size -= length;
	return piece;
}

static bool is_same(const struct out *left, const struct out *right)
{
	return left->bytes_count == right->bytes_count &&
	       memcmp(left->bytes, right->bytes, left->bytes_count) == 0;
}

static void write_state(const struct agreed_state *state, struct out *out)
{
	out_clear(out);
	state_write(state, out);
}

/* Reading a snapshot of a state makes the same state. */
static void check_copy(const struct agreed_state *state, struct out *first, struct out *second)
{
	struct agreed_state copy;

	write_state(state, first);
	state_init(&copy, &settings);
	must(state_read(&copy, first->bytes, first->bytes_count));
	write_state(&copy, second);
	must(is_same(first, second));
	state_free(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct agreed_state state;
	struct out before, after;

	out_init(&before);
	out_init(&after);
	state_init(&state, &settings);
	struct piece snapshot = take_piece(&data, &size);
	write_state(&state, &before);
	bool restored = state_read(&state, snapshot.bytes, snapshot.size);
	free(snapshot.bytes);
	write_state(&state, &after);
	must(restored || is_same(&before, &after));
	check_copy(&state, &before, &after);
	while (size > 0 && state.index < UINT64_MAX) {
		struct piece entry = take_piece(&data, &size);
		uint64_t index = state.index + 1;
		state_apply(&state, index, entry.bytes, entry.size);
		must(state.index == index);
		check_copy(&state, &before, &after);
		free(entry.bytes);
	}
	state_free(&state);
	out_free(&before);
	out_free(&after);
	return 0;
}
