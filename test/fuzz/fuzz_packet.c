/*
 * Feeds bytes as what nodes send each other on the engine's connections, and as the identity of a
 * data directory. It must not crash. What was read is written in the same way again, and the
 * verdict on a CALL does not change when more bytes arrive. The first byte of the input says which
 * decoder gets the rest. fuzz_member gives packets to a member.
 */
#include "birth.h"
#include "call.h"
#include "identity.h"
#include "must.h"
#include "outbuffer.h"
#include "petition.h"
#include "voters.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum decoder { CALL, PETITION, BULLETIN, BIRTH, IDENTITY, VOTERS, DECODERS };

static void check_same(const struct out *out, const uint8_t *data, size_t size)
{
	must(out->bytes_count == size && memcmp(out->bytes, data, size) == 0);
}

static void check_call(const uint8_t *data, size_t size, struct out *out)
{
	char text[LINK_TEXT_MAX + 1];
	struct call call;
	size_t taken = 0;
	enum call_kind kind = call_read(data, size, &call, &taken, text);

	if (kind == CALL_MORE)
		must(size < CALL_SIZE_MAX);
	if (kind == CALL_WHOLE) {
		must(taken <= size);
		call_write(out, &call);
		check_same(out, data, taken);
		charter_free(&call.charter);
	}
	for (size_t cut = size; cut > 0; cut -= 1 + cut / 16) {
		enum call_kind part = call_read(data, cut - 1, &call, &taken, text);
		must(part == CALL_MORE || part == kind);
		if (part == CALL_WHOLE)
			charter_free(&call.charter);
	}
}

static uint32_t list_processes(struct process_list list, uint64_t *processes)
{
	uint32_t count = 0;

	while (process_next(&list, &processes[count]))
		count++;
	return count;
}

static void check_petition(const uint8_t *data, size_t size, struct out *out)
{
	static uint64_t lacks[STATE_SEATS_MAX + 1], unreported[STATE_SEATS_MAX + 1];
	struct petition petition;

	if (!petition_read(data, size, &petition))
		return;
	uint32_t lacks_count = list_processes(petition.lacks, lacks);
	uint32_t unreported_count = list_processes(petition.unreported, unreported);
	petition_write(out, &petition, lacks, lacks_count, unreported, unreported_count);
	check_same(out, data, size);
}

static void check_bulletin(const uint8_t *data, size_t size, struct out *out)
{
	struct electors electors = {0};
	struct bulletin bulletin;
	struct prospect prospect;
	struct seat seat;

	if (!bulletin_read(data, size, &bulletin))
		return;
	while (bulletin_next_seat(&bulletin.seats, &seat))
		must(seat.name[0] != '\0' && seat.process != 0);
	while (bulletin_next_prospect(&bulletin.prospects, &prospect))
		must(prospect.name.size != 0 && prospect.process != 0);
	if (bulletin.kind == BULLETIN_ACK) {
		bulletin_write_ack(out, bulletin.incarnation, bulletin.number);
		check_same(out, data, size);
	} else if (bulletin.kind == BULLETIN_ELECTORS) {
		electors_read(&electors, bulletin.electors);
		bulletin_write_electors(out, &electors);
		check_same(out, data, size);
		electors_free(&electors);
	}
}

static uint64_t draw(void *context)
{
	return ++*(uint64_t *)context;
}

/* Lets one of three founders take the input as messages, cut into several. */
static void check_birth(const uint8_t *data, size_t size, struct out *out)
{
	static const char *const names[] = {"a", "b", "c"};
	uint64_t number = 0;
	struct birth_record record = {.stage = BIRTH_NOTHING};
	struct birth_options options = {.names = names,
	                                .addresses = names,
	                                .count = 3,
	                                .self = size % 2,
	                                .server = 7,
	                                .base = 9,
	                                .agreement = "lease 3s\n",
	                                .record = &record,
	                                .draw = draw,
	                                .context = &number};
	struct birth *birth = birth_create(&options);
	const uint8_t *said;

	while (size > 2) {
		size_t length = data[1] < size - 2 ? data[1] : size - 2;
		bool good = birth_hear(birth, data[0] % 3 == options.self ? 2 : data[0] % 3,
		                       data + 2, length);
		must(good == birth_answer(data + 2, length, (struct cluster_id){1, 2}, 3, 4, out));
		if (birth_wish(birth) == BIRTH_WRITE)
			birth_written(birth);
		must(birth_say(birth, 2, &said) > 0 && birth_text(birth) != NULL);
		data += 2 + length;
		size -= 2 + length;
	}
	birth_destroy(birth);
}

static void check_identity(const uint8_t *data, size_t size, struct out *out)
{
	struct identity identity;

	if (!identity_read(data, size, &identity))
		return;
	identity_write(out, &identity);
	check_same(out, data, size);
	identity_free(&identity);
}

static void check_voters(const uint8_t *data, size_t size)
{
	if (!voters_check(data, size))
		return;
	struct raft_configuration voters = voters_decode(data, size);
	must(voters.n <= VOTERS_SERVERS_MAX && voters_count(&voters) <= voters.n);
	raft_configuration_close(&voters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct out out;

	if (size == 0)
		return 0;
	/* Use memory of its own, so that reading beyond the end is noticed. */
	uint8_t *copy = malloc(size - 1 + (size == 1));
	must(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	out_init(&out);
	switch ((enum decoder)(data[0] % DECODERS)) {
	case CALL:
		check_call(copy, size - 1, &out);
		break;
	case PETITION:
		check_petition(copy, size - 1, &out);
		break;
	case BULLETIN:
		check_bulletin(copy, size - 1, &out);
		break;
	case BIRTH:
		check_birth(copy, size - 1, &out);
		break;
	case IDENTITY:
		check_identity(copy, size - 1, &out);
		break;
	case VOTERS:
	case DECODERS:
		check_voters(copy, size - 1);
		break;
	}
	out_free(&out);
	free(copy);
	return 0;
}
