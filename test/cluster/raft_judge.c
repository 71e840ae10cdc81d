#include "raft_judge.h"

#include "must.h"
#include "raft_letter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void raft_judge_fail(struct raft_judge *judge, const char *format, ...)
{
	va_list arguments;

	if (raft_judge_failed(judge))
		return;
	int size =
	        snprintf(judge->problem, sizeof judge->problem, "at %" PRIu64 " ms ", judge->now);
	va_start(arguments, format);
	vsnprintf(judge->problem + size, sizeof judge->problem - (size_t)size, format, arguments);
	va_end(arguments);
}

bool raft_judge_failed(const struct raft_judge *judge)
{
	return judge->problem[0] != '\0';
}

/* The history. */

static uint64_t mix(uint64_t hash, const struct replica_effect *effect)
{
	hash = (hash ^ effect->type) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < effect->size; i++)
		hash = (hash ^ effect->bytes[i]) * UINT64_C(0x100000001b3);
	return (hash ^ effect->index) * UINT64_C(0x9e3779b97f4a7c15);
}

void raft_judge_applied(struct raft_judge *judge, struct judged *server,
                        const struct replica_effect *effect)
{
	if (effect->index != server->applied + 1)
		raft_judge_fail(judge, "server %" PRIu64 " applies %" PRIu64 " after %" PRIu64,
		                server->id, effect->index, server->applied);
	server->applied = effect->index;
	server->hash = mix(server->hash, effect);
	if (effect->index >= JUDGE_HISTORY_MAX)
		raft_judge_fail(judge, "the history is full");
	else if (effect->index > judge->committed) {
		judge->committed = effect->index;
		judge->history[effect->index] = server->hash;
	} else if (judge->history[effect->index] != server->hash)
		raft_judge_fail(judge, "server %" PRIu64 " applies another history at %" PRIu64,
		                server->id, effect->index);
}

void raft_judge_snapshot(const struct judged *server, uint8_t ret_bytes[JUDGE_SNAPSHOT_SIZE])
{
	memcpy(ret_bytes, &server->applied, sizeof server->applied);
	memcpy(ret_bytes + sizeof server->applied, &server->hash, sizeof server->hash);
}

void raft_judge_restored(struct raft_judge *judge, struct judged *server,
                         const struct replica_effect *effect)
{
	uint64_t index, hash;

	must(effect->size == JUDGE_SNAPSHOT_SIZE);
	memcpy(&index, effect->bytes, sizeof index);
	memcpy(&hash, effect->bytes + sizeof index, sizeof hash);
	if (index != effect->index || index > judge->committed || judge->history[index] != hash)
		raft_judge_fail(judge, "server %" PRIu64 " restores another history at %" PRIu64,
		                server->id, effect->index);
	if (effect->index < server->applied)
		raft_judge_fail(judge, "server %" PRIu64 " goes back to %" PRIu64, server->id,
		                effect->index);
	server->applied = index;
	server->hash = hash;
}

/* The servers. */

static void judge_leader(struct raft_judge *judge, struct judged *server,
                         const struct replica *replica)
{
	bool leads = replica_leads(replica);
	uint64_t term = replica_term(replica);

	if (leads && !server->led)
		judge->leaders_count++;
	server->led = leads;
	if (!leads)
		return;
	if (server->matched_term != term)
		memset(server->matched, 0, sizeof server->matched);
	server->matched_term = term;
	if (term >= JUDGE_TERMS_MAX)
		raft_judge_fail(judge, "there are too many terms");
	else if (judge->leaders[term] != 0 && judge->leaders[term] != server->id)
		raft_judge_fail(judge, "servers %" PRIu64 " and %" PRIu64 " lead in term %" PRIu64,
		                judge->leaders[term], server->id, term);
	else
		judge->leaders[term] = server->id;
}

/* Forgets what the leader knew of servers that are no longer in the configuration: if such a server
 * comes back, the leader does not know it. */
static void forget_removed(struct judged *server, const struct replica_server *servers,
                           size_t count)
{
	bool known[JUDGE_IDS_MAX] = {false};

	for (size_t i = 0; i < count; i++)
		known[servers[i].id] = true;
	for (uint64_t id = 0; id < JUDGE_IDS_MAX; id++)
		if (!known[id])
			server->matched[id] = 0;
}

void raft_judge_server(struct raft_judge *judge, struct judged *server,
                       const struct replica *replica, const struct shadow *memory, bool installing)
{
	struct durable_entry used;
	struct replica_server servers[JUDGE_IDS_MAX];
	size_t size, count = replica_servers(replica, UINT64_MAX, NULL);
	const uint8_t *voters = shadow_voters(memory, &size);

	must(count <= JUDGE_IDS_MAX);
	judge_leader(judge, server, replica);
	for (size_t i = 0; i < count; i++)
		replica_servers(replica, i, &servers[i]);
	forget_removed(server, servers, count);
	/* A snapshot from the leader counts only when it is durable. */
	if (voters == NULL || installing)
		return;
	must(replica_first_entry(servers, count, &used));
	if (used.size != size || memcmp(used.bytes, voters, size) != 0)
		raft_judge_fail(judge,
		                "server %" PRIu64 " uses voters that are not those of its log",
		                server->id);
	free((void *)used.bytes);
}

