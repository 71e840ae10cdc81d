/*
 * The driver of libraft's core: it passes events to the core and carries out the updates in the
 * order that the core demands. raft_guard.c has what the core needs beyond what its documentation
 * says.
 */
#include "replica.h"

#include "baton/error.h"
#include "effects.h"
#include "grow.h"
#include "must.h"
#include "outbuffer.h"
#include "raft_guard.h"
#include "voters.h"

#include <string.h>

enum {
	INSTALL_ELECTIONS = 10,  /* after how many election timeouts a snapshot is sent again */
	CATCH_UP_ELECTIONS = 15, /* how many election timeouts a round of catching up may take */
	/* How many letters may wait for a slow disk. Further letters are dropped, as a network
	 * might drop them. */
	LETTERS_WAITING_MAX = 4096,
	/* The disk capacity that the core is told. The value does not matter, because no
	 * threshold is set. */
	CAPACITY = 60000,
};

/* A write that is not durable yet, and what the core must be told when it is. */
struct unwritten {
	uint64_t number;
	uint64_t entries_first;
	size_t entries_count;
	enum { PENDING_ENTRIES, PENDING_TAKEN, PENDING_INSTALLED } kind;
	struct durable_snapshot snapshot; /* TAKEN, INSTALLED: the snapshot */
	uint32_t keep;                    /* TAKEN: how many entries before the snapshot are kept */
};

struct replica {
	struct raft raft;
	struct replica_log log;
	uint64_t applied;
	bool taking, installing; /* a snapshot of our own, or of the leader, is being written */
	bool answers_old;        /* the message that is being handled has an older term */
	struct guard_contacts contacts;
	/* The term of the last leader that told this server to take over the lead. */
	uint64_t told_term;
	uint64_t woken;
	uint64_t last_write, written, ballot_write;
	struct unwritten *pending;
	size_t pending_start, pending_end, pending_size;
	struct effects effects;
	struct effects waiting; /* letters that may be sent only when a term or vote is durable */
	struct out out;
	bool (*can_restore)(void *context, uint64_t index, const uint8_t *bytes, size_t size);
	void *context; /* the first argument of can_restore */
};

static int step(struct replica *replica, struct raft_event *event);

/* Makes entries in the form that the core wants: one piece of memory has all bytes, and the first
 * entry points to it as its batch. */
static struct raft_entry *make_batch(const struct durable_entry *entries, size_t count)
{
	size_t size = 1;

	for (size_t i = 0; i < count; i++)
		size += entries[i].size;
	uint8_t *bytes = raft_malloc(size);
	struct raft_entry *batch = raft_calloc(count, sizeof *batch);
	memory_must(bytes != NULL && batch != NULL);
	uint8_t *next = bytes;
	for (size_t i = 0; i < count; i++) {
		if (entries[i].size > 0)
			memcpy(next, entries[i].bytes, entries[i].size);
		batch[i] = (struct raft_entry){
		        .term = entries[i].term,
		        .type = (enum raft_entry_type)entries[i].type,
		        .buf = {next, entries[i].size},
		        .batch = bytes,
		};
		next += entries[i].size;
	}
	return batch;
}

static struct raft_snapshot_metadata make_metadata(const struct durable_snapshot *snapshot)
{
	return (struct raft_snapshot_metadata){
	        .index = snapshot->index,
	        .term = snapshot->term,
	        .configuration_index = snapshot->voters_index,
	        .configuration = voters_decode(snapshot->voters, snapshot->voters_size),
	};
}

/* --- writes --- */

static void add_write(struct replica *replica, struct durable_write *write,
                      const struct unwritten *pending)
{
	write->number = ++replica->last_write;
	if (write->has_ballot)
		replica->ballot_write = write->number;
	if (replica->pending_start == replica->pending_end)
		replica->pending_start = replica->pending_end = 0;
	replica->pending = grow(replica->pending, &replica->pending_size, replica->pending_end + 1,
	                        sizeof *replica->pending);
	struct unwritten *added = &replica->pending[replica->pending_end++];
	*added = *pending;
	added->number = write->number;
	effects_add(&replica->effects, &(struct replica_effect){REPLICA_WRITE, .write = write});
}

