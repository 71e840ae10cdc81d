/*
 * STATUS as JSON.
 *
 * The text of a hundred thousand locks has 20 megabytes and takes most of a second to make. So that
 * the node can serve others in the meantime, each turn of the client makes a part of it
 * (status_continue). The reply begins with its length, so it can be sent only when it is complete.
 */
#include "status_json.h"

#include "flow.h"
#include "instance.h"
#include "memory.h"
#include "must.h"
#include "permissions.h"
#include "status_queue.h"
#include "tenant.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static json_t *text(const char *bytes, size_t size)
{
	if (size == 0)
		return json_string("");
	/* Many JSON parsers refuse a 0 byte in a string. */
	json_t *json = memchr(bytes, '\0', size) == NULL ? json_stringn(bytes, size) : NULL;
	if (json != NULL)
		return json;
	/* A name may be any bytes. If it is not UTF-8, all bytes that are not ASCII, and 0, are
	 * shown as \xNN. */
	struct buffer escaped = {0};
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)bytes[i];
		char hex[5];
		snprintf(hex, sizeof(hex), "\\x%02x", c);
		bool plain = c < 0x80 && c != 0;
		buffer_append(&escaped, plain ? &bytes[i] : hex, plain ? 1 : 4);
	}
	json = json_stringn(buffer_front(&escaped), buffer_size(&escaped));
	buffer_free(&escaped);
	memory_must(json != NULL);
	return json;
}

static json_t *number_or_null(uint32_t number)
{
	return number == UINT32_MAX ? json_null() : json_integer(number);
}

static json_t *members_json(const struct node_status *status, json_t *silent)
{
	json_t *members = json_array();

	for (uint32_t i = 0; i < status->members_count; i++) {
		const struct node_status_member *member = &status->members[i];
		const char *state = member->silent   ? "silent"
		                    : member->active ? "active"
		                                     : "starting";
		json_array_append_new(members,
		                      json_pack("{s:s, s:s?, s:I, s:s, s:o}", "name", member->name,
		                                "address", member->address, "incarnation",
		                                (json_int_t)member->incarnation, "state", state,
		                                "lease_ms",
		                                member->leased && !member->silent
		                                        ? json_integer((json_int_t)member->lease_ms)
		                                        : json_null()));
		if (member->silent)
			json_array_append_new(silent, json_string(member->name));
	}
	return members;
}

/* Returns the peers to which this node has a link. */
static json_t *links_json(const struct daemon *daemon)
{
	const struct tenant *tenant = member_tenant(daemon->member);
	json_t *links = json_array();
	uint32_t count = 0;
	const struct tenant_peer *peers = tenant != NULL ? tenant_peers(tenant, &count) : NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (peers[i].stands)
			json_array_append_new(links, json_string(peers[i].name));
	}
	return links;
}

/* Returns the counters of each member that has answered. A sum over members would say little when
 * members come and go. */
static json_t *counts_json(const struct node_status *status)
{
	json_t *counts = json_object();

	for (uint32_t i = 0; i < status->members_count; i++) {
		const struct node_status_member *member = &status->members[i];
		if (!member->silent)
			json_object_set_new(counts, member->name,
			                    json_pack("{s:I, s:I}", "grants",
			                              (json_int_t)member->grants, "sent",
			                              (json_int_t)member->sent));
	}
	return counts;
}

static json_t *messages_json(const struct daemon *daemon, const struct node_status *status,
                             uint64_t *ret_grants)
{
	const struct algorithm *algorithm = daemon->settings.algorithm;
	uint64_t sent = 0, received = 0, control = 0;
	json_t *by_type = json_object();

	*ret_grants = 0;
	for (uint32_t type = 0; type < algorithm->messages_count; type++) {
		uint64_t count = 0;
		for (uint32_t i = 0; i < status->members_count; i++)
			count += status->members[i].silent ? 0
			                                   : status->members[i].sent_by_type[type];
		json_object_set_new(by_type, algorithm->messages[type].name,
		                    json_integer((json_int_t)count));
	}
	for (uint32_t i = 0; i < status->members_count; i++) {
		sent += status->members[i].sent;
		received += status->members[i].received;
		control += status->members[i].control_sent;
		*ret_grants += status->members[i].grants;
	}
	return json_pack("{s:I, s:I, s:o, s:I}", "sent", (json_int_t)sent, "received",
	                 (json_int_t)received, "by_type", by_type, "control", (json_int_t)control);
}

