/*
 * What subscribers must be told.
 */
#ifndef TORTURE_JUDGE_EVENTS_H
#define TORTURE_JUDGE_EVENTS_H

#include "visitor.h"

struct run;

void judge_subscribed(struct run *run, uint32_t number, uint64_t count);
void judge_event(struct run *run, uint32_t number, const struct node_effect *effect);
/* Somebody was let in, or is inside no more: whoever wants to know must be told. */
void judge_happened(struct run *run, uint32_t lock, uint64_t fence, enum node_event_kind kind);
/* What events told of must have happened, and what must have been told by now was. `quiet`: nothing
 * will come any more. */
void judge_events(struct run *run, bool quiet);

#endif
