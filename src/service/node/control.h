/*
 * Frames on their way out: messages of the algorithm, and control.
 *
 * A frame to many is written once; each of them has an effect that refers to it.
 */
#ifndef NODE_CONTROL_H
#define NODE_CONTROL_H

#include "frame.h"
#include "lock.h"

/* One message of the algorithm, as an effect of its step says it; `same`: it is the one sent last,
 * now to another member. */
void message_send(struct node *node, const struct lock *lock, const struct effect *effect,
                  bool same);

/* A control frame is begun, filled, and sent: to a member, or to all (0). */
void control_begin(struct node *node, enum frame_kind kind, uint32_t destination);
void control_byte(struct node *node, uint8_t byte);
void control_uint(struct node *node, uint64_t value);
void control_name(struct node *node, struct slice name);
void control_text(struct node *node, struct slice text);
size_t control_size(const struct node *node);
void control_end(struct node *node, uint32_t destination);

/* Control of another member on its way to others. */
void control_relay(struct node *node, const struct frame *frame);
/* May an event for that member be sent now? If not, it is counted as dropped. */
bool control_may_carry_event(struct node *node, uint32_t destination);
/* The answer to a question that wants yes or no, or only to be heard; to question 0 there is
 * none. */
void control_answer(struct node *node, uint64_t question, uint32_t to, bool yes);

#endif
