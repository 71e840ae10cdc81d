#include "realm.h"

uint64_t realm_clock(const struct realm *realm, uint32_t place)
{
	const struct realm_host *host = &realm->hosts[place];
	uint64_t passed = realm->now - host->booted_at;
	/* Compute in whole microseconds, so that nothing overflows. */
	int64_t off = (int64_t)(passed / 1000) * host->drift_ppm / 1000;

	return host->clock_base + passed + (uint64_t)off;
}

uint64_t realm_when(const struct realm *realm, uint32_t place, uint64_t clock)
{
	const struct realm_host *host = &realm->hosts[place];
	uint64_t here = realm_clock(realm, place);

	if (clock <= here)
		return realm->now;
	uint64_t ahead = clock - here;
	/* Rather a little late than early: a timer that fires early has to fire again. */
	uint64_t rate = (uint64_t)(1000000 + host->drift_ppm);
	return realm->now + ahead / rate * 1000000 + ahead % rate * 1000000 / rate + 2000;
}

void realm_push(struct realm *realm, uint64_t time, enum realm_event kind, uint32_t place,
                uint64_t number, uint32_t from)
{
	queue_push(realm->queue, &(struct event){.time = time < realm->now ? realm->now : time,
	                                         .kind = (uint8_t)kind,
	                                         .node = place,
	                                         .number = number,
	                                         .from = from});
}
