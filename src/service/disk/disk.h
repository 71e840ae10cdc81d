/*
 * A voter's storage: a SQLite database in a directory. Its rows are the log, the term and vote, the
 * snapshot, the voter's identity and the addresses of others. One write is one transaction, durable
 * when the call returns (WAL mode, synchronous=FULL).
 *
 * SQLite does not notice all damage. If a bit flips in its write-ahead log, SQLite takes that for
 * the end of the log, and all later transactions silently disappear. So each row has a checksum,
 * one row has the sum of all checksums and the bounds of the log, and the write-ahead log is
 * examined before SQLite reads it. Opening a database checks all of this. Nothing is ever repaired:
 * a damaged database is refused.
 *
 * No check can notice that the write-ahead log was removed, or that its end was cut off exactly
 * after a transaction. A voter that starts from such a disk has forgotten what it promised. This
 * counts as a lost disk.
 *
 * All calls block. Only one thread at a time may use a disk.
 */
#ifndef DISK_DISK_H
#define DISK_DISK_H

#include "durable.h"

struct disk;

enum disk_result {
	DISK_OK = 0,
	DISK_EABSENT = -1, /* no database was ever created in this directory */
	/* Another process has the database open; disk_create: there is a database already. */
	DISK_EINUSE = -2,
	DISK_EDAMAGED = -3, /* the content differs from what was written */
	DISK_EFAILED = -4,  /* the operating system failed: no space, an I/O error, no permission */
};

enum { DISK_TEXT_MAX = 512, DISK_NAME_MAX = 255, DISK_IDENTITY_MAX = 1 << 16 };

/*
 * Creates a database that holds an identity and nothing else, in an existing directory that has
 * none. When this returns 0, the database survives a crash. After a failure there is no new
 * database; or there is one that may not survive a crash, if only the last fsync failed.
 */
int disk_create(const char *directory, const void *identity, size_t identity_size,
                char ret_text[DISK_TEXT_MAX]);

/* Opens the database and checks all of it. On failure *ret_disk is unchanged, and ret_text has
 * a sentence for the operator. Otherwise the caller must close the disk. */
int disk_open(const char *directory, struct disk **ret_disk, char ret_text[DISK_TEXT_MAX]);
void disk_close(struct disk *disk); /* NULL is ignored */

/* Returns everything that is stored, as it was when the disk was opened; valid until
 * disk_forget_content. */
const struct durable_content *disk_content(const struct disk *disk);
const uint8_t *disk_identity(const struct disk *disk, size_t *ret_size);
/* Returns the address and the name at a position, counted from 0 in the order of names; NULL: there
 * are no more. */
const char *disk_address(const struct disk *disk, size_t place, const char **ret_name);
/* Frees the content that was read. The disk stays open. */
void disk_forget_content(struct disk *disk);

/*
 * Does the write in one transaction. A failure is final: every later write fails too, because it is
 * not known how much of this one is on the disk. disk_text says what happened. A write that does
 * not fit the content (a gap in the log) is a bug of the caller.
 */
int disk_write(struct disk *disk, const struct durable_write *write);
/* Stores the address of a name, or removes it if `address` is NULL. The change is as durable as one
 * made by disk_write. */
int disk_write_address(struct disk *disk, const char *name, const char *address);
/* Replaces the identity. When this returns, the identity is durable in the database file itself. */
int disk_write_identity(struct disk *disk, const void *identity, size_t identity_size);
const char *disk_text(const struct disk *disk);

#endif
