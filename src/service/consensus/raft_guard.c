/*
 * The guards around libraft 0.22.1, each with its reason.
 */
#include "raft_guard.h"

#include "voters.h"

/* The core is not woken more often than this, because its timers may be stuck in the past. */
enum { WAKE_MS_LEAST = 5 };

/*
 * A lone voter (safety). When the only voter starts, its core elects itself in the term that it
 * already had. But before a crash it may have sent entries that never reached its own disk. It
 * would now put other entries at the same indices in the same term, and a server that has the old
 * entries could not notice the difference.
 */
bool guard_begins_term(const struct replica_log *log, uint64_t id)
{
	const uint8_t *bytes;
	size_t size;
	uint64_t index;

	if (!replica_log_voters(log, replica_log_last(log), &bytes, &size, &index))
		return false;
	struct raft_configuration configuration = voters_decode(bytes, size);
	const struct raft_server *self = voters_find(&configuration, id);
	bool is_lone =
	        self != NULL && self->role == RAFT_VOTER && voters_count(&configuration) == 1;
	raft_configuration_close(&configuration);
	return is_lone;
}

/* Returns the term in which the message was sent. */
static uint64_t term_of(const struct raft_message *message)
{
	switch (message->type) {
	case RAFT_APPEND_ENTRIES:
		return message->append_entries.term;
	case RAFT_APPEND_ENTRIES_RESULT:
		return message->append_entries_result.term;
	case RAFT_REQUEST_VOTE:
		return message->request_vote.term;
	case RAFT_REQUEST_VOTE_RESULT:
		return message->request_vote_result.term;
	case RAFT_INSTALL_SNAPSHOT:
		return message->install_snapshot.term;
	case RAFT_TIMEOUT_NOW:
		return message->timeout_now.term;
	}
	return 0;
}

/* Is the entry at this index committed here, with another term? */
static bool contradicts(const struct replica_log *log, uint64_t committed, uint64_t index,
                        uint64_t term)
{
	uint64_t known = replica_log_term(log, index);

	return index <= committed && known != 0 && known != term;
}

static bool contradicts_log(const struct replica_log *log, uint64_t committed,
                            const struct raft_letter *letter)
{
	const struct raft_install_snapshot *install = &letter->message.install_snapshot;
	const struct raft_append_entries *append = &letter->message.append_entries;

	if (letter->message.type == RAFT_INSTALL_SNAPSHOT)
		return contradicts(log, committed, install->last_index, install->last_term);
	if (append->prev_log_index != 0 &&
	    contradicts(log, committed, append->prev_log_index, append->prev_log_term))
		return true;
	for (unsigned i = 0; i < append->n_entries; i++) {
		if (contradicts(log, committed, append->prev_log_index + 1 + i,
		                letter->entries[i].term))
			return true;
	}
	return false;
}

/*
 * Impossible letters. The core assumes that nobody else leads in the term in which it leads, and
 * that no leader contradicts committed entries. If a letter breaks this, the core writes into the
 * wrong part of a union, or asks to be shut down. A server with damaged memory, or one that lies,
 * must not stop the others. A letter must not raise the term to a very great number either: after
 * the greatest number no election is possible.
 */
bool guard_is_impossible(const struct raft *raft, const struct replica_log *log, uint64_t applied,
                         const struct raft_letter *letter)
{
	const struct raft_message *message = &letter->message;
	uint64_t term = term_of(message), now = raft->current_term;
	uint64_t committed = applied > raft->commit_index ? applied : raft->commit_index;

	if (message->server_id == raft->id || (term > now && term - now > UINT32_MAX))
		return true;
	if (message->type == RAFT_REQUEST_VOTE)
		return message->request_vote.candidate_id != message->server_id;
	if ((message->type != RAFT_APPEND_ENTRIES && message->type != RAFT_INSTALL_SNAPSHOT) ||
	    term < now)
		return false;
	return (term == now && raft->state == RAFT_LEADER) ||
	       contradicts_log(log, committed, letter);
}

/*
 * Stale rejections. A rejection may arrive after later successes. The leader would then send from
 * an index that the follower has passed, or believe that the follower's log is shorter than it has
 * acknowledged. While a server keeps its disk its match index never goes back, so a rejection below
 * that index is stale.
 */
