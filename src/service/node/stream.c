#include "stream.h"

#include "memory.h"
#include "name.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

enum { STREAMS_MAX = 1 << 16, BUCKETS = 1 << 12, HELD_MAX = 64 };

/* An event that is held back. */
struct held {
	SLIST_ENTRY(held) held;
	uint64_t fence;
	enum node_event_kind kind;
	uint32_t member_size, value_size;
	uint8_t bytes[]; /* the member's name, then the value */
};

struct stream {
	LIST_ENTRY(stream) bucket;
	TAILQ_ENTRY(stream) use;
	TAILQ_ENTRY(stream) due;
	uint64_t hash;
	uint64_t rank; /* the rank of the event that was told last */
	/* No event was told since the stream began, or since an epoch ended. So nothing needs to be
	 * told before the first grant of the epoch; and if this node is the only member, before any
	 * event. */
	bool any_next;
	SLIST_HEAD(, held) held; /* events that are held back, sorted by rank */
	uint32_t held_count;
	uint64_t deadline; /* when the events that are held back must be told */
	uint8_t name_size;
	uint8_t name[];
};

/* Orders the events of one fence: granted, perhaps leader, then released or lost. */
static uint64_t rank_of(uint64_t fence, enum node_event_kind kind)
{
	unsigned place = kind == EVENT_GRANTED ? 0 : kind == EVENT_LEADER ? 1 : 2;
	return fence * 4 + place;
}

static bool is_end(uint64_t rank)
{
	return rank % 4 == 2;
}

/* Is it certain that nothing happened between the two events? */
static bool follows(const struct node *node, uint64_t rank, uint64_t last)
{
	uint64_t fence = rank / 4, fence_last = last / 4;

	if (fence == fence_last)
		return true; /* both events come from one member, in order */
	if (rank % 4 != 0 || !is_end(last))
		return false;
	/* A grant is told only in its own epoch, so this one belongs to the present epoch. */
	return fence == (fence_last > node->base ? fence_last : node->base) + 1;
}

/* Is this the first grant of an epoch? */
static bool is_first(const struct node *node, uint64_t rank)
{
	return rank % 4 == 0 && rank / 4 == node->base + 1;
}

static uint64_t hash_of(const struct node *node, struct slice name)
{
	return name_key(name.bytes, name.size, node->secret);
}

static struct stream *find(const struct streams *streams, struct slice name, uint64_t hash)
{
	struct stream *stream;

	LIST_FOREACH (stream, &streams->buckets[hash % BUCKETS], bucket) {
		if (stream->hash == hash && stream->name_size == name.size &&
		    memcmp(stream->name, name.bytes, name.size) == 0)
			break;
	}
	return stream;
}

static void drop(struct streams *streams, struct stream *stream)
{
	LIST_REMOVE(stream, bucket);
	TAILQ_REMOVE(&streams->use, stream, use);
	if (!SLIST_EMPTY(&stream->held))
		TAILQ_REMOVE(&streams->due, stream, due);
	while (!SLIST_EMPTY(&stream->held)) {
		struct held *held = SLIST_FIRST(&stream->held);
		SLIST_REMOVE_HEAD(&stream->held, held);
		free(held);
	}
	free(stream);
	streams->count--;
}

void streams_init(struct streams *streams)
{
	TAILQ_INIT(&streams->use);
	TAILQ_INIT(&streams->due);
}

void streams_clear(struct streams *streams)
{
	while (!TAILQ_EMPTY(&streams->use))
		drop(streams, TAILQ_FIRST(&streams->use));
	free(streams->buckets);
	streams->buckets = NULL;
}

static struct stream *get_stream(struct streams *streams, struct slice name, uint64_t hash)
{
	if (streams->buckets == NULL) {
		streams->buckets = calloc(BUCKETS, sizeof(*streams->buckets));
		memory_must(streams->buckets != NULL);
	}
	struct stream *stream = find(streams, name, hash);
	if (stream != NULL) {
		TAILQ_REMOVE(&streams->use, stream, use);
		TAILQ_INSERT_TAIL(&streams->use, stream, use);
		return stream;
	}
	stream = calloc(1, sizeof(*stream) + name.size);
	memory_must(stream != NULL);
	stream->hash = hash;
	stream->any_next = true;
	stream->name_size = (uint8_t)name.size;
	memcpy(stream->name, name.bytes, name.size);
	LIST_INSERT_HEAD(&streams->buckets[hash % BUCKETS], stream, bucket);
	TAILQ_INSERT_TAIL(&streams->use, stream, use);
	streams->count++;
	return stream;
}

static uint64_t rank_held(const struct held *held)
{
	return rank_of(held->fence, held->kind);
}

static void tell(struct node *node, struct stream *stream, const struct happening *happening)
{
	stream->rank = rank_of(happening->fence, happening->kind);
	stream->any_next = false;
	interests_tell(node, happening);
}

static void tell_first_held(struct node *node, struct stream *stream)
{
	struct held *held = SLIST_FIRST(&stream->held);
	struct happening happening = {
	        .kind = held->kind,
	        .name = {stream->name, stream->name_size},
	        .member = {held->bytes, held->member_size},
	        .value = {held->bytes + held->member_size, held->value_size},
	        .fence = held->fence,
	};

	SLIST_REMOVE_HEAD(&stream->held, held);
	stream->held_count--;
	if (SLIST_EMPTY(&stream->held))
		TAILQ_REMOVE(&node->streams.due, stream, due);
	tell(node, stream, &happening);
	free(held);
}

