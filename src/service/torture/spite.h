/*
 * Faults at the worst moment: when a client begins or ceases to lead.
 */
#ifndef TORTURE_SPITE_H
#define TORTURE_SPITE_H

#include <stdint.h>

struct run;

/* Call it when a client has begun or ceased to lead. Another client will soon ask who leads:
 * perhaps while the leader's node is silent, perhaps when all members have heard of the change. */
void faults_spite(struct run *run, uint32_t place, uint32_t lock);
/* Call it when a client wants to lead. A member may hear of it late. */
void faults_campaign(struct run *run, uint32_t place);

/* Makes a link slow until that time. */
void faults_stall(struct run *run, uint32_t from, uint32_t to, uint64_t until);
/* Silences a member for a while, with some chance. */
void faults_silence(struct run *run, uint32_t place);

#endif
