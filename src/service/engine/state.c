#include "state.h"

#include "grow.h"

#include <stdlib.h>
#include <string.h>

void state_init(struct agreed_state *state, const struct state_settings *settings)
{
	*state = (struct agreed_state){.settings = *settings,
	                               .version = 1,
	                               .base = settings->base,
	                               .limit = settings->base};
}

void state_free(struct agreed_state *state)
{
	free(state->seats);
	free(state->names);
	invitations_free(&state->invitations);
	*state = (struct agreed_state){0};
}

/* --- finding --- */

static int compare_text(const char *a, struct entry_text b)
{
	size_t size = strlen(a);
	int order = memcmp(a, b.bytes, size < b.size ? size : b.size);

	return order != 0 ? order : (size > b.size) - (size < b.size);
}

/* Returns the index of the seat with this name, or where such a seat would be inserted. */
static uint32_t place_of(const struct agreed_state *state, struct entry_text name)
{
	uint32_t low = 0, high = state->seats_count;

	must(high == 0 || state->seats != NULL);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_text(state->seats[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct seat *state_seat(const struct agreed_state *state, struct entry_text name)
{
	uint32_t place = place_of(state, name);

	if (place == state->seats_count || !entry_text_is(name, state->seats[place].name))
		return NULL;
	return &state->seats[place];
}

const struct seat *state_process(const struct agreed_state *state, uint64_t process)
{
	for (uint32_t i = 0; i < state->seats_count; i++) {
		if (state->seats[i].process == process)
			return &state->seats[i];
	}
	return NULL;
}

struct name_record *state_name(const struct agreed_state *state, struct entry_text name)
{
	for (uint32_t i = 0; i < state->names_count; i++) {
		if (entry_text_is(name, state->names[i].name))
			return &state->names[i];
	}
	return NULL;
}

static void copy_text(char *to, struct entry_text text)
{
	memcpy(to, text.bytes, text.size);
	to[text.size] = '\0';
}

/*
 * Finds the record to forget when there is no room for another name. A name that an operator has
 * forbidden is never forgotten. A name with an operator's wish about its vote is forgotten only if
 * all others are forbidden or have such a wish too. Any other name loses only its count of
 * removals: its next wait before it may join is as short as the first. All voters forget the same
 * name, because the order of the names is part of the state.
 */
static struct name_record *find_forgettable(const struct agreed_state *state)
{
	struct name_record *found = NULL;

	for (uint32_t i = 0; i < state->names_count; i++) {
		struct name_record *record = &state->names[i];
		if (record->forbidden)
			continue;
		if (record->vote == VOTE_FREE)
			return record;
		if (found == NULL)
			found = record;
	}
	return found;
}

static uint32_t count_forbidden(const struct agreed_state *state)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->names_count; i++)
		count += state->names[i].forbidden;
	return count;
}

bool state_has_room(const struct agreed_state *state, const struct log_entry *order)
{
	if (state_name(state, order->name) != NULL)
		return true;
	if (!order->known && count_forbidden(state) >= STATE_STRANGERS_MAX)
		return false;
	return state->names_count < STATE_NAMES_MAX || find_forgettable(state) != NULL;
}

/* Returns NULL if there is no room for another name. */
static struct name_record *get_name(struct agreed_state *state, struct entry_text name)
{
	struct name_record *record = state_name(state, name);

	if (record != NULL)
		return record;
	if (state->names_count == STATE_NAMES_MAX) {
		record = find_forgettable(state);
		if (record == NULL)
			return NULL;
		size_t after = (size_t)(state->names + state->names_count - record) - 1;
		memmove(record, record + 1, after * sizeof(*record));
		state->names_count--;
	}
	state->names =
	        grow(state->names, &state->names_size, state->names_count + 1UL, sizeof(*record));
	record = &state->names[state->names_count++];
	memset(record, 0, sizeof(*record));
	copy_text(record->name, name);
	return record;
}

bool state_forbids(const struct agreed_state *state, struct entry_text name)
{
	const struct name_record *record = state_name(state, name);

	return record != NULL && record->forbidden;
}

/* --- parts of entries: remove_member, leave and join return true if they change the view --- */

/* Returns the seat of the part's name, if it has exactly the part's incarnation; otherwise NULL. */
static struct seat *seat_of(const struct agreed_state *state, const struct entry_part *part)
{
	struct seat *seat = state_seat(state, part->name);

	return seat != NULL && seat->incarnation == part->incarnation ? seat : NULL;
}

static void renew(struct agreed_state *state, const struct entry_part *part)
{
	struct seat *seat = seat_of(state, part);

	if (seat != NULL && !state_forbids(state, part->name))
		seat->renewed = state->index;
}

static void pardon(struct agreed_state *state, const struct entry_part *part)
{
	struct name_record *record = state_name(state, part->name);

	if (record != NULL)
		record->strikes = 0;
}

static void vacate(struct agreed_state *state, struct seat *seat)
{
	size_t after = (size_t)(state->seats + state->seats_count - seat) - 1;

	memmove(seat, seat + 1, after * sizeof(*seat));
	state->seats_count--;
}

/* A renewal may have been committed after the leader decided on the removal. Then the removal is
 * void, and the member keeps its lease. */
static bool remove_member(struct agreed_state *state, const struct entry_part *part)
{
	struct seat *seat = seat_of(state, part);

	if (seat == NULL || seat->renewed != part->renewed)
		return false;
	struct name_record *record = get_name(state, part->name);
	if (record != NULL && record->strikes < STATE_STRIKES_MAX)
		record->strikes++;
	vacate(state, seat);
	return true;
}

static bool leave(struct agreed_state *state, const struct entry_part *part)
{
	struct seat *seat = seat_of(state, part);

	if (seat == NULL)
		return false;
	vacate(state, seat);
	return true;
}

static bool join(struct agreed_state *state, const struct entry_part *part)
{
	struct seat *seat = state_seat(state, part->name);

	if (state_forbids(state, part->name) || state->seats_count == STATE_SEATS_MAX)
		return false;
	if (seat != NULL) {
		/* If another process has the seat, its lease may still be valid. Only a removal
		 * frees the seat; the join of another process never does. */
		if (seat->process == part->process)
			seat->renewed = state->index;
		return false;
	}
	uint32_t place = place_of(state, part->name);
	state->seats =
	        grow(state->seats, &state->seats_size, state->seats_count + 1UL, sizeof(*seat));
	seat = &state->seats[place];
	memmove(seat + 1, seat, (state->seats_count - place) * sizeof(*seat));
	state->seats_count++;
	memset(seat, 0, sizeof(*seat));
	copy_text(seat->name, part->name);
	copy_text(seat->address, part->address);
	seat->process = part->process;
	seat->incarnation = seat->renewed = state->index;
	return true;
}

/* --- entries --- */

/* Begins the new epoch's fences above all fences that the last epoch can have granted. */
static void begin_epoch(struct agreed_state *state)
{
	state->epoch++;
	state->rescued = false;
	state->base = state->limit;
	state->limit = state->base + state->settings.block;
}

static bool has_fences(const struct agreed_state *state, uint64_t count)
{
	return state->limit < STATE_FENCE_END && count < STATE_FENCE_END - state->limit;
}

static void change(struct agreed_state *state, struct log_entry *entry)
{
	struct entry_part part;
	bool changed = false;

	if (entry->epoch != state->epoch || !has_fences(state, state->settings.block))
		return;
	while (entry_next(entry, &part)) {
		if (part.kind == PART_REMOVAL)
			changed |= remove_member(state, &part);
		else if (part.kind == PART_LEAVE)
			changed |= leave(state, &part);
		else
			changed |= join(state, &part);
	}
	if (changed)
		begin_epoch(state);
}

static void tick(struct agreed_state *state, struct log_entry *entry)
{
	struct entry_part part;

	while (entry_next(entry, &part)) {
		if (part.kind == PART_RENEWAL)
			renew(state, &part);
		else
			pardon(state, &part);
	}
}

/* Several members may ask for the same extension. The first entry changes the limit; the others
 * then name an old limit and are void. */
static void extend(struct agreed_state *state, const struct log_entry *entry)
{
	uint64_t more = state->limit - state->base;

	if (entry->epoch == state->epoch && entry->limit == state->limit && has_fences(state, more))
		state->limit += more;
}

/* Is the name free? Nobody gets a certificate in the name of a member, or of a node that an
 * operator has removed. */
static bool is_free(const struct agreed_state *state, struct entry_text name)
{
	return state_seat(state, name) == NULL && !state_forbids(state, name);
}

static void admit(struct agreed_state *state, const struct log_entry *entry)
{
	if (is_free(state, entry->name))
		invitations_use(&state->invitations, &entry->secret, &entry->ticket, entry->time,
		                entry->name);
}

bool state_wants(const struct agreed_state *state, const struct log_entry *entry)
{
	const struct invitation *invitation = invitations_find(&state->invitations, &entry->secret);

	if (entry_is_order(entry))
		return !state_obeyed(state, entry->order);
	if (entry->kind == ENTRY_INVITE)
		return invitation == NULL;
	return entry->kind == ENTRY_ADMIT && invitation != NULL && invitation->user[0] == '\0' &&
	       entry->time < invitation->expiry && is_free(state, entry->name);
}

bool state_obeyed(const struct agreed_state *state, struct order_id order)
{
	for (uint32_t i = 0; i < state->orders_count; i++) {
		if (state->orders[i].process == order.process &&
		    state->orders[i].number == order.number)
			return true;
	}
	return false;
}

static void remember_order(struct agreed_state *state, struct order_id order)
{
	if (order.process == 0)
		return;
	if (state->orders_count == STATE_ORDERS_MAX)
		memmove(state->orders, state->orders + 1,
		        --state->orders_count * sizeof(*state->orders));
	state->orders[state->orders_count++] = order;
}

/* Carries out an operator's order about a name. An order that was obeyed already is void; so is an
 * order about a name for which there is no room. */
static void obey(struct agreed_state *state, const struct log_entry *entry)
{
	bool idle = entry->kind == ENTRY_ALLOW && !state_forbids(state, entry->name);

	if (state_obeyed(state, entry->order) || (!idle && !state_has_room(state, entry)))
		return;
	remember_order(state, entry->order);
	if (idle)
		return;
	struct name_record *record = get_name(state, entry->name);
	must(record != NULL);
	if (entry->kind == ENTRY_VOTE)
		record->vote = entry->vote;
	else
		record->forbidden = entry->kind == ENTRY_FORBID;
}

void state_apply(struct agreed_state *state, uint64_t index, const uint8_t *bytes, size_t size)
{
	struct log_entry entry;

	must(index == state->index + 1);
	state->index = index;
	if (!entry_read(bytes, size, &entry))
		return;
	switch (entry.kind) {
	case ENTRY_TICK:
		tick(state, &entry);
		break;
	case ENTRY_CHANGE:
		change(state, &entry);
		break;
	case ENTRY_EXTEND:
		extend(state, &entry);
		break;
	case ENTRY_BUMP:
		if (entry.epoch == state->epoch && state->seats_count != 0 &&
		    has_fences(state, state->settings.block))
			begin_epoch(state);
		break;
	case ENTRY_FORBID:
	case ENTRY_ALLOW:
	case ENTRY_VOTE:
		obey(state, &entry);
		break;
	case ENTRY_VERSION:
		if (entry.version > state->version)
			state->version = entry.version;
		break;
	case ENTRY_INVITE:
		invitations_add(&state->invitations, &entry.secret, entry.time, entry.expiry);
		break;
	case ENTRY_ADMIT:
		admit(state, &entry);
		break;
	}
}

/* --- rescue --- */

/* The log of a rescued cluster may lack the last entries of the old log. A rescue skips this many
 * fences, which is more than those entries can have added. */
#define RESCUE_FENCES (UINT64_C(1) << 40)

bool state_rescue(struct agreed_state *state, struct cluster_id cluster, uint64_t base)
{
	uint64_t limit = state->limit + RESCUE_FENCES;

	if (limit < base)
		limit = base;
	if (limit + state->settings.block >= STATE_FENCE_END)
		return false;
	state->limit = limit;
	state->settings.cluster = cluster;
	state->rescued = true;
	/* Nodes that were removed while the old cluster died need not wait to join the new one. */
	for (uint32_t i = 0; i < state->names_count; i++)
		state->names[i].strikes = 0;
	return true;
}

/* --- snapshots --- */

static void write_orders(const struct agreed_state *state, struct out *out)
{
	out_uint(out, state->orders_count);
	for (uint32_t i = 0; i < state->orders_count; i++) {
		out_uint(out, state->orders[i].process);
		out_uint(out, state->orders[i].number);
	}
}

void state_write(const struct agreed_state *state, struct out *out)
{
	out_clear(out);
	out_uint(out, state->settings.lease_ns);
	out_uint(out, state->settings.base);
	out_uint(out, state->settings.block);
	out_uint(out, state->settings.cluster.high);
	out_uint(out, state->settings.cluster.low);
	out_uint(out, state->index);
	out_uint(out, state->version);
	out_uint(out, state->rescued);
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
		out_uint(out, seat->renewed);
	}
	out_uint(out, state->names_count);
	for (uint32_t i = 0; i < state->names_count; i++) {
		entry_put_text(out, entry_text_of(state->names[i].name));
		out_uint(out, state->names[i].strikes);
		out_uint(out, state->names[i].forbidden);
		out_uint(out, state->names[i].vote);
	}
	/* Without orders and invitations, a snapshot has the format of versions that knew none. */
	if (state->invitations.count != 0 || state->orders_count != 0)
		invitations_write(&state->invitations, out);
	if (state->orders_count != 0)
		write_orders(state, out);
}

