#include "tie.h"

#include "baton/error.h"
#include "memory.h"
#include "must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum {
	HELLO_MS = 1000,
	REDIAL_MS_FIRST = 20,
	REDIAL_MS_MAX = 500,
	SHUN_MS = 250, /* how long a peer that was cut off is not let in again */
	/* The most ties that are kept for processes that may come back; beyond that the oldest are
	 * dropped. */
	TIES_MAX = 256,
};

void ties_init(struct ties *ties)
{
	LIST_INIT(&ties->list);
	LIST_INIT(&ties->lines);
	STAILQ_INIT(&ties->changed);
}

struct tie *ties_find(const struct ties *ties, uint64_t process)
{
	struct tie *tie;

	LIST_FOREACH (tie, &ties->list, all) {
		if (tie->process == process)
			return tie;
	}
	return NULL;
}

static void free_tie(struct ties *ties, struct tie *tie)
{
	LIST_REMOVE(tie, all);
	ties->count--;
	link_destroy(tie->link);
	free(tie);
}

static void drop_oldest(struct ties *ties)
{
	struct tie *oldest = NULL, *tie;

	if (ties->count < TIES_MAX)
		return;
	LIST_FOREACH (tie, &ties->list, all) {
		if (!tie->wanted && tie->line == NULL && tie->dialled == NULL &&
		    (oldest == NULL || tie->used < oldest->used))
			oldest = tie;
	}
	if (oldest != NULL)
		free_tie(ties, oldest);
}

static struct tie *get_tie(struct resident *resident, uint64_t process, const char *name)
{
	struct ties *ties = resident_ties(resident);
	struct tie *tie = ties_find(ties, process);

	if (tie != NULL)
		return tie;
	drop_oldest(ties);
	tie = calloc(1, sizeof(*tie));
	memory_must(tie != NULL);
	snprintf(tie->name, sizeof(tie->name), "%s", name);
	tie->process = process;
	tie->link = link_create(resident_kept_max(resident));
	tie->redial_at = NODE_NEVER;
	tie->backoff_ns = REDIAL_MS_FIRST * MS;
	tie->used = resident_now(resident);
	LIST_INSERT_HEAD(&ties->list, tie, all);
	ties->count++;
	return tie;
}

/* --- lines --- */

static void mark_changed(struct strand *line)
{
	if (line->changed)
		return;
	line->changed = true;
	STAILQ_INSERT_TAIL(&resident_ties(line->resident)->changed, line, changes);
}

struct strand *resident_changed(struct resident *resident)
{
	struct ties *ties = resident_ties(resident);
	struct strand *line = STAILQ_FIRST(&ties->changed);

	if (line == NULL)
		return NULL;
	STAILQ_REMOVE_HEAD(&ties->changed, changes);
	line->changed = false;
	return line;
}

static struct strand *new_line(struct resident *resident, enum strand_state state)
{
	struct strand *line = calloc(1, sizeof(*line));

	memory_must(line != NULL);
	line->resident = resident;
	line->state = state;
	line->patience_at = resident_now(resident) + HELLO_MS * MS;
	LIST_INSERT_HEAD(&resident_ties(resident)->lines, line, all);
	resident_due(resident, line->patience_at);
	return line;
}

static void free_line(struct strand *line)
{
	if (line->changed)
		STAILQ_REMOVE(&resident_ties(line->resident)->changed, line, strand, changes);
	LIST_REMOVE(line, all);
	buffer_free(&line->hello);
	buffer_free(&line->output);
	free(line);
}

static void dial_later(struct resident *resident, struct tie *tie)
{
	tie->redial_at = resident_now(resident) + tie->backoff_ns;
	if (tie->redial_at < tie->shunned_until)
		tie->redial_at = tie->shunned_until;
	resident_due(resident, tie->redial_at);
	tie->backoff_ns =
	        tie->backoff_ns * 2 > REDIAL_MS_MAX * MS ? REDIAL_MS_MAX * MS : tie->backoff_ns * 2;
}

