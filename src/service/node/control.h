/*
 * Outgoing frames: messages of the algorithm, and control frames.
 *
 * A frame to several members is written once; each member has an effect of its own that refers to
 * it.
 */
#ifndef NODE_CONTROL_H
#define NODE_CONTROL_H

#include "frame.h"
#include "lock.h"

/* Sends a message that is an effect of the algorithm's last step. `same`: it is the message that
 * was sent last, now to another member. */
void message_send(struct node *node, const struct lock *lock, const struct effect *effect,
                  bool same);

/* Begin a control frame, fill it, and send it to one member or to all (0). */
void control_begin(struct node *node, enum frame_kind kind, uint32_t destination);
void control_byte(struct node *node, uint8_t byte);
void control_uint(struct node *node, uint64_t value);
void control_name(struct node *node, struct slice name);
void control_text(struct node *node, struct slice text);
void control_bytes(struct node *node, const uint8_t *bytes, size_t size);
size_t control_size(const struct node *node);
void control_end(struct node *node, uint32_t destination);

/* Passes on a control frame of another member. */
void control_relay(struct node *node, const struct frame *frame);
/* May an event for this member be sent now? If not, counts the event as dropped. */
bool control_may_carry_event(struct node *node, uint32_t destination);
/* Answers a question with yes or no. If only an acknowledgement is wanted, either will do. Question
 * 0 gets no answer. */
void control_answer(struct node *node, uint64_t question, uint32_t to, bool yes);

#endif