/* Puts the entries of an update into the log and frees the core's copy of them. */
static struct durable_entry *take_entries(struct replica *replica, const struct raft_update *update)
{
	struct durable_entry *entries = calloc(update->entries.n, sizeof *entries);

	memory_must(entries != NULL);
	/* An applied entry must never be replaced. */
	must(update->entries.index > replica->applied);
	for (unsigned i = 0; i < update->entries.n; i++) {
		const struct raft_entry *entry = &update->entries.batch[i];
		entries[i] = (struct durable_entry){entry->term, entry->type, entry->buf.base,
		                                    entry->buf.len};
	}
	replica_log_replace(&replica->log, update->entries.index, entries, update->entries.n,
	                    replica->last_write + 1);
	for (unsigned i = 0; i < update->entries.n; i++)
		entries[i] = replica_log_at(&replica->log, update->entries.index + i)->entry;
	raft_free(update->entries.batch[0].batch);
	return entries;
}

/* Installs the leader's snapshot, which replaces the whole log. */
static struct durable_snapshot take_installed(struct replica *replica, struct raft_update *update)
{
	struct raft_snapshot_metadata *metadata = &update->snapshot.metadata;
	struct raft_buffer voters = voters_encode(&metadata->configuration);
	struct durable_snapshot borrowed = {
	        .index = metadata->index,
	        .term = metadata->term,
	        .voters_index = metadata->configuration_index,
	        .voters = voters.base,
	        .voters_size = voters.len,
	        .bytes = update->snapshot.chunk.base,
	        .size = update->snapshot.chunk.len,
	};
	struct durable_snapshot snapshot = snapshot_copy(&borrowed);

	must(snapshot.index > replica->applied);
	raft_free(voters.base);
	raft_free(update->snapshot.chunk.base);
	raft_configuration_close(&metadata->configuration);
	replica->installing = true;
	replica_log_clear(&replica->log, snapshot.index + 1);
	return snapshot;
}

static void save_update(struct replica *replica, struct raft_update *update)
{
	struct durable_write write = {0};
	struct unwritten pending = {.kind = PENDING_ENTRIES};
	struct durable_entry *entries = NULL;
	unsigned ballot = RAFT_UPDATE_CURRENT_TERM | RAFT_UPDATE_VOTED_FOR;

	if (update->flags & ballot) {
		write.has_ballot = true;
		write.term = raft_current_term(&replica->raft);
		write.vote = raft_voted_for(&replica->raft);
	}
	if (update->flags & (RAFT_UPDATE_ENTRIES)) {
		entries = take_entries(replica, update);
		pending.entries_first = write.entries_first = update->entries.index;
		pending.entries_count = write.entries_count = update->entries.n;
		write.entries = entries;
	}
	if (update->flags & (RAFT_UPDATE_SNAPSHOT)) {
		must(entries == NULL);
		pending.kind = PENDING_INSTALLED;
		pending.snapshot = take_installed(replica, update);
		write.snapshot = &pending.snapshot;
		write.log_start = write.entries_first = pending.snapshot.index + 1;
	}
	if (write.has_ballot || write.entries_first != 0)
		add_write(replica, &write, &pending);
	free(entries);
}

/* --- letters --- */

/* Attaches the entries or the snapshot, which the core leaves to its driver. Returns false if a
 * newer snapshot has replaced them. */
static bool complete_letter(struct replica *replica, struct raft_letter *letter)
{
	struct raft_append_entries *append = &letter->message.append_entries;
	const struct durable_snapshot *snapshot = &replica->log.snapshot;

	if (letter->message.type == RAFT_INSTALL_SNAPSHOT) {
		letter->snapshot = *snapshot;
		return letter->message.install_snapshot.last_index == snapshot->index;
	}
	if (letter->message.type != RAFT_APPEND_ENTRIES || append->n_entries == 0)
		return true;
	letter->entries = calloc(append->n_entries, sizeof *letter->entries);
	memory_must(letter->entries != NULL);
	for (unsigned i = 0; i < append->n_entries; i++) {
		const struct logged *logged =
		        replica_log_at(&replica->log, append->prev_log_index + 1 + i);
		must(logged != NULL);
		letter->entries[i] = logged->entry;
	}
	return true;
}

