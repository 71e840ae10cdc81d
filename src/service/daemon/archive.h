/*
 * What the node keeps on its disk (disk.h), and the thread that writes it: a write may take long,
 * and the loop must not wait for it. Writes are done in order. Without a data directory nothing is
 * written, and a write counts as done at once.
 */
#ifndef DAEMON_ARCHIVE_H
#define DAEMON_ARCHIVE_H

#include "member.h"

struct daemon;
struct archive;

/*
 * Opens the data directory, or makes a new identity in an empty one, and reads the identity.
 * Without a data directory the identity has no server. Returns NULL after logging the reason.
 */
struct archive *archive_open(struct daemon *daemon);
void archive_close(struct archive *archive);

/* The identity, as it was when the archive was opened. */
const struct identity *archive_identity(const struct archive *archive);
/* Returns what the voter has on the disk: nothing yet for a cluster of one in memory; NULL for a node
 * that joins without a data directory, and so never votes. */
const struct durable_content *archive_content(const struct archive *archive);
/* Adds the addresses that were stored. */
void archive_addresses(const struct archive *archive, struct electors *electors);
/* The content is not needed any more. */
void archive_forget_content(struct archive *archive);

/* Everything is copied. When a write or the identity is durable, the member is told. */
void archive_write(struct archive *archive, const struct durable_write *write);
void archive_write_identity(struct archive *archive, const struct identity *identity);
void archive_write_address(struct archive *archive, const char *name, const char *address);

#endif
