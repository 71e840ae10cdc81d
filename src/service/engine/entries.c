#include "entries.h"

#include <string.h>

/* --- texts --- */

struct entry_text entry_text_of(const char *text)
{
	return (struct entry_text){text, strlen(text)};
}

bool entry_text_is(struct entry_text text, const char *other)
{
	return strlen(other) == text.size && memcmp(text.bytes, other, text.size) == 0;
}

void entry_put_text(struct out *out, struct entry_text text)
{
	out_uint(out, text.size);
	out_need(out, (uint32_t)text.size);
	if (text.size != 0)
		memcpy(out->bytes + out->bytes_count, text.bytes, text.size);
	out->bytes_count += (uint32_t)text.size;
}

/* Refuses control characters, because names are shown in logs and terminals. */
struct entry_text entry_get_text(struct in *in, size_t least, size_t most)
{
	struct entry_text text = {.size = (size_t)in_range(in, least, most)};

	text.bytes = (const char *)in->next;
	if ((size_t)(in->end - in->next) < text.size)
		in->bad = true;
	for (size_t i = 0; !in->bad && i < text.size; i++, in->next++)
		in->bad = *in->next < 0x20 || *in->next == 0x7f;
	return text;
}

/* --- digests --- */

void entry_put_digest(struct out *out, const struct entry_digest *digest)
{
	out_need(out, ENTRY_DIGEST_SIZE);
	memcpy(out->bytes + out->bytes_count, digest->bytes, ENTRY_DIGEST_SIZE);
	out->bytes_count += ENTRY_DIGEST_SIZE;
}

struct entry_digest entry_get_digest(struct in *in)
{
	struct entry_digest digest = {0};

	if (in->bad || in->end - in->next < ENTRY_DIGEST_SIZE) {
		in->bad = true;
		return digest;
	}
	memcpy(digest.bytes, in->next, ENTRY_DIGEST_SIZE);
	in->next += ENTRY_DIGEST_SIZE;
	return digest;
}

/* --- parts --- */

static struct entry_part read_part(struct in *in)
{
	struct entry_part part = {.kind = (enum part_kind)in_range(in, PART_RENEWAL, PART_JOIN)};

	part.name = entry_get_text(in, 1, ENTRY_NAME_MAX);
	switch (part.kind) {
	case PART_RENEWAL:
		part.incarnation = in_range(in, 1, UINT64_MAX);
		part.number = in_range(in, 1, UINT64_MAX);
		break;
	case PART_PARDON:
		break;
	case PART_REMOVAL:
		part.incarnation = in_range(in, 1, UINT64_MAX);
		part.renewed = in_range(in, 1, UINT64_MAX);
		break;
	case PART_LEAVE:
		part.incarnation = in_range(in, 1, UINT64_MAX);
		break;
	case PART_JOIN:
		part.process = in_range(in, 1, UINT64_MAX);
		part.number = in_range(in, 1, UINT64_MAX);
		part.address = entry_get_text(in, 0, ENTRY_ADDRESS_MAX);
		break;
	}
	return part;
}

static void write_part(struct out *out, const struct entry_part *part)
{
	out_uint(out, part->kind);
	entry_put_text(out, part->name);
	switch (part->kind) {
	case PART_RENEWAL:
		out_uint(out, part->incarnation);
		out_uint(out, part->number);
		break;
	case PART_PARDON:
		break;
	case PART_REMOVAL:
		out_uint(out, part->incarnation);
		out_uint(out, part->renewed);
		break;
	case PART_LEAVE:
		out_uint(out, part->incarnation);
		break;
	case PART_JOIN:
		out_uint(out, part->process);
		out_uint(out, part->number);
		entry_put_text(out, part->address);
		break;
	}
}

static bool may_hold(enum entry_kind kind, enum part_kind part)
{
	return (kind == ENTRY_TICK) == (part == PART_RENEWAL || part == PART_PARDON);
}

/* Removals, leaves and joins are applied in this order, so an entry with another order is
 * malformed. */
static void check_parts(struct log_entry *entry, struct in *in)
{
	enum part_kind last = PART_RENEWAL;

	entry->parts_left = (uint32_t)in_range(in, 1, ENTRY_PARTS_MAX);
	entry->parts = *in;
	for (uint32_t i = 0; i < entry->parts_left && !in->bad; i++) {
		struct entry_part part = read_part(in);
		if (!may_hold(entry->kind, part.kind) || part.kind < last)
			in->bad = true;
		last = part.kind;
	}
}

bool entry_next(struct log_entry *entry, struct entry_part *ret_part)
{
	if (entry->parts_left == 0)
		return false;
	entry->parts_left--;
	*ret_part = read_part(&entry->parts);
	return true;
}

/* --- entries --- */

