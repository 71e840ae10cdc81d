/*
 * What clients say, and what they are told: the commands of the protocol on one side, the node's
 * calls and effects on the other.
 */
#include "internal.h"

#include "baton/error.h"

#include <stdarg.h>
#include <stdio.h>

#define GRACE_MS_MAX UINT32_MAX

/* The letters of the argument may be small; those of the word are capital. */
static bool is_word(const struct resp_argument *argument, const char *word)
{
	size_t i = 0;

	for (; i < argument->size && word[i] != '\0'; i++) {
		char c = argument->bytes[i];
		if (c != word[i] && (c < 'a' || c > 'z' || c - 'a' + 'A' != word[i]))
			return false;
	}
	return i == argument->size && word[i] == '\0';
}

/* A whole number up to 2^53. */
static bool read_number(const struct resp_argument *argument, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (argument->size == 0 || argument->size > 16)
		return false;
	for (size_t i = 0; i < argument->size; i++) {
		if (argument->bytes[i] < '0' || argument->bytes[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(argument->bytes[i] - '0');
	}
	*ret_number = number;
	return number <= UINT64_C(1) << 53;
}

/* --- errors --- */

/* "HELD", of BATON_EHELD: what programs look at. */
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

static const char *error_text(int error)
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

static void tell_error(struct client *client, int error)
{
	char text[WAITS_FOR_MAX + 64], waits_for[WAITS_FOR_MAX];

	if (error == BATON_ENOVIEW &&
	    status_waits_for(client->daemon, waits_for, sizeof(waits_for))) {
		snprintf(text, sizeof(text), "%s: it waits for: %s", error_text(error), waits_for);
		resp_error(&client->output, error_code(error), text);
		return;
	}
	resp_error(&client->output, error_code(error), error_text(error));
}

__attribute__((format(printf, 2, 3))) static bool tell_wrong(struct client *client,
                                                             const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	resp_error(&client->output, "ERR", text);
	return true;
}

/* The node has taken the command and will answer, or has refused it. */
static bool under_way(struct client *client, int error)
{
	if (error == 0)
		client->waiting = true;
	else
		tell_error(client, error);
	return true;
}

/* --- locks --- */

static bool serve_lock(struct client *client, const struct resp_argument *a, uint32_t count)
{
	enum node_patience patience = NODE_WAIT;
	uint64_t timeout_ms = 0;

	if (client->daemon->leaving)
		return under_way(client, BATON_ENOVIEW);
	if (count == 3 && is_word(&a[2], "NOWAIT"))
		patience = NODE_NOWAIT;
	else if (count == 4 && is_word(&a[2], "TIMEOUT"))
		patience = NODE_TIMEOUT;
	else if (count != 2)
		return tell_wrong(client, "syntax error: LOCK name [NOWAIT | TIMEOUT ms]");
	if (patience == NODE_TIMEOUT &&
	    (!read_number(&a[3], &timeout_ms) || timeout_ms > UINT64_C(1000) * 86400 * 365))
		return tell_wrong(client,
		                  "TIMEOUT needs a whole number of milliseconds, at most a year");
	return under_way(client,
	                 node_lock(client->daemon->node, client->session, a[1].bytes, a[1].size,
	                           patience, timeout_ms * 1000000, client->daemon->now));
}

static bool serve_unlock(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t fence = 0;

	if (count == 3 && (!read_number(&a[2], &fence) || fence == 0))
		return tell_wrong(client, "%s", error_text(BATON_EFENCE));
	int result = node_unlock(client->daemon->node, client->session, a[1].bytes, a[1].size,
	                         fence, client->daemon->now);
	if (result < 0)
		tell_error(client, result);
	else
		resp_integer(&client->output, (uint64_t)result);
	return true;
}

static bool serve_elect(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)count;
	if (client->daemon->leaving)
		return under_way(client, BATON_ENOVIEW);
	return under_way(client, node_elect(client->daemon->node, client->session, a[1].bytes,
	                                    a[1].size, a[2].bytes, a[2].size, client->daemon->now));
}

static bool serve_leader(struct client *client, const struct resp_argument *a, uint32_t count)
{
	if (count == 3 && !is_word(&a[2], "SILENT"))
		return tell_wrong(client, "syntax error: LEADER name [SILENT]");
	int error = node_leader(client->daemon->node, client->session, a[1].bytes, a[1].size,
	                        client->daemon->now);
	client->asks_silent = error == 0 && count == 3;
	return under_way(client, error);
}

static bool serve_break(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t fence;

	(void)count;
	if (!read_number(&a[2], &fence))
		return tell_wrong(client, "%s", error_text(BATON_EFENCE));
	int error = node_break(client->daemon->node, client->session, a[1].bytes, a[1].size, fence,
	                       client->daemon->now);
	if (error == 0)
		log_line(LEVEL_WARNING, "an operator asks to break '%.*s', fence %llu",
		         (int)a[1].size, a[1].bytes, (unsigned long long)fence);
	return under_way(client, error);
}

static bool serve_status(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t most = 0;

	if (count == 3 || (count == 4 && !is_word(&a[2], "COUNT")))
		return tell_wrong(client, "syntax error: STATUS [pattern [COUNT n]]");
	if (count == 4 && (!read_number(&a[3], &most) || most == 0 || most > UINT32_MAX))
		return tell_wrong(client, "COUNT needs a whole number from 1 to 4294967295");
	return under_way(client,
	                 node_status(client->daemon->node, client->session,
	                             count > 1 ? a[1].bytes : NULL, count > 1 ? a[1].size : 0,
	                             (uint32_t)most, client->daemon->now));
}

/* --- subscriptions --- */

static void remember(struct client *client, bool pattern, const struct resp_argument *text)
{
	struct subscription **at = &client->subscriptions;

	for (; *at != NULL; at = &(*at)->next) {
		if ((*at)->pattern == pattern && (*at)->size == text->size &&
		    memcmp((*at)->text, text->bytes, text->size) == 0)
			return;
	}
	*at = calloc(1, sizeof(**at) + text->size);
	must(*at != NULL);
	(*at)->pattern = pattern;
	(*at)->size = text->size;
	memcpy((*at)->text, text->bytes, text->size);
}

static void forget(struct client *client, bool pattern, const char *bytes, size_t size)
{
	for (struct subscription **at = &client->subscriptions; *at != NULL; at = &(*at)->next) {
		struct subscription *found = *at;
		if (found->pattern == pattern && found->size == size &&
		    memcmp(found->text, bytes, size) == 0) {
			*at = found->next;
			free(found);
			return;
		}
	}
}

void subscriptions_free(struct client *client)
{
	while (client->subscriptions != NULL) {
		struct subscription *next = client->subscriptions->next;
		free(client->subscriptions);
		client->subscriptions = next;
	}
}

static void tell_subscription(struct client *client, const char *what, const char *bytes,
                              size_t size)
{
	resp_push(&client->output, 3, client->version);
	resp_text(&client->output, what);
	if (bytes == NULL)
		resp_nil(&client->output, client->version);
	else
		resp_bulk(&client->output, bytes, size);
	resp_integer(&client->output, client->subscriptions_count);
}

/* One name after the other: each is answered when all members know of it. The command is given
 * again after each answer; client->argument is the one that is under way. */
static bool subscribe(struct client *client, const struct resp_argument *a, uint32_t count,
                      bool pattern)
{
	if (client->argument > 0) {
		const struct resp_argument *done = &a[client->argument];
		remember(client, pattern, done);
		tell_subscription(client, pattern ? "psubscribe" : "subscribe", done->bytes,
		                  done->size);
	}
	while (++client->argument < count) {
		int error = node_subscribe(client->daemon->node, client->session, pattern,
		                           a[client->argument].bytes, a[client->argument].size,
		                           client->daemon->now);
		if (error == 0) {
			client->waiting = true;
			return false;
		}
		tell_error(client, error);
	}
	client->argument = 0;
	return true;
}

static bool serve_subscribe(struct client *client, const struct resp_argument *a, uint32_t count)
{
	return subscribe(client, a, count, false);
}

static bool serve_psubscribe(struct client *client, const struct resp_argument *a, uint32_t count)
{
	return subscribe(client, a, count, true);
}

static void unsubscribe_one(struct client *client, bool pattern, const char *bytes, size_t size)
{
	const char *what = pattern ? "punsubscribe" : "unsubscribe";
	int left = node_unsubscribe(client->daemon->node, client->session, pattern, bytes, size,
	                            client->daemon->now);

	if (left < 0) {
		tell_error(client, left);
		return;
	}
	client->subscriptions_count = (uint32_t)left;
	tell_subscription(client, what, bytes, size);
	forget(client, pattern, bytes, size);
}

static bool unsubscribe(struct client *client, const struct resp_argument *a, uint32_t count,
                        bool pattern)
{
	bool any = false;

	for (uint32_t i = 1; i < count; i++)
		unsubscribe_one(client, pattern, a[i].bytes, a[i].size);
	if (count > 1)
		return true;
	for (struct subscription *at = client->subscriptions, *next; at != NULL; at = next) {
		next = at->next;
		if (at->pattern == pattern) {
			any = true;
			unsubscribe_one(client, pattern, at->text, at->size);
		}
	}
	if (!any)
		tell_subscription(client, pattern ? "punsubscribe" : "unsubscribe", NULL, 0);
	return true;
}

static bool serve_unsubscribe(struct client *client, const struct resp_argument *a, uint32_t count)
{
	return unsubscribe(client, a, count, false);
}

static bool serve_punsubscribe(struct client *client, const struct resp_argument *a, uint32_t count)
{
	return unsubscribe(client, a, count, true);
}

/* --- what Redis clients say when they connect --- */

static bool only_listens(const struct client *client)
{
	return client->version == 2 && client->subscriptions_count > 0;
}

static bool serve_ping(struct client *client, const struct resp_argument *a, uint32_t count)
{
	if (only_listens(client)) {
		resp_array(&client->output, 2);
		resp_text(&client->output, "pong");
		resp_bulk(&client->output, count > 1 ? a[1].bytes : "", count > 1 ? a[1].size : 0);
	} else if (count > 1) {
		resp_bulk(&client->output, a[1].bytes, a[1].size);
	} else {
		resp_simple(&client->output, "PONG");
	}
	return true;
}

static void tell_hello(struct client *client)
{
	struct buffer *output = &client->output;
	const struct daemon_options *options = client->daemon->options;

	resp_map(output, 9, client->version);
	resp_text(output, "server");
	resp_text(output, "baton");
	resp_text(output, "version");
	resp_text(output, BATON_VERSION);
	resp_text(output, "proto");
	resp_integer(output, (uint64_t)client->version);
	resp_text(output, "id");
	resp_integer(output, client->session);
	resp_text(output, "mode");
	resp_text(output, "standalone");
	resp_text(output, "role");
	resp_text(output, "master");
	resp_text(output, "modules");
	resp_array(output, 0);
	/* Not of Redis: whom a client talks to, and for how long a promise lasts. */
	resp_text(output, "node");
	resp_text(output, options->peers[options->self].name);
	resp_text(output, "lease_ms");
	resp_integer(output, options->lease_ms);
}

static bool serve_hello(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t version = (uint64_t)client->version;

	if (count > 1 && (!read_number(&a[1], &version) || version < 2 || version > 3)) {
		resp_error(&client->output, "NOPROTO",
		           "unsupported protocol version: HELLO 2 or 3");
		return true;
	}
	for (uint32_t i = 2; i < count; i += 2) {
		if (i + 1 < count && is_word(&a[i], "SETNAME"))
			continue;
		if (is_word(&a[i], "AUTH"))
			return tell_wrong(
			        client, "there are no passwords: the socket's permissions decide");
		return tell_wrong(client, "syntax error: HELLO [2 | 3 [SETNAME name]]");
	}
	client->version = (int)version;
	tell_hello(client);
	return true;
}

/* redis-cli asks for its hints; there are none. */
static bool serve_command(struct client *client, const struct resp_argument *a, uint32_t count)
{
	if (count > 1 && is_word(&a[1], "COUNT"))
		resp_integer(&client->output, 0);
	else if (count > 1 && is_word(&a[1], "DOCS"))
		resp_map(&client->output, 0, client->version);
	else
		resp_array(&client->output, 0);
	return true;
}

/* It needs so long to stop when a lock is taken away from it; see client_linger. */
static bool serve_grace(struct client *client, const struct resp_argument *ms)
{
	uint64_t number;

	if (!read_number(ms, &number) || number == 0 || number > GRACE_MS_MAX)
		return tell_wrong(client,
		                  "GRACE needs a whole number of milliseconds, 1 to 4294967295");
	client_linger(client, number);
	resp_simple(&client->output, "OK");
	return true;
}

static bool serve_client(struct client *client, const struct resp_argument *a, uint32_t count)
{
	if ((count == 3 && is_word(&a[1], "SETNAME")) || (count == 4 && is_word(&a[1], "SETINFO")))
		resp_simple(&client->output, "OK");
	else if (count == 3 && is_word(&a[1], "GRACE"))
		return serve_grace(client, &a[2]);
	else if (count == 2 && is_word(&a[1], "ID"))
		resp_integer(&client->output, client->session);
	else
		return tell_wrong(
		        client, "CLIENT knows SETNAME name, SETINFO name value, GRACE ms, and ID");
	return true;
}

static bool serve_info(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	resp_text(&client->output, "# Server\r\nbaton_version:" BATON_VERSION
	                           "\r\nredis_mode:standalone\r\nloading:0\r\n");
	return true;
}

static bool serve_select(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)count;
	if (!is_word(&a[1], "0"))
		return tell_wrong(client, "there is one database, 0");
	resp_simple(&client->output, "OK");
	return true;
}

