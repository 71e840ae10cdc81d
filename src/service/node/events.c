/*
 * Subscriptions, and the telling of events.
 *
 * An interest is a text, a lock's name or a pattern, and who is interested: a session here, or a
 * member, which has told so and passes events on to its own sessions. Where an event happens it is
 * sent once to each member that is interested.
 */
#include "frame.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct interest {
	struct interest *next; /* of the bucket, or of the patterns */
	struct interest *session_next;
	struct session *session; /* NULL: a member's */
	uint64_t hash;
	uint32_t member;
	bool pattern;
	uint8_t size;
	uint8_t text[];
};

static struct slice text_of(const struct interest *interest)
{
	return (struct slice){interest->text, interest->size};
}

static struct interest **bucket_of(struct interests *interests, bool pattern, uint64_t hash)
{
	return pattern ? &interests->patterns
	               : &interests->buckets[hash & (interests->buckets_count - 1)];
}

/* A chain has one interest on average, or fewer, unless many share a name. */
static void reserve(struct interests *interests)
{
	struct interests old = *interests;

	if (interests->count < interests->buckets_count)
		return;
	interests->buckets_count = old.buckets_count == 0 ? 16 : old.buckets_count * 2;
	interests->buckets = calloc(interests->buckets_count, sizeof(struct interest *));
	memory_must(interests->buckets != NULL);
	for (uint32_t i = 0; i < old.buckets_count; i++) {
		while (old.buckets[i] != NULL) {
			struct interest *interest = old.buckets[i];
			struct interest **bucket = bucket_of(interests, false, interest->hash);
			old.buckets[i] = interest->next;
			interest->next = *bucket;
			*bucket = interest;
		}
	}
	free(old.buckets);
}

/* Of a session, or of a member. */
static struct interest **find(struct interests *interests, bool pattern, struct slice text,
                              const struct session *session, uint32_t member)
{
	uint64_t hash = name_hash(text.bytes, text.size);
	struct interest **at = bucket_of(interests, pattern, hash);

	while (*at != NULL &&
	       ((*at)->session != session || (*at)->member != member || (*at)->hash != hash ||
	        (*at)->size != text.size || memcmp((*at)->text, text.bytes, text.size) != 0))
		at = &(*at)->next;
	return at;
}

/* False if it is there already. */
static bool add(struct interests *interests, bool pattern, struct slice text,
                struct session *session, uint32_t member)
{
	reserve(interests);
	if (*find(interests, pattern, text, session, member) != NULL)
		return false;
	struct interest *interest = malloc(sizeof(*interest) + text.size);
	memory_must(interest != NULL);
	uint64_t hash = name_hash(text.bytes, text.size);
	struct interest **bucket = bucket_of(interests, pattern, hash);
	*interest = (struct interest){
	        .next = *bucket,
	        .session = session,
	        .hash = hash,
	        .member = member,
	        .pattern = pattern,
	        .size = (uint8_t)text.size,
	};
	memcpy(interest->text, text.bytes, text.size);
	*bucket = interest;
	interests->count++;
	if (session != NULL) {
		interest->session_next = session->subscriptions;
		session->subscriptions = interest;
		session->subscriptions_count++;
		interests->local_count++;
	}
	return true;
}

static void unlink_interest(struct interests *interests, struct interest **at)
{
	struct interest *interest = *at;
	struct session *session = interest->session;

	*at = interest->next;
	interests->count--;
	if (session == NULL)
		return;
	struct interest **of_session = &session->subscriptions;
	while (*of_session != interest)
		of_session = &(*of_session)->session_next;
	*of_session = interest->session_next;
	session->subscriptions_count--;
	interests->local_count--;
}

bool interest_add(struct node *node, struct session *session, bool pattern, struct slice text)
{
	struct interests *interests = &node->interests;

	reserve(interests);
	if (session->subscriptions_count >= node->limits.subscriptions &&
	    *find(interests, pattern, text, session, 0) == NULL)
		return false;
	add(interests, pattern, text, session, 0);
	return true;
}