/* Takes a line away from its tie. */
static void part(struct strand *line)
{
	struct tie *tie = line->tie;

	line->tie = NULL;
	if (tie == NULL)
		return;
	if (tie->line == line) {
		tie->line = NULL;
		tie->stalled = false;
		tie->used = resident_now(line->resident);
		link_detach(tie->link);
		resident_stands(line->resident, tie, false);
	}
	if (tie->dialled == line)
		tie->dialled = NULL;
	if (line->dialled && tie->wanted && tie->line == NULL && tie->dialled == NULL)
		dial_later(line->resident, tie);
}

static void close_line(struct strand *line)
{
	if (line->state == STRAND_CLOSING)
		return;
	line->state = STRAND_CLOSING;
	line->patience_at = NODE_NEVER;
	part(line);
	resident_close(line->resident, line);
}

/* Cuts off a peer that has sent something that no correct member sends. Nothing more is read from
 * this line. The links to other peers are not affected. */
static void cut_off(struct strand *line, const char *text)
{
	struct tie *tie = line->tie;

	tie->shunned_until = resident_now(line->resident) + SHUN_MS * MS;
	resident_offended(line->resident, tie->name, text);
	close_line(line);
}

void *strand_user(const struct strand *line)
{
	return line->user;
}

void strand_set_user(struct strand *line, void *user)
{
	line->user = user;
}

void strand_certify(struct strand *line, const char *name)
{
	line->certified = name;
}

const char *strand_peer(const struct strand *line)
{
	return line->tie != NULL ? line->tie->name : NULL;
}

bool strand_misnamed(const struct strand *line)
{
	return line->misnamed;
}

bool strand_reads(const struct strand *line)
{
	return line->tie == NULL || line->tie->line != line || !line->tie->stalled;
}

size_t strand_output(struct strand *line, const uint8_t **ret_bytes)
{
	if (buffer_size(&line->output) > 0) {
		*ret_bytes = (const uint8_t *)buffer_front(&line->output);
		return buffer_size(&line->output);
	}
	if (line->state != STRAND_UP)
		return 0;
	if (link_wants_ack(line->tie->link))
		link_ack(line->tie->link);
	return link_output(line->tie->link, ret_bytes);
}

void strand_written(struct strand *line, size_t size)
{
	if (line->tie != NULL)
		line->tie->sent_bytes += size;
	if (buffer_size(&line->output) > 0) {
		buffer_take(&line->output, size);
		return;
	}
	must(line->tie != NULL);
	link_written(line->tie->link, size);
}

/* --- the handshake --- */

static void say_hello(struct strand *line, const struct tie *tie)
{
	uint8_t room[LINK_HELLO_MAX];

	buffer_append(&line->output, room, resident_hello(line->resident, tie, room));
	mark_changed(line);
}

struct strand *resident_accepted(struct resident *resident, void *user, uint64_t now)
{
	resident_tick(resident, now);
	struct strand *line = new_line(resident, STRAND_HELLO);
	line->user = user;
	return line;
}

void resident_dialled(struct resident *resident, struct strand *line, uint64_t now)
{
	resident_tick(resident, now);
	if (line->state != STRAND_DIALLING)
		return;
	line->state = STRAND_HELLO;
	say_hello(line, line->tie);
}

static void take_bytes(struct strand *line, const uint8_t *bytes, size_t size);

/* The numbers of frames continue where they were, because the link belongs to the two processes. */
static void come_up(struct strand *line, const struct link_hello *hello, size_t taken)
{
	struct tie *tie = line->tie;

	/* The other side dialled again, so it knows that the old line is dead. */
	if (tie->line != NULL)
		close_line(tie->line);
	if (link_attach(tie->link, hello->received) != 0) {
		cut_off(line, "its HELLO acknowledges frames that were never sent");
		return;
	}
	if (tie->dialled == line)
		tie->dialled = NULL;
	tie->line = line;
	tie->redial_at = NODE_NEVER;
	tie->backoff_ns = REDIAL_MS_FIRST * MS;
	line->state = STRAND_UP;
	line->patience_at = NODE_NEVER;
	resident_stands(line->resident, tie, true);
	mark_changed(line);
	struct buffer rest = line->hello;
	line->hello = (struct buffer){0};
	take_bytes(line, (const uint8_t *)buffer_front(&rest) + taken, buffer_size(&rest) - taken);
	buffer_free(&rest);
}

