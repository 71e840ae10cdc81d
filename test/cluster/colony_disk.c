/*
 * The disks of a colony. Writes become durable in order, each as a whole, after a while. When the
 * process dies, some of the first writes may have become durable, and the others are lost.
 */
#include "colony.h"

#include "memory.h"
#include "outbuffer.h"
#include "roster.h"

#include <stdlib.h>
#include <string.h>

void disk_init(struct colony_place *place)
{
	struct colony_disk *disk = &place->disk;

	out_init(&disk->identity);
	shadow_init(&disk->log);
	STAILQ_INIT(&disk->jobs);
}

void disk_make(struct colony *colony, struct colony_place *place)
{
	struct colony_disk *disk = &place->disk;
	struct identity identity = {.server = chance_next(&place->chance) | 1};

	shadow_free(&disk->log);
	electors_free(&disk->addresses);
	name_identity(place, &identity);
	out_clear(&disk->identity);
	identity_write(&disk->identity, &identity);
	place->server = identity.server;
	colony_mark(colony, "has a new disk", place->number, identity.server, 0);
}

static void free_job(struct disk_job *job)
{
	if (job->kind == DISK_LOG)
		shadow_write_free(&job->write);
	out_free(&job->bytes);
	free(job);
}

void disk_free(struct colony_place *place)
{
	struct colony_disk *disk = &place->disk;

	shadow_free(&disk->log);
	electors_free(&disk->addresses);
	out_free(&disk->identity);
}

/* --- writing --- */

static struct disk_job *add_job(struct colony *colony, struct colony_place *place,
                                enum disk_job_kind kind)
{
	struct colony_disk *disk = &place->disk;
	struct disk_job *job = calloc(1, sizeof(*job));

	memory_must(job != NULL);
	job->kind = kind;
	out_init(&job->bytes);
	STAILQ_INSERT_TAIL(&disk->jobs, job, entry);
	if (disk->busy_until < colony->now)
		disk->busy_until = colony->now;
	disk->busy_until += chance_between(&place->chance, COLONY_MS / 10, colony->plan.write_max);
	colony_push(colony, disk->busy_until, COLONY_DISK, place->number, place->life, 0);
	return job;
}

void disk_begin_write(struct colony *colony, struct colony_place *place,
                      const struct durable_write *write)
{
	if (!place->keeps) {
		colony_wrong(colony, "%s votes without a disk", place->name);
		return;
	}
	add_job(colony, place, DISK_LOG)->write = shadow_write_copy(write);
}

/* Without a data directory nothing is written, and a write counts as done at once. */
void disk_begin_identity(struct colony *colony, struct colony_place *place,
                         const struct identity *identity)
{
	if (place->keeps)
		identity_write(&add_job(colony, place, DISK_IDENTITY)->bytes, identity);
	else
		member_identity_written(place->member, colony_clock(colony, place->number));
}

void disk_begin_address(struct colony *colony, struct colony_place *place, const char *name,
                        const char *address)
{
	if (!place->keeps)
		return;
	must(address != NULL); /* there are so few nodes that all addresses fit */
	struct disk_job *job = add_job(colony, place, DISK_ADDRESS);
	snprintf(job->name, sizeof(job->name), "%s", name);
	snprintf(job->address, sizeof(job->address), "%s", address);
}

/* Checks the identity of a directory that has a log. The directory belongs to a cluster that was
 * born, and must say to which one, no matter when the process dies. */
static void judge_log(struct colony *colony, const struct colony_place *place)
{
	struct identity identity;

	if (!identity_read(place->disk.identity.bytes, place->disk.identity.bytes_count,
	                   &identity)) {
		colony_wrong(colony, "%s wrote an identity that cannot be read", place->name);
		return;
	}
	if (!charter_exists(&identity.charter))
		colony_wrong(colony, "%s has a log and does not know of which cluster",
		             place->name);
	identity_free(&identity);
}

static void store_address(struct colony_disk *disk, const struct disk_job *job)
{
	struct elector *known = (struct elector *)electors_find(&disk->addresses, job->name);

	if (known != NULL)
		snprintf(known->address, sizeof(known->address), "%s", job->address);
	else
		electors_add(&disk->addresses, 0, entry_text_of(job->name),
		             entry_text_of(job->address));
}

/* Makes the oldest write durable, and returns it. */
static struct disk_job *end_job(struct colony *colony, struct colony_place *place)
{
	struct colony_disk *disk = &place->disk;
	struct disk_job *job = STAILQ_FIRST(&disk->jobs);

	STAILQ_REMOVE_HEAD(&disk->jobs, entry);
	switch (job->kind) {
	case DISK_LOG:
		shadow_apply(&disk->log, &job->write);
		break;
	case DISK_IDENTITY:
		out_free(&disk->identity);
		disk->identity = job->bytes;
		out_init(&job->bytes);
		break;
	case DISK_ADDRESS:
		store_address(disk, job);
		break;
	}
	if (disk->log.count > 0)
		judge_log(colony, place);
	return job;
}

