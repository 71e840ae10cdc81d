#include "commands.h"

#include "arguments.h"
#include "baton/error.h"
#include "clock.h"
#include "commands_member.h"
#include "commands_redis.h"
#include "grace.h"
#include "info.h"
#include "instance.h"
#include "log.h"
#include "must.h"
#include "permissions.h"
#include "replies.h"
#include "status_queue.h"

#include <stdio.h>
#include <string.h>

/* If the node has accepted the command, notes that the client waits for the answer; otherwise
 * writes the error. */
static bool under_way(struct client *client, int error)
{
	if (error == 0)
		client->waiting = true;
	else
		reply_error(client, error);
	return true;
}

/* --- locks --- */

/* Reads the optional last words of LOCK and ELECT, which say how long to wait. Returns false after
 * it has replied with an error. */
static bool read_patience(struct client *client, const char *syntax, const struct resp_argument *a,
                          uint32_t count, enum node_patience *ret_patience,
                          uint64_t *ret_timeout_ns)
{
	uint64_t timeout_ms = 0;

	if (count == 1 && argument_is(&a[0], "NOWAIT"))
		*ret_patience = NODE_NOWAIT;
	else if (count == 2 && argument_is(&a[0], "TIMEOUT"))
		*ret_patience = NODE_TIMEOUT;
	else if (count == 0)
		*ret_patience = NODE_WAIT;
	else
		return !reply_wrong(client, "syntax error: %s [NOWAIT | TIMEOUT ms]", syntax);
	if (*ret_patience == NODE_TIMEOUT &&
	    (!argument_number(&a[1], &timeout_ms) || timeout_ms > UINT64_C(1000) * 86400 * 365))
		return !reply_wrong(client,
		                    "TIMEOUT needs a whole number of milliseconds, at most a year");
	*ret_timeout_ns = timeout_ms * 1000000;
	return true;
}

static bool serve_lock(struct client *client, const struct resp_argument *a, uint32_t count)
{
	enum node_patience patience = NODE_WAIT;
	uint64_t timeout_ns = 0;

	if (daemon_grants_nothing(client->daemon))
		return under_way(client, BATON_ENOVIEW);
	if (!read_patience(client, "LOCK name", a + 2, count - 2, &patience, &timeout_ns))
		return true;
	int error = node_lock(client->daemon->node, client->session, a[1].bytes, a[1].size,
	                      patience, timeout_ns, client->daemon->loop.now);
	client->wants_lock = error == 0;
	return under_way(client, error);
}

/* Reads a fence. If the argument is not one, replies so and returns false. */
static bool read_fence(struct client *client, const struct resp_argument *a, uint64_t *ret_fence)
{
	if (argument_number(a, ret_fence) && *ret_fence != 0 && *ret_fence <= NODE_FENCE_MAX)
		return true;
	reply_error(client, BATON_EFENCE);
	return false;
}

static bool serve_unlock(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t fence = 0;

	if (count == 3 && !read_fence(client, &a[2], &fence))
		return true;
	int result = node_unlock(client->daemon->node, client->session, a[1].bytes, a[1].size,
	                         fence, client->daemon->loop.now);
	if (result < 0)
		reply_error(client, result);
	else
		resp_integer(&client->output, (uint64_t)result);
	client_unlocked(client);
	return true;
}

static bool serve_elect(struct client *client, const struct resp_argument *a, uint32_t count)
{
	enum node_patience patience = NODE_WAIT;
	uint64_t timeout_ns = 0;

	if (daemon_grants_nothing(client->daemon))
		return under_way(client, BATON_ENOVIEW);
	if (!read_patience(client, "ELECT name value", a + 3, count - 3, &patience, &timeout_ns))
		return true;
	int error =
	        node_elect(client->daemon->node, client->session, a[1].bytes, a[1].size, a[2].bytes,
	                   a[2].size, patience, timeout_ns, client->daemon->loop.now);
	client->wants_lock = error == 0;
	return under_way(client, error);
}