static void send_message(struct replica *replica, const struct raft_message *message)
{
	struct raft_letter letter = {.message = *message};

	if (replica->answers_old)
		guard_answer_old(&letter.message);
	guard_answer_pre_vote(&replica->raft, &letter.message);
	guard_disrupt(&letter.message, replica->told_term);
	if (complete_letter(replica, &letter)) {
		out_clear(&replica->out);
		raft_letter_write(&replica->out, &letter);
		struct effects *queue = guard_may_send(replica->written, replica->ballot_write)
		                                ? &replica->effects
		                                : &replica->waiting;
		if (queue->end - queue->start < LETTERS_WAITING_MAX)
			effects_add(queue,
			            &(struct replica_effect){REPLICA_SEND, .to = message->server_id,
			                                     .bytes = replica->out.bytes,
			                                     .size = replica->out.bytes_count});
	}
	raft_letter_free(&letter);
}

/* --- commits --- */

static void confirm_voters(struct replica *replica, uint64_t index,
                           const struct durable_entry *entry)
{
	struct raft_event event = {.time = replica->raft.now, .type = RAFT_CONFIGURATION};

	event.configuration.index = index;
	event.configuration.conf = voters_decode(entry->bytes, entry->size);
	must(step(replica, &event) == 0);
}

/* The core's commit index may go back; `applied` does not. */
static void apply_committed(struct replica *replica)
{
	while (!replica->installing && replica->applied < raft_commit_index(&replica->raft)) {
		uint64_t index = replica->applied + 1;
		const struct logged *logged = replica_log_at(&replica->log, index);
		must(logged != NULL);
		struct durable_entry entry = logged->entry;
		replica->applied = index;
		effects_add(&replica->effects,
		            &(struct replica_effect){REPLICA_APPLY, .index = index,
		                                     .type = entry.type, .bytes = entry.bytes,
		                                     .size = entry.size});
		if (entry.type == RAFT_CHANGE)
			confirm_voters(replica, index, &entry);
	}
}

/* --- events --- */

static int step(struct replica *replica, struct raft_event *event)
{
	struct raft_update update;

	event->capacity = CAPACITY;
	int result = raft_step(&replica->raft, event, &update);
	memory_must(result != RAFT_NOMEM);
	if (result != 0)
		return result;
	save_update(replica, &update);
	if (update.flags & (RAFT_UPDATE_MESSAGES))
		for (unsigned i = 0; i < update.messages.n; i++)
			send_message(replica, &update.messages.batch[i]);
	if (update.flags & (RAFT_UPDATE_COMMIT_INDEX))
		apply_committed(replica);
	return 0;
}

static void receive_message(struct replica *replica, struct raft_message *message, uint64_t now)
{
	struct raft_event event = {.time = now, .type = RAFT_RECEIVE, .receive.message = message};

	must(step(replica, &event) == 0);
}

static void receive_install(struct replica *replica, struct raft_letter *letter, uint64_t now)
{
	struct raft_install_snapshot *install = &letter->message.install_snapshot;
	const struct durable_snapshot *snapshot = &letter->snapshot;

	install->conf = voters_decode(snapshot->voters, snapshot->voters_size);
	install->data.len = snapshot->size;
	install->data.base = raft_malloc(snapshot->size + 1);
	memory_must(install->data.base != NULL);
	if (snapshot->size > 0)
		memcpy(install->data.base, snapshot->bytes, snapshot->size);
	receive_message(replica, &letter->message, now);
}

static void receive_part(struct replica *replica, const struct raft_letter *letter, size_t from,
                         size_t count, uint64_t now)
{
	const struct raft_append_entries *whole = &letter->message.append_entries;
	struct raft_message message = letter->message;
	struct raft_append_entries *part = &message.append_entries;

	part->prev_log_index = whole->prev_log_index + from;
	part->prev_log_term = from == 0 ? whole->prev_log_term : letter->entries[from - 1].term;
	part->n_entries = (unsigned)count;
	part->entries = make_batch(letter->entries + from, count);
	uint64_t earlier = replica->installing ? 0
	                                       : guard_earlier_change(&replica->raft, &replica->log,
	                                                              &letter->entries[from],
	                                                              part->prev_log_index,
	                                                              part->prev_log_term);
	if (earlier != 0)
		confirm_voters(replica, earlier, &replica_log_at(&replica->log, earlier)->entry);
	receive_message(replica, &message, now);
	raft_free(part->entries);
}

