#include "lease.h"

#include "rhythm.h"

static const uint64_t millisecond = 1000000;

static void set_deadline(struct lease *lease, uint64_t deadline)
{
	lease->deadline = deadline;
	lease->warn_at = NODE_NEVER;
	lease->grant_until = 0;
	if (deadline != 0) {
		lease->warn_at = deadline - lease->ttl / 2;
		if (!lease->departing)
			lease->grant_until = deadline - lease_margin(lease);
	}
	lease_schedule(lease);
}

void lease_init(struct lease *lease, uint64_t ttl)
{
	*lease = (struct lease){
	        .ttl = ttl,
	        .deadline = NODE_NEVER,
	        .grant_until = NODE_NEVER,
	        .warn_at = NODE_NEVER,
	        .renew_at = NODE_NEVER,
	        .depart_at = NODE_NEVER,
	        .extend_at = NODE_NEVER,
	        .next = NODE_NEVER,
	};
	if (ttl == 0)
		return;
	lease->renew_at = 0;
	set_deadline(lease, 0);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void lease_schedule(struct lease *lease)
{
	uint64_t end = lease->deadline != 0 ? lease->deadline : NODE_NEVER;

	lease->next =
	        earlier(earlier(lease->warn_at, lease->renew_at), earlier(lease->depart_at, end));
}

/* The deadline is rounded down to what the published word can express, so that the node and a
 * client that reads the word agree on when the lease is over. */
bool lease_prolong(struct lease *lease, uint64_t deadline, uint64_t now)
{
	uint64_t rounded = deadline - deadline % millisecond;

	if (lease->ttl == 0 || rounded <= lease->deadline || rounded <= now)
		return false;
	set_deadline(lease, rounded);
	return true;
}

void lease_end(struct lease *lease)
{
	lease->lapses++;
	if (lease->ttl != 0)
		set_deadline(lease, 0);
}

void lease_renew_incarnation(struct lease *lease)
{
	if (!lease->departing)
		return;
	lease->departing = false;
	lease->depart_at = NODE_NEVER;
	if (lease->ttl == 0)
		lease->grant_until = NODE_NEVER;
	else if (lease->deadline != 0)
		lease->grant_until = lease->deadline - lease_margin(lease);
	lease_schedule(lease);
}

uint64_t lease_interval(const struct lease *lease)
{
	return lease->ttl != 0 ? rhythm_interval(lease->ttl) : NODE_BUMP_NS;
}

uint64_t lease_margin(const struct lease *lease)
{
	return lease->ttl / 10;
}

/* Computes the worst case. The last renewal may have been sent just before the death, and the
 * voters may have gathered renewals for one beat (rhythm.h) before they acted on it. They then
 * wait until the lease is over by the slowest clock: clock rates may differ by a thousandth either
 * way. A hundredth of the lease and 2 ms are added for reading the clocks. */
uint64_t lease_takeover(const struct lease *lease)
{
	if (lease->ttl == 0)
		return 0;
	return rhythm_beat(lease->ttl) + lease->ttl / 999 * 1001 + lease->ttl / 100 +
	       2 * millisecond;
}
