#include "raft_letter.h"

#include "memory.h"
#include "voters.h"

#include <stdlib.h>
#include <string.h>

static void write_bytes(struct out *out, const uint8_t *bytes, size_t size)
{
	out_uint(out, size);
	out_need(out, (uint32_t)size);
	if (size > 0)
		memcpy(out->bytes + out->bytes_count, bytes, size);
	out->bytes_count += (uint32_t)size;
}

static const uint8_t *read_bytes(struct in *in, size_t most, size_t *ret_size)
{
	size_t size = (size_t)in_range(in, 0, most);

	if (in->bad || size > (size_t)(in->end - in->next)) {
		in->bad = true;
		size = 0;
	}
	const uint8_t *bytes = in->next;
	in->next += size;
	*ret_size = size;
	return bytes;
}

static void write_append(struct out *out, const struct raft_letter *letter)
{
	const struct raft_append_entries *append = &letter->message.append_entries;

	out_uint(out, append->version);
	out_uint(out, append->term);
	out_uint(out, append->prev_log_index);
	out_uint(out, append->prev_log_term);
	out_uint(out, append->leader_commit);
	out_uint(out, append->n_entries);
	for (unsigned i = 0; i < append->n_entries; i++) {
		out_uint(out, letter->entries[i].term);
		out_uint(out, letter->entries[i].type);
		write_bytes(out, letter->entries[i].bytes, letter->entries[i].size);
	}
}

static void read_entry(struct in *in, uint64_t term_max, struct durable_entry *ret_entry)
{
	ret_entry->term = in_range(in, 1, term_max);
	ret_entry->type = (uint32_t)in_range(in, RAFT_COMMAND, RAFT_CHANGE);
	ret_entry->bytes = read_bytes(in, RAFT_LETTER_ENTRY_SIZE_MAX, &ret_entry->size);
	/* The core does not check the bytes of a change. */
	if (ret_entry->type == RAFT_CHANGE && !voters_check(ret_entry->bytes, ret_entry->size))
		in->bad = true;
}

static void read_append(struct in *in, struct raft_letter *letter)
{
	struct raft_append_entries *append = &letter->message.append_entries;

	append->version = (unsigned char)in_range(in, 0, UINT8_MAX);
	append->term = in_uint(in);
	append->prev_log_index = in_uint(in);
	append->prev_log_term = in_uint(in);
	append->leader_commit = in_uint(in);
	append->n_entries = (unsigned)in_range(in, 0, RAFT_LETTER_ENTRIES_MAX);
	/* Refuse an index that would overflow when the number of entries is added. Refuse an entry
	 * of term 0, which to the core means that it does not have the entry. */
	if (append->prev_log_index > INT64_MAX ||
	    (append->prev_log_index == 0) != (append->prev_log_term == 0))
		in->bad = true;
	if (in->bad || append->n_entries == 0)
		return;
	letter->entries = calloc(append->n_entries, sizeof *letter->entries);
	memory_must(letter->entries != NULL);
	for (unsigned i = 0; i < append->n_entries && !in->bad; i++)
		read_entry(in, append->term, &letter->entries[i]);
}

static void write_append_result(struct out *out, const struct raft_append_entries_result *result)
{
	out_uint(out, result->version);
	out_uint(out, result->term);
	out_uint(out, result->rejected);
	out_uint(out, result->last_log_index);
	out_uint(out, result->features);
	out_uint(out, result->capacity);
}

static void read_append_result(struct in *in, struct raft_append_entries_result *result)
{
	result->version = (unsigned char)in_range(in, 0, UINT8_MAX);
	result->term = in_uint(in);
	result->rejected = in_uint(in);
	result->last_log_index = in_uint(in);
	result->features = (unsigned short)in_range(in, 0, UINT16_MAX);
	result->capacity = (unsigned short)in_range(in, 0, UINT16_MAX);
}

static void write_vote(struct out *out, const struct raft_request_vote *vote)
{
	out_uint(out, vote->version);
	out_uint(out, vote->term);
	out_uint(out, vote->candidate_id);
	out_uint(out, vote->last_log_index);
	out_uint(out, vote->last_log_term);
	out_uint(out, vote->disrupt_leader);
	out_uint(out, vote->pre_vote);
}

static void read_vote(struct in *in, struct raft_request_vote *vote)
{
	vote->version = (unsigned char)in_range(in, 0, UINT8_MAX);
	vote->term = in_uint(in);
	vote->candidate_id = in_uint(in);
	vote->last_log_index = in_uint(in);
	vote->last_log_term = in_uint(in);
	vote->disrupt_leader = in_range(in, 0, 1) == 1;
	vote->pre_vote = in_range(in, 0, 1) == 1;
}

static void write_vote_result(struct out *out, const struct raft_request_vote_result *result)
{
	out_uint(out, result->version);
	out_uint(out, result->term);
	out_uint(out, result->vote_granted);
	out_uint(out, result->pre_vote);
	out_uint(out, result->features);
	out_uint(out, result->capacity);
}

