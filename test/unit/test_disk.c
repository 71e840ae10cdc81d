/*
 * The disk of a voter. After a crash everything is there, or the disk is refused; it is never read
 * wrongly. Each write is computed from its number, so that the content after the n-th write is
 * known. DISK_KILLS in the environment says how many writers are killed (default: 500; with a
 * sanitizer, which makes each of them slower, 40).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "disk.h"
#include "must.h"
#include "random.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { KILLS = 40 };
#else
enum { KILLS = 500 };
#endif

enum { ENTRY_SIZE = 300, ENTRIES_MAX = 4096, BATCH = 3, PLACES = 200 };

static const char identity[] = "the third of seven";

/* Entries are identified by a number each, snapshots by their index. */
struct model {
	uint64_t term, vote;
	uint64_t start, next;
	uint64_t entries[ENTRIES_MAX];
	uint64_t snapshot;
};

struct step {
	struct durable_write write;
	struct durable_entry entries[BATCH];
	struct durable_snapshot snapshot;
	uint8_t bytes[BATCH][ENTRY_SIZE];
	uint8_t state[2 * ENTRY_SIZE];
};

static void fill(uint8_t *bytes, size_t size, uint64_t number)
{
	struct random random;

	random_seed(&random, number);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)random_next(&random);
}

static size_t entry_size(uint64_t number)
{
	return number % 7 == 0 ? 0 : number * 31 % ENTRY_SIZE;
}

static void draw_snapshot(struct model *model, struct step *step, struct random *random)
{
	uint64_t index = model->next - 1;

	fill(step->state, sizeof step->state, index);
	step->snapshot = (struct durable_snapshot){
	        .index = index,
	        .term = index,
	        .voters_index = index / 2,
	        .voters = step->state,
	        .voters_size = 40,
	        .bytes = step->state + 40,
	        .size = sizeof step->state - 40,
	};
	step->write.snapshot = &step->snapshot;
	model->snapshot = index;
	/* Either a snapshot is installed, with a gap that nothing fills; or one is taken, and some
	 * entries stay. */
	if (random_below(random, 4) == 0) {
		step->snapshot.index = model->snapshot = index + 5;
		step->write.log_start = step->write.entries_first = index + 6;
		model->start = model->next = index + 6;
		return;
	}
	uint64_t keep = random_below(random, 4);
	if (index + 1 > model->start + keep)
		step->write.log_start = model->start = index + 1 - keep;
}

/* Draws the n-th write, and the model after it. */
static void draw_write(struct model *model, struct step *step, uint64_t number)
{
	struct random random;

	random_seed(&random, number);
	*step = (struct step){.write.number = number};
	bool snaps = random_below(&random, 12) == 0;
	/* Every write must change something. Otherwise nobody could tell which write was the
	 * last. */
	bool repeats = snaps && model->next - 1 == model->snapshot;
	if (repeats || random_below(&random, 3) == 0) {
		step->write.has_ballot = true;
		step->write.term = model->term = number;
		step->write.vote = model->vote = random_below(&random, 5);
	}
	if (snaps) {
		draw_snapshot(model, step, &random);
		return;
	}
	uint64_t least = model->snapshot + 1 > model->start ? model->snapshot + 1 : model->start;
	uint64_t first = model->next;
	if (random_below(&random, 5) == 0 && first > least)
		first -= random_below(&random, first - least + 1);
	step->write.entries_first = first;
	step->write.entries = step->entries;
	step->write.entries_count = 1 + random_below(&random, BATCH);
	for (size_t i = 0; i < step->write.entries_count; i++) {
		uint64_t name = number * BATCH + i;
		fill(step->bytes[i], ENTRY_SIZE, name);
		step->entries[i] =
		        (struct durable_entry){number, 1, step->bytes[i], entry_size(name)};
		model->entries[(first + i) % ENTRIES_MAX] = name;
	}
	model->next = first + step->write.entries_count;
}

static void begin_model(struct model *model)
{
	*model = (struct model){.start = 1, .next = 1};
}