static void greet(struct strand *line)
{
	struct link_heard heard;

	link_hello_read((const uint8_t *)buffer_front(&line->hello), buffer_size(&line->hello),
	                &heard);
	if (heard.kind == HELLO_MORE)
		return;
	if (heard.kind != HELLO_WHOLE || resident_judge(line->resident, &heard.hello) != NULL) {
		close_line(line);
		return;
	}
	line->misnamed = line->certified != NULL && strcmp(line->certified, heard.hello.name) != 0;
	if (line->misnamed) {
		close_line(line);
		return;
	}
	if (line->tie == NULL) {
		line->tie = get_tie(line->resident, heard.hello.process, heard.hello.name);
		say_hello(line, line->tie);
	}
	/* Refuse three cases: another process now has the name; another node claims this process'
	 * number, and would send in its place; or the peer is shunned. */
	if (line->tie->process != heard.hello.process ||
	    strcmp(line->tie->name, heard.hello.name) != 0 ||
	    line->tie->shunned_until > resident_now(line->resident)) {
		close_line(line);
		return;
	}
	come_up(line, &heard.hello, heard.size);
}

/* --- input --- */

/* Returns false if the node has no room for the frame yet. */
static bool take_frame(struct strand *line, const uint8_t *bytes, size_t size)
{
	struct tie *tie = line->tie;
	int error = resident_frame(line->resident, tie, bytes, size);

	if (error == BATON_EAGAIN) {
		tie->stalled = true;
		mark_changed(line);
		return false;
	}
	char text[128];
	if (error != 0)
		node_frame_describe(bytes, size, error, text, sizeof(text));
	link_take(tie->link);
	if (error != 0)
		cut_off(line, text);
	return true;
}

static void take_records(struct strand *line)
{
	struct tie *tie = line->tie;
	const uint8_t *bytes;
	size_t size;
	char text[LINK_TEXT_MAX];

	while (line->state == STRAND_UP) {
		switch (link_next(tie->link, &bytes, &size)) {
		case LINK_NOTHING:
			return;
		case LINK_FRAME:
			if (!take_frame(line, bytes, size))
				return;
			break;
		case LINK_BROKEN:
			snprintf(text, sizeof(text), "it sends %s", (const char *)bytes);
			cut_off(line, text);
			return;
		}
	}
}

static void take_bytes(struct strand *line, const uint8_t *bytes, size_t size)
{
	struct tie *tie = line->tie;

	link_input(tie->link, bytes, size);
	take_records(line);
	if (tie->congested)
		resident_drained(line->resident, tie);
	if (line->state != STRAND_UP)
		return;
	if (tie->stalled)
		link_keep(tie->link);
	if (link_wants_ack(tie->link))
		mark_changed(line);
}

void resident_input(struct resident *resident, struct strand *line, const uint8_t *bytes,
                    size_t size, uint64_t now)
{
	resident_tick(resident, now);
	if (size == 0)
		return;
	if (line->state == STRAND_HELLO) {
		buffer_append(&line->hello, bytes, size);
		greet(line);
	} else if (line->state == STRAND_UP) {
		line->tie->received_bytes += size;
		take_bytes(line, bytes, size);
	}
}

void resident_closed(struct resident *resident, struct strand *line, uint64_t now)
{
	resident_tick(resident, now);
	part(line);
	resident_forget_line(resident, line);
	free_line(line);
}

void ties_read_again(struct resident *resident)
{
	struct tie *tie;

	LIST_FOREACH (tie, &resident_ties(resident)->list, all) {
		if (!tie->stalled)
			continue;
		tie->stalled = false;
		mark_changed(tie->line);
		take_records(tie->line);
	}
}

/* --- output --- */

int tie_send(struct tie *tie, uint64_t epoch, const uint8_t *bytes, size_t size)
{
	int error = link_send(tie->link, epoch, bytes, size);

	if (error == 0 && tie->line != NULL)
		mark_changed(tie->line);
	return error;
}