static bool serve_quit(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	resp_simple(&client->output, "OK");
	client_end(client);
	return true;
}

/* --- the table --- */

static const struct {
	const char *name;
	bool (*serve)(struct client *client, const struct resp_argument *a, uint32_t count);
	uint32_t least, most; /* arguments, the name included */
	bool listening;       /* also for a subscriber that speaks version 2 */
} commands[] = {
        {"LOCK", serve_lock, 2, 4, false},
        {"UNLOCK", serve_unlock, 2, 3, false},
        {"ELECT", serve_elect, 3, 3, false},
        {"RESIGN", serve_unlock, 2, 3, false},
        {"LEADER", serve_leader, 2, 3, false},
        {"SUBSCRIBE", serve_subscribe, 2, RESP_ARGUMENTS_MAX, true},
        {"PSUBSCRIBE", serve_psubscribe, 2, RESP_ARGUMENTS_MAX, true},
        {"UNSUBSCRIBE", serve_unsubscribe, 1, RESP_ARGUMENTS_MAX, true},
        {"PUNSUBSCRIBE", serve_punsubscribe, 1, RESP_ARGUMENTS_MAX, true},
        {"STATUS", serve_status, 1, 4, false},
        {"BREAK", serve_break, 3, 3, false},
        {"PING", serve_ping, 1, 2, true},
        {"HELLO", serve_hello, 1, 7, false},
        {"COMMAND", serve_command, 1, RESP_ARGUMENTS_MAX, false},
        {"CLIENT", serve_client, 2, 4, false},
        {"INFO", serve_info, 1, RESP_ARGUMENTS_MAX, false},
        {"SELECT", serve_select, 2, 2, false},
        {"QUIT", serve_quit, 1, 1, true},
};