static bool holds(const struct disk *disk, const struct model *model)
{
	const struct durable_content *content = disk_content(disk);
	uint8_t bytes[2 * ENTRY_SIZE];

	if (content->term != model->term || content->vote != model->vote ||
	    content->snapshot.index != model->snapshot || content->log_start != model->start ||
	    content->entries_count != model->next - model->start)
		return false;
	for (size_t i = 0; i < content->entries_count; i++) {
		uint64_t name = model->entries[(model->start + i) % ENTRIES_MAX];
		fill(bytes, ENTRY_SIZE, name);
		if (content->entries[i].term != name / BATCH || content->entries[i].type != 1 ||
		    content->entries[i].size != entry_size(name) ||
		    memcmp(content->entries[i].bytes, bytes, entry_size(name)) != 0)
			return false;
	}
	size_t size;
	const uint8_t *kept = disk_identity(disk, &size);
	return size == sizeof identity && memcmp(kept, identity, size) == 0;
}

/* Returns after which write, of those up to `last`, the disk had this content; -1: after none. */
static int64_t find_state(const struct disk *disk, uint64_t last)
{
	static struct model model;
	static struct step step;

	begin_model(&model);
	for (uint64_t number = 0;; number++) {
		if (number > 0)
			draw_write(&model, &step, number);
		if (holds(disk, &model))
			return (int64_t)number;
		if (number == last)
			return -1;
	}
}

static char folder[64], copy[64];
static char text[DISK_TEXT_MAX];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

static int setup(void **context)
{
	(void)context;
	snprintf(folder, sizeof folder, "/tmp/test_disk.XXXXXX");
	snprintf(copy, sizeof copy, "/tmp/test_disk.XXXXXX");
	return mkdtemp(folder) == NULL || mkdtemp(copy) == NULL;
}