void ties_forget(struct ties *ties, uint64_t epoch)
{
	struct tie *tie;

	LIST_FOREACH (tie, &ties->list, all) {
		tie->congested = false;
		link_forget(tie->link, epoch);
	}
}

void ties_acknowledge(struct resident *resident)
{
	struct tie *tie;

	LIST_FOREACH (tie, &resident_ties(resident)->list, all) {
		if (tie->line == NULL)
			continue;
		link_ack(tie->link);
		mark_changed(tie->line);
	}
}

/* --- the ties that a view needs --- */

static bool is_first(const struct resident *resident, const struct tie *tie)
{
	return strcmp(tenant_name(resident_tenant(resident)), tie->name) < 0;
}

/* Closes the line of a node that has used another node's process number in its HELLO. This node may
 * have learned only now whose number it is. */
static void drop_impostor(struct resident *resident, const struct tenant_peer *peer)
{
	struct tie *tie = ties_find(resident_ties(resident), peer->process);

	if (tie == NULL || strcmp(tie->name, peer->name) == 0)
		return;
	tie->wanted = false;
	if (tie->line != NULL)
		close_line(tie->line);
	if (tie->dialled != NULL)
		close_line(tie->dialled);
	free_tie(resident_ties(resident), tie);
}

void ties_want(struct resident *resident, const struct tenant_peer *peers, uint32_t peers_count)
{
	struct ties *ties = resident_ties(resident);
	struct tie *tie;

	LIST_FOREACH (tie, &ties->list, all)
		tie->wanted = false;
	/* Mark all wanted ties first: making a tie for one peer may drop a tie that nobody wants,
	 * with the frames that wait in it. */
	for (uint32_t i = 0; i < peers_count; i++) {
		if ((tie = ties_find(ties, peers[i].process)) != NULL)
			tie->wanted = true;
	}
	for (uint32_t i = 0; i < peers_count; i++) {
		drop_impostor(resident, &peers[i]);
		tie = get_tie(resident, peers[i].process, peers[i].name);
		snprintf(tie->address, sizeof(tie->address), "%s", peers[i].address);
		tie->wanted = true;
		if (tie->line == NULL && tie->dialled == NULL && is_first(resident, tie) &&
		    tie->redial_at == NODE_NEVER)
			tie->redial_at = resident_now(resident);
		resident_due(resident, tie->redial_at);
	}
	LIST_FOREACH (tie, &ties->list, all) {
		if (tie->wanted)
			continue;
		tie->redial_at = NODE_NEVER;
		if (tie->dialled != NULL)
			close_line(tie->dialled);
		else if (tie->line != NULL && tie->line->dialled)
			close_line(tie->line);
	}
}

static void dial(struct resident *resident, struct tie *tie)
{
	struct strand *line = new_line(resident, STRAND_DIALLING);

	tie->redial_at = NODE_NEVER;
	tie->dialled = line;
	line->tie = tie;
	line->dialled = true;
	resident_dial(resident, line);
}

uint64_t ties_tick(struct resident *resident)
{
	struct ties *ties = resident_ties(resident);
	uint64_t now = resident_now(resident), next = NODE_NEVER;
	struct strand *line, *after;
	struct tie *tie;

	for (line = LIST_FIRST(&ties->lines); line != NULL; line = after) {
		after = LIST_NEXT(line, all);
		if (line->patience_at <= now)
			close_line(line);
		else if (line->patience_at < next)
			next = line->patience_at;
	}
	LIST_FOREACH (tie, &ties->list, all) {
		if (tie->redial_at <= now)
			dial(resident, tie);
		if (tie->redial_at < next)
			next = tie->redial_at;
		if (tie->dialled != NULL && tie->dialled->patience_at < next)
			next = tie->dialled->patience_at;
	}
	return next;
}

void ties_free(struct resident *resident)
{
	struct ties *ties = resident_ties(resident);

	while (!LIST_EMPTY(&ties->lines))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that LIST_REMOVE moves the head. */
		free_line(LIST_FIRST(&ties->lines));
	while (!LIST_EMPTY(&ties->list))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that LIST_REMOVE moves the head. */
		free_tie(ties, LIST_FIRST(&ties->list));
}
