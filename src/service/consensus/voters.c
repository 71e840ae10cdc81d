#include "voters.h"

#include "memory.h"
#include "must.h"

#include <string.h>

/* One byte of format, then eight bytes of the count, the least significant first. */
enum { VOTERS_FORMAT = 1, VOTERS_HEADER = 9 };

static bool check_bounds(const uint8_t *bytes, size_t size)
{
	if (size < VOTERS_HEADER || bytes[0] != VOTERS_FORMAT || bytes[1] > VOTERS_SERVERS_MAX)
		return false;
	for (size_t i = 2; i < VOTERS_HEADER; i++)
		if (bytes[i] != 0)
			return false;
	const uint8_t *next = bytes + VOTERS_HEADER;
	const uint8_t *end = bytes + size;
	for (unsigned left = bytes[1]; left > 0; left--) {
		if (end - next < 8)
			return false;
		next += 8;
		size_t room = (size_t)(end - next);
		size_t length = strnlen((const char *)next, room);
		if (length > VOTERS_ADDRESS_MAX || room < length + 2)
			return false;
		next += length + 2;
	}
	return true;
}

bool voters_check(const uint8_t *bytes, size_t size)
{
	struct raft_configuration configuration;
	struct raft_buffer buffer = {(void *)bytes, size};

	if (!check_bounds(bytes, size))
		return false;
	int result = raft_configuration_decode(&buffer, &configuration);
	memory_must(result != RAFT_NOMEM);
	if (result != 0)
		return false;
	struct raft_buffer again = voters_encode(&configuration);
	bool same = again.len == size && memcmp(again.base, bytes, size) == 0;
	raft_free(again.base);
	raft_configuration_close(&configuration);
	return same;
}

struct raft_configuration voters_decode(const uint8_t *bytes, size_t size)
{
	struct raft_configuration configuration;
	struct raft_buffer buffer = {(void *)bytes, size};
	int result = raft_configuration_decode(&buffer, &configuration);

	memory_must(result != RAFT_NOMEM);
	must(result == 0);
	return configuration;
}

struct raft_buffer voters_encode(const struct raft_configuration *configuration)
{
	struct raft_buffer buffer;

	memory_must(raft_configuration_encode(configuration, &buffer) == 0);
	return buffer;
}

const struct raft_server *voters_find(const struct raft_configuration *configuration, uint64_t id)
{
	for (unsigned i = 0; i < configuration->n; i++)
		if (configuration->servers[i].id == id)
			return &configuration->servers[i];
	return NULL;
}

unsigned voters_count(const struct raft_configuration *configuration)
{
	unsigned count = 0;

	for (unsigned i = 0; i < configuration->n; i++)
		count += configuration->servers[i].role == RAFT_VOTER;
	return count;
}

static bool add_server(struct raft_configuration *configuration, uint64_t id, const char *address,
                       int role)
{
	int result = raft_configuration_add(configuration, id, address, role);

	memory_must(result != RAFT_NOMEM);
	return result == 0;
}

bool voters_with(const struct raft_configuration *configuration, uint64_t id, const char *address,
                 int role, struct raft_configuration *ret_configuration)
{
	struct raft_configuration made;
	bool good = true, found = false;

	raft_configuration_init(&made);
	for (unsigned i = 0; i < configuration->n && good; i++) {
		const struct raft_server *server = &configuration->servers[i];
		bool is_it = server->id == id;
		found = found || is_it;
		if (!is_it || role != VOTERS_ROLE_NONE)
			good = add_server(&made, server->id, server->address,
			                  is_it ? role : server->role);
	}
	if (good && !found && role != VOTERS_ROLE_NONE)
		good = strlen(address) <= VOTERS_ADDRESS_MAX &&
		       add_server(&made, id, address, role);
	if (!good || made.n > VOTERS_SERVERS_MAX) {
		raft_configuration_close(&made);
		return false;
	}
	*ret_configuration = made;
	return true;
}
