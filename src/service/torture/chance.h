/*
 * Random numbers in streams: the n-th draw of a stream depends only on seed, stream and n. The
 * draws of one part of a run do not change those of another part. So shrink.h can leave out faults
 * one by one without changing the others.
 */
#ifndef TORTURE_CHANCE_H
#define TORTURE_CHANCE_H

#include "must.h"

#include <stdbool.h>
#include <stdint.h>

struct chance {
	uint64_t key, count;
};

/* The last step of splitmix64. */
static inline uint64_t chance_mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

static inline struct chance chance_stream(uint64_t seed, uint64_t stream, uint64_t part)
{
	return (struct chance){chance_mix(seed + UINT64_C(0x9e3779b97f4a7c15)) ^
	                               chance_mix(stream * UINT64_C(0xd1342543de82ef95) + part),
	                       0};
}

static inline uint64_t chance_next(struct chance *chance)
{
	return chance_mix(chance->key + ++chance->count * UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t chance_below(struct chance *chance, uint64_t bound)
{
	must(bound > 0);
	return chance_next(chance) % bound;
}

static inline uint64_t chance_between(struct chance *chance, uint64_t least, uint64_t most)
{
	return least + chance_below(chance, most - least + 1);
}

static inline bool chance_percent(struct chance *chance, uint32_t percent)
{
	return chance_below(chance, 100) < percent;
}

#endif
