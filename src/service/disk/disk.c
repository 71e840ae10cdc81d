/*
 * The tables, the transactions, and the check of everything when a database is opened.
 */
#include "disk.h"

#include "checksum.h"
#include "content.h"
#include "grow.h"
#include "must.h"
#include "wal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#define FILE_NAME "baton.db"
#define NEW_NAME "baton.db.new"
/* APPLICATION is "batn", by which `file` and people recognise the database; FORMAT is the version
 * of the tables. */
enum { APPLICATION = 0x6261746e, FORMAT = 1, CHECKPOINT_PAGES = 100 };

#define ONE "one INTEGER PRIMARY KEY CHECK (one = 1)"
#define SUM "checksum INTEGER NOT NULL"
static const char *const tables[] = {
        "CREATE TABLE addresses (name TEXT PRIMARY KEY, address TEXT NOT NULL, " SUM
        ") WITHOUT ROWID",
        "CREATE TABLE ballot (" ONE ", term INTEGER NOT NULL, vote INTEGER NOT NULL, " SUM ")",
        "CREATE TABLE identity (" ONE ", bytes BLOB NOT NULL, " SUM ")",
        "CREATE TABLE log (idx INTEGER PRIMARY KEY, term INTEGER NOT NULL, type INTEGER NOT NULL,"
        " bytes BLOB NOT NULL, " SUM ")",
        "CREATE TABLE snapshot (" ONE ", idx INTEGER NOT NULL, term INTEGER NOT NULL,"
        " voters_idx INTEGER NOT NULL, voters BLOB NOT NULL, bytes BLOB NOT NULL, " SUM ")",
        "CREATE TABLE total (" ONE ", log_start INTEGER NOT NULL, log_next INTEGER NOT NULL,"
        " sums INTEGER NOT NULL, " SUM ")",
};
enum { TABLES = sizeof tables / sizeof tables[0] };

struct disk {
	sqlite3 *database;
	int directory_fd;
	bool failed;
	char text[DISK_TEXT_MAX];
	struct content content;
	uint64_t log_start, log_next;
	/* The checksums of the entries; element i is for the entry log_start + i. */
	uint64_t *log_sums;
	size_t log_sums_size;
	/* The checksums of these rows; 0: there is no such row. */
	uint64_t ballot_sum, snapshot_sum, identity_sum;
	uint64_t sums; /* the sum of the checksums of all rows, except the one that holds it */
};

/* --- SQLite --- */

__attribute__((format(printf, 2, 3))) static void say(char *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, DISK_TEXT_MAX, format, arguments);
	va_end(arguments);
}

static int explain(struct disk *disk, int code)
{
	int kind = code & 0xff;
	const char *why =
	        disk->database == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(disk->database);

	if (kind == SQLITE_NOMEM)
		memory_failed();
	if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED) {
		say(disk->text, "the database is in use by another process");
		return DISK_EINUSE;
	}
	/* Our statements are fixed, so an error in one of them means that the tables are not
	 * ours. */
	if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_ERROR ||
	    kind == SQLITE_SCHEMA || kind == SQLITE_CONSTRAINT) {
		say(disk->text, "the database is damaged: %s", why);
		return DISK_EDAMAGED;
	}
	say(disk->text, "the disk fails: %s (%s)", why, strerror(errno));
	return DISK_EFAILED;
}

static int execute(struct disk *disk, const char *words)
{
	int code = sqlite3_exec(disk->database, words, NULL, NULL, NULL);

	return code == SQLITE_OK ? DISK_OK : explain(disk, code);
}

/* The value for one question mark of a statement. */
struct value {
	enum { NUMBER, TEXT, BLOB } kind;
	uint64_t number;
	const void *bytes;
	size_t size;
};

static struct value number_value(uint64_t number)
{
	return (struct value){.kind = NUMBER, .number = number};
}

static struct value text_value(const char *text)
{
	return (struct value){.kind = TEXT, .bytes = text, .size = strlen(text)};
}

