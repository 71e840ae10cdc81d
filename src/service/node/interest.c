#include "interest.h"

#include "glob.h"
#include "memory.h"
#include "name.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

static struct interest_list *list_of(const struct interests *interests, bool pattern, uint64_t hash)
{
	return pattern ? (struct interest_list *)&interests->patterns
	               : &interests->buckets[hash & (interests->buckets_count - 1)];
}

/* Keeps the average chain at one interest or fewer. Only a name that many are interested in makes a
 * long chain. */
void interests_reserve(struct interests *interests)
{
	struct interests old = *interests;

	if (interests->count < interests->buckets_count)
		return;
	interests->buckets_count = old.buckets_count == 0 ? 16 : old.buckets_count * 2;
	interests->buckets = calloc(interests->buckets_count, sizeof(*interests->buckets));
	memory_must(interests->buckets != NULL);
	for (uint32_t i = 0; i < old.buckets_count; i++) {
		while (!LIST_EMPTY(&old.buckets[i])) {
			struct interest *interest = LIST_FIRST(&old.buckets[i]);
			LIST_REMOVE(interest, interests);
			LIST_INSERT_HEAD(list_of(interests, false, interest->hash), interest,
			                 interests);
		}
	}
	free(old.buckets);
}

static bool has_text(const struct interest *interest, struct slice text, uint64_t hash)
{
	return interest->hash == hash && interest->size == text.size &&
	       memcmp(interest->text, text.bytes, text.size) == 0;
}

struct interest *interest_find(const struct interests *interests, bool pattern, struct slice text,
                               const struct session *session, uint32_t member)
{
	uint64_t hash = name_hash(text.bytes, text.size);
	struct interest *interest;

	LIST_FOREACH (interest, list_of(interests, pattern, hash), interests) {
		if (interest->session == session && interest->member == member &&
		    has_text(interest, text, hash))
			break;
	}
	return interest;
}

void interest_add(struct interests *interests, bool pattern, struct slice text,
                  struct session *session, uint32_t member)
{
	interests_reserve(interests);
	if (interest_find(interests, pattern, text, session, member) != NULL)
		return;
	struct interest *interest = malloc(sizeof(*interest) + text.size);
	memory_must(interest != NULL);
	uint64_t hash = name_hash(text.bytes, text.size);
	*interest = (struct interest){
	        .session = session,
	        .hash = hash,
	        .member = member,
	        .pattern = pattern,
	        .size = (uint8_t)text.size,
	};
	memcpy(interest->text, text.bytes, text.size);
	LIST_INSERT_HEAD(list_of(interests, pattern, hash), interest, interests);
	interests->count++;
	if (session != NULL) {
		LIST_INSERT_HEAD(&session->subscriptions, interest, of_session);
		session->subscriptions_count++;
		interests->local_count++;
	}
}

void interest_remove(struct interests *interests, struct interest *interest)
{
	LIST_REMOVE(interest, interests);
	interests->count--;
	if (interest->session == NULL)
		return;
	LIST_REMOVE(interest, of_session);
	interest->session->subscriptions_count--;
	interests->local_count--;
}

bool interest_is_local(const struct interests *interests, bool pattern, struct slice text,
                       uint64_t hash)
{
	const struct interest *interest;

	LIST_FOREACH (interest, list_of(interests, pattern, hash), interests) {
		if (interest->session != NULL && has_text(interest, text, hash))
			return true;
	}
	return false;
}

static void clear_list(struct interests *interests, struct interest_list *list, bool remote_only)
{
	struct interest *next;

	for (struct interest *interest = LIST_FIRST(list); interest != NULL; interest = next) {
		next = LIST_NEXT(interest, interests);
		if (remote_only && interest->session != NULL)
			continue;
		LIST_REMOVE(interest, interests);
		interests->count--;
		free(interest);
	}
}

void interests_clear_remote(struct interests *interests)
{
	for (uint32_t i = 0; i < interests->buckets_count; i++)
		clear_list(interests, &interests->buckets[i], true);
	clear_list(interests, &interests->patterns, true);
}

void interests_free(struct interests *interests)
{
	for (uint32_t i = 0; i < interests->buckets_count; i++)
		clear_list(interests, &interests->buckets[i], false);
	clear_list(interests, &interests->patterns, false);
	free(interests->buckets);
}

/* --- telling sessions --- */

const struct interest_list *interests_in(const struct interests *interests, uint64_t hash)
{
	return list_of(interests, false, hash);
}

bool interest_matches(const struct interest *interest, struct slice name, uint64_t hash)
{
	return interest->pattern ? glob_matches(interest_text(interest), name)
	                         : has_text(interest, name, hash);
}

void interest_tell(struct node *node, const struct interest *interest,
                   const struct happening *happening)
{
	struct outbox *outbox = &node->outbox;
	struct span name = outbox_keep(outbox, happening->name.bytes, happening->name.size);
	struct span member = outbox_keep(outbox, happening->member.bytes, happening->member.size);
	struct span value = outbox_keep(outbox, happening->value.bytes, happening->value.size);
	struct span pattern = outbox_keep(outbox, interest->text, interest->size);
	struct record *record = outbox_record(outbox, NODE_EVENT);

	record->event.session = interest->session->id;
	record->event.kind = happening->kind;
	record->event.fence = happening->fence;
	record->event.named = !interest->pattern;
	record->event.name = name;
	record->event.member = member;
	record->event.value = value;
	record->event.pattern = pattern;
}

static void tell_list(struct node *node, const struct interest_list *list,
                      const struct happening *happening, uint64_t hash)
{
	const struct interest *interest;

	LIST_FOREACH (interest, list, interests) {
		if (interest->session != NULL && interest_matches(interest, happening->name, hash))
			interest_tell(node, interest, happening);
	}
}

void interests_tell(struct node *node, const struct happening *happening)
{
	uint64_t hash = name_hash(happening->name.bytes, happening->name.size);

	tell_list(node, interests_in(&node->interests, hash), happening, hash);
	tell_list(node, &node->interests.patterns, happening, hash);
}
