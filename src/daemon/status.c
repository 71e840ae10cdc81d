/*
 * STATUS as JSON.
 */
#include "internal.h"

#include <jansson.h>
#include <stdio.h>

static json_t *text(const char *bytes, size_t size)
{
	if (size == 0)
		return json_string("");
	/* Many readers of JSON refuse a 0 in a string. */
	json_t *json = memchr(bytes, '\0', size) == NULL ? json_stringn(bytes, size) : NULL;
	if (json != NULL)
		return json;
	/* Not UTF-8: a name may be any bytes. What is not ASCII, and 0, is shown as \xNN. */
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
	must(json != NULL);
	return json;
}

static json_t *number_or_null(uint32_t number)
{
	return number == UINT32_MAX ? json_null() : json_integer(number);
}

static json_t *client_json(const struct node_status *status,
                           const struct node_status_client *client)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:I}", "node", status->members[client->member].name,
	                 "pid", number_or_null(client->pid), "uid", number_or_null(client->uid),
	                 "command", text(client->command.bytes, client->command.size), "since_ms",
	                 (json_int_t)client->since_ms);
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
		                      json_pack("{s:s, s:s?, s:I, s:s, s:n}", "name", member->name,
		                                "address", member->address, "incarnation",
		                                (json_int_t)member->incarnation, "state", state,
		                                "lease_ms"));
		if (member->silent)
			json_array_append_new(silent, json_string(member->name));
	}
	return members;
}

static json_t *locks_json(const struct node_status *status)
{
	json_t *locks = json_array();

	for (uint32_t i = 0; i < status->locks_count; i++) {
		const struct node_status_lock *lock = &status->locks[i];
		json_t *waiters = json_array();
		for (uint32_t k = 0; k < lock->waiters_count; k++)
			json_array_append_new(waiters, client_json(status, &lock->waiters[k]));
		json_array_append_new(
		        locks, json_pack("{s:o, s:o, s:o, s:o}", "name",
		                         text(lock->name.bytes, lock->name.size), "fence",
		                         lock->fence == 0 ? json_null()
		                                          : json_integer((json_int_t)lock->fence),
		                         "holder",
		                         lock->holder == NULL ? json_null()
		                                              : client_json(status, lock->holder),
		                         "waiters", waiters));
	}
	return locks;
}

static json_t *messages_json(const struct daemon *daemon, const struct node_status *status,
                             uint64_t *ret_grants)
{
	const struct algorithm *algorithm = daemon->options->algorithm;
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
	const char *missing = member_missing(daemon->member);
	const char *refusal = member_refusal(daemon->member);
	const char *waiting_for = node_waiting_for(daemon->node);

	if (waiting_for == NULL)
		return false;
	if (daemon->serve_at > daemon->loop.now)
		snprintf(ret_text, size,
		         "the end of commands started under the previous node on this socket, "
		         "which was killed: %llu ms more",
		         (unsigned long long)((daemon->serve_at - daemon->loop.now) / LOOP_MS));
	else if (refusal != NULL) /* tells more than that there is no connection */
		snprintf(ret_text, size, "%s", refusal);
	else if (missing != NULL)
		snprintf(ret_text, size, "%s; no connection to %s", waiting_for, missing);
	else
		snprintf(ret_text, size, "%s", waiting_for);
	return true;
}

char *status_json(struct daemon *daemon, const struct node_status *status)
{
	const struct daemon_options *options = daemon->options;
	json_t *silent = json_array();
	char waiting_for[WAITS_FOR_MAX];
	bool waits = status_waits_for(daemon, waiting_for, sizeof(waiting_for));
	uint64_t grants;
	json_t *messages = messages_json(daemon, status, &grants);
	json_t *members = members_json(status, silent);
	json_t *json = json_pack(
	        "{s:s, s:I, s:s, s:s, s:o, s:n, s:I, s:o, s:o, s:o, s:I, s:o}", "node",
	        options->peers[options->self].name, "epoch", (json_int_t)status->epoch, "algorithm",
	        options->algorithm->name, "topology",
	        options->topology != NULL ? options->topology : options->algorithm->topology,
	        "members", members, "takeover_ms", "lease_ms", (json_int_t)options->lease_ms,
	        "waiting_for", waits ? json_string(waiting_for) : json_null(), "locks",
	        locks_json(status), "messages", messages, "grants", (json_int_t)grants, "silent",
	        silent);
	must(json != NULL);
	char *dumped = json_dumps(json, JSON_COMPACT);
	must(dumped != NULL);
	json_decref(json);
	return dumped;
}
