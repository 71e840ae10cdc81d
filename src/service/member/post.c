#include "post.h"

#include "connection.h"
#include "member_state.h"
#include "memory.h"
#include "record.h"
#include "secure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
enum {
	CALL_MS = 1000,
	REDIAL_MS_FIRST = 20,
	REDIAL_MS_MAX = 500,
	/* A post is closed if it was not used for this time or for half a lease, whichever is
	 * longer. */
	FORGET_MS = 30000,
	/* The most bytes that may wait: for a connection that is not up yet, and for one that is up
	 * but slow. */
	EARLY_MAX = 64 << 10,
	OUTPUT_MAX = 16 << 20,
	PACKET_MAX = 8 << 20,
	PACKET_HEAD = RECORD_HEAD_SIZE + 1,
};

static struct post *new_post(struct member *member, bool dialled)
{
	struct post *post = calloc(1, sizeof(*post));

	memory_must(post != NULL);
	post->member = member;
	post->dialled = dialled;
	post->backoff_ns = REDIAL_MS_FIRST * MS;
	post->patience_at = NODE_NEVER;
	post->used_at = member->now;
	LIST_INSERT_HEAD(&member->posts, post, all);
	return post;
}

static void free_post(struct post *post)
{
	LIST_REMOVE(post, all);
	charter_free(&post->call.charter);
	buffer_free(&post->input);
	buffer_free(&post->output);
	free(post);
}

static void set_patience(struct post *post)
{
	post->patience_at = post->member->now + CALL_MS * MS;
	member_due(post->member, post->patience_at);
}

/* --- the end of a connection --- */

static void refuse(struct post *post, const char *text)
{
	uint8_t room[LINK_HELLO_MAX];

	buffer_append(&post->output, room, link_refusal_write(text, room));
	post->state = POST_ENDING;
	set_patience(post);
	connection_changed(post->connection);
}

static void complain(const struct post *post, const char *why)
{
	member_complain(post->member, post->wanted[0] != '\0' ? post->wanted : NULL,
	                post->dialled ? post->address : post->connection->from, why);
}

static void refuse_loudly(struct post *post, const char *why)
{
	complain(post, why);
	refuse(post, why);
}

static void give_up(struct post *post, const char *why)
{
	if (why != NULL)
		complain(post, why);
	connection_close(post->connection);
}

/* Ends the connection with a node that has sent something that no correct one sends. */
static void cut_off(struct post *post, const char *text)
{
	member_offended(post->member, post->call.name,
	                post->dialled ? post->address : post->connection->from, text);
	connection_close(post->connection);
}

void post_closed(struct post *post, const char *why)
{
	if (post->state == POST_UP)
		member_lost(post->member, &post->call);
	if (why != NULL && post->dialled && post->state != POST_ENDING)
		member_complain(post->member, post->wanted[0] != '\0' ? post->wanted : NULL,
		                post->address, why);
	if (!post->dialled) {
		free_post(post);
		return;
	}
	post->connection = NULL;
	post->state = POST_WAITING;
	post->patience_at = NODE_NEVER;
	post->redial_at = post->member->now + post->backoff_ns;
	member_due(post->member, post->redial_at);
	post->backoff_ns = post->backoff_ns * 2 > REDIAL_MS_MAX * MS ? REDIAL_MS_MAX * MS
	                                                             : post->backoff_ns * 2;
	charter_free(&post->call.charter);
	post->call = (struct call){0};
	buffer_free(&post->input);
	buffer_free(&post->output);
}

/* --- the first records --- */

