/*
 * The node's data directory (disk.h), and the thread that writes to it: a write may take long, and
 * the loop must not wait for it. Writes are done in order. Without a data directory nothing is
 * written, and a write counts as done at once.
 */
#ifndef DAEMON_ARCHIVE_H
#define DAEMON_ARCHIVE_H

#include "member.h"

struct daemon;
struct archive;

/*
 * Opens the data directory and reads the identity; in an empty directory, makes a new identity.
 * Without a data directory the identity is made for this process only. Returns NULL after logging
 * the reason.
 */
struct archive *archive_open(struct daemon *daemon);
void archive_close(struct archive *archive);

/* Returns the identity as it was when the archive was opened. */
const struct identity *archive_identity(const struct archive *archive);
/* Returns the voter's part of the disk. Without a data directory it is empty for a cluster of one,
 * which votes in memory, and NULL for a node that joins others and therefore never votes. */
const struct durable_content *archive_content(const struct archive *archive);
/* Adds to `electors` the addresses of other nodes that the data directory has stored. */
void archive_addresses(const struct archive *archive, struct electors *electors);
/* Frees what archive_content returned. */
void archive_forget_content(struct archive *archive);

/* These functions copy their arguments. When a write or the identity is durable, the member is
 * told. */
void archive_write(struct archive *archive, const struct durable_write *write);
void archive_write_identity(struct archive *archive, const struct identity *identity);
void archive_write_address(struct archive *archive, const char *name, const char *address);

#endif