static bool serve_leader(struct client *client, const struct resp_argument *a, uint32_t count)
{
	if (count == 3 && !argument_is(&a[2], "SILENT"))
		return reply_wrong(client, "syntax error: LEADER name [SILENT]");
	int error = node_leader(client->daemon->node, client->session, a[1].bytes, a[1].size,
	                        client->daemon->loop.now);
	client->asks_silent = error == 0 && count == 3;
	return under_way(client, error);
}

static bool serve_break(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t fence;

	(void)count;
	if (!read_fence(client, &a[2], &fence))
		return true;
	int error = node_break(client->daemon->node, client->session, a[1].bytes, a[1].size, fence,
	                       client->daemon->loop.now);
	if (error == 0) {
		char who[CLIENT_DESCRIPTION_MAX];
		client_describe(client, who);
		log_limited(client_orders(client), client->daemon->loop.now, LEVEL_WARNING,
		            "an operator asks to break '%.*s', fence %llu: %s", (int)a[1].size,
		            a[1].bytes, (unsigned long long)fence, who);
	}
	return under_way(client, error);
}

void command_ask_status(struct client *client)
{
	struct client_status *status = &client->status;
	struct buffer room = {0};

	status->stage = STATUS_ASKED;
	int error = node_status(client->daemon->node, client->session, status->pattern,
	                        status->pattern_size, permission_sights(client, &room),
	                        status->count, client->daemon->loop.now);
	buffer_free(&room);
	if (error == 0)
		return;
	reply_error(client, error);
	status_leave(client);
	client_dirty(client);
	client_answered(client);
}

static bool serve_status(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t most = 0;

	if (count == 3 || (count == 4 && !argument_is(&a[2], "COUNT")))
		return reply_wrong(client, "syntax error: STATUS [pattern [COUNT n]]");
	if (count == 4 && (!argument_number(&a[3], &most) || most == 0 || most > UINT32_MAX))
		return reply_wrong(client, "COUNT needs a whole number from 1 to 4294967295");
	client->waiting = true;
	if (status_enter(client, count > 1 ? a[1].bytes : NULL, count > 1 ? a[1].size : 0,
	                 (uint32_t)most))
		command_ask_status(client);
	return true;
}

/* --- subscriptions --- */

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

/* Subscribes to one name after the other, because the node answers each only when all members know
 * of it. The command is served again after each answer; client->argument is the name that is
 * pending. */
