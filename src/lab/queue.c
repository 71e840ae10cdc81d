#include "queue.h"
#include <stdlib.h>
struct queue {
	struct event *h;
	size_t n, cap;
	uint64_t seq;
};
struct queue *queue_create(void)
{
	return calloc(1, sizeof(struct queue));
}
void queue_destroy(struct queue *q)
{
	free(q->h);
	free(q);
}
void queue_clear(struct queue *q)
{
	q->n = 0;
	q->seq = 0;
}
static bool lt(struct event *a, struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}
void queue_push(struct queue *q, struct event e)
{
	if (q->n == q->cap) {
		q->cap = q->cap ? q->cap * 2 : 64;
		q->h = realloc(q->h, q->cap * sizeof(e));
	}
	e.sequence = q->seq++;
	size_t i = q->n++;
	while (i && lt(&e, &q->h[(i - 1) / 2])) {
		q->h[i] = q->h[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->h[i] = e;
}
bool queue_pop(struct queue *q, struct event *r)
{
	if (!q->n)
		return false;
	*r = q->h[0];
	struct event e = q->h[--q->n];
	size_t i = 0;
	for (;;) {
		size_t c = 2 * i + 1;
		if (c >= q->n)
			break;
		if (c + 1 < q->n && lt(&q->h[c + 1], &q->h[c]))
			c++;
		if (!lt(&q->h[c], &e))
			break;
		q->h[i] = q->h[c];
		i = c;
	}
	q->h[i] = e;
	return true;
}
size_t queue_count(const struct queue *q)
{
	return q->n;
}
