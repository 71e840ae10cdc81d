#include "door.h"

#include "enrolment.h"
#include "member_state.h"
#include "memory.h"
#include "secure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum {
	VISIT_MS = 5000, /* how long a guest may stay */
	VISITS_MAX = 16, /* how many guests may be there at once */
	ASKED_MAX = 32,  /* the most guests about whom the voters are asked in one second */
};

struct visit {
	struct connection *connection;
	struct buffer input;
	/* The question to the voters; NULL: the guest has not said what it wants, or was
	 * answered. */
	struct inquiry *inquiry;
	/* when the leader first said that it does not know the invitation; 0: it has not */
	uint64_t unknown_since;
	struct entry_digest ticket;
	char name[ENTRY_NAME_MAX + 1];
	char host[ENTRY_NAME_MAX + 1];
	uint8_t key[CERTIFICATE_KEY_MAX];
	size_t key_size;
};

static void send(struct visit *visit, const struct enrolment *enrolment, bool last)
{
	struct out *out = &visit->connection->member->out;

	out_clear(out);
	enrolment_write(out, enrolment);
	secure_say(visit->connection, out->bytes, out->bytes_count, last);
}

static void stop_asking(struct visit *visit)
{
	if (visit->inquiry != NULL)
		inquiry_end(visit->inquiry);
	visit->inquiry = NULL;
}

/* Tells the guest, and the log here, why the guest gets nothing. */
static void refuse(struct visit *visit, enum record_type type, const char *why)
{
	struct enrolment enrolment = {.type = type};
	char line[LINK_TEXT_MAX];

	stop_asking(visit);
	snprintf(line, sizeof(line), "a guest is refused: %s", why);
	member_complain(visit->connection->member, visit->name[0] != '\0' ? visit->name : NULL,
	                visit->connection->from, line);
	snprintf(enrolment.text, sizeof(enrolment.text), "%s", why);
	send(visit, &enrolment, true);
}

/* --- a guest comes --- */

void door_opened(struct connection *connection)
{
	struct member *member = connection->member;
	struct visit *visit = calloc(1, sizeof(*visit));
	uint8_t room[CERTIFICATE_SIZE_MAX];

	memory_must(visit != NULL);
	visit->connection = connection;
	connection->visit = visit;
	connection->patience_at = member->now + VISIT_MS * MS;
	member_due(member, connection->patience_at);
	if (++member->visits_count > VISITS_MAX) {
		refuse(visit, RECORD_ELSEWHERE, "too many guests at once: try again");
		return;
	}
	if (!credentials_sign(member->credentials)) {
		refuse(visit, RECORD_REFUSAL,
		       "this node signs no certificates: --join must name one that was started "
		       "with --tls-ca-key");
		return;
	}
	if (member->resident == NULL) {
		refuse(visit, RECORD_ELSEWHERE, "this node belongs to no cluster yet");
		return;
	}
	size_t size = credentials_ca(member->credentials, room);
	if (size == 0)
		refuse(visit, RECORD_ELSEWHERE, "the certificate of its CA is too long to be sent");
	else
		send(visit, &(struct enrolment){.type = RECORD_CA, .bytes = room, .size = size},
		     false);
}

void door_closed(struct visit *visit)
{
	visit->connection->member->visits_count--;
	stop_asking(visit);
	buffer_free(&visit->input);
	free(visit);
}

/* --- the guest's request --- */

/* The name will appear in logs, tables and comma-separated lists, so it must not break them. */
static bool is_good_name(const char *name)
{
	for (const char *c = name; *c != '\0'; c++) {
		if (*c <= ' ' || *c >= 0x7f || strchr(",=\"\\", *c) != NULL)
			return false;
	}
	return true;
}

/* Limits how much work strangers can cause the voters. */
static bool may_ask(struct member *member)
{
	if (member->now >= member->asked_since + 1000 * MS) {
		member->asked_since = member->now;
		member->asked_count = 0;
	}
	return member->asked_count++ < ASKED_MAX;
}

static void take_enrolment(struct visit *visit, const struct enrolment *enrolment)
{
	struct member *member = visit->connection->member;
	struct entry_digest secret;

	if (!is_good_name(enrolment->name)) {
		refuse(visit, RECORD_REFUSAL,
		       "a node cannot have its name: printable ASCII without spaces, commas, "
		       "'=', quotes and backslashes is needed");
		return;
	}
	memcpy(visit->name, enrolment->name, sizeof(visit->name));
	memcpy(visit->host, enrolment->host, sizeof(visit->host));
	memcpy(visit->key, enrolment->bytes, enrolment->size);
	visit->key_size = enrolment->size;
	if (!may_ask(member)) {
		refuse(visit, RECORD_ELSEWHERE, "too many guests in a second: try again");
		return;
	}
	token_digest(enrolment->secret, secret.bytes);
	token_ticket(visit->name, visit->key, visit->key_size, visit->ticket.bytes);
	visit->inquiry = inquiry_begin(member, visit, &secret, visit->name);
}

