#ifndef LAB_QUEUE_H
#define LAB_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
struct event {
	uint64_t time, sequence;
	uint32_t node, from;
	uint64_t number;
	uint32_t size;
	uint8_t kind, side;
	uint8_t body[10];
};
struct queue;
struct queue *queue_create(void);
void queue_destroy(struct queue *queue);
void queue_push(struct queue *queue, struct event event);
bool queue_pop(struct queue *queue, struct event *ret_event);
void queue_clear(struct queue *queue);
size_t queue_count(const struct queue *queue);
#endif
