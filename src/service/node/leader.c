/*
 * Elections. To be elected is to hold a lock and to have published a value: every member then
 * remembers who leads. The leader's own node knows best whether it still does, so that what others
 * remember counts only while the leader's node is silent. In a new view all is forgotten and
 * published again.
 */
#include "frame.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct publication {
	struct publication *next;
	uint64_t hash, fence;
	uint32_t member;
	uint32_t value_size;
	uint8_t name_size;
	uint8_t bytes[]; /* the name, then the value */
};

static struct publication **find(const struct publications *publications, struct slice name,
                                 uint64_t hash)
{
	struct publication **at = &publications->buckets[hash & (publications->buckets_count - 1)];

	while (*at != NULL && ((*at)->hash != hash || (*at)->name_size != name.size ||
	                       memcmp((*at)->bytes, name.bytes, name.size) != 0))
		at = &(*at)->next;
	return at;
}

static void drop(struct publications *publications, struct publication **at)
{
	struct publication *publication = *at;

	*at = publication->next;
	free(publication);
	publications->count--;
}

void publications_clear(struct publications *publications)
{
	for (uint32_t i = 0; i < publications->buckets_count; i++) {
		while (publications->buckets[i] != NULL)
			drop(publications, &publications->buckets[i]);
	}
}

/* A chain has one publication on average, or fewer. */
static void reserve(struct publications *publications)
{
	struct publications old = *publications;

	if (publications->count < publications->buckets_count)
		return;
	publications->buckets_count = old.buckets_count == 0 ? 64 : old.buckets_count * 2;
	publications->buckets = calloc(publications->buckets_count, sizeof(struct publication *));
	memory_must(publications->buckets != NULL);
	for (uint32_t i = 0; i < old.buckets_count; i++) {
		while (old.buckets[i] != NULL) {
			struct publication *publication = old.buckets[i];
			struct publication **bucket =
			        &publications->buckets[publication->hash &
			                               (publications->buckets_count - 1)];
			old.buckets[i] = publication->next;
			publication->next = *bucket;
			*bucket = publication;
		}
	}
	free(old.buckets);
}

static void remember(struct publications *publications, struct slice name, uint64_t fence,
                     uint32_t member, struct slice value)
{
	uint64_t hash = name_hash(name.bytes, name.size);

	reserve(publications);
	struct publication **at = find(publications, name, hash);
	if (*at != NULL) {
		if ((*at)->fence > fence)
			return;
		drop(publications, at);
	}
	struct publication *publication = malloc(sizeof(*publication) + name.size + value.size);
	memory_must(publication != NULL);
	*publication = (struct publication){
	        .next = *at,
	        .hash = hash,
	        .fence = fence,
	        .member = member,
	        .value_size = value.size,
	        .name_size = (uint8_t)name.size,
	};
	memcpy(publication->bytes, name.bytes, name.size);
	memcpy(publication->bytes + name.size, value.bytes, value.size);
	*at = publication;
	publications->count++;
}

void leader_publish(struct node *node, const struct live *live, uint64_t question)
{
	struct slice name = lock_name(node, live->lock);

	control_begin(node, FRAME_PUBLISH, 0);
	put_uint(node, question);
	put_name(node, name.bytes, name.size);
	put_uint(node, live->fence);
	put_text(node, live->value, live->value_size);
	control_end(node, 0);
}

int on_publish(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);
	uint64_t fence = in_uint(&in);
	struct slice value = in_text(&in, NODE_VALUE_MAX);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	remember(&node->publications, name, fence, frame->origin, value);
	answer_heard(node, question, frame->origin);
	return 0;
}

void leader_ended(struct node *node, struct live *live)
{
	struct slice name = lock_name(node, live->lock);

	control_begin(node, FRAME_ENDED, 0);
	put_name(node, name.bytes, name.size);
	put_uint(node, live->fence);
	control_end(node, 0);
	free(live->value);
	live->value = NULL;
	node->leaders_count--;
}

