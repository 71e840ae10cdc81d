#include "replies.h"

#include "baton/error.h"
#include "clock.h"
#include "commands_member.h"
#include "events.h"
#include "instance.h"
#include "log.h"
#include "permissions.h"
#include "status_queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- errors --- */

/* Returns the word that programs look at: "HELD" for BATON_EHELD. */
static const char *error_code(int error)
{
	switch (error) {
#define CODE(name, code, text)                                                                     \
	case code:                                                                                 \
		return &#name[sizeof("BATON_E") - 1];
		BATON_ERRORS(CODE)
#undef CODE
	default:
		return "ERR";
	}
}

const char *reply_error_text(int error)
{
	switch (error) {
#define TEXT(name, code, text)                                                                     \
	case code:                                                                                 \
		return text;
		BATON_ERRORS(TEXT)
#undef TEXT
	default:
		return "unknown error";
	}
}

void reply_error(struct client *client, int error)
{
	char text[WAITS_FOR_MAX + 64], waits_for[WAITS_FOR_MAX];

	if (error == BATON_ENOVIEW &&
	    status_waits_for(client->daemon, waits_for, sizeof(waits_for))) {
		snprintf(text, sizeof(text), "%s; waiting for %s", reply_error_text(error),
		         waits_for);
		resp_error(&client->output, error_code(error), text);
		return;
	}
	resp_error(&client->output, error_code(error), reply_error_text(error));
}

bool reply_wrong(struct client *client, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	resp_error(&client->output, "ERR", text);
	return true;
}

/* Writes the error SILENT with the members that did not answer, if any are named. */
static void tell_silent(struct client *client, const struct node_bytes *names)
{
	buffer_append(&client->output, "-SILENT", 7);
	if (names->size > 0)
		buffer_append(&client->output, " ", 1);
	buffer_append(&client->output, names->bytes, names->size);
	buffer_append(&client->output, "\r\n", 2);
}

/* --- replies and events --- */

/* Writes [fence, node, value, [silent members]]; the first three are nil if no leader is known. */
static void tell_leader_and_silent(struct client *client, const struct node_effect *effect)
{
	struct buffer *output = &client->output;
	struct node_bytes left = effect->reply.silent;
	size_t count = left.size != 0;

	resp_array(output, 4);
	if (effect->reply.kind == REPLY_LEADER) {
		resp_integer(output, effect->reply.number);
		resp_bulk(output, effect->reply.member.bytes, effect->reply.member.size);
		resp_bulk(output, effect->reply.value.bytes, effect->reply.value.size);
	} else {
		for (unsigned i = 0; i < 3; i++)
			resp_nil(output, client->version);
	}
	for (size_t i = 0; i < left.size; i++)
		count += left.bytes[i] == ' ';
	resp_array(output, count);
	while (left.size > 0) {
		const char *blank = memchr(left.bytes, ' ', left.size);
		size_t size = blank != NULL ? (size_t)(blank - left.bytes) : left.size;
		resp_bulk(output, left.bytes, size);
		size += blank != NULL;
		left = (struct node_bytes){left.bytes + size, left.size - size};
	}
}

/* The client adds the time that is left to the time at which it asked, which may be after the turn
 * began. So subtract the time since the turn began. */
void reply_left(struct client *client, uint64_t left_ns)
{
	uint64_t passed_ns = clock_lease_ns() - client->daemon->loop.now;

	if (left_ns == NODE_NEVER)
		resp_nil(&client->output, client->version);
	else
		resp_integer(&client->output,
		             left_ns > passed_ns ? (left_ns - passed_ns) / LOOP_MS : 0);
}

static void tell_fence(struct client *client, const struct node_effect *effect)
{
	if (!client->leases) {
		resp_integer(&client->output, effect->reply.number);
		return;
	}
	resp_array(&client->output, 3);
	resp_integer(&client->output, effect->reply.number);
	resp_integer(&client->output, effect->reply.lapses);
	reply_left(client, effect->reply.left_ns);
}

