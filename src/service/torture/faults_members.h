/*
 * The faults of a random run with whole members.
 */
#ifndef TORTURE_FAULTS_MEMBERS_H
#define TORTURE_FAULTS_MEMBERS_H

#include "queue.h"

struct run;

void members_begin(struct run *run);
void members_on_event(struct run *run, const struct event *event);
void members_heal(struct run *run);

#endif