static bool anybody_here(struct interests *interests, bool pattern, struct slice text,
                         uint64_t hash)
{
	for (const struct interest *interest = *bucket_of(interests, pattern, hash);
	     interest != NULL; interest = interest->next) {
		if (interest->session != NULL && interest->hash == hash &&
		    interest->size == text.size &&
		    memcmp(interest->text, text.bytes, text.size) == 0)
			return true;
	}
	return false;
}

static void send_interest(struct node *node, const struct interest *interest, bool interested)
{
	control_begin(node, FRAME_INTEREST, 0);
	put_uint(node, 0);
	put_byte(node, interested);
	put_byte(node, interest->pattern);
	put_name(node, interest->text, interest->size);
	control_end(node, 0);
}

/* The last session here that goes takes the interest of this member with it. */
static void remove_subscription(struct node *node, struct session *session,
                                struct interest *interest)
{
	struct interests *interests = &node->interests;
	struct interest **at = find(interests, interest->pattern, text_of(interest), session, 0);

	unlink_interest(interests, at);
	if (!anybody_here(interests, interest->pattern, text_of(interest), interest->hash) &&
	    node->view.count > 1)
		send_interest(node, interest, false);
	free(interest);
	if (interests->local_count == 0)
		streams_clear(&node->streams);
}

void interests_forget(struct node *node, struct session *session)
{
	struct interest *next;

	for (struct interest *interest = session->subscriptions; interest != NULL;
	     interest = next) {
		next = interest->session_next;
		remove_subscription(node, session, interest);
	}
}

int node_unsubscribe(struct node *node, uint64_t session_id, bool pattern, const char *text,
                     size_t text_size, uint64_t now)
{
	int error;
	struct session *session = command_begin(node, session_id, now, &error);

	if (session == NULL)
		return error;
	if (text != NULL && !name_is_good(text, text_size))
		return BATON_ENAME;
	struct interest *next;
	for (struct interest *interest = session->subscriptions; interest != NULL;
	     interest = next) {
		next = interest->session_next;
		if (interest->pattern == pattern &&
		    (text == NULL ||
		     (interest->size == text_size && memcmp(interest->text, text, text_size) == 0)))
			remove_subscription(node, session, interest);
	}
	finish(node);
	return (int)session->subscriptions_count;
}

static void send_list(struct node *node, const struct interest *interest)
{
	for (; interest != NULL; interest = interest->next) {
		if (interest->session != NULL)
			send_interest(node, interest, true);
	}
}

void interests_send(struct node *node)
{
	for (uint32_t i = 0; i < node->interests.buckets_count; i++)
		send_list(node, node->interests.buckets[i]);
	send_list(node, node->interests.patterns);
}

static void clear_list(struct interests *interests, struct interest **at, bool remote_only)
{
	while (*at != NULL) {
		struct interest *interest = *at;
		if (remote_only && interest->session != NULL) {
			at = &interest->next;
			continue;
		}
		*at = interest->next;
		interests->count--;
		free(interest);
	}
}

void interests_clear_remote(struct node *node)
{
	for (uint32_t i = 0; i < node->interests.buckets_count; i++)
		clear_list(&node->interests, &node->interests.buckets[i], true);
	clear_list(&node->interests, &node->interests.patterns, true);
}

void interests_free(struct interests *interests)
{
	for (uint32_t i = 0; i < interests->buckets_count; i++)
		clear_list(interests, &interests->buckets[i], false);
	clear_list(interests, &interests->patterns, false);
	free(interests->buckets);
}