static void say_call(struct post *post)
{
	struct member *member = post->member;
	struct call call = {.charter = member->charter,
	                    .process = member->process,
	                    .server = member->identity.server,
	                    .witness = member->identity.witness};

	snprintf(call.name, sizeof(call.name), "%s", member->identity.name);
	snprintf(call.address, sizeof(call.address), "%s", member->identity.address);
	snprintf(call.peer, sizeof(call.peer), "%s", post->wanted);
	out_clear(&member->out);
	call_write(&member->out, &call);
	/* Packets may be waiting already; the CALL must go before them. */
	struct buffer early = post->output;
	post->output = (struct buffer){0};
	buffer_append(&post->output, member->out.bytes, member->out.bytes_count);
	buffer_append(&post->output, buffer_front(&early), buffer_size(&early));
	buffer_free(&early);
	connection_changed(post->connection);
}

struct post *post_accepted(struct member *member, struct connection *connection)
{
	struct post *post = new_post(member, false);

	post->connection = connection;
	post->state = POST_CALLING;
	set_patience(post);
	return post;
}

void post_dialled(struct post *post)
{
	post->state = POST_CALLING;
	set_patience(post);
	say_call(post);
}

/*
 * Does the caller claim the process number or the data directory of another node? It would get the
 * packets for that node, and could vote in its place. A certificate proves only the name.
 */
static bool impersonates(const struct member *member, const struct call *call)
{
	const struct tenant *tenant = member_tenant(member);
	const struct post *other;

	if (call->server != 0 && call->server == member->identity.server)
		return true;
	LIST_FOREACH (other, &member->posts, all) {
		if (other->state == POST_UP && strcmp(other->call.name, call->name) != 0 &&
		    (other->call.process == call->process ||
		     (call->server != 0 && other->call.server == call->server)))
			return true;
	}
	if (tenant == NULL)
		return false;
	const struct electors *voters = tenant_electors(tenant);
	for (uint32_t i = 0; i < voters->count; i++) {
		if (call->server != 0 && voters->list[i].server == call->server &&
		    voters->list[i].name[0] != '\0' &&
		    strcmp(voters->list[i].name, call->name) != 0)
			return true;
	}
	struct tenant_view view = tenant_view(tenant);
	for (uint32_t i = 0; i < view.seats_count; i++) {
		if (view.seats[i].process == call->process &&
		    strcmp(view.seats[i].name, call->name) != 0)
			return true;
	}
	return false;
}

/* Returns NULL, or why this side refuses to talk to the caller. */
static const char *judge(struct post *post, const struct call *call)
{
	struct member *member = post->member;
	bool both_live = charter_exists(&member->charter) && charter_exists(&call->charter);

	const char *certified = secure_name(post->connection);

	if (call->process == member->process)
		return "this is the address of the node itself";
	if (certified != NULL && strcmp(call->name, certified) != 0)
		return "its certificate is for another name: --tls-cert must have the node's "
		       "--name";
	if (strcmp(call->name, member->identity.name) == 0)
		return "it has this node's name";
	if (call->peer[0] != '\0' && strcmp(call->peer, member->identity.name) != 0)
		return "it looks for another node at this address";
	if (both_live && !cluster_is(call->charter.cluster, member->charter.cluster)) {
		member_met_stranger(member, call);
		return "it belongs to another cluster";
	}
	if (post->wanted[0] != '\0' && strcmp(post->wanted, call->name) != 0)
		return "another node has this address";
	return impersonates(member, call) ? "it claims to be the process, or to have the data "
	                                    "directory, of another node"
	                                  : NULL;
}

/* A data directory has one process at a time. So connections to its previous process are dead, even
 * if nothing has shown that yet. */
static void close_former(const struct post *post)
{
	struct post *other;

	LIST_FOREACH (other, &post->member->posts, all) {
		if (other->state == POST_UP && post->call.server != 0 &&
		    other->call.server == post->call.server &&
		    other->call.process != post->call.process)
			give_up(other, NULL);
	}
}

