#include "interest.h"

#include "glob.h"
#include "memory.h"
#include "name.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* --- topics --- */

static struct topic_list *bucket_of(const struct interests *interests, uint64_t hash)
{
	return &interests->buckets[hash & (interests->buckets_count - 1)];
}

/* Makes room for one more topic. Keeps the average chain at one topic or fewer. */
static void reserve(struct interests *interests)
{
	struct interests old = *interests;

	if (interests->topics_count < interests->buckets_count)
		return;
	interests->buckets_count = old.buckets_count == 0 ? 16 : old.buckets_count * 2;
	interests->buckets = calloc(interests->buckets_count, sizeof(*interests->buckets));
	memory_must(interests->buckets != NULL);
	for (uint32_t i = 0; i < old.buckets_count; i++) {
		while (!LIST_EMPTY(&old.buckets[i])) {
			struct topic *topic = LIST_FIRST(&old.buckets[i]);
			LIST_REMOVE(topic, bucket);
			LIST_INSERT_HEAD(bucket_of(interests, topic->hash), topic, bucket);
		}
	}
	free(old.buckets);
}

static uint64_t hash_of(const struct interests *interests, struct slice text)
{
	return name_key(text.bytes, text.size, interests->secret);
}

struct topic *topic_find(const struct interests *interests, bool pattern, struct slice text)
{
	struct topic *topic;

	if (interests->topics_count == 0)
		return NULL;
	uint64_t hash = hash_of(interests, text);
	LIST_FOREACH (topic, bucket_of(interests, hash), bucket) {
		if (topic->hash == hash && topic->pattern == pattern && topic->size == text.size &&
		    memcmp(topic->text, text.bytes, text.size) == 0)
			break;
	}
	return topic;
}

static struct topic *topic_add(struct interests *interests, bool pattern, struct slice text)
{
	struct topic *topic = malloc(sizeof(*topic) + text.size);
	uint64_t hash = hash_of(interests, text);

	memory_must(topic != NULL);
	*topic = (struct topic){.pattern = pattern, .size = (uint8_t)text.size, .hash = hash};
	memcpy(topic->text, text.bytes, text.size);
	reserve(interests);
	LIST_INSERT_HEAD(bucket_of(interests, hash), topic, bucket);
	if (pattern)
		LIST_INSERT_HEAD(&interests->patterns, topic, patterns);
	interests->topics_count++;
	return topic;
}

/* Frees the topic if nobody is interested in it. */
static void drop_unwanted(struct interests *interests, struct topic *topic)
{
	if (!LIST_EMPTY(&topic->sessions) || !LIST_EMPTY(&topic->members))
		return;
	LIST_REMOVE(topic, bucket);
	if (topic->pattern)
		LIST_REMOVE(topic, patterns);
	interests->topics_count--;
	free(topic);
}

/* --- interests --- */

/* Searches the shorter of two lists: that of the topic, or that of the session. */
static struct interest *find_of_session(const struct topic *topic, const struct session *session)
{
	struct interest *interest;

	if (topic->sessions_count < session->subscriptions_count) {
		LIST_FOREACH (interest, &topic->sessions, of_topic) {
			if (interest->session == session)
				break;
		}
		return interest;
	}
	TAILQ_FOREACH (interest, &session->subscriptions, of_session) {
		if (interest->topic == topic)
			break;
	}
	return interest;
}

struct interest *interest_find(const struct interests *interests, bool pattern, struct slice text,
                               const struct session *session, uint32_t member)
{
	const struct topic *topic = topic_find(interests, pattern, text);
	struct interest *interest;

	if (topic == NULL)
		return NULL;
	if (session != NULL)
		return find_of_session(topic, session);
	LIST_FOREACH (interest, &topic->members, of_topic) {
		if (interest->member == member)
			break;
	}
	return interest;
}

void interest_add(struct interests *interests, bool pattern, struct slice text,
                  struct session *session, uint32_t member)
{
	struct topic *topic = topic_find(interests, pattern, text);