static void read_orders(struct agreed_state *state, struct in *in)
{
	uint64_t count = in_range(in, 1, STATE_ORDERS_MAX);

	for (uint64_t i = 0; i < count && !in->bad; i++) {
		struct order_id order = {.process = in_range(in, 1, UINT64_MAX)};
		order.number = in_uint(in);
		in->bad = in->bad || state_obeyed(state, order);
		if (!in->bad)
			remember_order(state, order);
	}
}

static void read_seats(struct agreed_state *state, struct in *in)
{
	uint32_t count = (uint32_t)in_range(in, 0, STATE_SEATS_MAX);

	for (uint32_t i = 0; i < count && !in->bad; i++) {
		struct entry_text name = entry_get_text(in, 1, ENTRY_NAME_MAX);
		struct entry_text address = entry_get_text(in, 0, ENTRY_ADDRESS_MAX);
		uint64_t process = in_range(in, 1, UINT64_MAX);
		uint64_t incarnation = in_range(in, 1, state->index);
		uint64_t renewed = in_range(in, incarnation, state->index);
		if (in->bad)
			return;
		if (i > 0 && compare_text(state->seats[i - 1].name, name) >= 0) {
			in->bad = true;
			return;
		}
		state->seats =
		        grow(state->seats, &state->seats_size, i + 1UL, sizeof(*state->seats));
		struct seat *seat = &state->seats[state->seats_count++];
		*seat = (struct seat){
		        .process = process, .incarnation = incarnation, .renewed = renewed};
		copy_text(seat->name, name);
		copy_text(seat->address, address);
	}
}