static void read_vote_result(struct in *in, struct raft_request_vote_result *result)
{
	result->version = (unsigned char)in_range(in, 0, UINT8_MAX);
	result->term = in_uint(in);
	result->vote_granted = in_range(in, 0, 1) == 1;
	result->pre_vote = in_range(in, 0, 1) == 1;
	result->features = (unsigned short)in_range(in, 0, UINT16_MAX);
	result->capacity = (unsigned short)in_range(in, 0, UINT16_MAX);
}

static void write_install(struct out *out, const struct raft_letter *letter)
{
	const struct raft_install_snapshot *install = &letter->message.install_snapshot;

	out_uint(out, install->version);
	out_uint(out, install->term);
	out_uint(out, install->last_index);
	out_uint(out, install->last_term);
	out_uint(out, install->conf_index);
	write_bytes(out, letter->snapshot.voters, letter->snapshot.voters_size);
	write_bytes(out, letter->snapshot.bytes, letter->snapshot.size);
}

static void read_install(struct in *in, struct raft_letter *letter)
{
	struct raft_install_snapshot *install = &letter->message.install_snapshot;
	struct durable_snapshot *snapshot = &letter->snapshot;

	install->version = (unsigned char)in_range(in, 0, UINT8_MAX);
	install->term = in_uint(in);
	install->last_index = in_range(in, 1, INT64_MAX);
	install->last_term = in_range(in, 1, install->term);
	install->conf_index = in_range(in, 1, install->last_index);
	snapshot->voters = read_bytes(in, RAFT_LETTER_ENTRY_SIZE_MAX, &snapshot->voters_size);
	snapshot->bytes = read_bytes(in, RAFT_LETTER_SNAPSHOT_SIZE_MAX, &snapshot->size);
	if (!in->bad && !voters_check(snapshot->voters, snapshot->voters_size))
		in->bad = true;
	snapshot->index = install->last_index;
	snapshot->term = install->last_term;
	snapshot->voters_index = install->conf_index;
}

static void write_timeout(struct out *out, const struct raft_timeout_now *timeout)
{
	out_uint(out, timeout->version);
	out_uint(out, timeout->term);
	out_uint(out, timeout->last_log_index);
	out_uint(out, timeout->last_log_term);
}

static void read_timeout(struct in *in, struct raft_timeout_now *timeout)
{
	timeout->version = (unsigned char)in_range(in, 0, UINT8_MAX);
	timeout->term = in_uint(in);
	timeout->last_log_index = in_uint(in);
	timeout->last_log_term = in_uint(in);
}

void raft_letter_write(struct out *out, const struct raft_letter *letter)
{
	const struct raft_message *message = &letter->message;

	out_message(out, (uint8_t)message->type);
	switch (message->type) {
	case RAFT_APPEND_ENTRIES:
		write_append(out, letter);
		break;
	case RAFT_APPEND_ENTRIES_RESULT:
		write_append_result(out, &message->append_entries_result);
		break;
	case RAFT_REQUEST_VOTE:
		write_vote(out, &message->request_vote);
		break;
	case RAFT_REQUEST_VOTE_RESULT:
		write_vote_result(out, &message->request_vote_result);
		break;
	case RAFT_INSTALL_SNAPSHOT:
		write_install(out, letter);
		break;
	case RAFT_TIMEOUT_NOW:
		write_timeout(out, &message->timeout_now);
		break;
	}
}

bool raft_letter_read(const uint8_t *bytes, size_t size, struct raft_letter *ret_letter)
{
	struct raft_letter letter = {0};
	struct in in = {.next = bytes, .end = bytes + size};

	letter.message.type =
	        (enum raft_message_type)in_range(&in, RAFT_APPEND_ENTRIES, RAFT_TIMEOUT_NOW);
	if (in.bad)
		return false;
	switch (letter.message.type) {
	case RAFT_APPEND_ENTRIES:
		read_append(&in, &letter);
		break;
	case RAFT_APPEND_ENTRIES_RESULT:
		read_append_result(&in, &letter.message.append_entries_result);
		break;
	case RAFT_REQUEST_VOTE:
		read_vote(&in, &letter.message.request_vote);
		break;
	case RAFT_REQUEST_VOTE_RESULT:
		read_vote_result(&in, &letter.message.request_vote_result);
		break;
	case RAFT_INSTALL_SNAPSHOT:
		read_install(&in, &letter);
		break;
	case RAFT_TIMEOUT_NOW:
		read_timeout(&in, &letter.message.timeout_now);
		break;
	}
	if (!in_end(&in)) {
		raft_letter_free(&letter);
		return false;
	}
	*ret_letter = letter;
	return true;
}

void raft_letter_free(struct raft_letter *letter)
{
	free(letter->entries);
	letter->entries = NULL;
}