bool command_serve(struct client *client, const struct resp_command *command)
{
	const struct resp_argument *a = command->arguments;
	uint32_t count = command->arguments_count;

	client_dirty(client);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!is_word(&a[0], commands[i].name))
			continue;
		if (count < commands[i].least || count > commands[i].most)
			return tell_wrong(client, "wrong number of arguments for '%s' command",
			                  commands[i].name);
		if (only_listens(client) && !commands[i].listening)
			return tell_wrong(
			        client,
			        "Can't execute '%s': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / "
			        "PING / QUIT are allowed in this context",
			        commands[i].name);
		return commands[i].serve(client, a, count);
	}
	/* A page in somebody's browser can make it talk to a port here, but it begins like this. */
	if (is_word(&a[0], "POST") || is_word(&a[0], "HOST:")) {
		tell_wrong(client, "this is not a server of web pages");
		client_end(client);
		return true;
	}
	return tell_wrong(client, "unknown command '%.*s'", (int)(a[0].size < 64 ? a[0].size : 64),
	                  a[0].bytes);
}

/* --- what the node says --- */

/* [fence, node, value, [silent members]], the first three nil if nobody is known to lead. */
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

void command_reply(struct client *client, const struct node_effect *effect)
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
		if (client->argument > 0) /* told when the command is given again */
			client->subscriptions_count = (uint32_t)effect->reply.number;
		else
			resp_integer(output, effect->reply.number);
		break;
	case REPLY_FENCE:
		resp_integer(output, effect->reply.number);
		break;
	case REPLY_LEADER:
		resp_array(output, 3);
		resp_integer(output, effect->reply.number);
		resp_bulk(output, effect->reply.member.bytes, effect->reply.member.size);
		resp_bulk(output, effect->reply.value.bytes, effect->reply.value.size);
		break;
	case REPLY_STATUS:
		status_begin(client, effect->reply.status);
		return;
	case REPLY_ERROR:
		client->asks_silent = false;
		tell_error(client, effect->reply.error);
		break;
	}
	client_answered(client);
}

