/*
 * The simulator's queue of events, earliest first; events of the same time in the order in which
 * they were pushed. What kind of queue this is never changes a result.
 *
 * Time never goes back: an event is not pushed for a time before that of the event popped last.
 */
#ifndef LAB_QUEUE_H
#define LAB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	uint64_t time;
	uint64_t number; /* the message's number, or what the driver wants */
	uint32_t node;
	uint32_t from;
	uint32_t size;
	uint8_t kind;
	uint8_t side;
	uint8_t body[10]; /* a short message's bytes, or where they are */
};

struct queue;

struct queue *queue_create(void);
void queue_destroy(struct queue *queue);
/* Forgets all events, and what time it was; keeps its memory. */
void queue_clear(struct queue *queue);
void queue_push(struct queue *queue, const struct event *event);
/* False if there is none. */
bool queue_pop(struct queue *queue, struct event *ret_event);
size_t queue_count(const struct queue *queue);

#endif
