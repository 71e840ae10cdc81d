#include "rescue.h"

#include "must.h"
#include "outbuffer.h"
#include "replica.h"
#include "roster.h"
#include "voters.h"

#include <raft.h>
#include <stdlib.h>

/* Applies all entries on the disk: nobody can tell any more which of them were committed. */
static bool replay(const struct durable_content *content, const struct state_settings *settings,
                   struct agreed_state *state)
{
	const struct durable_snapshot *snapshot = &content->snapshot;

	state_init(state, settings);
	if (snapshot->index != 0 && !state_read(state, snapshot->bytes, snapshot->size))
		return false;
	for (size_t i = 0; i < content->entries_count; i++) {
		const struct durable_entry *entry = &content->entries[i];
		bool concerns = entry->type == RAFT_COMMAND;
		uint64_t index = content->log_start + i;
		if (index <= snapshot->index)
			continue;
		if (index != state->index + 1)
			return false;
		state_apply(state, index, concerns ? entry->bytes : NULL,
		            concerns ? entry->size : 0);
	}
	return true;
}

static uint64_t last_term(const struct durable_content *content)
{
	return content->entries_count > 0 ? content->entries[content->entries_count - 1].term
	                                  : content->snapshot.term;
}

static bool has_server(const uint8_t *bytes, size_t size, uint64_t id)
{
	if (bytes == NULL || !voters_check(bytes, size))
		return false;
	struct raft_configuration servers = voters_decode(bytes, size);
	bool found = voters_find(&servers, id) != NULL;
	raft_configuration_close(&servers);
	return found;
}

static bool knows_server(const struct durable_content *content, uint64_t id)
{
	bool found = has_server(content->snapshot.voters, content->snapshot.voters_size, id);

	for (size_t i = 0; i < content->entries_count; i++)
		found = found ||
		        (content->entries[i].type == RAFT_CHANGE &&
		         has_server(content->entries[i].bytes, content->entries[i].size, id));
	return found;
}

static void write_disk(const struct durable_content *content, const struct rescue_options *options,
                       const struct agreed_state *state, struct shadow *ret_disk)
{
	char place[ROSTER_PLACE_MAX + 1];
	struct replica_server server = {options->server, place, REPLICA_VOTER};
	struct durable_entry voters;
	struct out out;

	out_init(&out);
	state_write(state, &out);
	roster_place(options->server, options->address, options->name, place);
	must(replica_first_entry(&server, 1, &voters));
	shadow_init(ret_disk);
	shadow_apply(ret_disk, &(struct durable_write){.has_ballot = true,
	                                               .term = content->term + 1,
	                                               .log_start = state->index + 1,
	                                               .snapshot = &(struct durable_snapshot){
	                                                       .index = state->index,
	                                                       .term = last_term(content),
	                                                       .voters_index = state->index,
	                                                       .voters = voters.bytes,
	                                                       .voters_size = voters.size,
	                                                       .bytes = out.bytes,
	                                                       .size = out.bytes_count}});
	free((void *)voters.bytes);
	out_free(&out);
}

int rescue_content(const struct durable_content *content, const struct rescue_options *options,
                   struct shadow *ret_disk)
{
	struct agreed_state state;
	int result = RESCUE_OK;

	if (content->snapshot.index == 0 && content->entries_count == 0)
		return RESCUE_EEMPTY;
	if (!replay(content, &options->settings, &state))
		result = RESCUE_EDAMAGED;
	else if (cluster_is(state.settings.cluster, options->cluster) ||
	         knows_server(content, options->server))
		result = RESCUE_ESAME;
	else if (!state_rescue(&state, options->cluster, options->base))
		result = RESCUE_EFENCES;
	else
		write_disk(content, options, &state, ret_disk);
	state_free(&state);
	return result;
}
