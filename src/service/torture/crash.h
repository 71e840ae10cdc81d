/*
 * The end of a process in a random run, and of its clients.
 */
#ifndef TORTURE_CRASH_H
#define TORTURE_CRASH_H

#include <stdbool.h>
#include <stdint.h>

struct run;

/* A process ends. `leaves`: a member that says goodbye. */
void faults_crash(struct run *run, uint32_t place, bool leaves);

#endif