static bool subscribe(struct client *client, const struct resp_argument *a, uint32_t count,
                      bool pattern)
{
	if (client->argument > 0) {
		const struct resp_argument *done = &a[client->argument];
		tell_subscription(client, pattern ? "psubscribe" : "subscribe", done->bytes,
		                  done->size);
	}
	while (++client->argument < count) {
		/* A client that may take a lock must be able to learn of its loss; see
		 * permission_hears. */
		if (!pattern && !permission_for(client, VERB_OBSERVE | VERB_LOCK | VERB_ELECT,
		                                &a[client->argument]))
			continue;
		int error = node_subscribe(client->daemon->node, client->session, pattern,
		                           a[client->argument].bytes, a[client->argument].size,
		                           client->daemon->loop.now);
		if (error == 0) {
			client->waiting = true;
			return false;
		}
		reply_error(client, error);
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
	/* Check this only the first time: the command is served again after each name (see
	 * subscribe). permission_hears decides for each event whether the client gets it. */
	if (client->argument == 0 && !permission_somewhere(client, VERB_OBSERVE, &a[1]))
		return true;
	return subscribe(client, a, count, true);
}

static void unsubscribe_one(struct client *client, bool pattern, const char *bytes, size_t size)
{
	const char *what = pattern ? "punsubscribe" : "unsubscribe";
	int left = node_unsubscribe(client->daemon->node, client->session, pattern, bytes, size,
	                            client->daemon->loop.now);

	if (left < 0) {
		reply_error(client, left);
		return;
	}
	client->subscriptions_count = (uint32_t)left;
	tell_subscription(client, what, bytes, size);
}

static bool unsubscribe(struct client *client, const struct resp_argument *a, uint32_t count,
                        bool pattern)
{
	bool any = false, is_pattern;
	struct node_bytes text;

	for (uint32_t i = 1; i < count; i++)
		unsubscribe_one(client, pattern, a[i].bytes, a[i].size);
	if (count > 1)
		return true;
	const struct interest *at = node_subscriptions(client->daemon->node, client->session);
	while (node_subscription_next(&at, &is_pattern, &text)) {
		char copy[NODE_NAME_MAX]; /* the node frees the text */
		if (is_pattern != pattern)
			continue;
		any = true;
		memcpy(copy, text.bytes, text.size);
		unsubscribe_one(client, pattern, copy, text.size);
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

/* --- what Redis clients send when they connect --- */

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
	/* These two fields are not in Redis: the node's name, and how long a lease is. */
	resp_text(output, "node");
	resp_text(output, daemon_name(client->daemon));
	resp_text(output, "lease_ms");
	resp_integer(output, client->daemon->settings.lease_ms);
}

static bool serve_hello(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t version = (uint64_t)client->version;

	if (count > 1 && (!argument_number(&a[1], &version) || version < 2 || version > 3)) {
		resp_error(&client->output, "NOPROTO",
		           "unsupported protocol version: HELLO 2 or 3");
		return true;
	}
	const struct resp_argument *name = NULL;
	for (uint32_t i = 2; i < count; i += 2) {
		if (argument_is(&a[i], "AUTH"))
			return serve_auth(client, a, count);
		if (i + 1 == count || !argument_is(&a[i], "SETNAME"))
			return reply_wrong(client, "syntax error: HELLO [2 | 3 [SETNAME name]]");
		name = &a[i + 1];
	}
	if (name != NULL && !client_keep_text(client, CLIENT_NAME, "a client's name", name))
		return true;
	client->version = (int)version;
	tell_hello(client);
	return true;
}

/* Sets the time that the client needs to stop when a lock is taken away from it; see
 * client_set_grace. */
static bool serve_grace(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t lease_ms = client->daemon->settings.lease_ms;
	uint64_t number, percent = client->tcp ? GRACE_PERCENT_MAX_TCP : GRACE_PERCENT_MAX;
	uint64_t most = lease_ms * percent / 100;

	(void)count;
	/* The limit depends on the lease, and the cluster that the node will join may have another
	 * one. */
	if (member_unborn(client->daemon->member) != NULL) {
		reply_error(client, BATON_ENOVIEW);
		return true;
	}
	if (!argument_number(&a[2], &number) || number == 0 || number > most)
		return reply_wrong(client,
		                   "GRACE needs a whole number of milliseconds from 1 to %llu, "
		                   "which is 0.%llu of the lease of %llu ms",
		                   (unsigned long long)most, (unsigned long long)percent,
		                   (unsigned long long)lease_ms);
	client_set_grace(client, number);
	resp_simple(&client->output, "OK");
	return true;
}

/* CLIENT STAY: the client cannot stop what it does under its locks; see client_stay. */
static bool serve_stay(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	/* Only a session with a lock needs this, so a client that may take no lock cannot set
	 * it. */
	if (node_session_holds(client->daemon->node, client->session) == 0)
		return reply_wrong(client, "CLIENT STAY is for a session that holds a lock or is "
		                           "losing one, and this one has none");
	client_stay(client);
	resp_simple(&client->output, "OK");
	return true;
}

/*
 * LEASE: tells how often this node has lapsed, and what is left of its lease. From now on the
 * client may rely on its locks until that lease ends, even if its connection ends without its
 * knowledge.
 */
static bool serve_lease(struct client *client, const struct resp_argument *a, uint32_t count)
{
	uint64_t left_ns, lapses;

	(void)a;
	(void)count;
	/* The client has lost a lock and must stop. It must not be told a later deadline than
	 * before. */
	if (client->told_lost) {
		resp_array(&client->output, 2);
		resp_integer(&client->output, node_lapses(client->daemon->node));
		resp_integer(&client->output, 0);
		return true;
	}
	int error = node_session_lease(client->daemon->node, client->session,
	                               client->daemon->loop.now, &left_ns, &lapses);
	if (error != 0) {
		reply_error(client, error);
		return true;
	}
	client_ask_lease(client);
	resp_array(&client->output, 2);
	resp_integer(&client->output, lapses);
	reply_left(client, left_ns);
	return true;
}

/*
 * CLIENT LEASES: from now on, the replies to LOCK and ELECT tell what is left of the lease. The
 * reply to this command has two numbers: the time on this node's lease clock, by which the client
 * sees whether its own clock is the same; and the length of a lease. With WORD the descriptor of
 * the lease word comes with the reply, the first time.
 */
static bool serve_leases(struct client *client, const struct resp_argument *a, uint32_t count)
{
	bool word = argument_is(&a[2], "WORD");

	(void)count;
	if (!word && !argument_is(&a[2], "ON") && !argument_is(&a[2], "OFF"))
		return reply_wrong(client, "syntax error: CLIENT LEASES ON | OFF | WORD");
	if (word && (client->tcp || client->daemon->lease_page.fd < 0))
		return reply_wrong(client, "the lease word cannot be passed on this connection: "
		                           "use CLIENT LEASES ON, and ask with LEASE");
	client->leases = !argument_is(&a[2], "OFF");
	if (!client->leases) {
		resp_simple(&client->output, "OK");
		return true;
	}
	/* The client may rely on the lease in a reply to LOCK as on an answer to LEASE. */
	if (client->tcp) {
		uint64_t left_ns, lapses;
		node_session_lease(client->daemon->node, client->session, client->daemon->loop.now,
		                   &left_ns, &lapses);
		client_ask_lease(client);
	}
	client->passes_word = client->passes_word || (word && !client->asked_word);
	client->asked_word = client->asked_word || word;
	resp_array(&client->output, 2);
	resp_integer(&client->output, clock_lease_ns());
	resp_integer(&client->output, client->daemon->settings.lease_ms);
	return true;
}

/* CLIENT REASONS: from now on, LOST messages include the reason, and with TIMED also the time. */
static bool serve_reasons(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)count;
	bool timed = argument_is(&a[2], "TIMED");
	if (!timed && !argument_is(&a[2], "ON") && !argument_is(&a[2], "OFF"))
		return reply_wrong(client, "syntax error: CLIENT REASONS ON | OFF | TIMED");
	client->reasons = !argument_is(&a[2], "OFF");
	client->timed = timed;
	resp_simple(&client->output, "OK");
	return true;
}

static bool serve_client_id(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	resp_integer(&client->output, client->session);
	return true;
}

/* The subcommands of CLIENT, one in each row. */
static const struct {
	const char *name, *arguments;
	serve_command *serve;
	uint32_t count; /* how many words the command has, including CLIENT and the subcommand */
} client_commands[] = {
        {"GETNAME", "", client_getname, 2},
        {"GRACE", " ms", serve_grace, 3},
        {"ID", "", serve_client_id, 2},
        {"INFO", "", client_info, 2},
        {"LEASES", " ON | OFF | WORD", serve_leases, 3},
        {"REASONS", " ON | OFF | TIMED", serve_reasons, 3},
        {"SETINFO", " LIB-NAME | LIB-VER text", client_setinfo, 4},
        {"SETNAME", " name", client_setname, 3},
        {"STAY", "", serve_stay, 2},
};

static bool serve_client(struct client *client, const struct resp_argument *a, uint32_t count)
{
	char known[256] = "";
	size_t size = 0;

	for (size_t i = 0; i < sizeof(client_commands) / sizeof(*client_commands); i++) {
		if (count == client_commands[i].count &&
		    argument_is(&a[1], client_commands[i].name))
			return client_commands[i].serve(client, a, count);
		size += (size_t)snprintf(known + size, sizeof(known) - size, "%s%s%s",
		                         i > 0 ? ", " : "", client_commands[i].name,
		                         client_commands[i].arguments);
		must(size < sizeof(known));
	}
	return reply_wrong(client, "CLIENT knows %s", known);
}

/* Serves READY. It needs no permission, because health checks may be allowed nothing else. */
static bool serve_ready(struct client *client, const struct resp_argument *a, uint32_t count)
{
	char waits_for[WAITS_FOR_MAX];

	(void)a;
	(void)count;
	resp_integer(&client->output,
	             !status_waits_for(client->daemon, waits_for, sizeof(waits_for)));
	return true;
}

static bool serve_select(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)count;
	if (!argument_is(&a[1], "0"))
		return reply_wrong(client, "there is one database, 0");
	resp_simple(&client->output, "OK");
	return true;
}