static int teardown(void **context)
{
	(void)context;
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	nftw(copy, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

static void create(void)
{
	int result = disk_create(folder, identity, sizeof identity, text);

	if (result != DISK_OK)
		print_error("%s\n", text);
	assert_int_equal(result, DISK_OK);
}

static struct disk *open_in(const char *directory)
{
	struct disk *disk;
	int result = disk_open(directory, &disk, text);

	if (result != DISK_OK)
		print_error("%s\n", text);
	assert_int_equal(result, DISK_OK);
	return disk;
}

static void write_up_to(struct disk *disk, uint64_t last)
{
	static struct model model;
	static struct step step;

	begin_model(&model);
	for (uint64_t number = 1; number <= last; number++) {
		draw_write(&model, &step, number);
		assert_int_equal(disk_write(disk, &step.write), DISK_OK);
	}
}

static void test_what_was_written_is_read(void **context)
{
	(void)context;
	create();
	for (uint64_t last = 0; last < 120; last += 17) {
		teardown(context);
		setup(context);
		create();
		struct disk *disk = open_in(folder);
		write_up_to(disk, last);
		disk_close(disk);
		disk = open_in(folder);
		assert_int_equal(find_state(disk, last), last);
		disk_close(disk);
	}
}

static void test_a_directory_is_one_process_and_one_life(void **context)
{
	(void)context;
	struct disk *disk, *second;

	assert_int_equal(disk_open(folder, &disk, text), DISK_EABSENT);
	create();
	assert_int_equal(disk_create(folder, "", 0, text), DISK_EINUSE);
	disk = open_in(folder);
	assert_int_equal(disk_open(folder, &second, text), DISK_EINUSE);
	assert_non_null(
	        strstr(text, "the directory")); /* the refusal must come before any file is read */
	disk_close(disk);
	assert_int_equal(disk_open("/nowhere/at/all", &disk, text), DISK_EFAILED);
}

static void test_addresses_are_kept(void **context)
{
	(void)context;
	const char *name;

	create();
	struct disk *disk = open_in(folder);
	assert_int_equal(disk_write_address(disk, "n2", "10.0.0.2:7400"), DISK_OK);
	assert_int_equal(disk_write_address(disk, "n1", "10.0.0.1:7400"), DISK_OK);
	assert_int_equal(disk_write_address(disk, "n2", "10.0.0.9:7400"), DISK_OK);
	assert_int_equal(disk_write_address(disk, "n3", "10.0.0.3:7400"), DISK_OK);
	assert_int_equal(disk_write_address(disk, "n3", NULL), DISK_OK);
	disk_close(disk);
	disk = open_in(folder);
	assert_string_equal(disk_address(disk, 0, &name), "10.0.0.1:7400");
	assert_string_equal(name, "n1");
	assert_string_equal(disk_address(disk, 1, &name), "10.0.0.9:7400");
	assert_null(disk_address(disk, 2, &name));
	disk_close(disk);
}

/* Writes until it is killed, and reports each write that is durable. */
static _Noreturn void write_for_ever(uint64_t from, int told)
{
	static struct model model;
	static struct step step;
	struct disk *disk;

	must(disk_open(folder, &disk, text) == DISK_OK);
	begin_model(&model);
	for (uint64_t number = 1;; number++) {
		draw_write(&model, &step, number);
		if (number <= from)
			continue;
		must(disk_write(disk, &step.write) == DISK_OK);
		must(write(told, &number, sizeof number) == sizeof number);
	}
}

static void test_what_was_acknowledged_survives_kill_9(void **context)
{
	(void)context;
	const char *words = getenv("DISK_KILLS");
	uint64_t kills = words == NULL ? KILLS : strtoull(words, NULL, 10);
	uint64_t acknowledged = 0;
	struct random random;

	random_seed(&random, 1);
	create();
	for (uint64_t round = 0; round < kills; round++) {
		int ends[2];
		assert_int_equal(pipe(ends), 0);
		pid_t writer = fork();
		assert_true(writer >= 0);
		if (writer == 0)
			write_for_ever(acknowledged, ends[1]);
		close(ends[1]);
		/* The writer is killed at some moment of the write after the n-th. */
		uint64_t number, more = random_below(&random, 4);
		for (uint64_t i = 0; i < more && read(ends[0], &number, sizeof number) > 0; i++)
			acknowledged = number;
		usleep((useconds_t)random_below(&random, 3000));
		kill(writer, SIGKILL);
		waitpid(writer, NULL, 0);
		while (read(ends[0], &number, sizeof number) == sizeof number)
			acknowledged = number;
		close(ends[0]);
		struct disk *disk = open_in(folder);
		int64_t found = find_state(disk, acknowledged + 1);
		assert_in_range(found, acknowledged, acknowledged + 1);
		acknowledged = (uint64_t)found;
		disk_close(disk);
	}
}

static size_t read_file(const char *directory, const char *name, uint8_t **ret_bytes)
{
	char path[128];
	struct stat status = {0};

	snprintf(path, sizeof path, "%s/%s", directory, name);
	int fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &status) == 0);
	*ret_bytes = malloc((size_t)status.st_size + 1);
	assert_int_equal(read(fd, *ret_bytes, (size_t)status.st_size), status.st_size);
	close(fd);
	return (size_t)status.st_size;
}

static void write_file(const char *name, const uint8_t *bytes, size_t size)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", copy, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
}

/* The files that a crash after `last` writes leaves, as they are while the database is open. */
struct image {
	uint64_t last;
	uint8_t *main, *wal;
	size_t main_size, wal_size;
};

static struct image take_image(uint64_t last)
{
	struct image image = {.last = last};

	create();
	struct disk *disk = open_in(folder);
	write_up_to(disk, last);
	image.main_size = read_file(folder, "baton.db", &image.main);
	image.wal_size = read_file(folder, "baton.db-wal", &image.wal);
	disk_close(disk);
	return image;
}

static void free_image(struct image *image)
{
	free(image->main);
	free(image->wal);
}

