/*
 * The judge of locks: checks what clients see of them.
 */
#ifndef TORTURE_JUDGE_H
#define TORTURE_JUDGE_H

#include "visitor.h"

void judge_init(struct run *run);
void judge_free(struct run *run);
void judge_asked(struct run *run, uint32_t number);
void judge_unlock(struct run *run, uint32_t number, uint32_t hold, int result);
/* Call it before the client's session is closed, or after its process has died. */
void judge_closed(struct run *run, uint32_t number);
void judge_reply(struct run *run, uint32_t number, const struct node_effect *effect);
void judge_lost(struct run *run, uint32_t number, const struct node_effect *effect);
/* Call it when the place has just been told of a view. */
void judge_told(struct run *run, uint32_t place);
void judge_after_event(struct run *run);
void judge_served(struct run *run);
void judge_quiet(struct run *run);
void judge_empty(struct run *run);

#endif
