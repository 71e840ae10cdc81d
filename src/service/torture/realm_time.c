#include "lease_clock.h"
#include "realm.h"

static uint64_t clock_at(const struct realm_host *host, uint64_t time)
{
	uint64_t passed = time - host->booted_at;
	/* Compute in whole microseconds, so that nothing overflows. */
	int64_t off = (int64_t)(passed / 1000) * host->drift_ppm / 1000;

	return host->clock_base + passed + (uint64_t)off;
}

uint64_t realm_clock(const struct realm *realm, uint32_t place)
{
	return clock_at(&realm->hosts[place], realm->now);
}

/* --- reading the lease clock --- */

struct reading {
	const struct realm_host *host;
	struct torn_reading torn;
	uint64_t now;
	uint32_t parts; /* how many clocks were read so far */
};

/*
 * BOOTTIME and MONOTONIC run wrong by a twentieth, as if a daemon that sets the time slewed them.
 * Only the last suspension of the host matters, because all readings include the earlier ones.
 */
static uint64_t read_part(void *context, enum lease_clock_part part)
{
	struct reading *reading = context;
	uint64_t time = reading->parts++ < reading->torn.parts ? reading->torn.from : reading->now;
	uint64_t clock = clock_at(reading->host, time);
	uint64_t slewed = clock + (time - reading->host->booted_at) / 20;
	uint64_t suspended = 0;

	if (reading->torn.suspended && time == reading->now)
		suspended = (time < reading->torn.until ? time : reading->torn.until) -
		            reading->torn.from;
	switch (part) {
	case LEASE_CLOCK_BOOT:
		return slewed;
	case LEASE_CLOCK_MONOTONIC:
		return slewed - suspended;
	case LEASE_CLOCK_RAW:
		return clock - suspended;
	}
	return 0;
}

uint64_t realm_read(struct realm *realm, uint32_t place, enum realm_reader reader)
{
	struct realm_host *host = &realm->hosts[place];
	struct torn_reading *torn = &host->torn[reader];
	struct reading reading = {.host = host, .torn = *torn, .now = realm->now};

	if (torn->until == 0)
		return realm_clock(realm, place);
	torn->until = 0;
	return lease_clock_read(read_part, &reading);
}

uint64_t realm_when(const struct realm *realm, uint32_t place, uint64_t clock)
{
	const struct realm_host *host = &realm->hosts[place];
	uint64_t here = realm_clock(realm, place);

	if (clock <= here)
		return realm->now;
	uint64_t ahead = clock - here;
	/* Round up, because a timer that fires early has to fire again. */
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
