/*
 * The end of a process in a random run, and what becomes of its clients.
 */
#ifndef TORTURE_CRASH_H
#define TORTURE_CRASH_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* Ends a process. `leaves`: it is a member that says goodbye first. */
void faults_crash(struct run *run, uint32_t place, bool leaves);

#endif