void reply_tell(struct client *client, const struct node_effect *effect)
{
	struct buffer *output = &client->output;

	client_dirty(client);
	if (client->asks_silent && effect->reply.kind != REPLY_ERROR) {
		client->asks_silent = false;
		tell_leader_and_silent(client, effect);
		client_answered(client);
		return;
	}
	switch (effect->reply.kind) {
	case REPLY_NIL:
		resp_nil(output, client->version);
		break;
	case REPLY_NUMBER:
		if (client->argument > 0) /* SUBSCRIBE is served again, and replies then */
			client->subscriptions_count = (uint32_t)effect->reply.number;
		else
			resp_integer(output, effect->reply.number);
		break;
	case REPLY_FENCE:
		tell_fence(client, effect);
		break;
	case REPLY_LEADER:
		resp_array(output, 3);
		resp_integer(output, effect->reply.number);
		resp_bulk(output, effect->reply.member.bytes, effect->reply.member.size);
		resp_bulk(output, effect->reply.value.bytes, effect->reply.value.size);
		break;
	case REPLY_STATUS:
		if (!client->lists_members) {
			status_begin(client, effect->reply.status);
			return;
		}
		client->lists_members = false;
		members_reply(client, effect->reply.status);
		break;
	case REPLY_ERROR:
		client->asks_silent = false;
		status_leave(client);
		if (effect->reply.error == BATON_ESILENT)
			tell_silent(client, &effect->reply.silent);
		else
			reply_error(client, effect->reply.error);
		break;
	}
	client_answered(client);
}

/* Writes a message on a channel; `pattern` is NULL if the client subscribes to the channel by
 * name. */
static void tell_message(struct client *client, struct node_bytes pattern,
                         struct node_bytes channel, const char *text, size_t size)
{
	struct buffer *output = &client->output;

	size_t before = buffer_size(output);
	resp_push(output, pattern.bytes != NULL ? 4 : 3, client->version);
	if (pattern.bytes != NULL) {
		resp_text(output, "pmessage");
		resp_bulk(output, pattern.bytes, pattern.size);
	} else {
		resp_text(output, "message");
	}
	resp_bulk(output, channel.bytes, channel.size);
	resp_bulk(output, text, size);
	client_add_events(client, buffer_size(output) - before);
}

static void drop_event(struct client *client)
{
	struct daemon *daemon = client->daemon;

	if (client->events_dropped++ > 0)
		return;
	if (client->events_size > CLIENT_EVENTS_MAX)
		log_limited(&daemon->unread, daemon->loop.now, LEVEL_WARNING,
		            "a subscriber does not read: it gets no events until it does");
	else
		log_limited(&daemon->crowd, daemon->loop.now, LEVEL_WARNING,
		            "subscribers leave %d MiB of events unread: those of users with most "
		            "of them get no events until they read",
		            CLIENTS_EVENTS_MAX >> 20);
}

void reply_event(struct client *client, const struct node_effect *effect)
{
	static const char *const words[] = {
	        [EVENT_GRANTED] = "granted", [EVENT_RELEASED] = "released", [EVENT_LOST] = "lost",
	        [EVENT_LEADER] = "leader",   [EVENT_DROPPED] = "dropped",
	};
	bool has_value = effect->event.kind == EVENT_LEADER ||
	                 (effect->event.kind == EVENT_LOST && client->reasons);
	char message[NODE_NAME_MAX + 64 + NODE_VALUE_MAX];

	if (client->ending || !permission_hears(client, effect))
		return;
	/* A holder is told of its loss even if other clients of its user do not read. */
	bool takes = effect->event.kind == EVENT_LOST ? client->events_size <= CLIENT_EVENTS_MAX
	                                              : client_takes_events(client);
	if (!takes) {
		drop_event(client);
		return;
	}
	int size = snprintf(message, sizeof(message), "%s %llu %.*s%s", words[effect->event.kind],
	                    (unsigned long long)effect->event.fence, (int)effect->event.member.size,
	                    effect->event.member.bytes, has_value ? " " : "");
	/* Read the clock now, which is before the client's time to stop begins. */
	if (effect->event.kind == EVENT_LOST && client->timed)
		size += snprintf(message + size, sizeof(message) - (size_t)size, "%llu ",
		                 (unsigned long long)(clock_lease_ns() / LOOP_MS));
	if (has_value) {
		memcpy(message + size, effect->event.value.bytes, effect->event.value.size);
		size += (int)effect->event.value.size;
	}
	tell_message(client, effect->event.pattern, effect->event.name, message, (size_t)size);
	/* It may be for a holder, whose time to stop begins at the end of this turn. libbaton hears
	 * of it on a connection of its own. So it must not wait for the turns of other events. */
	if (effect->event.kind == EVENT_LOST)
		client_dirty(client);
}

/* Tells the client on every channel, because any of them may have missed events. */
void reply_dropped(struct client *client)
{
	const struct interest *at = node_subscriptions(client->daemon->node, client->session);
	struct node_bytes text, none = {NULL, 0};
	bool pattern;
	char message[NODE_NAME_MAX + 64];
	int size =
	        snprintf(message, sizeof(message), "dropped %llu %s",
	                 (unsigned long long)client->events_dropped, daemon_name(client->daemon));

	client->events_dropped = 0;
	while (node_subscription_next(&at, &pattern, &text))
		tell_message(client, pattern ? text : none, text, message, (size_t)size);
}