bool status_waits_for(struct daemon *daemon, char *ret_text, size_t size)
{
	const struct daemon_options *options = daemon->options;
	const char *unborn = member_unborn(daemon->member);
	const char *silent = member_silent_voters(daemon->member);
	const char *refusal = member_refusal(daemon->member);
	const char *waiting_for = node_waiting_for(daemon->node), *missing;

	if (waiting_for == NULL && !daemon_grants_nothing(daemon))
		return false;
	if (daemon->draining && !daemon->leaving)
		snprintf(ret_text, size,
		         "clients that hold locks here to finish, because it is drained");
	else if (daemon->leaving)
		snprintf(ret_text, size,
		         "clients that hold locks here to stop, because it is leaving");
	else if (daemon->removed)
		snprintf(ret_text, size,
		         "an operator, who has removed this node: 'baton member invite %s' "
		         "lets it come back",
		         daemon_name(daemon));
	else if (daemon->serve_at > daemon->loop.now)
		snprintf(ret_text, size,
		         "commands started under the previous node on this socket, which was "
		         "killed, "
		         "to end: one lease, %llu ms of it left",
		         (unsigned long long)((daemon->serve_at - daemon->loop.now) / LOOP_MS));
	else if (unborn != NULL && *unborn != '\0')
		snprintf(ret_text, size, "%s%s%s", unborn, refusal != NULL ? "; " : "",
		         refusal != NULL ? refusal : "");
	else if (refusal != NULL) /* a refusal says more than that a connection is missing */
		snprintf(ret_text, size, "%s", refusal);
	else if (member_identity(daemon->member)
	                 ->witness) /* a witness gets no lease from the voters */
		snprintf(ret_text, size,
		         "nothing: this node is a witness, which votes and serves no locks%s%.200s",
		         options->witness_given ? "" : "; so says its data directory ",
		         options->witness_given ? "" : options->data);
	else if (silent != NULL)
		snprintf(ret_text, size, "most of the voters to agree on a leader: %s", silent);
	else if ((missing = member_missing(daemon->member)) != NULL)
		snprintf(ret_text, size, "%s; no connection to %s", waiting_for, missing);
	else
		snprintf(ret_text, size, "%s", waiting_for);
	return true;
}

/* --- a reply, part by part --- */

/* A reply that is being written for a client. */
struct status_job {
	struct client *client;
	struct node_status *status;
	json_t *tail;       /* the keys and values of the reply that come after the locks */
	struct buffer text; /* room for the length, then the reply so far */
	bool merged;        /* all locks are known */
	bool begun;         /* the beginning of the current lock is written; its waiters are next */
	bool any;           /* a lock was written: the next one needs a comma */
	uint32_t lock, waiter;
};

static int append(const char *bytes, size_t size, void *buffer)
{
	buffer_append(buffer, bytes, size);
	return 0;
}

static void append_text(struct buffer *to, const char *text)
{
	buffer_append(to, text, strlen(text));
}

/* Appends the value and frees it. */
static void append_json(struct buffer *to, json_t *value)
{
	memory_must(value != NULL);
	must(json_dump_callback(value, append, to, JSON_COMPACT | JSON_ENCODE_ANY) == 0);
	json_decref(value);
}

static json_t *client_json(const struct node_status *status,
                           const struct node_status_client *client, bool holds)
{
	json_t *json =
	        json_pack("{s:s, s:o, s:o, s:o, s:I}", "node", status->members[client->member].name,
	                  "pid", number_or_null(client->pid), "uid", number_or_null(client->uid),
	                  "command", text(client->command.bytes, client->command.size), "since_ms",
	                  (json_int_t)client->since_ms);

	if (holds)
		json_object_set_new(json, "losing", json_boolean(client->losing));
	return json;
}

static void begin_lock(struct status_job *job)
{
	const struct node_status_lock *lock = &job->status->locks[job->lock];
	struct buffer *to = &job->text;
	char fence[32] = "null";

	if (lock->fence != 0)
		snprintf(fence, sizeof(fence), "%llu", (unsigned long long)lock->fence);
	append_text(to, job->any ? ",{\"name\":" : "{\"name\":");
	job->any = true;
	append_json(to, text(lock->name.bytes, lock->name.size));
	append_text(to, ",\"fence\":");
	append_text(to, fence);
	append_text(to, ",\"holder\":");
	append_json(to, lock->holder == NULL ? json_null()
	                                     : client_json(job->status, lock->holder, true));
	append_text(to, ",\"waiters\":[");
	job->begun = true;
	job->waiter = 0;
}

/* Writes one part of a lock: its beginning, one of its waiters, or its end. */
static void write_next(struct status_job *job)
{
	const struct node_status_lock *lock = &job->status->locks[job->lock];

	if (!job->begun)
		begin_lock(job);
	if (job->waiter < lock->waiters_count) {
		if (job->waiter > 0)
			append_text(&job->text, ",");
		append_json(&job->text,
		            client_json(job->status, &lock->waiters[job->waiter++], false));
		return;
	}
	append_text(&job->text,
	            lock->in_order ? "],\"order\":\"served\"}" : "],\"order\":\"by node\"}");
	job->begun = false;
	job->lock++;
}

/* Enough room for "$", the digits of a size and the end of the line. */
enum { HEAD_SIZE = 32 };