/* Returns the number of the write whose state is read from the copy; -1: the copy is refused. */
static int64_t open_copy(uint64_t last)
{
	struct disk *disk;
	int result = disk_open(copy, &disk, text);

	if (result != DISK_OK) {
		assert_int_equal(result, DISK_EDAMAGED);
		return -1;
	}
	int64_t found = find_state(disk, last);
	disk_close(disk);
	assert_true(found >= 0); /* otherwise a row was read wrongly, which must never happen */
	return found;
}

static int64_t open_damaged(const struct image *image, const uint8_t *main, size_t main_size,
                            const uint8_t *wal, size_t wal_size)
{
	write_file("baton.db", main, main_size);
	write_file("baton.db-wal", wal, wal_size);
	return open_copy(image->last);
}

/* Checks how much of a database is protected when nothing is left in its write-ahead log. */
static void test_a_damaged_file_is_refused_or_read_right(void **context)
{
	(void)context;
	static const uint64_t lasts[] = {40, 90};

	for (size_t k = 0; k < 2; k++) {
		teardown(context);
		setup(context);
		struct image image = take_image(lasts[k]);
		if (k == 1) { /* after the last close everything is in the database file */
			free(image.main);
			image.main_size = read_file(folder, "baton.db", &image.main);
			image.wal_size = 0;
		}
		unsigned refused = 0, named = 0;
		for (size_t i = 0; i < PLACES; i++) {
			/* The first hundred bytes are the header: try each of them. */
			size_t place = i < 100 ? i : i * image.main_size / PLACES;
			image.main[place] ^= (uint8_t)(1 + i * 37 % 255);
			int64_t found = open_damaged(&image, image.main, image.main_size, image.wal,
			                             image.wal_size);
			image.main[place] ^= (uint8_t)(1 + i * 37 % 255);
			refused += found < 0;
			named += found < 0 && strstr(text, "is not what was written") != NULL;
			assert_true(found < 0 || found == (int64_t)image.last);
			place = i * image.main_size / PLACES;
			found = open_damaged(&image, image.main, place, image.wal, image.wal_size);
			assert_true(found < 0 || found == (int64_t)image.last);
		}
		assert_true(refused > PLACES / 10);
		assert_true(named > 0 || k == 0);
		assert_int_equal(open_damaged(&image, image.main, image.main_size, image.wal,
		                              image.wal_size),
		                 image.last);
		free_image(&image);
	}
}

enum { WAL_HEADER = 32, WAL_FRAME = 24 + 4096 };

static void test_a_write_ahead_log_with_a_hole_is_refused(void **context)
{
	(void)context;
	struct image image = take_image(25);
	size_t frames = (image.wal_size - WAL_HEADER) / WAL_FRAME;
	size_t last_frame = WAL_HEADER + (frames - 1) * WAL_FRAME;

	assert_int_equal(
	        open_damaged(&image, image.main, image.main_size, image.wal, image.wal_size),
	        image.last);
	for (size_t i = 0; i < PLACES; i++) {
		/* Try each byte of the header and of a frame's header, then bytes all over the
		 * file. */
		size_t place = i * image.wal_size / PLACES;
		if (i < WAL_HEADER + 24)
			place = i < WAL_HEADER ? i : i + 2 * (size_t)WAL_FRAME;
		uint8_t flip = (uint8_t)(1 << i % 8);
		image.wal[place] ^= flip;
		int64_t found = open_damaged(&image, image.main, image.main_size, image.wal,
		                             image.wal_size);
		image.wal[place] ^= flip;
		assert_true(found < 0 || found == (int64_t)image.last || place >= last_frame);
	}
	free_image(&image);
}

/* No check can notice this loss: it leaves a state that existed, and nothing is mixed. */
static void test_a_cut_write_ahead_log_is_an_earlier_state(void **context)
{
	(void)context;
	struct image image = take_image(25);
	int64_t before = 0;

	for (size_t i = 0; i <= PLACES; i++) {
		size_t size = i * image.wal_size / PLACES;
		int64_t found = open_damaged(&image, image.main, image.main_size, image.wal, size);
		assert_true(found >= before);
		before = found;
	}
	assert_int_equal(before, image.last);
	free_image(&image);
}