static bool serve_quit(struct client *client, const struct resp_argument *a, uint32_t count)
{
	(void)a;
	(void)count;
	resp_simple(&client->output, "OK");
	client->quits = true;
	client_end(client);
	return true;
}

/* --- the table --- */

static serve_command serve_command_table;

static const struct command {
	const char *name;
	serve_command *serve;
	uint32_t least, most; /* the least and the most arguments, including the command's name */
	/* The command is also allowed for a subscriber that speaks version 2. */
	bool listening;
	/* The verb that the rules must allow; 0: none is needed, or the command checks this
	 * itself. */
	unsigned verb;
	const char *summary;
} commands[] = {
        {"LOCK", serve_lock, 2, 4, false, VERB_LOCK, "Takes a lock: name [NOWAIT | TIMEOUT ms]"},
        {"UNLOCK", serve_unlock, 2, 3, false, 0, "Gives a lock back: name [fence]"},
        {"ELECT", serve_elect, 3, 5, false, VERB_ELECT,
         "Campaigns, and publishes a value once elected: name value [NOWAIT | TIMEOUT ms]"},
        {"RESIGN", serve_unlock, 2, 3, false, 0, "Stops leading: name [fence]"},
        {"LEADER", serve_leader, 2, 3, false, VERB_OBSERVE, "Shows who leads: name [SILENT]"},
        {"LEASE", serve_lease, 1, 1, false, 0,
         "Shows how long this node may still act without the others"},
        {"SUBSCRIBE", serve_subscribe, 2, RESP_ARGUMENTS_MAX, true, 0,
         "Sends events of these locks: name ..."},
        {"PSUBSCRIBE", serve_psubscribe, 2, RESP_ARGUMENTS_MAX, true, 0,
         "Sends events of locks whose names match: pattern ..."},
        {"UNSUBSCRIBE", serve_unsubscribe, 1, RESP_ARGUMENTS_MAX, true, 0,
         "Stops events of these locks: [name ...]"},
        {"PUNSUBSCRIBE", serve_punsubscribe, 1, RESP_ARGUMENTS_MAX, true, 0,
         "Stops events of these patterns: [pattern ...]"},
        {"STATUS", serve_status, 1, 4, false, VERB_STATUS,
         "Shows members and locks as JSON: [pattern [COUNT n]]"},
        {"BREAK", serve_break, 3, 3, false, VERB_BREAK, "Takes a lock from its holder: name fence"},
        {"MEMBER", serve_member, 2, 4, false, 0,
         "Lists the members, or gives an order: LIST | REMOVE name | INVITE [name | FOR ms] | "
         "PROMOTE name | DEMOTE name"},
        {"DRAIN", serve_drain, 1, 2, false, VERB_ADMIN,
         "Leaves when all holders have finished: [ms]"},
        {"READY", serve_ready, 1, 1, false, 0, "Shows whether the node serves: 1 or 0"},
        {"WHOAMI", serve_whoami, 1, 1, false, 0, "Shows whom the node takes this client for"},
        {"CAN", serve_can, 2, 2, false, 0, "Shows what this client may do with a lock: name"},
        {"PING", serve_ping, 1, 2, true, 0, "Answers: [text]"},
        {"ECHO", serve_echo, 2, 2, false, 0, "Answers with the text: text"},
        {"HELLO", serve_hello, 1, 7, false, 0,
         "Chooses the version of RESP: [2 | 3 [SETNAME name]]"},
        {"AUTH", serve_auth, 1, RESP_ARGUMENTS_MAX, false, 0, "Refused: there are no passwords"},
        {"RESET", serve_reset, 1, 1, true, 0, "Begins a new session; locks are given back"},
        {"MULTI", serve_multi, 1, RESP_ARGUMENTS_MAX, true, 0,
         "Refused, and so are all commands up to EXEC"},
        {"EXEC", serve_exec, 1, 1, true, 0, "Ends what a refused MULTI began"},
        {"DISCARD", serve_discard, 1, 1, true, 0, "Ends what a refused MULTI began"},
        {"COMMAND", serve_command_table, 1, RESP_ARGUMENTS_MAX, false, 0,
         "Lists the commands: [COUNT | DOCS [name ...] | INFO [name ...] | LIST]"},
        {"CLIENT", serve_client, 2, RESP_ARGUMENTS_MAX, false, 0,
         "Shows or sets a property of this connection: word ..."},
        {"INFO", serve_info, 1, RESP_ARGUMENTS_MAX, false, 0, "Shows what this node has counted"},
        {"SELECT", serve_select, 2, 2, false, 0, "There is one database, 0: 0"},
        {"QUIT", serve_quit, 1, 1, true, 0, "Ends the connection"},
};
enum { COMMANDS_COUNT = sizeof(commands) / sizeof(*commands) };

