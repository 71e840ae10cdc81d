/*
 * The events of a name, in the order of their fences.
 *
 * They come from different members by different links: "granted 7" of one may overtake "released 6"
 * of another. Within an epoch grants are numbered without gaps, so that a gap is seen: what is behind
 * one is held back until it is filled, or for as long as a member may be silent, or until a client here
 * must hear that it has lost the lock; what comes after that is too late and is not told. Before the first event of a name there may be a gap too, unless
 * it is the first grant of its epoch, or nobody else is there. A stream that nothing has happened on
 * for long may be forgotten for another, and then begins anew; only then could an event come out of
 * order, if it was under way all that time.
 */
#include "internal.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum { STREAMS_MAX = 1 << 16, BUCKETS = 1 << 12, HELD_MAX = 64 };

struct held {
	struct held *next;
	uint64_t fence;
	enum node_event_kind kind;
	uint32_t member_size, value_size;
	uint8_t bytes[]; /* the member's name, then the value */
};

struct stream {
	struct stream *next; /* of the bucket */
	struct stream *older, *newer;
	struct stream *due_previous, *due_next;
	uint64_t hash;
	uint64_t rank;     /* of the event told last */
	bool any_next;     /* what is lost cannot be waited for */
	struct held *held; /* by rank */
	uint32_t held_count;
	uint64_t deadline; /* until when they are held back */
	uint8_t name_size;
	uint8_t name[];
};

/* Events of one fence: granted, perhaps leader, then released or lost. */
static uint64_t rank_of(uint64_t fence, enum node_event_kind kind)
{
	unsigned place = kind == EVENT_GRANTED ? 0 : kind == EVENT_LEADER ? 1 : 2;
	return fence * 4 + place;
}

static bool is_end(uint64_t rank)
{
	return rank % 4 == 2;
}

/* Can nothing have happened in between? */
static bool follows(const struct node *node, uint64_t rank, uint64_t last)
{
	uint64_t fence = rank / 4, fence_last = last / 4;

	if (fence == fence_last)
		return true; /* from one member, in order */
	if (rank % 4 != 0 || !is_end(last))
		return false;
	bool same_epoch = fence >> NODE_COUNTER_BITS == fence_last >> NODE_COUNTER_BITS;
	return same_epoch ? fence == fence_last + 1 : (fence & NODE_COUNTER_MAX) == node->floor + 1;
}

/* The first grant of an epoch. */
static bool is_first(const struct node *node, uint64_t rank)
{
	return rank % 4 == 0 && (rank / 4 & NODE_COUNTER_MAX) == node->floor + 1;
}

static void unlink_use(struct streams *streams, struct stream *stream)
{
	*(stream->older != NULL ? &stream->older->newer : &streams->oldest) = stream->newer;
	*(stream->newer != NULL ? &stream->newer->older : &streams->newest) = stream->older;
}

static void link_use(struct streams *streams, struct stream *stream)
{
	stream->older = streams->newest;
	stream->newer = NULL;
	*(streams->newest != NULL ? &streams->newest->newer : &streams->oldest) = stream;
	streams->newest = stream;
}

static void unlink_due(struct streams *streams, struct stream *stream)
{
	*(stream->due_previous != NULL ? &stream->due_previous->due_next : &streams->due) =
	        stream->due_next;
	*(stream->due_next != NULL ? &stream->due_next->due_previous : &streams->due_last) =
	        stream->due_previous;
	stream->due_previous = stream->due_next = NULL;
}

static void link_due(struct streams *streams, struct stream *stream)
{
	stream->due_previous = streams->due_last;
	*(streams->due_last != NULL ? &streams->due_last->due_next : &streams->due) = stream;
	streams->due_last = stream;
}

static struct stream **find(const struct streams *streams, struct slice name, uint64_t hash)
{
	struct stream **at = &streams->buckets[hash % BUCKETS];

	while (*at != NULL && ((*at)->hash != hash || (*at)->name_size != name.size ||
	                       memcmp((*at)->name, name.bytes, name.size) != 0))
		at = &(*at)->next;
	return at;
}

static void drop(struct streams *streams, struct stream *stream)
{
	struct stream **at =
	        find(streams, (struct slice){stream->name, stream->name_size}, stream->hash);

	*at = stream->next;
	unlink_use(streams, stream);
	if (stream->held != NULL)
		unlink_due(streams, stream);
	while (stream->held != NULL) {
		struct held *next = stream->held->next;
		free(stream->held);
		stream->held = next;
	}
	free(stream);
	streams->count--;
}

void streams_clear(struct streams *streams)
{
	while (streams->oldest != NULL)
		drop(streams, streams->oldest);
	free(streams->buckets);
	streams->buckets = NULL;
}

static struct stream *stream_get(struct streams *streams, struct slice name, uint64_t hash)
{
	if (streams->buckets == NULL) {
		streams->buckets = calloc(BUCKETS, sizeof(struct stream *));
		memory_must(streams->buckets != NULL);
	}
	struct stream *stream = *find(streams, name, hash);
	if (stream != NULL) {
		unlink_use(streams, stream);
		link_use(streams, stream);
		return stream;
	}
	stream = calloc(1, sizeof(*stream) + name.size);
	memory_must(stream != NULL);
	stream->hash = hash;
	stream->any_next = true;
	stream->name_size = (uint8_t)name.size;
	memcpy(stream->name, name.bytes, name.size);
	stream->next = streams->buckets[hash % BUCKETS];
	streams->buckets[hash % BUCKETS] = stream;
	link_use(streams, stream);
	streams->count++;
	return stream;
}