	if (topic == NULL)
		topic = topic_add(interests, pattern, text);
	struct interest *interest = malloc(sizeof(*interest));
	memory_must(interest != NULL);
	*interest = (struct interest){.topic = topic, .session = session, .member = member};
	if (session == NULL) {
		LIST_INSERT_HEAD(&topic->members, interest, of_topic);
		return;
	}
	LIST_INSERT_HEAD(&topic->sessions, interest, of_topic);
	topic->sessions_count++;
	TAILQ_INSERT_TAIL(&session->subscriptions, interest, of_session);
	session->subscriptions_count++;
	interests->local_count++;
	interests->local_patterns_count += pattern;
	if (session->user != NULL) {
		session->user->subscriptions++;
		session->user->patterns += pattern;
	}
}

void interest_remove(struct interests *interests, struct interest *interest)
{
	struct topic *topic = interest->topic;
	struct session *session = interest->session;

	LIST_REMOVE(interest, of_topic);
	if (session != NULL) {
		topic->sessions_count--;
		TAILQ_REMOVE(&session->subscriptions, interest, of_session);
		session->subscriptions_count--;
		interests->local_count--;
		interests->local_patterns_count -= topic->pattern;
		if (session->user != NULL) {
			session->user->subscriptions--;
			session->user->patterns -= topic->pattern;
		}
	}
	free(interest);
	drop_unwanted(interests, topic);
}

static void clear_list(struct interest_list *list)
{
	struct interest *next;

	for (struct interest *interest = LIST_FIRST(list); interest != NULL; interest = next) {
		next = LIST_NEXT(interest, of_topic);
		free(interest);
	}
	LIST_INIT(list);
}

/* Forgets the interests of all members or, if `all`, those of sessions too. */
static void clear(struct interests *interests, bool all)
{
	struct topic *next;

	for (uint32_t i = 0; i < interests->buckets_count; i++) {
		for (struct topic *topic = LIST_FIRST(&interests->buckets[i]); topic != NULL;
		     topic = next) {
			next = LIST_NEXT(topic, bucket);
			clear_list(&topic->members);
			if (all)
				clear_list(&topic->sessions);
			drop_unwanted(interests, topic);
		}
	}
}

void interests_clear_remote(struct interests *interests)
{
	clear(interests, false);
}

void interests_free(struct interests *interests)
{
	clear(interests, true);
	free(interests->buckets);
}

/* --- telling sessions --- */

/* Makes the record of an event for the subscribers of a topic, all but the session. */
static struct record make_record(struct node *node, const struct topic *topic,
                                 const struct happening *happening)
{
	struct outbox *outbox = &node->outbox;
	struct record record = {.kind = NODE_EVENT};

	record.event.kind = happening->kind;
	record.event.fence = happening->fence;
	record.event.named = !topic->pattern;
	record.event.name = outbox_keep(outbox, happening->name.bytes, happening->name.size);
	record.event.member = outbox_keep(outbox, happening->member.bytes, happening->member.size);
	record.event.value = outbox_keep(outbox, happening->value.bytes, happening->value.size);
	record.event.pattern = outbox_keep(outbox, topic->text, topic->size);
	return record;
}

void interest_tell(struct node *node, const struct interest *interest,
                   const struct happening *happening)
{
	struct record record = make_record(node, interest->topic, happening);

	record.event.session = interest->session->id;
	*outbox_record(&node->outbox, NODE_EVENT) = record;
}

/* The sessions share the bytes of the event: there may be many thousands of them. */
static void tell_sessions(struct node *node, const struct topic *topic,
                          const struct happening *happening)
{
	const struct interest *interest;

	if (LIST_EMPTY(&topic->sessions))
		return;
	struct record record = make_record(node, topic, happening);
	LIST_FOREACH (interest, &topic->sessions, of_topic) {
		record.event.session = interest->session->id;
		*outbox_record(&node->outbox, NODE_EVENT) = record;
	}
}

void interests_tell(struct node *node, const struct happening *happening)
{
	const struct interests *interests = &node->interests;
	const struct topic *topic = topic_find(interests, false, happening->name);
	struct glob_text text;

	if (topic != NULL)
		tell_sessions(node, topic, happening);
	glob_text_set(&text, happening->name);
	LIST_FOREACH (topic, &interests->patterns, patterns) {
		if (topic->sessions_count != 0 && glob_text_matches(&text, topic_text(topic)))
			tell_sessions(node, topic, happening);
	}
}
