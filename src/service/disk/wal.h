/*
 * Examines a write-ahead log of SQLite. SQLite assumes that a log ends at the first frame whose
 * checksum is wrong, as after a crash in the middle of a write. If a good frame follows, that was
 * no crash: bytes that had been written were changed.
 */
#ifndef DISK_WAL_H
#define DISK_WAL_H

enum wal_verdict {
	WAL_SOUND, /* there is no damage, or no log */
	/* A good frame follows a bad one, or the header is bad and something follows it. */
	WAL_DAMAGED,
	WAL_UNREADABLE, /* the log could not be read; errno says why */
};

enum wal_verdict wal_examine(const char *path);

#endif