void disk_on_event(struct colony *colony, const struct event *event)
{
	struct colony_place *place = &colony->places[event->node];
	uint64_t clock = colony_clock(colony, event->node);

	if (place->member == NULL || place->life != event->number)
		return;
	struct disk_job *job = end_job(colony, place);
	colony_mark(colony, "wrote", place->number, job->kind, job->write.number);
	if (job->kind == DISK_LOG)
		member_written(place->member, job->write.number, clock);
	else if (job->kind == DISK_IDENTITY)
		member_identity_written(place->member, clock);
	free_job(job);
	colony_pump(colony, event->node);
}

void disk_crash(struct colony *colony, struct colony_place *place)
{
	struct colony_disk *disk = &place->disk;

	while (!STAILQ_EMPTY(&disk->jobs) && chance_percent(&place->chance, 50))
		free_job(end_job(colony, place));
	while (!STAILQ_EMPTY(&disk->jobs)) {
		struct disk_job *job = STAILQ_FIRST(&disk->jobs);
		STAILQ_REMOVE_HEAD(&disk->jobs, entry);
		free_job(job);
	}
	disk->busy_until = 0;
}

bool disk_lives(const struct colony_place *place)
{
	const struct out *bytes = &place->disk.identity;
	struct identity identity = {0};
	bool lives = place->disk.log.count > 0 || place->disk.log.snapshot.index != 0;

	if (place->keeps && identity_read(bytes->bytes, bytes->bytes_count, &identity))
		lives = lives || identity.stage == BIRTH_LIFE;
	identity_free(&identity);
	return lives;
}

/* --- which disks may be lost --- */

static bool is_lost(const struct colony *colony, uint64_t server)
{
	for (uint32_t i = 0; i < colony->places_count; i++) {
		if (colony->places[i].keeps && colony->places[i].server == server)
			return false;
	}
	return true;
}

/* The number of voters that a place knows of, and of those that would be left without one disk. */
struct electorate_left {
	uint32_t voters, left;
};

static void count_voter(const struct colony *colony, struct electorate_left *left, uint64_t server,
                        uint64_t wiped)
{
	left->voters++;
	left->left += server != wiped && !is_lost(colony, server);
}

/* Can this disk be lost? Checks the first voters of a cluster that may be born at any moment. */
static bool record_allows(const struct colony *colony, const struct identity *identity,
                          uint64_t wiped)
{
	uint32_t count = identity->founders.count;
	uint32_t voters = count >= 7 ? 5 : count >= 3 ? 3 : 1;
	struct electorate_left left = {0};

	for (uint32_t i = 0; identity->stage == BIRTH_RECORD && i < voters; i++)
		count_voter(colony, &left, identity->founders.list[i].server, wiped);
	return left.voters == 0 || 2 * left.left > left.voters;
}

static bool log_allows(const struct colony *colony, const struct colony_place *place,
                       uint64_t wiped)
{
	const struct voter *voter = place->member != NULL ? member_voter(place->member) : NULL;
	struct electorate_left left = {0};
	struct electors electors = {0};
	struct replica_server known;
	size_t size;
	const uint8_t *bytes = shadow_voters(&place->disk.log, &size);

	/* A standby may be promoted before its leader hears that its disk is lost. */
	for (size_t i = 0; voter != NULL && i < voter_servers(voter, i, &known); i++) {
		if (known.role == REPLICA_VOTER || known.id == wiped)
			count_voter(colony, &left, known.id, wiped);
	}
	if (left.voters != 0 && 2 * left.left <= left.voters)
		return false;
	if (bytes == NULL)
		return true;
	left = (struct electorate_left){0};
	roster_electors(bytes, size, 1, &electors);
	for (uint32_t i = 0; i < electors.count; i++)
		count_voter(colony, &left, electors.list[i].server, wiped);
	electors_free(&electors);
	return 2 * left.left > left.voters;
}

bool disk_is_spare(const struct colony *colony, uint32_t number)
{
	uint64_t wiped = colony->places[number].server;

	for (uint32_t i = 0; i < colony->places_count; i++) {
		const struct colony_place *place = &colony->places[i];
		struct identity stored = {0};
		if (!place->keeps)
			continue;
		bool allows = identity_read(place->disk.identity.bytes,
		                            place->disk.identity.bytes_count, &stored) &&
		              record_allows(colony, &stored, wiped) &&
		              (place->member == NULL ||
		               record_allows(colony, member_identity(place->member), wiped)) &&
		              log_allows(colony, place, wiped);
		identity_free(&stored);
		if (!allows)
			return false;
	}
	return true;
}