static bool is_stale_rejection(const struct raft *raft, const struct raft_message *message)
{
	const struct raft_append_entries_result *result = &message->append_entries_result;
	raft_index match;

	return message->type == RAFT_APPEND_ENTRIES_RESULT && result->rejected != 0 &&
	       raft->state == RAFT_LEADER && result->term == raft_current_term(raft) &&
	       raft_match_index(raft, message->server_id, &match) == 0 &&
	       (result->rejected <= match || result->last_log_index < match);
}

/* Does a second snapshot arrive while one is being written? The core would ignore it and leak its
 * memory. */
static bool is_second_snapshot(const struct raft *raft, const struct raft_message *message)
{
	return message->type == RAFT_INSTALL_SNAPSHOT && raft->snapshot.installing;
}

/* Does a vote arrive when this server is no longer a candidate? The core would read from a union
 * whether it is in the pre-vote phase, but in a follower or leader that byte belongs to a pointer.
 * Whether the core learns of a greater term would then depend on an address. */
static bool is_late_vote(const struct raft *raft, const struct raft_message *message)
{
	return message->type == RAFT_REQUEST_VOTE_RESULT && raft->state != RAFT_CANDIDATE;
}

bool guard_drops(const struct raft *raft, const struct raft_message *message)
{
	return is_stale_rejection(raft, message) || is_second_snapshot(raft, message) ||
	       is_late_vote(raft, message);
}

bool guard_is_old(const struct raft *raft, const struct raft_message *request)
{
	raft_term term = raft_current_term(raft);

	if (request->type == RAFT_APPEND_ENTRIES)
		return request->append_entries.term < term;
	return request->type == RAFT_INSTALL_SNAPSHOT && request->install_snapshot.term < term;
}

/*
 * Old terms (safety). The core answers a request of an older term without setting last_log_index.
 * The answer to an InstallSnapshot, or to an AppendEntries after index 0, is not even a rejection.
 * It carries the follower's term. So if the receiver leads in that term by now, it takes the answer
 * for a success. This was seen: a leader believed that a follower had entry 224, although its last
 * was 222, and committed on that belief.
 */
void guard_answer_old(struct raft_message *reply)
{
	if (reply->type != RAFT_APPEND_ENTRIES_RESULT)
		return;
	reply->append_entries_result.rejected = 1;
	reply->append_entries_result.last_log_index = 0;
}

/*
 * The pre-vote standstill. When the core refuses a pre-vote, its reply has the term of the request.
 * So a server with the best log but an old term never learns the greater term: the others refuse
 * its pre-votes because of the term, it refuses theirs because of the log, and nobody ever leads.
 */
void guard_answer_pre_vote(const struct raft *raft, struct raft_message *reply)
{
	struct raft_request_vote_result *result = &reply->request_vote_result;

	if (reply->type == RAFT_REQUEST_VOTE_RESULT && result->pre_vote && !result->vote_granted &&
	    raft_current_term(raft) > result->term)
		result->term = raft_current_term(raft);
}

/*
 * One disturbance for each transfer. A server that is told to take over the lead may disturb the
 * leader: its requests for votes pass the check that protects leaders. The core keeps that right as
 * long as the server is a candidate. If the server has been removed and does not know it, it raises
 * the term at every election timeout without end, and no leader lasts.
 */
void guard_disrupt(struct raft_message *request, uint64_t told_term)
{
	if (request->type == RAFT_REQUEST_VOTE && request->request_vote.term != told_term + 1)
		request->request_vote.disrupt_leader = false;
}

/*
 * Clip (safety). The core does not compare entries before the start of its log. If an AppendEntries
 * begins before that start, the core appends its entries at the end, at wrong indices. Entries that
 * the snapshot covers are committed and the same everywhere, so they can be cut from the message.
 */
void guard_clip(const struct raft *raft, const struct replica_log *log, struct raft_letter *letter)
{
	struct raft_append_entries *append = &letter->message.append_entries;
	uint64_t prev = append->prev_log_index;

	if (letter->message.type != RAFT_APPEND_ENTRIES || raft->snapshot.installing)
		return;
	if (append->n_entries == 0 || prev >= log->start || prev >= log->snapshot.index)
		return;
	uint64_t covered = log->snapshot.index - prev;
	unsigned gone = covered < append->n_entries ? (unsigned)covered : append->n_entries;
	for (unsigned i = gone; i < append->n_entries; i++)
		letter->entries[i - gone] = letter->entries[i];
	append->n_entries -= gone;
	append->prev_log_index = log->snapshot.index;
	append->prev_log_term = log->snapshot.term;
}

