#include "commands_redis.h"

#include "arguments.h"
#include "instance.h"
#include "memory.h"
#include "replies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool serve_echo(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)count;
	resp_bulk(&client->output, a[1].bytes, a[1].size);
	return true;
}

bool serve_auth(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	return reply_wrong(client,
	                   "there are no passwords: every user who may open the socket may use it; "
	                   "connect without AUTH");
}

/*
 * RESET: the session begins again as if the client had just connected, and its locks are released.
 * A connection pool sends RESET before it gives the connection to another user. Otherwise a lock of
 * the previous user, unknown to the next user, would stay held as long as the connection lives.
 */
bool serve_reset(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	/* After CLIENT STAY, what the client runs may go on until the connection ends, so its locks
	 * cannot be released now. */
	if (client->stays)
		return reply_wrong(client,
		                   "RESET would release locks that CLIENT STAY keeps: end the "
		                   "connection instead");
	client_renew(client);
	resp_simple(&client->output, "RESET");
	return true;
}

/* --- transactions are refused --- */

/*
 * Refuses MULTI, and every command after it up to EXEC, DISCARD or RESET. The client may have sent
 * those already, or look at errors only after EXEC; if they were carried out, half a transaction
 * would be done.
 */
bool serve_multi(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	client->multi_refused = true;
	return reply_wrong(client,
	                   "there are no transactions: MULTI is refused, and so is every command "
	                   "after it, up to EXEC or DISCARD");
}

bool serve_exec(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	if (!client->multi_refused)
		return reply_wrong(client, "EXEC without MULTI");
	client->multi_refused = false;
	resp_error(&client->output, "EXECABORT",
	           "nothing was done, because MULTI was refused: there are no transactions");
	return true;
}

bool serve_discard(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	if (!client->multi_refused)
		return reply_wrong(client, "DISCARD without MULTI");
	client->multi_refused = false;
	resp_simple(&client->output, "OK");
	return true;
}

bool refused_with_multi(struct client *client, const struct resp_argument *name)
{
	if (!client->multi_refused || argument_is(name, "MULTI") || argument_is(name, "EXEC") ||
	    argument_is(name, "DISCARD") || argument_is(name, "RESET") || argument_is(name, "QUIT"))
		return false;
	reply_wrong(
	        client,
	        "'%.*s' is refused, because it follows a MULTI that was refused: EXEC or DISCARD "
	        "ends that",
	        (int)(name->size < 64 ? name->size : 64), name->bytes);
	return true;
}

/* --- CLIENT: facts about a connection --- */

bool client_keep_text(struct client *client, enum client_text which, const char *what,
                      const struct resp_argument *text)
{
	if (text->size > CLIENT_TEXT_MAX)
		return !reply_wrong(client, "%s has at most %d bytes", what, CLIENT_TEXT_MAX);
	for (size_t i = 0; i < text->size; i++) {
		if (text->bytes[i] < '!' || text->bytes[i] > '~')
			return !reply_wrong(client,
			                    "%s cannot contain spaces, newlines or special "
			                    "characters",
			                    what);
	}
	free(client->texts[which]);
	client->texts[which] = NULL;
	if (text->size == 0)
		return true;
	client->texts[which] = strndup(text->bytes, text->size);
	memory_must(client->texts[which] != NULL);
	return true;
}

bool client_getname(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	if (client->texts[CLIENT_NAME] == NULL)
		resp_nil(&client->output, client->version);
	else
		resp_text(&client->output, client->texts[CLIENT_NAME]);
	return true;
}

bool client_setname(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)count;
	if (client_keep_text(client, CLIENT_NAME, "a client's name", &a[2]))
		resp_simple(&client->output, "OK");
	return true;
}

bool client_setinfo(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)count;
	bool name = argument_is(&a[2], "LIB-NAME");
	if (!name && !argument_is(&a[2], "LIB-VER"))
		return reply_wrong(client, "CLIENT SETINFO knows LIB-NAME and LIB-VER");
	if (client_keep_text(client, name ? CLIENT_LIB_NAME : CLIENT_LIB_VER,
	                     name ? "lib-name" : "lib-ver", &a[3]))
		resp_simple(&client->output, "OK");
	return true;
}

/* Writes a word of the line that CLIENT INFO returns, without bytes that would end the word. */
static void put_word(char *room, size_t size, const char *text)
{
	size_t i = 0;

	for (; text[i] != '\0' && i + 1 < size; i++)
		room[i] = (char)(text[i] > ' ' && text[i] <= '~' ? text[i] : '_');
	room[i] = '\0';
}

static uint32_t count_subscriptions(const struct client *client, bool pattern)
{
	const struct interest *at = node_subscriptions(client->daemon->node, client->session);
	struct node_bytes text;
	uint32_t count = 0;
	bool is_pattern;

	while (node_subscription_next(&at, &is_pattern, &text))
		count += is_pattern == pattern;
	return count;
}

/* CLIENT INFO: writes the fields that Redis libraries look for, in the order of Redis. A field that
 * has no meaning here is 0. */
bool client_info(struct client *client, const struct resp_argument *a, uint32_t count)
{
	char line[1536], address[256];
	const char *const *texts = (const char *const *)client->texts;

	(void)a;
	(void)count;
	put_word(address, sizeof(address),
	         client->tcp ? client->who.command + sizeof("tcp ") - 1
	                     : client->daemon->options->socket);
	int size = snprintf(
	        line, sizeof(line),
	        "id=%llu addr=%s%s fd=%d name=%s age=%llu idle=0 flags=%s db=0 sub=%u psub=%u "
	        "ssub=0 multi=-1 qbuf=%zu qbuf-free=%zu argv-mem=0 multi-mem=0 obl=%zu oll=0 "
	        "omem=%zu tot-mem=%zu events=r cmd=client|info user=default redir=-1 resp=%d "
	        "lib-name=%s lib-ver=%s\n",
	        (unsigned long long)client->session, address, client->tcp ? "" : ":0",
	        client->watch.fd, texts[CLIENT_NAME] != NULL ? texts[CLIENT_NAME] : "",
	        (unsigned long long)((client->daemon->loop.now - client->since) / 1000000000),
	        client->subscriptions_count > 0 ? "P"
	        : client->tcp                   ? "N"
	                                        : "U",
	        count_subscriptions(client, false), count_subscriptions(client, true),
	        buffer_size(&client->input), client->input.room - buffer_size(&client->input),
	        buffer_size(&client->output), client->output.room,
	        sizeof(*client) + client->input.room + client->output.room, client->version,
	        texts[CLIENT_LIB_NAME] != NULL ? texts[CLIENT_LIB_NAME] : "",
	        texts[CLIENT_LIB_VER] != NULL ? texts[CLIENT_LIB_VER] : "");
	resp_bulk(&client->output, line, (size_t)size);
	return true;
}