void door_input(struct visit *visit, const uint8_t *bytes, size_t size)
{
	struct enrolment enrolment;
	size_t taken = 0;

	if (visit->inquiry != NULL) {
		refuse(visit, RECORD_REFUSAL, "it sends more than it was asked for");
		return;
	}
	buffer_append(&visit->input, bytes, size);
	switch (enrolment_read((const uint8_t *)buffer_front(&visit->input),
	                       buffer_size(&visit->input), &enrolment, &taken)) {
	case ENROLMENT_MORE:
		return;
	case ENROLMENT_VERSION:
		refuse(visit, RECORD_REFUSAL, "it speaks another version of the protocol");
		return;
	case ENROLMENT_NONSENSE:
		refuse(visit, RECORD_REFUSAL, "it does not speak baton's protocol");
		return;
	case ENROLMENT_WHOLE:
		break;
	}
	if (enrolment.type == RECORD_REFUSAL) {
		char line[LINK_TEXT_MAX + 64];
		snprintf(line, sizeof(line), "a guest refuses this node: %s", enrolment.text);
		connection_complain(visit->connection, line);
		connection_close(visit->connection);
	} else if (enrolment.type != RECORD_ENROL || taken != buffer_size(&visit->input)) {
		refuse(visit, RECORD_REFUSAL, "it does not speak baton's protocol");
	} else {
		take_enrolment(visit, &enrolment);
	}
}

/* --- the voters' answers --- */

/* The voters have recorded that this guest uses the invitation. A guest that did not get its
 * certificate may come again, with the same key. */
static void sign(struct visit *visit)
{
	struct member *member = visit->connection->member;
	uint8_t room[CERTIFICATE_SIZE_MAX];
	struct problem problem;
	size_t size =
	        credentials_sign(member->credentials)
	                ? credentials_issue(member->credentials, visit->name, visit->host,
	                                    visit->key, visit->key_size, room, &problem)
	                : (size_t)(problem_set(&problem,
	                                       "this node does not sign certificates any more") +
	                           1);

	if (size == 0) {
		refuse(visit, RECORD_ELSEWHERE, problem.text);
		return;
	}
	stop_asking(visit);
	member_log(member, MEMBER_WARNING,
	           "%s, %s: was invited, and has a certificate of this cluster now", visit->name,
	           visit->connection->from);
	send(visit, &(struct enrolment){.type = RECORD_CERTIFICATE, .bytes = room, .size = size},
	     true);
}

static void propose_admission(struct visit *visit, uint64_t real_s)
{
	struct inquiry *inquiry = visit->inquiry;
	struct out *out = &inquiry->member->out;

	if (inquiry->entry_size > 0)
		return; /* the voters were asked already */
	entry_write_admit(out, &inquiry->secret, &visit->ticket, real_s,
	                  entry_text_of(visit->name));
	must(out->bytes_count <= sizeof(inquiry->entry));
	inquiry->entry_size = out->bytes_count;
	memcpy(inquiry->entry, out->bytes, inquiry->entry_size);
	inquiry->ask_at = inquiry->member->now;
	member_due(inquiry->member, inquiry->ask_at);
}

/* Handles a voter's answer that it does not know the invitation. The answer counts only if it comes
 * from the leader, because other voters may lag behind; and only after a while, because a new
 * leader may lag behind too. */
static void told_unknown(struct visit *visit, bool leads)
{
	uint64_t now = visit->connection->member->now;

	if (!leads)
		return;
	if (visit->unknown_since == 0)
		visit->unknown_since = now;
	if (now >= visit->unknown_since + INQUIRY_LEADER_LAGS_NS)
		refuse(visit, RECORD_REFUSAL,
		       "its invitation is not known here: it was never made, or it was forgotten "
		       "after it had been used or had expired");
}

void door_told(struct visit *visit, const struct inquiry_answer *answer)
{
	struct member *member = visit->connection->member;
	uint64_t real_s = member->real_s(member->context);
	char text[LINK_TEXT_MAX];

	if (!answer->known) {
		told_unknown(visit, answer->leads);
	} else if (answer->user[0] != '\0' &&
	           memcmp(answer->ticket.bytes, visit->ticket.bytes, ENTRY_DIGEST_SIZE) != 0) {
		snprintf(text, sizeof(text),
		         "its invitation was used already, for a node '%.100s': each is good for "
		         "one node",
		         answer->user);
		refuse(visit, RECORD_REFUSAL, text);
	} else if (real_s >= answer->expiry) {
		refuse(visit, RECORD_REFUSAL,
		       "its invitation has expired, by the clock of this node: 'baton member "
		       "invite' makes another");
	} else if (answer->user[0] != '\0') {
		sign(visit);
	} else if (answer->taken) {
		snprintf(text, sizeof(text),
		         "a member has the name '%.100s' already: give it another --name, or let "
		         "that member leave first",
		         visit->name);
		refuse(visit, RECORD_REFUSAL, text);
	} else if (answer->forbidden) {
		snprintf(text, sizeof(text),
		         "an operator has removed the node '%.100s': 'baton member invite %.100s' "
		         "lets it come back",
		         visit->name, visit->name);
		refuse(visit, RECORD_REFUSAL, text);
	} else {
		propose_admission(visit, real_s);
	}
}

void door_not_told(struct visit *visit)
{
	refuse(visit, RECORD_ELSEWHERE, "the voters do not answer at present: try again");
}