static void read_names(struct agreed_state *state, struct in *in)
{
	uint64_t count = in_range(in, 0, STATE_NAMES_MAX);

	for (uint64_t i = 0; i < count && !in->bad; i++) {
		struct entry_text name = entry_get_text(in, 1, ENTRY_NAME_MAX);
		uint32_t strikes = (uint32_t)in_range(in, 0, STATE_STRIKES_MAX);
		bool forbidden = in_range(in, 0, 1) == 1;
		enum vote_wish vote = (enum vote_wish)in_range(in, VOTE_FREE, VOTE_UNWANTED);
		if (in->bad)
			return;
		struct name_record *record = get_name(state, name);
		record->strikes = strikes;
		record->forbidden = forbidden;
		record->vote = vote;
	}
}

bool state_read(struct agreed_state *state, const uint8_t *bytes, size_t size)
{
	struct in in = {.next = bytes, .end = bytes + size};
	struct agreed_state read = {0};

	read.settings.lease_ns = in_uint(&in);
	read.settings.base = in_range(&in, 0, STATE_FENCE_END);
	read.settings.block = in_range(&in, 1, STATE_FENCE_END);
	read.settings.cluster.high = in_uint(&in);
	read.settings.cluster.low = in_uint(&in);
	read.index = in_uint(&in);
	read.version = in_range(&in, 1, UINT32_MAX);
	read.rescued = in_range(&in, 0, 1) == 1;
	read.epoch = in_uint(&in);
	read.base = in_range(&in, read.settings.base, STATE_FENCE_END);
	read.limit = in_range(&in, read.base, STATE_FENCE_END);
	read_seats(&read, &in);
	read_names(&read, &in);
	if (!in.bad && in.next != in.end) {
		invitations_read(&read.invitations, &in);
		if (!in.bad && in.next != in.end)
			read_orders(&read, &in);
		else
			in.bad = in.bad || read.invitations.count == 0;
	}
	if (!in_end(&in)) {
		state_free(&read);
		return false;
	}
	state_free(state);
	*state = read;
	return true;
}