/* Reads the name and the id of an order. Older versions wrote no id, and only names that their
 * leader knew. */
static void read_order(struct log_entry *entry, struct in *in)
{
	entry->name = entry_get_text(in, 1, ENTRY_NAME_MAX);
	entry->known = true;
	if (in->bad || in->next == in->end)
		return;
	entry->order.process = in_range(in, 1, UINT64_MAX);
	entry->order.number = in_uint(in);
	entry->known = in_range(in, 0, 1) == 1;
}

bool entry_read(const uint8_t *bytes, size_t size, struct log_entry *ret_entry)
{
	if (size == 0)
		/* empty entries belong to the log itself; their `bytes` may be NULL */
		return false;
	struct in in = {.next = bytes, .end = bytes + size};
	struct log_entry entry = {.kind = (enum entry_kind)in_range(&in, ENTRY_TICK, ENTRY_ADMIT)};
	if (in.bad)
		return false;
	switch (entry.kind) {
	case ENTRY_TICK:
		check_parts(&entry, &in);
		break;
	case ENTRY_CHANGE:
		entry.epoch = in_uint(&in);
		check_parts(&entry, &in);
		break;
	case ENTRY_EXTEND:
		entry.epoch = in_uint(&in);
		entry.limit = in_uint(&in);
		break;
	case ENTRY_BUMP:
		entry.epoch = in_uint(&in);
		break;
	case ENTRY_FORBID:
	case ENTRY_ALLOW:
		read_order(&entry, &in);
		break;
	case ENTRY_VOTE:
		entry.vote = (enum vote_wish)in_range(&in, VOTE_FREE, VOTE_UNWANTED);
		read_order(&entry, &in);
		break;
	case ENTRY_VERSION:
		entry.version = in_range(&in, 1, UINT32_MAX);
		break;
	case ENTRY_INVITE:
		entry.secret = entry_get_digest(&in);
		entry.time = in_uint(&in);
		entry.expiry = in_uint(&in);
		break;
	case ENTRY_ADMIT:
		entry.secret = entry_get_digest(&in);
		entry.ticket = entry_get_digest(&in);
		entry.time = in_uint(&in);
		entry.name = entry_get_text(&in, 1, ENTRY_NAME_MAX);
		break;
	}
	if (!in_end(&in))
		return false;
	*ret_entry = entry;
	return true;
}

static void begin(struct out *out, enum entry_kind kind)
{
	out_clear(out);
	out_message(out, (uint8_t)kind);
}

static void write_parts(struct out *out, const struct entry_part *parts, uint32_t parts_count)
{
	must(parts_count > 0 && parts_count <= ENTRY_PARTS_MAX);
	out_uint(out, parts_count);
	for (uint32_t i = 0; i < parts_count; i++)
		write_part(out, &parts[i]);
}

void entry_write_tick(struct out *out, const struct entry_part *parts, uint32_t parts_count)
{
	begin(out, ENTRY_TICK);
	write_parts(out, parts, parts_count);
}

void entry_write_change(struct out *out, uint64_t epoch, const struct entry_part *parts,
                        uint32_t parts_count)
{
	begin(out, ENTRY_CHANGE);
	out_uint(out, epoch);
	write_parts(out, parts, parts_count);
}

void entry_write_extend(struct out *out, uint64_t epoch, uint64_t limit)
{
	begin(out, ENTRY_EXTEND);
	out_uint(out, epoch);
	out_uint(out, limit);
}

void entry_write_bump(struct out *out, uint64_t epoch)
{
	begin(out, ENTRY_BUMP);
	out_uint(out, epoch);
}

void entry_write_order(struct out *out, const struct log_entry *entry)
{
	must(entry_is_order(entry));
	begin(out, entry->kind);
	if (entry->kind == ENTRY_VOTE)
		out_uint(out, entry->vote);
	entry_put_text(out, entry->name);
	if (entry->order.process == 0)
		return;
	out_uint(out, entry->order.process);
	out_uint(out, entry->order.number);
	out_uint(out, entry->known);
}

void entry_write_version(struct out *out, uint64_t version)
{
	begin(out, ENTRY_VERSION);
	out_uint(out, version);
}

void entry_write_invite(struct out *out, const struct entry_digest *secret, uint64_t time,
                        uint64_t expiry)
{
	begin(out, ENTRY_INVITE);
	entry_put_digest(out, secret);
	out_uint(out, time);
	out_uint(out, expiry);
}

void entry_write_admit(struct out *out, const struct entry_digest *secret,
                       const struct entry_digest *ticket, uint64_t time, struct entry_text name)
{
	begin(out, ENTRY_ADMIT);
	entry_put_digest(out, secret);
	entry_put_digest(out, ticket);
	out_uint(out, time);
	entry_put_text(out, name);
}
