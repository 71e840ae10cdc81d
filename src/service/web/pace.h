/*
 * Decides when to stop listening to changes. Every change that a node reports costs it work, and
 * viewers see only few of them. So beyond PACE_A_SECOND changes in a second it is better to
 * unsubscribe for a while. The pauses become longer while the cluster stays busy.
 */
#ifndef WEB_PACE_H
#define WEB_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PACE_A_SECOND = 1500, /* the most changes that are listened to in a second */
	PACE_PAUSE_MS = 1000, /* the first pause; each that follows is twice as long */
	PACE_PAUSE_MS_MAX = 8000,
};

/* A struct of zeros: no pause, and no change was counted yet. */
struct pace {
	int64_t second_ms;   /* when the second began in which changes are counted */
	unsigned count;      /* how many changes were counted since second_ms */
	int64_t pause_ms;    /* the length of the latest pause; 0: a calm second has passed since */
	int64_t paused_till; /* when the latest pause ends */
};

/* Call it when listening begins. */
void pace_begin(struct pace *pace, int64_t now_ms);
/* Notes that time has passed while listening. */
void pace_look(struct pace *pace, int64_t now_ms);
/* Counts a change. Returns true if a pause begins: nothing must be listened to until it ends. */
bool pace_count(struct pace *pace, int64_t now_ms);
/* Is there a pause, or has there been no calm second since the last one? Then changes are
 * missing. */
bool pace_is_busy(const struct pace *pace);
bool pace_is_paused(const struct pace *pace, int64_t now_ms);

#endif