/*
 * A log that runs ahead. A leader that lies may send entries and never say that they are committed.
 * No snapshot replaces them then, and the log grows until the disk is full. A correct leader is
 * ahead of what a follower has applied by less than two snapshots. Entries beyond the limit are cut
 * off the message, as if the leader had sent fewer; it sends them again.
 */
void guard_limit(uint64_t applied, struct raft_letter *letter)
{
	struct raft_append_entries *append = &letter->message.append_entries;
	uint64_t last = applied + GUARD_AHEAD_MAX;

	if (append->prev_log_index >= last)
		append->n_entries = 0;
	else if (append->n_entries > last - append->prev_log_index)
		append->n_entries = (unsigned)(last - append->prev_log_index);
}

/*
 * A vote for standbys. The core refuses its vote in two cases: when its own log does not have it as
 * a voter, and while it believes in a leader. A standby never stops believing in its leader, since
 * it never campaigns. But the entry that makes it a voter may be lost on the way, and the server
 * that wrote the entry may need this vote to lead again. When one voter becomes two, for example,
 * nobody would ever lead without it. Giving the vote is safe, because the candidate's log decides
 * whose vote counts, not the voter's log (Ongaro's thesis, 4.1). A leader that was heard within an
 * election timeout is not disturbed.
 */
bool guard_lends_vote(const struct raft *raft, struct raft_message *request, uint64_t now)
{
	const struct raft_server *self = voters_find(&raft->configuration, raft->id);

	if (self == NULL || self->role != RAFT_STANDBY)
		return false;
	if (now >= raft->election_timer_start + raft->election_timeout)
		request->request_vote.disrupt_leader = true;
	return true;
}

/*
 * Split (safety). If a batch of entries contains a change of voters, a follower records the batch's
 * first index as the index of the change. When the change is rolled back, or is in the next
 * snapshot, the follower looks at the wrong entry and goes on with voters that nobody else has.
 */
size_t guard_split(const struct durable_entry *entries, size_t count)
{
	size_t part = 1;

	while (part < count && entries[part].type != RAFT_CHANGE)
		part++;
	return part;
}

/*
 * One pending change. The core remembers only one uncommitted change. A leader begins a change only
 * when the last one is committed, so a second change proves that the first is committed, even if
 * leader_commit is lower. The core must be told so; otherwise it forgets the first change, and a
 * rollback would undo both.
 */
uint64_t guard_earlier_change(const struct raft *raft, const struct replica_log *log,
                              const struct durable_entry *first, uint64_t index, uint64_t term)
{
	uint64_t pending = raft->configuration_uncommitted_index;

	if (first->type != RAFT_CHANGE || pending == 0 || pending > index ||
	    replica_log_term(log, index) != term)
		return 0;
	return pending;
}

/*
 * Persistence. The core believes every index that it is told is durable. If an entry was replaced
 * while it was being written, the end of that write does not make the new entry durable: only a
 * later write has the new entry.
 */
size_t guard_persisted(const struct replica_log *log, uint64_t first, size_t count, uint64_t write)
{
	size_t told = 0;

	while (told < count) {
		const struct logged *logged = replica_log_at(log, first + told);
		if (logged == NULL || logged->write != write)
			break;
		told++;
	}
	return told;
}

/*
 * The order of an update. A vote, or an answer in a new term, is a promise that the server must
 * remember after a crash. Otherwise it could vote twice in one term.
 */
bool guard_may_send(uint64_t written, uint64_t ballot_write)
{
	return written >= ballot_write;
}

/*
 * Time. Once a server that the core had contact with becomes a spare, the core's timeout stays in
 * the past, and a driver that obeys it would spin. So there is a lower bound on the deadline. It
 * counts from the last wake-up: if it counted from every step, a busy leader would never send
 * heartbeats.
 */
uint64_t guard_deadline(const struct raft *raft, uint64_t woken)
{
	uint64_t wanted = raft_timeout(raft);
	uint64_t least = woken + WAKE_MS_LEAST;

	return wanted > least ? wanted : least;
}

bool guard_is_caught_up(const struct raft *raft, const struct replica_log *log, uint64_t id)
{
	raft_index match;

	return raft->state == RAFT_LEADER && raft_match_index(raft, id, &match) == 0 &&
	       match == replica_log_last(log);
}

/*
 * Catching up. The core never forgets that a server has finished catching up. If the server is not
 * made a voter at once, it may fall far behind again, and would be of no use as a voter for a long
 * time.
 */
bool guard_stays_caught_up(const struct raft *raft, uint64_t id)
{
	raft_index match;

	return raft_match_index(raft, id, &match) == 0 && match >= raft_commit_index(raft);
}