/* Returns true if the post is up now. */
static bool greet(struct post *post)
{
	char text[LINK_TEXT_MAX + 1];
	size_t size = 0;
	struct call call;
	enum call_kind kind = call_read((const uint8_t *)buffer_front(&post->input),
	                                buffer_size(&post->input), &call, &size, text);

	switch (kind) {
	case CALL_MORE:
		return false;
	case CALL_REFUSED:
		member_refused(post->member, post->wanted[0] != '\0' ? post->wanted : post->address,
		               text);
		give_up(post, NULL);
		return false;
	case CALL_VERSION:
		refuse_loudly(post, text);
		return false;
	case CALL_LINK: /* links are refused until there is a resident */
		give_up(post, NULL);
		return false;
	case CALL_NONSENSE:
		refuse_loudly(post, "it does not speak baton's protocol");
		return false;
	case CALL_WHOLE:
		break;
	}
	buffer_take(&post->input, size);
	const char *wrong = judge(post, &call);
	if (wrong != NULL) {
		charter_free(&call.charter);
		if (call.process != post->member->process)
			member_complain(post->member, call.name,
			                post->dialled ? post->address : post->connection->from,
			                wrong);
		refuse(post, wrong);
		return false;
	}
	post->call = call;
	close_former(post);
	post->state = POST_UP;
	post->patience_at = NODE_NEVER;
	post->backoff_ns = REDIAL_MS_FIRST * MS;
	post->used_at = post->member->now;
	if (!post->dialled)
		say_call(post);
	member_met(post->member, post);
	return true;
}

/* --- packets --- */

static void take_packets(struct post *post)
{
	struct buffer *input = &post->input;

	while (post->state == POST_UP && buffer_size(input) >= PACKET_HEAD) {
		const uint8_t *record = (const uint8_t *)buffer_front(input);
		size_t size = record_size(record);
		if (record_type(record) != RECORD_PACKET || size < PACKET_HEAD ||
		    size > PACKET_MAX) {
			cut_off(post, "it sends bytes that are not a packet");
			return;
		}
		if (buffer_size(input) < size)
			return;
		post->used_at = post->member->now;
		if (!member_packet(post->member, post, (enum packet_kind)record[RECORD_HEAD_SIZE],
		                   record + PACKET_HEAD, size - PACKET_HEAD)) {
			cut_off(post, "it sends a malformed packet");
			return;
		}
		buffer_take(input, size);
	}
}

void post_input(struct post *post, const uint8_t *bytes, size_t size)
{
	if (post->state == POST_ENDING)
		return;
	buffer_append(&post->input, bytes, size);
	if (post->state == POST_UP || (post->state == POST_CALLING && greet(post)))
		take_packets(post);
}

static void dial(struct post *post)
{
	post->state = POST_DIALLING;
	post->connection = connection_of_post(post);
	set_patience(post); /* a host that is gone may not even refuse the connection */
}

static void need(struct post *post)
{
	post->used_at = post->member->now;
	if (post->state == POST_WAITING && post->redial_at <= post->member->now)
		dial(post);
}

static void send(struct post *post, enum packet_kind kind, const uint8_t *bytes, size_t size)
{
	size_t most = post->state == POST_UP ? OUTPUT_MAX : EARLY_MAX;
	uint8_t head[PACKET_HEAD];

	need(post);
	if (post->state == POST_WAITING || post->state == POST_ENDING ||
	    buffer_size(&post->output) + size > most || size > PACKET_MAX - PACKET_HEAD)
		return;
	record_put_head(head, RECORD_PACKET, sizeof(head) + size);
	head[RECORD_HEAD_SIZE] = (uint8_t)kind;
	buffer_append(&post->output, head, sizeof(head));
	buffer_append(&post->output, bytes, size);
	if (post->state != POST_DIALLING)
		connection_changed(post->connection);
}

/* Finds or makes the post for an address. Returns NULL if the address is empty or this node's
 * own. */
static struct post *find_post(struct member *member, const char *address, const char *name)
{
	struct post *post;