/* Pages of two moments are in one file: each row is right by itself. */
static void test_a_mixture_of_two_moments_is_refused(void **context)
{
	(void)context;
	static struct image images[2];
	unsigned refused = 0;

	for (size_t k = 0; k < 2; k++) {
		teardown(context);
		setup(context);
		images[k] = take_image(k == 0 ? 60 : 75);
		free(images[k].main); /* after the close everything is in the database file */
		images[k].main_size = read_file(folder, "baton.db", &images[k].main);
	}
	for (size_t page = 0;
	     page < images[1].main_size / 4096 && page < images[0].main_size / 4096; page++) {
		uint8_t *bytes = malloc(images[1].main_size);
		memcpy(bytes, images[1].main, images[1].main_size);
		memcpy(bytes + page * 4096, images[0].main + page * 4096, 4096);
		bool same = memcmp(bytes, images[1].main, images[1].main_size) == 0;
		int64_t found = open_damaged(&images[1], bytes, images[1].main_size, bytes, 0);
		assert_true(found < 0 || found == 75);
		assert_true(!same || found == 75);
		refused += found < 0;
		free(bytes);
	}
	assert_true(refused > 0);
	free_image(&images[0]);
	free_image(&images[1]);
}

static void test_files_that_are_not_what_they_were_are_refused(void **context)
{
	(void)context;
	struct image image = take_image(25);
	struct disk *disk;

	write_file("baton.db-wal", image.wal, image.wal_size);
	assert_int_equal(disk_open(copy, &disk, text), DISK_EDAMAGED);
	write_file("baton.db", image.main, 0);
	assert_int_equal(disk_open(copy, &disk, text), DISK_EDAMAGED);
	assert_non_null(strstr(text, "empty"));
	/* The header names another journal mode: SQLite would continue without a write-ahead
	 * log. */
	free(image.main);
	image.main_size = read_file(folder, "baton.db", &image.main);
	assert_int_equal(open_damaged(&image, image.main, image.main_size, image.wal, 0),
	                 image.last);
	char wal[128];
	snprintf(wal, sizeof wal, "%s/baton.db-wal", copy);
	unlink(wal);
	image.main[18] = image.main[19] = 1;
	write_file("baton.db", image.main, image.main_size);
	assert_int_equal(disk_open(copy, &disk, text), DISK_EDAMAGED);
	free_image(&image);
}

static void test_a_disk_that_fails_stays_failed(void **context)
{
	(void)context;
	static struct model model;
	static struct step step;
	struct rlimit limit, small;
	uint64_t number = 1;
	int result = DISK_OK;

	create();
	struct disk *disk = open_in(folder);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 60000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	begin_model(&model);
	for (; result == DISK_OK && number < 1000; number++) {
		draw_write(&model, &step, number);
		result = disk_write(disk, &step.write);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(result, DISK_EFAILED);
	assert_true(strlen(disk_text(disk)) > 0);
	assert_int_equal(disk_write(disk, &step.write), DISK_EFAILED);
	disk_close(disk);
	disk = open_in(folder);
	assert_int_equal(find_state(disk, number), number - 2);
	disk_close(disk);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(test_what_was_written_is_read),
	        TEST(test_a_directory_is_one_process_and_one_life),
	        TEST(test_addresses_are_kept),
	        TEST(test_what_was_acknowledged_survives_kill_9),
	        TEST(test_a_damaged_file_is_refused_or_read_right),
	        TEST(test_a_write_ahead_log_with_a_hole_is_refused),
	        TEST(test_a_cut_write_ahead_log_is_an_earlier_state),
	        TEST(test_a_mixture_of_two_moments_is_refused),
	        TEST(test_files_that_are_not_what_they_were_are_refused),
	        TEST(test_a_disk_that_fails_stays_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
