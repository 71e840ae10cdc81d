/*
 * The judge of answers to LEADER, BREAK and STATUS.
 */
#ifndef TORTURE_JUDGE_ANSWERS_H
#define TORTURE_JUDGE_ANSWERS_H

#include "visitor.h"

struct run;

void judge_leader(struct run *run, uint32_t number, const struct node_effect *effect);
void judge_elected(struct run *run, uint32_t number, uint64_t fence);
void judge_campaign_ended(struct run *run, int32_t campaign);
void judge_break(struct run *run, uint32_t number, const struct node_effect *effect);
void judge_status(struct run *run, uint32_t number, const struct node_effect *effect);

#endif