static const struct command *find_command(const struct resp_argument *name)
{
	for (size_t i = 0; i < COMMANDS_COUNT; i++) {
		if (argument_is(name, commands[i].name))
			return &commands[i];
	}
	return NULL;
}

/* Writes the name in small letters, as Redis does. */
static void tell_name(struct client *client, const struct command *command)
{
	char name[32];
	size_t size = strlen(command->name);

	for (size_t i = 0; i < size; i++)
		name[i] = (char)(command->name[i] - 'A' + 'a');
	resp_bulk(&client->output, name, size);
}

/* Writes the ten things that Redis tells about each command. The second is its number of words; a
 * negative number is a minimum. */
static void tell_command(struct client *client, const struct command *command)
{
	struct buffer *output = &client->output;

	if (command == NULL) {
		resp_nil(output, client->version);
		return;
	}
	resp_array(output, 10);
	tell_name(client, command);
	if (command->least < command->most)
		resp_negative(output, command->least);
	else
		resp_integer(output, command->least);
	resp_array(output, 0); /* flags */
	for (int i = 0; i < 3; i++)
		resp_integer(output, 0); /* no argument is a key */
	for (int i = 0; i < 4; i++)
		resp_array(output, 0); /* categories, hints, keys, subcommands */
}

static void tell_docs(struct client *client, const struct command *command)
{
	tell_name(client, command);
	resp_map(&client->output, 2, client->version);
	resp_text(&client->output, "summary");
	resp_text(&client->output, command->summary);
	resp_text(&client->output, "group");
	resp_text(&client->output, "baton");
}

