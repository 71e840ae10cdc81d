#include "wire.h"

#include "algorithm.h"

void out_int(struct out *out, int64_t value)
{
	out_uint(out, value < 0 ? ~((uint64_t)value << 1) : (uint64_t)value << 1);
}

void out_send_side(struct out *out, const struct site *site, enum side side)
{
	out_send(out, side == SIDE_LEFT ? site->left : site->right);
	out->effects[out->effects_count - 1].send.side = side;
}

void out_elected(struct out *out, uint32_t identifier)
{
	out_effect(out, EFFECT_ELECTED)->elected.identifier = identifier;
}

void out_regenerated(struct out *out)
{
	out_effect(out, EFFECT_REGENERATED);
}

void out_arm(struct out *out, uint32_t timer, uint32_t delays)
{
	must(timer < TIMERS_MAX);
	struct effect *effect = out_effect(out, EFFECT_ARM);
	effect->timer.number = timer;
	effect->timer.delays = delays;
}

void out_disarm(struct out *out, uint32_t timer)
{
	must(timer < TIMERS_MAX);
	out_effect(out, EFFECT_DISARM)->timer.number = timer;
}

int64_t in_int(struct in *in)
{
	uint64_t value = in_uint(in);
	return (int64_t)(value & 1 ? ~(value >> 1) : value >> 1);
}

/* Core allocates nothing, so there is no room for a set of all numbers. The search makes several
 * passes, each for a part of the range. */
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
