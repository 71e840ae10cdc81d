#include "feed.h"

#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct feed_message *make_message(enum feed_kind kind, const char *name, const char *data)
{
	size_t room = (name != NULL ? strlen(name) : 0) + strlen(data) + 32;
	struct feed_message *message = malloc(sizeof(*message) + room);

	memory_must(message != NULL);
	message->owners_count = 1;
	message->kind = kind;
	int size = name != NULL
	                   ? snprintf(message->text, room, "event: %s\ndata: %s\n\n", name, data)
	                   : snprintf(message->text, room, "%s\n\n", data);
	message->size = (size_t)size;
	return message;
}

static struct feed_message *own(struct feed_message *message)
{
	message->owners_count++;
	return message;
}

static void disown(struct feed_message *message)
{
	if (message != NULL && --message->owners_count == 0)
		free(message);
}

void feed_init(struct feed *feed)
{
	*feed = (struct feed){0};
	pthread_mutex_init(&feed->mutex, NULL);
	LIST_INIT(&feed->viewers);
}

void feed_free(struct feed *feed)
{
	for (size_t i = 0; i < FEED_RING; i++)
		disown(feed->ring[i]);
	disown(feed->latest);
	pthread_mutex_destroy(&feed->mutex);
}

/* --- viewers --- */

bool feed_join(struct feed *feed, struct viewer *viewer)
{
	pthread_mutex_lock(&feed->mutex);
	viewer->reading = make_message(FEED_BEAT, NULL, "retry: 1000");
	LIST_INSERT_HEAD(&feed->viewers, viewer, all);
	bool first = feed->viewers_count++ == 0;
	pthread_mutex_unlock(&feed->mutex);
	return first;
}

void feed_leave(struct feed *feed, struct viewer *viewer)
{
	pthread_mutex_lock(&feed->mutex);
	disown(viewer->reading);
	LIST_REMOVE(viewer, all);
	/* Without viewers nobody asks for a newer state, so the latest one is dropped. */
	if (--feed->viewers_count == 0) {
		disown(feed->latest);
		feed->latest = NULL;
	}
	pthread_mutex_unlock(&feed->mutex);
}

unsigned feed_viewers(struct feed *feed)
{
	pthread_mutex_lock(&feed->mutex);
	unsigned count = feed->viewers_count;
	pthread_mutex_unlock(&feed->mutex);
	return count;
}

/* Chooses what a viewer reads next. Returns false if there is nothing. */
static bool choose_next(struct feed *feed, struct viewer *viewer)
{
	if (viewer->greeted && feed->next - viewer->next > FEED_RING) {
		char data[64];
		snprintf(data, sizeof(data), "{\"events\":%llu}",
		         (unsigned long long)(feed->next - viewer->next));
		viewer->reading = make_message(FEED_BEAT, "skipped", data);
		viewer->greeted = false;
		return true;
	}
	if (!viewer->greeted) {
		if (feed->latest == NULL)
			return false;
		viewer->reading = own(feed->latest);
		viewer->next = feed->next;
		viewer->greeted = true;
		return true;
	}
	if (viewer->next == feed->next)
		return false;
	viewer->reading = own(feed->ring[viewer->next++ % FEED_RING]);
	return true;
}

ssize_t feed_read(struct feed *feed, struct viewer *viewer, char *room, size_t size)
{
	ssize_t copied = 0;

	pthread_mutex_lock(&feed->mutex);
	if (feed->ended) {
		copied = -1;
	} else if (viewer->reading == NULL && !choose_next(feed, viewer)) {
		viewer->waits = true;
		feed->pause(viewer);
	} else {
		struct feed_message *message = viewer->reading;
		size_t left = message->size - viewer->offset;
		size = size < left ? size : left;
		memcpy(room, message->text + viewer->offset, size);
		viewer->offset += size;
		if (size == left) {
			disown(message);
			viewer->reading = NULL;
			viewer->offset = 0;
		}
		copied = (ssize_t)size;
	}
	pthread_mutex_unlock(&feed->mutex);
	return copied;
}

/* --- publishing --- */

static void wake_all(struct feed *feed)
{
	struct viewer *viewer;

	LIST_FOREACH (viewer, &feed->viewers, all) {
		if (viewer->waits) {
			viewer->waits = false;
			feed->wake(viewer);
		}
	}
}

void feed_publish(struct feed *feed, enum feed_kind kind, const char *name, const char *data)
{
	struct feed_message *message = make_message(kind, name, data);

	pthread_mutex_lock(&feed->mutex);
	struct feed_message **slot = &feed->ring[feed->next++ % FEED_RING];
	disown(*slot);
	*slot = message;
	if (kind == FEED_STATE && feed->viewers_count > 0) {
		disown(feed->latest);
		feed->latest = own(message);
	}
	wake_all(feed);
	pthread_mutex_unlock(&feed->mutex);
}

bool feed_has_state(struct feed *feed)
{
	pthread_mutex_lock(&feed->mutex);
	bool has = feed->latest != NULL;
	pthread_mutex_unlock(&feed->mutex);
	return has;
}

void feed_end(struct feed *feed)
{
	pthread_mutex_lock(&feed->mutex);
	feed->ended = true;
	wake_all(feed);
	pthread_mutex_unlock(&feed->mutex);
}
