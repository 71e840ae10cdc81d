/*
 * STATUS: finds the order in which waiters of several members will be let in.
 *
 * Only the states of the algorithm tell this: those of all members at one moment at which no
 * message is in flight. So the members are asked twice. Their answers to STATUS say how many steps
 * they had taken (pace.h). When all answers are there, the member that asks knows for which locks
 * clients of several members wait, and asks for the states of these locks. If no member has taken a
 * step between its two answers, all these states existed together when the last answer to the first
 * question arrived, and so did the counts of messages. If these counts add up to 0, no message was
 * in flight then. In that case the algorithm is asked for its queue (queue_at_rest). In all other
 * cases the waiters stay sorted by member.
 *
 * A member answers for each lock: its steps and its balance (pace.h), the size of its state and the
 * state; the size is 0 if the state is not known.
 */
#ifndef NODE_STATUS_ORDER_H
#define NODE_STATUS_ORDER_H

#include "frame.h"
#include "session.h"

struct status;

/*
 * If all members have answered a STATUS, and their states may tell the order of waiters, asks them
 * for these states and returns true. Then the status belongs to the session's question.
 */
bool order_ask(struct node *node, struct session *session, struct status *status);
/* Sorts the waiters by what the members have answered, and returns the status. The question no
 * longer has it. */
struct status *order_finish(struct node *node, struct question *question);

/* Handlers of frames. They return 0; or BATON_EMESSAGE, and then they have changed nothing. */
int on_ask_states(struct node *node, const struct frame *frame);
int on_tell_states(struct node *node, const struct frame *frame);

#endif
