#include "petition.h"

#include <string.h>

/* --- petitions --- */

static struct process_list read_processes(struct in *in)
{
	struct process_list list = {.left = (uint32_t)in_range(in, 0, STATE_SEATS_MAX)};

	list.in = *in;
	for (uint32_t i = 0; i < list.left && !in->bad; i++)
		in_range(in, 1, UINT64_MAX);
	return list;
}

bool process_next(struct process_list *list, uint64_t *ret_process)
{
	if (list->left == 0)
		return false;
	list->left--;
	*ret_process = in_uint(&list->in);
	return true;
}

bool petition_read(const uint8_t *bytes, size_t size, struct petition *ret_petition)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct petition petition = {
	        .kind = (enum petition_kind)in_range(&in, PETITION_RENEW, PETITION_BUMP)};

	petition.process = in_range(&in, 1, UINT64_MAX);
	petition.epoch = in_uint(&in);
	petition.limit = in_uint(&in);
	if (petition.kind == PETITION_RENEW) {
		petition.name = entry_get_text(&in, 1, ENTRY_NAME_MAX);
		petition.address = entry_get_text(&in, 0, ENTRY_ADDRESS_MAX);
		petition.incarnation = in_uint(&in);
		petition.number = in_range(&in, 1, UINT64_MAX);
		petition.acknowledged = in_uint(&in);
		petition.lease_ns = in_uint(&in);
		petition.prospect = in_uint(&in);
		petition.electors = in_uint(&in);
		petition.server = in_uint(&in);
		petition.witness = in_range(&in, 0, 1) == 1;
		petition.version_least = in_range(&in, 1, UINT32_MAX);
		petition.version = in_range(&in, petition.version_least, UINT32_MAX);
		petition.active = in_range(&in, 0, 1) == 1;
		petition.leaving = in_range(&in, 0, 1) == 1;
		petition.removed = in_range(&in, 0, 1) == 1;
		petition.lacks = read_processes(&in);
		petition.unreported = read_processes(&in);
	}
	if (!in_end(&in))
		return false;
	*ret_petition = petition;
	return true;
}

static void write_processes(struct out *out, const uint64_t *processes, uint32_t count)
{
	out_uint(out, count);
	for (uint32_t i = 0; i < count; i++)
		out_uint(out, processes[i]);
}

void petition_write(struct out *out, const struct petition *petition, const uint64_t *lacks,
                    uint32_t lacks_count, const uint64_t *unreported, uint32_t unreported_count)
{
	out_clear(out);
	out_message(out, (uint8_t)petition->kind);
	out_uint(out, petition->process);
	out_uint(out, petition->epoch);
	out_uint(out, petition->limit);
	if (petition->kind != PETITION_RENEW)
		return;
	entry_put_text(out, petition->name);
	entry_put_text(out, petition->address);
	out_uint(out, petition->incarnation);
	out_uint(out, petition->number);
	out_uint(out, petition->acknowledged);
	out_uint(out, petition->lease_ns);
	out_uint(out, petition->prospect);
	out_uint(out, petition->electors);
	out_uint(out, petition->server);
	out_uint(out, petition->witness);
	out_uint(out, petition->version_least);
	out_uint(out, petition->version);
	out_uint(out, petition->active);
	out_uint(out, petition->leaving);
	out_uint(out, petition->removed);
	write_processes(out, lacks, lacks_count);
	write_processes(out, unreported, unreported_count);
}

/* --- bulletins --- */

static struct seat read_seat(struct in *in)
{
	struct seat seat = {0};
	struct entry_text name = entry_get_text(in, 1, ENTRY_NAME_MAX);
	struct entry_text address = entry_get_text(in, 0, ENTRY_ADDRESS_MAX);

	seat.process = in_range(in, 1, UINT64_MAX);
	seat.incarnation = in_range(in, 1, UINT64_MAX);
	if (!in->bad) {
		memcpy(seat.name, name.bytes, name.size);
		memcpy(seat.address, address.bytes, address.size);
	}
	return seat;
}

static struct prospect read_prospect(struct in *in)
{
	struct prospect prospect = {.name = entry_get_text(in, 1, ENTRY_NAME_MAX)};

