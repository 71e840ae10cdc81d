/*
 * The simulator's queue of events, earliest first; events of the same time in the order in which
 * they were pushed. Every correct implementation of this queue gives the same results.
 *
 * Time never goes back: no event may be pushed for a time before that of the event popped last. The
 * process stops if memory runs out.
 */
#ifndef LAB_QUEUE_H
#define LAB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct event {
	uint64_t time;
	/* the number of a message; for other events, a number of the driver's own */
	uint64_t number;
	uint32_t node;
	uint32_t from;
	uint32_t size;
	uint8_t kind;
	uint8_t side;
	/* The bytes of a short message, or a pointer to the bytes of a long one. */
	uint8_t body[10];
};

struct queue;

struct queue *queue_create(void);
void queue_destroy(struct queue *queue);
/* Removes all events and starts at time 0 again; keeps the memory. */
void queue_clear(struct queue *queue);
/* Removes the earliest event. Returns false if the queue is empty. */
bool queue_pop(struct queue *queue, struct event *ret_event);
size_t queue_count(const struct queue *queue);
/* Returns how many bytes of memory the queue has. They never become fewer. */
size_t queue_memory(const struct queue *queue);

/*
 * Pushes an event in which only the time is set, and returns it. The caller must fill in the rest
 * before it uses the queue again. After that the pointer is no longer valid.
 */
struct event *queue_place(struct queue *queue, uint64_t time);

/*
 * This function is inline and copies field by field, because that halves the time of a push and a
 * pop. Callers have just written the fields one by one. If they were read back in wider pieces, the
 * processor would have to wait until the writes have reached the cache.
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
