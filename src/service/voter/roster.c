#include "roster.h"

#include "voters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void roster_place(uint64_t id, const char *address, const char *name,
                  char ret_place[ROSTER_PLACE_MAX + 1])
{
	snprintf(ret_place, ROSTER_PLACE_MAX + 1, "%" PRIx64 " %s %s", id, address, name);
}

/* Returns the text after the next blank. Returns "" if there is none, as in an address that was not
 * made by roster_place. */
static const char *skip_word(const char *text)
{
	text += strcspn(text, " ");
	return *text == ' ' ? text + 1 : text;
}

const char *roster_name(const char *place)
{
	return skip_word(skip_word(place));
}

void roster_address(const char *place, char ret_address[ENTRY_ADDRESS_MAX + 1])
{
	const char *address = skip_word(place);

	snprintf(ret_address, ENTRY_ADDRESS_MAX + 1, "%.*s", (int)strcspn(address, " "), address);
}

void roster_electors(const uint8_t *bytes, size_t size, uint64_t index,
                     struct electors *ret_electors)
{
	struct raft_configuration servers = voters_decode(bytes, size);

	electors_clear(ret_electors, index);
	for (unsigned i = 0; i < servers.n; i++) {
		const char *address = skip_word(servers.servers[i].address);
		const char *name = skip_word(address);
		struct entry_text address_text = {address, strcspn(address, " ")};
		/* An address that was not made by roster_place may have a longer name. */
		bool fits =
		        strlen(name) <= ENTRY_NAME_MAX && address_text.size <= ENTRY_ADDRESS_MAX;
		if (servers.servers[i].role == RAFT_VOTER && *name != '\0' && fits)
			electors_add(ret_electors, servers.servers[i].id, entry_text_of(name),
			             address_text);
	}
	raft_configuration_close(&servers);
}