static void set_role(struct replica *replica, int from, int to)
{
	struct raft_configuration *configuration = &replica->raft.configuration;

	for (unsigned i = 0; i < configuration->n; i++) {
		struct raft_server *server = &configuration->servers[i];
		if (server->id == replica->raft.id && server->role == from)
			server->role = to;
	}
}

/* The core votes only if its own log lists it as a voter. If guard_lends_vote says that this server
 * must vote anyway, the core is made to see itself as a voter during this step. */
static void receive_vote_request(struct replica *replica, struct raft_message *message,
                                 uint64_t now)
{
	int role = guard_lends_vote(&replica->raft, message, now) ? RAFT_STANDBY : RAFT_VOTER;

	set_role(replica, role, RAFT_VOTER);
	receive_message(replica, message, now);
	set_role(replica, RAFT_VOTER, role);
}

static void receive_append(struct replica *replica, struct raft_letter *letter, uint64_t now)
{
	struct raft_append_entries *append = &letter->message.append_entries;

	guard_clip(&replica->raft, &replica->log, letter);
	guard_limit(replica->applied, letter);
	if (append->n_entries == 0)
		receive_message(replica, &letter->message, now);
	for (size_t from = 0; from < append->n_entries;) {
		size_t count = guard_split(letter->entries + from, append->n_entries - from);
		receive_part(replica, letter, from, count, now);
		from += count;
	}
}

/* Refuses a snapshot that the application cannot read, before it reaches the disk. */
static bool has_good_snapshot(const struct replica *replica, const struct raft_letter *letter)
{
	const struct durable_snapshot *snapshot = &letter->snapshot;

	return letter->message.type != RAFT_INSTALL_SNAPSHOT || replica->can_restore == NULL ||
	       replica->can_restore(replica->context, snapshot->index, snapshot->bytes,
	                            snapshot->size);
}

int replica_receive(struct replica *replica, uint64_t from, const uint8_t *bytes, size_t size,
                    uint64_t now)
{
	struct raft_letter letter;

	if (!raft_letter_read(bytes, size, &letter))
		return BATON_EMESSAGE;
	letter.message.server_id = from;
	letter.message.server_address = "";
	if (guard_is_impossible(&replica->raft, &replica->log, replica->applied, &letter) ||
	    !has_good_snapshot(replica, &letter)) {
		raft_letter_free(&letter);
		return BATON_EMESSAGE;
	}
	replica->answers_old = guard_is_old(&replica->raft, &letter.message);
	guard_heard(&replica->contacts, from, now);
	if (letter.message.type == RAFT_TIMEOUT_NOW)
		replica->told_term = letter.message.timeout_now.term;
	if (guard_drops(&replica->raft, &letter.message))
		; /* the letter is dropped, as if it had been lost */
	else if (letter.message.type == RAFT_APPEND_ENTRIES)
		receive_append(replica, &letter, now);
	else if (letter.message.type == RAFT_INSTALL_SNAPSHOT)
		receive_install(replica, &letter, now);
	else if (letter.message.type == RAFT_REQUEST_VOTE)
		receive_vote_request(replica, &letter.message, now);
	else
		receive_message(replica, &letter.message, now);
	replica->answers_old = false;
	raft_letter_free(&letter);
	return 0;
}

static void finish_entries(struct replica *replica, const struct unwritten *pending, uint64_t now)
{
	struct raft_event event = {.time = now, .type = RAFT_PERSISTED_ENTRIES};
	size_t told = guard_persisted(&replica->log, pending->entries_first, pending->entries_count,
	                              pending->number);

	if (told == 0 || replica->installing)
		return;
	event.persisted_entries.index = pending->entries_first + told - 1;
	must(step(replica, &event) == 0);
}