/* Letters. */

/* Returns the term of a letter; 0: the letter promises no term, such as a pre-vote. */
static uint64_t term_of(const struct raft_message *message)
{
	switch (message->type) {
	case RAFT_APPEND_ENTRIES:
		return message->append_entries.term;
	case RAFT_APPEND_ENTRIES_RESULT:
		return message->append_entries_result.term;
	case RAFT_INSTALL_SNAPSHOT:
		return message->install_snapshot.term;
	case RAFT_TIMEOUT_NOW:
		return message->timeout_now.term;
	case RAFT_REQUEST_VOTE:
		return message->request_vote.pre_vote ? 0 : message->request_vote.term;
	case RAFT_REQUEST_VOTE_RESULT:
		return message->request_vote_result.pre_vote ? 0
		                                             : message->request_vote_result.term;
	}
	return 0;
}

static void judge_ballot(struct raft_judge *judge, const struct judged *server,
                         const struct shadow *disk, const struct raft_message *message, uint64_t to)
{
	uint64_t term = term_of(message);
	bool votes = false;

	if (message->type == RAFT_REQUEST_VOTE && !message->request_vote.pre_vote) {
		votes = true;
		to = server->id; /* a candidate that asks for votes votes for itself */
	} else if (message->type == RAFT_REQUEST_VOTE_RESULT) {
		votes = !message->request_vote_result.pre_vote &&
		        message->request_vote_result.vote_granted;
	}
	if (term > disk->term)
		raft_judge_fail(judge,
		                "server %" PRIu64 " speaks in term %" PRIu64
		                ", its disk has %" PRIu64,
		                server->id, term, disk->term);
	else if (votes && term == disk->term && disk->vote != to)
		raft_judge_fail(judge,
		                "server %" PRIu64 " votes for %" PRIu64 " in term %" PRIu64
		                ", its disk has %" PRIu64,
		                server->id, to, term, disk->vote);
}

/* Returns the term of an entry of a log; 0: the log does not have the entry. Entries that a
 * snapshot covers are the same everywhere. */
static uint64_t term_at(const struct shadow *shadow, uint64_t index)
{
	if (index >= shadow->start && index < shadow->start + shadow->count)
		return shadow->entries[index - shadow->start].term;
	return index == shadow->snapshot.index ? shadow->snapshot.term : 0;
}

/* Checks that an acknowledgement, "I have everything up to here", is still true after a crash. */
static void judge_success(struct raft_judge *judge, const struct judged *server,
                          const struct shadow *disk, const struct shadow *memory,
                          const struct raft_append_entries_result *result)
{
	uint64_t last = result->last_log_index;

	if (last <= disk->snapshot.index)
		return;
	uint64_t term = term_at(disk, last);
	bool is_same = last <= memory->snapshot.index || term == term_at(memory, last);
	if (term == 0 || !is_same)
		raft_judge_fail(judge,
		                "server %" PRIu64 " tells of entry %" PRIu64
		                ", which is not on its disk",
		                server->id, last);
}

/* Checks that a leader does not send again what another server has acknowledged. */
static void judge_progress(struct raft_judge *judge, const struct judged *server, uint64_t prev,
                           uint64_t to)
{
	if (to < JUDGE_IDS_MAX && prev < server->matched[to])
		raft_judge_fail(judge,
		                "leader %" PRIu64 " sends what follows %" PRIu64 " to %" PRIu64
		                ", which has told of %" PRIu64,
		                server->id, prev, to, server->matched[to]);
}

void raft_judge_sent(struct raft_judge *judge, struct judged *server, const struct replica *replica,
                     const struct shadow *disk, const struct shadow *memory,
                     const struct replica_effect *effect)
{
	struct raft_letter letter;

	must(raft_letter_read(effect->bytes, effect->size, &letter));
	const struct raft_message *message = &letter.message;
	/* A letter of an older term may have waited for the disk, and the log may have changed
	 * since. */
	bool is_current = term_of(message) == replica_term(replica);
	judge_ballot(judge, server, disk, message, effect->to);
	if (message->type == RAFT_APPEND_ENTRIES_RESULT && is_current &&
	    message->append_entries_result.rejected == 0)
		judge_success(judge, server, disk, memory, &message->append_entries_result);
	if (message->type == RAFT_APPEND_ENTRIES &&
	    message->append_entries.term == server->matched_term)
		judge_progress(judge, server, message->append_entries.prev_log_index, effect->to);
	raft_letter_free(&letter);
}

void raft_judge_received(struct judged *server, const struct replica *replica, uint64_t from,
                         const uint8_t *bytes, size_t size)
{
	struct raft_letter letter;

	must(raft_letter_read(bytes, size, &letter));
	const struct raft_append_entries_result *result = &letter.message.append_entries_result;
	if (letter.message.type == RAFT_APPEND_ENTRIES_RESULT && result->rejected == 0 &&
	    replica_leads(replica) && result->term == server->matched_term &&
	    from < JUDGE_IDS_MAX && result->last_log_index > server->matched[from])
		server->matched[from] = result->last_log_index;
	raft_letter_free(&letter);
}