static bool serve_command_docs(struct client *client, const struct resp_argument *a, uint32_t count)
{
	size_t found = 0;

	for (uint32_t i = 2; i < count; i++)
		found += find_command(&a[i]) != NULL;
	resp_map(&client->output, count == 2 ? COMMANDS_COUNT : found, client->version);
	for (size_t i = 0; count == 2 && i < COMMANDS_COUNT; i++)
		tell_docs(client, &commands[i]);
	for (uint32_t i = 2; i < count; i++) {
		if (find_command(&a[i]) != NULL)
			tell_docs(client, find_command(&a[i]));
	}
	return true;
}

/* redis-cli asks for this to show hints. Libraries ask for it to route commands by keys, of which
 * there are none here. */
static bool serve_command_table(struct client *client, const struct resp_argument *a,
                                uint32_t count)
{
	if (count == 2 && argument_is(&a[1], "COUNT")) {
		resp_integer(&client->output, COMMANDS_COUNT);
	} else if (count > 1 && argument_is(&a[1], "DOCS")) {
		return serve_command_docs(client, a, count);
	} else if (count == 1 || argument_is(&a[1], "INFO")) {
		resp_array(&client->output, count > 2 ? count - 2 : COMMANDS_COUNT);
		for (size_t i = 0; count <= 2 && i < COMMANDS_COUNT; i++)
			tell_command(client, &commands[i]);
		for (uint32_t i = 2; i < count; i++)
			tell_command(client, find_command(&a[i]));
	} else if (count == 2 && argument_is(&a[1], "LIST")) {
		resp_array(&client->output, COMMANDS_COUNT);
		for (size_t i = 0; i < COMMANDS_COUNT; i++)
			tell_name(client, &commands[i]);
	} else {
		return reply_wrong(
		        client, "COMMAND knows COUNT, DOCS [name ...], INFO [name ...], and LIST");
	}
	return true;
}