int on_interest(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	uint64_t question = in_uint(&in);
	bool interested = in_byte(&in, true);
	bool pattern = in_byte(&in, true);
	struct slice text = in_name(&in);

	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (interested) {
		add(&node->interests, pattern, text, NULL, frame->origin);
	} else if (node->interests.buckets_count != 0) {
		struct interest **at = find(&node->interests, pattern, text, NULL, frame->origin);
		struct interest *interest = *at;
		if (interest != NULL)
			unlink_interest(&node->interests, at);
		free(interest);
	}
	answer_heard(node, question, frame->origin);
	return 0;
}

/* --- patterns --- */

/* One [set] of a pattern, which stands behind '['; *i moves behind it. A set that does not end
 * ends with the pattern, as in Redis. */
static bool set_matches(struct slice pattern, uint32_t *i, uint8_t byte)
{
	bool negated = *i < pattern.size && pattern.bytes[*i] == '^';
	bool found = false;

	for (*i += negated; *i < pattern.size && pattern.bytes[*i] != ']'; ++*i) {
		if (pattern.bytes[*i] == '\\' && *i + 1 < pattern.size)
			++*i;
		uint8_t low = pattern.bytes[*i], high = low;
		if (*i + 2 < pattern.size && pattern.bytes[*i + 1] == '-') {
			*i += 2;
			high = pattern.bytes[*i];
		}
		found = found || (low <= byte && byte <= high) || (high <= byte && byte <= low);
	}
	*i += *i < pattern.size;
	return found != negated;
}

/* Does one element of the pattern at *i, which is no '*', match the byte? *i moves behind it. */
static bool element_matches(struct slice pattern, uint32_t *i, uint8_t byte)
{
	uint8_t element = pattern.bytes[(*i)++];

	if (element == '?')
		return true;
	if (element == '[')
		return set_matches(pattern, i, byte);
	if (element == '\\' && *i < pattern.size)
		element = pattern.bytes[(*i)++];
	return element == byte;
}

/* Only the last '*' is ever tried again, so that the time is at most the product of the sizes. */
bool glob_matches(struct slice pattern, struct slice text)
{
	uint32_t i = 0, j = 0, star = UINT32_MAX, star_text = 0;

	while (j < text.size) {
		if (i < pattern.size && pattern.bytes[i] == '*') {
			star = ++i;
			star_text = j;
			continue;
		}
		if (i < pattern.size && element_matches(pattern, &i, text.bytes[j])) {
			j++;
			continue;
		}
		if (star == UINT32_MAX)
			return false;
		i = star;
		j = ++star_text;
	}
	while (i < pattern.size && pattern.bytes[i] == '*')
		i++;
	return i == pattern.size;
}

/* --- events --- */

static bool is_interested(const struct interest *interest, struct slice name, uint64_t hash)
{
	if (interest->pattern)
		return glob_matches(text_of(interest), name);
	return interest->hash == hash && interest->size == name.size &&
	       memcmp(interest->text, name.bytes, name.size) == 0;
}

bool event_may_go(struct node *node, uint32_t destination)
{
	struct member *member = &node->view.members[destination - 1];

	if (!node->view.members[member->route - 1].congested)
		return true;
	member->events_dropped++;
	return false;
}

/* Those who were told nothing for a while are told how much. */
static void tell_dropped(struct node *node, uint32_t route)
{
	for (uint32_t i = 1; i <= node->view.count; i++) {
		struct member *member = &node->view.members[i - 1];
		if (member->route != route || member->events_dropped == 0)
			continue;
		control_begin(node, FRAME_DROPPED, i);
		put_uint(node, member->events_dropped);
		control_end(node, i);
		member->events_dropped = 0;
	}
}

void node_congested(struct node *node, uint32_t number, bool congested, uint64_t now)
{
	advance(node, now);
	if (number == 0 || number > node->view.count || node->stopped)
		return;
	node->view.members[number - 1].congested = congested;
	if (!congested)
		tell_dropped(node, number);
	finish(node);
}

