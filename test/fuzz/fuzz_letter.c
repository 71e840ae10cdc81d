/*
 * Feeds bytes as letters of the replicated log. It must not crash. A letter that was read is
 * written in the same way again, and a malformed letter changes nothing at the server that gets it.
 * fuzz_voter gives well-formed letters to a server.
 */
#include "baton/error.h"
#include "must.h"
#include "outbuffer.h"
#include "raft_letter.h"
#include "replica.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A server that has the first entry of a log of three, and has done all it wants to. */
static struct replica *make_server(void)
{
	static const struct replica_server servers[] = {
	        {1, "a", REPLICA_VOTER}, {2, "b", REPLICA_VOTER}, {3, "c", REPLICA_VOTER}};
	struct durable_entry first;
	struct replica_effect effect;

	must(replica_first_entry(servers, 3, &first));
	struct durable_content content = {
	        .term = 1, .log_start = 1, .entries = &first, .entries_count = 1};
	struct replica *replica = replica_create(&(struct replica_options){.id = 1,
	                                                                   .address = "a",
	                                                                   .content = &content,
	                                                                   .election_ms = 100,
	                                                                   .heartbeat_ms = 20,
	                                                                   .seed = 1},
	                                         1000);
	free((void *)(uintptr_t)first.bytes);
	while (replica_effect(replica, &effect))
		must(effect.kind != REPLICA_WRITE);
	return replica;
}

static void refuse(const uint8_t *bytes, size_t size)
{
	static struct replica *replica;
	struct replica_effect effect;

	if (replica == NULL)
		replica = make_server();
	uint64_t deadline = replica_deadline(replica);
	must(replica_receive(replica, 2, bytes, size, 1000) == BATON_EMESSAGE);
	must(!replica_effect(replica, &effect));
	must(replica_term(replica) == 1 && replica_deadline(replica) == deadline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct raft_letter letter;
	struct out out;
	uint8_t *copy = malloc(size + (size == 0));

	must(copy != NULL);
	memcpy(copy, data, size);
	if (raft_letter_read(copy, size, &letter)) {
		out_init(&out);
		raft_letter_write(&out, &letter);
		must(out.bytes_count == size && memcmp(out.bytes, data, size) == 0);
		out_free(&out);
		raft_letter_free(&letter);
	} else {
		refuse(copy, size);
	}
	free(copy);
	return 0;
}
