#include "event.h"

#include "control.h"
#include "glob.h"
#include "name.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* The most interests that are remembered for another member. */
enum { INTERESTS_MAX = 1 << 20 };

/* --- subscriptions --- */

int event_subscribe(struct node *node, struct session *session, bool pattern, struct slice text)
{
	const struct node_limits *limits = &node->limits;
	struct interests *interests = &node->interests;
	const struct node_user *user = session->user;

	if (interest_find(interests, pattern, text, session, 0) != NULL)
		return 0;
	if (session->subscriptions_count >= limits->subscriptions ||
	    interests->local_count >= limits->all_subscriptions ||
	    (user != NULL && user->subscriptions >= node_share(limits->all_subscriptions)))
		return BATON_ESUBSCRIPTIONS;
	if (pattern && (interests->local_patterns_count >= limits->patterns ||
	                (user != NULL && user->patterns >= node_share(limits->patterns))))
		return BATON_EPATTERNS;
	interest_add(interests, pattern, text, session, 0);
	return 0;
}

static void send_interest(struct node *node, const struct topic *topic, bool interested)
{
	control_begin(node, FRAME_INTEREST, 0);
	control_uint(node, 0);
	control_byte(node, interested);
	control_byte(node, topic->pattern);
	control_name(node, topic_text(topic));
	control_end(node, 0);
}

/* If no other session here has the same interest, the other members are told that it has ended. */
static void remove_subscription(struct node *node, struct interest *interest)
{
	struct interests *interests = &node->interests;

	if (node->view.count > 1 && interest->topic->sessions_count == 1)
		send_interest(node, interest->topic, false);
	interest_remove(interests, interest);
	if (interests->local_count == 0)
		streams_clear(&node->streams);
}

void event_unsubscribe(struct node *node, struct session *session, bool pattern, struct slice text)
{
	struct interest *next;

	if (text.bytes != NULL) {
		struct interest *interest =
		        interest_find(&node->interests, pattern, text, session, 0);
		if (interest != NULL)
			remove_subscription(node, interest);
		return;
	}
	for (struct interest *interest = TAILQ_FIRST(&session->subscriptions); interest != NULL;
	     interest = next) {
		next = TAILQ_NEXT(interest, of_session);
		if (interest->topic->pattern == pattern)
			remove_subscription(node, interest);
	}
}

void event_unsubscribe_all(struct node *node, struct session *session)
{
	while (!TAILQ_EMPTY(&session->subscriptions))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that TAILQ_REMOVE
		 * moves the head. */
		remove_subscription(node, TAILQ_FIRST(&session->subscriptions));
}

const struct interest *node_subscriptions(const struct node *node, uint64_t session_id)
{
	const struct session *session = session_find(&node->sessions, session_id);

	return session != NULL ? TAILQ_FIRST(&session->subscriptions) : NULL;
}

bool node_subscription_next(const struct interest **at, bool *ret_pattern,
                            struct node_bytes *ret_text)
{
	const struct interest *interest = *at;

	if (interest == NULL)
		return false;
	*ret_pattern = interest->topic->pattern;
	*ret_text = (struct node_bytes){(const char *)interest->topic->text, interest->topic->size};
	*at = TAILQ_NEXT(interest, of_session);
	return true;
}

void event_send_interests(struct node *node)
{
	const struct topic *topic;

	for (uint32_t i = 0; i < node->interests.buckets_count; i++) {
		LIST_FOREACH (topic, &node->interests.buckets[i], bucket) {
			if (topic->sessions_count != 0)
				send_interest(node, topic, true);
		}
	}
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
	struct interest *interest = interest_find(interests, pattern, text, NULL, frame->origin);
	if (interested && interest == NULL) {
		/* A member subscribes to as many patterns as its own limit allows. */
		if (member->interests == INTERESTS_MAX ||
		    (pattern && member->patterns == node->limits.patterns))
			return BATON_EMESSAGE;
		interest_add(interests, pattern, text, NULL, frame->origin);
		member->interests++;
		member->patterns += pattern;
	} else if (!interested && interest != NULL) {
		interest_remove(interests, interest);
		member->interests--;
		member->patterns -= pattern;
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

/* Sends the event to the members that are interested in the topic. */
static void tell_members(struct node *node, const struct topic *topic,
                         const struct happening *happening)
{
	const struct interest *interest;

	LIST_FOREACH (interest, &topic->members, of_topic) {
		struct view_member *member = &node->view.members[interest->member - 1];
		if (member->stamp == node->event_stamp)
			continue;
		member->stamp = node->event_stamp;
		send_event(node, happening, interest->member);
	}
}

void event_tell(struct node *node, const struct lock *lock, enum node_event_kind kind,
                uint64_t fence, struct slice value)
{
	const struct interests *interests = &node->interests;

	if (interests->topics_count == 0)
		return;
	struct happening happening = {
	        .kind = kind,
	        .name = lock_name(node, lock),
	        .member = {(const uint8_t *)node->name, (uint32_t)strlen(node->name)},
	        .value = value,
	        .fence = fence,
	};
	const struct topic *topic = topic_find(interests, false, happening.name);
	bool here = topic != NULL && topic->sessions_count != 0;
	struct glob_text text;

	node->event_stamp++;
	if (topic != NULL)
		tell_members(node, topic, &happening);
	glob_text_set(&text, happening.name);
	LIST_FOREACH (topic, &interests->patterns, patterns) {
		/* If a session here is told anyway, only other members may still have to be
		 * found. */
		if ((here && LIST_EMPTY(&topic->members)) ||
		    !glob_text_matches(&text, topic_text(topic)))
			continue;
		here = here || topic->sessions_count != 0;
		tell_members(node, topic, &happening);
	}
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

/* Tells every subscription that the member has dropped events, which it may have missed. */
static void deliver_dropped(struct node *node, struct view_member *member)
{
	const struct sessions *sessions = &node->sessions;
	struct happening happening = {
	        .kind = EVENT_DROPPED,
	        .member = {(const uint8_t *)member->name, (uint32_t)strlen(member->name)},
	        .fence = member->events_missed,
	};

	member->events_missed = 0;
	for (uint32_t i = 0; i < sessions->slots_count; i++) {
		const struct session *session = sessions->slots[i].session;
		const struct interest *interest;
		if (session == NULL)
			continue;
		TAILQ_FOREACH (interest, &session->subscriptions, of_session) {
			happening.name = topic_text(interest->topic);
			interest_tell(node, interest, &happening);
		}
	}
}

void event_deliver_dropped(struct node *node)
{
	node->missed_deadline = NODE_NEVER;
	node->missed_earliest = node->now + NODE_SILENCE_NS;
	for (uint32_t i = 0; i < node->view.count; i++) {
		if (node->view.members[i].events_missed != 0)
			deliver_dropped(node, &node->view.members[i]);
	}
}

/* Every subscription is told, so a member could keep this node busy with many such frames. Those
 * that come soon after others are told together. */
int on_dropped(struct node *node, const struct frame *frame)
{
	struct view_member *member = &node->view.members[frame->origin - 1];
	struct in in = frame->body;
	uint64_t count = in_range(&in, 1, NODE_FENCE_MAX);

	if (!in_end(&in) || count > NODE_FENCE_MAX - member->events_missed)
		return BATON_EMESSAGE;
	member->events_missed += count;
	if (node->missed_deadline == NODE_NEVER)
		node->missed_deadline = node->missed_earliest;
	if (node->missed_deadline <= node->now)
		event_deliver_dropped(node);
	return 0;
}
