/*
 * The faults of a random run: stalls, crashes and changes of the view.
 */
#ifndef TORTURE_FAULTS_H
#define TORTURE_FAULTS_H

#include "queue.h"

struct run;

void faults_begin(struct run *run);
void faults_on_event(struct run *run, const struct event *event);
void faults_bump(struct run *run, uint64_t epoch);
/* Ends all faults. All living processes become members. */
void faults_heal(struct run *run);

#endif