/*
 * Is this the first grant of its epoch, while the lock is still closed here by a hold of an older
 * epoch? The end of that hold is on its way and must be told first, even if nobody here was told of
 * its beginning.
 */
static bool is_early(const struct node *node, const struct stream *stream, uint64_t rank)
{
	if (!is_first(node, rank))
		return false;
	const struct lock *lock = table_find(node, (struct slice){stream->name, stream->name_size});
	return lock != NULL && lock->live != NULL && lock->live->closed_by != 0;
}

static void tell_what_follows(struct node *node, struct stream *stream)
{
	while (!SLIST_EMPTY(&stream->held)) {
		uint64_t rank = rank_held(SLIST_FIRST(&stream->held));
		if (!follows(node, rank, stream->rank) || is_early(node, stream, rank))
			break;
		tell_first_held(node, stream);
	}
}

static void hold_back(struct node *node, struct stream *stream, const struct happening *happening)
{
	uint64_t rank = rank_of(happening->fence, happening->kind);
	struct held *before = NULL, *next = SLIST_FIRST(&stream->held);

	while (next != NULL && rank_held(next) < rank) {
		before = next;
		next = SLIST_NEXT(next, held);
	}
	if (next != NULL && rank_held(next) == rank)
		return;
	struct held *held = malloc(sizeof(*held) + happening->member.size + happening->value.size);
	memory_must(held != NULL);
	*held = (struct held){
	        .fence = happening->fence,
	        .kind = happening->kind,
	        .member_size = happening->member.size,
	        .value_size = happening->value.size,
	};
	memcpy(held->bytes, happening->member.bytes, happening->member.size);
	if (happening->value.size != 0)
		memcpy(held->bytes + happening->member.size, happening->value.bytes,
		       happening->value.size);
	if (SLIST_EMPTY(&stream->held)) {
		stream->deadline = node->now + NODE_SILENCE_NS;
		TAILQ_INSERT_TAIL(&node->streams.due, stream, due);
	}
	if (before != NULL)
		SLIST_INSERT_AFTER(before, held, held);
	else
		SLIST_INSERT_HEAD(&stream->held, held, held);
	if (++stream->held_count > HELD_MAX)
		tell_first_held(node, stream);
}

/* If there are too many streams, forgets the least recently used ones; but never one that holds
 * something back, nor the one that was used last. */
static void make_room(struct streams *streams)
{
	struct stream *next, *newest = TAILQ_LAST(&streams->use, stream_list);

	for (struct stream *stream = TAILQ_FIRST(&streams->use);
	     streams->count > STREAMS_MAX && stream != newest; stream = next) {
		next = TAILQ_NEXT(stream, use);
		if (SLIST_EMPTY(&stream->held))
			drop(streams, stream);
	}
}

/* A client here has lost its lock. It has little time to stop, so this event must not wait for
 * missing events before it. Sessions are not told of those any more. */
static bool is_urgent(const struct node *node, const struct happening *happening)
{
	return happening->kind == EVENT_LOST &&
	       happening->member.bytes == (const uint8_t *)node->name;
}

void stream_take(struct node *node, const struct happening *happening)
{
	uint64_t rank = rank_of(happening->fence, happening->kind);
	struct stream *stream =
	        get_stream(&node->streams, happening->name, hash_of(node, happening->name));

	if (rank <= stream->rank)
		return;
	if (is_urgent(node, happening)) {
		while (!SLIST_EMPTY(&stream->held) && rank_held(SLIST_FIRST(&stream->held)) < rank)
			tell_first_held(node, stream);
		tell(node, stream, happening);
		tell_what_follows(node, stream);
		make_room(&node->streams);
		return;
	}
	/* A hold of an older epoch may have been carried into this one, and the event of its end
	 * may still be on its way. */
	bool ended = stream->rank == 0 || is_end(stream->rank);
	bool next =
	        follows(node, rank, stream->rank) ||
	        (stream->any_next && ((is_first(node, rank) && ended) || node->view.count == 1));
	/* An older event that is held back must be told first. */
	if (is_early(node, stream, rank) ||
	    (!SLIST_EMPTY(&stream->held) && rank_held(SLIST_FIRST(&stream->held)) < rank))
		next = false;
	if (next) {
		tell(node, stream, happening);
		tell_what_follows(node, stream);
	} else {
		hold_back(node, stream, happening);
		tell_what_follows(node, stream);
	}
	make_room(&node->streams);
}

void stream_opened(struct node *node, struct slice name)
{
	if (TAILQ_EMPTY(&node->streams.due))
		return;
	struct stream *stream = find(&node->streams, name, hash_of(node, name));
	if (stream != NULL)
		tell_what_follows(node, stream);
}

uint64_t stream_deadline(const struct stream *stream)
{
	return stream->deadline;
}

void streams_expire(struct node *node)
{
	while (streams_deadline(&node->streams) <= node->now) {
		struct stream *stream = TAILQ_FIRST(&node->streams.due);
		tell_first_held(node, stream);
		tell_what_follows(node, stream);
		if (SLIST_EMPTY(&stream->held))
			continue;
		/* There is another gap after this one; it gets its own waiting time. */
		TAILQ_REMOVE(&node->streams.due, stream, due);
		stream->deadline = node->now + NODE_SILENCE_NS;
		TAILQ_INSERT_TAIL(&node->streams.due, stream, due);
	}
}

void streams_flush(struct node *node)
{
	struct stream *stream;

	while (!TAILQ_EMPTY(&node->streams.due))
		tell_first_held(node, TAILQ_FIRST(&node->streams.due));
	TAILQ_FOREACH (stream, &node->streams.use, use)
		stream->any_next = true;
}