int on_ended(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	struct slice name = in_name(&in);
	uint64_t fence = in_uint(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (node->publications.buckets_count == 0)
		return 0;
	struct publication **at = find(&node->publications, name, name_hash(name.bytes, name.size));
	if (*at != NULL && (*at)->fence == fence)
		drop(&node->publications, at);
	return 0;
}

/* Who leads, as somebody says; a fence of 0: nobody. */
struct told {
	uint64_t fence;
	uint32_t member;
	struct slice value;
};

/* What this node knows: of its own client, or what it was told. */
static struct told find_leader(const struct node *node, struct slice name)
{
	uint64_t hash = name_hash(name.bytes, name.size);
	const struct lock *lock = lock_find(node, name.bytes, name.size, hash);
	const struct live *live = lock != NULL ? lock->live : NULL;

	if (live != NULL && live->holder != NULL && live->value != NULL)
		return (struct told){live->fence, node->view.self, {live->value, live->value_size}};
	if (node->publications.count == 0)
		return (struct told){.fence = 0};
	const struct publication *publication = *find(&node->publications, name, hash);
	if (publication == NULL)
		return (struct told){.fence = 0};
	return (struct told){
	        publication->fence,
	        publication->member,
	        {publication->bytes + publication->name_size, publication->value_size}};
}

/* What has the greater fence stays. */
static void collect(struct session *session, const struct told *told, uint32_t from)
{
	struct question *question = &session->question;
	struct claim *best = told->member == from ? &question->own : &question->stored;

	if (told->fence <= best->fence)
		return;
	free(best->value);
	best->fence = told->fence;
	best->member = told->member;
	best->value_size = told->value.size;
	best->value = malloc(told->value.size + 1UL);
	memory_must(best->value != NULL);
	if (told->value.size != 0)
		memcpy(best->value, told->value.bytes, told->value.size);
}

int on_ask_leader(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	struct slice name = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	struct told told = find_leader(node, name);
	control_begin(node, FRAME_TELL_LEADER, frame->origin);
	put_uint(node, question);
	put_uint(node, told.fence);
	put_uint(node, told.member);
	put_text(node, told.value.bytes, told.value.size);
	control_end(node, frame->origin);
	return 0;
}

int on_tell_leader(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t number = in_uint(&in);
	struct told told = {.fence = in_uint(&in)};

	told.member =
	        (uint32_t)in_range(&in, told.fence != 0, told.fence != 0 ? node->view.count : 0);
	told.value = in_text(&in, NODE_VALUE_MAX);
	if (!in_end(&in))
		return BATON_EMESSAGE;
	struct session *session = ask_answered(node, number, frame->origin, true);
	if (session == NULL || session->command != COMMAND_LEADER)
		return 0;
	collect(session, &told, frame->origin);
	if (session->question.missing_count == 0)
		ask_finish(node, session);
	return 0;
}

void leader_reply(struct node *node, struct session *session)
{
	struct question *question = &session->question;
	struct told here = find_leader(
	        node, (struct slice){(const uint8_t *)question->name, question->name_size});
	struct span of_name = {0}, of_value = {0};

	collect(session, &here, node->view.self);
	const struct claim *best = &question->own;
	bool silent =
	        question->stored.fence != 0 && question_missing(question, question->stored.member);
	if (silent && question->stored.fence > best->fence)
		best = &question->stored;
	struct span of_silent = ask_keep_silent(node, question);
	if (best->fence != 0) {
		const char *name = node->view.members[best->member - 1].name;
		of_name = outbox_keep(&node->outbox, name, strlen(name));
		of_value = outbox_keep(&node->outbox, best->value, best->value_size);
	}
	uint64_t fence = best->fence;
	session_reply(node, session, fence == 0 ? REPLY_NIL : REPLY_LEADER, fence);
	struct record *record = &node->outbox.records[node->outbox.records_count - 1];
	record->a = of_name;
	record->b = of_value;
	record->c = of_silent;
}