static void finish_taken(struct replica *replica, struct unwritten *pending, uint64_t now)
{
	struct raft_event event = {.time = now, .type = RAFT_SNAPSHOT};

	replica->taking = false;
	/* A newer snapshot of the leader may have been installed in between. */
	if (!replica->installing && pending->snapshot.index > replica->log.snapshot.index) {
		replica_log_set_snapshot(&replica->log, &pending->snapshot);
		event.snapshot.metadata = make_metadata(&pending->snapshot);
		event.snapshot.trailing = pending->keep;
		must(step(replica, &event) == 0);
		replica_log_trim(&replica->log, replica->raft.trail.offset + 1);
	}
}

static void finish_installed(struct replica *replica, struct unwritten *pending, uint64_t now)
{
	struct raft_event event = {.time = now, .type = RAFT_PERSISTED_SNAPSHOT};
	const struct durable_snapshot *snapshot = &pending->snapshot;

	replica->installing = false;
	replica->applied = snapshot->index;
	replica_log_set_snapshot(&replica->log, snapshot);
	effects_add(&replica->effects,
	            &(struct replica_effect){REPLICA_RESTORE, .index = snapshot->index,
	                                     .bytes = snapshot->bytes, .size = snapshot->size});
	event.persisted_snapshot.metadata = make_metadata(snapshot);
	event.persisted_snapshot.last = true;
	must(step(replica, &event) == 0);
}

void replica_written(struct replica *replica, uint64_t number, uint64_t now)
{
	must(number == replica->written + 1 && replica->pending_start < replica->pending_end);
	struct unwritten pending = replica->pending[replica->pending_start++];
	replica->written = number;
	if (guard_may_send(replica->written, replica->ballot_write))
		effects_move(&replica->waiting, &replica->effects);
	if (pending.kind == PENDING_TAKEN)
		finish_taken(replica, &pending, now);
	else if (pending.kind == PENDING_INSTALLED)
		finish_installed(replica, &pending, now);
	else
		finish_entries(replica, &pending, now);
	snapshot_free(&pending.snapshot);
}

uint64_t replica_deadline(const struct replica *replica)
{
	return guard_deadline(&replica->raft, replica->woken);
}

void replica_tick(struct replica *replica, uint64_t now)
{
	struct raft_event event = {.time = now, .type = RAFT_TIMEOUT};

	if (now < replica_deadline(replica))
		return;
	replica->woken = now;
	must(step(replica, &event) == 0);
}

/* --- requests of the application --- */

static bool submit(struct replica *replica, enum raft_entry_type type, const void *bytes,
                   size_t size, uint64_t now)
{
	struct durable_entry entry = {raft_current_term(&replica->raft), type, bytes, size};
	struct raft_entry *batch = make_batch(&entry, 1);
	struct raft_event event = {.time = now, .type = RAFT_SUBMIT};

	event.submit.entries = batch;
	event.submit.n = 1;
	bool submitted = step(replica, &event) == 0;
	if (!submitted)
		raft_free(batch->batch);
	raft_free(batch);
	return submitted;
}

bool replica_propose(struct replica *replica, const uint8_t *bytes, size_t size, uint64_t now)
{
	must(size <= RAFT_LETTER_ENTRY_SIZE_MAX);
	return submit(replica, RAFT_COMMAND, bytes, size, now);
}

static bool submit_voters(struct replica *replica, const struct replica_server *server,
                          uint64_t now)
{
	int role = server->role == REPLICA_NONE ? VOTERS_ROLE_NONE : (int)server->role;
	struct raft_configuration next;

	if (!voters_with(&replica->raft.configuration, server->id, server->address, role, &next))
		return false;
	bool submitted = false;
	if (guard_may_change(&replica->raft, &replica->log, &replica->contacts, &next, now)) {
		struct raft_buffer buffer = voters_encode(&next);
		submitted = submit(replica, RAFT_CHANGE, buffer.base, buffer.len, now);
		raft_free(buffer.base);
	}
	raft_configuration_close(&next);
	return submitted;
}