void command_event(struct client *client, const struct node_effect *effect)
{
	static const char *const words[] = {
	        [EVENT_GRANTED] = "granted",
	        [EVENT_RELEASED] = "released",
	        [EVENT_LOST] = "lost",
	        [EVENT_LEADER] = "leader",
	};
	struct buffer *output = &client->output;
	char head[NODE_NAME_MAX + 64];

	if (client->ending)
		return;
	if (buffer_size(output) > CLIENT_OUTPUT_MAX) {
		log_line(LEVEL_WARNING, "a subscriber does not read: its connection is closed");
		client_close(client);
		return;
	}
	client_dirty(client);
	resp_push(output, effect->event.pattern.bytes != NULL ? 4 : 3, client->version);
	if (effect->event.pattern.bytes != NULL) {
		resp_text(output, "pmessage");
		resp_bulk(output, effect->event.pattern.bytes, effect->event.pattern.size);
	} else {
		resp_text(output, "message");
	}
	resp_bulk(output, effect->event.name.bytes, effect->event.name.size);
	int size =
	        snprintf(head, sizeof(head), "%s %llu %.*s%s", words[effect->event.kind],
	                 (unsigned long long)effect->event.fence, (int)effect->event.member.size,
	                 effect->event.member.bytes, effect->event.kind == EVENT_LEADER ? " " : "");
	if (effect->event.kind != EVENT_LEADER) {
		resp_bulk(output, head, (size_t)size);
		return;
	}
	char message[sizeof(head) + NODE_VALUE_MAX];
	memcpy(message, head, (size_t)size);
	memcpy(message + size, effect->event.value.bytes, effect->event.value.size);
	resp_bulk(output, message, (size_t)size + effect->event.value.size);
}
