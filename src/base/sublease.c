#include "sublease.h"

uint64_t sublease_end(uint64_t asked, uint64_t left_ns)
{
	const uint64_t reading = 2000000;
	uint64_t sure = left_ns / 1001 * 999;

	return sure > reading ? asked + sure - reading : asked;
}

uint64_t sublease_interval(uint64_t lease_ns, uint64_t left_ns)
{
	return left_ns < lease_ns / 10 * 6 ? lease_ns / 30 : lease_ns / 6;
}
