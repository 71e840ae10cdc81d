/*
 * Commands under `baton run`: a command does not know of leases and goes on until it is stopped. Two
 * processes watch the lease word by timers of their own, need no other process for it, and either may
 * itself be stopped: the guardian, which kills the command a margin before the deadline, and `baton
 * run`, which does so half a margin later if the command still runs.
 */
#ifndef TORTURE_GUARDS_H
#define TORTURE_GUARDS_H

#include "actor.h"

/* How long a command may take to end after it was told to. */
uint64_t guards_grace(const struct realm *realm);
/* What is published for a host has changed, or a command has just begun. */
void guards_look(struct realm *realm, uint32_t place);
/* A watcher of each command on the host is stopped; never both. */
void guards_pause(struct realm *realm, uint32_t place, uint32_t watcher, uint64_t until);
/* The host was suspended and runs again: timers that are due go off before a command does anything. */
void guards_resumed(struct realm *realm, uint32_t place);
void guards_on_event(struct realm *realm, const struct event *event);

#endif
