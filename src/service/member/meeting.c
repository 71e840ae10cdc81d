#include "meeting.h"

#include "member_state.h"
#include "memory.h"
#include "roster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum { SAY_MS = 50, VOTERS_FEW = 3, VOTERS_MANY = 5, MEMBERS_MANY = 7 };

struct meeting {
	struct member *member;
	struct birth *birth; /* the birth of a cluster; NULL: this member joins one */
	struct electors founders;
	char *settings;
	uint64_t begin_at; /* nothing is done before this time */
	uint64_t say_at;   /* when this member sends its messages to the others again */
	bool writes;       /* a record is being made durable */
	/* the meeting is over: the member belongs to a cluster, or its process must end */
	bool over;
	struct durable_entry first; /* the first entry of the log */
	struct durable_write write;
	char *text;
};

struct meeting *meeting_create(struct member *member, const struct electors *founders,
                               const struct member_options *options)
{
	struct meeting *meeting = calloc(1, sizeof(*meeting));
	const struct identity *identity = &member->identity;
	struct birth_record record = {.stage = identity->stage,
	                              .cluster = identity->charter.cluster,
	                              .base = identity->charter.base,
	                              .founders = identity->founders};

	memory_must(meeting != NULL);
	meeting->member = member;
	meeting->settings = strdup(options->settings);
	memory_must(meeting->settings != NULL);
	meeting->begin_at = meeting->say_at =
	        options->begin_at > member->now ? options->begin_at : member->now;
	electors_copy(&meeting->founders, founders);
	if (founders->count == 0)
		return meeting;
	const char **names = calloc(2UL * founders->count, sizeof(*names));
	memory_must(names != NULL);
	struct birth_options birth = {.names = names,
	                              .addresses = names + founders->count,
	                              .count = founders->count,
	                              .server = identity->server,
	                              .base = options->base,
	                              .record = &record,
	                              .draw = options->draw,
	                              .context = options->context};
	char *all = NULL;
	size_t all_size = 0;
	for (uint32_t i = 0; i < founders->count; i++) {
		names[i] = founders->list[i].name;
		names[founders->count + i] = founders->list[i].address;
		if (strcmp(names[i], identity->name) == 0)
			birth.self = i;
	}
	/* The list and the settings must be the same at all founders. */
	FILE *stream = open_memstream(&all, &all_size);
	memory_must(stream != NULL);
	fputs(meeting->settings, stream);
	for (uint32_t i = 0; i < founders->count; i++)
		fprintf(stream, "\npeer %s = %s", names[i], names[founders->count + i]);
	memory_must(fclose(stream) == 0);
	birth.agreement = all;
	meeting->birth = birth_create(&birth);
	free(all);
	free(names);
	return meeting;
}

void meeting_destroy(struct meeting *meeting)
{
	if (meeting->birth != NULL)
		birth_destroy(meeting->birth);
	electors_free(&meeting->founders);
	free((void *)meeting->first.bytes);
	free(meeting->settings);
	free(meeting->text);
	free(meeting);
}

/* --- steps --- */

static void write_identity(struct meeting *meeting)
{
	meeting->writes = true;
	outcome_add(meeting->member, MEMBER_IDENTITY, 0);
}

static void settle(struct meeting *meeting)
{
	meeting->over = true;
	outcome_add(meeting->member, MEMBER_SETTLE, 0)->effect.charter =
	        &meeting->member->identity.charter;
}

static void write_record(struct meeting *meeting, const struct birth_record *record)
{
	struct identity *identity = &meeting->member->identity;
	struct charter charter = {record->cluster, record->base, meeting->settings};

	identity->stage = BIRTH_RECORD;
	charter_copy(&identity->charter, &charter);
	electors_copy(&identity->founders, &record->founders);
	write_identity(meeting);
}

/* Joins a cluster that exists already. This member has not voted in it. */
static void join(struct meeting *meeting, const struct charter *charter)
{
	struct identity *identity = &meeting->member->identity;

	identity->stage = BIRTH_LIFE;
	if (charter != &identity->charter)
		charter_copy(&identity->charter, charter);
	electors_free(&identity->founders);
	write_identity(meeting);
}

/* Returns how many founders vote at first: one if there are fewer than three founders, three if
 * there are fewer than seven, otherwise five. */
static uint32_t voters_of(uint32_t founders)
{
	if (founders >= MEMBERS_MANY)
		return VOTERS_MANY;
	return founders >= VOTERS_FEW ? VOTERS_FEW : 1;
}

/* All voters begin with the same first entry. A founder that does not vote begins without it. */
static void found(struct meeting *meeting, const struct birth_record *record)
{
	struct member *member = meeting->member;
	uint32_t count = voters_of(record->founders.count);
	struct replica_server servers[VOTERS_MANY];
	char places[VOTERS_MANY][ROSTER_PLACE_MAX + 1];
	bool votes = false;

	for (uint32_t i = 0; i < count; i++) {
		const struct elector *founder = &record->founders.list[i];
		roster_place(founder->server, founder->address, founder->name, places[i]);
		servers[i] = (struct replica_server){founder->server, places[i], REPLICA_VOTER};
		votes = votes || founder->server == member->identity.server;
	}
	if (!votes) {
		join(meeting, &member->identity.charter);
		return;
	}
	must(replica_first_entry(servers, count, &meeting->first));
	meeting->write = (struct durable_write){.has_ballot = true,
	                                        .term = 1,
	                                        .entries_first = 1,
	                                        .entries = &meeting->first,
	                                        .entries_count = 1};
	meeting->writes = true;
	outcome_add(member, MEMBER_WRITE, 0)->effect.write = &meeting->write;
}