/* Returns for how many days the certificate is still valid. */
static json_t *certificate_json(const struct daemon *daemon)
{
	enum { DAY_S = 86400 };

	return daemon->credentials == NULL
	               ? json_null()
	               : json_integer((credentials_end(daemon->credentials) - time(NULL)) / DAY_S);
}

static struct status_job *begin_job(struct client *client, struct node_status *status)
{
	struct daemon *daemon = client->daemon;
	const struct daemon_settings *settings = &daemon->settings;
	struct status_job *job = calloc(1, sizeof(*job));
	json_t *silent = json_array();
	char waiting_for[WAITS_FOR_MAX], head[HEAD_SIZE] = {0};
	bool waits = status_waits_for(daemon, waiting_for, sizeof(waiting_for));
	uint64_t grants;

	memory_must(job != NULL);
	job->client = client;
	job->status = status;
	node_status_keep(status);
	/* These figures count all locks. From how they grow, one could tell what happens to locks
	 * that are not shown. */
	bool whole = permission_sees_all(client);
	json_t *messages = whole ? messages_json(daemon, status, &grants) : json_null();
	json_t *members = members_json(status, silent);
	job->tail = json_pack("{s:o, s:o, s:o, s:o, s:o}", "messages", messages, "grants",
	                      whole ? json_integer((json_int_t)grants) : json_null(), "silent",
	                      silent, "links", links_json(daemon), "by_member",
	                      whole ? counts_json(status) : json_null());
	memory_must(job->tail != NULL);
	buffer_append(&job->text, head, sizeof(head));
	append_json(&job->text,
	            json_pack("{s:s, s:I, s:s, s:s, s:o, s:o, s:I, s:o, s:o}", "node",
	                      daemon_name(daemon), "epoch", (json_int_t)status->epoch, "algorithm",
	                      settings->algorithm->name, "topology",
	                      settings->topology != NULL ? settings->topology
	                                                 : settings->algorithm->topology,
	                      "members", members, "takeover_ms",
	                      status->takeover_ms != 0
	                              ? json_integer((json_int_t)status->takeover_ms)
	                              : json_null(),
	                      "lease_ms", (json_int_t)settings->lease_ms, "waiting_for",
	                      waits ? json_string(waiting_for) : json_null(), "certificate_days",
	                      certificate_json(daemon)));
	job->text.end--; /* remove the closing brace: more follows */
	append_text(&job->text, ",\"locks\":[");
	return job;
}

/* Does a few hundred microseconds of the work. Returns true when everything is written. */
static bool work(struct status_job *job)
{
	enum { PIECES_MAX = 64 };

	if (!job->merged)
		job->merged = !node_status_step(job->status);
	if (!job->merged)
		return false;
	for (unsigned i = 0; i < PIECES_MAX; i++) {
		if (job->lock == job->status->locks_count)
			return true;
		write_next(job);
	}
	return false;
}

static void free_job(struct status_job *job)
{
	node_status_free(job->status);
	json_decref(job->tail);
	buffer_free(&job->text);
	free(job);
}

/* Sends the whole reply, without copying it if possible, and frees the job. */
static void send_job(struct status_job *job)
{
	struct client *client = job->client;
	struct buffer *reply = &job->text;
	char head[HEAD_SIZE];

	append_text(reply, "],");
	size_t brace = reply->end;
	append_json(reply, job->tail);
	job->tail = NULL;
	memmove(reply->bytes + brace, reply->bytes + brace + 1, reply->end - brace - 1);
	reply->end--;
	int size = snprintf(head, sizeof(head), "$%zu\r\n", buffer_size(reply) - HEAD_SIZE);
	append_text(reply, "\r\n");
	reply->start = HEAD_SIZE - (size_t)size;
	memcpy(reply->bytes + reply->start, head, (size_t)size);
	if (buffer_size(&client->output) == 0) {
		buffer_free(&client->output);
		client->output = *reply;
		*reply = (struct buffer){0};
	} else {
		buffer_append(&client->output, buffer_front(reply), buffer_size(reply));
	}
	client->status_job = NULL;
	client->making_room = 0;
	free_job(job);
	client_charge(client);
	status_leave(client);
	client_dirty(client);
	client_answered(client);
}

void status_continue(struct client *client)
{
	struct status_job *job = client->status_job;

	if (work(job)) {
		send_job(job);
		return;
	}
	client->making_room = node_status_room(job->status) + job->text.room;
	client_charge(client);
	client_turn(client);
}

void status_begin(struct client *client, struct node_status *status)
{
	if (status_put_off(client, node_status_room(status)))
		return;
	client->status_job = begin_job(client, status);
	status_continue(client); /* most replies are short */
}

void status_cancel(struct client *client)
{
	if (client->status_job == NULL)
		return;
	free_job(client->status_job);
	client->status_job = NULL;
	client->making_room = 0;
}
