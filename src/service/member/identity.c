#include "identity.h"

#include <string.h>

void identity_copy(struct identity *identity, const struct identity *from)
{
	struct charter charter = identity->charter;
	struct electors founders = identity->founders;

	*identity = *from;
	identity->charter = charter;
	identity->founders = founders;
	charter_copy(&identity->charter, &from->charter);
	electors_copy(&identity->founders, &from->founders);
}

void identity_free(struct identity *identity)
{
	charter_free(&identity->charter);
	electors_free(&identity->founders);
}

void identity_write(struct out *out, const struct identity *identity)
{
	entry_put_text(out, entry_text_of(identity->name));
	entry_put_text(out, entry_text_of(identity->address));
	out_uint(out, identity->server);
	out_uint(out, identity->witness);
	out_uint(out, identity->stage);
	charter_write(out, &identity->charter);
	if (identity->stage == BIRTH_RECORD)
		electors_write(out, &identity->founders);
}

static void get_text(struct in *in, size_t least, size_t most, char *room)
{
	struct entry_text text = entry_get_text(in, least, most);

	if (in->bad)
		return;
	memcpy(room, text.bytes, text.size);
	room[text.size] = '\0';
}

bool identity_read(const uint8_t *bytes, size_t size, struct identity *ret_identity)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct identity identity = {0};

	get_text(&in, 1, ENTRY_NAME_MAX, identity.name);
	get_text(&in, 0, ENTRY_ADDRESS_MAX, identity.address);
	identity.server = in_range(&in, 1, UINT64_MAX);
	identity.witness = in_range(&in, 0, 1) != 0;
	identity.stage = (enum birth_stage)in_range(&in, BIRTH_NOTHING, BIRTH_LIFE);
	charter_read(&in, &identity.charter);
	struct in founders = in;
	bool founds = identity.stage == BIRTH_RECORD;
	if (!in.bad && founds)
		electors_skip(&in);
	if (!in_end(&in)) {
		charter_free(&identity.charter);
		return false;
	}
	if (founds)
		electors_read(&identity.founders, founders);
	*ret_identity = identity;
	return true;
}