/* Is this the first line of HTTP: "GET / HTTP/1.1"? LOCK and UNLOCK are methods of HTTP too. */
static bool is_http(const struct resp_argument *a, uint32_t count)
{
	const struct resp_argument *last = &a[count - 1];

	return count == 3 && last->size >= 5 && memcmp(last->bytes, "HTTP/", 5) == 0;
}

/*
 * Ends a connection that sends a line of another protocol, because a later line may look like a
 * command. A web page can make a browser connect to a local port, and a mail server can be made to
 * connect to it. At the Unix socket a line that is no command is a typing error, and is forgiven.
 */
static bool ends_foreign(struct client *client, const struct command *command,
                         const struct resp_argument *a, uint32_t count)
{
	if (is_http(a, count))
		reply_wrong(client, "this is not a server of web pages");
	else if (command == NULL && client->tcp)
		reply_wrong(client,
		            "unknown command '%.*s': over TCP, a line that is no command ends the "
		            "connection",
		            (int)(a[0].size < 64 ? a[0].size : 64), a[0].bytes);
	else
		return false;
	client_end(client);
	return true;
}

/* Checks the rules. STATUS and the administrators' commands concern no single lock; every other
 * command concerns the lock in its first argument. If this returns false, the client was told which
 * rule is missing. */
static bool is_permitted(struct client *client, const struct command *command,
                         const struct resp_argument *a, uint32_t count)
{
	if (command->verb == 0)
		return true;
	if (command->verb == VERB_STATUS)
		return permission_somewhere(client, VERB_STATUS, count > 1 ? &a[1] : NULL);
	if (command->verb == VERB_ADMIN)
		return permission_somewhere(client, VERB_ADMIN, NULL);
	return permission_for(client, command->verb, &a[1]);
}

bool command_serve(struct client *client, const struct resp_command *words)
{
	const struct resp_argument *a = words->arguments;
	uint32_t count = words->arguments_count;
	const struct command *command = find_command(&a[0]);

	client_dirty(client);
	if (refused_with_multi(client, &a[0]))
		return true;
	if (words->is_line && ends_foreign(client, command, a, count))
		return true;
	if (command == NULL)
		return reply_wrong(client, "unknown command '%.*s'",
		                   (int)(a[0].size < 64 ? a[0].size : 64), a[0].bytes);
	if (count < command->least || count > command->most)
		return reply_wrong(client, "wrong number of arguments for '%s' command",
		                   command->name);
	if (only_listens(client) && !command->listening)
		return reply_wrong(client,
		                   "Can't execute '%s': only (P)SUBSCRIBE / (P)UNSUBSCRIBE / "
		                   "PING / QUIT / RESET are allowed in this context",
		                   command->name);
	if (permission_rules(client) != NULL && !is_permitted(client, command, a, count))
		return true;
	return command->serve(client, a, count);
}
