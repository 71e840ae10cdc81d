#include "permissions.h"

#include "baton/error.h"
#include "instance.h"
#include "log.h"
#include "memory.h"
#include "name.h"
#include "replies.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct rules *permission_rules(const struct client *client)
{
	return client->shut_out ? &rules_nothing : client->daemon->rules;
}

/* Tells the client, and now and then the log, why it is refused: mostly because a rule is
 * missing. */
static bool refuse(struct client *client, enum verb verb, const struct object *object)
{
	struct daemon *daemon = client->daemon;
	char rule[RULES_MISSING_MAX], why[RULES_MISSING_MAX + 64], who[CLIENT_DESCRIPTION_MAX];
	char text[sizeof(why) + 32];

	if (client->shut_out)
		snprintf(why, sizeof(why),
		         "this node has no rules any more, and so only root, uid %u and gid %u may "
		         "use its socket",
		         daemon->listeners.owner, daemon->listeners.group);
	else if (rules_missing(&client->subject, verb, object, rule))
		snprintf(why, sizeof(why), "this rule is missing: %s", rule);
	else
		snprintf(why, sizeof(why),
		         "a rule for '%s' is missing. It cannot be printed, because the lock or "
		         "the client has a name with control characters, or with a blank that a "
		         "rule cannot hold, or the pattern would have more than %d bytes",
		         verb_name(verb), RULE_PATTERN_MAX);
	snprintf(text, sizeof(text), "not permitted: %s", why);
	resp_error(&client->output, "NOPERM", text);
	if (log_limit_passes(&daemon->denials, daemon->loop.now)) {
		client_describe(client, who);
		log_line(LEVEL_INFO, "a client was refused (%s): %s", who, why);
	}
	return false;
}

static bool is_name(struct client *client, const struct resp_argument *name)
{
	if (name_is_good(name->bytes, name->size))
		return true;
	reply_error(client, BATON_ENAME);
	return false;
}

bool permission_for(struct client *client, unsigned verbs, const struct resp_argument *name)
{
	const struct rules *rules = permission_rules(client);
	struct object lock = {.text = name->bytes, .size = name->size};

	/* Several verbs allow SUBSCRIBE. If none is allowed, the refusal names "observe". */
	return rules == NULL ||
	       rules_allow(rules, &client->subject, verbs, name->bytes, name->size) ||
	       (is_name(client, name) &&
	        refuse(client, (verbs & VERB_OBSERVE) != 0 ? VERB_OBSERVE : (enum verb)verbs,
	               &lock));
}

bool permission_somewhere(struct client *client, unsigned verbs,
                          const struct resp_argument *pattern)
{
	const struct rules *rules = permission_rules(client);
	struct object locks = {.pattern = true};

	if (rules == NULL || (rules_verbs_somewhere(rules, &client->subject) & verbs) != 0)
		return true;
	if (pattern != NULL && !is_name(client, pattern))
		return false;
	if (pattern != NULL) {
		locks.text = pattern->bytes;
		locks.size = pattern->size;
	}
	/* Two verbs allow MEMBER LIST. If neither is allowed, the refusal names "status". */
	return refuse(client, (verbs & VERB_STATUS) != 0 ? VERB_STATUS : (enum verb)verbs, &locks);
}

bool permission_sees_all(const struct client *client)
{
	const struct rules *rules = permission_rules(client);
	const char *pattern;
	size_t next = 0;

	if (rules == NULL)
		return true;
	do
		pattern = rules_pattern(rules, &client->subject, VERB_STATUS, &next);
	while (pattern != NULL && strcmp(pattern, "*") != 0);
	return pattern != NULL;
}

struct node_bytes permission_sights(const struct client *client, struct buffer *room)
{
	const struct rules *rules = permission_rules(client);
	const char *pattern;
	size_t next = 0;

	if (permission_sees_all(client))
		return (struct node_bytes){NULL, 0};
	while ((pattern = rules_pattern(rules, &client->subject, VERB_STATUS, &next)) != NULL) {
		uint8_t size = (uint8_t)strlen(pattern);
		buffer_append(room, (const char *)&size, 1);
		buffer_append(room, pattern, size);
	}
	return buffer_size(room) > 0 ? (struct node_bytes){buffer_front(room), buffer_size(room)}
	                             : (struct node_bytes){"", 0};
}

/*
 * Decides for each event, not when the client subscribes, because rules may change in between. A
 * client that may take a lock must learn when it loses it. So it hears the events of that lock even
 * without "observe", except what a leader publishes.
 */
bool permission_hears(const struct client *client, const struct node_effect *effect)
{
	const struct rules *rules = permission_rules(client);
	struct node_bytes name = effect->event.name;
	unsigned verbs = VERB_OBSERVE;

	if (rules == NULL || effect->event.kind == EVENT_DROPPED)
		return true;
	if (effect->event.pattern.bytes == NULL && effect->event.kind != EVENT_LEADER)
		verbs |= VERB_LOCK | VERB_ELECT;
	return rules_allow(rules, &client->subject, verbs, name.bytes, name.size);
}

/* --- a client's questions about itself --- */

/* Sends the JSON as a text, and frees it. */
static bool reply_json(struct client *client, json_t *json)
{
	char *text = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;

	memory_must(text != NULL);
	resp_bulk(&client->output, text, strlen(text));
	free(text);
	json_decref(json);
	return true;
}

bool serve_whoami(struct client *client, const struct resp_argument *a, uint32_t count)
{
	const struct subject *subject = &client->subject;
	json_t *gids = json_array();

	(void)a;
	(void)count;
	for (uint32_t i = 0; i < subject->gids_count; i++)
		json_array_append_new(gids, json_integer(subject->gids[i]));
	return reply_json(
	        client,
	        json_pack("{s:s, s:s, s:o, s:o, s:s?, s:b}", "node", daemon_name(client->daemon),
	                  "transport", client->tcp ? "tcp" : "unix", "uid",
	                  subject->uid == SUBJECT_NOBODY ? json_null() : json_integer(subject->uid),
	                  "gids", gids, "certificate", subject->certificate, "rules",
	                  permission_rules(client) != NULL));
}

bool serve_can(struct client *client, const struct resp_argument *a, uint32_t count)
{
	json_t *verbs = json_array();

	(void)count;
	if (!is_name(client, &a[1])) {
		json_decref(verbs);
		return true;
	}
	unsigned mine =
	        rules_verbs(permission_rules(client), &client->subject, a[1].bytes, a[1].size);
	for (unsigned i = 0; i < VERBS_COUNT; i++) {
		if ((mine >> i & 1) != 0)
			json_array_append_new(verbs, json_string(verb_name((enum verb)(1U << i))));
	}
	return reply_json(client, json_pack("{s:o, s:b}", "verbs", verbs, "rules",
	                                    permission_rules(client) != NULL));
}