	if (address[0] == '\0' || strcmp(address, member->identity.address) == 0)
		return NULL;
	LIST_FOREACH (post, &member->posts, all) {
		if (post->dialled && strcmp(post->address, address) == 0 &&
		    (post->wanted[0] == '\0' || name[0] == '\0' || strcmp(post->wanted, name) == 0))
			return post;
	}
	post = new_post(member, true);
	snprintf(post->address, sizeof(post->address), "%s", address);
	snprintf(post->wanted, sizeof(post->wanted), "%s", name);
	return post;
}

void post_need(struct member *member, const char *address, const char *name)
{
	struct post *post = find_post(member, address, name);

	if (post != NULL)
		need(post);
}

void post_to_address(struct member *member, const char *address, const char *name,
                     enum packet_kind kind, const uint8_t *bytes, size_t size)
{
	struct post *post = find_post(member, address, name);

	if (post != NULL)
		send(post, kind, bytes, size);
}

static bool is_up(const struct post *post)
{
	return post->state == POST_UP && !post->connection->closing;
}

void post_to_server(struct member *member, uint64_t server, const char *address, const char *name,
                    enum packet_kind kind, const uint8_t *bytes, size_t size)
{
	struct post *post;

	LIST_FOREACH (post, &member->posts, all) {
		if (!is_up(post) || post->call.server != server || server == 0)
			continue;
		send(post, kind, bytes, size);
		return;
	}
	post_to_address(member, address, name, kind, bytes, size);
}

void post_to_process(struct member *member, uint64_t process, enum packet_kind kind,
                     const uint8_t *bytes, size_t size)
{
	struct post *post;

	LIST_FOREACH (post, &member->posts, all) {
		if (!is_up(post) || post->call.process != process)
			continue;
		send(post, kind, bytes, size);
		return;
	}
}

/* --- all posts --- */

void posts_restart(struct member *member)
{
	struct post *post;

	LIST_FOREACH (post, &member->posts, all) {
		post->redial_at = member->now;
		post->backoff_ns = REDIAL_MS_FIRST * MS;
		if (post->connection != NULL)
			connection_close(post->connection);
	}
}

/* Returns when the post is closed, unless it is needed again. Half a lease is enough: a petition is
 * repeated every sixth of a lease, and its answer may take a twelfth. */
static uint64_t forget_at(const struct post *post)
{
	uint64_t half_ns = post->member->lease_ns / 2;

	return post->used_at + (half_ns > FORGET_MS * MS ? half_ns : FORGET_MS * MS);
}

/* Does what is due, but does not close unused posts. Returns when the next thing is due. */
static uint64_t tick(struct post *post)
{
	const struct member *member = post->member;

	if (post->patience_at <= member->now) {
		post->patience_at = NODE_NEVER;
		give_up(post, post->state == POST_DIALLING
		                      ? secure_shakes(post->connection)
		                                ? "its TLS handshake takes too long"
		                                : "it does not answer"
		              : post->state == POST_CALLING ? "it says nothing about itself"
		                                            : NULL);
	} else if (post->state == POST_WAITING && post->redial_at <= member->now) {
		/* Dial even if nothing waits to be sent: the other side may have an answer, which
		 * needs a connection. */
		dial(post);
	}
	return post->state == POST_WAITING ? post->redial_at : post->patience_at;
}

uint64_t posts_tick(struct member *member)
{
	uint64_t next = NODE_NEVER;
	struct post *post, *after;

	for (post = LIST_FIRST(&member->posts); post != NULL; post = after) {
		after = LIST_NEXT(post, all);
		if (post->dialled && forget_at(post) <= member->now) {
			if (post->connection != NULL)
				connection_close(post->connection);
			else
				free_post(post);
			continue;
		}
		uint64_t due = tick(post);
		if (due < next)
			next = due;
	}
	return next;
}

void posts_free(struct member *member)
{
	while (!LIST_EMPTY(&member->posts))
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): clang does not see that LIST_REMOVE moves the head. */
		free_post(LIST_FIRST(&member->posts));
}
