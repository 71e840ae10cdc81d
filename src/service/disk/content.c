#include "content.h"

#include "grow.h"

#include <string.h>

uint8_t *content_copy(const void *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	memory_must(copy != NULL);
	if (size > 0)
		memcpy(copy, bytes, size);
	copy[size] = 0;
	return copy;
}

void content_add_entry(struct content *content, const struct durable_entry *entry)
{
	size_t place = content->durable.entries_count++;

	content->entries =
	        grow(content->entries, &content->entries_size, place + 1, sizeof *content->entries);
	content->entries[place] = *entry;
	content->entries[place].bytes = content_copy(entry->bytes, entry->size);
	content->durable.entries = content->entries;
}

void content_add_address(struct content *content, const char *name, const char *address)
{
	size_t place = content->addresses_count++;

	content->addresses = grow(content->addresses, &content->addresses_size, place + 1,
	                          sizeof *content->addresses);
	content->addresses[place] = (struct content_address){
	        .name = (char *)content_copy(name, strlen(name)),
	        .address = (char *)content_copy(address, strlen(address)),
	};
}

void content_free(struct content *content)
{
	for (size_t place = 0; place < content->durable.entries_count; place++)
		free((void *)content->entries[place].bytes);
	free(content->entries);
	for (size_t place = 0; place < content->addresses_count; place++) {
		free(content->addresses[place].name);
		free(content->addresses[place].address);
	}
	free(content->addresses);
	free((void *)content->durable.snapshot.voters);
	free((void *)content->durable.snapshot.bytes);
	free(content->identity);
	*content = (struct content){0};
}
