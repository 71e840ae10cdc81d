/*
 * The simulator's queue of events, earliest first; events of the same time in the order in which
 * they were pushed. What kind of queue this is never changes a result.
 *
 * Time never goes back: an event is not pushed for a time before that of the event popped last.
 * Memory that runs out stops the process.
 */
#ifndef LAB_QUEUE_H
#define LAB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct event {
	uint64_t time;
	uint64_t number; /* the number of the message, or any number of the driver's */
	uint32_t node;
	uint32_t from;
	uint32_t size;
	uint8_t kind;
	uint8_t side;
	uint8_t body[10]; /* the bytes of a short message, or a pointer to those of a long one */
};

struct queue;

struct queue *queue_create(void);
void queue_destroy(struct queue *queue);
/* Removes all events and starts at time 0 again; keeps the memory. */
void queue_clear(struct queue *queue);
/* False if there is none. */
bool queue_pop(struct queue *queue, struct event *ret_event);
size_t queue_count(const struct queue *queue);
/* Bytes that it holds; they never become fewer. */
size_t queue_memory(const struct queue *queue);

/*
 * Pushes an event of which only the time is set. The rest must be filled in before the queue is
 * used again, which is how long the pointer is good.
 */
struct event *queue_place(struct queue *queue, uint64_t time);

/*
 * Here, and field by field, because it saves half the time of a push and a pop: callers have just
 * written the fields one by one, and a processor cannot read them back in wider pieces without
 * waiting for the writes to reach the cache.
 */
static inline void queue_push(struct queue *queue, const struct event *event)
{
	struct event *place = queue_place(queue, event->time);

	place->number = event->number;
	place->node = event->node;
	place->from = event->from;
	place->size = event->size;
	place->kind = event->kind;
	place->side = event->side;
	memcpy(place->body, event->body, sizeof(place->body));
}

#endif
