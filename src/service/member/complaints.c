/*
 * Tells operators what is wrong, by lines in the log, and what the member waits for.
 */
#include "meeting.h"
#include "member.h"
#include "member_state.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MS UINT64_C(1000000)
enum {
	SAME_LINE_MS = 10000, /* the shortest time between two equal lines */
	LINES_MS = 1000,      /* the time in which there are at most COMPLAINTS_MAX lines */
};

static void complain(struct member *member, enum member_level level, const char *name,
                     const char *address, const char *text)
{
	char line[1024];
	uint32_t place = 0;

	snprintf(line, sizeof(line), "%s%s%s: %s", name != NULL ? name : "",
	         name != NULL ? ", " : "", address, text);
	uint64_t hash = XXH3_64bits(line, strlen(line));
	for (uint32_t i = 0; i < COMPLAINTS_MAX; i++) {
		if (member->complaints[i].hash == hash &&
		    member->now < member->complaints[i].at + SAME_LINE_MS * MS)
			return;
		if (member->complaints[i].at < member->complaints[place].at)
			place = i;
	}
	/* A node that comes with another name or address each time must not fill the log. */
	if (member->complaints[place].at != 0 &&
	    member->now < member->complaints[place].at + LINES_MS * MS)
		return;
	member->complaints[place].hash = hash;
	member->complaints[place].at = member->now;
	member_log(member, level, "%s", line);
}

void member_complain(struct member *member, const char *name, const char *address, const char *text)
{
	complain(member, MEMBER_INFO, name, address, text);
}

void member_offended(struct member *member, const char *name, const char *address, const char *text)
{
	char line[LINK_TEXT_MAX + 64];

	member->offences++;
	snprintf(line, sizeof(line), "%s; it is cut off", text);
	complain(member, MEMBER_WARNING, address != NULL ? name : NULL,
	         address != NULL ? address : name, line);
}

uint64_t member_offences(const struct member *member)
{
	return member->offences;
}

void member_refused(struct member *member, const char *who, const char *text)
{
	char line[LINK_TEXT_MAX + 64];

	snprintf(member->refusal, sizeof(member->refusal), "%s refuses this node: %s", who, text);
	snprintf(line, sizeof(line), "refuses this node: %s", text);
	complain(member, MEMBER_WARNING, NULL, who, line);
}

void member_distrusts(struct member *member, const char *who, const char *text)
{
	snprintf(member->refusal, sizeof(member->refusal), "no TLS with %s: %s", who, text);
	complain(member, MEMBER_WARNING, NULL, who, text);
}

const char *member_refusal(const struct member *member)
{
	const char *never =
	        member->resident != NULL ? tenant_refusal(resident_tenant(member->resident)) : NULL;

	if (never != NULL)
		return never;
	return member->refusal[0] != '\0' ? member->refusal : NULL;
}

const char *member_unborn(struct member *member)
{
	return member->meeting != NULL ? meeting_text(member->meeting) : NULL;
}

const char *member_missing(struct member *member)
{
	const struct tenant_peer *peers;
	uint32_t count = 0;
	size_t size = 0;

	free(member->text);
	member->text = NULL;
	if (member->resident == NULL)
		return NULL;
	peers = tenant_peers(resident_tenant(member->resident), &count);
	FILE *stream = open_memstream(&member->text, &size);
	memory_must(stream != NULL);
	for (uint32_t i = 0; i < count; i++) {
		if (!peers[i].stands)
			fprintf(stream, "%s%s", ftell(stream) == 0 ? "" : ", ", peers[i].name);
	}
	memory_must(fclose(stream) == 0);
	return size == 0 ? NULL : member->text;
}

const char *member_silent_voters(struct member *member)
{
	const struct tenant *tenant = member_tenant(member);
	size_t size = 0;

	free(member->text);
	member->text = NULL;
	if (tenant == NULL || !tenant_unanswered(tenant))
		return NULL;
	const struct electors *voters = tenant_electors(tenant);
	FILE *stream = open_memstream(&member->text, &size);
	memory_must(stream != NULL);
	for (uint32_t i = 0; i < voters->count; i++)
		fprintf(stream, "%s%s", i == 0 ? "" : ", ",
		        voters->list[i].name[0] != '\0' ? voters->list[i].name
		                                        : voters->list[i].address);
	memory_must(fclose(stream) == 0);
	return member->text;
}