static void tell(struct node *node, struct stream *stream, const struct happening *happening)
{
	stream->rank = rank_of(happening->fence, happening->kind);
	stream->any_next = false;
	event_deliver(node, happening);
}

static void tell_first_held(struct node *node, struct stream *stream)
{
	struct held *held = stream->held;
	struct happening happening = {
	        .kind = held->kind,
	        .name = {stream->name, stream->name_size},
	        .member = {held->bytes, held->member_size},
	        .value = {held->bytes + held->member_size, held->value_size},
	        .fence = held->fence,
	};

	stream->held = held->next;
	stream->held_count--;
	if (stream->held == NULL)
		unlink_due(&node->streams, stream);
	tell(node, stream, &happening);
	free(held);
}

/*
 * Is a grant the first of its epoch, while whoever has the lock by an older one has not returned it
 * yet, for all that is known here? The end of that hold is under way, even if nobody here was told of
 * its beginning.
 */
static bool is_early(const struct node *node, const struct stream *stream, uint64_t rank)
{
	if (!is_first(node, rank))
		return false;
	const struct lock *lock = lock_find(node, stream->name, stream->name_size, stream->hash);
	return lock != NULL && lock->live != NULL && lock->live->closed_by != 0;
}

static void tell_what_follows(struct node *node, struct stream *stream)
{
	while (stream->held != NULL) {
		uint64_t rank = rank_of(stream->held->fence, stream->held->kind);
		if (!follows(node, rank, stream->rank) || is_early(node, stream, rank))
			break;
		tell_first_held(node, stream);
	}
}

static void hold_back(struct node *node, struct stream *stream, const struct happening *happening)
{
	uint64_t rank = rank_of(happening->fence, happening->kind);
	struct held **at = &stream->held;

	while (*at != NULL && rank_of((*at)->fence, (*at)->kind) < rank)
		at = &(*at)->next;
	if (*at != NULL && rank_of((*at)->fence, (*at)->kind) == rank)
		return;
	struct held *held = malloc(sizeof(*held) + happening->member.size + happening->value.size);
	memory_must(held != NULL);
	*held = (struct held){
	        .next = *at,
	        .fence = happening->fence,
	        .kind = happening->kind,
	        .member_size = happening->member.size,
	        .value_size = happening->value.size,
	};
	memcpy(held->bytes, happening->member.bytes, happening->member.size);
	if (happening->value.size != 0)
		memcpy(held->bytes + happening->member.size, happening->value.bytes,
		       happening->value.size);
	if (stream->held == NULL) {
		stream->deadline = node->now + NODE_SILENCE_NS;
		link_due(&node->streams, stream);
	}
	*at = held;
	if (++stream->held_count > HELD_MAX)
		tell_first_held(node, stream);
}

/* The stream used last goes on; another one that holds nothing back makes room. */
static void make_room(struct streams *streams)
{
	struct stream *stream = streams->oldest;

	while (streams->count > STREAMS_MAX && stream != streams->newest) {
		struct stream *newer = stream->newer;
		if (stream->held == NULL)
			drop(streams, stream);
		stream = newer;
	}
}

/* A lock that a client here has lost: it has little time to stop, and must not hear of it late because of a gap
 * before it. What is missing there is not told then. */
static bool is_urgent(const struct node *node, const struct happening *happening)
{
	return happening->kind == EVENT_LOST &&
	       happening->member.bytes == (const uint8_t *)node->name;
}

void stream_take(struct node *node, const struct happening *happening)
{
	uint64_t rank = rank_of(happening->fence, happening->kind);
	struct stream *stream = stream_get(&node->streams, happening->name,
	                                   name_hash(happening->name.bytes, happening->name.size));

	if (rank <= stream->rank)
		return;
	if (is_urgent(node, happening)) {
		while (stream->held != NULL &&
		       rank_of(stream->held->fence, stream->held->kind) < rank)
			tell_first_held(node, stream);
		tell(node, stream, happening);
		tell_what_follows(node, stream);
		make_room(&node->streams);
		return;
	}
	/* Of a hold that was carried into the epoch the end may still be under way. */
	bool ended = stream->rank == 0 || is_end(stream->rank);
	bool next =
	        follows(node, rank, stream->rank) ||
	        (stream->any_next && ((is_first(node, rank) && ended) || node->view.count == 1));
	/* Something older that is held back goes first, whatever it waits for. */
	if (is_early(node, stream, rank) ||
	    (stream->held != NULL && rank_of(stream->held->fence, stream->held->kind) < rank))
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
	if (node->streams.due == NULL)
		return;
	struct stream *stream = *find(&node->streams, name, name_hash(name.bytes, name.size));
	if (stream != NULL)
		tell_what_follows(node, stream);
}

uint64_t stream_deadline(const struct node *node)
{
	return node->streams.due != NULL ? node->streams.due->deadline : NODE_NEVER;
}

void stream_expire(struct node *node)
{
	while (stream_deadline(node) <= node->now) {
		struct stream *stream = node->streams.due;
		tell_first_held(node, stream);
		tell_what_follows(node, stream);
		if (stream->held == NULL)
			continue;
		/* Another gap, which has not been waited for yet. */
		unlink_due(&node->streams, stream);
		stream->deadline = node->now + NODE_SILENCE_NS;
		link_due(&node->streams, stream);
	}
}

void streams_flush(struct node *node)
{
	while (node->streams.due != NULL)
		tell_first_held(node, node->streams.due);
	for (struct stream *stream = node->streams.oldest; stream != NULL; stream = stream->newer)
		stream->any_next = true;
}