void guard_heard(struct guard_contacts *contacts, uint64_t id, uint64_t now)
{
	size_t oldest = 0;

	for (size_t i = 0; i < VOTERS_SERVERS_MAX; i++) {
		if (contacts->servers[i].id == id) {
			contacts->servers[i].heard = now;
			return;
		}
		if (contacts->servers[i].heard < contacts->servers[oldest].heard)
			oldest = i;
	}
	contacts->servers[oldest].id = id;
	contacts->servers[oldest].heard = now;
}

bool guard_was_heard(const struct raft *raft, const struct guard_contacts *contacts, uint64_t id,
                     uint64_t now)
{
	for (size_t i = 0; i < VOTERS_SERVERS_MAX; i++)
		if (contacts->servers[i].id == id)
			return contacts->servers[i].heard + raft->election_timeout > now;
	return id == raft->id;
}

/*
 * A majority is there and has the last change. If the voters of the next configuration are gone, or
 * have not heard that they vote, perhaps nobody can lead once this leader is gone. So a majority of
 * them must have acknowledged the last change, and must have been heard a moment ago. It need not
 * be all, because a silent voter must not keep the others from replacing it. The server that
 * becomes a voter by this change counts too: it has caught up, and lends its vote until it hears of
 * the change.
 */
static bool is_known_to_most(const struct raft *raft, const struct guard_contacts *contacts,
                             const struct raft_configuration *next, uint64_t now)
{
	unsigned known = 0;

	for (unsigned i = 0; i < next->n; i++) {
		const struct raft_server *server = &next->servers[i];
		const struct raft_server *was = voters_find(&raft->configuration, server->id);
		raft_index match;
		if (server->role != RAFT_VOTER || !guard_was_heard(raft, contacts, server->id, now))
			continue;
		if (was == NULL || was->role != RAFT_VOTER ||
		    (raft_match_index(raft, server->id, &match) == 0 &&
		     match >= raft->configuration_committed_index))
			known++;
	}
	return 2 * known > voters_count(next);
}

/*
 * A leader must not remove itself. A server campaigns only if its own last configuration has it as
 * a voter. Suppose that this server removes itself and nobody else has the change yet. Then it has
 * the longest log but does not campaign, and it refuses its vote to the others because their logs
 * are shorter. If they need that vote, nobody ever leads. So the leader hands the lead over first.
 */
static bool keeps_leader(const struct raft *raft, const struct raft_configuration *next)
{
	const struct raft_server *self = voters_find(next, raft->id);

	return self != NULL && self->role == RAFT_VOTER;
}

/*
 * A voter leaves by removal, never by demotion. A demoted voter still receives the log, and the
 * change with it. If the leader dies before anybody else has the change, the demoted voter has the
 * longest log and does not campaign, as in keeps_leader. A removed voter receives nothing more.
 */
static bool demotes_nobody(const struct raft *raft, const struct raft_configuration *next)
{
	const struct raft_configuration *current = &raft->configuration;

	for (unsigned i = 0; i < current->n; i++) {
		const struct raft_server *server = voters_find(next, current->servers[i].id);
		if (current->servers[i].role == RAFT_VOTER && server != NULL &&
		    server->role != RAFT_VOTER)
			return false;
	}
	return true;
}

/*
 * Never down to one voter (safety). The core of a lone voter elects itself without raising the
 * term. The removed voter may not have heard of its removal, and commit other entries in the same
 * term.
 */
static bool keeps_enough(const struct raft *raft, const struct raft_configuration *next)
{
	return voters_count(next) > 1 || voters_count(&raft->configuration) <= 1;
}

/* A new leader must have committed an entry of its own term before it changes the voters (Ongaro,
 * "bug in single-server membership changes", 2015). Otherwise two changes of different terms can
 * each have a majority. */
static bool has_committed(const struct raft *raft, const struct replica_log *log)
{
	return replica_log_term(log, raft_commit_index(raft)) == raft_current_term(raft);
}

bool guard_may_change(struct raft *raft, const struct replica_log *log,
                      const struct guard_contacts *contacts, const struct raft_configuration *next,
                      uint64_t now)
{
	return raft_state(raft) == RAFT_LEADER && raft->configuration_uncommitted_index == 0 &&
	       raft_transferee(raft) == 0 && has_committed(raft, log) &&
	       is_known_to_most(raft, contacts, next, now) && keeps_leader(raft, next) &&
	       demotes_nobody(raft, next) && keeps_enough(raft, next);
}
