/*
 * Commands under `baton run`. A command does not know of leases and goes on until it is stopped.
 * Two processes watch the lease word, independently of each other and of the node: the guardian,
 * which kills the command a margin before the deadline, and `baton run`, which does so half a
 * margin later if the command still runs. Either of them may itself be stopped.
 */
#ifndef TORTURE_GUARDS_H
#define TORTURE_GUARDS_H

#include "actor.h"

/* Returns how long a command may take to end after it was told to. */
uint64_t guards_grace(const struct realm *realm);
/* Call it when the lease word of a host has changed, or a command has just begun. */
void guards_look(struct realm *realm, uint32_t place);
/* Stops one watcher of each command on the host, never both. */
void guards_pause(struct realm *realm, uint32_t place, uint32_t watcher, uint64_t until);
/* Call it when a suspended host runs again: timers that are due fire before a command does
 * anything. */
void guards_resumed(struct realm *realm, uint32_t place);
void guards_on_event(struct realm *realm, const struct event *event);

#endif