static void send_event(struct node *node, const struct happening *happening, uint32_t member)
{
	if (!event_may_go(node, member))
		return;
	control_begin(node, FRAME_EVENT, member);
	put_byte(node, (uint8_t)happening->kind);
	put_name(node, happening->name.bytes, happening->name.size);
	put_uint(node, happening->fence);
	put_text(node, happening->value.bytes, happening->value.size);
	control_end(node, member);
}

/* To the members of a list that are interested; true if a session here is, too. */
static bool tell_list(struct node *node, const struct interest *interest,
                      const struct happening *happening, uint64_t hash)
{
	bool here = false;

	for (; interest != NULL; interest = interest->next) {
		if (!is_interested(interest, happening->name, hash))
			continue;
		if (interest->session != NULL) {
			here = true;
			continue;
		}
		struct member *member = &node->view.members[interest->member - 1];
		if (member->stamp != node->stamp) {
			member->stamp = node->stamp;
			send_event(node, happening, interest->member);
		}
	}
	return here;
}

void event_tell(struct node *node, const struct lock *lock, enum node_event_kind kind,
                uint64_t fence, struct slice value)
{
	struct interests *interests = &node->interests;

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
	node->stamp++;
	bool here = tell_list(node, *bucket_of(interests, false, hash), &happening, hash);
	here = tell_list(node, interests->patterns, &happening, hash) || here;
	if (here)
		stream_take(node, &happening);
}

int on_event(struct node *node, const struct frame *frame)
{
	struct in in = frame->body;
	const char *member = node->view.members[frame->origin - 1].name;
	struct happening happening = {.kind = (enum node_event_kind)in_byte(&in, EVENT_LEADER)};

	happening.name = in_name(&in);
	happening.fence = in_range(&in, 1, (UINT64_C(1) << 53) - 1);
	happening.value = in_text(&in, NODE_VALUE_MAX);
	happening.member = (struct slice){(const uint8_t *)member, (uint32_t)strlen(member)};
	if (!in_end(&in))
		return BATON_EMESSAGE;
	if (node->interests.local_count != 0)
		stream_take(node, &happening);
	return 0;
}

static void deliver_to(struct node *node, const struct interest *interest,
                       const struct happening *happening)
{
	struct outbox *outbox = &node->outbox;
	struct span name = outbox_keep(outbox, happening->name.bytes, happening->name.size);
	struct span member = outbox_keep(outbox, happening->member.bytes, happening->member.size);
	struct span value = outbox_keep(outbox, happening->value.bytes, happening->value.size);
	struct span pattern = outbox_keep(outbox, interest->text, interest->size);
	struct record *record = outbox_record(outbox, NODE_EVENT);

	record->session = interest->session->id;
	record->event = happening->kind;
	record->number = happening->fence;
	record->named = !interest->pattern;
	record->a = name;
	record->b = member;
	record->c = value;
	record->d = pattern;
}

static void deliver_list(struct node *node, const struct interest *interest,
                         const struct happening *happening, uint64_t hash)
{
	for (; interest != NULL; interest = interest->next) {
		if (interest->session != NULL && is_interested(interest, happening->name, hash))
			deliver_to(node, interest, happening);
	}
}

void event_deliver(struct node *node, const struct happening *happening)
{
	uint64_t hash = name_hash(happening->name.bytes, happening->name.size);

	deliver_list(node, *bucket_of(&node->interests, false, hash), happening, hash);
	deliver_list(node, node->interests.patterns, happening, hash);
}

/* Every subscription here may have missed something. */
static void deliver_dropped(struct node *node, const struct interest *interest,
                            struct happening *happening)
{
	for (; interest != NULL; interest = interest->next) {
		happening->name = text_of(interest);
		if (interest->session != NULL)
			deliver_to(node, interest, happening);
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
		deliver_dropped(node, node->interests.buckets[i], &happening);
	deliver_dropped(node, node->interests.patterns, &happening);
	return 0;
}