static void stop(struct meeting *meeting, const char *why)
{
	struct outcome *outcome = outcome_add(meeting->member, MEMBER_STOP, strlen(why) + 1);

	meeting->over = true;
	memcpy(outcome->text, why, strlen(why) + 1);
	outcome->effect.stop = outcome->text;
}

/* Returns a charter that a connected node has sent, or NULL. If `cluster` is given, it must be the
 * charter of that cluster. Otherwise it must come from a node that this member has dialled: a node
 * that has dialled this member may belong to another cluster that knows this address. */
static const struct charter *find_charter(const struct meeting *meeting,
                                          const struct cluster_id *cluster)
{
	const struct post *post;

	LIST_FOREACH (post, &meeting->member->posts, all) {
		const struct charter *charter = &post->call.charter;
		if (post->state == POST_UP && charter_exists(charter) &&
		    (cluster != NULL ? cluster_is(charter->cluster, *cluster) : post->dialled))
			return charter;
	}
	return NULL;
}

/* Takes the next step, if it need not wait any longer. */
static void look(struct meeting *meeting)
{
	const struct charter *charter;

	if (meeting->writes || meeting->over || meeting->member->now < meeting->begin_at)
		return;
	if (meeting->birth == NULL) {
		charter = find_charter(meeting, NULL);
		if (charter != NULL)
			join(meeting, charter);
		return;
	}
	const struct birth_record *wished = birth_wished(meeting->birth);
	switch (birth_wish(meeting->birth)) {
	case BIRTH_WAITS:
		break;
	case BIRTH_WRITE:
		write_record(meeting, wished);
		break;
	case BIRTH_FOUND:
		found(meeting, wished);
		break;
	case BIRTH_JOIN:
		charter = find_charter(meeting, &wished->cluster);
		if (charter != NULL)
			join(meeting, charter);
		break;
	case BIRTH_STOP:
		stop(meeting, birth_text(meeting->birth));
		break;
	}
}

/* --- input --- */

void meeting_met(struct meeting *meeting)
{
	look(meeting);
}

bool meeting_heard(struct meeting *meeting, const char *name, const uint8_t *bytes, size_t size)
{
	bool good = true, known = false;

	for (uint32_t i = 0; i < meeting->founders.count && !meeting->over; i++) {
		if (strcmp(meeting->founders.list[i].name, name) != 0)
			continue;
		known = true;
		good = birth_hear(meeting->birth, i, bytes, size);
	}
	if (!known && !meeting->over)
		member_complain(meeting->member, name, "its list of peers has this node",
		                "this node's list does not have it");
	look(meeting);
	return good;
}

void meeting_identity_written(struct meeting *meeting)
{
	meeting->writes = false;
	if (meeting->member->identity.stage == BIRTH_LIFE) {
		settle(meeting);
		return;
	}
	birth_written(meeting->birth);
	look(meeting);
}

void meeting_log_written(struct meeting *meeting)
{
	meeting->writes = false;
	shadow_apply(&meeting->member->disk, &meeting->write);
	birth_lives(meeting->birth);
	settle(meeting);
}

static void say(struct meeting *meeting)
{
	struct member *member = meeting->member;
	const struct electors *addresses = &member->addresses;
	const uint8_t *bytes;

	for (uint32_t i = 0; i < meeting->founders.count; i++) {
		const struct elector *founder = &meeting->founders.list[i];
		if (strcmp(founder->name, member->identity.name) == 0)
			continue;
		size_t size = birth_say(meeting->birth, i, &bytes);
		post_to_address(member, founder->address, founder->name, PACKET_BIRTH, bytes, size);
	}
	for (uint32_t i = 0; meeting->birth == NULL && i < addresses->count; i++)
		post_need(member, addresses->list[i].address, addresses->list[i].name);
}

uint64_t meeting_tick(struct meeting *meeting)
{
	struct member *member = meeting->member;

	if (meeting->over)
		return NODE_NEVER;
	if (meeting->say_at <= member->now) {
		look(meeting);
		say(meeting);
		/* A single founder has nobody to talk to. */
		meeting->say_at = meeting->founders.count == 1 && !meeting->writes
		                          ? NODE_NEVER
		                          : member->now + SAY_MS * MS;
	}
	return meeting->say_at;
}

const char *meeting_text(struct meeting *meeting)
{
	const struct electors *addresses = &meeting->member->addresses;
	size_t size = 0;
	FILE *stream;

	if (meeting->birth != NULL)
		return birth_text(meeting->birth);
	free(meeting->text);
	meeting->text = NULL;
	stream = open_memstream(&meeting->text, &size);
	memory_must(stream != NULL);
	for (uint32_t i = 0; i < addresses->count; i++)
		fprintf(stream, "%s%s", i == 0 ? "" : ", ", addresses->list[i].address);
	memory_must(fclose(stream) == 0);
	return meeting->text;
}
