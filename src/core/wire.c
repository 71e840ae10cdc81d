#include "wire.h"

#include "algorithm.h"

static void need_bytes(struct out *out, uint32_t bytes)
{
	if (out->bytes_size - out->bytes_count < bytes)
		out->grow(out, bytes);
}

static struct effect *add_effect(struct out *out, enum effect_kind kind)
{
	if (out->effects_count == out->effects_size)
		out->grow(out, 0);
	struct effect *effect = &out->effects[out->effects_count++];
	*effect = (struct effect){.kind = kind};
	return effect;
}

void out_message(struct out *out, uint8_t type)
{
	need_bytes(out, 1);
	out->message = out->bytes_count;
	out->bytes[out->bytes_count++] = type;
}

void out_uint(struct out *out, uint64_t value)
{
	need_bytes(out, 10);
	while (value >= 0x80) {
		out->bytes[out->bytes_count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out->bytes[out->bytes_count++] = (uint8_t)value;
}

void out_int(struct out *out, int64_t value)
{
	out_uint(out, value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1);
}

void out_send(struct out *out, uint32_t to)
{
	struct effect *effect = add_effect(out, EFFECT_SEND);
	effect->node = to;
	effect->offset = out->message;
	effect->size = out->bytes_count - out->message;
}

void out_send_side(struct out *out, const struct site *site, enum side side)
{
	out_send(out, side == SIDE_LEFT ? site->left : site->right);
	out->effects[out->effects_count - 1].side = side;
}

void out_enter(struct out *out)
{
	add_effect(out, EFFECT_ENTER);
}

void out_elected(struct out *out, uint32_t identifier)
{
	add_effect(out, EFFECT_ELECTED)->node = identifier;
}

void out_regenerated(struct out *out)
{
	add_effect(out, EFFECT_REGENERATED);
}

void out_arm(struct out *out, uint32_t timer, uint32_t delays)
{
	must(timer < TIMERS_MAX);
	struct effect *effect = add_effect(out, EFFECT_ARM);
	effect->node = timer;
	effect->size = delays;
}

void out_disarm(struct out *out, uint32_t timer)
{
	must(timer < TIMERS_MAX);
	add_effect(out, EFFECT_DISARM)->node = timer;
}

struct in in_message(const struct message *message)
{
	must(message->size >= 1);
	return (struct in){.next = message->body + 1, .end = message->body + message->size};
}

uint64_t in_uint(struct in *in)
{
	uint64_t value = 0;
	for (unsigned shift = 0; !in->bad && in->next < in->end; shift += 7) {
		uint8_t byte = *in->next++;
		bool too_large = shift == 63 && byte > 1;
		bool overlong = shift > 0 && byte == 0;
		if (too_large || overlong)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	in->bad = true;
	return 0;
}

int64_t in_int(struct in *in)
{
	uint64_t value = in_uint(in);
	return (int64_t)(value & 1 ? ~(value >> 1) : value >> 1);
}

uint64_t in_range(struct in *in, uint64_t least, uint64_t most)
{
	uint64_t value = in_uint(in);
	if (value < least || value > most)
		in->bad = true;
	return in->bad ? 0 : value;
}

/* Without memory for a set of them all, they are looked at a piece of the range at a time. */
bool in_distinct(const struct in *in, uint32_t count, uint32_t most)
{
	enum { PIECE = 2048 };

	for (uint64_t first = 0; first <= most; first += PIECE) {
		uint8_t seen[PIECE / 8] = {0};
		struct in again = *in;

		for (uint32_t k = 0; k < count; k++) {
			uint64_t place = in_uint(&again) - first;
			if (place >= PIECE)
				continue;
			if (seen[place / 8] & 1u << place % 8)
				return false;
			seen[place / 8] |= (uint8_t)(1u << place % 8);
		}
	}
	return true;
}

bool in_end(const struct in *in)
{
	return !in->bad && in->next == in->end;
}