/* Does the server have all entries, or nearly all? If not, lets it begin to catch up. */
static bool catch_up(struct replica *replica, uint64_t id, uint64_t now)
{
	int status;

	/* In an idle cluster a round of catching up never ends. So do not begin one if the server
	 * has everything. */
	if (guard_is_caught_up(&replica->raft, &replica->log, id))
		return true;
	if (raft_catch_up(&replica->raft, id, &status) == 0 && status != RAFT_CATCH_UP_NONE) {
		if (status == RAFT_CATCH_UP_RUNNING)
			return false;
		if (status == RAFT_CATCH_UP_FINISHED && guard_stays_caught_up(&replica->raft, id))
			return true;
	}
	if (replica->raft.leader_state.promotee_id != 0)
		return false;
	struct raft_event event = {.time = now, .type = RAFT_CATCH_UP};
	event.catch_up.server_id = id;
	step(replica, &event);
	return false;
}

bool replica_change(struct replica *replica, const struct replica_server *server, uint64_t now)
{
	const struct raft_server *known = voters_find(&replica->raft.configuration, server->id);

	if (!replica_leads(replica) || replica->raft.configuration_uncommitted_index != 0)
		return false;
	if (known == NULL && server->role == REPLICA_NONE)
		return false;
	if (known != NULL && known->role == (int)server->role)
		return false;
	/* Only a standby can become a voter: a spare would not lend its vote. */
	if (server->role == REPLICA_VOTER &&
	    (known == NULL || known->role != RAFT_STANDBY || !catch_up(replica, server->id, now)))
		return false;
	return submit_voters(replica, server, now);
}

bool replica_transfer(struct replica *replica, uint64_t id, uint64_t now)
{
	const struct raft_server *server = voters_find(&replica->raft.configuration, id);
	struct raft_event event = {.time = now, .type = RAFT_TRANSFER};

	if (server == NULL || server->role != RAFT_VOTER || id == replica->raft.id ||
	    raft_transferee(&replica->raft) != 0)
		return false;
	/* If the server lags, wait: the core tells it only once to begin an election, which would
	 * be too early. */
	if (!guard_is_caught_up(&replica->raft, &replica->log, id))
		return false;
	event.transfer.server_id = id;
	return step(replica, &event) == 0;
}

bool replica_snapshot(struct replica *replica, uint64_t index, const uint8_t *bytes, size_t size,
                      uint32_t keep)
{
	struct unwritten pending = {.kind = PENDING_TAKEN, .keep = keep};
	struct durable_snapshot snapshot = {.index = index, .bytes = bytes, .size = size};
	const struct replica_log *log = &replica->log;

	must(index <= replica->applied || replica->installing);
	if (replica->taking || replica->installing || index <= log->snapshot.index)
		return false;
	snapshot.term = replica_log_term(log, index);
	if (!replica_log_voters(log, index, &snapshot.voters, &snapshot.voters_size,
	                        &snapshot.voters_index))
		return false;
	pending.snapshot = snapshot_copy(&snapshot);
	struct durable_write write = {.snapshot = &snapshot};
	/* Keep the same entries as the core keeps. */
	if (index > keep && index - keep >= log->start)
		write.log_start = index - keep + 1;
	replica->taking = true;
	add_write(replica, &write, &pending);
	return true;
}

/* --- creating and freeing --- */

static void start(struct replica *replica, const struct durable_content *content, uint64_t now)
{
	struct raft_event event = {.time = now, .type = RAFT_START};
	struct raft_snapshot_metadata metadata;

	event.start.term = content->term;
	event.start.voted_for = content->vote;
	if (guard_begins_term(&replica->log, replica->raft.id)) {
		struct durable_write ballot = {
		        .has_ballot = true, .term = ++event.start.term, .vote = replica->raft.id};
		event.start.voted_for = ballot.vote;
		add_write(replica, &ballot, &(struct unwritten){.kind = PENDING_ENTRIES});
	}
	event.start.start_index = content->log_start;
	event.start.n_entries = (unsigned)content->entries_count;
	if (content->entries_count > 0)
		event.start.entries = make_batch(content->entries, content->entries_count);
	if (content->snapshot.index != 0) {
		metadata = make_metadata(&content->snapshot);
		event.start.metadata = &metadata;
	}
	must(step(replica, &event) == 0);
	if (event.start.entries != NULL) {
		raft_free(event.start.entries[0].batch);
		raft_free(event.start.entries);
	}
}

