/*
 * The judge of events: checks what subscribers are told.
 */
#ifndef TORTURE_JUDGE_EVENTS_H
#define TORTURE_JUDGE_EVENTS_H

#include "visitor.h"

struct run;

void judge_subscribed(struct run *run, uint32_t number, uint64_t count);
void judge_event(struct run *run, uint32_t number, const struct node_effect *effect);
/* Call it when a client was let in, or is no longer inside: all subscribers must be told. */
void judge_happened(struct run *run, uint32_t lock, uint64_t fence, enum node_event_kind kind);
/* Checks that everything that events reported did happen, and that all events that are due were
 * delivered. With `quiet`, no more events will come. */
void judge_events(struct run *run, bool quiet);

#endif