	prospect.address = entry_get_text(in, 0, ENTRY_ADDRESS_MAX);
	prospect.process = in_range(in, 1, UINT64_MAX);
	return prospect;
}

bool bulletin_next_seat(struct bulletin_list *list, struct seat *ret_seat)
{
	if (list->left == 0)
		return false;
	list->left--;
	*ret_seat = read_seat(&list->in);
	return true;
}

bool bulletin_next_prospect(struct bulletin_list *list, struct prospect *ret_prospect)
{
	if (list->left == 0)
		return false;
	list->left--;
	*ret_prospect = read_prospect(&list->in);
	return true;
}

static void read_view(struct in *in, struct bulletin *bulletin)
{
	bulletin->lease_ns = in_uint(in);
	bulletin->index = in_uint(in);
	bulletin->removed = in_range(in, 0, 1) == 1;
	bulletin->epoch = in_uint(in);
	bulletin->base = in_range(in, 0, STATE_FENCE_END);
	bulletin->limit = in_range(in, bulletin->base, STATE_FENCE_END);
	bulletin->seats.left = (uint32_t)in_range(in, 0, STATE_SEATS_MAX);
	bulletin->seats.in = *in;
	for (uint32_t i = 0; i < bulletin->seats.left && !in->bad; i++)
		read_seat(in);
	bulletin->leads = in_range(in, 0, 1) == 1;
	bulletin->prospect = in_uint(in);
	bulletin->prospects.left = (uint32_t)in_range(in, 0, STATE_SEATS_MAX);
	bulletin->prospects.in = *in;
	for (uint32_t i = 0; i < bulletin->prospects.left && !in->bad; i++)
		read_prospect(in);
}

bool bulletin_read(const uint8_t *bytes, size_t size, struct bulletin *ret_bulletin)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct bulletin bulletin = {
	        .kind = (enum bulletin_kind)in_range(&in, BULLETIN_ACK, BULLETIN_ELECTORS)};

	if (bulletin.kind == BULLETIN_ACK) {
		bulletin.incarnation = in_range(&in, 1, UINT64_MAX);
		bulletin.number = in_range(&in, 1, UINT64_MAX);
	} else if (bulletin.kind == BULLETIN_ELECTORS) {
		bulletin.electors = in;
		electors_skip(&in);
	} else {
		read_view(&in, &bulletin);
	}
	if (!in_end(&in))
		return false;
	*ret_bulletin = bulletin;
	return true;
}

void bulletin_write_ack(struct out *out, uint64_t incarnation, uint64_t number)
{
	out_clear(out);
	out_message(out, BULLETIN_ACK);
	out_uint(out, incarnation);
	out_uint(out, number);
}

void bulletin_write_view(struct out *out, const struct agreed_state *state, const char *name,
                         bool leads, uint64_t prospect, const struct prospect *prospects,
                         uint32_t prospects_count)
{
	out_clear(out);
	out_message(out, BULLETIN_VIEW);
	out_uint(out, state->settings.lease_ns);
	out_uint(out, state->index);
	out_uint(out, state_forbids(state, entry_text_of(name)));
	out_uint(out, state->epoch);
	out_uint(out, state->base);
	out_uint(out, state->limit);
	out_uint(out, state->seats_count);
	for (uint32_t i = 0; i < state->seats_count; i++) {
		const struct seat *seat = &state->seats[i];
		entry_put_text(out, entry_text_of(seat->name));
		entry_put_text(out, entry_text_of(seat->address));
		out_uint(out, seat->process);
		out_uint(out, seat->incarnation);
	}
	out_uint(out, leads);
	out_uint(out, prospect);
	out_uint(out, prospects_count);
	for (uint32_t i = 0; i < prospects_count; i++) {
		entry_put_text(out, prospects[i].name);
		entry_put_text(out, prospects[i].address);
		out_uint(out, prospects[i].process);
	}
}

void bulletin_write_electors(struct out *out, const struct electors *electors)
{
	out_clear(out);
	out_message(out, BULLETIN_ELECTORS);
	electors_write(out, electors);
}
