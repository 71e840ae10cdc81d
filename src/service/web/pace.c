#include "pace.h"

enum { SECOND_MS = 1000 };

void pace_begin(struct pace *pace, int64_t now_ms)
{
	pace->second_ms = now_ms;
	pace->count = 0;
}

void pace_look(struct pace *pace, int64_t now_ms)
{
	if (now_ms - pace->second_ms < SECOND_MS)
		return;
	pace->pause_ms = 0;
	pace_begin(pace, now_ms);
}

bool pace_count(struct pace *pace, int64_t now_ms)
{
	pace_look(pace, now_ms);
	if (++pace->count <= PACE_A_SECOND)
		return false;
	pace->pause_ms = pace->pause_ms == 0 ? PACE_PAUSE_MS : 2 * pace->pause_ms;
	if (pace->pause_ms > PACE_PAUSE_MS_MAX)
		pace->pause_ms = PACE_PAUSE_MS_MAX;
	pace->paused_till = now_ms + pace->pause_ms;
	return true;
}

bool pace_is_busy(const struct pace *pace)
{
	return pace->pause_ms > 0;
}

bool pace_is_paused(const struct pace *pace, int64_t now_ms)
{
	return pace_is_busy(pace) && now_ms < pace->paused_till;
}
