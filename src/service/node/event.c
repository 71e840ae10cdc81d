#include "event.h"

#include "control.h"
#include "name.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* The most interests that are remembered for another member. */
enum { INTERESTS_MAX = 1 << 20 };

/* --- subscriptions --- */

bool event_subscribe(struct node *node, struct session *session, bool pattern, struct slice text)
{
	struct interests *interests = &node->interests;

	interests_reserve(interests);
	if (session->subscriptions_count >= node->limits.subscriptions &&
	    interest_find(interests, pattern, text, session, 0) == NULL)
		return false;
	interest_add(interests, pattern, text, session, 0);
	return true;
}

static void send_interest(struct node *node, const struct interest *interest, bool interested)
{
	control_begin(node, FRAME_INTEREST, 0);
	control_uint(node, 0);
	control_byte(node, interested);
	control_byte(node, interest->pattern);
	control_name(node, interest_text(interest));
	control_end(node, 0);
}

/* If no other session here has the same interest, the other members are told that it has ended. */
static void remove_subscription(struct node *node, struct interest *interest)
{
	struct interests *interests = &node->interests;

	interest_remove(interests, interest);
	if (node->view.count > 1 && !interest_is_local(interests, interest->pattern,
	                                               interest_text(interest), interest->hash))
		send_interest(node, interest, false);
	free(interest);
	if (interests->local_count == 0)
		streams_clear(&node->streams);
}

void event_unsubscribe(struct node *node, struct session *session, bool pattern, struct slice text)
{
	struct interest *next;

	for (struct interest *interest = LIST_FIRST(&session->subscriptions); interest != NULL;
	     interest = next) {
		next = LIST_NEXT(interest, of_session);
		if (interest->pattern == pattern &&
		    (text.bytes == NULL || (interest->size == text.size &&
		                            memcmp(interest->text, text.bytes, text.size) == 0)))
			remove_subscription(node, interest);
	}
}

void event_unsubscribe_all(struct node *node, struct session *session)
{
	while (!LIST_EMPTY(&session->subscriptions))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that LIST_REMOVE
		 * moves the head. */
		remove_subscription(node, LIST_FIRST(&session->subscriptions));
}

static void send_list(struct node *node, const struct interest_list *list)
{
	const struct interest *interest;

	LIST_FOREACH (interest, list, interests) {
		if (interest->session != NULL)
			send_interest(node, interest, true);
	}
}

void event_send_interests(struct node *node)
{
	for (uint32_t i = 0; i < node->interests.buckets_count; i++)
		send_list(node, &node->interests.buckets[i]);
	send_list(node, &node->interests.patterns);
}

int on_interest(struct node *node, const struct frame *frame)
{
	struct interests *interests = &node->interests;
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	bool interested = in_byte(&in, true);
	bool pattern = in_byte(&in, true);
	struct slice text = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (frame->trial)
		return 0;
	struct view_member *member = &node->view.members[frame->origin - 1];
	if (interested) {
		uint32_t before = interests->count;
		if (member->interests == INTERESTS_MAX)
			return BATON_EMESSAGE;
		interest_add(interests, pattern, text, NULL, frame->origin);
		member->interests += interests->count - before;
	} else if (interests->buckets_count != 0) {
		struct interest *interest =
		        interest_find(interests, pattern, text, NULL, frame->origin);
		if (interest != NULL) {
			interest_remove(interests, interest);
			member->interests--;
		}
		free(interest);
	}
	control_answer(node, question, frame->origin, false);
	return 0;
}

/* --- events --- */

void event_tell_dropped(struct node *node, uint32_t route)
{
	for (uint32_t i = 1; i <= node->view.count; i++) {
		struct view_member *member = &node->view.members[i - 1];
		if (member->route != route || member->events_dropped == 0)
			continue;
		control_begin(node, FRAME_DROPPED, i);
		control_uint(node, member->events_dropped);
		control_end(node, i);
		member->events_dropped = 0;
	}
}

static void send_event(struct node *node, const struct happening *happening, uint32_t member)
{
	if (!control_may_carry_event(node, member))
		return;
	control_begin(node, FRAME_EVENT, member);
	control_byte(node, (uint8_t)happening->kind);
	control_name(node, happening->name);
	control_uint(node, happening->fence);
	control_text(node, happening->value);
	control_end(node, member);
}

/* Sends the event to the interested members of a list. Returns true if a session here is interested
 * too. */
static bool tell_list(struct node *node, const struct interest_list *list,
                      const struct happening *happening, uint64_t hash)
{
	const struct interest *interest;
	bool here = false;

	LIST_FOREACH (interest, list, interests) {
		if (!interest_matches(interest, happening->name, hash))
			continue;
		if (interest->session != NULL) {
			here = true;
			continue;
		}
		struct view_member *member = &node->view.members[interest->member - 1];
		if (member->stamp != node->event_stamp) {
			member->stamp = node->event_stamp;
			send_event(node, happening, interest->member);
		}
	}
	return here;
}

void event_tell(struct node *node, const struct lock *lock, enum node_event_kind kind,
                uint64_t fence, struct slice value)
{
	const struct interests *interests = &node->interests;

	if (interests->count == 0)
		return;
	struct happening happening = {
	        .kind = kind,
	        .name = lock_name(node, lock),
	        .member = {(const uint8_t *)node->name, (uint32_t)strlen(node->name)},
	        .value = value,
	        .fence = fence,
	};
	uint64_t hash = name_hash(happening.name.bytes, happening.name.size);
	node->event_stamp++;
	bool here = tell_list(node, interests_in(interests, hash), &happening, hash);
	here = tell_list(node, &interests->patterns, &happening, hash) || here;
	if (here)
		stream_take(node, &happening);
}

int on_event(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	const char *member = node->view.members[frame->origin - 1].name;
	struct happening happening = {.kind = (enum node_event_kind)in_byte(&in, EVENT_LEADER)};

	happening.name = in_name(&in);
	happening.fence = in_range(&in, 1, NODE_FENCE_MAX);
	happening.value = in_text(&in, NODE_VALUE_MAX);
	happening.member = (struct slice){(const uint8_t *)member, (uint32_t)strlen(member)};
	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (node->interests.local_count != 0)
		stream_take(node, &happening);
	return 0;
}

/* Tells every subscription here that it may have missed something. */
static void deliver_dropped(struct node *node, const struct interest_list *list,
                            struct happening *happening)
{
	const struct interest *interest;

	LIST_FOREACH (interest, list, interests) {
		happening->name = interest_text(interest);
		if (interest->session != NULL)
			interest_tell(node, interest, happening);
	}
}

int on_dropped(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	const char *member = node->view.members[frame->origin - 1].name;
	struct happening happening = {
	        .kind = EVENT_DROPPED,
	        .member = {(const uint8_t *)member, (uint32_t)strlen(member)},
	        .fence = in_uint(&in),
	};

	if (!in_end(&in))
		return BATON_EMESSAGE;
	for (uint32_t i = 0; i < node->interests.buckets_count; i++)
		deliver_dropped(node, &node->interests.buckets[i], &happening);
	deliver_dropped(node, &node->interests.patterns, &happening);
	return 0;
}