static struct value blob_value(const void *bytes, size_t size)
{
	return (struct value){.kind = BLOB, .bytes = size == 0 ? "" : bytes, .size = size};
}

static void bind(sqlite3_stmt *statement, int place, const struct value *value)
{
	int code = SQLITE_OK;

	if (value->kind == NUMBER)
		code = sqlite3_bind_int64(statement, place, (sqlite3_int64)value->number);
	else if (value->kind == TEXT)
		code = sqlite3_bind_text(statement, place, value->bytes, (int)value->size,
		                         SQLITE_STATIC);
	else
		code = sqlite3_bind_blob64(statement, place, value->bytes, value->size,
		                           SQLITE_STATIC);
	must(code == SQLITE_OK);
}

/* Runs a statement that returns no rows. */
static int run(struct disk *disk, const char *words, const struct value *values, int values_count)
{
	sqlite3_stmt *statement;
	int code = sqlite3_prepare_v2(disk->database, words, -1, &statement, NULL);

	if (code != SQLITE_OK)
		return explain(disk, code);
	for (int i = 0; i < values_count; i++)
		bind(statement, i + 1, &values[i]);
	code = sqlite3_step(statement);
	int result = code == SQLITE_DONE ? DISK_OK : explain(disk, code);
	sqlite3_finalize(statement);
	return result;
}

static uint64_t column_number(sqlite3_stmt *statement, int column)
{
	return (uint64_t)sqlite3_column_int64(statement, column);
}

static const uint8_t *column_bytes(sqlite3_stmt *statement, int column, size_t *ret_size)
{
	const uint8_t *bytes = sqlite3_column_blob(statement, column);

	*ret_size = (size_t)sqlite3_column_bytes(statement, column);
	return bytes;
}

static const char *column_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return text == NULL ? "" : text;
}

/* Calls `take` for each row. `take` returns false if the row is wrong, and writes to disk->text
 * why. */
