/*
 * The content of a database, in memory.
 */
#ifndef DISK_CONTENT_H
#define DISK_CONTENT_H

#include "durable.h"

struct content_address {
	char *name, *address;
};

/* A struct of zeros is an empty content. */
struct content {
	struct durable_content durable;
	struct durable_entry *entries;
	size_t entries_size;
	struct content_address *addresses;
	size_t addresses_count, addresses_size;
	uint8_t *identity;
	size_t identity_size;
};

/* Copies bytes. The copy is never NULL, even if it is empty. */
uint8_t *content_copy(const void *bytes, size_t size);
/* Adds an entry and copies its bytes. */
void content_add_entry(struct content *content, const struct durable_entry *entry);
void content_add_address(struct content *content, const char *name, const char *address);
void content_free(struct content *content);

#endif
