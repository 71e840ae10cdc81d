#include "rescue_folder.h"

#include "cli.h"
#include "clock.h"
#include "disk.h"
#include "identity.h"
#include "memory.h"
#include "rescue.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The files of a database. The second may be missing. */
static const char *const files[] = {"baton.db", "baton.db-wal"};
static const char fresh[] = "rescue.new"; /* the folder in which the new database is made */

struct rescued {
	const char *data;
	struct identity old, new;
	struct agreed_state state; /* the state of the new cluster */
	struct shadow disk;        /* the new database */
	uint64_t last_term, last_index;
	uint64_t lease_ms;
	char kept[PATH_MAX]; /* where the old database is kept */
};

static int fail(const char *where, const char *why)
{
	fprintf(stderr, "baton member: %s: %s\n", where, why);
	return EXIT_VIOLATED;
}

static void path_in(char ret_path[PATH_MAX], const char *folder, const char *name)
{
	snprintf(ret_path, PATH_MAX, "%.4000s/%s", folder, name);
}

bool rescue_is_torn(const char *data)
{
	char old[PATH_MAX], new[PATH_MAX];

	path_in(old, data, files[0]);
	snprintf(new, sizeof(new), "%.4000s/%s/%s", data, fresh, files[0]);
	return access(old, F_OK) != 0 && access(new, F_OK) == 0;
}

/* --- the new cluster --- */

static uint64_t draw(void)
{
	uint64_t number = 0;

	while (number == 0)
		must(getentropy(&number, sizeof(number)) == 0);
	return number;
}

static int read_lease(struct rescued *rescued)
{
	const struct settings_words none = {0};
	struct daemon_settings theirs;
	struct problem problem;
	struct settings *own = settings_create(&none, &problem);

	must(own != NULL);
	int result = settings_resolve(own, rescued->old.charter.settings, &theirs, &problem);
	if (result == 0)
		rescued->lease_ms = theirs.lease_ms;
	settings_destroy(own);
	return result == 0 ? EXIT_HELD : fail(rescued->data, problem.text);
}

static int make_content(struct rescued *rescued, const struct durable_content *content)
{
	const struct charter *old = &rescued->old.charter;
	struct rescue_options options = {
	        .cluster = {draw(), draw()},
	        .server = draw(),
	        .name = rescued->old.name,
	        .address = rescued->old.address,
	        .base = charter_base(clock_real_ns() / 1000000, 0),
	        .settings = charter_state(old, rescued->lease_ms * 1000000),
	};
	struct durable_snapshot *snapshot = &rescued->disk.snapshot;

	switch (rescue_content(content, &options, &rescued->disk)) {
	case RESCUE_OK:
		break;
	case RESCUE_EEMPTY:
		return fail(rescued->data, "there is no log to go on with");
	case RESCUE_EFENCES:
		return fail(rescued->data, "there are no fences left");
	default:
		return fail(rescued->data, "the log is damaged: its snapshot cannot be read, or "
		                           "entries are missing");
	}
	state_init(&rescued->state, &options.settings);
	must(state_read(&rescued->state, snapshot->bytes, snapshot->size));
	rescued->last_index = snapshot->index;
	rescued->last_term = snapshot->term;
	identity_copy(&rescued->new, &rescued->old);
	rescued->new.server = options.server;
	rescued->new.stage = BIRTH_LIFE;
	rescued->new.charter.cluster = options.cluster;
	return EXIT_HELD;
}

static int read_folder(struct rescued *rescued)
{
	char text[DISK_TEXT_MAX];
	struct disk *disk = NULL;
	size_t size;
	int result = disk_open(rescued->data, &disk, text);

	if (result != DISK_OK) {
		fail(rescued->data, text);
		return result == DISK_EABSENT || result == DISK_EINUSE ? EXIT_USAGE : EXIT_VIOLATED;
	}
	const uint8_t *bytes = disk_identity(disk, &size);
	int code = EXIT_HELD;
	if (!identity_read(bytes, size, &rescued->old))
		code = fail(rescued->data, "its identity cannot be read");
	else if (!charter_exists(&rescued->old.charter))
		code = fail(rescued->data, "this node never belonged to a cluster");
	if (code == EXIT_HELD)
		code = read_lease(rescued);
	if (code == EXIT_HELD)
		code = make_content(rescued, disk_content(disk));
	disk_close(disk);
	return code;
}

/* --- printing what a rescue does --- */

static void write_cluster(char room[40], struct cluster_id cluster)
{
	snprintf(room, 40, "%016llx%016llx", (unsigned long long)cluster.high,
	         (unsigned long long)cluster.low);
}