static int read_rows(struct disk *disk, const char *words,
                     bool (*take)(struct disk *disk, sqlite3_stmt *row))
{
	sqlite3_stmt *statement;
	int code = sqlite3_prepare_v2(disk->database, words, -1, &statement, NULL);
	int result = DISK_OK;

	if (code != SQLITE_OK)
		return explain(disk, code);
	while (result == DISK_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
		if (!take(disk, statement))
			result = DISK_EDAMAGED;
	if (result == DISK_OK && code != SQLITE_DONE)
		result = explain(disk, code);
	sqlite3_finalize(statement);
	return result;
}

/* --- reading and checking --- */

/* Checks a row by its checksum, and adds the checksum to the sum of all. */
static bool check_sum(struct disk *disk, const char *row, uint64_t sum, uint64_t stored)
{
	if (sum != stored) {
		say(disk->text, "the database is damaged: %s is not what was written", row);
		return false;
	}
	disk->sums += sum;
	return true;
}

static bool take_entry(struct disk *disk, sqlite3_stmt *row)
{
	uint64_t index = column_number(row, 0);
	struct durable_entry entry = {
	        .term = column_number(row, 1),
	        .type = (uint32_t)column_number(row, 2),
	};
	char name[64];

	entry.bytes = column_bytes(row, 3, &entry.size);
	snprintf(name, sizeof name, "entry %llu of the log", (unsigned long long)index);
	uint64_t sum = checksum_entry(index, &entry);
	if (!check_sum(disk, name, sum, column_number(row, 4)))
		return false;
	size_t place = disk->content.durable.entries_count;
	if (place == 0)
		disk->log_start = index;
	if (index != disk->log_start + place) {
		say(disk->text, "the database is damaged: entry %llu of the log is missing",
		    (unsigned long long)disk->log_start + place);
		return false;
	}
	disk->log_sums =
	        grow(disk->log_sums, &disk->log_sums_size, place + 1, sizeof *disk->log_sums);
	disk->log_sums[place] = sum;
	content_add_entry(&disk->content, &entry);
	return true;
}

static bool take_ballot(struct disk *disk, sqlite3_stmt *row)
{
	struct durable_content *content = &disk->content.durable;

	content->term = column_number(row, 0);
	content->vote = column_number(row, 1);
	disk->ballot_sum = checksum_ballot(content->term, content->vote);
	return check_sum(disk, "the ballot", disk->ballot_sum, column_number(row, 2));
}

static bool take_snapshot(struct disk *disk, sqlite3_stmt *row)
{
	struct durable_snapshot *snapshot = &disk->content.durable.snapshot;

	*snapshot = (struct durable_snapshot){
	        .index = column_number(row, 0),
	        .term = column_number(row, 1),
	        .voters_index = column_number(row, 2),
	};
	const uint8_t *voters = column_bytes(row, 3, &snapshot->voters_size);
	const uint8_t *bytes = column_bytes(row, 4, &snapshot->size);
	snapshot->voters = content_copy(voters, snapshot->voters_size);
	snapshot->bytes = content_copy(bytes, snapshot->size);
	disk->snapshot_sum = checksum_snapshot(snapshot);
	return check_sum(disk, "the snapshot", disk->snapshot_sum, column_number(row, 5));
}

static bool take_identity(struct disk *disk, sqlite3_stmt *row)
{
	const uint8_t *bytes = column_bytes(row, 0, &disk->content.identity_size);

	disk->content.identity = content_copy(bytes, disk->content.identity_size);
	disk->identity_sum = checksum_identity(bytes, disk->content.identity_size);
	return check_sum(disk, "the identity", disk->identity_sum, column_number(row, 1));
}

static bool take_address(struct disk *disk, sqlite3_stmt *row)
{
	const char *name = column_text(row, 0);
	const char *address = column_text(row, 1);

	if (!check_sum(disk, "an address", checksum_address(name, address), column_number(row, 2)))
		return false;
	content_add_address(&disk->content, name, address);
	return true;
}

/* Reads the row with the totals, after all others: checks that the database has exactly the rows
 * that the last transaction left. */
static bool take_total(struct disk *disk, sqlite3_stmt *row)
{
	uint64_t start = column_number(row, 0);
	uint64_t next = column_number(row, 1);
	size_t count = disk->content.durable.entries_count;

	if (count == 0)
		disk->log_start = start;
	disk->log_next = next;
	if (start != disk->log_start || next != start + count ||
	    column_number(row, 2) != disk->sums ||
	    column_number(row, 3) != checksum_total(disk->log_start, disk->log_next, disk->sums)) {
		say(disk->text, "the database is damaged: rows are missing, or older than others");
		return false;
	}
	disk->content.durable.log_start = start;
	return true;
}

static bool take_table(struct disk *disk, sqlite3_stmt *row)
{
	int place = sqlite3_column_int(row, 1);

	if (place >= 1 && place <= TABLES && strcmp(column_text(row, 0), tables[place - 1]) == 0)
		return true;
	say(disk->text, "the database is damaged: its tables are not those of this version");
	return false;
}

static bool take_integrity(struct disk *disk, sqlite3_stmt *row)
{
	if (strcmp(column_text(row, 0), "ok") == 0)
		return true;
	say(disk->text, "the database is damaged: %s", column_text(row, 0));
	return false;
}

static bool take_journal(struct disk *disk, sqlite3_stmt *row)
{
	/* In another mode SQLite would ignore the write-ahead log, and older rows would seem to be
	 * current. */
	if (strcmp(column_text(row, 0), "wal") == 0)
		return true;
	say(disk->text, "the database is damaged: its header does not name a write-ahead log");
	return false;
}

static bool take_application(struct disk *disk, sqlite3_stmt *row)
{
	if (sqlite3_column_int(row, 0) == APPLICATION)
		return true;
	say(disk->text, "the database is damaged, or not baton's");
	return false;
}

static bool take_format(struct disk *disk, sqlite3_stmt *row)
{
	if (sqlite3_column_int(row, 0) == FORMAT)
		return true;
	say(disk->text, "the database has format %d, and this baton reads %d only",
	    sqlite3_column_int(row, 0), FORMAT);
	return false;
}

static int check_all(struct disk *disk)
{
	static const struct {
		const char *words;
		bool (*take)(struct disk *disk, sqlite3_stmt *row);
	} questions[] = {
	        {"PRAGMA journal_mode", take_journal},
	        {"PRAGMA application_id", take_application},
	        {"PRAGMA user_version", take_format},
	        {"PRAGMA integrity_check(1)", take_integrity},
	        {"SELECT sql, row_number() OVER (ORDER BY name) FROM sqlite_schema"
	         " WHERE sql IS NOT NULL ORDER BY name",
	         take_table},
	        {"SELECT term, vote, checksum FROM ballot", take_ballot},
	        {"SELECT idx, term, voters_idx, voters, bytes, checksum FROM snapshot",
	         take_snapshot},
	        {"SELECT bytes, checksum FROM identity", take_identity},
	        {"SELECT idx, term, type, bytes, checksum FROM log ORDER BY idx", take_entry},
	        {"SELECT name, address, checksum FROM addresses ORDER BY name", take_address},
	        {"SELECT log_start, log_next, sums, checksum FROM total", take_total},
	};
	int result = DISK_OK;

	for (size_t i = 0; result == DISK_OK && i < sizeof questions / sizeof questions[0]; i++)
		result = read_rows(disk, questions[i].words, questions[i].take);
	if (result != DISK_OK)
		return result;
	const struct durable_content *content = &disk->content.durable;
	if (disk->log_next == 0 || disk->content.identity == NULL ||
	    content->snapshot.index + 1 < content->log_start) {
		say(disk->text, "the database is damaged: rows are missing");
		return DISK_EDAMAGED;
	}
	return DISK_OK;
}

/* --- opening and closing --- */

static void join_path(char ret_path[PATH_MAX], const char *directory, const char *name,
                      const char *ending)
{
	snprintf(ret_path, PATH_MAX, "%s/%s%s", directory, name, ending);
}

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

/* Locks the directory for this process: a write-ahead log must not be examined while another
 * process writes to it. */
static int lock_directory(struct disk *disk, const char *directory)
{
	if (strlen(directory) > PATH_MAX - 64) {
		say(disk->text, "the name of the directory is too long");
		return DISK_EFAILED;
	}
	disk->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (disk->directory_fd < 0) {
		say(disk->text, "cannot open the directory %s: %s", directory, strerror(errno));
		return DISK_EFAILED;
	}
	if (flock(disk->directory_fd, LOCK_EX | LOCK_NB) == 0)
		return DISK_OK;
	say(disk->text, "the directory %s is in use by another process", directory);
	return errno == EWOULDBLOCK ? DISK_EINUSE : DISK_EFAILED;
}

static int connect_database(struct disk *disk, const char *path)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	int code = sqlite3_open_v2(path, &disk->database, flags, NULL);

	if (code != SQLITE_OK)
		return explain(disk, code);
	sqlite3_extended_result_codes(disk->database, 1);
	/* In exclusive mode SQLite uses no file of shared memory, so only the database and its log
	 * matter. */
	int result = execute(disk, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;"
	                           "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
	sqlite3_wal_autocheckpoint(disk->database, CHECKPOINT_PAGES);
	return result;
}

static int open_checked(struct disk *disk, const char *directory)
{
	char path[PATH_MAX], wal[PATH_MAX];
	struct stat status;
	int result = lock_directory(disk, directory);

	if (result != DISK_OK)
		return result;
	join_path(path, directory, FILE_NAME, "");
	join_path(wal, directory, FILE_NAME, "-wal");
	if (stat(path, &status) != 0) {
		if (errno != ENOENT) {
			say(disk->text, "cannot read %s: %s", path, strerror(errno));
			return DISK_EFAILED;
		}
		say(disk->text,
		    exists(wal) ? "%s is missing, but its write-ahead log is there"
		                : "there is no %s",
		    path);
		return exists(wal) ? DISK_EDAMAGED : DISK_EABSENT;
	}
	if (status.st_size == 0) { /* SQLite would take an empty file for a new database */
		say(disk->text, "%s is damaged: it is empty", path);
		return DISK_EDAMAGED;
	}
	enum wal_verdict verdict = wal_examine(wal);
	if (verdict != WAL_SOUND) {
		say(disk->text,
		    verdict == WAL_DAMAGED ? "%s is damaged: a good frame follows a bad one"
		                           : "cannot read %s",
		    wal);
		return verdict == WAL_DAMAGED ? DISK_EDAMAGED : DISK_EFAILED;
	}
	result = connect_database(disk, path);
	return result != DISK_OK ? result : check_all(disk);
}

static struct disk *make_disk(void)
{
	struct disk *disk = calloc(1, sizeof *disk);

	memory_must(disk != NULL);
	disk->directory_fd = -1;
	return disk;
}

int disk_open(const char *directory, struct disk **ret_disk, char ret_text[DISK_TEXT_MAX])
{
	struct disk *disk = make_disk();
	int result = open_checked(disk, directory);

	if (result != DISK_OK) {
		memcpy(ret_text, disk->text, DISK_TEXT_MAX);
		/* No checkpoint on closing: it would write the write-ahead log into a database that
		 * may be damaged. */
		if (disk->database != NULL)
			sqlite3_db_config(disk->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
			                  NULL);
		disk_close(disk);
		return result;
	}
	*ret_disk = disk;
	return DISK_OK;
}

void disk_close(struct disk *disk)
{
	if (disk == NULL)
		return;
	if (disk->failed)
		sqlite3_db_config(disk->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_close(disk->database);
	if (disk->directory_fd >= 0)
		close(disk->directory_fd);
	content_free(&disk->content);
	free(disk->log_sums);
	free(disk);
}

const struct durable_content *disk_content(const struct disk *disk)
{
	return &disk->content.durable;
}

const uint8_t *disk_identity(const struct disk *disk, size_t *ret_size)
{
	*ret_size = disk->content.identity_size;
	return disk->content.identity;
}

const char *disk_address(const struct disk *disk, size_t place, const char **ret_name)
{
	if (place >= disk->content.addresses_count)
		return NULL;
	*ret_name = disk->content.addresses[place].name;
	return disk->content.addresses[place].address;
}

void disk_forget_content(struct disk *disk)
{
	content_free(&disk->content);
}

const char *disk_text(const struct disk *disk)
{
	return disk->text;
}

/* --- writing --- */

static int write_total(struct disk *disk)
{
	struct value values[] = {
	        number_value(disk->log_start),
	        number_value(disk->log_next),
	        number_value(disk->sums),
	        number_value(checksum_total(disk->log_start, disk->log_next, disk->sums)),
	};

	return run(disk, "INSERT OR REPLACE INTO total VALUES (1, ?, ?, ?, ?)", values, 4);
}

static int write_ballot(struct disk *disk, uint64_t term, uint64_t vote)
{
	uint64_t sum = checksum_ballot(term, vote);
	struct value values[] = {number_value(term), number_value(vote), number_value(sum)};

	disk->sums += sum - disk->ballot_sum;
	disk->ballot_sum = sum;
	return run(disk, "INSERT OR REPLACE INTO ballot VALUES (1, ?, ?, ?)", values, 3);
}

static int write_snapshot(struct disk *disk, const struct durable_snapshot *snapshot)
{
	uint64_t sum = checksum_snapshot(snapshot);
	struct value values[] = {
	        number_value(snapshot->index),
	        number_value(snapshot->term),
	        number_value(snapshot->voters_index),
	        blob_value(snapshot->voters, snapshot->voters_size),
	        blob_value(snapshot->bytes, snapshot->size),
	        number_value(sum),
	};

	disk->sums += sum - disk->snapshot_sum;
	disk->snapshot_sum = sum;
	return run(disk, "INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?, ?, ?, ?, ?)", values, 6);
}

static int remove_tail(struct disk *disk, uint64_t first)
{
	if (first >= disk->log_next)
		return DISK_OK;
	for (uint64_t index = first; index < disk->log_next; index++)
		disk->sums -= disk->log_sums[index - disk->log_start];
	disk->log_next = first;
	return run(disk, "DELETE FROM log WHERE idx >= ?", (struct value[]){number_value(first)},
	           1);
}

static int remove_head(struct disk *disk, uint64_t start)
{
	if (start <= disk->log_start)
		return DISK_OK;
	uint64_t gone = (start < disk->log_next ? start : disk->log_next) - disk->log_start;
	uint64_t left = disk->log_next - disk->log_start - gone;
	for (uint64_t place = 0; place < gone; place++)
		disk->sums -= disk->log_sums[place];
	if (left > 0)
		memmove(disk->log_sums, disk->log_sums + gone, left * sizeof *disk->log_sums);
	disk->log_start = start;
	disk->log_next = start + left;
	return run(disk, "DELETE FROM log WHERE idx < ?", (struct value[]){number_value(start)}, 1);
}

static int add_entry(struct disk *disk, const struct durable_entry *entry)
{
	uint64_t index = disk->log_next++;
	uint64_t sum = checksum_entry(index, entry);
	size_t place = (size_t)(index - disk->log_start);
	struct value values[] = {
	        number_value(index),       number_value(entry->term),
	        number_value(entry->type), blob_value(entry->bytes, entry->size),
	        number_value(sum),
	};

	disk->log_sums =
	        grow(disk->log_sums, &disk->log_sums_size, place + 1, sizeof *disk->log_sums);
	disk->log_sums[place] = sum;
	disk->sums += sum;
	return run(disk, "INSERT INTO log VALUES (?, ?, ?, ?, ?)", values, 5);
}

static int write_rows(struct disk *disk, const struct durable_write *write)
{
	int result = DISK_OK;

	if (write->has_ballot)
		result = write_ballot(disk, write->term, write->vote);
	if (result == DISK_OK && write->snapshot != NULL)
		result = write_snapshot(disk, write->snapshot);
	if (result == DISK_OK && write->entries_first != 0)
		result = remove_tail(disk, write->entries_first);
	if (result == DISK_OK && write->log_start != 0)
		result = remove_head(disk, write->log_start);
	must(write->entries_count == 0 || write->entries_first == disk->log_next);
	for (size_t i = 0; result == DISK_OK && i < write->entries_count; i++)
		result = add_entry(disk, &write->entries[i]);
	return result;
}

/* Ends a transaction whose statements had this result. */
static int end_transaction(struct disk *disk, int result)
{
	if (result == DISK_OK)
		result = write_total(disk);
	if (result == DISK_OK)
		result = execute(disk, "COMMIT");
	if (result != DISK_OK)
		disk->failed = true;
	return result;
}

static int begin_transaction(struct disk *disk)
{
	if (disk->failed)
		return DISK_EFAILED;
	int result = execute(disk, "BEGIN IMMEDIATE");
	disk->failed = result != DISK_OK;
	return result;
}

int disk_write(struct disk *disk, const struct durable_write *write)
{
	int result = begin_transaction(disk);

	return result != DISK_OK ? result : end_transaction(disk, write_rows(disk, write));
}

static int replace_address(struct disk *disk, const char *name, const char *address)
{
	struct value old[] = {text_value(name)};
	sqlite3_stmt *statement;
	const char *words = "DELETE FROM addresses WHERE name = ? RETURNING checksum";
	int code = sqlite3_prepare_v2(disk->database, words, -1, &statement, NULL);

	if (code != SQLITE_OK)
		return explain(disk, code);
	bind(statement, 1, old);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		disk->sums -= column_number(statement, 0);
	sqlite3_finalize(statement);
	if (code != SQLITE_DONE)
		return explain(disk, code);
	if (address == NULL)
		return DISK_OK;
	uint64_t sum = checksum_address(name, address);
	struct value values[] = {text_value(name), text_value(address), number_value(sum)};
	disk->sums += sum;
	return run(disk, "INSERT INTO addresses VALUES (?, ?, ?)", values, 3);
}

int disk_write_address(struct disk *disk, const char *name, const char *address)
{
	int result = begin_transaction(disk);

	return result != DISK_OK ? result
	                         : end_transaction(disk, replace_address(disk, name, address));
}

/* Writes everything into the database file itself, so that the identity survives even if the
 * write-ahead log is lost. */
static int checkpoint(struct disk *disk)
{
	int result = execute(disk, "PRAGMA wal_checkpoint(TRUNCATE)");

	if (result != DISK_OK)
		disk->failed = true;
	return result;
}

int disk_write_identity(struct disk *disk, const void *identity, size_t identity_size)
{
	uint64_t sum = checksum_identity(identity, identity_size);
	struct value values[] = {blob_value(identity, identity_size), number_value(sum)};
	int result = begin_transaction(disk);

	must(identity_size <= DISK_IDENTITY_MAX);
	if (result != DISK_OK)
		return result;
	disk->sums += sum - disk->identity_sum;
	disk->identity_sum = sum;
	result = end_transaction(
	        disk, run(disk, "INSERT OR REPLACE INTO identity VALUES (1, ?, ?)", values, 2));
	return result != DISK_OK ? result : checkpoint(disk);
}

/* --- creating --- */

static int fill_new(struct disk *disk, const void *identity, size_t identity_size)
{
	char words[256];
	int result = execute(disk, "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL;"
	                           "PRAGMA synchronous = FULL; BEGIN IMMEDIATE");

	snprintf(words, sizeof words, "PRAGMA application_id = %d; PRAGMA user_version = %d",
	         APPLICATION, FORMAT);
	if (result == DISK_OK)
		result = execute(disk, words);
	for (size_t i = 0; result == DISK_OK && i < TABLES; i++)
		result = execute(disk, tables[i]);
	disk->log_start = disk->log_next = 1;
	disk->sums = checksum_identity(identity, identity_size);
	struct value values[] = {blob_value(identity, identity_size), number_value(disk->sums)};
	if (result == DISK_OK)
		result = run(disk, "INSERT INTO identity VALUES (1, ?, ?)", values, 2);
	result = end_transaction(disk, result);
	return result != DISK_OK ? result : checkpoint(disk);
}

static void remove_new(const char *directory)
{
	static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		join_path(path, directory, NEW_NAME, endings[i]);
		unlink(path);
	}
}

static int create_in(struct disk *disk, const char *directory, const void *identity,
                     size_t identity_size)
{
	char path[PATH_MAX], new_path[PATH_MAX];

	join_path(path, directory, FILE_NAME, "");
	if (exists(path)) {
		say(disk->text, "there is a %s already", path);
		return DISK_EINUSE;
	}
	remove_new(directory);
	join_path(new_path, directory, NEW_NAME, "");
	int fd = open(new_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		say(disk->text, "cannot create %s: %s", new_path, strerror(errno));
		return DISK_EFAILED;
	}
	int result = connect_database(disk, new_path);
	if (result == DISK_OK)
		result = fill_new(disk, identity, identity_size);
	sqlite3_close(disk->database);
	disk->database = NULL;
	disk->failed = false;
	/* Give the database its final name only when it is complete. */
	if (result == DISK_OK &&
	    (fsync(fd) != 0 || rename(new_path, path) != 0 || fsync(disk->directory_fd) != 0)) {
		say(disk->text, "cannot write %s: %s", path, strerror(errno));
		result = DISK_EFAILED;
	}
	close(fd);
	return result;
}

int disk_create(const char *directory, const void *identity, size_t identity_size,
                char ret_text[DISK_TEXT_MAX])
{
	struct disk *disk = make_disk();
	int result = lock_directory(disk, directory);

	must(identity_size <= DISK_IDENTITY_MAX);
	if (result == DISK_OK)
		result = create_in(disk, directory, identity, identity_size);
	if (result != DISK_OK)
		memcpy(ret_text, disk->text, DISK_TEXT_MAX);
	disk_close(disk);
	return result;
}
