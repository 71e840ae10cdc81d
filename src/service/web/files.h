/*
 * The files of the page, which are linked into the program. There are no others: a name is looked
 * up in a table and never on a disk.
 */
#ifndef WEB_FILES_H
#define WEB_FILES_H

#include <stddef.h>

struct file_bytes {
	const unsigned char *begin, *end;
};

/* A file as it is, and compressed in two ways. */
struct served {
	const char *path, *type;
	struct file_bytes plain, brotli, gzip;
};

/* Returns NULL if there is no file with this path. */
const struct served *file_find(const char *path);

/* Chooses by the value of an Accept-Encoding header, which may be NULL. The encoding is NULL for
 * the file as it is. */
struct file_bytes file_choose(const struct served *file, const char *accepted,
                              const char **ret_encoding);

/* Makes a tag of the bytes as they are sent, with FNV-1a. It only tells versions apart; nothing
 * relies on it for security. */
void file_tag(struct file_bytes bytes, char *ret_tag, size_t size);

#endif