static void tell(const struct rescued *rescued, bool sure)
{
	char old[40], new[40];
	const struct agreed_state *state = &rescued->state;

	write_cluster(old, rescued->old.charter.cluster);
	write_cluster(new, rescued->new.charter.cluster);
	printf("%s has the log of node %s, of cluster %s\n", rescued->data, rescued->old.name, old);
	printf("  its last entry: term %llu, index %llu\n", (unsigned long long)rescued->last_term,
	       (unsigned long long)rescued->last_index);
	printf("  its last view: epoch %llu with", (unsigned long long)state->epoch);
	for (uint32_t i = 0; i < state->seats_count; i++)
		printf("%s %s", i == 0 ? "" : ",", state->seats[i].name);
	printf("%s\n", state->seats_count == 0 ? " nobody" : "");
	printf("%s %s\n",
	       sure ? "A new cluster was made from it," : "A rescue makes a new cluster from it,",
	       new);
	printf("  its only voter: %s at %s\n", rescued->new.name, rescued->new.address);
	printf("  fences go on from %llu\n", (unsigned long long)state->limit);
	printf("  for one lease after its start it grants nothing\n");
	printf("  the old database %s in %s\n", sure ? "is" : "will be kept", rescued->kept);
	if (sure)
		printf("Start this node with --data alone. Start every other node with an empty\n"
		       "folder and --join %s.\n",
		       rescued->new.address);
	else
		printf("Do this only if most voters are lost for good, and on the survivor with "
		       "the\n"
		       "greatest term and index. No other node of the old cluster may run. "
		       "Nothing\n"
		       "has changed yet: repeat it with --yes.\n");
}

static void tell_json(const struct rescued *rescued, bool sure)
{
	char old[40], new[40];

	write_cluster(old, rescued->old.charter.cluster);
	write_cluster(new, rescued->new.charter.cluster);
	print_json(json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b}", "node",
	                     rescued->new.name, "address", rescued->new.address, "cluster", old,
	                     "new_cluster", new, "term", (json_int_t)rescued->last_term, "index",
	                     (json_int_t)rescued->last_index, "fences_from",
	                     (json_int_t)rescued->state.limit, "kept", rescued->kept, "done",
	                     sure));
}

/* --- replacing the database --- */

static void remove_fresh(const char *folder)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		path_in(path, folder, files[i]);
		unlink(path);
	}
	rmdir(folder);
}

/* Makes the new database in a folder of its own. */
static int make_database(struct rescued *rescued, const char *folder)
{
	char text[DISK_TEXT_MAX];
	struct out out;
	struct disk *disk = NULL;
	struct durable_content content = shadow_content(&rescued->disk);

	remove_fresh(folder);
	if (mkdir(folder, 0700) != 0)
		return fail(folder, strerror(errno));
	out_init(&out);
	identity_write(&out, &rescued->new);
	int result = disk_create(folder, out.bytes, out.bytes_count, text);
	out_free(&out);
	if (result != DISK_OK)
		return fail(folder, text);
	result = disk_open(folder, &disk, text);
	if (result == DISK_OK) {
		result = disk_write(disk, &(struct durable_write){.number = 1,
		                                                  .has_ballot = true,
		                                                  .term = content.term,
		                                                  .vote = content.vote,
		                                                  .snapshot = &content.snapshot,
		                                                  .log_start = content.log_start});
		snprintf(text, sizeof(text), "%s", disk_text(disk));
	}
	disk_close(disk);
	return result == DISK_OK ? EXIT_HELD : fail(folder, text);
}

static int move_files(const char *from, const char *to)
{
	char source[PATH_MAX], target[PATH_MAX];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		path_in(source, from, files[i]);
		path_in(target, to, files[i]);
		if (rename(source, target) != 0 && errno != ENOENT)
			return fail(source, strerror(errno));
	}
	int fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) != 0)
		return fail(to, strerror(errno));
	close(fd);
	return EXIT_HELD;
}

/* Puts the new database in place. A node can start here only after the last step. */
static int finish(const char *data)
{
	char folder[PATH_MAX];

	path_in(folder, data, fresh);
	int code = move_files(folder, data);
	if (code == EXIT_HELD)
		remove_fresh(folder);
	return code;
}

static int replace(struct rescued *rescued)
{
	char folder[PATH_MAX];

	path_in(folder, rescued->data, fresh);
	int code = make_database(rescued, folder);
	if (code == EXIT_HELD && mkdir(rescued->kept, 0700) != 0)
		code = fail(rescued->kept, strerror(errno));
	if (code == EXIT_HELD)
		code = move_files(rescued->data, rescued->kept);
	return code == EXIT_HELD ? finish(rescued->data) : code;
}

int rescue_folder(const char *data, bool sure, bool json)
{
	struct rescued rescued = {.data = data};
	char stamp[32];
	time_t now = time(NULL);
	struct tm calendar;

	if (rescue_is_torn(data)) {
		if (!sure) {
			fail(data, "a rescue was interrupted; repeat it with --yes");
			return EXIT_USAGE;
		}
		int code = finish(data);
		if (code == EXIT_HELD)
			printf("The rescue of %s is finished. Start this node with --data alone.\n",
			       data);
		return code;
	}
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", gmtime_r(&now, &calendar));
	snprintf(rescued.kept, sizeof(rescued.kept), "%.4000s/before-rescue-%s", data, stamp);
	shadow_init(&rescued.disk);
	int code = read_folder(&rescued);
	if (code == EXIT_HELD && sure)
		code = replace(&rescued);
	if (code == EXIT_HELD && json)
		tell_json(&rescued, sure);
	else if (code == EXIT_HELD)
		tell(&rescued, sure);
	shadow_free(&rescued.disk);
	state_free(&rescued.state);
	identity_free(&rescued.old);
	identity_free(&rescued.new);
	return code;
}
