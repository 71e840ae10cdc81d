/*
 * Faults at the moment at which they hurt most: when somebody begins or ceases to lead.
 */
#ifndef TORTURE_SPITE_H
#define TORTURE_SPITE_H

#include <stdint.h>

struct run;

/* Somebody leads now, or no more: another client soon asks who does, perhaps while the leader's node is
 * silent, perhaps when all members have heard of it. */
void faults_spite(struct run *run, uint32_t place, uint32_t lock);
/* Somebody wants to lead: a member may hear of it late. */
void faults_campaign(struct run *run, uint32_t place);

/* A link is slow until then. */
void faults_stall(struct run *run, uint32_t from, uint32_t to, uint64_t until);
/* A member is not heard for a while, perhaps. */
void faults_silence(struct run *run, uint32_t place);

#endif
