#include "lock_event.h"

#include <baton/baton.h>
#include <baton/error.h>
#include <string.h>

static struct word text_of(const redisReply *reply)
{
	return (struct word){reply->str, reply->len};
}

/* Takes the next word of a text, and the blank after it. */
static struct word next_word(struct word *text)
{
	const char *blank = memchr(text->bytes, ' ', text->size);
	size_t size = blank != NULL ? (size_t)(blank - text->bytes) : text->size;
	size_t taken = blank != NULL ? size + 1 : size;
	struct word word = {text->bytes, size};

	text->bytes += taken;
	text->size -= taken;
	return word;
}

/* Reads a number below 2^53, such as a fence. Returns 0 if the word is not such a number. */
static uint64_t number_of(struct word word)
{
	uint64_t fence = 0;

	if (word.size == 0 || word.size > 16)
		return 0;
	for (size_t i = 0; i < word.size; i++) {
		if (word.bytes[i] < '0' || word.bytes[i] > '9')
			return 0;
		fence = fence * 10 + (uint64_t)(word.bytes[i] - '0');
	}
	return fence_verify(fence) == 0 ? fence : 0;
}

static int parse_message(struct word text, struct lock_event *event)
{
	struct word kind = next_word(&text);

	if (word_is(kind, "dropped")) {
		event->kind = EVENT_DROPPED;
		return 0;
	}
	event->fence = number_of(next_word(&text));
	if (word_is(kind, "released") || word_is(kind, "lost")) {
		event->kind = EVENT_GONE;
		event->node = next_word(&text);
		/* A reason does not begin with a digit. */
		if (text.size > 0 && text.bytes[0] >= '0' && text.bytes[0] <= '9')
			event->told_ms = number_of(next_word(&text));
		event->value = text;
	} else if (word_is(kind, "leader")) {
		event->kind = EVENT_LEADER;
		event->node = next_word(&text);
		event->value = text;
	} else {
		return 0; /* this may be a kind of event of a later version */
	}
	bool fits = event->fence != 0 && event->node.size >= 1 &&
	            event->node.size <= BATON_NAME_MAX && event->value.size <= BATON_VALUE_MAX;
	return fits ? 0 : BATON_EPROTOCOL;
}

int lock_event_parse(const redisReply *reply, struct lock_event *ret_event)
{
	struct lock_event event = {.kind = EVENT_OTHER};

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 3 ||
	    reply->element[0]->type != REDIS_REPLY_STRING)
		return BATON_EPROTOCOL;
	struct word kind = text_of(reply->element[0]);
	/* The last UNSUBSCRIBE may have no channel. */
	if (reply->element[1]->type == REDIS_REPLY_STRING)
		event.channel = text_of(reply->element[1]);
	int wrong = 0;
	if (word_is(kind, "subscribe"))
		event.kind = EVENT_SUBSCRIBED;
	else if (word_is(kind, "message"))
		wrong = reply->element[2]->type == REDIS_REPLY_STRING
		                ? parse_message(text_of(reply->element[2]), &event)
		                : BATON_EPROTOCOL;
	else if (!word_is(kind, "unsubscribe"))
		wrong = BATON_EPROTOCOL;
	if (wrong == 0)
		*ret_event = event;
	return wrong;
}