struct replica *replica_create(const struct replica_options *options, uint64_t now)
{
	struct replica *replica = calloc(1, sizeof *replica);
	const struct durable_snapshot *snapshot = &options->content->snapshot;

	memory_must(replica != NULL);
	memory_must(raft_init(&replica->raft, NULL, NULL, options->id, options->address) == 0);
	replica->raft.tracer = NULL;
	replica->can_restore = options->can_restore;
	replica->context = options->context;
	raft_seed(&replica->raft, options->seed);
	raft_set_election_timeout(&replica->raft, options->election_ms);
	raft_set_heartbeat_timeout(&replica->raft, options->heartbeat_ms);
	raft_set_install_snapshot_timeout(&replica->raft, INSTALL_ELECTIONS * options->election_ms);
	raft_set_max_catch_up_round_duration(&replica->raft,
	                                     CATCH_UP_ELECTIONS * options->election_ms);
	raft_set_pre_vote(&replica->raft, true);
	out_init(&replica->out);
	replica_log_init(&replica->log, options->content);
	replica->applied = snapshot->index;
	if (snapshot->index != 0)
		effects_add(&replica->effects,
		            &(struct replica_effect){REPLICA_RESTORE, .index = snapshot->index,
		                                     .bytes = snapshot->bytes,
		                                     .size = snapshot->size});
	start(replica, options->content, now);
	return replica;
}

void replica_destroy(struct replica *replica)
{
	raft_close(&replica->raft, NULL);
	replica_log_free(&replica->log);
	for (; replica->pending_start < replica->pending_end; replica->pending_start++)
		snapshot_free(&replica->pending[replica->pending_start].snapshot);
	free(replica->pending);
	effects_free(&replica->effects);
	effects_free(&replica->waiting);
	out_free(&replica->out);
	free(replica);
}

bool replica_first_entry(const struct replica_server *servers, size_t servers_count,
                         struct durable_entry *ret_entry)
{
	struct raft_configuration made;
	bool good = servers_count <= VOTERS_SERVERS_MAX;

	raft_configuration_init(&made);
	for (size_t i = 0; i < servers_count && good; i++) {
		int result = raft_configuration_add(&made, servers[i].id, servers[i].address,
		                                    (int)servers[i].role);
		memory_must(result != RAFT_NOMEM);
		good = result == 0;
	}
	if (good) {
		struct raft_buffer buffer = voters_encode(&made);
		*ret_entry = (struct durable_entry){
		        1, RAFT_CHANGE, bytes_copy(buffer.base, buffer.len), buffer.len};
		raft_free(buffer.base);
	}
	raft_configuration_close(&made);
	return good;
}

/* --- queries --- */

bool replica_leads(const struct replica *replica)
{
	return replica->raft.state == RAFT_LEADER;
}

uint64_t replica_leader(const struct replica *replica)
{
	raft_id id;
	const char *address;

	raft_leader((struct raft *)&replica->raft, &id, &address);
	return id;
}

uint64_t replica_term(const struct replica *replica)
{
	return raft_current_term(&replica->raft);
}

size_t replica_servers(const struct replica *replica, uint64_t place,
                       struct replica_server *ret_server)
{
	const struct raft_configuration *configuration = &replica->raft.configuration;

	if (place < configuration->n) {
		const struct raft_server *server = &configuration->servers[place];
		*ret_server = (struct replica_server){server->id, server->address,
		                                      (enum replica_role)server->role};
	}
	return configuration->n;
}

bool replica_voters(const struct replica *replica, uint64_t index, const uint8_t **ret_bytes,
                    size_t *ret_size, uint64_t *ret_index)
{
	return replica_log_voters(&replica->log, index, ret_bytes, ret_size, ret_index);
}

bool replica_caught_up(const struct replica *replica, uint64_t id)
{
	return guard_is_caught_up(&replica->raft, &replica->log, id);
}

bool replica_heard(const struct replica *replica, uint64_t id, uint64_t now)
{
	return guard_was_heard(&replica->raft, &replica->contacts, id, now);
}

bool replica_effect(struct replica *replica, struct replica_effect *ret_effect)
{
	return effects_take(&replica->effects, ret_effect);
}
